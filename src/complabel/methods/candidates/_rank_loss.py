"""The rank loss of PML-lc and PML-fp: every candidate above every other label by a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Array


class RankLoss:
    """The rank loss of :mod:`complabel.methods.candidates.pml`, of score matrices F (n, K).

    No pair is ever formed. With the scores of candidates T (n, K) lowered by the margin,
    u = F - T, a pair costs max(0, u_k - u_j)^2. Once a row of u is sorted, the sums over all k
    above a j, and over all j below a k, are cumulative sums. Each row of T has zeros and ones.
    """

    def __init__(self, candidates: Array, *, weight: float) -> None:
        self._candidates = candidates
        n_candidates = candidates.sum(axis=1, keepdims=True)
        n_pairs = n_candidates * (candidates.shape[1] - n_candidates)
        self._pair_weight: Array = weight / n_pairs  # (n, 1)

    def costs(self, scores: Array) -> Array:
        """Return the loss of each candidate at confidence 1, (n, K); 0 for other labels."""
        order, u, others = self._sorted(scores)
        above, above_u, above_u2 = (_sums_from_above(others * part) for part in (1, u, u * u))
        squared = above_u2 - 2 * u * above_u + u * u * above
        sorted_costs = self._pair_weight * (1 - others) * np.maximum(squared, 0.0)
        return _unsorted(sorted_costs, order)

    def value_and_gradient(self, scores: Array, confidences: Array) -> tuple[float, Array]:
        """Return the loss and its gradient (n, K) with respect to the scores."""
        order, u, others = self._sorted(scores)
        mass = np.take_along_axis(confidences, order, axis=1)  # 0 for labels not candidates
        pull_up = mass * (_sums_from_above(others * u) - u * _sums_from_above(others))
        push_down = others * (u * np.cumsum(mass, axis=1) - np.cumsum(mass * u, axis=1))
        sorted_gradient = 2 * self._pair_weight * (push_down - pull_up)
        # The loss is homogeneous of degree 2 in u, so that Euler's theorem gives its value.
        return 0.5 * float(np.vdot(sorted_gradient, u)), _unsorted(sorted_gradient, order)

    def _sorted(self, scores: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Return the order of each row of u, and in this order u and which are no candidates."""
        shifted = scores - self._candidates
        order = np.argsort(shifted, axis=1)
        others = 1 - np.take_along_axis(self._candidates, order, axis=1)
        return order, np.take_along_axis(shifted, order, axis=1), others


def _sums_from_above(values: Array) -> Array:
    """Return for each entry the sum of its row from there to the end."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _unsorted(values: Array, order: NDArray[np.intp]) -> Array:
    """Put sorted columns back where they came from."""
    restored = np.empty_like(values)
    np.put_along_axis(restored, order, values, axis=1)
    return restored
