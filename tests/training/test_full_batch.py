"""Full-batch training of a linear map, against scikit-learn and closed forms."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tests.refusals import warns
from tests.training import objectives
from tests.training.objectives import cross_entropy_at

from complabel._training import LinearMap, Scaling, minimize_linear

N, D, K = 120, 6, 3


@pytest.fixture(scope="module", name="X")
def _features():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.5) * np.arange(1, D + 1) + 0.3


@pytest.fixture(scope="module", name="Y")
def _targets(X):
    rng = np.random.default_rng(1)
    scores = X @ rng.normal(size=(D, K)) / 3 + rng.logistic(size=(N, K))
    return (scores > 0.5).astype(float)


@pytest.fixture(scope="module")
def cross_entropy(Y):
    return objectives.cross_entropy(Y)


def zero(n_outputs=K):
    return objectives.zero(n_outputs, D)


def near(tolerance, alpha):
    """How far from the optimum weights may be at which the objective is so near its minimum.

    alpha times the squared distance is less than what the objective can still fall. That is a few
    times what the last iterations gained, as these get better and better.
    """
    return {"rtol": 0, "atol": 3 * np.sqrt(tolerance / alpha)}


def oracle(X, Y, alpha):
    """One scikit-learn fit per output: its ridge is w^2 / (2 C), its losses are summed."""
    fits = [
        LogisticRegression(C=1 / (2 * alpha * N), tol=1e-12, max_iter=10_000).fit(X, Y[:, k])
        for k in range(K)
    ]
    return LinearMap(
        coef=np.vstack([fit.coef_ for fit in fits]),
        intercept=np.concatenate([fit.intercept_ for fit in fits]),
    )


def test_equals_logistic_regression(X, Y, cross_entropy):
    found = minimize_linear(X, cross_entropy, start=[zero()], alpha=0.02, tolerance=1e-14)
    expected = oracle(X, Y, 0.02)
    np.testing.assert_allclose(found.models[0].coef, expected.coef, **near(1e-14, 0.02))
    np.testing.assert_allclose(found.models[0].intercept, expected.intercept, **near(1e-14, 0.02))


def test_what_is_reported_belongs_to_the_map(X, Y, cross_entropy):
    found = minimize_linear(X, cross_entropy, start=[zero()], alpha=0.02)
    (model,) = found.models
    value = cross_entropy_at(model(X), Y)[0] + 0.02 * np.sum(model.coef**2)
    np.testing.assert_allclose(found.values, [value], rtol=1e-13)
    assert found.others.shape == (1, 0)
    assert found.logits.shape == (1, K, N)
    np.testing.assert_allclose(found.logits_of(None), model(X), rtol=1e-10, atol=1e-12)


def test_a_scaling_is_as_if_carried_out(X, Y, cross_entropy):
    scaler = StandardScaler().fit(X)
    scaling = Scaling(shift=scaler.mean_, factor=1 / scaler.scale_)
    found = minimize_linear(
        X, cross_entropy, start=[zero()], alpha=0.02, scaling=scaling, tolerance=1e-14
    )
    expected = oracle(scaler.transform(X), Y, 0.02)
    scaled = found.models[0].coef * scaler.scale_
    np.testing.assert_allclose(scaled, expected.coef, **near(1e-14, 0.02))
    np.testing.assert_allclose(found.models[0](X), expected(scaler.transform(X)), atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_features_are_multiplied_as_they_are(X, cross_entropy, dtype, never_dense):
    X = np.where(np.abs(X - 0.3) < 1e-9, 0, X).astype(dtype)
    scaling = Scaling(shift=X.mean(axis=0, dtype=float), factor=1 / X.std(axis=0, dtype=float))
    settings = {"start": [zero()], "alpha": 0.02, "scaling": scaling, "tolerance": 1e-13}
    expected = minimize_linear(X.astype(float), cross_entropy, **settings)

    rows = sparse.csr_array(X)
    never_dense()
    found = minimize_linear(rows, cross_entropy, **settings)
    # Losses of some units that are added up in float32 are right to so much.
    rounding = max(1e-13, 4 * float(np.finfo(dtype).eps))
    scaled, best = (fits.models[0].coef / scaling.factor for fits in (found, expected))
    np.testing.assert_allclose(scaled, best, **near(rounding, 0.02))
    np.testing.assert_allclose(found.values, expected.values, rtol=rounding)


def test_a_start_at_the_optimum_stays_there(X, cross_entropy):
    scaling = Scaling(shift=X.mean(axis=0), factor=1 / X.std(axis=0))
    settings = {"alpha": 0.02, "scaling": scaling, "tolerance": 1e-10}
    cold = minimize_linear(X, cross_entropy, start=[zero()], **settings)
    warm = minimize_linear(X, cross_entropy, start=cold.models, **settings)
    assert cold.n_iter > 5
    assert warm.n_iter == 2  # each gains too little
    np.testing.assert_allclose(warm.models[0].coef, cold.models[0].coef, atol=1e-4)


def test_every_iteration_is_reported_with_a_falling_value(X, cross_entropy):
    seen = []
    found = minimize_linear(
        X, cross_entropy, start=[zero()], alpha=0.02, on_iteration=lambda *args: seen.append(args)
    )
    assert [number for number, _, _ in seen] == list(range(1, found.n_iter + 1))
    assert {most for _, most, _ in seen} == {500}
    values = [value for _, _, value in seen]
    assert np.diff(values).max() <= np.finfo(float).eps * max(1, values[-1])  # but for rounding
    assert values[-1] == found.values


def test_too_few_iterations_are_warned_of(X, cross_entropy):
    with warns(ConvergenceWarning, "max_iter=3"):
        found = minimize_linear(X, cross_entropy, start=[zero()], max_iter=3)
    assert found.n_iter == 3
    minimize_linear(X, cross_entropy, start=[zero()], max_iter=3, warn=False)
