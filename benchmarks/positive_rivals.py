"""Is the exact fit of one named positive for each item ahead of the field's methods?

Sets, draws, splits and figures are those of `positives`. Each rival's settings are found one after
the other: the scaling of features and the penalty, then each other parameter of its grid. The best
are those for which held-out positives rank highest (mean reciprocal rank, in the first of three
folds; at most 2,000 items choose). ROLE is given the number of labels per item.

"linear": maps; "fit" is SelectionLikelihoodClassifier as it is, "told" has the number of labels per
item, and "asked" 200 yes/no questions beside. "network": a hidden layer of 64 units in one loop of
training; "exact" is NetworkLikelihoodClassifier, tuned as the rivals are, and "exact_told" has the
number of labels per item.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from benchmarks._sets import scalings
from benchmarks.positives import SETS, halves, named, reciprocal_rank, three_fits
from complabel.answers import Answers
from complabel.experiments.methods import POSITIVE_METHODS
from complabel.methods import NetworkLikelihoodClassifier
from complabel.metrics import average_precision

OF_NETWORKS = ("an", "em-apl", "role", "large-loss", "hill", "splc", "exact", "exact-told")
CELLS = [
    *({"map": "linear", "set": name, "bias": bias} for name in SETS[1:] for bias in (0, 1, 2)),
    *({"map": "network", "set": "digits", "bias": bias} for bias in (0, 1, 2)),
]
DRAWS, NEEDS = 2, SETS[2:]
QUICK = {"map": ("linear",), "set": ("digits",), "bias": (0,)}
MOST = 2000
# The penalty of the exact likelihood is that of the optimizer, so that it has other values.
OF_EXACT = {"weight_decay": (1.0, 0.1, 0.01, 1e-3, 1e-4), "learning_rate": (0.001, 0.01)}


def network(d: int, n_labels: int) -> torch.nn.Module:
    """Return a network with a hidden layer of 64 units."""
    hidden = torch.nn.Linear(d, 64)
    return torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(64, n_labels))


def method_of(name: str) -> tuple[Any, Mapping[str, Any], dict[str, Any]]:
    """Return the class of a method, its grid, and its settings."""
    if name.startswith("exact"):
        return NetworkLikelihoodClassifier, OF_EXACT, {}
    method = POSITIVE_METHODS[name]
    return method.classifier, method.grid, method.settings


def scores_of(name: str, settings: dict[str, Any], X: Any, y: Answers, Z: Any) -> Any:
    """Return the scores (n, K) of Z by a method that learnt from X and the answers."""
    method, _, own = method_of(name)
    of_all = {"device": "cpu", "random_state": 0, "batch_size": max(256, X.shape[0] // 16)}
    return method(**{**of_all, **own, **settings}).fit(X, y).decision_function(Z)


def tuned(name: str, scaled: list[Any], y: Answers, fixed: dict[str, Any]) -> tuple[int, Any]:
    """Return the place of the best scaling, and the best settings, each found after the other."""
    method, grid, _ = method_of(name)
    held, *rest = np.array_split(np.arange(y.n_items), 3)
    rest = np.concatenate(rest)

    def rank(settings: dict[str, Any], place: int) -> float:
        """Return the mean reciprocal rank of named labels that were held out."""
        X = scaled[place]
        scores = scores_of(name, settings, X[rest], y[rest], X[held])
        return reciprocal_rank(y.positive.toarray()[held], scores)

    decays, places = grid["weight_decay"], range(len(scaled))
    first = [({**fixed, "weight_decay": decay}, place) for place in places for decay in decays]
    ranks = [rank(*each) for each in first]
    top = max(ranks)
    settings, best = first[ranks.index(top)]
    for key, values in grid.items():
        for value in values:
            tried = {**settings, key: value}
            if key == "weight_decay" or value == settings.get(key, getattr(method(), key)):
                continue
            found = rank(tried, best)
            if found > top:
                settings, top = tried, found
    return best, settings


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return the average precision of each method."""
    X, Y, of, other = halves(cell["set"], data, draw)
    answers = named(Y[of], cell["bias"], draw)
    scaled = scalings(X)
    places = np.random.default_rng([draw, 3]).permutation(len(of))[:MOST]
    few, found = [each[of][places] for each in scaled], {}
    for name in POSITIVE_METHODS if cell["map"] == "linear" else OF_NETWORKS:
        fixed: dict[str, Any] = {}
        if name in ("role", "exact-told"):
            fixed["cardinality"] = float(Y[of].sum(axis=1).mean())
        if cell["map"] == "network":
            fixed |= {"network": network, "learning_rate": min(OF_EXACT["learning_rate"])}
        best, settings = tuned(name, few, answers[places], fixed)
        scores = scores_of(name, settings, scaled[best][of], answers, scaled[best][other])
        found[name.replace("-", "_")] = average_precision(Y[other], scores)
    if cell["map"] == "linear":
        for name, model in three_fits(X, Y, of, answers, draw).items():
            found[name] = average_precision(Y[other], model.predict_proba(X[other]))
    return found
