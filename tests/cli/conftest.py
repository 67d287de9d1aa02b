"""The command line as it is typed, in this process."""

import sys

import pytest

from complabel.cli import _app, _console


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line; return exit code, output and errors."""

    def call(*arguments):
        forget_consoles()
        monkeypatch.setattr(sys, "argv", ["complabel", *map(str, arguments)])
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
