"""The selection likelihood once more, by another algorithm: what the fast one is held against."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def selection_log_likelihood_reference(
    probabilities: NDArray[np.float64],
    complementary: NDArray[np.uint8],
    *,
    relevant: NDArray[np.uint8] | None = None,
) -> NDArray[np.float64]:
    """Compute the log-probability that a uniform annotator names just these labels.

    By the distribution of the number of irrelevant labels (Poisson-binomial, by dynamic
    programming) and the mean of 1 / C(N, m) under it: no integral, no logarithm, no torch, one
    row at a time.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K)
        p, the probability of each label to be relevant.
    complementary : ndarray of shape (n, K)
        Indicator of the m labels named; at least one per row.
    relevant : ndarray of shape (n, K) or None, default=None
        Indicator of labels known to apply.

    Returns
    -------
    ndarray of shape (n,), float64
        log q_S, plus the sum of log p_k over labels known to be relevant.

    Examples
    --------
    >>> chance = np.exp(selection_log_likelihood_reference(np.full((1, 3), 0.5), np.eye(3)[:1]))
    >>> chance.round(4)  # 7/24
    array([0.2917])
    """
    known = np.zeros_like(complementary) if relevant is None else relevant
    rows = zip(probabilities, complementary > 0, known > 0, strict=True)
    return np.array([_of_row(p, chosen, told) for p, chosen, told in rows])


def _of_row(p: NDArray[np.float64], chosen: NDArray[np.bool_], told: NDArray[np.bool_]) -> float:
    """Return one row's log-likelihood."""
    m = int(chosen.sum())
    others = irrelevant_count_distribution(p[~chosen & ~told])
    mean = sum(share / math.comb(m + more, m) for more, share in enumerate(others))
    return float(np.log(mean) + np.log1p(-p[chosen]).sum() + np.log(p[told]).sum())


def irrelevant_count_distribution(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities, shape (K + 1,), that 0, 1, ..., K labels are irrelevant.

    Parameters
    ----------
    p : ndarray of shape (K,)
        Probability of each label to be relevant.

    Returns
    -------
    ndarray of shape (K + 1,), float64
    """
    distribution = np.array([1.0])
    for probability in p:
        distribution = np.convolve(distribution, [probability, 1 - probability])
    return distribution
