"""The products with a feature matrix, against NumPy's, for each kind of matrix."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training._full_batch import products_of

N, D, M = 40, 7, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.4)
COEF, GRADIENT = RNG.normal(size=(M, D)), RNG.normal(size=(M, N))


def mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


LAYOUTS = {
    "same": lambda X, _: X,
    "in columns": lambda X, _: np.asfortranarray(X),
    "every second": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X, _: X[::-1].copy()[::-1],
    "mapped": mapped,
    "csr": lambda X, _: sparse.csr_array(X),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_are_those_of_numpy(layout, dtype, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        products = products_of(LAYOUTS[layout](X.astype(dtype), tmp_path))
    assert products.shape == (N, D)
    logits = products.logits(torch.from_numpy(COEF.astype(dtype)))
    pulled = products.pull(torch.from_numpy(GRADIENT.astype(dtype)))
    assert logits.dtype == pulled.dtype == products.dtype
    # Sums of at most N products of order 1.
    atol = 2 * N * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(logits, COEF @ X.T, rtol=0, atol=atol)
    np.testing.assert_allclose(pulled, GRADIENT @ X, rtol=0, atol=atol)


@pytest.mark.parametrize(
    ("dtype", "kind"), [(np.int8, np.asarray), (">f8", np.asarray), (np.int8, sparse.csr_array)]
)
def test_other_numbers_are_multiplied_in_float64(dtype, kind):
    products = products_of(kind(np.arange(6).reshape(3, 2).astype(dtype)))
    found = products.logits(torch.tensor([[100.0, 0.5]], dtype=torch.float64))
    np.testing.assert_array_equal(found, [[0.5, 201.5, 402.5]])
