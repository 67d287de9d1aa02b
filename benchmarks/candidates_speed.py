"""How much faster the methods of Table 2 are than at an earlier commit, and whether figures stay.

Both packages run the same folds of the table, one after the other, each in a process of its own
with one thread. Printed are processor seconds, their ratio, the largest difference of a metric's
mean over the folds, and the metrics whose mean has other digits in the table. With
``--methods all`` the last lines say what all ten folds take.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import flagship_process as process

_BASE = "81a25e3"
_DATASETS = ("scene", "yeast", "corel5k", "corel16k", "delicious")
_METHODS = ("lift", "pml-lc", "pml-fp")
_FOLDS = 10


def run(options: argparse.Namespace) -> None:
    """Run one fold of one dataset with the package at hand, and write what was measured."""
    # Before the experiments had a package of their own, their rooms were those of the tool.
    above = "complabel.experiments" if find_spec("complabel.experiments") else "complabel"
    datasets, methods, studies, drawn = (
        import_module(f"{above}.{room}")
        for room in ("datasets", "methods", "studies", "studies._labels")
    )
    read_plan, run_fold, draw_labels = studies.read_plan, studies.run_fold, drawn.draw_labels
    dataset = datasets.load_dataset(options.dataset, data_dir=options.data_dir)
    plan = read_plan("table2")
    labels = draw_labels(dataset, plan.draws[0], seed=0)
    found = []
    for row in plan.expanded_rows():
        if row.method in options.methods or "all" in options.methods:
            how: dict[str, Any] = {"fold": options.fold, "folds": _FOLDS, "seed": 0}
            if hasattr(methods, "make_paper_classifier"):
                few = methods.make_paper_classifier(row.method, dataset.name, **row.settings)
            else:
                few = methods.make_classifier(row.method, dataset=dataset.name, **row.settings)
            few.fit(dataset.X[:100], labels[:100])  # imports do not count
            started = time.process_time()
            outcome = run_fold(dataset, labels, row, **how)
            seconds = time.process_time() - started
            found.append({"title": row.title, "cpu": seconds, "metrics": dict(outcome.metrics)})
    options.answer.write_text(json.dumps(found, default=float), encoding="utf-8")


def run_with(source: Path, dataset: str, fold: int, options: argparse.Namespace) -> list[Any]:
    """Return what a process with the package in ``source`` measured, row by row."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, __file__, "--answer", str(answer), "--dataset", dataset]
        command += ["--fold", str(fold), "--methods", *options.methods]
        if options.data_dir:
            command += ["--data-dir", options.data_dir]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        subprocess.run(command, env=os.environ | {"PYTHONPATH": str(source)} | threads, check=True)
        rows: list[Any] = json.loads(answer.read_text(encoding="utf-8"))
        return rows


def mean_metrics(folds: list[Any]) -> dict[str, float]:
    """Return the mean over folds of each metric of a row."""
    names = folds[0]["metrics"]
    return {name: sum(fold["metrics"][name] for fold in folds) / len(folds) for name in names}


def compare(sides: dict[str, list[list[Any]]], dataset: str) -> dict[str, float]:
    """Print a line for each row of a dataset, and return each side's seconds for all folds."""
    totals = dict.fromkeys(sides, 0.0)
    for at, row in enumerate(sides["now"][0]):
        folds = {side: [rows[at] for rows in found] for side, found in sides.items()}
        seconds = {side: sum(fold["cpu"] for fold in each) for side, each in folds.items()}
        before, now = (mean_metrics(folds[side]) for side in ("before", "now"))
        differences = {name: abs(now[name] - before[name]) for name in now}
        changed = [name for name in now if f"{now[name]:.3f}" != f"{before[name]:.3f}"]
        times = seconds["before"] / max(seconds["now"], 1e-3)
        print(
            f"| {dataset} | {row['title']} | {seconds['before']:.2f} | {seconds['now']:.2f}"
            f" | {times:.1f} | {max(differences.values()):.1e} | {', '.join(changed) or '-'} |",
            flush=True,
        )
        for side in totals:
            totals[side] += seconds[side]
    return totals


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", default=_BASE, help="commit to compare with")
    parser.add_argument("--datasets", nargs="+", choices=_DATASETS, default=list(_DATASETS))
    parser.add_argument("--methods", nargs="+", default=list(_METHODS), help="names, or all")
    parser.add_argument("--folds", type=int, default=1, help="how many of the ten folds")
    parser.add_argument("--data-dir")
    for name in ("--answer", "--dataset", "--fold"):  # of the processes that this one starts
        parser.add_argument(name, type=Path if name == "--answer" else None, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Print the table, and what all folds would take."""
    options = parse()
    if options.answer:
        options.fold = int(options.fold)
        warnings.simplefilter("ignore")
        run(options)
        return
    commit = process.full_name(options.against)
    totals = {"before": 0.0, "now": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        sources = {"before": process.extract(commit, Path(folder)), "now": process.SOURCE}
        print(f"{process.tree_name()} against {commit}, {options.folds} fold(s) of {_FOLDS}:\n")
        print("| data | row | processor seconds before | now | ratio | largest difference | digits")
        print("|---" * 7 + "|", flush=True)
        for dataset in options.datasets:
            sides: dict[str, list[list[Any]]] = {"before": [], "now": []}
            for fold in range(options.folds):
                for side, source in sources.items():
                    sides[side].append(run_with(source, dataset, fold, options))
            for side, seconds in compare(sides, dataset).items():
                totals[side] += seconds
    shown = [f"{totals[side] * _FOLDS / options.folds / 60:.1f}" for side in totals]
    print(f"\nProcessor minutes for all {_FOLDS} folds: {shown[0]} before, {shown[1]} now")


if __name__ == "__main__":
    main()
