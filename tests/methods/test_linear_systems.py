"""Feature matrices with a constant column, and the ridge systems solved with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from complabel.errors import InputError
from complabel.methods import _linear_systems
from complabel.methods._linear_systems import Design, RidgeSystem

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(12, 5)) * (RNG.random(size=(12, 5)) < 0.5)
FORMS = pytest.mark.parametrize("X", [DENSE, sparse.csr_array(DENSE), sparse.csr_matrix(DENSE)])
INTERCEPTS = pytest.mark.parametrize("fit_intercept", [True, False])
# The Gram matrix formed, or nothing but products.
WAYS = pytest.mark.parametrize("most_columns", [8000, 0])


def with_constant(X, fit_intercept):
    return np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X


@FORMS
@INTERCEPTS
@WAYS
def test_products_are_those_of_the_matrix_with_its_constant_column(
    X, fit_intercept, most_columns, monkeypatch
):
    monkeypatch.setattr(_linear_systems, "MAX_DIRECT_COLUMNS", most_columns)
    explicit = with_constant(DENSE, fit_intercept)
    design = Design(X, fit_intercept=fit_intercept)
    weights = RNG.normal(size=(explicit.shape[1], 3))
    outputs = RNG.normal(size=(12, 3))
    assert design.n_columns == explicit.shape[1]
    assert_allclose(design.times(weights), explicit @ weights)
    assert_allclose(design.transposed_times(outputs), explicit.T @ outputs)
    assert_allclose(design.gram_times(weights), explicit.T @ explicit @ weights)
    assert_allclose(design.squared_column_norms(), np.sum(explicit**2, axis=0))


@FORMS
@INTERCEPTS
@WAYS
def test_solutions_solve_the_system(X, fit_intercept, most_columns, monkeypatch):
    monkeypatch.setattr(_linear_systems, "MAX_DIRECT_COLUMNS", most_columns)
    explicit = with_constant(DENSE, fit_intercept)
    system = RidgeSystem(Design(X, fit_intercept=fit_intercept).gram, scale=0.7, ridge=0.3)
    right = RNG.normal(size=(explicit.shape[1], 2))
    matrix = 0.7 * explicit.T @ explicit + 0.3 * np.eye(explicit.shape[1])
    expected = np.linalg.solve(matrix, right)
    assert_allclose(system.solve(right), expected, atol=1e-7)
    assert_allclose(system.solve(right, start=expected), expected, atol=1e-7)


def test_single_precision_features_are_multiplied_in_double():
    design = Design(DENSE.astype(np.float32), fit_intercept=True)
    assert design.gram.matrix.dtype == np.float64
    assert design.times(np.ones((6, 1))).dtype == np.float64


def test_features_that_drown_the_ridge_are_refused():
    huge = np.outer(np.arange(1.0, 13), np.arange(1.0, 6)) * 1e12
    system = RidgeSystem(Design(huge, fit_intercept=True).gram, scale=1.0, ridge=1e-3)
    with pytest.raises(InputError, match="Scale the features"):
        system.solve(np.ones((6, 1)))
