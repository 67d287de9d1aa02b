"""Are labels per item right where a fit finds the rates of people, and when does it refuse?

Four people answer yes/no questions about random labels of random items: 1,500 pairs are judged
once, and the ``shared`` ones by two people. Ten labels are rare (they apply to 2 to 12 % of the
items) or frequent (20 to 50 %). Features tell nothing (weak) or much (strong). People miss 3 to 40
% of what applies, in three draws of ten one of them 60 to 90 %, and invent .5 to 6 %. All is drawn
each time; a draw of the frame has ten. ``refused``: the share in which the fit says that the
answers do not tell the rates; ``held``: the share in which the interval of labels per item holds
the truth (divide by 1 - refused); ``off_found`` and ``off_refused``: how far labels per item are
off, in percent (divide likewise). Then the mean log-likelihood of a true label of other items: of
the ``fit``; of one that knows the true rates; and of one that takes the ``first`` answers as true.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block, means
from benchmarks._people import AUTO, linear, yes_or_no

FREQUENCIES = {"rare": (0.02, 0.12), "frequent": (0.2, 0.5)}
SIGNAL = {"weak": 0.0, "strong": 3.0}
CELLS = {"labels": (*FREQUENCIES,), "features": (*SIGNAL,), "shared": (100, 400, 1500)}
DRAWS, IN_A_DRAW = 10, 10
QUICK = {"labels": ("frequent",), "features": ("strong",), "shared": (400,)}
N_ITEMS, N_TEST, N_LABELS, N_PEOPLE, ONCE = 1000, 1000, 10, 4, 1500


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
    others = rng.integers(1, N_PEOPLE, size=shared)
    person[ONCE + shared :] = (person[:shared] + others) % N_PEOPLE
    errs = np.where(Y[item, label], missed[person], invented[person])
    said = Y[item, label] ^ (rng.random(len(item)) < errs)

    names = np.array([f"person {each}" for each in person])
    both, first = (
        yes_or_no((N_ITEMS, N_LABELS), item[:n], label[:n], said[:n], names[:n])
        for n in (len(item), ONCE + shared)
    )
    return X, Y, both, first, {"missed": missed, "invented": invented}


def likelihood(model: Any, X: Any, Y: Any) -> float:
    """Return the mean log-likelihood of a true label."""
    p = np.clip(model.predict_proba(X), 1e-6, 1 - 1e-6)
    return float(np.where(Y, np.log(p), np.log1p(-p)).mean())


@means
def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Yield the figures of ten draws."""
    for seed in block(draw, IN_A_DRAW):
        X, Y, answers, first, rates = world(**cell, seed=seed)
        order = [int(each.split()[1]) for each in answers.annotator_names]
        known = {name: each[order] for name, each in rates.items()}
        fits = {"fit": (answers, AUTO), "known": (answers, known), "first": (first, {})}
        models = {name: linear(**how).fit(X[:N_ITEMS], said) for name, (said, how) in fits.items()}
        truth = Y.sum(axis=1).mean()
        interval = getattr(models["fit"], "cardinality_interval_", None)
        off = abs(models["fit"].predict_proba(X).sum(axis=1).mean() / truth - 1) * 100
        figures = {
            "refused": interval is None,
            "held": interval is not None and interval[0] <= truth <= interval[1],
            "off_found": off * (interval is not None),
            "off_refused": off * (interval is None),
        }
        new = X[N_ITEMS:], Y[N_ITEMS:]
        yield {}, figures | {name: likelihood(each, *new) for name, each in models.items()}
