"""Candidates at random, and the rank loss of PML-lc and PML-fp by its definition."""

import numpy as np


def costs_by_pairs(scores, candidates, weight):
    """Sum over pairs of a candidate and another label."""
    costs = np.zeros_like(scores)
    for i, row in enumerate(candidates):
        inside, outside = np.flatnonzero(row), np.flatnonzero(row == 0)
        for j in inside:
            hinges = [max(0.0, 1 - scores[i, j] + scores[i, k]) ** 2 for k in outside]
            costs[i, j] = weight * sum(hinges) / (len(inside) * len(outside))
    return costs


def random_candidates(rng, shape):
    """Rows with at least one 1 and one 0."""
    candidates = (rng.random(shape) < 0.6).astype(float)
    candidates[:, 0], candidates[:, 1] = 1, 0
    return rng.permuted(candidates, axis=1)
