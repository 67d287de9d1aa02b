"""Newton's method in the space of judged rows finds the minimum that the loss has as written."""

import numpy as np
import pytest
from scipy import optimize, special

from complabel._training import DualNewton, Scaling

N, D, K, ALPHA = 24, 5, 3, 0.02
MAPS = [np.arange(16), np.arange(6, 24)]
SCALING = Scaling(np.linspace(-1, 1, D), np.linspace(0.5, 2, D))


def loss_as_written(vector, features, cells, rows, variance):
    """Mean loss of a map of scaled features, with a penalty and a prior of centred biases."""
    weights, bias = vector[:-K].reshape(K, D), vector[-K:]
    logits = features @ weights.T + bias
    told = sum(special.log_expit(sign * logits[row, label]) for row, label, sign in cells)
    if variance is not None:
        means = logits[rows].mean(axis=0)
        told -= np.square(means - means.mean()).sum() / (2 * variance)
    return -told / len(rows) + ALPHA * np.square(weights).sum()


@pytest.mark.parametrize("variances", [None, np.array([0.3, 2.0]), np.array([30.0, 2.0])])
def test_it_finds_the_minimum_of_the_loss_as_written(variances):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    features = (X - SCALING.shift) * SCALING.factor
    cells = [
        [
            (row, label, rng.choice([-1, 1]))
            for row in rows
            for label in range(K)
            if (row + label) % 4
        ]
        for rows in MAPS
    ]
    table = np.array([(at, *cell) for at, each in enumerate(cells) for cell in each]).T
    of_map, row, label, sign = table
    laid = {"row": row, "output": of_map * K + label, "applies": sign > 0}
    newton = DualNewton(features @ features.T, rows=MAPS, **laid, n_outputs=2 * K)
    how = {"constant": np.array([2.0, -3.0, 0.0])}
    starts = [newton.minimize(by * ALPHA, variances, start=None, **how) for by in (10, 1e-3)]
    for start in (None, *starts):
        found = newton.minimize(ALPHA, variances, start=start, **how)
        logits = found.logits([np.arange(N)] * 2).reshape(2, N, K)
        for at, rows in enumerate(MAPS):
            variance = None if variances is None else variances[at]
            given = (features, cells[at], rows, variance)
            best = optimize.minimize(loss_as_written, np.zeros(K * D + K), given, tol=1e-9).x
            expected = features @ best[:-K].reshape(K, D).T + best[-K:]
            np.testing.assert_allclose(logits[at], expected, atol=2e-3)
        # The first map is also one of the features that were not scaled.
        np.testing.assert_allclose(found.as_linear(X, SCALING).models[0](X), logits[0], atol=1e-9)
