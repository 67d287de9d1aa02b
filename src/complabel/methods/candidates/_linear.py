"""What fPML, PML-LRS, PML-lc and PML-fp share: linear scores, found in rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from complabel._parameters import Constraints, Integer, Real
from complabel.methods._arrays import Array, Features, Indicator
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._decisions import log_odds_of_regression
from complabel.methods._features import refuse_overflow
from complabel.methods._linear_systems import side_by_side
from complabel.persistence import IfAny, Kinds, Numbers, Scalar

Rounds: TypeAlias = Iterator[tuple[Array, bool]]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearCandidateClassifier(ComplementaryClassifier):
    """Base of methods with scores x W; a method implements ``_rounds``."""

    _constraints: ClassVar[Constraints] = {"max_iter": Integer(at_least=1), "tol": Real(at_least=0)}
    _fitted: ClassVar[Kinds] = {
        "coef_": Numbers("K", "d"),
        "intercept_": Numbers("K"),
        "n_iter_": Scalar(Integer(at_least=1)),
        "converged_": Scalar(True, False),
        "objective_": IfAny(Numbers("rounds")),
    }

    fit_intercept: bool = True
    max_iter: int = 100
    tol: float = 1e-5

    @abstractmethod
    def _rounds(self, X: Features, candidates: Array) -> Rounds:
        """Yield after each round the weights (p, K), and whether ``tol`` is met.

        The features (n, p), float64, have the constant one last if there is one; the candidates
        (n, K) are zeros and ones.
        """

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        del relevant
        refuse_overflow(X)
        features: Features = X.astype(np.float64, copy=False)
        if self.fit_intercept:
            features = side_by_side(features, np.ones((X.shape[0], 1)))
        rounds = self._rounds(features, 1 - complementary.astype(np.float64))
        self.n_iter_, self.converged_ = 0, False
        while self.n_iter_ < self.max_iter and not self.converged_:
            weights, self.converged_ = next(rounds)
            self.n_iter_ += 1
        n_features = X.shape[1]
        self.coef_ = np.ascontiguousarray(weights[:n_features].T)
        # Without the constant feature, the sum is over no rows.
        self.intercept_ = weights[n_features:].sum(axis=0)

    def _settled(self, objective: list[float]) -> bool:
        """Keep the objective, and tell whether the last round lowered it by a share below tol."""
        self.objective_ = np.array(objective)
        # The first round has nothing to be compared with.
        return len(objective) > 1 and objective[-2] - objective[-1] <= self.tol * objective[-2]

    def _decision(self, X: Features) -> Array:
        return np.asarray(X @ self.coef_.T + self.intercept_)


@dataclass(kw_only=True, eq=False, repr=False)
class CandidateRegressor(LinearCandidateClassifier):
    """Base of fPML and PML-LRS, which regress T on the features: x W is near 0 or near 1."""

    threshold: str = "probability"

    def _decision(self, X: Features) -> Array:
        return super()._decision(X) - 0.5

    def _log_odds(self, decision: Array) -> Array:
        return log_odds_of_regression(decision)
