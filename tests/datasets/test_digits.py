import numpy as np
import pytest
from sklearn.datasets import load_digits

from complabel.datasets import make_digits
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


def test_the_seed_decides():
    first, again, other = (make_digits(50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.Y, other.Y)


def test_no_canvas():
    with pytest.raises(InputError, match="n_samples must be an integer of at least 1, got 0"):
        make_digits(0)
