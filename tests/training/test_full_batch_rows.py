"""Full-batch training of several maps, of low rank, with further unknowns, on odd features."""

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.training import objectives

from complabel._training import Scaling, Spread, minimize_linear

N, D, K = 150, 5, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1, 2, 0.5, 3, 1] + 0.5
Y = (X @ RNG.normal(size=(D, K)) / 2 + RNG.logistic(size=(N, K)) > 0.3).astype(float)
ROWS = [RNG.permutation(N)[:size] for size in (60, 100, 140)]
SCALING = Scaling(X.mean(axis=0), 1 / X.std(axis=0))
SETTINGS = {"start": [objectives.zero(K, D)], "alpha": 0.02, "tolerance": 1e-14}
TIGHT = {"tolerance": 1e-15, "max_iter": 5000}
# Targets of squares, which no map of low rank meets.
TARGET = X @ RNG.normal(size=(D, K)) + RNG.normal(size=(N, K))
# alpha times the squared distance is less than what the objective can still fall.
NEAR = {"rtol": 0, "atol": 3 * np.sqrt(1e-14 / 0.02)}


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_several_at_once_are_as_each_alone(kind, rank):
    settings = {**SETTINGS, "scaling": SCALING, "rank": rank, "max_iter": 2000}
    starts = [objectives.zero(K, D)] * 3
    objective = objectives.cross_entropy(*(Y[rows] for rows in ROWS))
    together = minimize_linear(kind(X), objective, rows=ROWS, **settings | {"start": starts})
    for rows, model, value in zip(ROWS, together.models, together.values, strict=True):
        of_rows = objectives.cross_entropy(Y[rows])
        alone = minimize_linear(kind(X[rows]), of_rows, **settings)
        assert value == pytest.approx(alone.values[0], rel=1e-13)
        scaled, expected = (m.coef / SCALING.factor for m in (model, alone.models[0]))
        # A product has flat directions where its factors are near 0, but not here.
        np.testing.assert_allclose(scaled, expected, **NEAR)


def test_the_logits_are_those_of_each_map():
    objective = objectives.cross_entropy(*(Y[rows] for rows in ROWS))
    settings = SETTINGS | {"start": [objectives.zero(K, D)] * 3}
    found = minimize_linear(X, objective, rows=ROWS, **settings)
    others = [np.setdiff1d(np.arange(N), rows) for rows in ROWS]
    for logits, model in zip(found.logits, found.models, strict=True):
        np.testing.assert_allclose(logits.t(), model(X), atol=1e-10)
    expected = [model(X[rest]) for model, rest in zip(found.models, others, strict=True)]
    np.testing.assert_allclose(found.logits_of(others), np.vstack(expected), atol=1e-10)


def test_maps_that_start_at_zero_find_their_way_beside_others():
    """Of a low rank, the product 0 has no slope: such a map starts elsewhere."""
    settings = SETTINGS | {"rank": 1, "max_iter": 2000}
    alone = [minimize_linear(X[at], objectives.cross_entropy(Y[at]), **settings) for at in ROWS]
    starts = [alone[0].models[0], objectives.zero(K, D), alone[2].models[0]]
    objective = objectives.cross_entropy(*(Y[rows] for rows in ROWS))
    together = minimize_linear(X, objective, rows=ROWS, **settings | {"start": starts})
    expected = [fit.values[0] for fit in alone]
    np.testing.assert_allclose(together.values, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "spread",
    [
        None,
        Spread(np.ones(D)),
        Spread(np.geomspace(1, 100, D), np.linalg.qr(np.vander(range(D)))[0]),
    ],
    ids=["its own", "equal", "wrong"],
)
@pytest.mark.parametrize(
    "curvature", [None, np.eye(K) + 1, np.diag([1.0, 30.0, 0.0])], ids=["none", "full", "wrong"]
)
def test_what_speeds_it_up_does_not_change_what_is_found(spread, curvature):
    # Bad directions gain little by little: until rounding leaves nothing to gain.
    settings = SETTINGS | {"scaling": SCALING, "max_iter": 5000, "tolerance": 0}
    objective = objectives.cross_entropy(Y)
    expected = minimize_linear(X, objective, **settings)
    found = minimize_linear(X, objective, spread=spread, curvature=curvature, **settings)
    assert found.values == pytest.approx(expected.values, rel=1e-12)
    scaled, best = (fits.models[0].coef / SCALING.factor for fits in (found, expected))
    np.testing.assert_allclose(scaled, best, rtol=0, atol=np.sqrt(1e-12 / 0.02))


