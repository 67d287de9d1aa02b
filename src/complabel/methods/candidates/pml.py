"""PML-lc and PML-fp: a linear ranker of candidates and confidences in them, found in turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import optimize
from sklearn.utils.extmath import row_norms

from complabel._parameters import Constraints, Integer, Real
from complabel.methods._arrays import Array, Features
from complabel.methods._documented import documented
from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._linear import LinearCandidateClassifier, Rounds
from complabel.methods.candidates._rank_loss import RankLoss
from complabel.methods.candidates._texts import TEXTS

Structure: TypeAlias = Callable[[Array], Quadratic]
"""Gives the structure term R as a function of the confidences it is next minimized over."""

# Weight of ||U||^2 in the reconstruction term: prototypes of labels nobody believes stay finite.
_PROTOTYPE_RIDGE = 1e-8

_SHARED = {
    "model": """All labels not excluded are candidates. A linear ranker puts each candidate above
each complementary label, as far as the candidate is believed. These confidences P are learned too:

minimize over W, P:  ||W||^2 / 2
+ C1 sum_i 1/(#A_i #B_i) sum_{j in A_i, k in B_i} P_ij max(0, 1 - f_j(x_i) + f_k(x_i))^2
+ R(P)
subject to  0 <= P_ij <= 1,  P_ij = 0 for j in B_i,  sum_j P_ij >= 1,

where A_i and B_i are the candidates and the complementary labels of instance i, and # is their
number. W is found by L-BFGS, then P by projected gradient, until the objective settles.""",
    "rest": """C1 : float, default=1.0
    Weight of the rank loss; the paper fixes it at 1.
weight_iterations : int, default=50
    Most L-BFGS iterations per round.
confidence_iterations : int, default=100
    Most projected gradient steps per round.
{parameters}

Attributes
----------
confidences_ : ndarray of shape (n_samples, K)
    P of the training instances, which ``save`` leaves out: predictions do not need it.
{objective}""",
    "notes": """The paper's text fixes the model only in outline, and the solver is ours, as is the
squared hinge, where the paper may have a plain one: tables should call this a reimplementation.

A label is predicted where its score exceeds the middle of the row's range; the paper defines no
rule. ``predict_proba`` is the sigmoid of the distance from there: a score for ranking, no
probability. ``relevant`` labels given to ``fit`` are ignored.

It takes O(rounds iterations n (d K + K log K)) time, with d the mean number of non-zeros per row.
Memory holds a copy of the features, kept sparse, and a dozen (n, K) matrices.

References
----------
M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.

{example}""",
    **TEXTS,
    "settings": "C1=10.0",
}


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceRanker(LinearCandidateClassifier):
    """Base of PML-lc and PML-fp; they differ in the term R that refines the confidences."""

    _constraints: ClassVar[Constraints] = {
        "C1": Real(above=0),
        "C2": Real(at_least=0),
        "weight_iterations": Integer(at_least=1),
        "confidence_iterations": Integer(at_least=1),
    }

    threshold = "minmax"

    C1: float = 1.0
    C2: float = 1e-3
    max_iter: int = 20
    tol: float = 1e-4
    weight_iterations: int = 50
    confidence_iterations: int = 100

    @abstractmethod
    def _structure(self, X: Features, candidates: Array) -> Structure:
        """Return the structure term for features (n, p) and candidates (n, K) as in ``_rounds``."""

    def _rounds(self, X: Features, candidates: Array) -> Rounds:
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

    def _log_odds(self, decision: Array) -> Array:
        # A linear score has no level of its own: the middle of the row's range is held for 1/2.
        # A row of equal scores has no range and is cut at one half as it is.
        lowest = decision.min(axis=1, keepdims=True)
        highest = decision.max(axis=1, keepdims=True)
        return decision - np.where(lowest == highest, 0.5, lowest + 0.5 * (highest - lowest))


@documented(**_SHARED)
class PMLLCClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by label correlation (PML-lc).

    {model}

    The confidences are pulled together for labels that are candidates together:
    R(P) = C2 tr(P L P^T), where T is the matrix of candidates,
    ``S_jk = T_j . T_k / sqrt(|T_j| |T_k|)`` with zero diagonal and mean row sum 1, and
    L = diag(S 1) - S.

    Parameters
    ----------
    C2 : float, default=1e-3
        Weight of the correlation term, to be searched in 1e-3, 1e-2, 0.1, 1, 10.
    {rest}

    See Also
    --------
    PMLFPClassifier : Refines the confidences by prototypes in the feature space.

    Notes
    -----
    The form of S is ours. With one complementary label per instance S is nearly constant, and
    the correlation term does little but even the confidences out.

    {notes}
    """

    def _structure(self, X: Features, candidates: Array) -> Structure:
        del X
        term = Quadratic(2 * self.C2 * correlation_laplacian(candidates))
        return lambda _: term


@documented(**_SHARED)
class PMLFPClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by feature prototypes (PML-fp).

    {model}

    An instance is rebuilt from the prototypes of the labels it is believed to have:
    R(P) = min over U of C2/2 ||X - P U||^2, where row j of U (K, n_features) is the prototype of
    label j. After each step for P, U is found in closed form.

    Parameters
    ----------
    C2 : float, default=1e-3
        Weight of the reconstruction, to be searched in 1e-3, 1e-2, 0.1, 1, 10. It grows with
        the squared scale of the features; large values give up the ranking for it.
    {rest}

    See Also
    --------
    PMLLCClassifier : Refines the confidences by correlations between labels.

    Notes
    -----
    The form of the reconstruction is ours; the constant feature is rebuilt as well. The other
    reading of the prototypes, sum_ij P_ij ||x_i - u_j||^2, is linear in P and drives it to one
    label per instance.

    {notes}
    """

    def _structure(self, X: Features, candidates: Array) -> Structure:
        del candidates
        squared_norm = float(row_norms(X, squared=True).sum())

        def reconstruction(confidences: Array) -> Quadratic:
            prototypes = label_prototypes(X, confidences)  # U, (K, d)
            ridge = _PROTOTYPE_RIDGE * float(np.vdot(prototypes, prototypes))
            return Quadratic(
                self.C2 * (prototypes @ prototypes.T),
                -self.C2 * np.asarray(X @ prototypes.T),
                0.5 * self.C2 * (squared_norm + ridge),
            )

        return reconstruction


def fit_weights(
    X: Features, confidences: Array, *, loss: RankLoss, start: Array, iterations: int
) -> Array:
    """Minimize ||W||^2 / 2 plus the rank loss of X W over W (p, K) by L-BFGS."""

    def objective(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(start.shape)
        value, score_gradient = loss.value_and_gradient(X @ weights, confidences)
        gradient = X.T @ score_gradient
        gradient += weights
        return value + 0.5 * float(flat @ flat), gradient.ravel()

    result: Any = optimize.minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
    )
    return np.asarray(result.x.reshape(start.shape))


def correlation_laplacian(candidates: Array) -> Array:
    """Return L (K, K) of the cosines between the columns of candidates, at mean row sum 1."""
    together = candidates.T @ candidates  # (K, K)
    sizes = np.sqrt(np.maximum(together.diagonal(), 1.0))
    similarity = together / np.outer(sizes, sizes)
    np.fill_diagonal(similarity, 0.0)
    row_sums = similarity.sum(axis=1)
    # Two labels, one always excluded, are never candidates together: S stays 0.
    scale = row_sums.mean() or 1.0
    return np.asarray((np.diag(row_sums) - similarity) / scale)


def label_prototypes(X: Features, confidences: Array) -> Array:
    """Return the U (K, d) that best rebuilds X as P U."""
    gram = confidences.T @ confidences  # (K, K)
    gram[np.diag_indices_from(gram)] += _PROTOTYPE_RIDGE
    return np.linalg.solve(gram, (X.T @ confidences).T)
