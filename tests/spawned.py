"""Python in a process of its own, for what depends on which modules are loaded; what is typed."""

import contextlib
import subprocess
import sys

import pytest


def python(*words, timeout=120, **options):
    """Run Python to a good end; return what it printed."""
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextlib.contextmanager
def as_typed(*words):
    """Let these words be what started this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [*map(str, words)])
        yield
