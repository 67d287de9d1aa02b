"""MLCL on ten folds of yeast: the plain DataLoader loop, one fit alone, and ten side by side.

Prints Markdown. All times are processor time of one run with one thread. The three take turns, and
a ratio is the median over the turns, so that what else the machine does bears on all alike.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch

import plain_mlcl
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import GDFClassifier, LUWClassifier
from complabel.experiments.studies import split_folds
from complabel.methods import MLCLClassifier, fit_side_by_side
from complabel.simulate import draw_complementary

EPOCHS, FOLDS = 200, 10
# The plain loop runs a part of its epochs in a turn; all its epochs cost the same.
PLAIN_SHARE = 10
OTHERS = (MLCLClassifier, GDFClassifier, LUWClassifier)


def seconds(function) -> float:
    """Return the processor time of a call."""
    started = time.process_time()
    function()
    return time.process_time() - started


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="folder with the yeast files")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    yeast = load_dataset("yeast", data_dir=arguments.data_dir)
    complementary = draw_complementary(yeast.Y, random_state=0)
    folds = [train for train, _ in split_folds(yeast, n_folds=FOLDS, seed=0)]
    parts = [(yeast.X[train], complementary[train], {}) for train in folds]

    def make(kind, number: int):
        return kind(learning_rate=0.1, epochs=EPOCHS, random_state=number)

    def alone(kind, number: int):
        X, y, _ = parts[number]
        return make(kind, number).fit(X, y)

    def together(kind):
        found = [make(kind, number) for number in range(FOLDS)]
        errors = fit_side_by_side(found, parts)
        assert errors == [None] * FOLDS, errors
        return found

    rows = plain_mlcl.TensorRows(*parts[0][:2])

    def plain() -> None:
        plain_mlcl.fit(rows, learning_rate=0.1, epochs=EPOCHS // PLAIN_SHARE)

    together(GDFClassifier)  # warm up
    turns = []
    for number in range(arguments.repeats):
        started = time.process_time()
        alone(MLCLClassifier, number % FOLDS)
        one = time.process_time() - started
        share = seconds(lambda: together(MLCLClassifier)) / FOLDS
        turns.append((seconds(plain) * PLAIN_SHARE, one, share))
    names = ("DataLoader over tensors", "one fit alone", f"{FOLDS} folds side by side, each")
    print(f"MLCL on yeast, both steps, {EPOCHS} epochs, per fit:\n")
    print("| | seconds | times as fast as the DataLoader | from turn to turn |\n|---|---|---|---|")
    for at, name in enumerate(names):
        ratios = [turn[0] / turn[at] for turn in turns]
        print(
            f"| {name} | {statistics.median(turn[at] for turn in turns):.2f}"
            f" | {statistics.median(ratios):.1f} | {min(ratios):.1f} to {max(ratios):.1f} |"
        )
    print("\n| method | alone / side by side | equal bit for bit |\n|---|---|---|")
    for kind in OTHERS:
        one = seconds(lambda kind=kind: alone(kind, 0))
        share = seconds(lambda kind=kind: together(kind)) / FOLDS
        pairs = zip(together(kind), map(lambda n, k=kind: alone(k, n), range(FOLDS)), strict=True)
        equal = all(
            np.array_equal(found.coef_, fit.coef_)
            and np.array_equal(found.intercept_, fit.intercept_)
            for found, fit in pairs
        )
        print(f"| {kind.__name__} | {one / share:.1f} | {'yes' if equal else 'NO'} |", flush=True)


if __name__ == "__main__":
    main()
