"""Is a confirmed answer lost where a write to any file of a sitting fails for want of space?

The sitting of ``annotate_damage`` is held once for each n, while its n-th write fails, and all
later ones or not; with "every", for each 40th n alone. A library is loaded before the system's own,
so this needs a C compiler.
"""

from __future__ import annotations

import collections
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._days import DAYS, Confirm, confirmed, forked, hold, outcome, place
from benchmarks._frame import MissingError
from complabel.errors import ComplabelError

CELLS = {"fails": ("one write", "all from then on"), "every": (1, 40)}
QUICK = {"fails": ("one write",), "every": (40,)}
FAILING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static long left = -1; static int once, failed; static char where[512];
int has_failed(void) { return failed; }
void fail_after(long n, int o, const char *d) { left = n; once = o; strncpy(where, d, 511); }
static int fails(int fd) {
  char name[64], path[1024]; snprintf(name, 64, "/proc/self/fd/%d", fd);
  long n = readlink(name, path, 1023); if (n < 0 || !where[0] || left < 0) return 0; path[n] = 0;
  if (!strstr(path, where)) return 0;
  if (left > 0) { left--; return 0; }
  if (once) left = -1;
  failed = 1; errno = ENOSPC; return 1;
}
#define NEXT(name) ((name##_t)dlsym(RTLD_NEXT, #name))
typedef ssize_t (*write_t)(int, const void *, size_t);
typedef ssize_t (*pwrite_t)(int, const void *, size_t, off_t);
ssize_t write(int f, const void *b, size_t n) { return fails(f) ? -1 : NEXT(write)(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) {
  return fails(f) ? -1 : NEXT(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off_t o) {
  return fails(f) ? -1 : NEXT(pwrite)(f, b, n, o); }
"""


def measure(*, draw: int, data: Any, fails: str, every: int) -> dict[str, int]:
    """Let each write of a sitting fail, in a process that loads the failing library first."""
    with tempfile.TemporaryDirectory() as name:
        source, made = Path(name) / "failing.c", Path(name) / "failing.so"
        source.write_text(FAILING)
        if not shutil.which("cc"):
            raise MissingError("there is no C compiler cc")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
        code = f"from benchmarks.annotate_full import each_fails; each_fails({fails!r}, {every})"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "LD_PRELOAD": str(made)},
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def each_fails(fails: str, every: int) -> None:
    """Print what became of a sitting for each write that fails."""
    counts = collections.Counter[str]()
    for n in range(0, 10_000, every):
        with place() as folder:
            forked(fill, folder, n, fails == "one write").join()
            told = confirmed(folder)
            if {"failed": 1} not in told:  # all writes came before
                break
            errors = [each["error"] for each in told if "error" in each]
            said = [each for each in told if isinstance(each, list)]
            # All changes at once, or nothing was stored.
            kept = not said or any(outcome(folder, day, said, 9) == "same" for day in (3, 0))
            counts.update(writes=1, kept=kept, named=all(str(folder) in each for each in errors))
    print(json.dumps(counts))


def fill(folder: Path, confirm: Confirm, n: int, once: bool) -> None:
    """Hold a sitting while the n-th write fails; a day that failed is begun anew."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.fail_after(n, once, f"{folder}/".encode())
    for day in range(len(DAYS)):
        for _ in range(2):
            try:
                hold(folder, confirm, day, 4, day)
                break
            except ComplabelError as error:
                confirm({"error": str(error)})
    confirm({"failed": library.has_failed()})
