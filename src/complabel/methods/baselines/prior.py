"""The constant ranking: a baseline that ignores the features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from complabel import metrics
from complabel._parameters import Array, Constraints, Features, Indicator
from complabel.methods._base import WeightedClassifier
from complabel.methods._decisions import ScoresAroundHalf
from complabel.methods._saving import Numbers


class PriorClassifier(ScoresAroundHalf, WeightedClassifier):
    """Rank labels by how rarely each was chosen as complementary, in the same way for all rows.

    The score of label k is (1 - r_k)^(K - 1), where r_k is its share of the complementary labels:
    the probability that none of K - 1 further choices is label k.

    Attributes
    ----------
    choice_rate_ : ndarray of shape (K,)
        r: each label's share of the complementary labels.

    Notes
    -----
    For the log-likelihood of ``score``, one more choice is spread evenly over the labels. So a
    label that was never chosen in training has a positive probability.

    Examples
    --------
    >>> import numpy as np
    >>> complementary = np.eye(3, dtype=int)[[0, 0, 1, 2]]
    >>> classifier = PriorClassifier().fit(np.zeros((4, 1)), complementary)
    >>> classifier.predict_proba([[5.0]])
    array([[0.25  , 0.5625, 0.5625]])
    """

    models_the_choice = True

    _fitted: ClassVar[Constraints] = {"choice_rate_": Numbers("K"), "_smoothed_rate": Numbers("K")}

    def _fit(self, X: Features, complementary: Indicator, _: Indicator | None, /) -> None:
        self._fit_weighted(X, complementary, None, np.ones(len(complementary)))

    def _fit_weighted(
        self, _X: Features, complementary: Indicator, _: Indicator | None, weights: Array, /
    ) -> None:
        counts = weights @ complementary
        total = counts.sum()
        self.choice_rate_ = counts / total
        self._smoothed_rate = (counts + 1 / len(counts)) / (total + 1)

    def _decision(self, X: Features) -> Array:
        n_labels = len(self.choice_rate_)
        score = (1 - self.choice_rate_) ** (n_labels - 1) - 0.5
        return np.tile(score, (X.shape[0], 1))

    def _log_likelihood(self, X: Features, complementary: Indicator) -> Array:
        rates = np.tile(self._smoothed_rate, (X.shape[0], 1))
        return metrics.complementary_log_likelihood_of_rows(complementary, rates)
