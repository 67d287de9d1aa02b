"""Theorem 1, which compares p(ybar|x) with T^T p(y|x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._label_sets import label_sets
from research.theory._transition import complementary_probabilities, exact_transition

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from research.theory._joint import JointDistribution


@dataclass(frozen=True, eq=False)
class Theorem1:
    """Both sides of Theorem 1 at each x, for each complementary label.

    The theorem as printed says ``left >= right``. In truth ``left <= given_x`` and
    ``given_x == cardinality * left + covariance`` hold. Both also hold on average over x with
    ``right`` in place of ``given_x``.
    """

    left: NDArray[np.float64]
    """(..., m, K), p(ybar_j = 1 | x)."""
    right: NDArray[np.float64]
    """(..., m, K), the sum over k of T_kj p(y_k = 1 | x), with one T for all x."""
    given_x: NDArray[np.float64]
    """(..., m, K), the same sum with T_kj = p(ybar_j = 1 | y_k = 1, x)."""
    cardinality: NDArray[np.float64]
    """(..., m, 1), ``E[|Y| | x]``."""
    covariance: NDArray[np.float64]
    """(..., m, K), ``Cov(|Y|, ybar_j | x)``."""


def check_theorem_1(distribution: JointDistribution, choice: NDArray[np.float64]) -> Theorem1:
    """Compute both sides of Theorem 1, and the terms of the corrected statement.

    Parameters
    ----------
    distribution : JointDistribution
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).

    Returns
    -------
    Theorem1

    Raises
    ------
    InputError
        If the choice is for another number of labels.

    Examples
    --------
    In the smallest counterexample, labels 0 and 1 always apply, so label 2 is always named:

    >>> from research.theory import JointDistribution, uniform_choice
    >>> always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)
    >>> sides = check_theorem_1(always, uniform_choice(3))
    >>> sides.left, sides.right
    (array([[0., 0., 1.]]), array([[0., 0., 2.]]))
    """
    left = complementary_probabilities(distribution, choice)
    marginals = distribution.marginals
    # A label that never applies has no row in T, and no weight in the sums.
    shared = np.nan_to_num(exact_transition(distribution, choice))
    at_x = np.nan_to_num(exact_transition(distribution, choice, given_x=True))
    size = label_sets(distribution.n_labels).sum(axis=1)
    cardinality = (distribution.conditional @ size)[..., np.newaxis]
    together = (distribution.conditional * size) @ choice  # E[|Y| ybar_j | x]
    return Theorem1(
        left=left,
        right=np.asarray(marginals @ shared),
        given_x=np.asarray((marginals[..., np.newaxis, :] @ at_x)[..., 0, :]),
        cardinality=cardinality,
        covariance=together - cardinality * left,
    )
