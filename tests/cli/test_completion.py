"""Shell completion: what a shell is told, and what that costs."""

import os
import subprocess
import sys

import pytest

from complabel.cli import _completion as completion
from complabel.datasets import CATALOG, EMBEDDED
from complabel.methods import METHODS
from complabel.paper import PLANS, TABLES

PROGRAM = "import sys; sys.argv[0] = 'complabel'; from complabel.cli import main; main()"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A folder with some files."""
    for name in ("mine.arff", "mine.xml", "MIRROR.NPZ", "plan.toml", ".hidden.npz", "answers.csv"):
        (tmp_path / name).touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "far.svm").touch()
    monkeypatch.chdir(tmp_path)


def complete(line, shell="bash"):
    """Ask as a shell does, for the last word of a line."""
    words = line.split(" ")
    asked = {
        "_COMPLABEL_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **asked}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert not completed.stderr
    return completed.stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("complabel be", ["benchmark"]),
        ("complabel study re", ["report"]),
        ("complabel benchmark mi", ["mirflickr", "mine.arff"]),
        ("complabel benchmark mine.arff data/", ["data/far.svm"]),
        ("complabel tune syn", ["synthetic"]),
        ("complabel benchmark scene --method pml", ["pml-lc", "pml-fp", "pml-lrs"]),
        ("complabel benchmark scene --method rid", ["ridge"]),
        ("complabel study run p", ["plan.toml"]),
        ("complabel study run table2", ["table2"]),
        ("complabel datasets --download sce", ["scene"]),
    ],
)
def test_bash_completes(line, expected):
    assert complete(line).split() == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete(shell):
    assert "ridge" in complete("complabel benchmark scene --method rid", shell)


def test_names_are_those_that_there_are():
    assert {*completion.catalog_names()} == {*CATALOG, *EMBEDDED}
    assert completion.complete_plan("") == [*PLANS, "data/", "plan.toml"]
    assert completion.complete_table("") == list(TABLES)
    assert completion.complete_method("") == list(METHODS)


def test_files_are_those_that_may_be_datasets():
    assert completion.complete_dataset("M") == ["MIRROR.NPZ"]
    assert completion.complete_dataset(".h") == [".hidden.npz"]
    assert set(completion.complete_dataset("")) >= {"scene", "data/", "mine.arff", "MIRROR.NPZ"}
    assert not {"answers.csv", "mine.xml", ".hidden.npz"} & {*completion.complete_dataset("")}
    assert completion.complete_dataset("nowhere/x") == []


def test_completion_loads_nothing_heavy():
    program = (
        "import sys\n"
        "from complabel.cli import _app\n"
        "from complabel.cli import _completion as c\n"
        "found = c.complete_dataset('s'), c.complete_method('r'), c.complete_plan('t')\n"
        "assert all(found), found\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'numpy', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_can_be_shown(shell):
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--show-completion", shell],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "_COMPLABEL_COMPLETE" in completed.stdout
    assert f"complete_{shell}" in completed.stdout
