"""How long does a refit take after 50 new answers, and how far is it from a fit from nothing?

100,000 rows of 768 features and 20 labels. Every item has one yes or no about a random label. Then
50 answers come at a time, about any items, five times. All settings are given. ``away`` is the
largest difference of coefficients to the minimum, as a share of the largest one; ``above`` is the
loss above that of the minimum, which refits of the same answers reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, special

from benchmarks._fits import timed
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier

CELLS = {"rows": (100_000, 3000), "dtype": ("float32", "float64")}
QUICK = {"rows": (3000,), "dtype": ("float32",)}
TIMES = ("fit", "refit")
FEATURES, LABELS, REFITS, ALPHA = 768, 20, 5, 1e-3
GIVEN: Any = {"alpha": ALPHA, "kernel": "linear", "scaling": "global", "rank": None}


def drawn(rng: np.random.Generator, n_rows: int, dtype: str) -> tuple[Any, Any]:
    """Draw features with a spectrum like that of embeddings, and labels that they predict."""
    mix = rng.normal(size=(FEATURES, FEATURES)) * np.arange(1, FEATURES + 1) ** -0.5
    X = np.empty((n_rows, FEATURES), dtype=dtype)
    for at in range(0, len(X), 10_000):
        rows = X[at : at + 10_000]
        rows[:] = rng.normal(size=rows.shape) @ mix.T
    X /= X.std()
    weights = 2 * rng.normal(size=(FEATURES, LABELS)) / np.sqrt(FEATURES)
    return X, rng.random((len(X), LABELS)) < special.expit(X @ weights - 1.5)


def asked(item: Any, label: Any, yes: Any, *, shape: tuple[int, int]) -> Answers:
    """Return answers to yes/no questions about random labels."""

    def marks(which: Any) -> Any:
        places = np.flatnonzero(which), label[which]
        return sparse.csr_array((np.ones(which.sum(), np.uint8), places), (len(item), shape[1]))

    return Answers.from_arrays(
        absent=marks(~yes),
        relevant=marks(yes),
        offered=marks(yes | True),
        question="asked",
        item=item,
        probability=1 / shape[1],
        n_items=shape[0],
    )


def loss(classifier: Any, X: Any, answers: Answers, reference: Any) -> float:
    """Return what a fit minimizes with the prior of biases of ``reference``, in float64."""
    logits = classifier._decision(X.astype(np.float64))
    of_answers = -classifier._answers_log_likelihood(logits, answers).mean()
    spread = np.sqrt(X.var(axis=0, dtype=np.float64).mean())  # of scaling="global"
    biases = classifier.decision_function(X).mean(axis=0)
    of_biases = len(biases) * biases.var() / (2 * reference._last_fit.variance * len(X))
    return float(of_answers + ALPHA * (classifier.coef_**2).sum() * spread**2 + of_biases)


def measure(*, draw: int, data: Any, rows: int, dtype: str) -> dict[str, float]:
    """Return seconds and distances of refits and of a fit from nothing."""
    rng = np.random.default_rng(0)
    X, truth = drawn(rng, rows, dtype)
    item = np.append(np.arange(rows), rng.integers(rows, size=50 * REFITS))
    label = rng.integers(LABELS, size=len(item))
    yes = truth[item, label]
    of = [
        asked(item[:n], label[:n], yes[:n], shape=truth.shape)
        for n in range(rows, len(item) + 1, 50)
    ]
    classifier = SelectionLikelihoodClassifier(**GIVEN, warm_start=True).fit(X, of[0])
    refits = [timed(lambda more=more: classifier.fit(X, more))[2] for more in of[1:]]
    again = SelectionLikelihoodClassifier(**GIVEN, warm_start=True)
    fit, before = timed(lambda: again.fit(X, of[-1]))[2], again.coef_
    for _ in range(3):  # from where L-BFGS stops to the minimum
        again.fit(X, of[-1])
    scale = np.abs(again.coef_).max()
    away = [np.abs(each - again.coef_).max() / scale for each in (classifier.coef_, before)]
    above = loss(classifier, X, of[-1], again) - loss(again, X, of[-1], again)
    times = {"fit": fit, "refit": float(np.median(refits))}
    return {**times, "above": above, "away": away[0], "away_fit": away[1]}
