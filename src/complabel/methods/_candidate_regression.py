"""What the methods share that regress the candidate indicator on the features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from complabel._training import LinearMap
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._decisions import log_odds_of_regression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features

CUT = 0.5
"""A label is predicted where its regression score exceeds this."""


class CandidateRegressor(ComplementaryClassifier):
    """Base of methods that score x W against 0 (complementary) and 1 (candidate).

    A method implements ``_fit``, which hands its weights to ``_set_weights``.
    """

    fit_intercept: bool
    model_: LinearMap

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights W^T, shape (K, n_features)."""
        return self.model_.coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Weights of the constant column, shape (K,); zeros without one."""
        return self.model_.intercept

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        """Keep weights (n_features, K), with the constant column's row last if there is one."""
        if self.fit_intercept:
            self.model_ = LinearMap(weights[:-1].T.copy(), weights[-1].copy())
        else:
            self.model_ = LinearMap(weights.T.copy(), np.zeros(weights.shape[1]))

    def _decision(self, X: Features) -> NDArray[np.float64]:
        return self.model_(X) - CUT

    def _log_odds(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        return log_odds_of_regression(decision)
