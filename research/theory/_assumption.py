"""The assumption ybar = T^T y, on which the paper's consistency theorem rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._label_sets import label_sets
from research.theory._transition import exact_transition

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from research.theory._joint import JointDistribution


@dataclass(frozen=True, eq=False)
class Assumption:
    """How far E[ybar|Y] is from T^T y at each label set that can occur."""

    size: NDArray[np.float64]
    """(2**K - 2,), the number of labels in each Y."""
    distance: NDArray[np.float64]
    """(..., 2**K - 2), the sum of ``|E[ybar_j|Y] - (T^T y)_j|`` over j; NaN where p(Y) = 0."""
    normalized_distance: NDArray[np.float64]
    """(..., 2**K - 2), the same sum with ``T^T y / |Y|``, which sums to 1 over the labels."""
    mean_distance: NDArray[np.float64]
    """(...,), the mean of ``distance`` over p(Y)."""


def check_assumption(distribution: JointDistribution, choice: NDArray[np.float64]) -> Assumption:
    """Compute how far the assumption ybar = T^T y is from the truth, with the exact T.

    The left side sums to 1 over the labels, and the right side sums to ``|Y|``. So the distance
    is at least ``|Y| - 1``, and the assumption fails wherever more than one label applies. If
    exactly one label always applies, the assumption holds in expectation.

    Parameters
    ----------
    distribution : JointDistribution
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).

    Returns
    -------
    Assumption

    Raises
    ------
    InputError
        If the choice is for another number of labels.
    """
    sets = label_sets(distribution.n_labels)
    size = sets.sum(axis=1)
    chances = distribution.sets
    # A label that never applies has no row in T. The sets that contain it never occur.
    implied = sets @ np.nan_to_num(exact_transition(distribution, choice))

    def distance(right: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(chances > 0, np.abs(choice - right).sum(axis=-1), np.nan)

    away = distance(implied)
    return Assumption(
        size=size,
        distance=away,
        normalized_distance=distance(implied / size[:, np.newaxis]),
        mean_distance=np.asarray(np.nansum(chances * away, axis=-1)),
    )
