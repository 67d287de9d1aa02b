"""Transition matrices against sums of fractions, and against the functions that estimate."""

from math import lcm

import numpy as np
import pytest
from research.theory import (
    JointDistribution,
    complementary_probabilities,
    distortion,
    estimated_transitions,
    exact_transition,
    multiclass_transition,
    random_choice,
    uniform_choice,
)
from research.theory.tests.enumeration import as_floats, random_world

from complabel.errors import InputError, TransitionError
from complabel.transition import corrected_transition, initial_transition, label_correlation

CASES = [(3, 0), (3, 1), (4, 2), (5, 3)]
worlds = pytest.mark.parametrize(("n_labels", "seed"), CASES, ids=lambda value: f"{value}")


@worlds
def test_the_exact_matrices_are_conditional_probabilities(n_labels, seed):
    world = random_world(n_labels, seed)
    arrays = world.arrays()
    np.testing.assert_allclose(exact_transition(*arrays), as_floats(world.transition()))
    at_each = [world.at(x).transition() for x in range(2)]
    np.testing.assert_allclose(exact_transition(*arrays, given_x=True), as_floats(at_each))
    named = [[world.at(x).named(j) for j in range(n_labels)] for x in range(2)]
    np.testing.assert_allclose(complementary_probabilities(*arrays), as_floats(named))


@worlds
def test_the_estimates_are_their_definitions(n_labels, seed):
    world = random_world(n_labels, seed)
    labels, estimate = range(n_labels), estimated_transitions(*world.arrays())
    q = [[world.at(x).named(j) for j in labels] for x in range(2)]

    def mean(value, k):
        """Over the items with candidate k."""
        return world.mean(value, lambda x, Y, named: named != k)

    S = [[(j != k) * mean(lambda x, Y, n, j=j: q[x][j], k) for j in labels] for k in labels]
    printed = [[(j != k) * mean(lambda x, Y, n, j=j: n == j, k) for j in labels] for k in labels]
    C = [[mean(lambda x, Y, n, j=j: n != j, k) for j in labels] for k in labels]
    T = [
        [(j != k) * sum(S[k][i] * C[j][i] for i in labels) for j in labels] for k in labels
    ]  # T = S C^T
    T = [[value / sum(row) for value in row] for row in T]
    np.testing.assert_allclose(estimate.initial, as_floats(S))
    np.testing.assert_allclose(estimate.printed_initial, as_floats(printed))
    np.testing.assert_allclose(estimate.correlation, as_floats(C))
    np.testing.assert_allclose(estimate.corrected, as_floats(T))


def test_the_estimates_are_what_the_method_computes_from_all_data():
    world = random_world(4, seed=5)
    size = lcm(*(chance.denominator for *_, chance in world.outcomes))
    items = [case for *case, chance in world.outcomes for _ in range(int(chance * size))]
    q = as_floats([[world.at(x).named(j) for j in range(4)] for x in range(2)])
    complementary = np.eye(4, dtype=np.uint8)[[named for _, _, named in items]]
    S = initial_transition(q[[x for x, _, _ in items]], complementary)
    C = label_correlation(complementary)
    estimate = estimated_transitions(*world.arrays())
    np.testing.assert_allclose(estimate.initial, S)
    np.testing.assert_allclose(estimate.correlation, C)
    np.testing.assert_allclose(estimate.corrected, corrected_transition(S, C))


def test_candidates_correlate_by_how_often_labels_are_named_and_by_nothing_else():
    # Two worlds of one x with the same p(ybar): always {0}, or {0, 1} and {0, 2} half each.
    single = JointDistribution([1], np.eye(6)[:1])
    pairs = JointDistribution([1], [[0, 0, 0.5, 0, 0.5, 0]])
    one, other = (estimated_transitions(each, uniform_choice(3)) for each in (single, pairs))
    np.testing.assert_allclose(one.correlation, other.correlation)
    np.testing.assert_allclose(one.correlation, 1 - one.printed_initial)
    np.testing.assert_allclose(one.corrected, other.corrected)


def test_anchors_give_the_row_of_a_single_label():
    choice = random_choice(3, random_state=0)
    # Labels 0 and 1 have an anchor, at the second and the first x; label 2 is purest at the last.
    joint = JointDistribution(np.full(3, 1 / 3), [np.eye(6)[1], np.eye(6)[0], np.full(6, 1 / 6)])
    Q, anchored = multiclass_transition(joint, choice)
    np.testing.assert_array_equal(anchored, [True, True, False])
    np.testing.assert_allclose(Q[0], choice[0])
    np.testing.assert_allclose(Q[1], choice[1])
    np.testing.assert_allclose(Q[2], choice.mean(axis=0))


def test_many_distributions_at_once_are_each_by_itself():
    many = JointDistribution.random(4, n_points=3, size=(6,), random_state=0)
    choice = random_choice(4, size=(6,), random_state=1)
    for i in range(6):
        one = JointDistribution(many.weights[i], many.conditional[i])
        for given_x in (False, True):
            np.testing.assert_allclose(
                exact_transition(many, choice, given_x=given_x)[i],
                exact_transition(one, choice[i], given_x=given_x),
            )
        np.testing.assert_allclose(
            estimated_transitions(many, choice).corrected[i],
            estimated_transitions(one, choice[i]).corrected,
        )
        np.testing.assert_allclose(
            multiclass_transition(many, choice)[0][i], multiclass_transition(one, choice[i])[0]
        )


def test_distortion_sums_absolute_differences_down_the_columns():
    T = np.array([[0, 0.5, 0.5], [1, 0, 0], [np.nan] * 3])
    Q = np.array([[0.1, 0.4, 0.5], [0.5, 0, 0.5], [1, 0, 0]])
    np.testing.assert_allclose(distortion(T, Q), [0.6, 0.1, 0.5])


def test_a_choice_for_another_number_of_labels_is_refused():
    joint = JointDistribution.random(3, random_state=0)
    with pytest.raises(InputError, match=r"needs \(6, 3\)"):
        exact_transition(joint, uniform_choice(4))


def test_a_label_that_is_always_named_leaves_no_candidates():
    always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)
    with pytest.raises(TransitionError, match="complementary for every item"):
        estimated_transitions(always, uniform_choice(3))
