"""How often intervals of the average precision of *single* labels hold the truth, by their share.

As in ``trust_intervals.py``, a model is fixed, and random yes/no questions about items that it did
not learn from are drawn many times anew. Beside the datasets there are synthetic sets with labels
from .006 to .3, whose probabilities are wrong in a way of their own for each label. Labels are put
together by the share of the items to which they apply.

``--groups`` is about made labels with 2 to 30 answers, random ones, or ones about predicted items
alone, or about the others. Their figures are put together by how many answers are about the group
of which fewer were given: the predicted items, or the others; of precision, the predicted ones.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import optimize, special
from sklearn.metrics import average_precision_score

from benchmarks.trust_intervals import _NAMES, Array, judged, labels_and_probabilities, true_figures
from complabel.answers import Answers
from complabel.trust import estimate_metrics

_SETS = ("synthetic-0", "synthetic-1", "scene", "yeast", "corel5k")
_BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 1.0)


def synthetic(seed: int, n_items: int = 3000, n_labels: int = 20) -> tuple[Array, Array]:
    """Return labels, most of them rare, and probabilities that are off."""
    rng = np.random.default_rng(seed)
    share = np.exp(np.linspace(np.log(0.006), np.log(0.3), n_labels))
    logits = 0.9 * rng.normal(size=(n_items, 8)) @ rng.normal(size=(8, n_labels))
    for logit, wanted in zip(logits.T, share, strict=True):
        logit += optimize.brentq(lambda a: special.expit(logit + a).mean() - wanted, -40, 40)  # noqa: B023
    Y = (rng.random(logits.shape) < special.expit(logits)).astype(np.uint8)
    off = 0.7 * rng.normal(size=n_labels) + 0.7 * rng.normal(size=logits.shape)
    return Y, special.expit(logits + off)


def of_groups(n_worlds: int, n_items: int = 400) -> None:
    """Print how often intervals of made labels hold, by how many answers a group has."""
    found: dict[tuple[str, int], list[tuple[bool, float]]] = defaultdict(list)
    for world in range(n_worlds):
        rng = np.random.default_rng([world, 3])
        share, good = rng.choice([0.05, 0.2, 0.5, 0.8]), rng.choice([0.0, 0.75, 2.25])
        logit = special.logit(share) + 2 * rng.normal(size=n_items)
        y = rng.random(n_items) < special.expit(logit)
        middle = logit.mean()
        off = rng.normal() + 0.5 * rng.normal(size=n_items)
        p = special.expit(good * (logit - middle) + 0.7 * middle + off)
        predicted = p >= 0.5
        if not y.any() or predicted.all() or not predicted.any():
            continue
        truth = true_figures(y[:, np.newaxis], p[:, np.newaxis])
        for n in (2, 4, 8, 15, 30):
            for pool in (predicted | True, predicted, ~predicted):
                if pool.sum() < n:
                    continue
                item = rng.choice(np.flatnonzero(pool), n, replace=False)
                yes = y[item, np.newaxis].astype(np.uint8)
                said = {"relevant": yes, "absent": 1 - yes, "item": item, "n_items": n_items}
                answers = Answers.from_arrays(**said, probability=1.0)
                ours = estimate_metrics(answers, p[:, np.newaxis], new_items=False)
                n_predicted = int(predicted[item].sum())
                for name, true in truth.items():
                    figure = getattr(ours, name)
                    least = (
                        n_predicted if name == "precision" else min(n_predicted, n - n_predicted)
                    )
                    held = figure.low - 1e-9 <= true <= figure.high + 1e-9
                    found[name, min(least, 3)].append((held, figure.high - figure.low))
    print("| figure | answers | intervals | held | mean length |\n|---|--:|--:|--:|--:|")
    for (name, least), rows in sorted(found.items()):
        held, length = np.mean(rows, axis=0)
        more = " and more" if least == 3 else ""
        print(f"| {_NAMES[name]} | {least}{more} | {len(rows):,} | {held:.1%} | {length:.2f} |")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=_SETS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--questions", type=int, nargs="+", default=(200, 1000))
    parser.add_argument("--groups", action="store_true")
    told = parser.parse_args()
    if told.groups:
        of_groups(3 * told.draws)
        return
    found: dict[tuple[int, int], list[tuple[bool, float]]] = defaultdict(list)
    for name in told.datasets:
        if name.startswith("synthetic-"):
            Y, P = synthetic(int(name.partition("-")[2]))
        else:
            Y, P = labels_and_probabilities(name, told.data_dir)
        truth = [average_precision_score(y, p) for y, p in zip(Y.T, P.T, strict=True)]
        bins = np.searchsorted(_BINS, Y.mean(axis=0))
        for n in told.questions:
            for draw in range(told.draws):
                rng = np.random.default_rng([draw, n])
                made = estimate_metrics(judged(Y, n, (0, 0), rng, ticked=False), P, new_items=False)
                for at, true, of_label in zip(bins, truth, made.labels.values(), strict=True):
                    figure = of_label.average_precision
                    held = figure.low <= true <= figure.high
                    found[n, int(at)].append((held, figure.high - figure.low))
    print(
        "| questions | share of the label | intervals | held | mean length |\n|--:|---|--:|--:|--:|"
    )
    for (n, at), rows in sorted(found.items()):
        held, length = np.mean(rows, axis=0)
        between = f"{_BINS[at - 1]:g} to {_BINS[at]:g}"
        print(f"| {n:,} | {between} | {len(rows):,} | {held:.1%} | {length:.2f} |")


if __name__ == "__main__":
    main()
