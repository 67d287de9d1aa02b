"""The command line as it is typed, in this process."""

import shlex
import sys

import pytest
from tests.cli.own import write_files

from complabel.cli import _app, _console


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own, with small files of somebody's."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line, typed as one text or as words; return exit code, output, errors."""

    def call(*arguments):
        forget_consoles()
        words = shlex.split(arguments[0]) if len(arguments) == 1 else map(str, arguments)
        monkeypatch.setattr(sys, "argv", ["complabel", *words])
        # As in a program of its own: completion asks for the name of the program.
        monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
        with pytest.raises(SystemExit) as exit_:
            _app.main()
        captured = capsys.readouterr()
        return exit_.value.code, captured.out, captured.err

    yield call
    forget_consoles()


def forget_consoles():
    _console.output.cache_clear()
    _console.errors.cache_clear()
