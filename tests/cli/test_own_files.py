"""Files of one's own on the command line, from the first look to the report."""

import json

import pytest
from tests.studies.test_own_files import NAMES, write_arff, write_xml


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder with a dataset in two parts, one in MEKA's form, and one without labels."""
    write_arff(tmp_path / "pics-train.arff")
    write_arff(tmp_path / "pics-test.arff", 1)
    write_xml(tmp_path / "pics.xml")
    write_arff(tmp_path / "meka.arff", 2, option=": -C 4")
    write_arff(tmp_path / "bare.arff", 3)
    monkeypatch.chdir(tmp_path)


def test_a_file_is_shown_as_it_would_be_read(run):
    code, out, err = run("datasets", "pics-train.arff", "pics-test.arff", "meka.arff")
    assert (code, err) == (0, "")
    assert out.startswith(
        "pics: ARFF and XML (Mulan)\n  pics-train.arff\n  pics-test.arff\n  pics.xml\n"
        "  120 instances, 3 features, 4 labels, "
    )
    assert "meka: ARFF (MEKA)\n  meka.arff\n  60 instances" in out
    assert f"labels: {', '.join(NAMES)}\n" in out


def test_files_and_names_are_shown_together(run, tmp_path):
    code, out, err = run("datasets", "synthetic", "meka.arff", "--json")
    assert (code, err) == (0, "")
    synthetic, meka = json.loads(out)
    assert (synthetic["name"], synthetic["n_samples"]) == ("synthetic", 1000)
    assert (meka["name"], meka["label_names"]) == ("meka", NAMES)
    assert meka["files"] == [str(tmp_path / "meka.arff")]


def test_too_few_labels_are_said(run, tmp_path):
    lines = ["@relation 'x: -C 2'", *(f"@attribute {name} {{0,1}}" for name in "ab")]
    lines += ["@attribute c numeric", "@data", "0,1,0.5", "1,1,0.25"]
    (tmp_path / "few.arff").write_text("\n".join(lines))
    code, out, err = run("datasets", "few.arff")
    assert code == 0
    assert "1 instances have none or all of the labels; benchmark, tune and study leave" in out
    assert (
        err == "few: it has too few labels; learning from complementary labels needs at least 3\n"
    )


def test_two_parts_are_compared_as_one_dataset_up_to_the_report(run, tmp_path):
    arguments = ("--method", "ridge", "--folds", 2)
    code, out, err = run("benchmark", "pics-test.arff", "pics-train.arff", *arguments)
    assert code == 0
    assert "hint" not in err
    title = next(line for line in out.splitlines() if line.startswith("pics: "))
    assert "x 3, 4 labels" in title
    again = run("benchmark", "pics-train.arff", "pics-test.arff", "pics.xml", *arguments)
    assert "2 of 2 units are already in the store" in again[2]
    for command in (("status",), ("report",), ("export", "folds.csv"), ("export", "folds.json")):
        assert run("study", *command)[0] == 0
    assert "pics" in (tmp_path / "folds.csv").read_text()
    (folder,) = tmp_path.glob("*-report")
    assert str(tmp_path) not in (folder / "report.html").read_text("utf-8")


def test_one_part_alone_is_read_alone_and_said(run):
    code, out, err = run("benchmark", "pics-train.arff", "--method", "prior", "--folds", 2)
    assert code == 0
    assert "pics-train: " in out
    assert "hint: pics-test.arff is not read; give both files to use them as one dataset" in err


def test_settings_are_tuned_on_a_file(run):
    arguments = ("--method", "ml-knn", "--grid", "n_neighbors=3,5", "--folds", 2)
    code, out, _ = run("tune", "pics-train.arff", "pics-test.arff", *arguments)
    assert code == 0
    assert "ml-knn on pics" in out


PLAN = """
name = "own"
title = "Files of our own"
datasets = ["synthetic", { name = "mine", file = FILE }]
rows = [{ method = "prior" }]
folds = 2
"""


def test_a_plan_names_files(run, tmp_path):
    (tmp_path / "plans").mkdir()
    plan = tmp_path / "plans" / "own.toml"
    plan.write_text(PLAN.replace("FILE", '["../bare.arff", "../pics.xml"]'), encoding="utf-8")
    code, out, _ = run("study", "run", plan, "--dry-run")
    assert code == 0
    assert "on synthetic, mine;" in out
    assert run("study", "run", plan, "--jobs", 1)[0] == 0
    assert "mine" in run("study", "status")[1]
    assert run("study", "report", "own")[0] == 0
