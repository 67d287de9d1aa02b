"""Which thresholds reach the highest F1, beside thresholds that know complete labels.

A model learned from one random yes or no for each item of a third of the items. Random questions
are about a second third ("200 more", "600 more"), and F1 is measured on the last third, over all
pairs (micro), and as the mean over labels (macro). "600 learned from" has no other answers than 600
that the model learned from, by cross-fitting. Rivals tune thresholds on all true labels of as many
items as there are questions: scikit-learn's TunedThresholdClassifierCV for each label ("complete
labels by label"), and one threshold. "test labels one" is the best one threshold. Means of ten
draws of the questions; of cross-fitting and of scikit-learn, of three.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks._draws import block, means
from benchmarks._models import Array, Labels, asked, parts
from benchmarks._people import linear
from complabel.methods import cross_fit_probabilities
from complabel.simulate import draw_answers
from complabel.trust import choose_thresholds

CELLS = {
    "set": ("synthetic", "digits", "corel5k", "scene", "yeast"),
    "answers": ("200 more", "600 more", "600 learned from"),
}
QUICK, NEEDS = {"set": ("synthetic",), "answers": ("200 more",)}, ("corel5k", "scene", "yeast")
N_DRAWS, N_FITS = 10, 3
AIMS: dict[str, dict[str, Any]] = {
    "one threshold": {},
    "by label": {"by_label": True},
    "frequencies": {"match_frequencies": True},
}


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose only feature is the probability."""

    classes_ = np.array([0, 1])

    def fit(self, X: Array, y: Labels) -> Given:  # noqa: ARG002
        """Learn nothing."""
        return self

    def predict_proba(self, X: Array) -> Array:
        """Return the feature."""
        return np.hstack([1 - X, X])


def tuned(p: Array, Y: Labels) -> Array:
    """Return thresholds (K,) of scikit-learn; .5 where labels or probabilities are all alike."""
    cuts = np.full(p.shape[1], 0.5)
    for label, (scores, truth) in enumerate(zip(p.T, Y.T, strict=True)):
        if np.ptp(truth) and np.ptp(scores):
            tuner = TunedThresholdClassifierCV(Given(), cv="prefit", refit=False, scoring="f1")
            cuts[label] = tuner.fit(scores[:, np.newaxis], truth).best_threshold_
    return cuts


def best_for_all(p: Array, Y: Labels) -> Array:
    """Return the threshold for all labels with the highest F1 over all pairs, (K,)."""
    order = np.argsort(-p, axis=None)
    right = np.cumsum(Y.ravel()[order], dtype=np.float64)
    f1 = 2 * right / (np.arange(1, p.size + 1) + right[-1])
    return np.full(p.shape[1], p.ravel()[order][np.argmax(f1)])


def by_aims(said: Any, p: Array) -> dict[str, Array]:
    """Return the thresholds that answers choose."""
    cuts = {aim: choose_thresholds(said, p, **given).values for aim, given in AIMS.items()}
    return {"0.5": np.full(p.shape[1], 0.5), **cuts}


def cuts_of(draw: int, data: Any, cell: Any) -> Any:
    """Yield the test labels, their probabilities, and the thresholds of each way."""
    (X, Y), (more, labels), (test, truth) = parts(cell["set"], data, 3)
    n = int(cell["answers"].split()[0])
    if cell["answers"].endswith("more"):
        model = linear().fit(X, draw_answers(Y, question="asked", random_state=0))
        p, of_test = model.predict_proba(more), model.predict_proba(test)
        for each in block(draw, N_DRAWS):
            cuts = by_aims(asked(labels, n, [each, n]), p)
            rows = np.random.default_rng([each, n]).permutation(len(p))[:n]
            if each % N_DRAWS < N_FITS:  # it takes a thousand times as long as ours
                cuts["complete labels by label"] = tuned(p[rows], labels[rows])
            cuts["complete labels one"] = best_for_all(p[rows], labels[rows])
            yield truth, of_test, cuts
        return
    stacked = sparse.vstack if sparse.issparse(X) else np.concatenate
    both, labels = stacked([X, more]), np.concatenate([Y, labels])
    for each in block(draw, N_FITS):
        said = asked(labels, n, [each, 7])
        of_test = linear().fit(both, said).predict_proba(test)
        yield truth, of_test, by_aims(said, cross_fit_probabilities(linear(), both, said))


@means
def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Yield F1 of each way to choose thresholds."""
    for truth, p, cuts in cuts_of(draw, data, cell):
        for by, values in {**cuts, "test labels one": best_for_all(p, truth)}.items():
            how: Any = {"y_true": truth, "y_pred": p >= values, "zero_division": 0}
            yield {"by": by}, {each: f1_score(average=each, **how) for each in ("micro", "macro")}
