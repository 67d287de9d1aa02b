"""Reads a great many damaged dataset files, and reports what comes through as no clean refusal.

    python -m tests.fuzz.readers --mutants 1000000 --seed 0 --jobs 2

Run it from the root of the repository, on Linux or macOS. Every mutant follows from the seed and
its index alone: ``--only INDEX`` reads one again, with its traceback, and ``--out`` keeps its
files. A find is an exception that is no ComplabelError, a refusal that names no file, a warning of
NumPy's or SciPy's kind, memory beyond a limit, or more than half a minute.
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
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from tests.fuzz.mutants import make_mutant

from complabel.errors import ComplabelError, DatasetFormatError, DatasetNotFoundError

MEMORY = 2**30  # bytes that a worker may take beside what it has after its imports
SECONDS = 30
AT_ONCE = 500


class TooSlow(BaseException):
    """Nothing that a reader may catch."""


def too_slow(signum: int, frame: object) -> None:
    raise TooSlow(f"more than {SECONDS} s")


def attempt(seed: int, index: int, folder: Path) -> str:
    """Read one mutant: "read", the name of a refusal, or what is raised."""
    kind, files = make_mutant(seed, index)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        kind.read(folder)
    except (DatasetFormatError, DatasetNotFoundError) as refusal:
        if str(folder) not in str(refusal):
            raise AssertionError("the refusal does not say where") from refusal
        return type(refusal).__name__
    except ComplabelError as refusal:
        return type(refusal).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "read"


def prepare() -> None:
    """Guard a worker: memory, time, and the warnings that count."""
    import sklearn.datasets  # noqa: F401  # its size must not count as the readers'

    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    limit = MEMORY + pages * resource.getpagesize()
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, too_slow)
    warnings.simplefilter("ignore")
    for category in (RuntimeWarning, DeprecationWarning, FutureWarning):
        warnings.simplefilter("error", category)


def run_chunk(seed: int, indices: range) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Read some mutants; return how often each outcome came, and the finds."""
    outcomes: Counter[str] = Counter()
    finds = []
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as top:
        for index in indices:
            try:
                outcomes[attempt(seed, index, Path(top, "m"))] += 1
            except (Exception, TooSlow) as find:
                outcomes["find"] += 1
                finds.append((index, f"{type(find).__name__}: {str(find.__cause__ or find)[:200]}"))
    return outcomes, finds


def run_chunks(
    seed: int, n_mutants: int, jobs: int
) -> Iterator[tuple[range, Counter[str], list[tuple[int, str]]]]:
    """Read all mutants, in this process or in several, and give what came of some at a time."""
    starts = range(0, n_mutants, AT_ONCE)
    parts = [range(start, min(start + AT_ONCE, n_mutants)) for start in starts]
    if jobs == 1:
        prepare()
        for part in parts:
            yield part, *run_chunk(seed, part)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=prepare) as pool:
        waiting = [pool.submit(run_chunk, seed, part) for part in parts]
        for part, future in zip(parts, waiting, strict=True):
            try:
                yield part, *future.result()
            except BrokenProcessPool:
                yield part, Counter(find=1), [(part.start, "a worker died here or soon after")]
                return


def run(seed: int, n_mutants: int, jobs: int, out: Path | None) -> Counter[str]:
    """Read all mutants, telling finds and progress."""
    total: Counter[str] = Counter()
    started, told = time.monotonic(), 0
    for part, outcomes, finds in run_chunks(seed, n_mutants, jobs):
        total += outcomes
        for index, text in finds:
            say(f"mutant {index} of seed {seed}: {text}")
            keep(seed, index, out)
        if part.stop * 20 // n_mutants > told:
            told = part.stop * 20 // n_mutants
            spent = time.monotonic() - started
            say(f"{part.stop:,} of {n_mutants:,} mutants, {total['find']} finds, {spent:.0f} s")
    return total


def keep(seed: int, index: int, out: Path | None) -> None:
    """Write the files of a find, where a folder is given."""
    if out is not None:
        folder = out / f"{seed}-{index}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in make_mutant(seed, index)[1].items():
            (folder / name).write_bytes(content)


def say(text: str) -> None:
    print(text, flush=True)


def run_one(seed: int, index: int, out: Path | None) -> int:
    """Read one mutant again and show what comes of it."""
    keep(seed, index, out)
    prepare()
    with tempfile.TemporaryDirectory() as top:
        try:
            say(f"mutant {index} of seed {seed}: {attempt(seed, index, Path(top, 'm'))}")
        except (Exception, TooSlow):
            say(traceback.format_exc())
            return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.readers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--mutants", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutants (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument("--only", type=int, metavar="INDEX", help="read this mutant alone")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the files of finds here")
    given = parser.parse_args(arguments)
    if given.only is not None:
        return run_one(given.seed, given.only, given.out)
    started = time.monotonic()
    total = run(given.seed, given.mutants, given.jobs, given.out)
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in total.most_common())
    say(
        f"{given.mutants:,} mutants of seed {given.seed}: {outcomes}; {total['find']} finds, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if total["find"] else 0


if __name__ == "__main__":
    sys.exit(main())
