"""PML-LRS: the conditions of its optimum, its limits, and what it learns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from complabel.experiments.methods.candidates.pml_lrs import (
    PMLLRSClassifier,
    decompositions,
    singular_value_threshold,
)

WEIGHTS = [
    {"gamma": 3.0, "beta": 0.5, "eta": 0.2},
    {"gamma": 0.1, "beta": 2.0, "eta": 0.3},
    {"gamma": 1.0, "beta": 0.1, "eta": 1.0},
    {"gamma": 6.0, "beta": 1.0, "eta": 0.05},
]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
T = (RNG.random(size=(40, 4)) < 0.7).astype(float)


def last_decomposition(features, candidates, **settings):
    """Where the iterations end."""
    for split in decompositions(features, candidates, **settings):
        if split.settled:
            break
    return split


def solve(**settings):
    split = last_decomposition(X, T, max_iter=20_000, tol=1e-10, **settings)
    assert split.settled
    return split


def assert_trace_norm_subgradient(subgradient, matrix, weight):
    """Hold exactly if ``subgradient`` is one of ``weight * ||.||_*`` at ``matrix``."""
    assert np.linalg.norm(subgradient, ord=2) <= weight + 1e-6
    assert np.vdot(subgradient, matrix) == pytest.approx(
        weight * np.linalg.norm(matrix, ord="nuc"), abs=1e-6
    )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_solution_meets_the_conditions_of_the_optimum(weights):
    solver = solve(**weights)
    W, E = solver.mapping, solver.noise
    C = T - E
    residual = C - X @ W
    of_noise = solver.noise_multiplier
    assert_trace_norm_subgradient(X.T @ residual, W, weights["gamma"])
    assert_trace_norm_subgradient(of_noise - residual, C, weights["beta"])
    assert np.abs(of_noise).max() <= weights["eta"] + 1e-6
    assert np.vdot(of_noise, E) == pytest.approx(weights["eta"] * np.abs(E).sum(), abs=1e-6)


def test_a_heavy_trace_norm_makes_the_fitted_map_exactly_low_rank(problem, complementary):
    extended = np.column_stack([problem.X, np.ones(len(problem.X))])
    beyond = np.linalg.norm(extended.T @ (1.0 - complementary), ord=2)
    classifier = PMLLRSClassifier(gamma=0.2 * beyond).fit(problem.X, complementary)
    weights = np.column_stack([classifier.coef_, classifier.intercept_])
    assert np.linalg.matrix_rank(weights) == 1


def test_many_features_are_fitted_without_the_gram_matrix(turned):
    direct, found = (
        last_decomposition(features, T, max_iter=30, tol=0.0, **WEIGHTS[0])
        for features in (X, X @ turned)
    )
    assert_allclose(found.mapping, turned.T @ direct.mapping, atol=1e-6)


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
