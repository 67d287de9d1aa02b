"""The rank loss of PML-lc and PML-fp: every candidate above every other label by a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RankLoss:
    r"""Squared hinge of score differences, weighted by the candidates' confidences.

    The loss is :math:`\sum_i c_i \sum_{j \in A_i} \sum_{k \in B_i} P_{ij}
    \max(0, 1 - F_{ij} + F_{ik})^2`, with :math:`c_i = C_1 / (|A_i| |B_i|)`, A_i the candidates
    and B_i the other labels of instance i.

    No pair is ever formed. With the scores of candidates lowered by the margin, u = F - T, a
    pair costs max(0, u_k - u_j)^2. Once a row of u is sorted, the sums over all k above a j, and
    over all j below a k, are cumulative sums.

    Parameters
    ----------
    candidates : ndarray of shape (n_samples, K), float64
        T, zeros and ones; each row has both.
    weight : float
        C1.
    """

    def __init__(self, candidates: NDArray[np.float64], *, weight: float) -> None:
        self._candidates = candidates
        n_candidates = candidates.sum(axis=1, keepdims=True)
        n_pairs = n_candidates * (candidates.shape[1] - n_candidates)
        self._pair_weight: NDArray[np.float64] = weight / n_pairs  # c, (n, 1)

    def costs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of each candidate at confidence 1, (n, K); 0 for other labels."""
        order, u, others = self._sorted(scores)
        above, above_u, above_u2 = (_sums_from_above(others * part) for part in (1, u, u * u))
        squared = above_u2 - 2 * u * above_u + u * u * above
        sorted_costs = self._pair_weight * (1 - others) * np.maximum(squared, 0.0)
        return _unsorted(sorted_costs, order)

    def value_and_gradient(
        self, scores: NDArray[np.float64], confidences: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the loss and its gradient (n, K) with respect to the scores."""
        order, u, others = self._sorted(scores)
        mass = np.take_along_axis(confidences, order, axis=1)  # 0 for labels not candidates
        pull_up = mass * (_sums_from_above(others * u) - u * _sums_from_above(others))
        push_down = others * (u * np.cumsum(mass, axis=1) - np.cumsum(mass * u, axis=1))
        sorted_gradient = 2 * self._pair_weight * (push_down - pull_up)
        # The loss is homogeneous of degree 2 in u, so that Euler's theorem gives its value.
        return 0.5 * float(np.vdot(sorted_gradient, u)), _unsorted(sorted_gradient, order)

    def _sorted(
        self, scores: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Return the order of each row of u, and in this order u and the labels of B, (n, K)."""
        shifted = scores - self._candidates
        order = np.argsort(shifted, axis=1)
        u, candidates = (
            np.take_along_axis(part, order, axis=1) for part in (shifted, self._candidates)
        )
        return order, u, 1 - candidates


def _sums_from_above(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each entry the sum of its row from there to the end."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _unsorted(values: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Put sorted columns back where they came from."""
    restored = np.empty_like(values)
    np.put_along_axis(restored, order, values, axis=1)
    return restored
