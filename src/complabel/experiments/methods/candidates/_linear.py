"""Base classes of fPML, PML-LRS, PML-lc and PML-fp: linear scores that are found in rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from complabel._parameters import Array, Constraints, Features, Indicator, Integer, Real
from complabel.errors import InputError
from complabel.methods import (
    MISSING,
    ComplementaryClassifier,
    Numbers,
    RegressionScores,
    far_centre,
    range_of,
    refuse_overflow,
    side_by_side,
)

# Dense features with at most this share of entries that are not 0 are multiplied as CSR.
_MOST_NONZERO = 0.1
# A mean of this many times the spread leaves four digits of a squared distance.
_MOST_FOR_DISTANCES = 1e6

Rounds: TypeAlias = Iterator[tuple[Array, bool]]


def refuse_lost_distances(X: Features) -> None:
    """Refuse features so far from 0 that rounding hides the distances between rows."""
    if far_centre(X, _MOST_FOR_DISTANCES) is not None:
        raise InputError(
            f"X is so far from 0 that rounding hides how its rows differ. {range_of(X)}; centre and"
            " scale the features first, as scikit-learn's StandardScaler does"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class LinearCandidateClassifier(ComplementaryClassifier):
    """Base class of methods with linear scores x W; a method implements ``_rounds``."""

    _constraints: ClassVar[Constraints] = {
        "fit_intercept": (True, False),
        "max_iter": Integer(at_least=1),
        "tol": Real(at_least=0),
    }
    _fitted: ClassVar[Constraints] = {
        "coef_": Numbers("K", "d"),
        "intercept_": Numbers("K"),
        "n_iter_": Integer(at_least=1),
        "converged_": (True, False),
        "objective_": (MISSING, Numbers("rounds")),
    }

    fit_intercept: bool = True
    max_iter: int = 100
    tol: float = 1e-5

    @abstractmethod
    def _rounds(self, X: Features, candidates: Array) -> Rounds:
        """Yield, after each round, the weights (p, K) and whether ``tol`` is met.

        Features are (n, p), the last one constant with ``fit_intercept``; candidates are (n, K).
        """

    def _fit(self, X: Features, complementary: Indicator, _: Indicator | None, /) -> None:
        refuse_overflow(X)
        features: Features = X.astype(np.float64, copy=False)
        centre = None
        if self.fit_intercept:
            centre = None if sparse.issparse(X) else far_centre(X)
            features = features if centre is None else features - centre
        if centre is None:
            features = without_zeros(features)
        if self.fit_intercept:
            features = side_by_side(features, np.ones((X.shape[0], 1)))
        rounds = self._rounds(features, 1 - complementary.astype(np.float64))
        self.n_iter_, self.converged_ = 0, False
        while self.n_iter_ < self.max_iter and not self.converged_:
            weights, self.converged_ = next(rounds)
            self.n_iter_ += 1
        n_features = X.shape[1]
        self.coef_ = np.ascontiguousarray(weights[:n_features].T)
        # Without the constant feature, this is the sum of no rows: 0.
        self.intercept_ = weights[n_features:].sum(axis=0)
        if centre is not None:
            self.intercept_ -= self.coef_ @ centre

    def _settled(self, objective: list[float]) -> bool:
        """Store the objective; tell whether the last round lowered it by at most the share tol."""
        self.objective_ = np.array(objective)
        # After the first round there is nothing to compare with.
        return len(objective) > 1 and objective[-2] - objective[-1] <= self.tol * objective[-2]

    def _decision(self, X: Features) -> Array:
        return np.asarray(X @ self.coef_.T + self.intercept_)


def without_zeros(X: Features) -> Features:
    """Return dense features that are mostly 0 as CSR, whose products are much faster."""
    few = isinstance(X, np.ndarray) and np.count_nonzero(X) <= _MOST_NONZERO * X.size
    return sparse.csr_array(X) if few else X


@dataclass(kw_only=True, eq=False, repr=False)
class CandidateRegressor(RegressionScores, LinearCandidateClassifier):
    """Base class of fPML and PML-LRS: x W is a regression of candidates (0 or 1) on features."""

    threshold: str = "probability"

    def _decision(self, X: Features) -> Array:
        return super()._decision(X) - 0.5
