"""How often intervals of single labels hold, and of groups of which few pairs were judged.

"labels": random yes/no questions are drawn anew, as in ``trust_intervals``; intervals of the
average precision of single labels are put together by how often the label applies. Synthetic sets
have labels from .006 to .3, whose probabilities are wrong in a way of their own. "groups": made
labels with 2 to 30 answers, random ones, or about predicted items alone, or about the others; put
together by how many answers are about the group of which fewer were given; of precision, about the
predicted items (3 means 3 or more).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, special
from sklearn.metrics import average_precision_score

from benchmarks._draws import block, means_of, told_by
from benchmarks._models import Array, linear_half, true_figures
from benchmarks._sets import answers_to
from benchmarks.trust_intervals import judged
from complabel.trust import estimate_metrics

CELLS: list[dict[str, Any]] = [{"part": "labels", "questions": n} for n in (200, 1000)]
CELLS += [{"part": "groups", "questions": "2 to 30"}]
QUICK, NEEDS = {"part": ("groups",)}, ("labels",)
SETS = ("synthetic-0", "synthetic-1", "scene", "yeast", "corel5k")
BINS, N_WORLDS, PER_SET = (0.0, 0.02, 0.05, 0.1, 0.2, 1.0), 300, 30


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


def of_labels(n: int, draw: int, data: Any) -> Any:
    """Yield whether intervals of labels hold, and their lengths, by the share of the label."""
    for name in SETS:
        made = name.startswith("synthetic")
        Y, P = synthetic(int(name[-1])) if made else linear_half(name, data)
        truth = [average_precision_score(y, p) for y, p in zip(Y.T, P.T, strict=True)]
        bins = np.searchsorted(BINS, Y.mean(axis=0))
        for each in block(draw, PER_SET):
            answers = judged(Y, n, "asked", np.random.default_rng([each, n]))
            labels = estimate_metrics(answers, P, new_items=False).labels.values()
            for at, true, label in zip(bins, truth, labels, strict=True):
                figure = label.average_precision
                cell = {"figure": "average_precision", "among": f"{BINS[at - 1]:g} to {BINS[at]:g}"}
                yield cell, told_by(figure.low, figure.high, true)


def of_groups(draw: int, n_items: int = 400) -> Any:
    """Yield whether intervals of made labels hold, and their lengths, by answers of a group."""
    for world in block(draw, N_WORLDS):
        rng = np.random.default_rng([world, 3])
        share, good = rng.choice([0.05, 0.2, 0.5, 0.8]), rng.choice([0.0, 0.75, 2.25])
        logit = special.logit(share) + 2 * rng.normal(size=n_items)
        y = (rng.random(n_items) < special.expit(logit)).astype(np.uint8)[:, np.newaxis]
        middle = logit.mean()
        off = rng.normal() + 0.5 * rng.normal(size=n_items)
        p = special.expit(good * (logit - middle) + 0.7 * middle + off)
        predicted = p >= 0.5
        if not y.any() or predicted.all() or not predicted.any():
            continue
        truth = true_figures(y, p[:, np.newaxis])
        for n in (2, 4, 8, 15, 30):
            for pool in (predicted | True, predicted, ~predicted):
                if pool.sum() < n:
                    continue
                item = rng.choice(np.flatnonzero(pool), n, replace=False)
                answers = answers_to(y, item, np.zeros(n, dtype=int), 1.0)
                ours = estimate_metrics(answers, p[:, np.newaxis], new_items=False)
                n_predicted = int(predicted[item].sum())
                for name, true in truth.items():
                    figure = getattr(ours, name)
                    others = n if name == "precision" else n - n_predicted
                    cell = {"figure": name, "among": str(min(n_predicted, others, 3))}
                    yield cell, told_by(figure.low, figure.high, true)


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return how often intervals hold, and their mean length."""
    groups = cell["part"] == "groups"
    found = of_groups(draw) if groups else of_labels(cell["questions"], draw, data)
    return sorted(means_of(found), key=lambda row: tuple(row[0].values()))
