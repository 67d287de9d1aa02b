"""Datasets that need no file: digits on canvases, and a logistic model."""

import numpy as np
import pytest
from scipy import optimize, special
from sklearn.datasets import load_digits
from tests.refusals import raises

from complabel.datasets import make_digits, make_synthetic
from complabel.errors import InputError


@pytest.fixture(scope="module")
def digits():
    return make_digits(600, random_state=3)


@pytest.fixture(scope="module")
def sources():
    """Which source image each quadrant of each canvas shows: (n, 4), -1 where empty."""
    images = load_digits().images / 16.0
    index = {image.tobytes(): i for i, image in enumerate(images)}
    assert len(index) == len(images)  # no two source images are equal

    def look_up(X):
        canvases = X.reshape(-1, 16, 16)
        found = np.full((len(X), 4), -1)
        for i, canvas in enumerate(canvases):
            for q, (r, c) in enumerate([(0, 0), (0, 8), (8, 0), (8, 8)]):
                quadrant = np.ascontiguousarray(canvas[r : r + 8, c : c + 8])
                if quadrant.any():
                    found[i, q] = index[quadrant.tobytes()]
        return found

    return look_up


def test_the_labels_are_the_digits_on_the_canvas(digits, sources):
    target = load_digits().target
    for shown, relevant in zip(sources(digits.X), digits.Y, strict=True):
        seen = target[shown[shown >= 0]]
        assert len(seen) == len(set(seen))  # different digits
        assert set(seen) == set(np.flatnonzero(relevant))


def test_groups_share_no_source_image_and_each_has_all_digits(digits, sources):
    shown = sources(digits.X)
    group_of = {}
    for images, group in zip(shown, digits.groups, strict=True):
        for image in images[images >= 0]:
            assert group_of.setdefault(image, group) == group
    assert sorted(set(digits.groups)) == list(range(10))
    for group in range(10):
        assert digits.Y[digits.groups == group].any(axis=0).all()
        assert (digits.groups == group).sum() == 60


def test_every_count_of_digits_and_every_quadrant_occurs(digits, sources):
    assert set(digits.Y.sum(axis=1)) == {1, 2, 3, 4}
    assert ((sources(digits.X) >= 0).mean(axis=0) > 0.5).all()  # 2.5 of 4 on average
    assert (digits.X.min(), digits.X.max()) == (0.0, 1.0)


def test_every_source_image_is_dealt_out(sources):
    shown = sources(make_digits(8000, random_state=0).X)
    assert len(np.unique(shown[shown >= 0])) > 1790


def chances_of(data, cardinality, *, seed):
    """f(x) of the stated model, with the weights that this seed gives."""
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(rng.standard_normal(data.X.shape), data.X)
    weights = rng.standard_normal((data.n_features, data.n_labels))
    logits = data.X @ (2 * weights / np.sqrt((weights**2).sum(axis=0)))
    logits += rng.standard_normal(data.n_labels) / 2

    def excess(shift):
        return special.expit(logits + shift).sum() - cardinality * len(logits)

    return special.expit(logits + optimize.bisect(excess, -50, 50))


def test_labels_occur_as_often_as_the_model_says():
    n = 40_000
    data = make_synthetic(n, n_features=3, n_labels=4, cardinality=1.2, random_state=2)
    Y = data.Y.astype(float)
    assert ((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)).all()
    f = chances_of(data, 1.2, seed=2)
    full, empty = f.prod(axis=1, keepdims=True), (1 - f).prod(axis=1, keepdims=True)
    marginal = (f - full) / (1 - full - empty)
    # Also against the first feature, which a mix-up of rows would miss otherwise.
    for weight in (np.ones(n), data.X[:, 0]):
        error = weight @ (Y - marginal)
        spread = np.sqrt((weight**2) @ (marginal * (1 - marginal)))
        assert (np.abs(error) < 4 * spread).all()


def test_many_labels_and_extreme_probabilities_stay_exact():
    data = make_synthetic(50, n_labels=12, cardinality=0.01, signal=30.0)
    assert (data.Y.sum(axis=1) >= 1).all()


@pytest.mark.parametrize("make", [make_digits, make_synthetic])
def test_the_seed_decides(make):
    first, again, other = (make(50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("n_samples", 0), ("n_features", 0), ("n_labels", 2), ("n_labels", 13)),
        *(("cardinality", 0.0), ("cardinality", 6.0), ("signal", 0.0), ("signal", float("nan"))),
    ],
)
def test_parameters_out_of_range(name, value):
    with raises(InputError, name):
        make_synthetic(**{name: value})
    with raises(InputError, "n_samples"):
        make_digits(0)
