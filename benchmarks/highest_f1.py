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

from benchmarks._models import Array, Labels, asked, parts
from complabel.methods import SelectionLikelihoodClassifier, cross_fit_probabilities
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


def tuned_together(p: Array, Y: Labels) -> Array:
    """Return the threshold for all labels with the highest F1 over all pairs, (K,)."""
    order = np.argsort(-p, axis=None)
    right = np.cumsum(Y.ravel()[order], dtype=np.float64)
    f1 = 2 * right / (np.arange(1, p.size + 1) + right[-1])
    return np.full(p.shape[1], p.ravel()[order][np.argmax(f1)])


def linear() -> SelectionLikelihoodClassifier:
    """Return an unfitted model."""
    return SelectionLikelihoodClassifier(kernel="linear", random_state=0)


def by_aims(said: Any, p: Array) -> dict[str, Array]:
    """Return the thresholds that answers choose."""
    cuts = {aim: choose_thresholds(said, p, **given).values for aim, given in AIMS.items()}
    return {"0.5": np.full(p.shape[1], 0.5), **cuts}


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return F1 of each way to choose thresholds."""
    (X, Y), (more, labels), (test, truth) = parts(cell["set"], data, 3)
    n, kind = cell["answers"].split(maxsplit=1)
    found: dict[str, list[Any]] = {}

    def keep(of_test: Array, cuts: dict[str, Array]) -> None:
        for by, values in cuts.items():
            micro, macro = (
                f1_score(truth, of_test >= values, average=each, zero_division=0)
                for each in ("micro", "macro")
            )
            found.setdefault(by, []).append((micro, macro))

    if kind == "more":
        model = linear().fit(X, draw_answers(Y, question="asked", random_state=0))
        p, of_test = model.predict_proba(more), model.predict_proba(test)
        for each in range(N_DRAWS * draw, N_DRAWS * (draw + 1)):
            cuts = by_aims(asked(labels, int(n), [each, int(n)]), p)
            rows = np.random.default_rng([each, int(n)]).permutation(len(p))[: int(n)]
            if each % N_DRAWS < N_FITS:  # it takes a thousand times as long as ours
                cuts["complete labels by label"] = tuned(p[rows], labels[rows])
            cuts["complete labels one"] = tuned_together(p[rows], labels[rows])
            keep(of_test, {**cuts, "test labels one": tuned_together(of_test, truth)})
    else:
        stacked = sparse.vstack if sparse.issparse(X) else np.concatenate
        both, labels = stacked([X, more]), np.concatenate([Y, labels])
        for each in range(N_FITS * draw, N_FITS * (draw + 1)):
            said = asked(labels, int(n), [each, 7])
            of_test = linear().fit(both, said).predict_proba(test)
            cuts = by_aims(said, cross_fit_probabilities(linear(), both, said))
            keep(of_test, {**cuts, "test labels one": tuned_together(of_test, truth)})
    return [
        ({"by": by}, dict(zip(("micro", "macro"), np.mean(of, axis=0), strict=True)))
        for by, of in found.items()
    ]
