"""Lists of tags with exposure by label: the exact fit beside "what is not tagged does not apply".

Of two thirds of the items, each label that applies is tagged with an exposure of its own, drawn
from .2 to .8. "fit" is SelectionLikelihoodClassifier: as it is, with the number of labels per item
given ("told"), and beside 200 yes/no questions about random pairs ("asked"). Rivals are logistic
regressions of each label. "AN" takes every label without a tag for "no". In "PW" each tag counts
one over the propensity of Jain et al. (KDD 2016, A = .55 and B = 1.5). "Platt" is AN, whose logits
are scaled and shifted by the 200 answers; "by label" also shifts each label, with the penalty that
these answers choose. Penalty and scaling are those for which held-out tags are likeliest. Printed
are average precision and log-loss on true labels of the other third, means over draws.
"""

from typing import Any

import numpy as np
from scipy import special
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from benchmarks._sets import scalings
from benchmarks.positives import PENALTIES, asked, halves, regressions, three_fits
from complabel.answers import Answers
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

CELLS = {"set": ("digits", "scene", "yeast", "mirflickr", "corel5k")}
DRAWS, QUICK, NEEDS = 2, {"set": ("digits",)}, CELLS["set"][1:]
RARE = 1e-3  # the probability of a label without any tag
METHODS = ("AN", "PW", "platt", "by_label", "fit", "told", "asked")


def log_loss(Y: Any, p: Any) -> float:
    """Return minus the mean log-probability of a pair of an item and a label, in nats."""
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return -np.where(Y == 1, np.log(p), np.log1p(-p)).mean()


def calibrated(logits: Any, judged: Answers, other: Any, *, by_label: bool) -> Any:
    """Return probabilities by a regression of the answers on the logits of their pairs."""
    said = judged.statements()
    n_labels = logits.shape[1]

    def columns(z: Any, label: Any) -> Any:
        return np.column_stack([z, np.eye(n_labels)[label][:, : n_labels * by_label]])

    model: Any = LogisticRegression(C=1e6, max_iter=1000)
    if by_label:
        model = LogisticRegressionCV(Cs=np.logspace(-2, 2, 9), cv=5, max_iter=1000)
    model.fit(columns(logits[said.item, said.label], said.label), said.applies)
    label = np.tile(np.arange(n_labels), len(other))
    return model.predict_proba(columns(other.ravel(), label))[:, 1].reshape(other.shape)


def rivals(X: Any, tags: Any, judged: Answers, of: Any, other: Any, seed: int) -> list[Any]:
    """Return the probabilities (m, K) of each rival."""
    order = np.random.default_rng([seed, 3]).permutation(len(of))
    held, rest = np.split(order, [len(of) // 3])
    tried = []
    for scaled in scalings(X):
        for C in PENALTIES:
            seen = regressions(scaled[of[rest]], tags[rest], scaled[of[held]], C, none=RARE)
            tried.append((log_loss(tags[held], seen), C, scaled))
    _, C, scaled = min(tried, key=lambda each: each[0])
    every = regressions(scaled[of], tags, scaled, C, none=RARE)
    logits = special.logit(np.clip(every, 1e-6, 1 - 1e-6))
    inverse = 1 + (np.log(len(of)) - 1) * (2.5 / (tags.sum(axis=0) + 1.5)) ** 0.55
    heavy = regressions(scaled[of], tags, scaled[other], C, inverse, RARE)  # by counts of tags
    platt = [calibrated(logits[of], judged, logits[other], by_label=by) for by in (False, True)]
    return [every[other], heavy, *platt]


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return the average precision and the log-loss of each method."""
    X, Y, of, other = halves(cell["set"], data, draw)
    exposure = np.random.default_rng([draw, 5]).uniform(0.2, 0.8, Y.shape[1])
    answers = draw_answers(Y[of], question="tagged", exposure=exposure, random_state=draw)
    found = rivals(X, answers.tagged.toarray(), asked(Y[of], draw), of, other, draw)
    fits = three_fits(X, Y, of, answers, draw).values()
    found += [model.predict_proba(X[other]) for model in fits]
    return [
        ({"figure": name}, {of: value(Y[other], p) for of, p in zip(METHODS, found, strict=True)})
        for name, value in (("precision", average_precision), ("log-loss", log_loss))
    ]
