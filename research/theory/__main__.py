"""Check the paper's theorems, and write a page with the results: ``make theory``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from research.theory import run_theory
from research.theory._theory_page import render_theory
from research.theory._theory_text import theory_lines

from complabel._writing import write_text
from complabel.errors import ComplabelError, DatasetNotFoundError
from complabel.experiments.datasets import load_dataset

_NEED_FILES = ("scene", "yeast", "corel5k")
_LOG_SECONDS = 30.0


def main(arguments: list[str] | None = None) -> None:
    """Run the check as it was asked for on the command line."""
    given = _parser().parse_args(arguments)
    if not given.output.parent.is_dir():
        sys.exit(f"error: there is no folder {given.output.parent} to write {given.output} into")
    datasets, left_out = [load_dataset("digits")], {}
    for name in () if given.quick else _NEED_FILES:
        try:
            datasets.append(load_dataset(name, data_dir=given.data_dir))
        except DatasetNotFoundError:
            left_out[name] = "no file of it was found; --data-dir names a folder that has some"
            print(f"left out: {name}, {left_out[name]}", file=sys.stderr)
    results = run_theory(
        datasets,
        n_distributions=given.distributions or (100 if given.quick else 1000),
        quick=given.quick,
        random_state=given.seed,
        n_jobs=given.jobs,
        tell=_Log(),
    )
    for what, found in theory_lines(results):
        print(f"{what} {found}")
    write_text(given.output, render_theory(results, left_out=left_out))
    print(f"next: open {given.output.resolve()} in a browser")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m research.theory", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("complabel-theory.html"))
    parser.add_argument("--data-dir", type=Path, help="a folder with scene, yeast and corel5k")
    parser.add_argument(
        "--distributions", type=int, help="random distributions of each setting; 1000, or 100 quick"
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer distributions, items and folds; digits alone"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    return parser


class _Log:
    """Says how far the computation is, at most once in half a minute."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, far: str) -> None:
        if time.monotonic() - self._said > _LOG_SECONDS:
            self._said = time.monotonic()
            print(f"checking the theory: {far}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except ComplabelError as error:
        sys.exit(f"error: {error}")
