"""What PML-lc and PML-fp share: a linear ranker and confidences, found in turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import optimize

from complabel._parameters import Constraints, Integer, Real
from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._linear import ATTRIBUTES, OBJECTIVE, LinearCandidateClassifier
from complabel.methods.candidates._rank_loss import RankLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features
    from complabel.methods.candidates._linear import Rounds

Structure = Callable[["NDArray[np.float64]"], Quadratic]
"""Gives the structure term R as a function of the confidences it is next minimized over."""


TEXTS = {
    "model": """All labels not excluded are candidates. A linear ranker puts each candidate above
    each complementary label, as far as the candidate is believed. The confidences P are learned
    too:

    minimize over W, P:  ||W||^2 / 2
    + C1 sum_i 1/(#A_i #B_i) sum_{j in A_i, k in B_i} P_ij max(0, 1 - f_j(x_i) + f_k(x_i))^2
    + R(P)
    subject to  0 <= P_ij <= 1,  P_ij = 0 for j in B_i,  sum_j P_ij >= 1,

    where A_i and B_i are the candidates and the complementary labels of instance i, and # is
    their number. W is found by L-BFGS, then P by projected gradient, a quadratic program for each
    row, and so on until the objective settles.
""",
    "parameters": """fit_intercept : bool, default=True
        Add a constant feature, whose weights are penalized like all others.
    max_iter : int, default=20
        Most rounds of the alternation.
    tol : float, default=1e-4
        Stop when a round lowers the objective by no more than this share of it.
    weight_iterations : int, default=50
        Most L-BFGS iterations per round.
    confidence_iterations : int, default=100
        Most projected gradient steps per round.""",
    "attributes": f"""confidences_ : ndarray of shape (n_samples, K)
        P of the training instances.
    {OBJECTIVE}{ATTRIBUTES}""",
    "notes": """The paper's text fixes the model only in outline. The solver is ours too, and the
    squared hinge, where the paper may have a plain one: tables should call this a
    reimplementation.

    A label is predicted where its score exceeds the middle of the row's range; the paper defines
    no rule. ``predict_proba`` is the sigmoid of the distance from there: a score for ranking, no
    probability. ``relevant`` labels given to ``fit`` are ignored.

    It takes O(rounds iterations n (d K + K log K)) time, with d the mean number of non-zeros per
    row: the loss over all pairs of labels comes from sorted rows, so that no pair is formed.
    Memory holds a copy of the features, kept sparse, and a dozen (n, K) matrices; nothing is
    (n, n).

    References
    ----------
    M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.methods import {name}
    >>> X = np.repeat(np.eye(3), 2, axis=0)
    >>> complementary = np.eye(3, dtype=int)[[1, 2, 0, 2, 0, 1]]
    >>> classifier = {name}(C1=10.0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])""",
}


class ConfidenceRanker(LinearCandidateClassifier):
    """Base of PML-lc and PML-fp; they differ in the term R that refines the confidences."""

    _constraints: ClassVar[Constraints] = {
        "C1": Real(above=0),
        "C2": Real(at_least=0),
        "weight_iterations": Integer(at_least=1),
        "confidence_iterations": Integer(at_least=1),
    }

    threshold = "minmax"

    confidences_: NDArray[np.float64]

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
        """Return the structure term for features (n, p) and candidates (n, K) as in ``_rounds``."""

    def _rounds(self, X: Features, candidates: NDArray[np.float64]) -> Rounds:
        loss = RankLoss(candidates, weight=self.C1)
        allowed = candidates.astype(np.bool_)
        structure_of = self._structure(X, candidates)
        self.confidences_ = candidates
        structure = structure_of(candidates)
        weights = np.zeros((X.shape[1], candidates.shape[1]))
        objective: list[float] = []
        while True:
            weights = fit_weights(
                X, self.confidences_, loss=loss, start=weights, iterations=self.weight_iterations
            )
            costs = loss.costs(X @ weights)
            self.confidences_ = structure.plus(costs).minimize(
                self.confidences_, allowed, steps=self.confidence_iterations
            )
            structure = structure_of(self.confidences_)
            objective.append(
                0.5 * float(np.vdot(weights, weights))
                + float(np.vdot(costs, self.confidences_))
                + structure.value(self.confidences_)
            )
            yield weights, self._settled(objective)

    def _log_odds(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        # A linear score has no level of its own: the middle of the row's range is held for 1/2.
        # A row of equal scores has no range and is cut at one half as it is.
        lowest = decision.min(axis=1, keepdims=True)
        highest = decision.max(axis=1, keepdims=True)
        return decision - np.where(lowest == highest, 0.5, lowest + 0.5 * (highest - lowest))


def fit_weights(
    X: Features,
    confidences: NDArray[np.float64],
    *,
    loss: RankLoss,
    start: NDArray[np.float64],
    iterations: int,
) -> NDArray[np.float64]:
    """Minimize ||W||^2 / 2 plus the rank loss of X W over W (p, K) by L-BFGS."""

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
