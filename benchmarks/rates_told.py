"""Are labels per item right where a fit finds the rates of people, and when does it refuse?

Four people answer yes/no questions about random labels of random items: 1,500 pairs are judged
once, and the ``shared`` ones by two people. Ten labels are rare (they apply to 2 to 12 % of the
items) or frequent (20 to 50 %). Features are weak (they tell nothing) or strong. People miss 3 to
40 % of what applies, in three draws of ten one of them 60 to 90 %, and invent .5 to 6 %. All is
drawn each time; a draw of the frame has ten. ``refused``: the share in which the fit says that the
answers do not tell the rates; ``held``: the share in which rates are found and the interval of
labels per item holds the truth (divide by 1 - refused); ``off_found`` and ``off_refused``: the
distance of labels per item from the truth in percent, as a share of all (divide likewise). Then the
mean log-likelihood of a true label of other items, in nats: of the ``fit``; of one that is given
the true rates (``known``); and of one that takes the ``first`` answer about each pair as true.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks._people import AUTO, linear, yes_or_no
from complabel.answers import Answers

CELLS = {
    "labels": ("rare", "frequent"),
    "features": ("weak", "strong"),
    "shared": (100, 400, 1500),
}
DRAWS, IN_A_DRAW = 10, 10
QUICK = {"labels": ("frequent",), "features": ("strong",), "shared": (400,)}
N_ITEMS, N_TEST, N_LABELS, N_PEOPLE, ONCE = 1000, 1000, 10, 4, 1500
FREQUENCIES = {"rare": (0.02, 0.12), "frequent": (0.2, 0.5)}
SIGNAL = {"weak": 0.0, "strong": 3.0}


def world(labels: str, features: str, shared: int, seed: int) -> Any:
    """Draw items, all answers and the first about each pair, and the true rates of people."""
    rng = np.random.default_rng([seed, shared, *map(ord, labels + features)])
    X = rng.normal(size=(N_ITEMS + N_TEST, 10))
    directions = rng.normal(size=(10, N_LABELS))
    told = X @ (directions / np.linalg.norm(directions, axis=0)) * SIGNAL[features]
    told += rng.logistic(size=told.shape)
    wanted = rng.uniform(*FREQUENCIES[labels], N_LABELS)
    Y = told > [np.quantile(each, 1 - share) for each, share in zip(told.T, wanted, strict=True)]
    missed = rng.uniform(0.03, 0.4, N_PEOPLE)
    if rng.random() < 0.3:
        missed[0] = rng.uniform(0.6, 0.9)
    invented = rng.uniform(0.005, 0.06, N_PEOPLE)
    pairs = rng.choice(N_ITEMS * N_LABELS, ONCE + shared, replace=False)
    item, label = np.divmod(np.r_[pairs, pairs[:shared]], N_LABELS)
    person = rng.integers(N_PEOPLE, size=len(item))
    others = (person[:shared] + rng.integers(1, N_PEOPLE, size=shared)) % N_PEOPLE
    person[ONCE + shared :] = others
    errs = np.where(Y[item, label], missed[person], invented[person])
    said = Y[item, label] ^ (rng.random(len(item)) < errs)

    def of(rows: Any) -> Answers:
        names = np.array([f"person {each}" for each in range(N_PEOPLE)])[person[rows]]
        return yes_or_no((N_ITEMS, N_LABELS), item[rows], label[rows], said[rows], names)

    every = np.arange(len(item))
    rates = {"missed": missed, "invented": invented}
    return X, Y, of(every), of(every[: ONCE + shared]), rates


def once(labels: str, features: str, shared: int, seed: int) -> dict[str, float]:
    """Return the figures of one draw."""
    X, Y, answers, first, rates = world(labels, features, shared, seed)

    def fit(given: Answers, **how: Any) -> Any:
        return linear(**how).fit(X[:N_ITEMS], given)

    def likelihood(model: Any) -> float:
        p = np.clip(model.predict_proba(X[N_ITEMS:]), 1e-6, 1 - 1e-6)
        return float(np.where(Y[N_ITEMS:], np.log(p), np.log1p(-p)).mean())

    truth, found = float(Y.sum(axis=1).mean()), fit(answers, **AUTO)
    interval = getattr(found, "cardinality_interval_", None)
    off = abs(found.predict_proba(X).sum(axis=1).mean() / truth - 1) * 100
    order = [int(each.split()[1]) for each in answers.annotator_names]
    known = fit(answers, **{name: each[order] for name, each in rates.items()})
    return {
        "refused": float(interval is None),
        "held": float(interval is not None and interval[0] <= truth <= interval[1]),
        "off_found": off * (interval is not None),
        "off_refused": off * (interval is None),
        "fit": likelihood(found),
        "known": likelihood(known),
        "first": likelihood(fit(first)),
    }


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the means of ten draws."""
    seeds = range(IN_A_DRAW * draw, IN_A_DRAW * (draw + 1))
    return pd.DataFrame([once(**cell, seed=seed) for seed in seeds]).mean().to_dict()
