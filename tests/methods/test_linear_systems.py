"""Gram matrices, formed or as products, and the ridge systems solved with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from complabel.errors import InputError
from complabel.methods._linear_systems import Gram, RidgeSystem, side_by_side

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(12, 5)) * (RNG.random(size=(12, 5)) < 0.5)
FORMS = pytest.mark.parametrize("X", [DENSE, sparse.csr_array(DENSE), sparse.csr_matrix(DENSE)])
# The Gram matrix formed, or nothing but products.
WAYS = pytest.mark.parametrize("max_columns", [8000, 0])


@FORMS
def test_a_matrix_gains_columns(X):
    wider = side_by_side(X, np.ones((12, 1)))
    assert sparse.issparse(wider) == sparse.issparse(X)
    expected = np.hstack([DENSE, np.ones((12, 1))])
    assert_array_equal(wider.toarray() if sparse.issparse(X) else wider, expected)


@FORMS
@WAYS
def test_products_are_those_of_the_gram_matrix(X, max_columns):
    gram = Gram.of(X, max_columns=max_columns)
    weights = RNG.normal(size=(5, 3))
    assert_allclose(gram @ weights, DENSE.T @ DENSE @ weights, atol=1e-12)
    assert_allclose(gram.diagonal, np.sum(DENSE**2, axis=0))


@FORMS
@WAYS
def test_solutions_solve_the_system(X, max_columns):
    system = RidgeSystem(Gram.of(X, max_columns=max_columns), scale=0.7, ridge=0.3)
    right = RNG.normal(size=(5, 2))
    expected = np.linalg.solve(0.7 * DENSE.T @ DENSE + 0.3 * np.eye(5), right)
    assert_allclose(system.solve(right), expected, atol=1e-7)
    assert_allclose(system.solve(right, start=expected), expected, atol=1e-7)


def test_features_that_drown_the_ridge_are_refused():
    huge = np.outer(np.arange(1.0, 13), np.arange(1.0, 6)) * 1e12
    system = RidgeSystem(Gram.of(huge, max_columns=8000), ridge=1e-3)
    with pytest.raises(InputError, match="Scale the features"):
        system.solve(np.ones((5, 1)))
