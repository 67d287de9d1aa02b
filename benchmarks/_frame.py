"""One frame for all benchmarks: cells, draws, processes, resuming, and what is stored.

A benchmark is a file with a docstring (its first line is its question) and

- ``CELLS``: what varies, a dictionary of lists whose product are the cells, or a list of cells;
- ``measure(*, draw, data, **cell)``: the figures of one cell and draw, a dictionary; or a list of
  (more of the cell, figures), if one measurement tells several cells;
- ``DRAWS`` (1), ``QUICK`` (values to which the quick cells are restricted, and ``draws``),
  ``NEEDS`` (sets that need ``--data``), ``TIMES`` (figures that differ from machine to machine).
"""

import contextlib
import importlib
import importlib.util
import itertools
import json
import multiprocessing
import os
import platform
import re
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks._results import CHECKOUT, Result, cell_of, changed, fingerprint, key_of, read, short
from complabel.errors import DatasetNotFoundError, InputError

PARTS = CHECKOUT / ".benchmarks"  # rows of runs that have not ended
UNIT = tuple[dict[str, Any], int]  # a cell, and the number of a draw
OF_A_BENCHMARK = re.compile(r"benchmarks\.(?!_frame|_results|_claims|_pages|__)\w+")


class MissingError(InputError):
    """A benchmark needs what this machine lacks, such as a browser, a GPU or a data set."""


@dataclass
class Benchmark:
    """What varies in a benchmark, and what measures one cell of it."""

    name: str
    question: str
    measure: Callable[..., Any]
    cells: list[dict[str, Any]]
    draws: int = 1
    quick: dict[str, Any] = field(default_factory=dict)
    needs: Sequence[str] = ()
    times: Sequence[str] = ()

    @classmethod
    def of(cls, name: str) -> "Benchmark":
        """Import a benchmark by its name."""
        if name not in names():
            raise InputError(f"no benchmark is named {name!r}; there are: {', '.join(names())}")
        with missing_is_named():
            module: Any = importlib.import_module(f"benchmarks.{name}")
        cells = module.CELLS
        if isinstance(cells, Mapping):
            product = itertools.product(*cells.values())
            cells = [dict(zip(cells, each, strict=True)) for each in product]
        optional = {"DRAWS": 1, "QUICK": {}, "NEEDS": (), "TIMES": ()}
        given = [getattr(module, key, usual) for key, usual in optional.items()]
        return cls(name, module.__doc__.splitlines()[0], module.measure, cells, *given)

    def units(
        self, *, quick: bool = False, draws: int | None = None, only: Mapping[str, Any] = {}
    ) -> list[UNIT]:
        """Return the cells and draws to measure."""
        limits = {key: value for key, value in self.quick.items() if key != "draws"}
        draws = draws or (self.quick.get("draws", 1) if quick else self.draws)
        cells = [
            cell
            for cell in self.cells
            if all(str(cell.get(key)) in value for key, value in only.items())
            and (not quick or all(cell.get(key) in value for key, value in limits.items()))
        ]
        return [(cell, draw) for cell in cells for draw in range(draws)]

    def needs_data(self, cell: dict[str, Any]) -> bool:
        """Return whether a cell is about data that the project has not."""
        return any(value in self.needs for value in cell.values())


def names() -> list[str]:
    """Return the names of all benchmarks."""
    found = sorted(Path(__file__).parent.glob("[!_]*.py"))
    return [each.stem for each in found if "\ndef measure(*, draw" in each.read_text("utf-8")]


@contextlib.contextmanager
def missing_is_named(data: Path | None = None) -> Iterator[None]:
    """Raise MissingError in place of an error about a package or a set that is not there."""
    try:
        yield
    except Exception as error:
        if tells_what_lacks(error, data):
            raise MissingError(str(error)) from error
        raise


def tells_what_lacks(error: BaseException | None, data: Path | None) -> bool:
    """Return whether an error is about a package, a data set or a file of data that is missing."""
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").split(".")[0] not in ("benchmarks", "complabel")
    if isinstance(error, FileNotFoundError) and data is not None and error.filename is not None:
        return Path(error.filename).is_relative_to(data)
    if isinstance(error, DatasetNotFoundError):
        return True
    return error is not None and tells_what_lacks(error.__cause__, data)


def need(*packages: str) -> None:
    """Raise MissingError for the first package that is not installed."""
    for each in packages:
        if importlib.util.find_spec(each) is None:
            raise MissingError(f"there is no package {each}")


