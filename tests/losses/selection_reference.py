"""The selection likelihood once more, by another algorithm: what the fast one is held against."""

import math

import numpy as np


def selection_log_likelihood_reference(probabilities, complementary, *, relevant=None):
    """Compute the log-probability (n,) that a uniform annotator names just these labels.

    By the distribution of the number of irrelevant labels and the mean of 1 / C(N, m) under it: no
    integral, no logarithm, no torch, one row at a time. All arrays have shape (n, K).
    """
    known = np.zeros_like(complementary) if relevant is None else relevant
    rows = zip(probabilities, complementary > 0, known > 0, strict=True)
    return np.array([_of_row(p, chosen, told) for p, chosen, told in rows])


def _of_row(p, chosen, told):
    """Return one row's log-likelihood."""
    m = int(chosen.sum())
    others = irrelevant_count_distribution(p[~chosen & ~told])
    mean = sum(share / math.comb(m + more, m) for more, share in enumerate(others))
    return float(np.log(mean) + np.log1p(-p[chosen]).sum() + np.log(p[told]).sum())


def irrelevant_count_distribution(p):
    """Return the probabilities (K + 1,) that 0, 1, ..., K labels are irrelevant.

    By dynamic programming (Poisson-binomial), from the labels' probabilities (K,) to be relevant.
    """
    distribution = np.array([1.0])
    for probability in p:
        distribution = np.convolve(distribution, [probability, 1 - probability])
    return distribution
