"""Python in a process of its own, for what depends on which modules are loaded."""

import subprocess
import sys


def python(*words, timeout=120, **options):
    """Run Python to a good end; return what it printed."""
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
