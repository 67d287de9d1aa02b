"""The command line as it is typed, in this process."""

import sys

import pytest

from complabel.cli import _app, _console


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line; return exit code, output and errors."""

    def call(*arguments):
        _console.output.cache_clear()
        _console.errors.cache_clear()
        monkeypatch.setattr(sys, "argv", ["complabel", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            _app.main()
        captured = capsys.readouterr()
        return exit_.value.code, captured.out, captured.err

    yield call
    _console.output.cache_clear()
    _console.errors.cache_clear()
