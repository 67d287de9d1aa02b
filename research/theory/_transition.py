"""Transition matrices of a known distribution: the exact one, and the limits of estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._label_sets import label_sets

from complabel.errors import InputError, TransitionError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from research.theory._joint import JointDistribution


def complementary_probabilities(
    distribution: JointDistribution, choice: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return p(ybar_j = 1 | x), the prediction of a perfect classifier of complementary labels.

    Parameters
    ----------
    distribution : JointDistribution
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y), for example from :func:`uniform_choice`.

    Returns
    -------
    ndarray of shape (..., m, K), float64
        The left side of equation (3) of the paper.

    Raises
    ------
    InputError
        If the choice is for another number of labels.
    """
    return np.asarray(distribution.conditional @ _same_labels(distribution, choice))


def exact_transition(
    distribution: JointDistribution, choice: NDArray[np.float64], *, given_x: bool = False
) -> NDArray[np.float64]:
    """Return the exact K x K transition matrix, T_kj = p(ybar_j = 1 | y_k = 1).

    Parameters
    ----------
    distribution : JointDistribution
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).
    given_x : bool, default=False
        Whether to return a matrix for each x, with p(ybar_j = 1 | y_k = 1, x).

    Returns
    -------
    ndarray of shape (..., K, K) or (..., m, K, K), float64
        T. The row of a label that never applies is NaN.

    Raises
    ------
    InputError
        If the choice is for another number of labels.

    Examples
    --------
    >>> from research.theory import JointDistribution, uniform_choice
    >>> always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)  # {0, 1} at the only x
    >>> exact_transition(always, uniform_choice(3))
    array([[ 0.,  0.,  1.],
           [ 0.,  0.,  1.],
           [nan, nan, nan]])
    """
    rule = _same_labels(distribution, choice)
    chances = distribution.sets
    if given_x:
        chances, rule = distribution.conditional, rule[..., np.newaxis, :, :]
    sets = label_sets(distribution.n_labels)
    joint = (sets.T * chances[..., np.newaxis, :]) @ rule  # p(y_k = 1, ybar_j = 1)
    frequencies = (chances @ sets)[..., np.newaxis]
    matrix: NDArray[np.float64] = np.full(joint.shape, np.nan)
    np.divide(joint, frequencies, out=matrix, where=frequencies > 0)
    return matrix


@dataclass(frozen=True, eq=False)
class EstimatedTransitions:
    """The limits of the method's matrices, for endless data and a perfect classifier g."""

    initial: NDArray[np.float64]
    """(..., K, K), S as equation (6) and the algorithm estimate it. The diagonal is 0."""
    printed_initial: NDArray[np.float64]
    """(..., K, K), S as equation (5) defines it: p(ybar_j = 1 | yhat_k = 1), and 0 on the
    diagonal."""
    correlation: NDArray[np.float64]
    """(..., K, K), C, the co-occurrence of candidate labels. The diagonal is 1."""
    corrected: NDArray[np.float64]
    """(..., K, K), T = S C^T with the S of equation (6). The diagonal is 0 and rows sum to 1."""


def estimated_transitions(
    distribution: JointDistribution, choice: NDArray[np.float64]
) -> EstimatedTransitions:
    """Return S, C and T as the method estimates them, in the limit of endless data.

    Equations (5) and (6) differ, because ybar and the candidates are not independent given x:
    the candidates are all labels except ybar. The S of equation (5) and C depend on p(ybar)
    only, and not on x or Y.

    Parameters
    ----------
    distribution : JointDistribution
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).

    Returns
    -------
    EstimatedTransitions

    Raises
    ------
    InputError
        If the choice is for another number of labels.
    TransitionError
        If some label is complementary for every item, so that it is never a candidate.
    """
    predicted = complementary_probabilities(distribution, choice)  # q(x), (..., m, K)
    weighted = distribution.weights[..., np.newaxis] * predicted
    shares = weighted.sum(axis=-2)  # p(ybar_j), (..., K)
    if not (shares < 1).all():
        raise TransitionError("a label is complementary for every item and a candidate of none")
    as_candidate = distribution.weights[..., np.newaxis] - weighted  # p(x, yhat_k = 1)
    remaining = 1 - shares[..., :, np.newaxis]  # p(yhat_k = 1)
    off_diagonal = 1 - np.eye(distribution.n_labels)
    initial = off_diagonal * (as_candidate.swapaxes(-1, -2) @ predicted) / remaining
    printed = off_diagonal * shares[..., np.newaxis, :] / remaining
    correlation = 1 - printed  # (1 - q_k - q_j) / (1 - q_k), and 1 on the diagonal
    corrected = off_diagonal * (initial @ correlation.swapaxes(-1, -2))
    totals = corrected.sum(axis=-1, keepdims=True)
    return EstimatedTransitions(initial, printed, correlation, corrected / totals)


def multiclass_transition(
    distribution: JointDistribution, choice: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return Q, the matrix that multi-class methods estimate from anchor points.

    Row k is p(ybar|x) at the first x where p(Y = {k} | x) is largest. If this probability is 1,
    the x is an anchor of label k. If it is below 1, label k has no anchor, and the estimate
    uses this x all the same. Patrini et al. (2017) and Yu et al. (2018) use the instance of
    highest posterior in the same way.

    Parameters
    ----------
    distribution : JointDistribution
    choice : ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).

    Returns
    -------
    Q : ndarray of shape (..., K, K), float64
    anchored : ndarray of shape (..., K), bool
        Which labels have an anchor.

    Raises
    ------
    InputError
        If the choice is for another number of labels.
    """
    single = 2 ** np.arange(distribution.n_labels) - 1
    purity = distribution.conditional[..., single]  # p(Y = {k} | x), (..., m, K)
    best = purity.argmax(axis=-2)[..., np.newaxis]  # (..., K, 1)
    predicted = complementary_probabilities(distribution, choice)
    anchored = np.isclose(purity.max(axis=-2), 1, rtol=0, atol=1e-12)
    return np.take_along_axis(predicted, best, axis=-2), anchored


def distortion(
    transition: NDArray[np.float64], estimate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the distance of a matrix from the exact one for each column (equation 4).

    Parameters
    ----------
    transition, estimate : ndarray of shape (..., K, K), float64
        The exact matrix T and the other matrix Q. Rows that are NaN in T are left out.

    Returns
    -------
    ndarray of shape (..., K), float64
        l_j, the sum of ``|T_kj - Q_kj|`` over k.
    """
    return np.asarray(np.nansum(np.abs(transition - estimate), axis=-2))


def _same_labels(
    distribution: JointDistribution, choice: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the rule p(ybar|Y), and refuse one for another number of labels."""
    expected = (distribution.conditional.shape[-1], distribution.n_labels)
    if choice.shape[-2:] != expected:
        raise InputError(f"choice has shape {choice.shape}; this distribution needs {expected}")
    return choice
