"""How the flagship's benchmarks make data and fit: each in a process of its own, with a limit.

It imports the standard library alone. On Linux a process starts with the peak memory of the one
that started it, and figures of peak memory are right only if that one stays small.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
# "seconds" of wall and of processor time, and "limit" where the fit was given up.
Result = dict[str, Any]


def make_data(
    case: str, folder: Path, *, data_dir: str | None = None, **sizes: int | None
) -> Result:
    """Write the data of a case to a folder, and return their shape."""
    arguments = [case, str(folder)]
    if data_dir is not None:
        arguments += ["--data-dir", data_dir]
    for name, value in sizes.items():
        if value is not None:
            arguments += [f"--{name}", str(value)]
    return _run("flagship_cases.py", arguments, source=SOURCE, threads=1, limit=None)


def fit(
    folder: Path,
    *,
    source: Path = SOURCE,
    threads: int = 1,
    limit: float | None = None,
    options: tuple[str, ...] = (),
) -> Result:
    """Fit to the data in a folder with the package in ``source``, and measure."""
    found = _run(
        "flagship_worker.py",
        [str(folder), *options],
        source=source,
        threads=threads,
        limit=limit,
    )
    package = Path(found.get("package", source / "complabel")).resolve()
    if package != (source / "complabel").resolve():
        raise SystemExit(f"{package} was fitted with instead of the package in {source}")
    return found


def extract(commit: str, folder: Path) -> Path:
    """Write the package of a commit to a folder, and return what PYTHONPATH needs."""
    archive = folder / "src.tar"
    _git("archive", "--output", str(archive), commit, "src")
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    return folder / "src"


def full_name(commit: str) -> str:
    """Return the short, unambiguous name of a commit."""
    return _git("rev-parse", "--short=10", f"{commit}^{{commit}}")


def tree_name() -> str:
    """Return the commit of the working tree, marked where its package has changed since."""
    changed = "+changes" if _git("status", "--porcelain", "--", "src") else ""
    return full_name("HEAD") + changed


def _run(
    script: str, arguments: list[str], *, source: Path, threads: int, limit: float | None
) -> Result:
    """Run a script of this folder, and return what it wrote."""
    before, started = _children_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        done = subprocess.run(
            [sys.executable, str(HERE / script), *arguments, "--answer", str(answer)],
            env=_environment(source, threads),
            preexec_fn=partial(_limit_processor, limit and limit * threads),
        )
        if done.returncode == -signal.SIGXCPU:
            seconds, cpu = time.perf_counter() - started, _children_seconds() - before
            return {"limit": limit, "seconds": seconds, "cpu": cpu}
        done.check_returncode()
        found: Result = json.loads(answer.read_text(encoding="utf-8"))
        return found


def _limit_processor(seconds: float | None) -> None:
    """End this process after so many seconds of processor time."""
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), resource.RLIM_INFINITY))


def _environment(source: Path, threads: int) -> dict[str, str]:
    """Return the environment of a process that takes the package from ``source``."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    # PYTHONPATH comes before an editable installation.
    return os.environ | {"PYTHONPATH": str(source)} | dict.fromkeys(names, str(threads))


def _children_seconds() -> float:
    """Return the processor time of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _git(*arguments: str) -> str:
    """Return what git answers."""
    done = subprocess.run(
        ["git", "-C", str(HERE.parent), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
