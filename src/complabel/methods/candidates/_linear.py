"""What fPML, PML-LRS, PML-lc and PML-fp share: linear scores, found in rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from complabel._parameters import Constraints, Integer, Real
from complabel.methods._base import ComplementaryClassifier, Features
from complabel.methods._decisions import log_odds_of_regression
from complabel.methods._features import refuse_overflow
from complabel.methods._linear_systems import side_by_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rounds = Iterator[tuple[NDArray[np.float64], bool]]


ATTRIBUTES = """coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        W; the intercept is zero without ``fit_intercept``.
    n_iter_ : int
        Rounds made.
    converged_ : bool
        Whether ``tol`` was met.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int"""

OBJECTIVE = """objective_ : ndarray of shape (n_iter_,)
        The objective after each round; it never rises.
    """

Class = TypeVar("Class", bound=type)


def documented(**texts: str) -> Callable[[Class], Class]:
    """Put texts into a class's docstring, each in place of its name in braces."""

    def decorate(cls: Class) -> Class:
        for name, text in texts.items():
            cls.__doc__ = (cls.__doc__ or "").replace(f"{{{name}}}", text)
        return cls

    return decorate


class LinearCandidateClassifier(ComplementaryClassifier):
    """Base of methods with scores x W; a method implements ``_rounds``."""

    _constraints: ClassVar[Constraints] = {
        "max_iter": Integer(at_least=1),
        "tol": Real(at_least=0),
    }

    fit_intercept: bool
    max_iter: int
    tol: float

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    objective_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    @abstractmethod
    def _rounds(self, X: Features, candidates: NDArray[np.float64]) -> Rounds:
        """Yield after each round the weights (p, K), and whether ``tol`` is met.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n, p), float64
            The features, with the constant one last if there is one.
        candidates : ndarray of shape (n, K), float64
            T, zeros and ones.
        """

    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
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
        self.intercept_ = (
            weights[n_features].copy() if self.fit_intercept else np.zeros(weights.shape[1])
        )

    def _settled(self, objective: list[float]) -> bool:
        """Keep the objective, and tell whether the last round lowered it by a share below tol."""
        self.objective_ = np.array(objective)
        # The first round has nothing to be compared with.
        return len(objective) > 1 and objective[-2] - objective[-1] <= self.tol * objective[-2]

    def _decision(self, X: Features) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        return scores


class CandidateRegressor(LinearCandidateClassifier):
    """Base of fPML and PML-LRS, which regress T on the features: x W is near 0 or near 1."""

    def _decision(self, X: Features) -> NDArray[np.float64]:
        return super()._decision(X) - 0.5

    def _log_odds(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        return log_odds_of_regression(decision)
