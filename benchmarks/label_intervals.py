"""How often intervals of the average precision of *single* labels hold the truth, by their share.

As in ``trust_intervals.py``, a model is fixed, and random yes/no questions about items that it did
not learn from are drawn many times anew. Beside the datasets there are synthetic sets with labels
from .006 to .3, whose probabilities are wrong in a way of their own for each label. Labels are put
together by the share of the items to which they apply.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import optimize, special
from sklearn.metrics import average_precision_score

from complabel.trust import estimate_metrics
from trust_intervals import Array, judged, labels_and_probabilities

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


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=_SETS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--questions", type=int, nargs="+", default=(200, 1000))
    told = parser.parse_args()
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
