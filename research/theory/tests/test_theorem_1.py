"""Theorem 1: the counterexample by hand, and what holds instead, by fractions and properties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research.theory import (
    JointDistribution,
    check_theorem_1,
    exact_transition,
    random_choice,
    uniform_choice,
)
from research.theory.tests.enumeration import World, as_floats, random_world

SEEDS = st.integers(0, 2**32 - 1)


def test_the_smallest_counterexample_by_hand():
    # K = 3, one x, Y = {1, 2} always. So label 3 is named, whatever the rule.
    p_y = [Fraction(1), Fraction(1), Fraction(0)]
    p_named = [Fraction(0), Fraction(0), Fraction(1)]
    T = [
        [Fraction(0), Fraction(0), Fraction(1)],
        [Fraction(0), Fraction(0), Fraction(1)],
    ]  # rows of the labels that ever apply
    right = [T[0][j] * p_y[0] + T[1][j] * p_y[1] for j in range(3)]
    assert right == [0, 0, 2]
    assert not p_named[2] >= right[2]  # the theorem says 1 >= 2

    sides = check_theorem_1(JointDistribution([1], np.eye(6)[[2]]), uniform_choice(3))
    np.testing.assert_array_equal(sides.left[0], as_floats(p_named))
    np.testing.assert_array_equal(sides.right[0], as_floats(right))
    np.testing.assert_array_equal(sides.given_x[0], as_floats(right))


def test_with_two_labels_there_is_no_counterexample():
    # Y is {1} or {2}: just one label applies, and both sides are equal.
    sides = check_theorem_1(
        JointDistribution.random(2, n_points=3, size=(50,), random_state=0), uniform_choice(2)
    )
    np.testing.assert_allclose(sides.left, sides.given_x)


def test_with_one_matrix_for_all_x_either_side_can_be_larger_by_hand():
    # Two x, equally likely, K = 3. At the first always {1}, label 2 or 3 named, half each;
    # at the second always {1, 2}, so label 3 is named.
    # T_1 = (0, 1/4, 3/4), T_2 = (0, 0, 1). At the first x: p(ybar_2) = 1/2 > 1 * T_12 = 1/4, and
    # p(ybar_3) = 1/2 < T_13 = 3/4.
    joint = JointDistribution(np.full(2, 0.5), np.eye(6)[[0, 2]])
    np.testing.assert_allclose(
        exact_transition(joint, uniform_choice(3))[:2], [[0, 0.25, 0.75], [0, 0, 1]]
    )
    sides = check_theorem_1(joint, uniform_choice(3))
    np.testing.assert_allclose(sides.left, [[0, 0.5, 0.5], [0, 0, 1]])
    np.testing.assert_allclose(sides.right, [[0, 0.25, 0.75], [0, 0.25, 1.75]])
    np.testing.assert_allclose(sides.given_x, [[0, 0.5, 0.5], [0, 0, 2]])


@pytest.mark.parametrize(("n_labels", "seed"), [(3, 0), (4, 1), (5, 2)], ids=str)
def test_both_sides_are_the_sums_of_fractions(n_labels, seed):
    world = random_world(n_labels, seed)
    labels, T = range(n_labels), world.transition()
    sides = check_theorem_1(*world.arrays())
    for x in range(2):
        here = world.at(x)
        T_x = here.transition()
        p = [here.mean(lambda x, Y, named, k=k: k in Y) for k in labels]
        size = here.mean(lambda x, Y, named: len(Y))
        assert sides.cardinality[x, 0] == pytest.approx(float(size))
        for j in labels:
            q = here.named(j)
            together = here.mean(lambda x, Y, named, j=j: len(Y) * (named == j))
            at_x = sum(T_x[k][j] * p[k] for k in labels if p[k])
            # The corrected theorem, without rounding.
            assert at_x == together == size * q + (together - size * q)
            assert q <= at_x <= (n_labels - 1) * q
            assert sides.left[x, j] == pytest.approx(float(q))
            assert sides.given_x[x, j] == pytest.approx(float(at_x))
            assert sides.covariance[x, j] == pytest.approx(float(together - size * q), abs=1e-12)
            shared = sum(T[k][j] * p[k] for k in labels if p[k])
            assert sides.right[x, j] == pytest.approx(float(shared))


@given(st.integers(2, 6), st.sampled_from([0.05, 0.3, 1.0]), SEEDS)
def test_what_holds_instead(n_labels, concentration, seed):
    joint = JointDistribution.random(
        n_labels, n_points=3, size=(20,), concentration=concentration, random_state=seed
    )
    choice = random_choice(n_labels, size=(20,), random_state=seed)
    sides = check_theorem_1(joint, choice)
    tiny = 1e-12 * n_labels
    # Reversed at each x, and at most K - 1 times the left side.
    assert (sides.given_x >= sides.left - tiny).all()
    assert (sides.given_x <= (n_labels - 1) * sides.left + tiny).all()
    # Its exact distance.
    np.testing.assert_allclose(
        sides.given_x, sides.cardinality * sides.left + sides.covariance, atol=tiny
    )
    # On average over x the one T does the same.
    weights = joint.weights[..., np.newaxis]
    np.testing.assert_allclose(
        (weights * sides.right).sum(axis=-2), (weights * sides.given_x).sum(axis=-2), atol=tiny
    )
    # Rows of T sum to 1, so the right sides sum to E[|Y| | x]: the theorem fails at some label.
    for right in (sides.right, sides.given_x):
        np.testing.assert_allclose(right.sum(-1), sides.cardinality[..., 0])
    several = sides.cardinality[..., 0] > 1 + 1e-6
    assert ((sides.left < sides.right).any(axis=-1) | ~several).all()


@given(st.integers(3, 5), SEEDS)
def test_equality_where_just_one_label_applies(n_labels, seed):
    world = random_world(n_labels, seed, allowed=lambda Y: len(Y) == 1)
    sides = check_theorem_1(*world.arrays())
    np.testing.assert_allclose(sides.left, sides.right)
    np.testing.assert_allclose(sides.left, sides.given_x)


@given(st.integers(3, 6), SEEDS, st.data())
def test_dividing_by_the_cardinality_repairs_it_where_all_sets_have_one_size(n_labels, seed, data):
    size = data.draw(st.integers(1, n_labels - 1))
    world = random_world(n_labels, seed, allowed=lambda Y: len(Y) == size)
    sides = check_theorem_1(*world.arrays())
    np.testing.assert_allclose(sides.given_x / sides.cardinality, sides.left)


def test_a_label_that_never_applies_adds_nothing():
    outcome = World(
        3,
        [Fraction(1)],
        [{frozenset({0}): Fraction(1)}],
        {frozenset({0}): {1: Fraction(1, 4), 2: Fraction(3, 4)}},
    )
    distribution, choice = outcome.arrays()
    np.testing.assert_allclose(check_theorem_1(distribution, choice).right, [[0, 0.25, 0.75]])
