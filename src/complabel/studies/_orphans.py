"""Lets worker processes end soon after the run that started them, however that one ended."""

from __future__ import annotations

import functools
import multiprocessing
import os
import sys
import threading
import time

_POLL_SECONDS = 0.5


@functools.cache
def end_with(parent: int) -> None:
    """End this process once the one that started it is gone, which may have been killed.

    Otherwise a worker goes on with its unit for nobody, and then waits minutes for another.
    """
    if parent != os.getpid():
        threading.Thread(target=_watch, args=[parent], name="complabel-watch", daemon=True).start()


def _watch(parent: int) -> None:
    """Wait for the end of the parent, then end at once: nobody hears any more."""
    if sys.platform == "win32":
        # There the number of a parent that is gone does not change.
        process = multiprocessing.parent_process()
        if process is None:
            return
        process.join()
    else:
        while os.getppid() == parent:
            time.sleep(_POLL_SECONDS)
    os._exit(1)
