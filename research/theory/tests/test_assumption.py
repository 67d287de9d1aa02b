"""ybar = T^T y by hand, by fractions, and where it cannot hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research.theory import JointDistribution, check_assumption, random_choice, uniform_choice
from research.theory.tests.enumeration import all_sets, place, random_world


def test_two_sets_by_hand():
    # {1} and {1, 2}, half each, uniform choice: T_1 = (0, 1/4, 3/4), T_2 = (0, 0, 1).
    found = check_assumption(JointDistribution([1], [[0.5, 0, 0.5, 0, 0, 0]]), uniform_choice(3))
    # {1}: (0, 1/2, 1/2) and (0, 1/4, 3/4). {1, 2}: (0, 0, 1) and (0, 1/4, 7/4).
    np.testing.assert_allclose(found.distance[[0, 2]], [0.5, 1.0])
    # Half of (0, 1/4, 7/4) is (0, 1/8, 7/8).
    np.testing.assert_allclose(found.normalized_distance[[0, 2]], [0.5, 0.25])
    assert np.isnan(found.distance[[1, 3, 4, 5]]).all()
    assert found.mean_distance == pytest.approx(0.75)
    np.testing.assert_array_equal(found.size, [1, 1, 2, 1, 2, 2])


@pytest.mark.parametrize(("n_labels", "seed"), [(3, 0), (4, 1), (5, 2)], ids=str)
def test_distances_are_the_sums_of_fractions(n_labels, seed):
    world = random_world(n_labels, seed)
    T, found = world.transition(), check_assumption(*world.arrays())
    for Y in all_sets(n_labels):
        if not any(chances[Y] for chances in world.conditional):
            assert np.isnan(found.distance[place(Y)])
            continue
        means = [world.choice[Y].get(j, 0) for j in range(n_labels)]
        implied = [sum(T[k][j] for k in Y) for j in range(n_labels)]
        away = sum(abs(one - other) for one, other in zip(means, implied, strict=True))
        assert away >= len(Y) - 1
        assert found.distance[place(Y)] == pytest.approx(float(away))


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_it_fails_by_at_least_the_labels_too_many(n_labels, seed):
    joint = JointDistribution.random(n_labels, size=(20,), random_state=seed)
    found = check_assumption(joint, random_choice(n_labels, size=(20,), random_state=seed))
    assert (found.distance >= found.size - 1 - 1e-12).all()


@given(st.integers(3, 5), st.integers(0, 2**32 - 1))
def test_it_holds_in_expectation_where_just_one_label_ever_applies(n_labels, seed):
    world = random_world(n_labels, seed, allowed=lambda Y: len(Y) == 1)
    found = check_assumption(*world.arrays())
    assert found.mean_distance == pytest.approx(0, abs=1e-12)
    assert np.nanmax(found.distance) == pytest.approx(0, abs=1e-12)
