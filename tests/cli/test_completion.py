"""Shell completion: what a shell is told, and what that costs."""

import pytest
from tests.cli.conftest import BUILT
from tests.spawned import python

from complabel.experiments.datasets import CATALOG, EMBEDDED
from complabel.experiments.paper import PLANS, TABLES
from complabel.methods import METHODS


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A folder with some files."""
    for name in ("mine.arff", "mine.xml", "MIRROR.NPZ", "plan.toml", ".hidden.npz", "answers.csv"):
        (tmp_path / name).touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "far.svm").touch()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def complete(run, monkeypatch):
    """Ask as a shell does, for the last word of a line."""

    def ask(line, shell="bash"):
        monkeypatch.setenv("_COMPLABEL_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        _, out, err = run()
        assert not err
        return out

    return ask


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
        ("complabel reproduce table", list(TABLES)),
        ("complabel datasets --download sce", ["scene"]),
        ("complabel fit a.csv --contradictions d", ["drop"]),
    ],
)
def test_bash_completes(complete, line, expected):
    assert complete(line).split() == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete(complete, shell):
    assert "ridge" in complete("complabel benchmark scene --method rid", shell)


def test_names_are_those_that_there_are(complete):
    assert {*complete("complabel datasets --download ").split()} == {*CATALOG, *EMBEDDED}
    assert complete("complabel study run ").split() == [*PLANS, "data/", "plan.toml"]
    assert complete("complabel benchmark scene --method ").split() == list(METHODS)


def test_files_are_those_that_may_be_datasets(complete):
    assert complete("complabel benchmark M").split() == ["MIRROR.NPZ"]
    assert complete("complabel benchmark .h").split() == [".hidden.npz"]
    offered = set(complete("complabel benchmark ").split())
    assert offered >= {"scene", "data/", "mine.arff", "MIRROR.NPZ"}
    assert not {"answers.csv", "mine.xml", ".hidden.npz"} & offered
    assert not complete("complabel benchmark nowhere/x").split()


def test_completion_loads_nothing_heavy():
    program = (
        "import sys\n"
        "from complabel.experiments.cli import _options as o\n"
        "found = o.complete_dataset('s'), o.complete_method(), o.complete_plan('t')\n"
        "assert all(found), found\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'numpy', 'pydantic', 'pandas', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    python("-c", program)


@pytest.fixture
def built_anew(monkeypatch):
    """Build the commands as a setting says that they heed while they are built."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    for each in BUILT.values():
        each.cache_clear()
    yield
    for each in BUILT.values():
        each.cache_clear()


@pytest.mark.usefixtures("built_anew")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_can_be_shown(run, shell):
    code, out, _ = run("--show-completion", shell)
    assert code == 0
    assert "_COMPLABEL_COMPLETE" in out
    assert f"complete_{shell}" in out
