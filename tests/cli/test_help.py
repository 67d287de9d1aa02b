"""Help on narrow and wide terminals, colours, and exit codes."""

import functools
import re
import shlex

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from complabel import __version__
from complabel.cli import _app


def commands(command=None, path=()):
    """Every command with its path, groups included."""
    command = command or get_command(_app.app)
    if hasattr(command, "list_commands"):
        command.list_commands(None)  # now it also has those of the experiments
    yield path, command
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands(sub, (*path, name))


COMMANDS = {" ".join(path): command for path, command in commands()}


@functools.cache
def shown(path, columns):
    result = CliRunner().invoke(_app.app, [*path.split(), "--help"], env={"COLUMNS": str(columns)})
    assert result.exit_code == 0
    return result.output


def test_there_are_commands():
    assert {"", "benchmark", "study", "study run", "methods"} <= {*COMMANDS}


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("path", COMMANDS)
def test_help_fits_the_terminal_and_cuts_no_word(path, columns):
    text, _, examples = shown(path, columns).partition("Examples:")
    for line in text.splitlines():
        assert len(line) < columns or line.startswith("Usage: "), line
    # A word cut in two is none of the help on a wide terminal.
    assert {*text.split()} <= {*shown(path, 80).split()}
    assert not re.search(r"\w-$", text, flags=re.MULTILINE)
    for sub in getattr(COMMANDS[path], "commands", {}).values():
        sentence, *_ = sub.help.split("\n\n")
        assert " ".join(sentence.split()) in " ".join(text.split())
    for line in examples.splitlines():
        assert re.fullmatch(r"(  +\$ complabel .*)?", line)


@pytest.mark.parametrize(
    "path", [path for path in COMMANDS if not hasattr(COMMANDS[path], "commands")]
)
def test_every_command_has_examples_that_parse(monkeypatch, tmp_path, path):
    monkeypatch.chdir(tmp_path)  # outputs are tried while options are read
    lines = re.findall(r"\$ complabel (.*)", shown(path, 80))
    assert lines
    for line in lines:
        words = shlex.split(line)
        assert words[: len(path.split())] == path.split()
        COMMANDS[path].make_context("complabel", words[len(path.split()) :])


def test_the_version_and_exit_codes(run):
    assert run("--version") == (0, f"complabel {__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    assert "Exit codes: 0: done; 1:" in " ".join(out.split())


def test_no_colour_where_none_is_wanted(run, monkeypatch):
    coloured = "\x1b["
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert f"{coloured}31m" in run("benchmark", "sceen")[2]
    monkeypatch.setenv("NO_COLOR", "1")
    assert f"{coloured}31m" not in run("benchmark", "sceen")[2]
