"""Whether the run that took a unit is still at work on it."""

from __future__ import annotations

import os
import platform
import sqlite3
import time

_SILENT_SECONDS = 120.0

OWNERS: set[str] = set()
"""The stores that are open in this process: a full disk can keep a claim of one that is closed."""


def is_alive(claim: sqlite3.Row) -> bool:
    """Tell whether the run that made a claim is still there; a damaged claim is nobody's."""
    if not (isinstance(claim["process"], int) and isinstance(claim["beat"], float)):
        return False
    if (claim["host"], claim["process"]) == (platform.node(), os.getpid()):
        return claim["owner"] in OWNERS
    if claim["host"] == platform.node() and not _process_runs(claim["process"]):
        return False
    return bool(time.time() - claim["beat"] < _SILENT_SECONDS)


def _process_runs(process: int) -> bool:
    """Tell whether a process of this machine is there, as far as the system tells."""
    if os.name != "posix":  # elsewhere os.kill ends the process that it asks for
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # there, and somebody else's
        return True
    return True
