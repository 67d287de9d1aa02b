"""The products with a feature matrix, against NumPy's, for each kind of matrix."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training._full_batch import products_of

N, D, M = 40, 7, 5


@pytest.fixture(scope="module", name="X")
def _features():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4)


def same(X, tmp_path):
    return X


def in_columns(X, tmp_path):
    return np.asfortranarray(X)


def every_second(X, tmp_path):
    return np.repeat(X, 2, axis=1)[:, ::2]


def backwards(X, tmp_path):
    return X[::-1].copy()[::-1]


def mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def in_csr(X, tmp_path):
    return sparse.csr_array(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [same, in_columns, every_second, backwards, mapped, in_csr])
def test_products_are_those_of_numpy(layout, dtype, X, tmp_path):
    X = X.astype(dtype)
    rng = np.random.default_rng(1)
    coef, gradient = rng.normal(size=(M, D)).astype(dtype), rng.normal(size=(M, N)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        products = products_of(layout(X, tmp_path))
    assert products.shape == (N, D)
    logits, pulled = (
        products.logits(torch.from_numpy(coef)),
        products.pull(torch.from_numpy(gradient)),
    )
    assert logits.dtype == pulled.dtype == products.dtype == torch.from_numpy(X).dtype
    wide = X.astype(float)
    # Sums of at most N products of order 1.
    atol = N * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(logits, coef.astype(float) @ wide.T, rtol=0, atol=atol)
    np.testing.assert_allclose(pulled, gradient.astype(float) @ wide, rtol=0, atol=atol)


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(np.int8, np.asarray), (">f8", np.asarray), (np.int8, sparse.csr_array)],
)
def test_other_numbers_are_multiplied_in_float64(dtype, kind):
    products = products_of(kind(np.arange(6).reshape(3, 2).astype(dtype)))
    assert products.dtype == torch.float64
    found = products.logits(torch.tensor([[100.0, 0.5]], dtype=torch.float64))
    np.testing.assert_array_equal(found, [[0.5, 201.5, 402.5]])
