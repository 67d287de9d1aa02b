"""`complabel tune` as it is typed."""

import json

import pytest

from complabel.cli._tune import parse_grid
from complabel.errors import InputError


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own: commands keep their results in it."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tune(run):
    """Run `complabel tune`."""
    return lambda *arguments: run("tune", *arguments)


def test_the_chosen_setting_is_marked_and_ready_to_paste(tune, tmp_path):
    target = tmp_path / "search.json"
    code, out, _ = tune(
        "synthetic", "--method", "ml-knn", "--grid", "n_neighbors=5,80",
        "--folds", 2, "--seed", 3, "--scheme", "biased", "--json", target,
    )  # fmt: skip
    assert code == 0
    record = json.loads(target.read_text())
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


@pytest.mark.filterwarnings("default::complabel.answers.IgnoredAnswersWarning")
def test_settings_may_be_chosen_by_other_answers(tune, tmp_path):
    code, out, err = tune(
        "synthetic", "--method", "ml-knn", "--grid", "n_neighbors=5,80", "--folds", 2,
        "--question", "asked", "--json", tmp_path / "search.json",
    )  # fmt: skip
    assert code == 0
    assert "a yes/no question about a random label, 2 folds" in " ".join(out.split())
    assert err.count("hint: ml-knn: ") == 1
    record = json.loads((tmp_path / "search.json").read_text())
    assert (record["labels"], record["question"], record["error_rate"]) == ("uniform", "asked", 0.0)
    assert all(-1 < setting["score"] < 0 for setting in record["settings"])


def test_the_same_search_again_goes_on_and_is_shown_but_has_no_report(run, tune):
    arguments = ("synthetic", "--method", "ml-knn", "--grid", "n_neighbors=5", "--folds", 2)
    first = tune(*arguments)
    again = tune(*arguments)
    assert again[1] == first[1]
    assert "2 of 2 units are already in the store" in again[2]
    assert "2 of 2 units done" in run("study", "status")[1]
    for command in (["report"], ["export", "all.csv"]):
        code, _, err = run("study", *command)
        assert (code, err.count("\n")) == (1, 1)
        assert "is a search by complabel tune" in err
    assert run("study", "export", "all.json")[0] == 0


def test_revealed_figures_are_marked_as_not_used(tune):
    code, out, _ = tune(
        "synthetic", "--method", "ml-knn", "--grid", "n_neighbors=5", "--folds", 2, "--reveal"
    )
    assert code == 0
    assert "(not used)" in out
    assert "was not used for the choice" in " ".join(out.split())


def test_the_default_method_is_compared_by_likelihood(tune):
    grid = ("--grid", "learning-rate=0.1", "--grid", "epochs=2", "--grid", "beta=1,0.5")
    code, out, _ = tune("synthetic", *grid, "--folds", 2)
    assert code == 0
    assert "complementary log-likelihood" in out
    assert "MLCLClassifier(" in out


def test_what_failed_is_told_once(tune):
    code, out, err = tune(
        "synthetic", "--method", "ml-knn", "--grid", "n_neighbors=0,5", "--folds", 2
    )
    assert code == 0
    assert next(line for line in out.splitlines() if "failed" in line).split()[0] == "0"
    assert err.count("failed: n_neighbors must be an integer of at least 1, got 0") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["synthetic", "--method", "prior"], "prior has no grid"),
        (["synthetic", "--method", "mlc"], "no method 'mlc'. Did you mean 'mlcl'?"),
        (["synthetic", "--grid", "bta=1"], "mlcl has no parameter 'bta'; did you mean 'beta'?"),
        (
            ["synthetic", "--grid", "beta"],
            "--grid beta: this is no list of values; write NAME=VALUE,VALUE,...",
        ),
        (["synthetic", "--json", "no/such/x.json"], "there is no folder no/such"),
        (["sceen"], "unknown dataset 'sceen'"),
        (["synthetic", "--folds", "1001"], "folds must be between 2 and 1000"),
    ],
)
def test_errors_are_one_sentence(tune, arguments, message):
    code, out, err = tune(*arguments)
    assert code == 1
    assert err.lstrip().startswith("error: ")  # Rich before 15 ends progress with a blank line
    assert message in err
    assert "Traceback" not in err + out


def test_values_are_read_as_python_or_taken_as_text():
    grid = parse_grid(["rank=2,None", "optimizer=adam, sgd", "fit-intercept=True", "C2=1e-3"])
    assert grid == {
        "rank": [2, None],
        "optimizer": ["adam", "sgd"],
        "fit_intercept": [True],
        "C2": [0.001],
    }
    assert type(grid["rank"][0]) is int


@pytest.mark.parametrize("texts", [["beta"], ["=1"], ["beta="], ["beta=1,,2"]])
def test_grids_that_do_not_parse_are_refused(texts):
    with pytest.raises(InputError, match="write NAME=VALUE"):
        parse_grid(texts)


def test_a_parameter_given_twice_is_refused():
    with pytest.raises(InputError, match="beta is given twice"):
        parse_grid(["beta=1", "beta=2"])
