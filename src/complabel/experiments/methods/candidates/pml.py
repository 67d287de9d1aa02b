"""PML-lc and PML-fp: a linear ranker of candidates and their confidences, updated in turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from sklearn.utils.extmath import row_norms

from complabel._parameters import Array, Constraints, Features, Integer, Real
from complabel.experiments.methods.candidates._linear import LinearCandidateClassifier, Rounds

# Weight of ||U||^2 in the reconstruction term. It keeps the prototype of a label finite if all
# confidences of the label are 0.
_PROTOTYPE_RIDGE = 1e-8
# Added to the curvature, so that a step stays finite if the quadratic term is 0.
_CURVATURE_FLOOR = 1e-9
# Rows that stay are left out once so small a share moves: leaving them out takes as long as a step.
_FEWER = 0.9
# With up to this many complementary labels per instance, on average, it is faster to compare all
# pairs than to sort.
_MOST_OTHERS = 16


# Rows, and for each of them the place of one of its complementary labels in the flat indicator.
_Others: TypeAlias = "tuple[slice | NDArray[np.intp], NDArray[np.intp]]"


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceRanker(LinearCandidateClassifier):
    """Base class of PML-lc and PML-fp, which differ in the term R that refines the confidences."""

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
    def _structure(self, X: Features, candidates: Array, confidences: Array) -> Quadratic:
        """Return R as a function of confidences; its form may depend on the current ones (n, K)."""

    def _rounds(self, X: Features, candidates: Array) -> Rounds:
        loss = RankLoss(candidates, weight=self.C1)
        allowed = candidates.astype(np.bool_)
        self.confidences_ = candidates
        structure = self._structure(X, candidates, candidates)
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
            structure = self._structure(X, candidates, self.confidences_)
            objective.append(
                0.5 * float(np.vdot(weights, weights))
                + float(np.vdot(costs, self.confidences_))
                + structure.value(self.confidences_)
            )
            yield weights, self._settled(objective)

    def _log_odds(self, decision: Array) -> Array:
        # The level of these scores has no meaning. So the middle of the row's range gets f = 1/2.
        # A row of equal scores has no range; it is cut at a score of 1/2.
        lowest = decision.min(axis=1, keepdims=True)
        highest = decision.max(axis=1, keepdims=True)
        return decision - np.where(lowest == highest, 0.5, lowest + 0.5 * (highest - lowest))


class PMLLCClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by label correlation (PML-lc).

    All labels that are not complementary are candidates. A linear ranker puts each candidate above
    each complementary label, weighted by the candidate's confidence. The confidences P are learned,
    too::

        minimize over W, P:  ||W||^2 / 2
        + C1 sum_i 1/(#A_i #B_i) sum_{j in A_i, k in B_i} P_ij max(0, 1 - f_j(x_i) + f_k(x_i))^2
        + R(P)
        subject to  0 <= P_ij <= 1,  P_ij = 0 for j in B_i,  sum_j P_ij >= 1

    A_i and B_i are the candidates and the complementary labels of instance i, and # is their
    number. In each round, L-BFGS finds W, then projected gradient steps find P.

    The term R makes the confidences of two labels similar if they often are candidates together::

        R(P) = C2 tr(P L P^T),  L = diag(S 1) - S,  S_jk = T_j . T_k / sqrt(|T_j| |T_k|)

    T is the matrix of candidates. S has a diagonal of 0, and is divided by its mean row sum.

    Parameters
    ----------
    C2 : float, default=1e-3
        Weight of the correlation term; search 1e-3, 1e-2, 0.1, 1, 10.
    C1 : float, default=1.0
        Weight of the rank loss; the paper fixes it at 1.
    weight_iterations, confidence_iterations : int, default=50 and 100
        Maximum numbers of L-BFGS iterations and of projected gradient steps per round.
    fit_intercept, max_iter, tol
        As in :class:`FPMLClassifier`.

    Attributes
    ----------
    confidences_ : ndarray of shape (n_samples, K)
        P of the training instances. ``save`` leaves it out, because predictions do not need it.
    objective_, coef_, intercept_, n_iter_, converged_
        As in :class:`FPMLClassifier`.

    Notes
    -----
    The form of S is ours. With one complementary label per instance, S is nearly constant. Then
    the correlation term only makes all confidences of a row more equal.

    The paper describes the model only in outline. The solver is ours. So is the squared hinge loss;
    the paper may have a plain one. Tables should call this method a reimplementation.

    The paper defines no rule of prediction. Here a label is predicted if its score exceeds the
    middle of the row's range. ``predict_proba`` is the sigmoid of the distance from this middle,
    not a probability. Known relevant labels are ignored.

    A fit takes O(rounds iterations n (d K + K log K)) time, for d non-zeros per row.

    References
    ----------
    M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.
    """

    def _structure(self, X: Features, candidates: Array, confidences: Array) -> Quadratic:
        del X, confidences
        return Quadratic(2 * self.C2 * correlation_laplacian(candidates))


class PMLFPClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by feature prototypes (PML-fp).

    It is :class:`PMLLCClassifier` with another term R: the error of rebuilding an instance from
    prototypes of its likely labels::

        R(P) = min over U of C2/2 ||X - P U||^2

    Row j of U (K, n_features) is the prototype of label j, found in closed form.

    Parameters
    ----------
    C2 : float, default=1e-3
        Weight of the reconstruction; search 1e-3, 1e-2, 0.1, 1, 10. The term grows with the
        squared scale of the features.
    C1, weight_iterations, confidence_iterations, fit_intercept, max_iter, tol
        As in :class:`PMLLCClassifier`.

    Attributes
    ----------
    confidences_, objective_, coef_, intercept_, n_iter_, converged_
        As in :class:`PMLLCClassifier`.

    Notes
    -----
    The form of the reconstruction is ours. The paper can also be read as
    sum_ij P_ij ||x_i - u_j||^2, which would choose only one label per instance. See also the Notes
    of :class:`PMLLCClassifier`.

    References
    ----------
    M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.
    """

    def _structure(self, X: Features, candidates: Array, confidences: Array) -> Quadratic:
        del candidates
        prototypes = label_prototypes(X, confidences)  # U, (K, d)
        ridge = _PROTOTYPE_RIDGE * float(np.vdot(prototypes, prototypes))
        squared_norm = float(row_norms(X, squared=True).sum())
        return Quadratic(
            self.C2 * (prototypes @ prototypes.T),
            -self.C2 * np.asarray(X @ prototypes.T),
            0.5 * self.C2 * (squared_norm + ridge),
        )


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
    """Return L (K, K) of the cosines between columns of candidates, divided by mean row sums."""
    together = candidates.T @ candidates  # (K, K)
    sizes = np.sqrt(np.maximum(together.diagonal(), 1.0))
    similarity = together / np.outer(sizes, sizes)
    np.fill_diagonal(similarity, 0.0)
    row_sums = similarity.sum(axis=1)
    # If no two labels are ever candidates together, S is 0 and stays 0.
    scale = row_sums.mean() or 1.0
    return np.asarray((np.diag(row_sums) - similarity) / scale)


def label_prototypes(X: Features, confidences: Array) -> Array:
    """Return the U (K, d) that minimizes the error of X rebuilt as P U."""
    gram = confidences.T @ confidences  # (K, K)
    gram[np.diag_indices_from(gram)] += _PROTOTYPE_RIDGE
    return np.linalg.solve(gram, (X.T @ confidences).T)


@dataclass(frozen=True)
class Quadratic:
    """The convex function constant + <linear, P> + <P matrix, P> / 2 of confidences P (n, K)."""

    matrix: Array  # (K, K), symmetric
    linear: Array | float = 0.0  # (n, K)
    constant: float = 0.0

    def value(self, confidences: Array) -> float:
        """Return the function's value at confidences (n, K)."""
        slope = self.linear + 0.5 * (confidences @ self.matrix)
        return self.constant + float(np.vdot(slope, confidences))

    def plus(self, linear: Array) -> Quadratic:
        """Return the sum of this function and a linear one (n, K)."""
        return Quadratic(self.matrix, self.linear + linear, self.constant)

    def minimize(
        self, start: Array, candidates: NDArray[np.bool_], *, steps: int, tolerance: float = 1e-9
    ) -> Array:
        """Minimize the function by projected gradient steps from an allowed start (n, K)."""
        curvature = float(np.linalg.eigvalsh(self.matrix)[-1]) + _CURVATURE_FLOOR
        confidences = start.copy()
        linear = np.broadcast_to(self.linear, start.shape)
        moving = np.arange(len(start))  # rows do not depend on each other, and many soon stay
        before = start
        for _ in range(steps):
            gradient = before @ self.matrix + linear
            moved = project_confidences(before - gradient / curvature, candidates)
            change = np.abs(moved - before).max(axis=1)
            before, moves = moved, change > 0
            if change.max() <= tolerance:
                break
            if np.count_nonzero(moves) <= _FEWER * len(moving):
                confidences[moving] = moved
                moving = moving[moves]
                before, linear, candidates = moved[moves], linear[moves], candidates[moves]
        confidences[moving] = before
        return confidences


def project_confidences(values: Array, candidates: NDArray[np.bool_]) -> Array:
    """Project each row on {p : 0 <= p <= 1, p = 0 for labels not candidates, sum p >= 1}."""
    projected = np.where(candidates, np.clip(values, 0.0, 1.0), 0.0)
    short = np.flatnonzero(projected.sum(axis=1) < 1)
    if short.size:
        # The clipped row sums to less than 1, so the nearest point has a sum of exactly 1: it is
        # the projection on the simplex, where no entry exceeds 1.
        projected[short] = _project_simplex(values[short], candidates[short])
    return projected


