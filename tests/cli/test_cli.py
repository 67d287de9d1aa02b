import json
import sys

import pytest

from complabel.datasets import CATALOG, make_synthetic, save_file
from complabel.metrics import METRIC_NAMES


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own: commands keep their results in it."""
    monkeypatch.chdir(tmp_path)


def test_benchmark_prints_a_table_and_writes_json(run, tmp_path):
    target = tmp_path / "results.json"
    code, out, _ = run(
        "benchmark", "synthetic", "--method", "prior", "--method", "supervised",
        "--folds", 2, "--json", target,
    )  # fmt: skip
    assert code == 0
    assert "synthetic: 1000 x 20, 6 labels, uniform complementary labels, 2 folds" in out
    assert "Supervised †" in out
    prior, supervised = json.loads(target.read_text())
    assert (prior["method"], supervised["method"]) == ("prior", "supervised")
    assert tuple(prior["metrics"]) == METRIC_NAMES
    assert f"{prior['metrics']['average_precision']['mean']:.3f}±" in out
    assert "next: complabel study report benchmark-synthetic-" in out


def test_the_same_benchmark_again_goes_on_and_says_so(run, tmp_path):
    arguments = ("benchmark", "synthetic", "--method", "prior", "--folds", 2)
    first = run(*arguments, "--json", "first.json")
    code, out, err = run(*arguments, "--json", "again.json")
    assert code == 0
    assert "2 of 2 units are already in the store" in err
    assert out.replace("again", "first") == first[1]
    assert (tmp_path / "first.json").read_text() == (tmp_path / "again.json").read_text()
    assert "2 of 2 units done" in run("study", "status")[1]
    assert run("study", "report")[0] == 0


def test_a_file_and_a_class_of_ones_own_can_be_compared(run, tmp_path, data_dir, monkeypatch):
    save_file(make_synthetic(200, random_state=3), tmp_path / "mine.npz")
    (tmp_path / "mymethods.py").write_text(
        "from complabel.methods import PriorClassifier\nclass Mine(PriorClassifier): pass\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    code, out, _ = run(
        "benchmark", "mine.npz", "--folds", 2, "--json", "mine.json",
        "--method", "prior", "--method", "mymethods:Mine", "--method", "mlcl:epochs=2",
    )  # fmt: skip
    assert code == 0
    assert "mine: 200 x 20, 6 labels" in out
    assert "MLCL (epochs = 2)" in out
    prior, mine, _ = json.loads((tmp_path / "mine.json").read_text())
    assert mine["method"] == "mymethods:Mine"
    assert mine["metrics"] == prior["metrics"]


def test_a_method_that_fails_is_said_and_the_others_are_shown(run):
    arguments = ("--method", "mlcl:learning_rate=-1", "--method", "prior", "--folds", 2)
    code, out, err = run("benchmark", "synthetic", *arguments)
    assert code == 1
    assert "Prior" in out
    assert "learning_rate must be" in err
    assert "Traceback" not in err


@pytest.mark.filterwarnings("default::FutureWarning")
def test_a_former_name_works_and_today_s_is_said(run, tmp_path):
    code, out, err = run("benchmark", "synthetic", "--method", "fpml-rank-1", "--folds", 2)
    assert code == 0
    assert "fPML (rank = 1)" in out
    assert "hint: the method 'fpml-rank-1' is now spelled 'fpml:rank=1'\n" in err
    assert "FutureWarning" not in err


HINTS = "default::complabel.answers.IgnoredAnswersWarning"


@pytest.mark.filterwarnings(HINTS)
def test_a_benchmark_may_ask_another_question(run, tmp_path):
    code, out, err = run(
        "benchmark", "synthetic", "--method", "prior", "--method", "ridge", "--folds", 2,
        "--question", "menu-2", "--propensity-sd", 0.5, "--mistakes", 0.1,
        "--answers-per-item", 2, "--items-share", 0.5, "--labels", "uniform", "--json", "a.json",
    )  # fmt: skip
    assert code == 0
    title = " ".join(out.split())
    assert (
        "6 labels, one label named from a random menu of 2, labels come to mind unequally"
        " (sd 0.5), 10 % of the answers at random, 2 answers per item, 50 % of the items, 2 folds"
    ) in title
    prior, ridge = json.loads((tmp_path / "a.json").read_text())
    assert {key: prior[key] for key in list(prior)[1:7]} == {
        "labels": "uniform", "question": "menu-2", "propensity_sd": 0.5, "mistakes": 0.1,
        "answers_per_item": 2, "items_share": 0.5,
    }  # fmt: skip
    assert ridge["fitted"]["alpha"] > 0
    assert err.count("hint: prior: PriorClassifier learns from labels that do not apply") == 1
    assert "Warning" not in err
    assert run("study", "report")[0] == 0
    (folder,) = tmp_path.glob("*-report")
    for name in ("report.html", "tables.md", "tables.tex"):
        assert "one label named from a random menu of 2" in (folder / name).read_text("utf-8")


@pytest.mark.filterwarnings(HINTS)
def test_a_benchmark_may_have_an_audit_and_match_every_method_to_it(run, tmp_path):
    code, out, _ = run(
        "benchmark", "synthetic", "--method", "ridge", "--method", "supervised", "--folds", 2,
        "--audit", 300, "--match-frequencies", "--json", "a.json",
    )  # fmt: skip
    assert code == 0
    shown = " ".join(out.split())
    assert "complementary labels, an audit of 300 random yes/no answers in each training" in shown
    assert "Ridge, matched" in shown
    assert "Supervised †" in shown
    ridge, supervised = json.loads((tmp_path / "a.json").read_text())
    assert (ridge["audit"], ridge["row"]) == (300, "Ridge, matched frequencies")
    assert (ridge["match_frequencies"], supervised["match_frequencies"]) == (True, False)
    assert ridge["fitted"]["label_frequencies_sum_error"] > 0
    assert run("study", "report")[0] == 0
    (folder,) = tmp_path.glob("*-report")
    for name in ("report.html", "tables.md", "tables.tex"):
        text = (folder / name).read_text("utf-8")
        assert "an audit of 300 random yes/no answers" in text
        assert "Ridge, matched frequencies" in text
    page = (folder / "report.html").read_text("utf-8")
    assert "and an audit for each training part. True labels" in page
    assert "except as answers of an audit, and in rows marked †" in page


def test_benchmark_shows_published_figures(run, data_dir):
    code, out, _ = run(
        "benchmark", "yeast", "--method", "mlcl", "--folds", 2, "--data-dir", data_dir
    )
    assert code == 0
    published = next(line for line in out.splitlines() if "published" in line)
    for figure in ("0.235±0.008", "0.211±0.013", "0.251±0.023", "0.525±0.021", "0.718±0.019"):
        assert figure in published


@pytest.mark.slow
def test_datasets_json_lists_everything(run, data_dir):
    code, out, _ = run("datasets", "--data-dir", data_dir, "--json")
    assert code == 0
    described = {entry["name"]: entry for entry in json.loads(out)}
    assert described.keys() == {*CATALOG, "digits", "synthetic"}
    sizes = {
        name: tuple(described[name][key] for key in ("n_samples", "n_features", "n_labels"))
        for name in ("scene", "yeast", "corel5k", "corel16k", "delicious")
    }
    assert sizes == {
        "scene": (2407, 294, 6),
        "yeast": (2417, 103, 14),
        "corel5k": (4194, 499, 15),
        "corel16k": (11103, 500, 15),
        "delicious": (14784, 500, 15),
    }


def test_datasets_table_names_what_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, _ = run("datasets")
    assert code == 0
    row = next(line for line in out.splitlines() if "bookmark" in line)
    assert " no " in row
    assert "38912" in row
