"""How much faster the automatic fit is than at an earlier commit, and whether it chooses as well.

For each case the same arrays are fitted to with the package of the working tree and with that of
the commit, one after the other, each in a process of its own, everything automatic. Printed are
wall seconds of the fit, the ratio, the mean log-likelihood of held-out labels, average precision on
true labels of the held-out rows, and the peak memory of the processes. For folds, such as scene/3,
the means of the differences follow. On one thread the ratio is
that of processor time, which other work on the machine bears on less. Fits under 5 seconds are
repeated and the median taken.

With --cache the commit's figures are kept in a folder, for development. Ratios to be published are
to come from one run, without it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import platform
import statistics
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import flagship_process as process

_BASE = "75e4c10"
_CASES = {
    "small": "200 x 8",
    "scene": "scene",
    "yeast": "yeast",
    "delicious": "delicious",
    "corel5k": "corel5k",
    "mirflickr": "mirflickr, exclusions",
    "digits": "digits",
    "digits-linear": "digits, kernel='linear'",
    "text": "sparse text",
    "corel16k": "corel16k",
    "embeddings": "embeddings",
}
_SIDES = ("base", "now")


@dataclass(frozen=True)
class Side:
    """A package to fit with, and where its figures are kept, if anywhere."""

    name: str
    source: Path
    cache: Path | None = None
    options: tuple[str, ...] = ()

    def fit(self, folder: Path, key: str, *, threads: int, limit: float | None) -> process.Result:
        """Return the figures of a case, kept ones where they answer the same."""
        file = None if self.cache is None else self.cache / f"{self.name}-{key}-t{threads}.json"
        if file is not None and file.exists():
            kept: process.Result = json.loads(file.read_text(encoding="utf-8"))
            # A fit that was given up is tried again if it may take longer now.
            if kept.get("limit", float("inf")) >= (limit or float("inf")):
                return kept
        found = process.fit(
            folder, source=self.source, threads=threads, limit=limit, options=self.options
        )
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(found, indent=1), encoding="utf-8")
        return found


def run_case(
    case: str, sides: dict[str, Side], options: argparse.Namespace
) -> dict[str, process.Result]:
    """Return the shape and each side's figures."""
    with tempfile.TemporaryDirectory() as folder:
        data = process.make_data(case, Path(folder), data_dir=options.data_dir)
        key = f"{case.replace('/', '-')}-{data['digest']}"
        found = {"data": data}
        for name, side in sides.items():
            found[name] = side.fit(Path(folder), key, threads=options.threads, limit=options.limit)
        return found


def ratio(found: dict[str, process.Result], *, threads: int) -> str:
    """Return how many times less time the working tree took, or more than how many times."""
    if not all(side in found for side in _SIDES):
        return ""
    clock = "cpu" if threads == 1 else "seconds"
    times = found["base"][clock] / found["now"][clock]
    base_given_up, now_given_up = ("limit" in found[side] for side in _SIDES)
    if now_given_up:
        return "?" if base_given_up else f"< {times:.1f}"
    return f"> {times:.1f}" if base_given_up else f"{times:.1f}"


def cells(found: dict[str, process.Result], name: str, digits: int, *, unit: float = 1) -> str:
    """Return the cells of a figure, one for each side."""
    values = [found[side].get(name) if side in found else None for side in _SIDES]
    return " | ".join("" if value is None else f"{value / unit:.{digits}f}" for value in values)


def seconds(found: dict[str, process.Result]) -> str:
    """Return the cells of the wall seconds, marked where a fit was given up."""
    shown = [found.get(side, {}) for side in _SIDES]
    return " | ".join(
        ("> " if "limit" in side else "") + (f"{side['seconds']:.2f}" if side else "")
        for side in shown
    )


def line(case: str, found: dict[str, process.Result], *, threads: int) -> str:
    """Return the line of a case."""
    shape = " x ".join(f"{size:,}" for size in found["data"]["shape"])
    return (
        f"| {_CASES.get(case, case)} | {shape} | {seconds(found)} | {cells(found, 'cpu', 2)} |"
        f" {ratio(found, threads=threads)} | {cells(found, 'score', 5)} |"
        f" {cells(found, 'precision', 4)} | {cells(found, 'peak', 2, unit=1e9)} |"
    )


