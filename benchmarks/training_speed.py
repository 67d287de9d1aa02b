"""Time MLCL against the plain way to write it, and its sparse path against its dense one.

Prints Markdown. All figures are ratios within one run, with one thread; repeats are interleaved
and the median is taken, so that what else the machine does bears on both sides alike.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time

import numpy as np
import torch

import plain_mlcl
from benchmarks.random_rows import random_rows
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import MLCLClassifier
from complabel.simulate import draw_complementary

EPOCHS, BATCH = 200, 256
SPARSE_SHAPE, DENSITY, SPARSE_LABELS, SPARSE_EPOCHS = (40_000, 5_000), 0.05, 15, 20


def seconds(function) -> float:
    """Return the wall time of a call."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def one_yeast_fold(data_dir: str | None):
    """Return features and complementary labels of the first of ten training folds."""
    yeast = load_dataset("yeast", data_dir=data_dir)
    train, _ = split_folds(yeast, n_folds=10, seed=0)[0]
    return yeast.X[train], draw_complementary(yeast.Y, random_state=0)[train]


def products_only(X, n_labels: int) -> None:
    """Do the matrix products with the features that both steps of a fit do, and nothing else."""
    with torch.inference_mode():
        rows = torch.ones((X.shape[0], X.shape[1] + 1))
        rows[:, :-1] = torch.from_numpy(X)
        weights = torch.zeros((n_labels, rows.shape[1]))
        gradient = torch.empty_like(weights)
        batches = torch.split(rows, BATCH)
        for _ in range(2 * EPOCHS):
            for batch in batches:
                logits = torch.mm(weights, batch.t())
                torch.addmm(weights, logits, batch, out=gradient)


def compare_with_plain(data_dir: str | None, repeats: int) -> None:
    """Print how many times faster a fit is than the plain loop."""
    X, complementary = one_yeast_fold(data_dir)
    settings = {"learning_rate": 0.1, "epochs": EPOCHS}
    contenders = {
        "complabel": lambda: MLCLClassifier(**settings, random_state=0).fit(X, complementary),
        "DataLoader over tensors": lambda: plain_mlcl.fit(
            plain_mlcl.TensorRows(X, complementary), **settings
        ),
        "DataLoader over arrays": lambda: plain_mlcl.fit(
            plain_mlcl.ArrayRows(X, complementary), **settings
        ),
        "feature products alone": lambda: products_only(X, complementary.shape[1]),
    }
    contenders["complabel"]()  # warm up
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, contender in contenders.items():
            times[name].append(seconds(contender))
    ours = times["complabel"]
    print(f"MLCL, one yeast fold ({X.shape[0]} x {X.shape[1]}), both steps, {EPOCHS} epochs:\n")
    print("| | seconds | against complabel |\n|---|---|---|")
    for name, measured in times.items():
        ratio = statistics.median(m / o for m, o in zip(measured, ours, strict=True))
        print(f"| {name} | {statistics.median(measured):.2f} | {ratio:.2f} |")
    print()


def fit_sparse_problem(dense: bool, answer) -> None:
    """Fit in a process of its own, so that the peak memory is that of this fit."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = random_rows(*SPARSE_SHAPE, density=DENSITY, rng=rng)
    X = X.toarray() if dense else X
    complementary = np.eye(SPARSE_LABELS, dtype=np.uint8)[
        rng.integers(SPARSE_LABELS, size=SPARSE_SHAPE[0])
    ]
    classifier = MLCLClassifier(learning_rate=0.01, epochs=SPARSE_EPOCHS, random_state=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    taken = seconds(lambda: classifier.fit(X, complementary))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer.put((taken, before, peak))


def compare_sparse_with_dense() -> None:
    """Print time and peak memory of a large fit from CSR and from a dense matrix."""
    context = multiprocessing.get_context("spawn")
    n, d = SPARSE_SHAPE
    print(
        f"MLCL, {n:,} x {d:,} at {DENSITY:.0%}, {SPARSE_LABELS} labels, both steps,"
        f" {SPARSE_EPOCHS} epochs:\n"
    )
    print("| | seconds | peak memory before the fit | with it |\n|---|---|---|---|")
    for dense in (False, True):
        answer = context.Queue()
        process = context.Process(target=fit_sparse_problem, args=(dense, answer))
        process.start()
        taken, before, peak = answer.get()
        process.join()
        kind = "dense" if dense else "CSR"
        print(f"| {kind} | {taken:.1f} | {before / 1e9:.2f} GB | {peak / 1e9:.2f} GB |", flush=True)


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="folder with the yeast files")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    compare_with_plain(arguments.data_dir, arguments.repeats)
    compare_sparse_with_dense()


if __name__ == "__main__":
    main()
