"""The command line as it is typed, in this process."""

import functools
import shlex
import sys

import pytest
import typer.main
from tests.cli.own import write_files
from tests.reports.conftest import without_charts as without_charts
from tests.spawned import as_typed

from complabel.cli import _app, _console

# What is typed does not change the commands. To build them takes longer than most of them take.
BUILT = {name: functools.cache(getattr(typer.main, name)) for name in ("get_command", "get_group")}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own, with small files of somebody's."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.fixture
def served(monkeypatch):
    """Call it with a function that is run in place of a server."""
    return lambda function: monkeypatch.setattr("complabel.live.run", function)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line, typed as one text or as words; return exit code, output, errors."""
    for name, built in BUILT.items():
        monkeypatch.setattr(typer.main, name, built)

    def call(*arguments):
        forget_consoles()
        words = shlex.split(arguments[0]) if len(arguments) == 1 else map(str, arguments)
        # As in a program of its own: completion asks for the name of the program.
        monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
        with as_typed("complabel", *words), pytest.raises(SystemExit) as exit_:
            _app.main()
        captured = capsys.readouterr()
        return exit_.value.code, captured.out, captured.err

    yield call
    forget_consoles()


def forget_consoles():
    _console.output.cache_clear()
    _console.errors.cache_clear()