@pytest.mark.parametrize("tolerance", [0.0, 1e-15])
@pytest.mark.parametrize("d", [1, 20])
def test_rounding_ends_it_in_float32(d, tolerance):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(2000, d))
    targets = (features[:, :1] + rng.logistic(size=(2000, 4)) > 0).astype(float)
    objective = objectives.cross_entropy(targets)
    settings = {"start": [objectives.zero(4, d)], "alpha": 0.01}
    expected = minimize_linear(features, objective, tolerance=1e-14, **settings)
    # A warning would say that it did not end.
    found = minimize_linear(features.astype(np.float32), objective, tolerance=tolerance, **settings)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)
    np.testing.assert_allclose(
        found.models[0].coef, expected.models[0].coef, atol=np.sqrt(1e-6 / 0.01)
    )


@pytest.mark.parametrize("rank", [None, 1])
@pytest.mark.parametrize("n_constant", [1, 3])
def test_constant_features_do_no_harm_without_a_penalty(n_constant, rank):
    features = X[:, :3].copy()
    features[:, -n_constant:] = 2.5
    scaling = Scaling(features.mean(axis=0), np.ones(3))
    found = minimize_linear(
        features,
        objectives.cross_entropy(Y),
        start=[objectives.zero(K, 3)],
        scaling=scaling,
        rank=rank,
        max_iter=2000,
    )
    kept = 3 - n_constant
    settings = {"start": [objectives.zero(K, kept)], "rank": rank if kept else None}
    if kept:
        settings["max_iter"] = 2000
        expected = minimize_linear(features[:, :kept], objectives.cross_entropy(Y), **settings)
        assert found.values == pytest.approx(expected.values, rel=1e-6)
    else:  # only the bias is left: each output's share
        share = Y.mean(axis=0)
        best = -(share * np.log(share) + (1 - share) * np.log(1 - share)).sum()
        assert found.values == pytest.approx(best, rel=1e-7)
    assert np.isfinite(found.models[0].coef).all()


@pytest.mark.parametrize("rank", [1, 2])
def test_a_low_rank_of_squares_is_reduced_rank_regression(rank):
    target, start = TARGET, SETTINGS["start"]
    objective = objectives.squares(target)
    found = minimize_linear(X, objective, start=start, rank=rank, **TIGHT)
    # Eckart and Young: the best fit of the rank keeps the first directions of the full fit.
    centred, of_target = X - X.mean(axis=0), target - target.mean(axis=0)
    full, *_ = np.linalg.lstsq(centred, of_target, rcond=None)
    _, _, directions = np.linalg.svd(centred @ full)
    best = full @ directions[:rank].T @ directions[:rank]
    np.testing.assert_allclose(found.models[0].coef, best.T, atol=1e-5)
    value = np.sum((centred @ best - of_target) ** 2) / N
    assert found.values == pytest.approx(value, rel=1e-9)
    assert np.linalg.matrix_rank(found.models[0].coef, tol=1e-9) == rank


def test_a_start_of_full_rank_loses_what_is_too_much():
    objective, settings = objectives.cross_entropy(Y), SETTINGS | {"rank": 2} | TIGHT
    full = minimize_linear(X, objective, **SETTINGS)
    cold = minimize_linear(X, objective, **settings)
    warm = minimize_linear(X, objective, **settings | {"start": full.models})
    assert np.linalg.matrix_rank(warm.models[0].coef, tol=1e-9) == 2
    assert warm.values == pytest.approx(cold.values, rel=1e-8)


def test_further_unknowns_get_their_optimum():
    """Each row has a group with an offset, of which a norm is part of the objective."""
    group = np.arange(N) % 3
    rng = np.random.default_rng(5)
    moved = TARGET + np.array([-2.0, 0.5, 3.0])[group][:, None] + rng.normal(size=(N, K))

    def at(logits, offsets):
        error = logits + offsets[group][:, None] - moved
        value = float(np.sum(error**2)) / N + 0.1 * float(np.sum(offsets**2))
        slopes = 2 * np.bincount(group, weights=error.sum(axis=1)) / N + 0.2 * offsets
        return value, 2 * error / N, slopes

    def objective(logits, offsets):
        value, *slopes = at(logits.numpy(), offsets[0].numpy())
        through_logits, through_offsets = (torch.from_numpy(slope) for slope in slopes)
        return torch.tensor([value], dtype=torch.float64), through_logits, through_offsets[None]

    settings = SETTINGS | {"alpha": 0.05} | TIGHT
    found = minimize_linear(X, objective, others=np.zeros((1, 3)), **settings)
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
