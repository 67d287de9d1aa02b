"""How far probabilities are from what is true, by way of asking, beside full supervision.

Methods are fitted to the training part of three folds (the draws), and ``predict_proba`` is
compared with the true labels of the test part. Biased naming has propensities exp(z), z standard
normal. ``error`` is the mean gap between probability and share in 15 bins with equally many pairs,
without what chance adds to it; ``plain`` is with it. ``rms`` is the root mean square gap without
bias (Kumar, Liang and Ma, NeurIPS 2019), and ``rms_by_label`` in bins of each label. Slope and
intercept are those of the logistic regression of true labels on log-odds: 1 and 0 if probabilities
can be believed, a slope below 1 if a model is too sure of itself. ``cardinality`` is the sum of all
probabilities over the number of labels that apply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

from benchmarks.audits import audit_of
from benchmarks.logistic import TunedLogistic
from complabel import methods
from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import SupervisedClassifier, make_paper_classifier
from complabel.experiments.studies import split_folds
from complabel.simulate import draw_answers, draw_propensities
from complabel.trust import reliability

Array: TypeAlias = NDArray[np.float64]
BINS, METHODS = 15, ("kernel", "linear", "matched ridge", "mlcl")
WAYS = dict.fromkeys(("asked", "ticked", "menu", "named"), METHODS)
WAYS["truth"] = ("kernel", "linear", "scikit-learn")
CELLS = [
    {"set": name, "learned": way, "by": by}
    for name in ("digits", "scene", "yeast", "corel5k")
    for way, methods in WAYS.items()
    for by in methods
]
DRAWS, NEEDS = 3, ("scene", "yeast", "corel5k")
QUICK = {"set": ("digits",), "learned": ("asked", "ticked"), "by": ("linear", "matched ridge")}


def made(by: str, way: str, name: str) -> Any:
    """Return an unfitted method; on true labels, the selection likelihood is ``supervised``."""
    own = SupervisedClassifier if way == "truth" else methods.SelectionLikelihoodClassifier
    return {
        "kernel": own(random_state=0),
        "linear": own(kernel="linear", random_state=0),
        "matched ridge": methods.FrequencyMatchedClassifier(methods.make_classifier("ridge")),
        "mlcl": make_paper_classifier("mlcl", name, random_state=0),
        "scikit-learn": TunedLogistic(),
    }[by]


def answers_of(Y: Any, way: str, train: Any, fold: int) -> Answers:
    """Return what people say about the training items when they are asked in one way."""
    propensities = draw_propensities(Y.shape[1], 1.0, np.random.default_rng((0, 1)))
    how: dict[str, Any] = {
        "asked": {"question": "asked"},
        "ticked": {"question": "ticked", "items_share": 0.25},
        "menu": {"question": "menu-2", "propensities": propensities},
        "named": {"propensities": propensities},
    }[way]
    answers = draw_answers(Y, random_state=0, **how)[train]
    if way == "named":
        return Answers.concatenate([answers, audit_of(Y[train], 200, (0, 3, fold))])
    return answers


def fitted(name: str, way: str, by: str, fold: int, data: Any) -> tuple[Any, Array, Array]:
    """Return true labels of the test items, probabilities and log-odds."""
    whole: Any = load_dataset(name, data_dir=data)
    if whole.known is not None:
        rows = whole.known
        whole = replace(whole, X=whole.X[rows], Y=whole.Y[rows], excluded=None, known=None)
    train, test = split_folds(whole, n_folds=DRAWS, seed=0)[fold]
    Y = np.asarray(whole.Y)
    told: Any = Y[train] if way == "truth" else answers_of(Y, way, train, fold)
    model = made(by, way, name).fit(whole.X[train], told)
    log_odds = model._log_odds(model.decision_function(whole.X[test]))
    return Y[test], model.predict_proba(whole.X[test]), log_odds


def plain_error(p: Array, y: Array, bins: int = BINS) -> float:
    """Return the expected calibration error, with what chance adds to it."""
    n, mean, share = binned(p, y, bins)
    return float(n @ np.abs(share - mean) / n.sum())


def squared_error(p: Array, y: Array) -> float:
    """Return the squared calibration error without bias, by Kumar, Liang and Ma."""
    n, mean, share = binned(p, y)
    noise = share * (1 - share) / np.maximum(n - 1, 1)
    return float(n @ ((share - mean) ** 2 - noise) / n.sum())


def binned(p: Array, y: Array, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Return sizes, mean probabilities and shares that apply, of bins of about equal sizes."""
    before = (stats.rankdata(p) - 0.5) / p.size
    _, place = np.unique((bins * before).astype(int), return_inverse=True)
    n = np.bincount(place).astype(float)
    mean, share = (np.bincount(place, weights=each.ravel()) / n for each in (p, y))
    return n, mean, share


def recalibrating(log_odds: Array, y: Array) -> tuple[float, float]:
    """Return slope and intercept of the logistic regression of labels on log-odds."""
    x = np.clip(log_odds.ravel(), -30, 30)[:, np.newaxis]
    if np.ptp(x) == 0:
        return 0.0, float(special.logit(y.mean()))
    model = LogisticRegression(C=np.inf).fit(x, y.ravel())
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return how far probabilities of the test items of a fold are from what is true."""
    labels, p, log_odds = fitted(cell["set"], cell["learned"], cell["by"], draw, data)
    y = labels.astype(float)
    slope, intercept = recalibrating(log_odds, y)
    by_label = [squared_error(p[:, [k]], y[:, [k]]) for k in range(y.shape[1])]
    return {
        "plain": plain_error(p, y),
        "error": reliability(y, p, n_bins=BINS).error,
        "rms": max(0.0, squared_error(p, y)) ** 0.5,
        "rms_by_label": max(0.0, float(np.mean(by_label))) ** 0.5,
        "brier": float(np.mean((p - y) ** 2)),
        "log_loss": float(-np.mean(special.log_expit(np.where(y > 0, log_odds, -log_odds)))),
        "slope": slope,
        "intercept": intercept,
        "cardinality": float(p.sum() / y.sum()),
    }
