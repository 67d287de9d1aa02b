import itertools

import numpy as np
import pytest

from complabel.datasets import make_synthetic_problem
from complabel.errors import InputError


def test_probabilities_are_the_stated_model():
    problem = make_synthetic_problem(300, n_features=7, n_labels=5, cardinality=2.0, random_state=4)
    logits = problem.dataset.X @ problem.weights + problem.bias
    np.testing.assert_allclose(problem.probabilities, 1 / (1 + np.exp(-logits)), rtol=1e-12)
    assert problem.probabilities.sum(axis=1).mean() == pytest.approx(2.0, abs=1e-9)
    np.testing.assert_allclose(np.linalg.norm(problem.weights, axis=0), 2.0)


def enumerate_transition(probabilities):
    """T by looping over instances, relevant sets and labels."""
    n_labels = probabilities.shape[1]
    joint, relevant = np.zeros((n_labels, n_labels)), np.zeros(n_labels)
    for f in probabilities:
        sets = [y for y in itertools.product([0, 1], repeat=n_labels) if 0 < sum(y) < n_labels]
        chance = [np.prod([p if y else 1 - p for p, y in zip(f, s, strict=True)]) for s in sets]
        for y, p in zip(sets, np.array(chance) / sum(chance), strict=True):
            for k in range(n_labels):
                relevant[k] += p * y[k]
                for j in range(n_labels):
                    joint[k, j] += p * y[k] * (1 - y[j]) / (n_labels - sum(y))
    return joint / relevant[:, None]


@pytest.mark.parametrize(("n_labels", "cardinality"), [(3, 1.0), (4, 2.5), (5, 0.3)])
def test_the_transition_matrix_by_enumeration(n_labels, cardinality):
    problem = make_synthetic_problem(
        15, n_features=3, n_labels=n_labels, cardinality=cardinality, random_state=1
    )
    expected = enumerate_transition(problem.probabilities)
    np.testing.assert_allclose(problem.transition, expected, rtol=1e-10, atol=1e-14)
    assert (np.diag(problem.transition) == 0).all()
    np.testing.assert_allclose(problem.transition.sum(axis=1), 1.0)


def test_labels_and_uniform_draws_occur_as_often_as_the_model_says():
    n = 40_000
    problem = make_synthetic_problem(n, n_features=3, n_labels=4, cardinality=1.2, random_state=2)
    Y = problem.dataset.Y.astype(float)
    assert ((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)).all()
    f = problem.probabilities
    full, empty = f.prod(axis=1, keepdims=True), (1 - f).prod(axis=1, keepdims=True)
    marginal = (f - full) / (1 - full - empty)
    # Also against the first feature, which a mix-up of rows would miss otherwise.
    for weight in (np.ones(n), problem.dataset.X[:, 0]):
        error = weight @ (Y - marginal)
        spread = np.sqrt((weight**2) @ (marginal * (1 - marginal)))
        assert (np.abs(error) < 4 * spread).all()
    rng = np.random.default_rng(0)
    drawn = np.eye(4)[np.argmax((1 - Y) * rng.random(Y.shape), axis=1)]
    observed = (Y.T @ drawn) / Y.sum(axis=0)[:, None]
    np.testing.assert_allclose(observed, problem.transition, atol=0.015)


def test_many_labels_and_extreme_probabilities_stay_exact():
    problem = make_synthetic_problem(50, n_labels=12, cardinality=0.01, signal=30.0)
    assert (problem.dataset.Y.sum(axis=1) >= 1).all()
    assert np.isfinite(problem.transition).all()


def test_the_seed_decides():
    first, again, other = (make_synthetic_problem(20, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.dataset.X, again.dataset.X)
    np.testing.assert_array_equal(first.dataset.Y, again.dataset.Y)
    assert not np.array_equal(first.dataset.X, other.dataset.X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_samples": 0},
        {"n_features": 0},
        {"n_labels": 2},
        {"n_labels": 13},
        {"cardinality": 0.0},
        {"cardinality": 6.0},
        {"signal": 0.0},
        {"signal": float("nan")},
    ],
)
def test_parameters_out_of_range(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        make_synthetic_problem(**wrong)
