"""What was asked, where a table of answers does not say it: no command guesses."""

import json

import pytest
from tests.cli.own import read_table, write_table


@pytest.fixture(autouse=True)
def folder(folder):
    """Write two.csv, which has only items and labels, beside the usual files."""
    two = [[row["item"], row["label"]] for row in read_table(folder / "named.csv")]
    write_table(folder / "two.csv", ["item", "label"], two)
    return folder


RIDGE = ("--method", "ridge:alpha=1", "--folds", 0)
X = ("--features", "X.csv", "--label-names", "labels.txt")
COMMANDS = {
    "import": ("import", "two.csv", "--out", "a.csv"),
    "inspect": ("inspect", "two.csv", "--label-names", "labels.txt"),
    "ask": ("ask", "two.csv", *X, "-n", 5, "--out", "q.csv"),
    "fit": ("fit", "two.csv", *X, *RIDGE, "--out", "m.safetensors"),
    "evaluate": ("evaluate", "model.safetensors", "X.csv", "--answers", "two.csv"),
    "tune": ("tune", "two.csv", *X, "--method", "ml-knn", "--grid", "n_neighbors=3", "--folds", 2),
    "benchmark": ("benchmark", "two.csv", *X, "--method", "prior", "--folds", 2),
}


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
@pytest.mark.filterwarnings("ignore::complabel.answers.UnansweredRowWarning")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_asks_and_takes_the_answer(run, folder, name):
    if name == "evaluate":
        model = ("--out", "model.safetensors")
        assert run("fit", "named.csv", *X, *RIDGE, *model)[0] == 0
    code, _, err = run(*COMMANDS[name])
    assert code == 1
    assert "two.csv" in err
    assert "line 2" in err
    assert "--read-as" in err
    code, _, err = run(*COMMANDS[name], "--read-as", "excluded")
    assert code == 0, err


def test_what_was_told_is_what_is_learned_and_the_next_command_says_it(run, folder):
    assert run("import", "two.csv", "--read-as", "named", "--out", "a.csv")[0] == 0
    assert {row["question"] for row in read_table(folder / "a.csv")} == {"named"}
    labels = ("--label-names", "labels.txt")
    assert run("inspect", "two.csv", *labels, "--read-as", "named", "--json", "f.json")[0] == 0
    assert json.loads((folder / "f.json").read_text("utf-8"))["questions"] == {"named": 60}
    _, out, _ = run("ask", "two.csv", *X, "--read-as", "named", "-n", 5, "--out", "q.csv")
    assert "--read-as named" in out