def choices(case: str, found: dict[str, process.Result]) -> str:
    """Return what each side chose for a case, as lines of a list."""
    lines, name = [], _CASES.get(case, case)
    for side in _SIDES:
        chosen: dict[str, Any] = found.get(side, {}).get("chosen", {})
        if chosen:
            values = ", ".join(
                f"{of.rstrip('_')} {value:.4g}" if isinstance(value, float) else str(value)
                for of, value in chosen.items()
            )
            lines.append(f"- {name}, {side}: {values}; {found[side]['settings_tried']} settings")
    return "\n".join(lines)


def differences(results: dict[str, dict[str, process.Result]]) -> list[str]:
    """Return how much more each dataset has now, over its folds, with the standard error."""
    lines = []
    for dataset, cases in itertools.groupby(results, key=lambda case: case.partition("/")[0]):
        folds = [results[case] for case in cases]
        if len(folds) > 1 and all(side in found for found in folds for side in _SIDES):
            told = []
            for name, of in (("score", "log-likelihood"), ("precision", "average precision")):
                more = [found["now"][name] - found["base"][name] for found in folds]
                error = statistics.stdev(more) / math.sqrt(len(more))
                told.append(f"{of} {statistics.mean(more):+.5f} ± {error:.5f}")
            times = sum(found["base"]["cpu"] for found in folds)
            times /= sum(found["now"]["cpu"] for found in folds)
            lines.append(f"- {dataset}, {len(folds)} folds: {', '.join(told)}, {times:.1f} times")
    return lines


def environment(threads: int) -> dict[str, Any]:
    """Return what the figures depend on besides the package."""
    packages = {name: version(name) for name in ("numpy", "scipy", "torch", "scikit-learn")}
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    return {"threads": threads, "tree": process.tree_name(), **machine, **packages}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cases",
        nargs="+",
        default=list(_CASES),
        help=f"{', '.join(_CASES)}; or a fold, such as scene/3",
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--base", default=_BASE, help="commit to compare with")
    parser.add_argument("--only", choices=_SIDES, help="time one side alone")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--limit", type=float, help="give up after so many processor seconds per thread"
    )
    parser.add_argument(
        "--same-landmarks",
        action="store_true",
        help="take the base's rows for the kernel, whose draw would be most of a difference",
    )
    parser.add_argument("--cache", type=Path, help="folder that keeps the commit's figures")
    parser.add_argument("--json", type=Path, help="file for all figures, and what was chosen")
    return parser.parse_args()


def main() -> None:
    """Print a table, then what was chosen."""
    options = parse()
    commit = process.full_name(options.base)
    with tempfile.TemporaryDirectory() as folder:
        sides = {
            "base": Side(commit, process.extract(commit, Path(folder)), options.cache),
            "now": Side(
                "tree",
                process.SOURCE,
                options=("--landmarks-of-nystroem",) if options.same_landmarks else (),
            ),
        }
        if options.only:
            sides = {options.only: sides[options.only]}
        where = environment(options.threads)
        print(f"{where['tree']} against {commit}, {options.threads} thread(s):\n")
        print(
            "| case | rows x features x labels | seconds, base | now | processor seconds, base |"
            " now | ratio | held-out log-likelihood, base | now | average precision, base | now |"
            " peak GB, base | now |\n" + "|---" * 13 + "|",
            flush=True,
        )
        results: dict[str, Any] = {}
        for case in options.cases:
            results[case] = run_case(case, sides, options)
            print(line(case, results[case], threads=options.threads), flush=True)
            if options.json:
                stored = {"base": commit, "environment": where, "cases": results}
                options.json.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    print("\n" + "\n".join(differences(results)))
    print("\n" + "\n".join(filter(None, (choices(*item) for item in results.items()))))


if __name__ == "__main__":
    main()
