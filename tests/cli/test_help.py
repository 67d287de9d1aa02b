"""Help, colours, and exit codes."""

import functools
import re
import shlex

import pytest
from rich.text import Text
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


HEADINGS = ["Ask", "Learn", "Judge", "Use", "Experiments"]  # in the order of use


@functools.cache
def shown(path):
    """The words of a command's help, without the frames around them."""
    result = CliRunner().invoke(_app.app, [*path.split(), "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    return re.findall(r"[^\s│─╭╮╰╯]+", result.output)


def test_there_are_commands():
    assert {"", "benchmark", "study", "study run", "methods"} <= {*COMMANDS}


@pytest.mark.parametrize("path", COMMANDS)
def test_help_cuts_no_word_and_loses_none(path):
    command = COMMANDS[path]
    texts = [command.help, *(each.help for each in command.params), command.epilog or ""]
    texts += [sub.short_help for sub in getattr(command, "commands", {}).values()]
    for text in texts:
        assert {*Text.from_markup(text).plain.split()} <= {*shown(path)}


def test_help_keeps_what_stands_in_brackets():
    assert {"[default:", "none;", "f1]"} <= {*shown("ask")}


def test_commands_stand_below_headings_in_the_order_of_use():
    words = shown("")[shown("").index(HEADINGS[0]) :]
    places = [words.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    for name, command in COMMANDS[""].commands.items():
        at = max(place for place in places if place < words.index(name))
        assert words[at] == command.rich_help_panel


@pytest.mark.parametrize("path", [p for p in COMMANDS if not hasattr(COMMANDS[p], "commands")])
def test_every_command_has_examples_that_parse(monkeypatch, tmp_path, path):
    monkeypatch.chdir(tmp_path)  # outputs are tried while options are read
    examples = re.findall(r"\$ complabel (.*)", Text.from_markup(COMMANDS[path].epilog).plain)
    assert examples
    for line in examples:
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
