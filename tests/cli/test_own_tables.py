"""Tables of one's own in `complabel tune`, `benchmark` and `study`, as they are typed."""

import json

import pytest
from tests.studies.test_own_tables import tables  # noqa: F401  (a fixture)

pytestmark = pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path, tables):  # noqa: F811
    """Work in the folder with the tables."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


READ = ("X.csv: 60 items, 3 features", "answers.csv: 240 answers, 4 labels",
        "  answers for 48 of 60 items")  # fmt: skip


def test_settings_are_tuned_on_answers(run, folder):
    code, out, _ = run(
        "tune", "answers.csv", "--features", "X.csv", "--method", "ml-knn",
        "--grid", "n_neighbors=3,20", "--folds", 2, "--json", "found.json",
    )  # fmt: skip
    assert code == 0
    assert out.splitlines()[:3] == list(READ)
    record = json.loads((folder / "found.json").read_text())
    assert (record["dataset"], record["labels"]) == ("X", "own")
    assert f"chosen by held-out answers: n_neighbors={record['best']['n_neighbors']}\n" in out
    assert "the answers that people gave" in " ".join(out.split())


def test_truth_may_be_revealed_beside(run):
    code, out, _ = run(
        "tune", "answers.csv", "--features", "X.csv", "--truth", "truth.csv", "--reveal",
        "--method", "ml-knn", "--grid", "n_neighbors=3", "--folds", 2,
    )  # fmt: skip
    assert code == 0
    assert "truth.csv: true labels of 40 of 60 items\n" in out
    assert "was not used for the choice" in " ".join(out.split())


def test_methods_are_compared_on_answers_and_truth_up_to_the_report(run, folder):
    command = (
        "benchmark", "answers.csv", "--features", "X.csv", "--truth", "truth.csv",
        "--method", "ridge", "--method", "prior", "--folds", 2, "--json", "all.json",
    )  # fmt: skip
    code, out, _ = run(*command)
    assert code == 0
    records = json.loads((folder / "all.json").read_text())
    scores = {r["row"]: r["metrics"]["held_out_ranking"]["mean"] for r in records}
    assert f"best by held-out answers: {max(scores, key=scores.get)}\n" in out
    assert "60 x 3, 4 labels, the answers that people gave" in " ".join(out.split())
    assert "4 of 4 units are already in the store" in run(*command, "--force")[2]
    for ending in ("csv", "json"):
        assert run("study", "export", f"folds.{ending}")[0] == 0
    assert run("study", "report", "--output", "shown")[0] == 0
    page = (folder / "shown" / "report.html").read_text("utf-8")
    assert "the answers that people gave" in page
    assert str(folder) not in page


def test_methods_are_compared_by_answers_alone(run):
    code, out, _ = run(
        "benchmark", "answers.csv", "--features", "X.csv", "--method", "prior", "--folds", 2
    )
    assert code == 0
    assert "best by held-out answers: Prior\n" in out
    assert "Hamming" not in out
    assert "study report" not in out
    code, _, err = run("study", "report")
    assert (code, err.count("\n")) == (1, 1)
    assert "has scores but no criteria on true labels" in err
    assert run("study", "export", "folds.json")[0] == 0


def test_labels_are_drawn_where_there_is_truth_alone(run):
    code, out, _ = run(
        "benchmark", "--features", "X.csv", "--truth", "truth.csv", "--method", "prior",
        "--folds", 2,
    )  # fmt: skip
    assert code == 0
    assert "truth.csv: true labels of 40 of 60 items; the others are left out\n" in out
    assert "uniform complementary labels" in " ".join(out.split())


def test_a_plan_names_tables(run, folder):
    (folder / "mine.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nfolds = 2\ndraws = [{ name = "said", scheme = "own" }]\n'
        'rows = [{ method = "prior" }]\ndatasets = [{ name = "pics", features = "X.csv",'
        ' answers = "answers.csv", truth = "truth.csv" }]\n'
    )
    code, out, _ = run("study", "run", "mine.toml", "--dry-run")
    assert code == 0
    assert "on pics; 2 folds, seed 0 1 draw: said: the answers that people gave" in " ".join(
        out.split()
    )
    assert run("study", "run", "mine.toml", "--jobs", 1)[0] == 0
    assert "2 of 2 units done, 0 failed" in run("study", "status")[1]
