"""What do thirty minutes of one person bring, beside logistic regressions of each label?

The person misses labels and invents some as people did who ticked relations, and takes as long as
people did with videos (14.5 and 22 seconds), or less ("pictures": 1.5 and 4.5). "mixed" is what
``annotate`` asks by default. The model learns as it does there. Figures are average precision on
true labels of other items, for this table only. The rival is scikit-learn's logistic regression of
each label on what was said about it, with C and an RBF kernel or none chosen by held-out answers.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np
from scipy import special
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from benchmarks.annotate_kinds import POOL, SPREAD
from complabel.answers import Answers
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.live._drawing import Mixed
from complabel.live._learner import Refits
from complabel.metrics import average_precision

CELLS = {
    "set": ("digits", "scene"),
    "times": ("videos", "pictures"),
    "asks": ("asked", "ticked", "mixed"),
}
DRAWS, NEEDS = 3, ("scene",)
QUICK = {"set": ("digits",), "times": ("videos",), "asks": ("ticked",)}
MISSED, INVENTED = 0.25, 0.026
TIMES = {"videos": {"asked": 14.5, "ticked": 22.0}, "pictures": {"asked": 1.5, "ticked": 4.5}}
LEARNS = 5  # every so many minutes, to save time; annotate does after 50 answers or a minute


class Sitting:
    """One person, one way of asking, and what is learned."""

    def __init__(self, X: Any, Y: Any, way: str, seconds: dict[str, float], seed: int) -> None:
        self.X, self.Y, self.rng = X, Y == 1, np.random.default_rng(seed)
        self.refits, self.seconds, self.clock = Refits(X, seed=seed), seconds, 0.0
        self.took: dict[str, list[float]] = defaultdict(list)
        mixed = Mixed.of(Y.shape[1])
        mixed.times = lambda kind: self.took[kind]
        self.kind = (lambda: way) if way != "mixed" else lambda: mixed().stem
        self.items = self.rng.permutation(len(X))  # and of each, in this order:
        self.kinds: list[str] = []
        self.says = np.zeros(Y.shape, dtype=np.int8)  # 1: yes, -1: no

    def until(self, minutes: float) -> None:
        """Ask and learn until the person has worked for so long."""
        while self.clock < 60 * minutes:
            at = self.clock
            while self.clock < min(at + 60 * LEARNS, 60 * minutes):
                self.ask()
            n, n_labels = len(self.kinds), self.Y.shape[1]
            answers = Answers.from_arrays(
                relevant=self.says[:n] > 0,
                absent=self.says[:n] < 0,
                item=self.items[:n],
                n_items=len(self.X),
                question=self.kinds,
                probability=[1 / n_labels if kind == "asked" else 1.0 for kind in self.kinds],
            )
            self.refits.update(answers, [*itertools.chain.from_iterable(self.took.values())])

    def ask(self) -> None:
        """Ask one question, and note the answer."""
        kind, n, n_labels = self.kind(), len(self.kinds), self.Y.shape[1]
        took = self.seconds[kind] * math.exp(SPREAD * self.rng.normal())
        asked = [self.rng.integers(n_labels)] if kind == "asked" else range(n_labels)
        applies = self.Y[self.items[n], asked]
        wrong = self.rng.random(len(asked)) < np.where(applies, MISSED, INVENTED)
        self.says[n, asked] = np.where(applies ^ wrong, 1, -1)
        self.kinds.append(kind)
        self.took[kind].append(took)
        self.clock += took


def rival(sitting: Sitting, test: Any) -> Any:
    """Return the probabilities (m, K) of test items by the tuned logistic regressions."""
    at = [np.flatnonzero(column) for column in sitting.says.T]
    told = [(sitting.items[rows], sitting.says[rows, k] > 0) for k, rows in enumerate(at)]
    X, n_components = sitting.X, min(300, len(sitting.kinds))
    gamma = 1 / (2 * X.var(axis=0).sum())
    best: Any = (-np.inf, None, None)
    for times, C in itertools.product((0, 1, 3, 10), (0.001, 0.01, 0.1, 1, 10, 100)):
        near = {"gamma": gamma * times, "n_components": n_components, "random_state": 0}
        each = Nystroem(**near) if times else StandardScaler()
        mapped = each.fit(X).transform(X)
        likely = np.mean([_held_out(mapped, *one, C) for one in told if len(one[0]) > 5])
        if likely > best[0]:
            best = (likely, each, C)
    _, each, C = best
    mapped, there = each.transform(X), each.transform(test)
    return np.column_stack([_fitted(mapped[at], said, C)(there) for at, said in told])


def _held_out(X: Any, item: Any, yes: Any, C: float) -> float:
    """Return the log likelihood of answers that were held out."""
    found = np.empty(len(item))
    for train, rest in KFold(3, shuffle=True, random_state=0).split(item):
        p = np.clip(_fitted(X[item[train]], yes[train], C)(X[item[rest]]), 1e-6, 1 - 1e-6)
        found[rest] = np.where(yes[rest], np.log(p), np.log1p(-p))
    return float(found.mean())


def _fitted(X: Any, yes: Any, C: float) -> Any:
    """Return what predicts probabilities of rows: a logistic regression, or a share."""
    if yes.all() or not yes.any():
        share = (yes.sum() + 0.2) / (len(yes) + 1)
        return lambda rows: np.full(len(rows), share)
    model = LogisticRegression(C=C, max_iter=300).fit(X, yes)
    return lambda rows: special.expit(model.decision_function(rows))


def measure(*, draw: int, data: Any, times: str, asks: str, **cell: Any) -> Any:
    """Return what was learned after 10, 20 and 30 minutes."""
    digits, found = cell["set"] == "digits", []
    of: Any = make_digits() if digits else load_dataset(cell["set"], data_dir=data)
    pool, test = np.split(np.random.default_rng(draw).permutation(len(of.X)), [POOL])
    test = test if digits else test[-400:]
    sitting = Sitting(of.X[pool], of.Y[pool], asks, TIMES[times], draw)
    X, Y = of.X[test], of.Y[test]
    for minutes in (10, 20, 30):
        sitting.until(minutes)
        figures = {"fit": average_precision(Y, sitting.refits.model.predict_proba(X))}
        if minutes != 20 and asks != "mixed":
            figures["rival"] = average_precision(Y, rival(sitting, X))
        found.append(({"minutes": minutes}, figures))
    return found
