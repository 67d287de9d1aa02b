"""L-BFGS on a linear map, against scikit-learn's logistic regression and closed forms."""

import numpy as np
import pytest
from scipy import sparse, special
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from complabel._training import LinearMap, Scaling, minimize_linear
from complabel.errors import InputError

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
    """Independent logistic losses, summed over outputs and averaged over rows."""

    def objective(logits):
        value = np.logaddexp(0, logits).sum() - (Y * logits).sum()
        return float(value) / N, (special.expit(logits) - Y) / N

    return objective


def zero(n_outputs=K):
    return LinearMap(coef=np.zeros((n_outputs, D)), intercept=np.zeros(n_outputs))


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
    found = minimize_linear(X, cross_entropy, start=zero(), alpha=0.02, tolerance=1e-14)
    expected = oracle(X, Y, 0.02)
    assert found.converged
    np.testing.assert_allclose(found.model.coef, expected.coef, atol=1e-5)
    np.testing.assert_allclose(found.model.intercept, expected.intercept, atol=1e-5)


def test_the_value_is_the_objective_with_its_penalty(X, cross_entropy):
    found = minimize_linear(X, cross_entropy, start=zero(), alpha=0.02)
    data_term, _ = cross_entropy(found.model(X))
    assert found.value == pytest.approx(data_term + 0.02 * np.sum(found.model.coef**2))


def test_a_scaling_is_as_if_carried_out(X, Y, cross_entropy):
    scaler = StandardScaler().fit(X)
    scaling = Scaling(shift=scaler.mean_, factor=1 / scaler.scale_)
    found = minimize_linear(
        X, cross_entropy, start=zero(), alpha=0.02, scaling=scaling, tolerance=1e-14
    )
    expected = oracle(scaler.transform(X), Y, 0.02)
    np.testing.assert_allclose(found.model(X), expected(scaler.transform(X)), atol=1e-5)
    np.testing.assert_allclose(scaling.to_scaled(found.model).coef, expected.coef, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_features_are_multiplied_as_they_are(X, cross_entropy, dtype, monkeypatch):
    X = np.where(np.abs(X - 0.3) < 1e-9, 0, X).astype(dtype)
    scaling = Scaling(shift=X.mean(axis=0, dtype=float), factor=1 / X.std(axis=0, dtype=float))
    settings = {"start": zero(), "alpha": 0.02, "scaling": scaling, "tolerance": 1e-13}
    expected = minimize_linear(X, cross_entropy, **settings)

    def refuse(*_args, **_kwargs):
        raise AssertionError("sparse features were made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, name, refuse)
        monkeypatch.setattr(sparse.csc_array, name, refuse)
    found = minimize_linear(sparse.csr_array(X), cross_entropy, **settings)
    np.testing.assert_allclose(found.model.coef, expected.model.coef, atol=1e-6)


def test_squares_equal_ridge_regression(X):
    target = np.random.default_rng(2).normal(size=(N, K))

    def squares(logits):
        error = logits - target
        return float(np.sum(error**2)) / N, 2 * error / N

    found = minimize_linear(X, squares, start=zero(), alpha=0.1, tolerance=1e-15)
    expected = Ridge(alpha=0.1 * N).fit(X, target)
    np.testing.assert_allclose(found.model.coef, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(found.model.intercept, expected.intercept_, atol=1e-6)


def test_a_start_at_the_optimum_stays_there(X, cross_entropy):
    scaling = Scaling(shift=X.mean(axis=0), factor=1 / X.std(axis=0))
    settings = {"alpha": 0.02, "scaling": scaling, "tolerance": 1e-10}
    cold = minimize_linear(X, cross_entropy, start=zero(), **settings)
    warm = minimize_linear(X, cross_entropy, start=cold.model, **settings)
    assert cold.n_iter > 5
    assert warm.n_iter <= 2
    np.testing.assert_allclose(warm.model.coef, cold.model.coef, atol=1e-4)


def test_two_runs_give_the_same_weights(X, cross_entropy):
    runs = [minimize_linear(X, cross_entropy, start=zero(), alpha=0.02) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].model.coef, runs[1].model.coef)


def test_a_looser_tolerance_takes_fewer_iterations(X, cross_entropy):
    strict, loose = (
        minimize_linear(X, cross_entropy, start=zero(), alpha=0.02, tolerance=tolerance)
        for tolerance in (1e-10, 1e-3)
    )
    assert loose.n_iter < strict.n_iter
    assert loose.value > strict.value


def test_every_iteration_is_reported_with_a_falling_value(X, cross_entropy):
    seen = []
    found = minimize_linear(
        X, cross_entropy, start=zero(), alpha=0.02, on_iteration=lambda *args: seen.append(args)
    )
    assert [number for number, _, _ in seen] == list(range(1, found.n_iter + 1))
    assert {most for _, most, _ in seen} == {500}
    values = [value for _, _, value in seen]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(found.value)


def test_too_few_iterations_are_warned_of(X, cross_entropy):
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=3 before it converged"):
        found = minimize_linear(X, cross_entropy, start=zero(), max_iter=3)
    assert not found.converged
    assert found.n_iter == 3
    quiet = minimize_linear(X, cross_entropy, start=zero(), max_iter=3, warn=False)
    assert not quiet.converged


@pytest.mark.parametrize(
    "settings", [{"alpha": -1.0}, {"tolerance": -1e-3}, {"max_iter": 0}], ids=str
)
def test_parameters_are_checked(settings, X, cross_entropy):
    (name,) = settings
    with pytest.raises(InputError, match=f"{name} must be"):
        minimize_linear(X, cross_entropy, start=zero(), **settings)
