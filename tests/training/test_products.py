"""The products with a feature matrix against NumPy, and coordinates of maps against formulas."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training import Scaling, Spread
from complabel._training._full_batch import CellProducts, Coordinates, products_of

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


def test_products_of_cells_are_those_of_all_logits():
    rows, outputs = RNG.integers(N, size=60), RNG.choice([0, 1, 3, 4], size=60)  # none of output 2
    cells = CellProducts(X, torch.from_numpy(rows), torch.from_numpy(outputs), M)
    slope, gradient = RNG.normal(size=60), np.zeros((M, N))
    np.add.at(gradient, (outputs, rows), slope)
    logits, pulled = cells.logits(torch.from_numpy(COEF)), cells.pull(torch.from_numpy(slope))
    np.testing.assert_allclose(logits, (COEF @ X.T)[outputs, rows], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pulled, gradient @ X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "kind"), [(np.int8, np.asarray), (">f8", np.asarray), (np.int8, sparse.csr_array)]
)
def test_other_numbers_are_multiplied_in_float64(dtype, kind):
    products = products_of(kind(np.arange(6).reshape(3, 2).astype(dtype)))
    found = products.logits(torch.tensor([[100.0, 0.5]], dtype=torch.float64))
    np.testing.assert_array_equal(found, [[0.5, 201.5, 402.5]])


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
