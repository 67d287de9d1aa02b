"""What people's answers tell beside several machines, beside ones that lie, and beside none.

"digits:8" has three classifiers that learned from the same few items, so that their mistakes are
correlated: a linear one, trees, and neighbours. Each finds half of what applies. Their scores are
steep, and rounded to two digits: most are exactly 0 or 1. A person who does not err answers 200
questions, at random, or by what the machines say in three "rounds". The ways are no machine; the
mean of the scores as one machine, also clipped; the majority; the first machine; and all as several
machines. Of scene, ten machines stand alone, in three rounds; three of them lie.

Figures are the root mean square error of frequencies, how many intervals of 95 % hold (on average,
and of the worst label), their width, the standard error over draws, and the error without a machine
("none").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from benchmarks._draws import block
from benchmarks._sets import randomly
from benchmarks.machines import Array, against, off, ours, summary, world

CELLS, NEEDS = {"set": ("digits:8", "scene")}, ("scene",)
QUICK = {"set": ("digits:8",)}
N_DRAWS, ROUNDS = {"digits:8": 16, "scene": 12}, (80, 60, 60)
RECALL, STEEP = (0.49, 0.52, 0.55), 40.0


def several() -> tuple[Array, dict[str, Any]]:
    """Return true labels (n, K) of digits, and what machines say of items that none learned."""
    X, y = load_digits(return_X_y=True)
    of = ((1, 7), (0, 8), (3, 5, 8), (4, 9), (2, 3), (6, 8, 9, 0), (5, 6), (1, 4, 7))
    X, Y = X / 16.0, np.stack([np.isin(y, each) for each in of], axis=1).astype(np.uint8)
    few, rest = np.split(np.random.default_rng([0, 13]).permutation(len(Y)), [len(Y) // 10])
    trees = ExtraTreesClassifier(60, min_samples_leaf=3, n_jobs=1, random_state=0)
    rng, scores = np.random.default_rng([0, 17]), []
    models = (LogisticRegression(max_iter=300), trees, KNeighborsClassifier(25))
    for model, recall in zip(models, RECALL, strict=True):
        p = OneVsRestClassifier(model).fit(X[few], Y[few]).predict_proba(X[rest])
        p = p + 0.02 * rng.random(p.shape)  # neighbours have many equal shares
        cut = np.quantile(p[Y[rest] == 1], 1 - recall)
        scores.append(np.round(1 / (1 + np.exp(-STEEP * (p - cut))), 2))
    said, mean = np.array(scores) >= 0.5, np.mean(scores, axis=0)
    return Y[rest], {
        "mean": (mean, ()),
        "mean clipped": (np.clip(mean, 0.05, 0.95), ()),
        "majority": ((said.sum(axis=0) >= 2) * 1.0, ()),
        "the first": (scores[0], ()),
        "several": (scores, ()),
        "several in rounds": (scores, ROUNDS),
        "yes and no": ([*(1.0 * said)], ()),
        "yes and no in rounds": ([*(1.0 * said)], ROUNDS),
    }


def odd_ones(data: Any) -> tuple[Array, dict[str, Any]]:
    """Return true labels of scene, and what ten machines say."""
    Y, p, said = world("scene", "10%", data)
    rng, even = np.random.default_rng(5), np.arange(said.shape[1]) % 2 == 0
    by_chance = (rng.random(said.shape) < said.mean(axis=0)).astype(np.uint8)
    constant = said.copy()
    constant[:, :2] = (0, 1)
    machines = {
        "good": said,
        "scores": p,
        "steep scores": np.round(1 / (1 + np.exp(-STEEP * (p - 0.5))), 2),
        "misses half": said & (rng.random(said.shape) < 0.5),
        "invents": said | (rng.random(said.shape) < 0.2),
        "by chance": by_chance,
        "constant for two": constant,
        "lies: the contrary": 1 - said,
        "lies: another label": np.roll(said, 1, axis=1),
        "lies: every other label": np.where(even, 1 - said, said),
    }
    return Y, {name: (machine, ROUNDS) for name, machine in machines.items()}


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return the error of each way, and how its intervals hold."""
    Y, ways = odd_ones(data) if cell["set"] == "scene" else several()
    n, rows, truth = N_DRAWS[cell["set"]], [], Y.mean(axis=0)
    for way, (machine, sizes) in ({"no machine": (None, ())} | ways).items():
        found = []
        for each in block(draw, n):
            drawn = against(Y, machine, sizes, each) if sizes else randomly(Y, 200, each)
            found.append(ours(drawn, machine))
        errors = off([values for values, _ in found], truth)
        error = {"error": errors.std(ddof=1) / np.sqrt(n)}
        rows.append(({"way": way}, summary(found, truth) | error))
    return [(way, figures | {"none": rows[0][1]["rmse"]}) for way, figures in rows]
