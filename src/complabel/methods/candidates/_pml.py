"""What PML-lc and PML-fp share: a linear ranker and confidences, found in turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import optimize, sparse

from complabel._parameters import Constraints, Integer, Real
from complabel.methods._base import ComplementaryClassifier, Features
from complabel.methods._magnitude import refuse_overflow
from complabel.methods.candidates._centring import centred_at_midrange
from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._rank_loss import RankLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

Structure = Callable[["NDArray[np.float64]"], Quadratic]
"""Gives the structure term R as a function of the confidences it is next minimised over."""


class ConfidenceRanker(ComplementaryClassifier):
    """Base of PML-lc and PML-fp; they differ in the term R that refines the confidences.

    Parameters
    ----------
    C1 : float, default=1.0
        Weight of the rank loss.
    C2 : float, default=1e-3
        Weight of the structure term.
    fit_intercept : bool, default=True
        Add a constant feature, whose weights are penalized like all others.
    max_iter : int, default=20
        Most rounds of the alternation.
    tol : float, default=1e-4
        Stop when a round lowers the objective by less than this share of it.
    weight_iterations : int, default=50
        Most L-BFGS iterations per round.
    confidence_iterations : int, default=100
        Most projected gradient steps per round.
    """

    _constraints: ClassVar[Constraints] = {
        "C1": Real(above=0),
        "C2": Real(at_least=0),
        "max_iter": Integer(at_least=1),
        "tol": Real(at_least=0),
        "weight_iterations": Integer(at_least=1),
        "confidence_iterations": Integer(at_least=1),
    }

    threshold = "minmax"

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    confidences_: NDArray[np.float64]
    objective_: NDArray[np.float64]
    n_iter_: int

    def __init__(
        self,
        *,
        C1: float = 1.0,
        C2: float = 1e-3,
        fit_intercept: bool = True,
        max_iter: int = 20,
        tol: float = 1e-4,
        weight_iterations: int = 50,
        confidence_iterations: int = 100,
    ) -> None:
        self.C1 = C1
        self.C2 = C2
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.weight_iterations = weight_iterations
        self.confidence_iterations = confidence_iterations

    @abstractmethod
    def _structure(self, X: Features, candidates: NDArray[np.float64]) -> Structure:
        """Return the structure term for features with their constant column, and candidates."""

    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        del relevant
        candidates = 1 - complementary.astype(np.float64)
        refuse_overflow(X)
        features: Features = X.astype(np.float64, copy=False)
        if self.fit_intercept:
            features = _with_constant(features)
        weights = self._alternate(features, candidates)  # (d or d + 1, K)
        n_features = X.shape[1]
        self.coef_ = np.ascontiguousarray(weights[:n_features].T)
        self.intercept_ = (
            weights[n_features] if self.fit_intercept else np.zeros(complementary.shape[1])
        )

    def _alternate(self, X: Features, candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minimise over weights, then confidences, until neither helps; return the weights."""
        loss = RankLoss(candidates, weight=self.C1)
        allowed = candidates.astype(np.bool_)
        structure_of = self._structure(X, candidates)
        confidences = candidates
        structure = structure_of(confidences)
        weights = np.zeros((X.shape[1], candidates.shape[1]))
        objective: list[float] = []
        for _ in range(self.max_iter):
            weights = fit_weights(
                X, confidences, loss=loss, start=weights, iterations=self.weight_iterations
            )
            costs = loss.costs(X @ weights)
            confidences = structure.plus(costs).minimise(
                confidences, allowed, steps=self.confidence_iterations
            )
            structure = structure_of(confidences)
            objective.append(
                0.5 * float(np.vdot(weights, weights))
                + float(np.vdot(costs, confidences))
                + structure.value(confidences)
            )
            if len(objective) > 1 and objective[-2] - objective[-1] < self.tol * objective[-2]:
                break
        self.confidences_ = confidences
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)
        return weights

    def _decision(self, X: Features) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        return scores

    def _log_odds(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        # A linear score has no level of its own: the middle of the row's range is held for 1/2.
        return centred_at_midrange(decision)


def fit_weights(
    X: Features,
    confidences: NDArray[np.float64],
    *,
    loss: RankLoss,
    start: NDArray[np.float64],
    iterations: int,
) -> NDArray[np.float64]:
    """Minimise ||W||^2 / 2 plus the rank loss of X W over W (d, K) by L-BFGS."""

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(start.shape)
        value, score_gradient = loss.value_and_gradient(X @ weights, confidences)
        gradient = X.T @ score_gradient
        gradient += weights
        return value + 0.5 * float(flat @ flat), gradient.ravel()

    result: Any = optimize.minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
    )
    weights: NDArray[np.float64] = result.x.reshape(start.shape)
    return weights


def _with_constant(X: Features) -> Features:
    """Append a column of ones; sparse stays sparse."""
    ones = np.ones((X.shape[0], 1))
    if sparse.issparse(X):
        blocks: list[Any] = [X, sparse.csr_array(ones)]
        return sparse.hstack(blocks, format="csr")
    return np.hstack([X, ones])
