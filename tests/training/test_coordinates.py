"""Coordinates of linear maps, against the formulas that they stand for."""

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training import Scaling, Spread
from complabel._training._full_batch import Coordinates


def test_the_hessian_of_squares_is_the_unit_matrix():
    """With the loss z C z / 2 of logits z, whose curvature C is, all directions are alike."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 4)) * [1, 2, 5, 9] @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    root = rng.normal(size=(3, 3))
    C = root @ root.T / 10 + np.eye(3)  # curvatures within a factor of ten are not bounded
    centred = torch.from_numpy(X - X.mean(axis=0))
    coordinates = Coordinates(
        Spread.of(X, Scaling(X.mean(axis=0), np.ones(4))),
        C,
        alpha=0,
        first_bias=np.zeros(3),
        rank=None,
        n_others=0,
        dtype=torch.float64,
    )

    def loss(vector):
        coef, bias, _ = coordinates.read(vector.unsqueeze(0))
        logits = centred @ coef[0].t() + bias
        return ((logits @ torch.from_numpy(C)) * logits).sum() / (2 * len(X))

    hessian = torch.autograd.functional.hessian(loss, torch.zeros(15, dtype=torch.float64))
    # Stretches fall short by 1e-7 of the greatest curvature, lest constant features have no limit.
    conditions = np.linalg.cond(np.cov(X.T)) * np.linalg.cond(C)
    np.testing.assert_allclose(hessian, np.eye(15), atol=1.01e-7 * conditions)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [4, 2100], ids=["decomposed", "variances"])
def test_the_spread_is_that_of_scaled_features(d, dtype):
    rng = np.random.default_rng(7)
    X = (rng.normal(size=(60, d)) * np.linspace(1, 3, d) + 2).astype(dtype)
    scaling = Scaling(X.mean(axis=0, dtype=float), np.linspace(0.5, 2, d))
    scaled = (X.astype(float) - scaling.shift) * scaling.factor
    found = Spread.of(X, scaling)
    if d > 2048:
        assert found.vectors is None
        np.testing.assert_allclose(found.values, scaled.var(axis=0), rtol=1e-10)
        return
    covariance = found.vectors * found.values @ found.vectors.T
    np.testing.assert_allclose(covariance, np.cov(scaled.T, bias=True), rtol=1e-9, atol=1e-12)


def test_many_rows_are_read_in_blocks():
    X = np.random.default_rng(8).normal(size=(20_001, 2)) + 1
    found = Spread.of(X, Scaling(X.mean(axis=0), np.ones(2)))
    covariance = found.vectors * found.values @ found.vectors.T
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_spread_of_sparse_features_is_their_variances(dtype):
    rng = np.random.default_rng(9)
    X = (rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.3)).astype(dtype)
    scaling = Scaling(X.mean(axis=0, dtype=float), np.linspace(0.5, 2, 5))
    found = Spread.of(sparse.csr_array(X), scaling)
    assert found.vectors is None
    expected = X.var(axis=0, dtype=float) * scaling.factor**2
    np.testing.assert_allclose(found.values, expected, rtol=60 * float(np.finfo(dtype).eps))
