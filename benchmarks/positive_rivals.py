"""The field's methods for one named label that applies, beside the exact fit.

Sets, draws and splits are those of `positives.py`: somebody names one label that applies for each
of two thirds of the items, and average precision is that on the other third. Each rival is a linear
map. Its settings are found one after the other: the scaling of features and the penalty, then each
other parameter of its grid. The best are those for which held-out positives rank highest (mean
reciprocal rank, in the first `--held` of three folds; at most `--most` items choose). ROLE needs to
know the number of labels per item, and is given it. "fit" is SelectionLikelihoodClassifier: as it
is, with the number of labels per item given ("told"), and beside 200 yes/no questions ("asked").

With `--network 64`, all are networks with a hidden layer of 64 units, in one loop of training;
"exact" is NetworkLikelihoodClassifier, tuned as the rivals are, and with the number of labels per
item given it is "exact-told".
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import torch

from benchmarks._sets import of_set, over_largest, standardized
from benchmarks.positives import ASKED, reciprocal_rank
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.experiments.methods import POSITIVE_METHODS
from complabel.methods import NetworkLikelihoodClassifier, SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities

SETS = ("scene", "yeast", "corel5k", "mirflickr", "digits")
OURS = ("fit", "told", "asked")
EXACT = ("exact", "exact-told")
SETTINGS: dict[str, Any] = {"device": "cpu", "random_state": 0}
# The penalty of the exact likelihood is that of the optimizer, so that it has other values.
OF_EXACT = {"weight_decay": (1.0, 0.1, 0.01, 1e-3, 1e-4), "learning_rate": (0.001, 0.01)}


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


def measure(
    X: Any, Y: Any, bias: float, seed: int, methods: list[str], held: int, most: int
) -> list[float]:
    """Return the average precision of each method."""
    order = np.random.default_rng(seed).permutation(len(Y))
    of, other = np.split(order, [2 * len(order) // 3])
    w = draw_propensities(Y.shape[1], bias, random_state=seed)
    answers = draw_answers(Y[of], question="positive", propensities=w, random_state=seed)
    known = float(Y[of].sum(axis=1).mean())
    scaled = [standardized(X), over_largest(X)]
    places = np.random.default_rng([seed, 3]).permutation(len(of))[:most]
    folds = np.array_split(np.arange(len(places)), 3)[:held]
    found = []
    for name in methods:
        if name in OURS:
            found.append(ours(name, X[of], Y[of], answers, X[other], Y[other], known, seed))
            continue
        fixed = {"cardinality": known} if name in ("role", "exact-told") else {}
        if "network" in SETTINGS:
            fixed["learning_rate"] = min(OF_EXACT["learning_rate"])
        few = [each[of][places] for each in scaled]
        best, settings = tuned(name, few, answers[places], folds, fixed)
        scores = scores_of(name, settings, scaled[best][of], answers, scaled[best][other])
        found.append(average_precision(Y[other], scores))
    return found


def ours(
    name: str, X: Any, Y: Any, answers: Answers, Z: Any, true: Any, known: float, seed: int
) -> float:
    """Return the average precision of the exact fit, with what its name says."""
    if name == "asked":
        share = ASKED / len(Y)
        asked = draw_answers(Y, question="asked", items_share=share, random_state=seed)
        answers = Answers.concatenate([answers, asked])
    model = SelectionLikelihoodClassifier(
        kernel="linear", cardinality=known if name == "told" else "auto", random_state=0
    )
    return average_precision(true, model.fit(X, answers).predict_proba(Z))


def main() -> None:
    """Print a row for each set and bias."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SETS])
    parser.add_argument("--biases", type=float, nargs="+", default=[0.0, 1.0, 2.0])
    parser.add_argument("--methods", nargs="+", default=[*POSITIVE_METHODS, *OURS])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--held", type=int, default=1, choices=(1, 2, 3))
    parser.add_argument("--most", type=int, default=2000, help="items that choose settings")
    parser.add_argument("--network", type=int, help="units of a hidden layer")
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    if given.network:
        SETTINGS["network"] = lambda d, n_labels: torch.nn.Sequential(
            torch.nn.Linear(d, given.network),
            torch.nn.ReLU(),
            torch.nn.Linear(given.network, n_labels),
        )
    print(f"| set | bias | {' | '.join(given.methods)} |\n|---|{'--:|' * (len(given.methods) + 1)}")
    for name in given.sets:
        X, Y = of_set(name, given.data_dir)
        for bias in given.biases:
            how = bias, given.methods, given.held, given.most
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [measure(X, Y, how[0], seed, *how[1:]) for seed in range(given.draws)]
            values = " | ".join(f"{each:.3f}" for each in np.mean(found, axis=0))
            print(f"| {name} | {bias:g} | {values} |", flush=True)


if __name__ == "__main__":
    main()
