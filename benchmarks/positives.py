"""One label that applies, named for each item: is the exact fit ahead of "others do not apply"?

Of two thirds of the items, somebody names one label that applies, all alike or with propensities of
a spread ("bias"); items without any are left out. "fit" is SelectionLikelihoodClassifier: as it is,
with the number of labels per item given ("told"), and beside 200 yes/no questions about random
pairs ("asked"). The rival "AN" takes all other labels for "no", with a logistic regression of each
label. All are linear. The rival's penalty and scaling of features are those for which held-out
positives rank highest (mean reciprocal rank, a third held out); "an_best" has those that are best
on the items of the test, which nobody knows. Figures are average precision on the other third, and
how many labels per item the fit expects.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks._sets import of_set, scalings
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities

SETS = ("made", "digits", "scene", "yeast", "corel5k", "mirflickr")
CELLS = {"set": SETS, "bias": (0, 1, 2)}
DRAWS, QUICK, NEEDS = 2, {"set": ("made",), "bias": (0, 2)}, SETS[2:]
PENALTIES = np.logspace(-3.5, 1, 7)
MANY, FEWER = 100, PENALTIES[1:5]  # labels, and penalties with more of them
ASKED = 200


def regressions(X: Any, labels: Any, Z: Any, C: float, weights: Any = 1, none: float = 0.0) -> Any:
    """Return probabilities (n, K) by a regression of each label, in which a "yes" counts more."""
    found = np.full((Z.shape[0], labels.shape[1]), none)
    for label, y in enumerate(labels.T):
        if y.any() and not y.all():
            counts = np.where(y == 1, np.broadcast_to(weights, labels.shape[1])[label], 1.0)
            model = LogisticRegression(C=C, max_iter=300).fit(X, y, sample_weight=counts)
            found[:, label] = model.predict_proba(Z)[:, 1]
    return found


def reciprocal_rank(named: Any, scores: Any) -> float:
    """Return the mean of one over the rank of the label that was named."""
    of_named = scores[np.arange(len(named)), named.argmax(axis=1)]
    return (1 / (scores >= of_named[:, np.newaxis]).sum(axis=1)).mean()


def rival(X: Any, named: Any, of: Any, other: Any, Y: Any, seed: int) -> tuple[float, float]:
    """Return the average precision of AN: as held-out positives choose, and at best."""
    order = np.random.default_rng([seed, 3]).permutation(len(of))
    held, rest = np.split(order, [len(of) // 3])
    tried = []
    for scaled in scalings(X):
        for C in PENALTIES if Y.shape[1] <= MANY else FEWER:
            seen = regressions(scaled[of[rest]], named[rest], scaled[of[held]], C)
            scores = regressions(scaled[of], named, scaled[other], C)
            precision = average_precision(Y[other], scores)
            tried.append((reciprocal_rank(named[held], seen), precision))
    return max(tried)[1], max(precision for _, precision in tried)


def halves(data_set: str, data: Any, draw: int, most: int | None = None) -> tuple[Any, ...]:
    """Return features, labels, and which items are answered and which are the test."""
    X, Y = of_set(data_set, data)
    some = np.random.default_rng(0).permutation(len(Y))[:most] if most else np.arange(len(Y))
    X, Y = X[some], Y[some]
    of, other = np.split(np.random.default_rng(draw).permutation(len(Y)), [2 * len(Y) // 3])
    return X, Y, of, other


def asked(Y: Any, draw: int) -> Answers:
    """Return answers to ASKED yes/no questions about random pairs."""
    return draw_answers(Y, question="asked", items_share=ASKED / len(Y), random_state=draw)


def named(Y: Any, bias: float, draw: int, question: str = "positive") -> Answers:
    """Return a label that applies ("free": does not), named with propensities of a spread."""
    w = draw_propensities(Y.shape[1], bias, random_state=draw)
    return draw_answers(Y, question=question, propensities=w, random_state=draw)


def three_fits(X: Any, Y: Any, of: Any, answers: Answers, draw: int) -> dict[str, Any]:
    """Fit to the answers, with the number of labels per item given, and beside yes/no questions."""
    both = Answers.concatenate([answers, asked(Y[of], draw)])
    told = fitted(X[of], answers, Y[of].sum(axis=1).mean())
    return {"fit": fitted(X[of], answers), "told": told, "asked": fitted(X[of], both)}


def fitted(X: Any, answers: Answers, cardinality: Any = "auto") -> SelectionLikelihoodClassifier:
    """Fit the exact likelihood with linear features."""
    model = SelectionLikelihoodClassifier(kernel="linear", cardinality=cardinality, random_state=0)
    return model.fit(X, answers)


def measure(*, draw: int, data: Any, most: Any = None, **cell: Any) -> dict[str, float]:
    """Return the average precision of both rivals and of three fits, and labels per item."""
    X, Y, of, other = halves(cell["set"], data, draw, most)
    answers = named(Y[of], cell["bias"], draw)
    an, best = rival(X, answers.positive.toarray(), of, other, Y, draw)
    found = {"AN": an, "an_best": best, "labels_true": Y[other].sum(axis=1).mean()}
    for name, model in three_fits(X, Y, of, answers, draw).items():
        found[name] = average_precision(Y[other], model.predict_proba(X[other]))
        found[f"labels_{name}"] = model.mean_cardinality_
    return found
