"""Coordinates of linear maps, against the formulas that they stand for."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from complabel._training import Scaling, Spread
from complabel._training._full_batch import Coordinates

EPS = np.finfo(float).eps


def random_coordinates(seed, K, d, *, rank=None, turned=True, alpha=0.1, n_others=2):
    """Coordinates for features and logits that vary and curve at random."""
    rng = np.random.default_rng(seed)
    half, root = rng.normal(size=(3 * d, d)) * np.geomspace(1, 30, d), rng.normal(size=(K, K))
    covariance = half.T @ half / len(half)
    spread = Spread(*np.linalg.eigh(covariance)) if turned else Spread(np.diag(covariance))
    return Coordinates(
        spread,
        root @ root.T,
        alpha=alpha,
        first_bias=rng.normal(size=K),
        rank=rank,
        n_others=n_others,
        dtype=torch.float64,
    )


def random_maps(seed, B, K, d, n_others=2):
    rng = np.random.default_rng(seed + 1)
    shapes = [(B, K, d), (B, K), (B, n_others)]
    return [torch.from_numpy(rng.normal(size=shape)) for shape in shapes]


SIZES = {"seed": st.integers(0, 2**32), "K": st.integers(1, 5), "d": st.integers(1, 6)}


@given(**SIZES, B=st.integers(1, 3), turned=st.booleans(), alpha=st.sampled_from([0.0, 0.01, 10.0]))
def test_a_map_is_read_as_it_was_written(seed, K, d, B, turned, alpha):
    coordinates = random_coordinates(seed, K, d, turned=turned, alpha=alpha)
    maps = random_maps(seed, B, K, d)
    vectors = coordinates.of_maps(*maps)
    assert vectors.shape == (B, K * d + K + 2)
    # Turns keep lengths; the roots of curvatures are at most a factor of 100 apart.
    for expected, found in zip(maps, coordinates.read(vectors), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e4 * EPS)


@given(**SIZES, turned=st.booleans())
def test_a_map_of_the_rank_is_read_as_it_was_written(seed, K, d, turned):
    rank = max(1, min(K, d) - 1)
    coordinates = random_coordinates(seed, K, d, rank=rank, turned=turned)
    _, bias, others = random_maps(seed, 2, K, d)
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(2, K, rank)), rng.normal(size=(2, rank, d))
    maps = [torch.from_numpy(left @ right), bias, others]
    vectors = coordinates.of_maps(*maps)
    assert vectors.shape == (2, (K + d) * rank + K + 2)
    # Stretched by up to sqrt(1e4) for outputs, and by about 30 for features, and back.
    for expected, found in zip(maps, coordinates.read(vectors), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e6 * EPS)


@pytest.mark.parametrize("turned", [False, True])
def test_a_map_of_a_higher_rank_loses_what_is_too_much(turned):
    coordinates = random_coordinates(0, 4, 5, rank=2, turned=turned)
    coef, bias, others = random_maps(0, 3, 4, 5)
    found, *rest = coordinates.read(coordinates.of_maps(coef, bias, others))
    assert (np.linalg.matrix_rank(coef.numpy()) == 4).all()
    assert (np.linalg.matrix_rank(found.numpy(), tol=1e-9) == 2).all()
    for same, expected in zip(rest, (bias, others), strict=True):
        np.testing.assert_allclose(same, expected, atol=1e4 * EPS)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rank", [None, 2])
def test_the_penalty_is_that_of_the_weights(rank, turned):
    coordinates = random_coordinates(1, 4, 5, rank=rank, turned=turned, alpha=0.3)
    vectors = coordinates.of_maps(*random_maps(1, 3, 4, 5))
    coef, *_ = coordinates.read(vectors)
    found = coordinates.penalty(vectors)
    np.testing.assert_allclose(found, 0.3 * coef.square().sum(dim=(1, 2)), rtol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rank", [None, 1, 2])
def test_gradients_are_those_of_automatic_differentiation(rank, turned):
    coordinates = random_coordinates(2, 4, 5, rank=rank, turned=turned)
    vectors = coordinates.of_maps(*random_maps(2, 3, 4, 5)).requires_grad_()
    weights = random_maps(3, 3, 4, 5)

    def loss(parts):
        """A function of all that is read, with different slopes everywhere."""
        each = (torch.sin(part) * w for part, w in zip(parts, weights, strict=True))
        return sum(term.sum() for term in each)

    parts = [part.detach().requires_grad_() for part in coordinates.read(vectors)]
    slopes = torch.autograd.grad(loss(parts), parts)
    found = coordinates.pull(vectors.detach(), *slopes)
    value = loss(coordinates.read(vectors)) + coordinates.penalty(vectors).sum()
    (expected,) = torch.autograd.grad(value, vectors)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_the_steepest_step_is_that_against_the_gradient(turned):
    coordinates = random_coordinates(3, 4, 5, turned=turned, alpha=0)
    slope, bias, others = random_maps(4, 2, 4, 5)
    zero = torch.zeros(2, 4 * 5 + 4 + 2, dtype=torch.float64)
    gradient = coordinates.pull(zero, slope, 0 * bias, 0 * others)
    expected, *_ = coordinates.read(-gradient)
    np.testing.assert_allclose(coordinates.steepest(slope), expected, rtol=1e-10, atol=1e-12)


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


@pytest.mark.parametrize("rank", [None, 1])
@pytest.mark.parametrize("flat", ["features", "logits", "both"])
def test_where_nothing_varies_or_curves_numbers_stay_finite(flat, rank):
    features = np.zeros(2) if flat != "logits" else np.ones(2)
    curvature = np.zeros((2, 2)) if flat != "features" else np.eye(2)
    coordinates = Coordinates(
        Spread(features),
        curvature,
        alpha=0,
        first_bias=np.zeros(2),
        rank=rank,
        n_others=0,
        dtype=torch.float64,
    )
    maps = random_maps(6, 1, 2, 2, n_others=0)
    vectors = coordinates.of_maps(*maps)
    assert bool(torch.isfinite(vectors).all())
    if rank is None:
        np.testing.assert_allclose(coordinates.read(vectors)[0], maps[0], atol=1e-12)


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
