"""`complabel benchmark`, `tune` and `datasets` as they are typed."""

import json

import pytest

from complabel.experiments.cli._compare import parse_grid
from complabel.metrics import METRICS


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own: commands keep their results in it."""
    monkeypatch.chdir(tmp_path)


def test_benchmark_prints_a_table_and_writes_json(run, tmp_path):
    code, out, _ = run(
        "benchmark synthetic --method prior --method supervised --folds 2 --json results.json"
    )
    assert code == 0
    assert "synthetic: 1000 x 20, 6 labels, uniform complementary labels, 2 folds" in out
    assert "Supervised †" in out
    prior, supervised = json.loads((tmp_path / "results.json").read_text())
    assert (prior["method"], supervised["method"]) == ("prior", "supervised")
    assert [*prior["metrics"]] == [*METRICS]
    assert f"{prior['metrics']['average_precision']['mean']:.3f}±" in out
    assert "next: complabel study report benchmark-synthetic-" in out


def test_a_method_that_fails_is_said_and_the_others_are_shown(run):
    code, out, err = run(
        "benchmark synthetic --method mlcl:learning_rate=-1 --method prior --folds 2"
    )
    assert code == 1
    assert "Prior" in out
    assert "learning_rate must be" in err
    assert "Traceback" not in err


def reported(run, tmp_path):
    """Write the report; return its page and its tables."""
    assert run("study", "report")[0] == 0
    (folder,) = tmp_path.glob("*-report")
    return [(folder / n).read_text("utf-8") for n in ("report.html", "tables.md", "tables.tex")]


HINTS = "default::complabel.answers.IgnoredAnswersWarning"


@pytest.mark.usefixtures("without_charts")
@pytest.mark.filterwarnings(HINTS)
def test_a_benchmark_may_ask_another_question(run, tmp_path):
    code, out, err = run(
        "benchmark synthetic --method prior --method ridge --folds 2 --question menu-2"
        " --propensity-sd 0.5 --missed 0.2 --invented 0.1 --answers-per-item 2 --items-share 0.5"
        " --scheme uniform --json a.json"
    )
    assert code == 0
    title = " ".join(out.split())
    assert (
        "6 labels, one label named from a random menu of 2, labels come to mind unequally"
        " (sd 0.5), people miss 20 % and invent 10 %, 2 answers per item, 50 % of the items,"
        " 2 folds"
    ) in title
    prior, ridge = json.loads((tmp_path / "a.json").read_text())
    assert {key: prior[key] for key in list(prior)[1:9]} == {
        "labels": "uniform", "question": "menu-2", "propensity_sd": 0.5, "error_rate": 0.0,
        "missed": 0.2, "invented": 0.1, "answers_per_item": 2, "items_share": 0.5,
    }  # fmt: skip
    assert ridge["fitted"]["alpha"] > 0
    assert err.count("hint: prior: PriorClassifier learns from labels that do not apply") == 1
    assert "Warning" not in err
    for text in reported(run, tmp_path):
        assert "one label named from a random menu of 2" in text


@pytest.mark.usefixtures("without_charts")
@pytest.mark.filterwarnings(HINTS)
def test_a_benchmark_may_have_an_audit_and_match_every_method_to_it(run, tmp_path):
    code, out, _ = run(
        "benchmark synthetic --method ridge --method supervised --folds 2 --audit 300"
        " --match-frequencies --json a.json"
    )
    assert code == 0
    shown = " ".join(out.split())
    assert "complementary labels, an audit of 300 random yes/no answers in each training" in shown
    assert "Ridge, matched" in shown
    assert "Supervised †" in shown
    ridge, supervised = json.loads((tmp_path / "a.json").read_text())
    assert (ridge["audit"], ridge["row"]) == (300, "Ridge, matched frequencies")
    assert (ridge["match_frequencies"], supervised["match_frequencies"]) == (True, False)
    assert ridge["fitted"]["label_frequencies_sum_error"] > 0
    page, *tables = reported(run, tmp_path)
    for text in (page, *tables):
        assert "an audit of 300 random yes/no answers" in text
        assert "Ridge, matched frequencies" in text


def test_benchmark_shows_published_figures(run, data_dir):
    code, out, _ = run(f"benchmark yeast --method mlcl:epochs=2 --folds 2 --data-dir {data_dir}")
    assert code == 0
    published = next(line for line in out.splitlines() if "published" in line)
    for figure in ("0.235±0.008", "0.211±0.013", "0.251±0.023", "0.525±0.021", "0.718±0.019"):
        assert figure in published


def test_datasets_table_names_what_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, _ = run("datasets")
    assert code == 0
    row = next(line for line in out.splitlines() if "bookmark" in line)
    assert " no " in row
    assert "38912" in row


def test_the_chosen_setting_is_marked_and_ready_to_paste(run, tmp_path):
    code, out, _ = run(
        "tune synthetic --method ml-knn --grid n_neighbors=5,80 --folds 2 --seed 3 --scheme biased"
        " --json search.json"
    )
    assert code == 0
    record = json.loads((tmp_path / "search.json").read_text())
    assert {key: record[key] for key in ("dataset", "method", "labels", "folds", "seed")} == {
        "dataset": "synthetic", "method": "ml-knn", "labels": "biased", "folds": 2, "seed": 3,
    }  # fmt: skip
    best = record["best"]["n_neighbors"]
    marked = next(line for line in out.splitlines() if "→" in line)
    score = max(setting["score"] for setting in record["settings"])
    assert f" {best} " in marked
    assert f"{score:.4f}±" in marked
    assert f"chosen: n_neighbors={best}\n" in out
    pasted = out[out.index("from complabel") : out.index("\n\nHeld-out")]
    names = {}
    exec(pasted, names)
    assert names["classifier"].n_neighbors == best
    assert "minus complementary ranking error" in out
    assert "average precision" not in out.lower()
    assert "average_precision" not in record["settings"][0]


def test_the_same_search_again_goes_on_and_is_shown_but_has_no_report(run):
    first, again = (
        run("tune synthetic --method ml-knn --grid n_neighbors=5 --folds 2") for _ in range(2)
    )
    assert again[1] == first[1]
    assert "2 of 2 units are already in the store" in again[2]
    assert "2 of 2 units done" in run("study", "status")[1]
    for command in ("report", "export all.csv"):
        code, _, err = run(f"study {command}")
        assert (code, err.count("\n")) == (1, 1)
        assert "is a search by complabel tune" in err
    assert run("study", "export", "all.json")[0] == 0


def test_what_failed_is_told_once(run):
    code, out, err = run("tune synthetic --method ml-knn --grid n_neighbors=0,5 --folds 2")
    assert code == 0
    assert next(line for line in out.splitlines() if "failed" in line).split()[0] == "0"
    assert err.count("failed: n_neighbors must be an integer of at least 1, got 0") == 1


def test_values_are_read_as_python_or_taken_as_text():
    grid = parse_grid(["rank=2,None", "optimizer=adam, sgd", "fit-intercept=True", "C2=1e-3"])
    assert grid == {
        "rank": [2, None],
        "optimizer": ["adam", "sgd"],
        "fit_intercept": [True],
        "C2": [0.001],
    }
    assert type(grid["rank"][0]) is int
