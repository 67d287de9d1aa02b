"""Measure, compare and show: ``python -m benchmarks NAME``, ``claims``, ``evidence``, ``list``.

NAME measures all cells of a benchmark, stores them in docs/evidence/results and prints the means;
with ``--quick`` it measures few cells, and says which figures differ from the stored ones by more
than their error. ``show`` prints what is stored. ``evidence`` measures the quick cells of as many
benchmarks as ``--minutes`` allow, by turn. ``claims`` says which claims hold, and which results are
older than the code that they measured.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import _claims, _frame, _pages, _results
from complabel.errors import ComplabelError


def measure(given: argparse.Namespace) -> int:
    """Measure one benchmark; return whether a figure has moved."""
    benchmark = _frame.Benchmark.of(given.name)
    only = {key: value.split(",") for key, value in (each.split("=", 1) for each in given.only)}
    units = benchmark.units(quick=given.quick, draws=given.draws, only=only)
    rows = _frame.run(benchmark, units, data=given.data, jobs=given.jobs, store=not given.quick)
    return compared(benchmark, rows) if given.quick else show(given.name)


def compared(benchmark: _frame.Benchmark, rows: Any, *, note: bool = False) -> int:
    """Print which figures moved, or note that none did; return whether one did."""
    stored = _results.read(benchmark.name)
    moved = _frame.moved(benchmark, rows, stored)
    keys = {*map(_results.key_of, rows)}
    again = [row["run"] for row in stored.rows if _results.key_of(row) in keys]
    for line in moved:
        print(f"moved: {line}")
    print(f"{benchmark.name}: {len(rows)} rows, {len(again)} of them stored, {len(moved)} moved")
    if note and again and not moved:
        for run in map(stored.runs.__getitem__, {*again}):
            code = {room: _results.fingerprint(room) for room in run["code"]}
            run["checked"] = {"commit": _frame.commit(), "code": code}
        stored.write()
    return bool(moved)


def show(name: str) -> int:
    """Print the stored means of a benchmark, and how they were measured."""
    result = _results.read(name)
    if not result.rows:
        print(f"Nothing is stored for {name}; measure it: python -m benchmarks {name}")
        return 1
    print(_pages.markdown(result.table()))
    for run in result.runs:
        stale = ", ".join(_results.changed(run))
        print(f"{_pages.source(run)}{f'; changed since: {stale}' if stale else ''}")
    return 0


def evidence(given: argparse.Namespace) -> int:
    """Measure the quick cells of benchmarks by turn, until the time is over."""
    names, began, moved, n_done = _frame.names(), time.monotonic(), 0, 0
    failed: list[str] = []
    turn = given.turn if given.turn is not None else int(time.time() // 86_400)
    for at in range(turn, turn + len(names)):
        name = names[at % len(names)]
        if time.monotonic() - began > 60 * given.minutes:
            break
        try:
            benchmark = _frame.Benchmark.of(name)
            units = benchmark.units(quick=True)
            if given.data is None:
                units = [each for each in units if not benchmark.needs_data(each[0])]
            if not units:
                continue
            print(f"{name}: {len(units)} quick cells and draws", flush=True)
            rows = _frame.run(benchmark, units, data=given.data, jobs=given.jobs, store=False)
        except _frame.MissingError as error:
            print(f"{name}: not measured, since {error}")
        except Exception as error:  # the others are measured, too
            print(f"{name}: failed, {type(error).__name__}: {error}")
            failed.append(name)
        else:
            moved += compared(benchmark, rows, note=given.note)
            n_done += 1
    minutes = (time.monotonic() - began) / 60
    print(
        f"{n_done} of {len(names)} benchmarks in {minutes:.1f} minutes, from turn {turn};"
        f" figures of {moved} moved; failed: {', '.join(failed) or 'none'}"
    )
    return int((moved > 0 or failed != []) and not given.report)


def main() -> int:
    """Do what the words say."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a benchmark, or claims, evidence, list (of them), show")
    parser.add_argument("of", nargs="?", help="for show: a benchmark")
    parser.add_argument("--quick", action="store_true", help="few cells, compared, not stored")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the data sets")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--only", nargs="+", default=[], metavar="WHAT=VALUE,VALUE")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--minutes", type=float, default=20, help="for evidence")
    parser.add_argument("--report", action="store_true", help="moved figures are no error")
    parser.add_argument("--note", action="store_true", help="for evidence: store what is the same")
    parser.add_argument("--turn", type=int, help="for evidence: where to begin; else the day")
    given = parser.parse_args()
    if given.name == "claims":
        return _claims.main()
    if given.name == "evidence":
        return evidence(given)
    if given.name == "show":
        return show(str(given.of))
    if given.name == "list":
        for name in _frame.names():
            print(f"{name:28} {_frame.Benchmark.of(name).question}")
        return 0
    return measure(given)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ComplabelError, _results.NoFigureError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("Stopped. What is measured is kept; the same command goes on.")