def _project_simplex(values: Array, candidates: NDArray[np.bool_]) -> Array:
    largest = np.where(candidates, values, -np.inf).max(axis=1, keepdims=True)
    # A constant added to a row does not change the projection. Entries more than 1 below the
    # largest become 0, so -2 gives the other labels 0.
    lowered = np.where(candidates, np.maximum(values - largest, -2.0), -2.0)
    descending = -np.sort(-lowered, axis=1)
    excess = np.cumsum(descending, axis=1) - 1
    count = np.arange(1, values.shape[1] + 1)
    support = (descending * count > excess).sum(axis=1, keepdims=True)
    offset = np.take_along_axis(excess, support - 1, axis=1) / support
    return np.asarray(np.maximum(lowered - offset, 0.0))


class RankLoss:
    """The rank loss for scores F (n, K): each candidate should be above each other label by 1.

    With the indicator T of candidates and u = F - T, a pair costs max(0, u_k - u_j)^2. If rows have
    few other labels, each of these is compared with all candidates. If they have many, sums over
    all k above a j, and over all j below a k, are cumulative sums in a sorted row of u.
    """

    def __init__(self, candidates: Array, *, weight: float, most_others: int = _MOST_OTHERS):
        self._candidates = candidates
        n_labels = candidates.shape[1]
        n_candidates = candidates.sum(axis=1, keepdims=True)
        n_pairs = n_candidates * (n_labels - n_candidates)
        self._pair_weight: Array = weight / n_pairs  # (n, 1)
        self._others: list[_Others] | None = None
        if n_labels - n_candidates.mean() <= most_others:
            self._others = list(_one_by_one(candidates == 0))

    def costs(self, scores: Array) -> Array:
        """Return the loss (n, K) of each candidate with confidence 1; 0 for other labels."""
        if self._others is not None:
            squared = np.zeros_like(scores)
            for rows, at in self._others:
                squared[rows] += _shortfalls(scores, rows, at) ** 2
            return self._pair_weight * self._candidates * squared
        order, u, others = self._sorted(scores)
        above, above_u, above_u2 = (_sums_from_above(others * part) for part in (1, u, u * u))
        squared = above_u2 - 2 * u * above_u + u * u * above
        sorted_costs = self._pair_weight * (1 - others) * np.maximum(squared, 0.0)
        return _unsorted(sorted_costs, order)

    def value_and_gradient(self, scores: Array, confidences: Array) -> tuple[float, Array]:
        """Return the loss and its gradient (n, K) by the scores."""
        if self._others is not None:
            return self._compare_pairs(scores, confidences)
        order, u, others = self._sorted(scores)
        mass = np.take_along_axis(confidences, order, axis=1)  # 0 for labels not candidates
        pull_up = mass * (_sums_from_above(others * u) - u * _sums_from_above(others))
        push_down = others * (u * np.cumsum(mass, axis=1) - np.cumsum(mass * u, axis=1))
        sorted_gradient = 2 * self._pair_weight * (push_down - pull_up)
        # The loss is homogeneous of degree 2 in u, so by Euler's theorem it is <gradient, u> / 2.
        return 0.5 * float(np.vdot(sorted_gradient, u)), _unsorted(sorted_gradient, order)

    def _compare_pairs(self, scores: Array, confidences: Array) -> tuple[float, Array]:
        assert self._others is not None
        mass = 2 * self._pair_weight * confidences
        value, gradient = 0.0, np.zeros_like(scores)
        for rows, at in self._others:
            shortfall = _shortfalls(scores, rows, at)
            pull_up = mass[rows] * shortfall  # 0 for labels not candidates
            value += 0.5 * float(np.vdot(pull_up, shortfall))
            gradient[rows] -= pull_up
            gradient.ravel()[at] += np.einsum("ij->i", pull_up)
        return value, gradient

    def _sorted(self, scores: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Return the order that sorts each row of u; and in this order, u and 1 - T."""
        shifted = scores - self._candidates
        order = np.argsort(shifted, axis=1)
        others = 1 - np.take_along_axis(self._candidates, order, axis=1)
        return order, np.take_along_axis(shifted, order, axis=1), others


def _one_by_one(others: NDArray[np.bool_]) -> Iterator[_Others]:
    """Yield the first of the other labels (n, K) of each row, then the second, ..."""
    row, label = np.nonzero(others)
    counts = others.sum(axis=1)
    first = np.cumsum(counts) - counts
    at = row * others.shape[1] + label
    for place in range(counts.max()):
        rows = np.flatnonzero(counts > place)
        # A slice reads all rows without a copy.
        yield slice(None) if len(rows) == len(others) else rows, at[first[rows] + place]


def _shortfalls(scores: Array, rows: slice | NDArray[np.intp], at: NDArray[np.intp]) -> Array:
    """Return how far each label of some rows, if a candidate, is from 1 above another label."""
    shortfall = (scores.take(at) + 1)[:, np.newaxis] - scores[rows]
    return np.maximum(shortfall, 0.0, out=shortfall)


def _sums_from_above(values: Array) -> Array:
    """Return, for each entry, the sum of its row from this entry to the end."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _unsorted(values: Array, order: NDArray[np.intp]) -> Array:
    """Put sorted entries back into their original columns."""
    restored = np.empty_like(values)
    np.put_along_axis(restored, order, values, axis=1)
    return restored
