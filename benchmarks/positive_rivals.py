"""Is the exact fit of one named positive for each item ahead of the field's methods?

Sets, draws and splits are those of `positives`: somebody names one label that applies for each of
two thirds of the items, and average precision is that on the other third. Each rival's settings
are found one after the other: the scaling of features and the penalty, then each other parameter
of its grid. The best are those for which held-out positives rank highest (mean reciprocal rank, in
the first of three folds; at most 2,000 items choose). ROLE needs to know the number of labels per
item, and is given it.

"linear": maps; "fit" is SelectionLikelihoodClassifier as it is, "told" has the number of labels per
item, and "asked" 200 yes/no questions beside. "network": a hidden layer of 64 units in one loop of
training; "exact" is NetworkLikelihoodClassifier, tuned as the rivals are, and "exact_told" has the
number of labels per item.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks._sets import over_largest, standardized
from benchmarks.positives import SETS, asked, fitted, halves, named, reciprocal_rank
from complabel.answers import Answers
from complabel.experiments.methods import POSITIVE_METHODS
from complabel.methods import NetworkLikelihoodClassifier
from complabel.metrics import average_precision

RIVALS = (*POSITIVE_METHODS,)
OF_NETWORKS = ("an", "em-apl", "role", "large-loss", "hill", "splc", "exact", "exact-told")
CELLS = [
    *({"map": "linear", "set": name, "bias": bias} for name in SETS[1:] for bias in (0, 1, 2)),
    *({"map": "network", "set": "digits", "bias": bias} for bias in (0, 1, 2)),
]
DRAWS, NEEDS = 2, SETS[2:]
QUICK = {"map": ("linear",), "set": ("digits",), "bias": (0,)}
HELD, MOST = 1, 2000
EXACT = ("exact", "exact-told")
SETTINGS: dict[str, Any] = {"device": "cpu", "random_state": 0}
# The penalty of the exact likelihood is that of the optimizer, so that it has other values.
OF_EXACT = {"weight_decay": (1.0, 0.1, 0.01, 1e-3, 1e-4), "learning_rate": (0.001, 0.01)}


def network(d: int, n_labels: int) -> torch.nn.Module:
    """Return a network with a hidden layer of 64 units."""
    hidden = torch.nn.Linear(d, 64)
    return torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(64, n_labels))


def scores_of(name: str, settings: dict[str, Any], X: Any, y: Answers, Z: Any) -> Any:
    """Return the scores (n, K) of Z by a method that learnt from X and the answers."""
    of_all = {**SETTINGS, "batch_size": max(256, X.shape[0] // 16)}
    if name in EXACT:
        classifier = NetworkLikelihoodClassifier(**{**of_all, **settings})
    else:
        method = POSITIVE_METHODS[name]
        classifier = method.classifier(**{**of_all, **method.settings, **settings})
    return classifier.fit(X, y).decision_function(Z)


def rank_of(name: str, settings: dict[str, Any], X: Any, y: Answers, folds: Any) -> float:
    """Return the mean reciprocal rank of named labels that were held out."""
    named = y.positive.toarray()
    found = []
    for held in folds:
        rest = np.setdiff1d(np.arange(y.n_items), held)
        found.append(
            reciprocal_rank(named[held], scores_of(name, settings, X[rest], y[rest], X[held]))
        )
    return float(np.mean(found))


def tuned(
    name: str, scaled: list[Any], y: Answers, folds: Any, fixed: dict[str, Any]
) -> tuple[int, dict[str, Any]]:
    """Return the place of the best scaling, and the best settings, each found after the other."""
    grid = OF_EXACT if name in EXACT else POSITIVE_METHODS[name].grid
    best, settings, top = 0, fixed, -1.0
    for place, X in enumerate(scaled):
        for decay in grid["weight_decay"]:
            tried = {**fixed, "weight_decay": decay}
            rank = rank_of(name, tried, X, y, folds)
            if rank > top:
                best, settings, top = place, tried, rank
    usual = NetworkLikelihoodClassifier() if name in EXACT else POSITIVE_METHODS[name].classifier()
    for key, values in grid.items():
        for value in values:
            tried = {**settings, key: value}
            if key == "weight_decay" or value == settings.get(key, getattr(usual, key)):
                continue
            rank = rank_of(name, tried, scaled[best], y, folds)
            if rank > top:
                settings, top = tried, rank
    return best, settings


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return the average precision of each method."""
    X, Y, of, other = halves(cell["set"], data, draw)
    answers = named(Y[of], cell["bias"], draw)
    known = float(Y[of].sum(axis=1).mean())
    scaled = [standardized(X), over_largest(X)]
    places = np.random.default_rng([draw, 3]).permutation(len(of))[:MOST]
    folds = np.array_split(np.arange(len(places)), 3)[:HELD]
    of_network = {"network": network, "learning_rate": min(OF_EXACT["learning_rate"])}
    found = {}
    for name in RIVALS if cell["map"] == "linear" else OF_NETWORKS:
        fixed = {"cardinality": known} if name in ("role", "exact-told") else {}
        if cell["map"] == "network":
            fixed |= of_network
        few = [each[of][places] for each in scaled]
        best, settings = tuned(name, few, answers[places], folds, fixed)
        scores = scores_of(name, settings, scaled[best][of], answers, scaled[best][other])
        found[name.replace("-", "_")] = average_precision(Y[other], scores)
    if cell["map"] == "linear":
        both = Answers.concatenate([answers, asked(Y[of], draw)])
        ours = {"fit": ("auto", answers), "told": (known, answers), "asked": ("auto", both)}
        for name, (cardinality, y) in ours.items():
            p = fitted(X[of], y, cardinality).predict_proba(X[other])
            found[name] = average_precision(Y[other], p)
    return found
