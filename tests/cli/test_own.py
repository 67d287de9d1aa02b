"""Files, tables and classes of one's own, from the first look to the report."""

import json

import pytest
from tests.cli.own import write_arff

from complabel.datasets import make_synthetic
from complabel.experiments.datasets import save_file

pytestmark = [
    pytest.mark.usefixtures("without_charts"),
    pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning"),
]
LABELS = [f"label{i}" for i in range(4)]


@pytest.fixture(autouse=True)
def folder(folder):
    """Work with a dataset in two parts, one in MEKA's form, one without labels, and tables."""
    write_arff(folder / "pics-train.arff")
    write_arff(folder / "pics-test.arff", 1)
    text = "".join(f'<label name="{name}"/>' for name in LABELS)
    (folder / "pics.xml").write_text(f"<labels>{text}</labels>", encoding="utf-8")
    write_arff(folder / "meka.arff", 2, option=": -C 4")
    write_arff(folder / "bare.arff", 3)
    return folder


def test_a_file_is_shown_as_it_would_be_read(run):
    code, out, err = run("datasets pics-train.arff pics-test.arff meka.arff")
    assert (code, err) == (0, "")
    assert out.startswith(
        "pics: ARFF and XML (Mulan)\n  pics-train.arff\n  pics-test.arff\n  pics.xml\n"
        "  120 instances, 3 features, 4 labels, "
    )
    assert "meka: ARFF (MEKA)\n  meka.arff\n  60 instances" in out
    assert f"labels: {', '.join(LABELS)}\n" in out


def test_files_and_names_are_shown_together(run, folder):
    code, out, err = run("datasets synthetic meka.arff --as-json")
    assert (code, err) == (0, "")
    synthetic, meka = json.loads(out)
    assert (synthetic["name"], synthetic["n_samples"]) == ("synthetic", 1000)
    assert (meka["name"], meka["label_names"]) == ("meka", LABELS)
    assert meka["files"] == [str(folder / "meka.arff")]


def test_too_few_labels_are_said(run, folder):
    lines = ["@relation 'x: -C 2'", *(f"@attribute {name} {{0,1}}" for name in "ab")]
    lines += ["@attribute c numeric", "@data", "0,1,0.5", "1,1,0.25"]
    (folder / "few.arff").write_text("\n".join(lines))
    code, out, err = run("datasets few.arff")
    assert code == 0
    assert "1 instances have none or all of the labels; benchmark, tune and study leave" in out
    assert err.startswith("few: it has too few labels; learning from complementary labels needs")


def test_two_parts_are_compared_as_one_dataset_up_to_the_report(run, folder):
    code, out, err = run("benchmark pics-test.arff pics-train.arff --method ridge --folds 2")
    assert code == 0
    assert "hint" not in err
    assert "x 3, 4 labels" in next(line for line in out.splitlines() if line.startswith("pics: "))
    again = run("benchmark pics-train.arff pics-test.arff pics.xml --method ridge --folds 2")
    assert "2 of 2 units are already in the store" in again[2]
    for command in ("status", "report", "export folds.csv", "export folds.json"):
        assert run(f"study {command}")[0] == 0
    assert "pics" in (folder / "folds.csv").read_text()
    (report,) = folder.glob("*-report")
    assert str(folder) not in (report / "report.html").read_text("utf-8")


def test_one_part_alone_is_read_alone_and_said(run):
    code, out, err = run("benchmark pics-train.arff --method prior --folds 2")
    assert code == 0
    assert "pics-train: " in out
    assert "hint: pics-test.arff is not read; give both files to use them as one dataset" in err


def test_a_plan_names_files(run, folder):
    (folder / "plans").mkdir()
    (folder / "plans" / "own.toml").write_text(
        'name = "own"\ntitle = "Ours"\nfolds = 2\nrows = [{ method = "prior" }]\n'
        'datasets = ["synthetic", { name = "mine", file = ["../bare.arff", "../pics.xml"] }]\n'
    )
    code, out, _ = run("study run plans/own.toml --dry-run")
    assert (code, "on synthetic, mine;" in out) == (0, True)
    assert run("study run plans/own.toml --jobs 1")[0] == 0
    assert "mine" in run("study status")[1]
    assert run("study report own")[0] == 0


def test_a_file_and_a_class_of_ones_own_can_be_compared(run, folder, monkeypatch):
    save_file(make_synthetic(200, random_state=3), folder / "mine.npz")
    (folder / "mymethods.py").write_text(
        "from complabel.methods import PriorClassifier\nclass Mine(PriorClassifier): pass\n"
    )
    monkeypatch.syspath_prepend(folder)
    code, out, _ = run(
        "benchmark mine.npz --folds 2 --json mine.json --method prior --method mymethods:Mine"
        " --method mlcl:epochs=2"
    )
    assert code == 0
    assert "mine: 200 x 20, 6 labels" in out
    assert "MLCL (epochs = 2)" in out
    prior, mine, _ = json.loads((folder / "mine.json").read_text())
    assert mine["method"] == "mymethods:Mine"
    assert mine["metrics"] == prior["metrics"]


def test_settings_are_tuned_on_answers_and_truth_may_be_revealed(run, folder):
    code, out, _ = run(
        "tune asked.csv --features X.csv --method ml-knn --grid n_neighbors=3,20 --folds 2"
        " --truth truth.csv --reveal --json found.json"
    )
    assert code == 0
    assert out.splitlines()[:3] == [
        "X.csv: 90 items, 5 features",
        "truth.csv: true labels of 30 of 90 items",
        "asked.csv: 80 answers, 4 labels",
    ]
    record = json.loads((folder / "found.json").read_text())
    assert (record["dataset"], record["labels"]) == ("X", "own")
    assert f"chosen by held-out answers: n_neighbors={record['best']['n_neighbors']}\n" in out
    shown = " ".join(out.split())
    assert "the answers that people gave" in shown
    assert "was not used for the choice" in shown
    assert "(not used)" in shown


def test_methods_are_compared_on_answers_and_truth_up_to_the_report(run, folder):
    command = (
        "benchmark asked.csv --features X.csv --truth truth.csv --method ridge --method prior"
        " --folds 2 --json all.json"
    )
    code, out, _ = run(command)
    assert code == 0
    records = json.loads((folder / "all.json").read_text())
    scores = {r["row"]: r["metrics"]["held_out_ranking"]["mean"] for r in records}
    assert f"best by held-out answers: {max(scores, key=scores.get)}\n" in out
    assert "90 x 5, 4 labels, the answers that people gave" in " ".join(out.split())
    assert "4 of 4 units are already in the store" in run(f"{command} --force")[2]
    assert run("study report --out shown")[0] == 0
    page = (folder / "shown" / "report.html").read_text("utf-8")
    assert "the answers that people gave" in page
    assert str(folder) not in page


def test_methods_are_compared_by_answers_alone(run):
    code, out, _ = run("benchmark asked.csv --features X.csv --method prior --folds 2")
    assert code == 0
    assert "best by held-out answers: Prior\n" in out
    assert "Hamming" not in out
    assert "study report" not in out
    code, _, err = run("study report")
    assert (code, err.count("\n")) == (1, 1)
    assert "has scores but no criteria on true labels" in err
    assert run("study export folds.json")[0] == 0


def test_labels_are_drawn_where_there_is_truth_alone(run):
    code, out, _ = run("benchmark --features X.csv --truth truth.csv --method prior --folds 2")
    assert code == 0
    assert "truth.csv: true labels of 30 of 90 items; the others are left out\n" in out
    assert "uniform complementary labels" in " ".join(out.split())
