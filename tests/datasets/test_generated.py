"""Datasets that need no file: digits on canvases, and a model whose probabilities are known."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits

from complabel.datasets import make_digits, make_synthetic, make_synthetic_problem
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


def test_probabilities_are_the_stated_model():
    problem = make_synthetic_problem(300, n_features=7, n_labels=5, cardinality=2.0, random_state=4)
    logits = problem.dataset.X @ problem.weights + problem.bias
    np.testing.assert_allclose(problem.probabilities, 1 / (1 + np.exp(-logits)), rtol=1e-12)
    assert problem.probabilities.sum(axis=1).mean() == pytest.approx(2.0, abs=1e-9)
    np.testing.assert_allclose(np.linalg.norm(problem.weights, axis=0), 2.0)


def enumerate_transition(probabilities):
    """T by looping over instances, relevant sets and labels."""
    n_labels = probabilities.shape[1]
    joint, relevant = np.zeros((n_labels, n_labels)), np.zeros(n_labels)
    for f in probabilities:
        sets = [y for y in itertools.product([0, 1], repeat=n_labels) if 0 < sum(y) < n_labels]
        chance = [np.prod([p if y else 1 - p for p, y in zip(f, s, strict=True)]) for s in sets]
        for y, p in zip(sets, np.array(chance) / sum(chance), strict=True):
            for k in range(n_labels):
                relevant[k] += p * y[k]
                for j in range(n_labels):
                    joint[k, j] += p * y[k] * (1 - y[j]) / (n_labels - sum(y))
    return joint / relevant[:, None]


@pytest.mark.parametrize(("n_labels", "cardinality"), [(3, 1.0), (4, 2.5), (5, 0.3)])
def test_the_transition_matrix_by_enumeration(n_labels, cardinality):
    problem = make_synthetic_problem(
        15, n_features=3, n_labels=n_labels, cardinality=cardinality, random_state=1
    )
    expected = enumerate_transition(problem.probabilities)
    np.testing.assert_allclose(problem.transition, expected, rtol=1e-10, atol=1e-14)
    assert (np.diag(problem.transition) == 0).all()
    np.testing.assert_allclose(problem.transition.sum(axis=1), 1.0)


def test_labels_and_uniform_draws_occur_as_often_as_the_model_says():
    n = 40_000
    problem = make_synthetic_problem(n, n_features=3, n_labels=4, cardinality=1.2, random_state=2)
    Y = problem.dataset.Y.astype(float)
    assert ((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)).all()
    f = problem.probabilities
    full, empty = f.prod(axis=1, keepdims=True), (1 - f).prod(axis=1, keepdims=True)
    marginal = (f - full) / (1 - full - empty)
    # Also against the first feature, which a mix-up of rows would miss otherwise.
    for weight in (np.ones(n), problem.dataset.X[:, 0]):
        error = weight @ (Y - marginal)
        spread = np.sqrt((weight**2) @ (marginal * (1 - marginal)))
        assert (np.abs(error) < 4 * spread).all()
    rng = np.random.default_rng(0)
    drawn = np.eye(4)[np.argmax((1 - Y) * rng.random(Y.shape), axis=1)]
    observed = (Y.T @ drawn) / Y.sum(axis=0)[:, None]
    np.testing.assert_allclose(observed, problem.transition, atol=0.015)


def test_many_labels_and_extreme_probabilities_stay_exact():
    problem = make_synthetic_problem(50, n_labels=12, cardinality=0.01, signal=30.0)
    assert (problem.dataset.Y.sum(axis=1) >= 1).all()
    assert np.isfinite(problem.transition).all()


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
    with pytest.raises(InputError, match=name):
        make_synthetic_problem(**{name: value})
    with pytest.raises(InputError, match="n_samples"):
        make_digits(0)
