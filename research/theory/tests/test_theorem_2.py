"""Theorem 2 and its corollary: by hand, by fractions, and what holds instead."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research.theory import (
    JointDistribution,
    check_theorem_2,
    exact_transition,
    multiclass_transition,
    random_choice,
    uniform_choice,
)
from research.theory.tests.enumeration import random_world

from complabel.errors import InputError


def test_a_pair_by_hand():
    # {1}, {2}, {1, 2} equally likely, K = 3, uniform choice: label 3 is named with 1/2, 1/2, 1.
    third = Fraction(1, 3)
    named = third / 2 + third / 2 + third
    T = (third / 2 + third) / (2 * third)
    xi = third / (third / 2 + third)
    printed = named / (xi * 2 * third)
    bound = 2 * (1 / xi**2 - 1) * named
    distortion = 2 * abs(T - named)
    assert (named, T, xi, printed) == (
        Fraction(2, 3),
        Fraction(3, 4),
        Fraction(2, 3),
        Fraction(3, 2),
    )
    assert (distortion, bound) == (Fraction(1, 6), Fraction(5, 3))  # the theorem says 1/6 >= 5/3

    sides = check_theorem_2(
        JointDistribution.dependent([[1 / 3] * 3], n_labels=3), uniform_choice(3)
    )
    np.testing.assert_allclose(sides.exact, [[[3 / 4], [3 / 4]]])
    np.testing.assert_allclose(sides.bayes, [[[3 / 4], [3 / 4]]])
    np.testing.assert_allclose(sides.printed, [[[3 / 2], [3 / 2]]])
    np.testing.assert_allclose(sides.bound, [[5 / 3]])
    np.testing.assert_allclose(sides.distortion, [[1 / 6]])


@pytest.mark.parametrize("n_labels", [3, 5, 9])
def test_with_anchors_and_uniform_choice_the_distortion_is_small_by_hand(n_labels):
    # x with {1} only, with {2} only, and one with all three sets: T_1j is 1 / (K - 1), and
    # 1 / (K - 2) where both apply; Q_1j is 1 / (K - 1).
    joint = JointDistribution.dependent(
        [[1, 0, 0], [0, 1, 0], [0.2, 0.3, 0.5]], n_labels=n_labels, weights=[0.3, 0.3, 0.4]
    )
    both, first, second = 0.4 * 0.5, 0.3 + 0.4 * 0.7, 0.3 + 0.4 * 0.8
    sides = check_theorem_2(joint, uniform_choice(n_labels))
    expected = (both / first + both / second) / ((n_labels - 1) * (n_labels - 2))
    np.testing.assert_allclose(sides.anchor_distortion, expected)


GROUPS = [(2, 3, 0), (2, 4, 1), (3, 4, 2), (3, 5, 3), (4, 5, 4)]


@pytest.mark.parametrize("exclusive", [False, True], ids=["narrow", "wide"])
@pytest.mark.parametrize(("m", "n_labels", "seed"), GROUPS, ids=str)
def test_all_sides_are_the_sums_of_fractions(m, n_labels, seed, exclusive):
    group = frozenset(range(m))
    world = random_world(
        n_labels, seed, allowed=lambda Y: group >= Y or (exclusive and len(Y) == 1)
    )
    sides = check_theorem_2(*world.arrays(), n_dependent=m)
    for x in range(2):
        here = world.at(x)
        for column, j in enumerate(range(m, n_labels)):
            q = here.named(j)
            xi = [
                here.mean(
                    lambda x, Y, named, z=z: z in Y,
                    lambda x, Y, named, z=z, j=j: named == j and group - {z} <= Y,
                )
                for z in group
            ]
            if None not in xi and max(xi) > 0:
                bound = m * (1 / max(xi) ** m - 1) * q
                assert sides.bound[x, column] == pytest.approx(float(bound))
            else:
                assert np.isnan(sides.bound[x, column])
            for z in group:
                T = here.mean(lambda x, Y, n, j=j: n == j, lambda x, Y, n, z=z: z in Y)
                order = [z, *sorted(group - {z})]
                chain = [
                    here.mean(
                        lambda x, Y, named, i=i: order[i] in Y,  # noqa: B023
                        lambda x, Y, named, i=i, j=j: named == j and set(order[:i]) <= Y,  # noqa: B023
                    )
                    for i in range(1, m)
                ]
                p = here.mean(lambda x, Y, named, z=z: z in Y)
                if T is None:
                    assert np.isnan(sides.exact[x, z, column])
                    continue
                assert sides.exact[x, z, column] == pytest.approx(float(T))
                if None not in chain and prod(chain):
                    printed = q / (prod(chain) * p)
                    assert sides.printed[x, z, column] == pytest.approx(float(printed))
                    # It is too large by one over p(all dependent labels apply | ybar_j, x).
                    every = here.mean(lambda x, Y, n: group <= Y, lambda x, Y, n, j=j: n == j)
                    assert printed * every == T
                given_named = here.mean(lambda x, Y, n, z=z: z in Y, lambda x, Y, n, j=j: n == j)
                if given_named is not None:
                    assert q * given_named / p == T  # Bayes' rule, without rounding
                    assert sides.bayes[x, z, column] == pytest.approx(float(T))


def test_distortions_take_the_matrices_they_say():
    joint = JointDistribution.random(5, n_points=3, n_dependent=2, exclusive=True, random_state=0)
    choice = random_choice(5, random_state=1)
    sides = check_theorem_2(joint, choice)
    T, T_x = exact_transition(joint, choice), exact_transition(joint, choice, given_x=True)
    Q = multiclass_transition(joint, choice)[0]
    q = joint.conditional @ choice
    for x in range(3):
        for column, j in enumerate((2, 3, 4)):
            expected = [
                sum(abs(T_x[x, z, j] - q[x, j]) for z in range(2)),
                sum(abs(T[z, j] - q[x, j]) for z in range(2)),
                sum(abs(T[z, j] - Q[z, j]) for z in range(2)),
            ]
            found = [sides.distortion, sides.shared_distortion, sides.anchor_distortion]
            np.testing.assert_allclose([each[x, column] for each in found], expected)


@given(st.integers(2, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_what_holds_instead(m, exclusive, seed):
    joint = JointDistribution.random(
        m + 2, n_points=2, size=(10,), n_dependent=m, exclusive=exclusive, random_state=seed
    )
    sides = check_theorem_2(
        joint, random_choice(m + 2, size=(10,), random_state=seed), n_dependent=m
    )
    np.testing.assert_allclose(sides.bayes, sides.exact)
    assert (sides.distortion >= np.abs(sides.covariance) - 1e-12).all()
    assert (sides.printed > sides.exact).all()  # nowhere the identity, where all sets occur


@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_identity_holds_where_all_dependent_labels_always_apply(m, seed):
    group = frozenset(range(m))
    world = random_world(m + 2, seed, allowed=lambda Y: group == Y)
    sides = check_theorem_2(*world.arrays(), n_dependent=m)
    np.testing.assert_allclose(sides.printed, sides.exact)
    np.testing.assert_allclose(sides.bound, 0, atol=1e-12)
    np.testing.assert_allclose(sides.distortion, 0, atol=1e-12)


def test_the_bound_grows_without_limit_while_the_distortion_does_not():
    bounds = []
    for both in (1e-2, 1e-4, 1e-6):
        rest = (1 - both) / 2
        joint = JointDistribution.dependent([[rest, rest, both]], n_labels=3)
        sides = check_theorem_2(joint, uniform_choice(3))
        assert sides.distortion.max() <= 2
        bounds.append(sides.bound.max())
    assert bounds[1] > 1000 * bounds[0]
    assert bounds[2] > 1000 * bounds[1]


@pytest.mark.parametrize("n_dependent", [1, 4])
def test_there_must_be_dependent_labels_and_others(n_dependent):
    joint = JointDistribution.random(4, random_state=0)
    with pytest.raises(InputError, match="n_dependent is"):
        check_theorem_2(joint, uniform_choice(4), n_dependent=n_dependent)
