"""Help, colours, and exit codes."""

import ast
import functools
import inspect
import re
import shlex
from pathlib import Path

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


def leaves():
    return {path: each for path, each in COMMANDS.items() if not hasattr(each, "commands")}


def test_an_option_is_the_same_kind_of_thing_in_all_commands():
    """What follows it has one name, and the file that a command is for is --out."""
    kinds, outputs = {}, {}
    for path, command in leaves().items():
        for each in command.params:
            for name in (opt for opt in each.opts if opt.startswith("-")):
                kinds.setdefault(name, {}).setdefault(each.metavar, []).append(path)
        marks = getattr(command, "_outputs", {})
        names = [each.opts[0] for each in command.params if each.name in marks]
        outputs |= {path: names} if names else {}
    kinds["--out"]["FILE"] += kinds["--out"].pop("FOLDER")  # a report has several files
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}
    besides = {"--json", "--html", "--doubtful", "--download"}
    odd = {opt for opts in outputs.values() for opt in opts if opt.startswith("-")} - besides
    assert {opt for opt in odd if not re.fullmatch("--out|--.*-out", opt)} == set()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ask --kind ticked", "--question"),
        ("fit --question ticked", "--read-as"),
        ("demo --output page.html", "--out"),
        ("annotate photos --labels labels.txt", "--label-names"),
    ],
)
def test_a_word_of_another_command_gets_the_word_of_this_one(run, typed, meant):
    code, _, err = run(typed)
    assert (code, re.findall(r"--[a-z-]+", err.splitlines()[0])[1:]) == (2, [meant])


def test_no_text_names_an_option_that_no_command_has():
    options = {opt for each in leaves().values() for param in each.params for opt in param.opts}
    others = {"--help", "--view-id", "--rwrap"}  # of all commands, of prodigy, and of LaTeX
    strange = {}
    for path in Path(_app.__file__).parents[1].rglob("*"):
        if path.suffix not in (".py", ".toml") or path.name in (
            "_app.py",
            "_lite0.py",
        ):  # words of other tools; arguments of pip
            continue
        texts = [path.read_text("utf-8")]
        if path.suffix == ".py":
            nodes = ast.walk(ast.parse(texts[0]))
            values = [node.value for node in nodes if isinstance(node, ast.Constant)]
            texts = [value for value in values if isinstance(value, str) and "<" not in value]
        words = {word for text in texts for word in re.findall(r"(?<![-(\w])--[a-z][a-z-]+", text)}
        strange |= {path.name: words - options - others} if words - options - others else {}
    assert strange == {}


def test_no_command_is_longer_than_eighty_lines():
    """Options that belong together are one group, with what is done with them."""
    sources = {path: inspect.getsource(each.callback) for path, each in leaves().items()}
    lines = {path: len(text.partition("\ndef ")[2].splitlines()) for path, text in sources.items()}
    assert {path: n for path, n in lines.items() if n > 80} == {}


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
