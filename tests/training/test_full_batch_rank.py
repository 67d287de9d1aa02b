"""Full-batch training with a low rank, and with further unknowns: optima by other means."""

import numpy as np
import pytest
import torch
from tests.training import objectives

from complabel._training import minimize_linear

N, D, K = 150, 5, 4
SETTINGS = {"tolerance": 1e-15, "max_iter": 5000}


@pytest.fixture(scope="module", name="X")
def _features():
    return np.random.default_rng(0).normal(size=(N, D)) * np.arange(1, D + 1) / 2 + 0.4


@pytest.fixture(scope="module", name="Y")
def _targets(X):
    rng = np.random.default_rng(1)
    scores = X @ rng.normal(size=(D, 2)) @ rng.normal(size=(2, K)) / 3
    return (scores + rng.logistic(size=(N, K)) > 0.3).astype(float)


@pytest.fixture(scope="module")
def squares(X):
    """Squared errors of targets that no map of low rank meets."""
    target = X @ np.random.default_rng(2).normal(size=(D, K))
    target = target + np.random.default_rng(3).normal(size=(N, K))
    return target, objectives.squares(target)


@pytest.fixture(scope="module")
def cross_entropy(Y):
    return objectives.cross_entropy(Y)


def zero():
    return objectives.zero(K, D)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_low_rank_of_squares_is_reduced_rank_regression(rank, X, squares):
    target, objective = squares
    found = minimize_linear(X, objective, start=[zero()], rank=rank, **SETTINGS)
    # Eckart and Young: the best fit of the rank keeps the first directions of the full fit.
    centred, of_target = X - X.mean(axis=0), target - target.mean(axis=0)
    full, *_ = np.linalg.lstsq(centred, of_target, rcond=None)
    _, _, directions = np.linalg.svd(centred @ full)
    best = full @ directions[:rank].T @ directions[:rank]
    np.testing.assert_allclose(found.models[0].coef, best.T, atol=1e-5)
    value = np.sum((centred @ best - of_target) ** 2) / N
    assert found.values == pytest.approx(value, rel=1e-9)
    assert np.linalg.matrix_rank(found.models[0].coef, tol=1e-9) == rank


def test_a_start_of_full_rank_loses_what_is_too_much(X, cross_entropy):
    settings = {"alpha": 0.02, "rank": 2, **SETTINGS}
    full = minimize_linear(X, cross_entropy, start=[zero()], alpha=0.02)
    cold = minimize_linear(X, cross_entropy, start=[zero()], **settings)
    warm = minimize_linear(X, cross_entropy, start=full.models, **settings)
    assert np.linalg.matrix_rank(warm.models[0].coef, tol=1e-9) == 2
    assert warm.values == pytest.approx(cold.values, rel=1e-8)


def test_further_unknowns_get_their_optimum(X, squares):
    """Each row has a group with an offset, of which a norm is part of the objective."""
    target, _ = squares
    group = np.arange(N) % 3
    rng = np.random.default_rng(5)
    moved = target + np.array([-2.0, 0.5, 3.0])[group][:, None] + rng.normal(size=(N, K))

    def at(logits, offsets):
        error = logits + offsets[group][:, None] - moved
        value = float(np.sum(error**2)) / N + 0.1 * float(np.sum(offsets**2))
        slopes = 2 * np.bincount(group, weights=error.sum(axis=1)) / N + 0.2 * offsets
        return value, 2 * error / N, slopes

    def objective(logits, offsets):
        value, *slopes = at(logits.numpy(), offsets[0].numpy())
        through_logits, through_offsets = (torch.from_numpy(slope) for slope in slopes)
        return torch.tensor([value], dtype=torch.float64), through_logits, through_offsets[None]

    found = minimize_linear(
        X, objective, start=[zero()], others=np.zeros((1, 3)), alpha=0.05, **SETTINGS
    )
    assert found.others.shape == (1, 3)
    (offsets,) = found.others
    # All is linear: one system of equations.
    design = np.hstack([X, np.ones((N, 1))])
    rows = np.kron(design, np.eye(K))  # (N K, (D + 1) K)
    rows = np.hstack([rows, np.repeat(np.eye(3)[group], K, axis=0)]) / np.sqrt(N)
    ridge = np.diag(np.repeat([0.05, 0, 0.1], [D * K, K, 3]))
    best = np.linalg.solve(rows.T @ rows + ridge, rows.T @ moved.ravel() / np.sqrt(N))
    np.testing.assert_allclose(offsets, best[-3:], atol=1e-5)
    np.testing.assert_allclose(found.models[0].coef.T.ravel(), best[: D * K], atol=1e-5)