def run(
    benchmark: Benchmark,
    units: Sequence[UNIT],
    *,
    data: Path | None = None,
    jobs: int = 1,
    show: Callable[[str], None] = print,
    store: bool = True,
) -> list[dict[str, Any]]:
    """Measure units, each once also after an interruption; return their rows."""
    lacking = [cell for cell, _ in units if benchmark.needs_data(cell)] if data is None else []
    if lacking:
        raise MissingError(f"{benchmark.name}: {lacking[0]} needs --data DIR, which has this set")
    part = PARTS / f"{benchmark.name}.jsonl"
    done = read_part(part) if store else {}
    left = [each for each in units if unit_key(*each) not in done]
    if len(left) < len(units):
        show(f"{len(units) - len(left)} of {len(units)} were measured before; delete {part} if not")
    calls = (delayed(measured)(benchmark.measure, *each, data) for each in left)
    began, pool = time.perf_counter(), Parallel(n_jobs=jobs, return_as="generator_unordered")
    for n_done, (key, entry) in enumerate(pool(calls), 1):
        done[key] = entry
        if store:
            PARTS.mkdir(exist_ok=True)
            with part.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, entry]) + "\n")
        rest = (time.perf_counter() - began) / n_done * (len(left) - n_done)
        first = entry["rows"][0]["figures"] if entry["rows"] else {}  # none: the cell was left out
        of_first = ", ".join(f"{k} {v:.4g}" for k, v in first.items())
        show(f"{n_done}/{len(left)}, {rest / 60:.0f} min left: {key}: {of_first[:90]}")
    entries = [done[unit_key(*each)] for each in units]
    rows = [row for entry in entries for row in entry["rows"]]
    if store:
        result = read(benchmark.name)
        result.add(about(entries), rows)
        result.write()
        part.unlink(missing_ok=True)
    return rows


def measured(
    measure: Callable[..., Any], cell: dict[str, Any], draw: int, data: Path | None
) -> tuple[str, dict[str, Any]]:
    """Measure a unit with one thread; return its key, its rows, seconds, and the code that ran."""
    from complabel._training import one_thread

    if multiprocessing.get_start_method(allow_none=True) == "loky":  # in a worker of joblib
        multiprocessing.set_start_method("spawn", force=True)  # its children know no other
    began = time.process_time(), time.perf_counter()
    with one_thread(), warnings.catch_warnings(), missing_is_named(data):
        warnings.simplefilter("ignore")
        found = measure(draw=draw, data=data, **cell)
    took = time.process_time() - began[0], time.perf_counter() - began[1]
    several = [({}, found)] if isinstance(found, Mapping) else found
    rows = [{**cell, **more, "draw": draw, "figures": short(of)} for more, of in several]
    rooms = {each.split(".")[1] for each in sys.modules if each.startswith("complabel.")}
    rooms |= {*filter(OF_A_BENCHMARK.fullmatch, sys.modules)}
    code = {room: fingerprint(room) for room in sorted(rooms)}
    return unit_key(cell, draw), {"rows": rows, "took": took, "code": code}


def unit_key(cell: dict[str, Any], draw: int) -> str:
    """Return the text by which a unit is known."""
    return " ".join([*(f"{key}={value}" for key, value in cell.items()), f"draw={draw}"])


def read_part(part: Path) -> dict[str, Any]:
    """Return what an interrupted run measured, if the code is still the same."""
    found: dict[str, Any] = {}
    for line in part.read_text(encoding="utf-8").splitlines() if part.exists() else ():
        try:
            key, entry = json.loads(line)
        except ValueError:  # the last line of a killed run
            continue
        if not changed(entry):
            found[key] = entry
    return found


def about(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how rows were measured; in the command, a folder of data is DIR."""
    words = itertools.pairwise(["python", "-m", "benchmarks", *sys.argv[1:]])
    command = ["python", *("DIR" if before == "--data" else word for before, word in words)]
    packages = ("numpy", "scipy", "sklearn", "torch")
    versions = {each: importlib.import_module(each).__version__ for each in packages}
    code = {room: was for entry in entries for room, was in entry["code"].items()}
    return {
        "command": shlex.join(command),
        "commit": commit(),
        "date": date.today().isoformat(),
        "processor": processor(),
        "versions": {"python": platform.python_version(), **versions},
        "seconds": round(sum(entry["took"][0] for entry in entries), 1),
        "code": dict(sorted(code.items())),
    }


def commit() -> str:
    """Return the commit of the code, with "+" if files have changed since."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=False
        ).stdout.strip()

    dirty = git("status", "--porcelain", "--", "src", "benchmarks")
    return git("rev-parse", "--short=8", "HEAD") + "+" * bool(dirty)


def processor() -> str:
    """Return the name of the processor, and how many there are."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    name = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), "")
    return f"{name or platform.machine()}, {os.cpu_count()} cores"


def moved(
    benchmark: Benchmark, rows: Sequence[Mapping[str, Any]], stored: Result, least: float = 0.005
) -> list[str]:
    """Return the figures of rows that differ from the stored ones by more than their error.

    The error is the standard error over draws where there are several, and at least ``least`` of
    the figure (or of 1); a time may be half or twice as long.
    """
    was, like = {key_of(row): row["figures"] for row in stored.rows}, {}
    for row in stored.rows:
        for name, value in row["figures"].items():
            like.setdefault((key_of(row)[0], name), []).append(value)
    found = []
    for row in rows:
        old = was.get(key_of(row), {})
        for name in old.keys() & row["figures"].keys():
            new, before = float(row["figures"][name]), float(old[name])
            draws = like[key_of(row)[0], name]
            error = np.std(draws, ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else 0.0
            differs = abs(new - before) > max(error, least * max(1.0, abs(before)))
            if name in benchmark.times:
                differs = not before / 2 <= new <= before * 2
            if differs:
                found.append(f"{unit_key(cell_of(row), row['draw'])}: {name} {before:g} -> {new:g}")
    return found
