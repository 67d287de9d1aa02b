"""The terminal: what is printed, tables that are too wide for it, and the next command."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text
from tests.cli.conftest import forget_consoles
from tests.spawned import as_typed

from complabel.cli import _app, _console
from complabel.files import UnmatchedItemsWarning


def test_what_a_file_holds_cannot_steer_the_terminal(capsys):
    forget_consoles()
    _console.say("a\x1b[31m\x9b1m\rb\nd")
    _console.complain("e\x07")
    captured = capsys.readouterr()
    assert captured.out == "a\\x1b[31m\\x9b1m\\rb\nd\n"
    assert captured.err == "e\\x07\n"
    forget_consoles()


# A text that sets the title, one that clears the screen, one that turns the line, and any other.
HOSTILE = st.one_of(
    st.sampled_from(
        ["\x1b]0;x\x07", "\x1b[2J", "a\u202eb", "\x9b1m", "\r", "[red]\x1b[/red]", "\ud800"]
    ),
    st.text(st.characters(exclude_characters="\n\t"), max_size=12),
)
DOORS = {
    "say": _console.say,
    "explain": _console.explain,
    "remark": _console.remark,
    "complain": _console.complain,
    "output": lambda text: _console.output().print(Text(text)),
    "errors": lambda text: _console.errors().print(text, markup=False),
    "table": lambda text: _console.show(table_of(text)),
    "log": lambda text: [log := _console.Log(text), setattr(log, "_logged", -1e9), log(text)],
    "hint": lambda text: _app._hint(UnmatchedItemsWarning(text), UnmatchedItemsWarning),
    "warning": lambda text: _app._hint(UserWarning(text), UserWarning, "a.py", 3),
}


def table_of(text):
    table = _console.new_table(text, text, numbers=[text])
    table.add_row(text, Text(text))
    return table


@pytest.mark.parametrize("width", [20, 120])
@pytest.mark.parametrize("door", DOORS)
@given(text=HOSTILE)
@settings(max_examples=25)
def test_nothing_that_steers_leaves_by_any_door(door, width, text):
    """On terminals, too: there, the only escapes are those of colours, which are off here."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(out),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", str(width))
        forget_consoles()
        DOORS[door](text)
        forget_consoles()
    written = out.getvalue()
    written.encode()  # no halves of characters
    assert not {c for c in written if c < " "} - {"\n", "\t"}
    assert not {*written} & {*map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202d\u202e\u2066\u2028"}


@pytest.fixture
def terminal(monkeypatch):
    """Let what this process writes go to a terminal of some kind and width."""

    def terminal(kind, width):
        for name, value in {"TERM": kind, "COLUMNS": width, "LINES": 50, "FORCE_COLOR": 1}.items():
            monkeypatch.setenv(name, str(value))
        forget_consoles()

    yield terminal
    forget_consoles()


def test_progress_on_a_terminal_shows_names_without_what_steers(terminal, capsys):
    terminal("xterm", 80)
    with _console.working("reading \x1b]0;title\x07") as far:
        far("b\u202ec")
    written = capsys.readouterr().err
    assert "\\x1b]0;title" in written
    assert not {"\x07", "\u202e"} & {*written}
    assert "\x1b]" not in written


@pytest.mark.parametrize(
    "words", [["fit", "--\x1b[2J"], ["\x1b[2J"], ["show", "m", "\x1b[2J"], ["show", "\x1b[2J"]]
)
def test_what_is_typed_cannot_steer_the_terminal_either(run, words):
    code, out, err = run(*words)
    assert code in (1, 2)
    assert "\x1b" not in out + err
    assert "\\x1b[2J" in err


def test_a_log_gets_a_line_every_half_minute(monkeypatch, capsys):
    forget_consoles()
    now = [0.0]
    monkeypatch.setattr(_console.time, "monotonic", lambda: now[0])
    log = _console.Log("study")
    for now[0] in (29.0, 31.0, 60.0, 62.0):
        log(f"unit {now[0]:.0f}")
    assert capsys.readouterr().err == "study: unit 31, after 31 s\nstudy: unit 62, after 62 s\n"
    forget_consoles()


@pytest.fixture
def shown(terminal, capsys):
    """Show a table of two methods on a terminal of some width; return the lines."""

    def show(width, *, overflow="ellipsis", figure="0.148±0.005"):
        terminal("dumb", width)  # without colours
        table = _console.new_table("scene: [2407] x 294", "method")
        table.add_column("Hamming\nloss", justify="right", no_wrap=overflow != "fold")
        table.add_column("where", overflow=overflow)
        table.add_row(Text("Ridge [new]"), figure, "https://example.org/a-long-address")
        table.add_row(Text("Prior"), "", "a few words")
        _console.show(table)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return show


def test_a_table_that_fits_is_a_table(shown):
    lines = shown(100)
    assert any("Ridge [new]" in line and "0.148±0.005" in line for line in lines)


@pytest.mark.parametrize("width", [30, 40, 60])
def test_what_does_not_fit_is_shown_row_by_row_and_whole(shown, width):
    lines = shown(width)
    assert lines[0] == "scene: [2407] x 294"
    assert "Ridge [new]" in lines
    assert "  Hamming loss  0.148±0.005" in lines
    assert "Hamming loss" not in "".join(lines[lines.index("Prior") :])  # the cell is empty
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= width
    assert "https://example.org/a-long-address" in "".join(line.strip() for line in lines)


def test_words_that_may_be_folded_ask_for_little(shown):
    assert any("Ridge [new]" in x and "0.148±0.005" in x for x in shown(50, overflow="fold"))


PYTHON = Path(sys.executable)
MAIN = "/src/complabel/__main__.py"


@pytest.mark.parametrize(
    ("program", "on_path", "place", "expected"),
    [
        ("/env/bin/complabel", True, "/", "complabel fit"),
        ("complabel", False, "/", "complabel fit"),
        ("env/bin/complabel", False, "/", "env/bin/complabel fit"),
        (MAIN, False, PYTHON.parents[1], f"bin/{PYTHON.name} -m complabel fit"),
        (MAIN, False, "/dev", f"{PYTHON} -m complabel fit"),  # the interpreter is elsewhere
    ],
)
def test_the_next_command_starts_as_this_one_did(
    monkeypatch, tmp_path, program, on_path, place, expected
):
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", str(tmp_path))
    if on_path:
        (tmp_path / "complabel").touch(0o755)
    with as_typed(program):
        assert _console.command("fit") == expected


@pytest.mark.parametrize(
    ("module", "happens", "code", "told"),
    [
        ("typer", "signal.raise_signal(signal.SIGINT)", 130, "^stopped by Ctrl-C\n$"),
        # As in a dataclass, where Python would end by the signal itself.
        ("pyarrow", "exec('signal.raise_signal(signal.SIGINT)')", 130, "^stopped by Ctrl-C\n$"),
        ("pyarrow", "raise ImportError('libarrow.so: no memory')", 1, "^error: .*: no memory"),
        ("pyarrow", "raise MemoryError", 1, "^error: the memory is full"),
        ("pyarrow", "raise ModuleNotFoundError", 1, "^error: .*which is not installed"),
    ],
)
def test_what_ends_a_program_while_it_loads_is_told_in_a_line(
    tmp_path, module, happens, code, told
):
    (tmp_path / "sitecustomize.py").write_text(
        "import builtins, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        "import_ = builtins.__import__\ndef load(name, *more, **also):\n"
        f"    if name == {module!r}:\n        {happens}\n    return import_(name, *more, **also)\n"
        "builtins.__import__ = load\n"
    )
    (tmp_path / "a.csv").write_text("item,label,answer\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "complabel", "inspect", "a.csv"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert re.search(told, done.stderr)
    assert "Traceback" not in done.stderr
