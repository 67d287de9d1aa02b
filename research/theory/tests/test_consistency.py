"""Minimizers of the complementary risk against a grid, and the claim where it holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from research.theory import (
    JointDistribution,
    check_consistency,
    estimated_transitions,
    exact_transition,
    random_choice,
    uniform_choice,
)
from research.theory.tests.enumeration import random_world

from complabel.errors import InputError, TransitionError
from complabel.transition import uniform_transition

LOSSES = ["cross-entropy", "squared", "both"]


def risk(f, T, named, loss):
    """The mean loss over the label that is named, for many f (n, K)."""
    implied = np.clip(f @ T, 1e-15, None)
    total = np.zeros(len(f))
    for j, chance in enumerate(named):
        indicator = np.eye(len(named))[j]
        if loss != "squared":
            no = np.where(implied < 1, np.log(np.maximum(1 - implied, 1e-300)), -np.inf)
            # 0 times a logarithm of 0 is 0.
            terms = np.where(indicator == 1, np.log(implied), no)
            total -= chance * terms.sum(axis=1)
        if loss != "cross-entropy":
            total += chance * ((indicator - implied) ** 2).sum(axis=1)
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_no_point_of_a_fine_grid_has_a_smaller_risk(loss, seed):
    joint = JointDistribution.random(3, n_points=4, concentration=0.5, random_state=seed)
    choice = random_choice(3, random_state=seed)
    T = exact_transition(joint, choice)
    found = check_consistency(joint, choice, T, loss=loss)
    axis = np.linspace(0, 1, 41)
    grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    for x in range(4):
        named = joint.conditional[x] @ choice
        near = np.clip(found.minimizer[x] + np.linspace(-0.02, 0.02, 5)[:, None], 0, 1)
        lowest = risk(np.vstack([grid, near]), T, named, loss).min()
        own = risk(found.minimizer[x : x + 1], T, named, loss)[0]
        assert own <= lowest + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_the_slope_at_the_minimum_points_out_of_the_box(loss):
    joint = JointDistribution.random(6, n_points=12, concentration=0.1, random_state=3)
    choice = uniform_choice(6)
    T = exact_transition(joint, choice)
    found = check_consistency(joint, choice, T, loss=loss)
    assert not found.reached.all()
    implied = found.minimizer @ T
    slope = np.zeros_like(implied)
    if loss != "squared":
        slope += (1 - found.named) / (1 - implied) - found.named / implied
    if loss != "cross-entropy":
        slope += 2 * (implied - found.named)
    slope = slope @ T.T
    f = found.minimizer
    assert (slope[f < 1e-9] >= -1e-4).all()
    assert (slope[f > 1 - 1e-9] <= 1e-4).all()
    assert np.abs(slope[(f >= 1e-9) & (f <= 1 - 1e-9)]).max() < 1e-4


def singles(n_labels, seed):
    """A world where just one label ever applies."""
    return random_world(n_labels, seed, n_points=6, allowed=lambda Y: len(Y) == 1)


@settings(max_examples=25)
@given(st.integers(3, 5), st.integers(0, 2**32 - 1))
def test_the_claim_holds_where_just_one_label_ever_applies(n_labels, seed):
    world = singles(n_labels, seed)
    distribution, choice = world.arrays()
    # T for all labels, also those that no x has: the rows of single labels.
    T = choice[2 ** np.arange(n_labels) - 1]
    if np.linalg.svd(T, compute_uv=False)[-1] < 1e-3:
        return  # the theorem is about matrices that can be inverted
    found = check_consistency(distribution, choice, T)
    assert found.reached.all()
    np.testing.assert_allclose(found.minimizer, found.posterior, atol=1e-9)
    assert found.error.max() < 1e-9
    assert found.wrong_labels.max() <= (np.abs(found.posterior - 0.5) < 1e-9).any()


@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_scores_sum_to_one_wherever_the_risk_reaches_its_bound(n_labels, seed):
    # So they are not p(y|x) where E[|Y| | x] > 1.
    joint = JointDistribution.random(n_labels, n_points=2 * n_labels, random_state=seed)
    choice = uniform_choice(n_labels)
    found = check_consistency(joint, choice, estimated_transitions(joint, choice).corrected)
    np.testing.assert_allclose(found.minimizer[found.reached].sum(axis=1), 1)
    np.testing.assert_allclose(
        found.minimizer[found.reached] @ estimated_transitions(joint, choice).corrected,
        found.named[found.reached],
        atol=1e-8,
    )
    excess = (found.posterior.sum(axis=1) - 1) / n_labels
    assert (found.error >= excess - 1e-8)[found.reached].all()


def test_errors_by_hand():
    # Always {1, 2} of three labels, and the uniform matrix: T^T f = (0, 0, 1) has the solution
    # (1, 1, -1), outside the box. Squared: f = (a, a, 0) has 2 (a/2)^2 + (1 - a)^2, so a = 2/3.
    joint = JointDistribution([1], np.eye(6)[[2]])
    found = check_consistency(joint, uniform_choice(3), uniform_transition(3), loss="squared")
    assert not found.reached[0]
    np.testing.assert_allclose(found.minimizer, [[2 / 3, 2 / 3, 0]], atol=1e-9)
    assert found.error == pytest.approx(1 / 3)
    assert found.proportional_error == pytest.approx(0, abs=1e-9)
    assert found.reversed_pairs == found.reversed_by_naming == found.wrong_labels == 0


def test_pairs_are_reversed_and_ties_count_half():
    # p(y|x) = (3/5, 2/5, 3/5) for {1, 3} with 3/5 and {2} with 2/5. Uniform choice:
    # p(ybar) = (1/5, 3/5, 1/5), so labels 1 and 3 come before label 2 as they should.
    joint = JointDistribution([1], [[0, 0.4, 0, 0, 0.6, 0]])
    found = check_consistency(joint, uniform_choice(3), uniform_transition(3))
    np.testing.assert_allclose(found.named, [[0.2, 0.6, 0.2]])
    np.testing.assert_allclose(found.minimizer.argmin(axis=1), [1])
    assert found.reversed_by_naming == found.reversed_pairs == 0
    # {1, 3} with 2/5 and {2} with 3/5: label 2 applies most often and is named most often.
    joint = JointDistribution([1], [[0, 0.6, 0, 0, 0.4, 0]])
    found = check_consistency(joint, uniform_choice(3), uniform_transition(3))
    np.testing.assert_allclose(found.named, [[0.3, 0.4, 0.3]])
    assert found.reversed_by_naming == 1
    assert found.reversed_pairs == 1
    # {1, 3} with 2/5: 2 is named. {2} with 3/5: 1 is named with 2/3, 3 with 1/3. Then p(ybar) =
    # (2/5, 2/5, 1/5), where label 2 ties with label 1 and comes after label 3.
    rule = uniform_choice(3)
    rule[1] = [2 / 3, 0, 1 / 3]
    found = check_consistency(joint, rule, uniform_transition(3))
    np.testing.assert_allclose(found.named, [[0.4, 0.4, 0.2]])
    assert found.reversed_by_naming == 0.75


def test_what_cannot_be_checked_is_refused():
    joint, choice = JointDistribution.random(3, random_state=0), uniform_choice(3)
    with pytest.raises(TransitionError, match="cannot be inverted"):
        check_consistency(joint, choice, np.full((3, 3), 1 / 3))
    with pytest.raises(TransitionError, match="never applies"):
        check_consistency(joint, choice, np.full((3, 3), np.nan))
    many = JointDistribution.random(3, size=(2,), random_state=0)
    with pytest.raises(InputError, match="one distribution"):
        check_consistency(many, choice, uniform_transition(3))
    with pytest.raises(InputError, match="loss must be"):
        check_consistency(joint, choice, uniform_transition(3), loss="hinge")
