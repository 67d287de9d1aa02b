"""The next command is spelled as the program was called, so that it can be pasted."""

import sys

import pytest

from complabel.cli import _console as _next


@pytest.mark.parametrize(
    ("program", "on_path", "expected"),
    [
        ("/env/bin/complabel", "/env/bin/complabel", "complabel fit"),
        ("complabel", None, "complabel fit"),
        ("env/bin/complabel", None, "env/bin/complabel fit"),
        ("/src/complabel/__main__.py", None, "env/bin/python -m complabel fit"),
    ],
)
def test_the_next_command_starts_as_this_one_did(monkeypatch, tmp_path, program, on_path, expected):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "env" / "bin" / "python"))
    monkeypatch.setattr(_next.shutil, "which", lambda name: on_path)
    assert _next.command("fit") == expected


def test_an_interpreter_elsewhere_is_named_in_full(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["/src/complabel/__main__.py"])
    monkeypatch.setattr(sys, "executable", "/env/bin/python")
    assert _next.command("fit") == "/env/bin/python -m complabel fit"
