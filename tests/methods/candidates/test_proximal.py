"""Proximal operators: hand-worked values, a numerical minimizer, and optimality conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize

from complabel.methods.candidates._proximal import singular_value_threshold, soft_threshold

# Slender, wide and near square, since each takes its own way to the singular values.
SHAPES = st.sampled_from([(9, 2), (2, 9), (4, 3), (3, 3), (1, 1)])
MATRICES = SHAPES.flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.floats(-10, 10, width=32))
)
AMOUNTS = st.floats(0.01, 20)


def shrunk_by_svd(matrix, amount):
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ np.diag(np.maximum(values - amount, 0)) @ right


@given(MATRICES, AMOUNTS)
def test_singular_values_shrink_and_singular_vectors_stay(matrix, amount):
    assert_allclose(
        singular_value_threshold(matrix, amount), shrunk_by_svd(matrix, amount), atol=1e-6
    )


@given(MATRICES, AMOUNTS)
def test_singular_value_threshold_meets_the_conditions_of_its_optimum(matrix, amount):
    shrunk = singular_value_threshold(matrix, amount)
    subgradient = matrix - shrunk
    assert np.linalg.norm(subgradient, ord=2) <= amount + 1e-6
    assert np.vdot(subgradient, shrunk) == pytest.approx(
        amount * np.linalg.norm(shrunk, ord="nuc"), abs=1e-5
    )


@pytest.mark.parametrize("shape", [(5, 2), (2, 5), (3, 3)])
def test_singular_value_threshold_agrees_with_a_numerical_minimizer(shape):
    # ||U V^T||_* is the least (||U||^2 + ||V||^2) / 2, which makes the problem smooth.
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=shape)
    amount = 0.8
    rank = min(shape)

    def parts(flat):
        return flat[: shape[0] * rank].reshape(-1, rank), flat[shape[0] * rank :].reshape(-1, rank)

    def objective(flat):
        left, right = parts(flat)
        return amount * 0.5 * flat @ flat + 0.5 * np.sum((left @ right.T - matrix) ** 2)

    found = optimize.minimize(objective, rng.normal(size=sum(shape) * rank), tol=1e-10)
    left, right = parts(found.x)
    assert_allclose(singular_value_threshold(matrix, amount), left @ right.T, atol=1e-4)


def test_singular_value_threshold_beats_perturbations():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(6, 3))
    best = singular_value_threshold(matrix, 0.7)

    def objective(candidate):
        return 0.7 * np.linalg.norm(candidate, ord="nuc") + 0.5 * np.sum((candidate - matrix) ** 2)

    perturbed = [best + rng.normal(scale=0.01, size=best.shape) for _ in range(200)]
    assert objective(best) < min(objective(candidate) for candidate in perturbed)


@pytest.mark.parametrize("shape", [(8, 3), (3, 8), (4, 4)])
def test_the_extremes_of_singular_value_threshold(shape):
    matrix = np.random.default_rng(2).normal(size=shape)
    assert_array_equal(singular_value_threshold(matrix, 0.0), matrix)
    assert_array_equal(singular_value_threshold(matrix, np.inf), np.zeros(shape))
    assert_array_equal(singular_value_threshold(np.zeros(shape), 1.0), np.zeros(shape))


def test_singular_value_threshold_lowers_the_rank_exactly():
    matrix = np.random.default_rng(3).normal(size=(40, 5))
    values = np.linalg.svd(matrix, compute_uv=False)
    shrunk = singular_value_threshold(matrix, (values[1] + values[2]) / 2)
    assert np.linalg.matrix_rank(shrunk) == 2


@given(hnp.arrays(np.float64, 4, elements=st.floats(-10, 10, width=32)), AMOUNTS)
def test_soft_threshold_agrees_with_a_numerical_minimizer(values, amount):
    found = [
        optimize.minimize_scalar(
            lambda a, value=value: amount * abs(a) + 0.5 * (a - value) ** 2,
            bounds=(-11, 11),
            method="bounded",
            options={"xatol": 1e-9},
        ).x
        for value in values
    ]
    assert_allclose(soft_threshold(values, amount), found, atol=1e-4)


def test_the_extremes_of_soft_threshold():
    values = np.array([-2.0, 0.0, 3.0])
    assert_array_equal(soft_threshold(values, 0.0), values)
    assert_array_equal(soft_threshold(values, np.inf), np.zeros(3))
