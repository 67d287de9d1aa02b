"""Reads a great many damaged files, and reports what comes through as no clean refusal.

    python -m tests.fuzz.readers --mutants 1000000 --seed 0 --jobs 2      # dataset files
    python -m tests.fuzz.importers --mutants 100000                       # files with answers

Run it from the root of the repository, on Linux or macOS. Every mutant follows from the seed and
its index alone: ``--only INDEX`` reads one again, with its traceback, and ``--out`` keeps its
files. A find is an exception that is no ComplabelError, a refusal that names no file or cannot be
shown, memory beyond a limit, more than half a minute, or what each command says besides.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from complabel.errors import (
    ComplabelError,
    DatasetFormatError,
    DatasetNotFoundError,
)

MEMORY = 2**30  # bytes that a worker may take beside what it has after its imports
SECONDS = 30
AT_ONCE = 500
LONGEST = 2500  # characters of a refusal beside the path

Finds = list[tuple[int, str]]


class TooSlow(BaseException):
    """Nothing that a reader may catch."""


def too_slow(signum: int, frame: object) -> None:
    raise TooSlow(f"more than {SECONDS} s")


@dataclass(frozen=True)
class Target:
    """What is damaged, and what reads it.

    ``make`` makes a mutant of a seed and an index: what it comes from, and its files. ``use`` reads
    them in their folder, and says what came of it. ``prepare`` loads what must not count as the
    readers' memory. Warnings of the kinds ``faulty`` are finds, and so are refusals that cannot be
    shown on a line, if they should be ``showable``.
    """

    about: str | None
    make: Callable[[int, int], tuple[Any, dict[str, bytes]]]
    use: Callable[[Any, Path], str]
    prepare: Callable[[], object]
    faulty: tuple[type[Warning], ...] = (RuntimeWarning, DeprecationWarning, FutureWarning)
    showable: bool = True


def guard(target: Target) -> None:
    """Guard a worker: memory, time, and the warnings that count."""
    target.prepare()
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    limit = MEMORY + pages * resource.getpagesize()
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, too_slow)
    warnings.simplefilter("ignore")
    for category in target.faulty:
        warnings.simplefilter("error", category)


def attempt(target: Target, seed: int, index: int, folder: Path) -> str:
    """Read one mutant: "read", the name of a refusal, or what is raised."""
    origin, files = target.make(seed, index)
    write(folder, files)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return target.use(origin, folder)
    except ComplabelError as refusal:
        told = str(refusal)
        about_a_file = isinstance(refusal, DatasetFormatError | DatasetNotFoundError)
        if about_a_file and str(folder) not in told:
            raise AssertionError("the refusal does not say where") from refusal
        is_plain = all(map(str.isprintable, told.split("\n")))
        fits = is_plain and len(told) <= LONGEST + len(str(folder))
        if target.showable and not fits:
            raise AssertionError("the refusal cannot be shown") from refusal
        return type(refusal).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a mutant into a folder of their own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def run_chunk(target: Target, seed: int, indices: range) -> tuple[Counter[str], Finds]:
    """Read some mutants; return how often each outcome came, and the finds."""
    outcomes: Counter[str] = Counter()
    finds = []
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as top:
        for index in indices:
            try:
                outcomes[attempt(target, seed, index, Path(top, "m"))] += 1
            except (Exception, TooSlow) as find:
                outcomes["find"] += 1
                told = str(find.__cause__ or find)[:200]
                finds.append((index, f"{type(find).__name__}: {told!a}"))
    return outcomes, finds


def run_chunks(
    target: Target, seed: int, n_mutants: int, jobs: int
) -> Iterator[tuple[range, Counter[str], Finds]]:
    """Read all mutants, in this process or in several, and give what came of some at a time."""
    starts = range(0, n_mutants, AT_ONCE)
    parts = [range(start, min(start + AT_ONCE, n_mutants)) for start in starts]
    if jobs == 1:
        guard(target)
        for part in parts:
            yield part, *run_chunk(target, seed, part)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=guard, initargs=(target,)) as pool:
        waiting = [pool.submit(run_chunk, target, seed, part) for part in parts]
        for part, future in zip(parts, waiting, strict=True):
            try:
                yield part, *future.result()
            except BrokenProcessPool:
                yield part, Counter(find=1), [(part.start, "a worker died here or soon after")]
                return


def run(target: Target, seed: int, n_mutants: int, jobs: int, out: Path | None) -> Counter[str]:
    """Read all mutants, telling finds and progress."""
    total: Counter[str] = Counter()
    started, told = time.monotonic(), 0
    for part, outcomes, finds in run_chunks(target, seed, n_mutants, jobs):
        total += outcomes
        for index, text in finds:
            say(f"mutant {index} of seed {seed}: {text}")
            keep(target, seed, index, out)
        if part.stop * 20 // n_mutants > told:
            told = part.stop * 20 // n_mutants
            spent = time.monotonic() - started
            say(f"{part.stop:,} of {n_mutants:,} mutants, {total['find']} finds, {spent:.0f} s")
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in total.most_common())
    say(f"{n_mutants:,} mutants of seed {seed}: {counts}; {total['find']} finds")
    return total


def keep(target: Target, seed: int, index: int, out: Path | None) -> None:
    """Write the files of a find, where a folder is given."""
    if out is not None:
        write(out / f"{seed}-{index}", target.make(seed, index)[1])


def say(text: str) -> None:
    print(text, flush=True)


def run_one(target: Target, seed: int, index: int, out: Path | None) -> int:
    """Read one mutant again and show what comes of it."""
    keep(target, seed, index, out)
    guard(target)
    with tempfile.TemporaryDirectory() as top:
        try:
            say(f"mutant {index} of seed {seed}: {attempt(target, seed, index, Path(top, 'm'))}")
        except (Exception, TooSlow):
            say(traceback.format_exc())
            return 1
    return 0


def main(target: Target, arguments: list[str] | None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=f"{target.about}\n{__doc__}")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--mutants", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutants (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument("--only", type=int, metavar="INDEX", help="read this mutant alone")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the files of finds here")
    given = parser.parse_args(arguments)
    if given.only is not None:
        return run_one(target, given.seed, given.only, given.out)
    return 1 if run(target, given.seed, given.mutants, given.jobs, given.out)["find"] else 0
