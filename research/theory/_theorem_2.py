"""Theorem 2 and its corollary, about T from label correlations and its distance from Q."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._label_sets import label_sets
from research.theory._transition import (
    complementary_probabilities,
    exact_transition,
    multiclass_transition,
)

from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from research.theory._joint import JointDistribution


@dataclass(frozen=True, eq=False)
class Theorem2:
    """The identities and the bound for s dependent labels z and the J = K - s other labels j.

    A value is NaN if a conditional probability in it is not defined. Distortions are sums over
    the dependent labels. The paper assumes that the rest of the column is the same in T and Q.
    """

    exact: NDArray[np.float64]
    """(..., m, s, J), T_zj = p(ybar_j = 1 | y_z = 1, x)."""
    printed: NDArray[np.float64]
    """(..., m, s, J), T_zj by the formula of the paper."""
    bayes: NDArray[np.float64]
    """(..., m, s, J), T_zj by p(ybar_j | x) p(y_z | ybar_j, x) / p(y_z | x)."""
    bound: NDArray[np.float64]
    """(..., m, J), s (1 / xi**s - 1) p(ybar_j | x), the printed lower bound of the distortion."""
    covariance: NDArray[np.float64]
    """(..., m, J), Cov(N, ybar_j | x), where N is the number of dependent labels in Y. Its
    absolute value is a lower bound of the distortion that holds."""
    distortion: NDArray[np.float64]
    """(..., m, J), the distortion with T given x and Q_zj = p(ybar_j | x), as in the proof."""
    shared_distortion: NDArray[np.float64]
    """(..., m, J), the distortion with one T for all x and Q_zj = p(ybar_j | x)."""
    anchor_distortion: NDArray[np.float64]
    """(..., m, J), the distortion with one T for all x and the Q of
    :func:`multiclass_transition`, which is also the same at each x."""


def check_theorem_2(
    distribution: JointDistribution, choice: NDArray[np.float64], *, n_dependent: int = 2
) -> Theorem2:
    """Compute both sides of Theorem 2 (two dependent labels) or of its corollary (more).

    Parameters
    ----------
    distribution : JointDistribution
        A distribution whose first labels are the dependent ones, for example from
        :meth:`JointDistribution.dependent`.
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).
    n_dependent : int, default=2
        s, from 2 to K - 1.

    Returns
    -------
    Theorem2

    Raises
    ------
    InputError
        If there are fewer than two dependent labels, or no other labels, or the choice is for
        another number of labels.

    Examples
    --------
    The sets {0}, {1} and {0, 1} are equally likely. The true distortion is 1/6, and the printed
    "lower bound" is 5/3:

    >>> from research.theory import JointDistribution, uniform_choice
    >>> pair = JointDistribution.dependent([[1 / 3, 1 / 3, 1 / 3]], n_labels=3)
    >>> sides = check_theorem_2(pair, uniform_choice(3))
    >>> sides.distortion.round(4), sides.bound.round(4)
    (array([[0.1667]]), array([[1.6667]]))
    """
    s = n_dependent
    if not 2 <= s < distribution.n_labels:
        raise InputError(f"n_dependent is {s}; give 2 to {distribution.n_labels - 1}")
    sets, conditional = label_sets(distribution.n_labels)[:, :s], distribution.conditional
    rule = choice[..., s:]
    named = complementary_probabilities(distribution, choice)[..., s:]  # (..., m, J)
    relevant = conditional @ sets  # p(y_z | x), (..., m, s)
    with_label = (conditional[..., np.newaxis, :] * sets.T) @ rule[..., np.newaxis, :, :]
    number = sets.sum(axis=1)
    all_apply = (conditional * (number == s)) @ rule  # p(ybar_j, every z applies | x), (..., m, J)
    others = number[:, np.newaxis] - sets == s - 1  # every dependent label but z applies
    with_others = (conditional[..., np.newaxis, :] * others.T) @ rule[..., np.newaxis, :, :]
    xi = _ratio(all_apply[..., np.newaxis, :], with_others).max(axis=-2)
    exact = exact_transition(distribution, choice, given_x=True)[..., :s, s:]
    # This ratio equals the chain p(y_z2 | ybar_j, y_z1, x) ... p(y_zs | ybar_j, y_z1, ..., x).
    chain = _ratio(all_apply[..., np.newaxis, :], with_label)
    here = named[..., np.newaxis, :]  # (..., m, 1, J)
    apart = relevant[..., np.newaxis]  # (..., m, s, 1)
    shared = exact_transition(distribution, choice)[..., np.newaxis, :s, s:]
    anchor = multiclass_transition(distribution, choice)[0][..., np.newaxis, :s, s:]
    return Theorem2(
        exact=exact,
        printed=_ratio(here, chain * apart),
        bayes=_ratio(here * _ratio(with_label, here), apart),
        bound=_ratio(s * (1 - xi**s) * named, xi**s),
        covariance=(conditional * number) @ rule - relevant.sum(axis=-1, keepdims=True) * named,
        distortion=np.abs(exact - here).sum(axis=-2),
        shared_distortion=np.abs(shared - here).sum(axis=-2),
        anchor_distortion=np.broadcast_to(np.abs(shared - anchor).sum(axis=-2), named.shape),
    )


def _ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide; NaN where the denominator is 0, whose event never happens."""
    top, bottom = np.broadcast_arrays(numerator, denominator)
    ratio: NDArray[np.float64] = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=ratio, where=bottom != 0)
    return ratio
