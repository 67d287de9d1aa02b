"""Rules of choice against their definitions, set by set."""

import numpy as np
import pytest
from research.theory import (
    JointDistribution,
    check_choice,
    cooccurrence_choice,
    propensity_choice,
    random_choice,
    uniform_choice,
)
from research.theory.tests.enumeration import all_sets, place

from complabel.errors import InputError
from complabel.simulate import draw_complementary


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_uniform_choice_is_one_over_the_number_of_labels_outside(n_labels):
    choice = uniform_choice(n_labels)
    for Y in all_sets(n_labels):
        expected = [0 if k in Y else 1 / (n_labels - len(Y)) for k in range(n_labels)]
        np.testing.assert_allclose(choice[place(Y)], expected)


def test_propensities_share_what_is_outside():
    w = [1.0, 2.0, 5.0, 0.5]
    choice = propensity_choice(w)
    for Y in all_sets(4):
        outside = sum(w[k] for k in range(4) if k not in Y)
        expected = [0 if k in Y else w[k] / outside for k in range(4)]
        np.testing.assert_allclose(choice[place(Y)], expected)
    assert propensity_choice(np.ones((7, 3))).shape == (7, 6, 3)


Y_SEEN = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 0, 1]] * 3)


@pytest.mark.parametrize("sharpness", [0, 1, 2.5])
def test_the_biased_choice_is_the_formula_of_the_simulated_annotator(sharpness):
    rates = np.stack([Y_SEEN[column == 1].mean(axis=0) for column in Y_SEEN.T])
    choice = cooccurrence_choice(JointDistribution.empirical(Y_SEEN), sharpness=sharpness)
    for row in np.unique(Y_SEEN, axis=0):
        relevant = np.flatnonzero(row)
        weight = [0 if row[j] else (1 - rates[relevant, j].mean()) ** sharpness for j in range(4)]
        np.testing.assert_allclose(choice[place(relevant)], np.divide(weight, sum(weight)))


def test_the_biased_choice_is_what_draws_follow():
    Y = np.repeat(Y_SEEN, 4000, axis=0)
    drawn = draw_complementary(Y, scheme="biased", sharpness=2, random_state=0)
    choice = cooccurrence_choice(JointDistribution.empirical(Y_SEEN), sharpness=2)
    for row in np.unique(Y_SEEN, axis=0):
        chosen = drawn[(row == Y).all(axis=1)]
        expected = choice[place(np.flatnonzero(row))]
        sd = np.sqrt(expected * (1 - expected) / len(chosen))
        assert (np.abs(chosen.mean(axis=0) - expected) <= 6 * sd).all()


def test_a_set_with_labels_that_always_come_along_is_uniform():
    always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)
    # {0}: label 1 always comes with it, label 2 never.
    np.testing.assert_array_equal(cooccurrence_choice(always)[0], [0, 0, 1])
    swapped = JointDistribution(np.full(2, 0.5), np.eye(6)[[2, 4]])  # {0, 1}, {0, 2}
    np.testing.assert_array_equal(cooccurrence_choice(swapped)[place([1, 2])], [1, 0, 0])
    assert np.isfinite(cooccurrence_choice(always, sharpness=3)).all()


def test_random_choices_are_choices():
    choice = random_choice(4, size=(3,), concentration=0.2, random_state=0)
    np.testing.assert_array_equal(check_choice(choice), choice)
    assert choice.shape == (3, 14, 4)


def inside():
    """Label 0 is named although it is in the set {0}."""
    choice = uniform_choice(3)
    choice[0] = [0.2, 0.4, 0.4]
    return choice


REFUSED = {
    "inside the set": (lambda: check_choice(inside()), r"label set \[0\] \(row 0\)"),
    "no sum of 1": (lambda: check_choice(uniform_choice(3) / 2), "sum to 1"),
    "another shape": (lambda: check_choice(np.ones((6, 4))), r"shape \(6, 4\)"),
    "a propensity of 0": (lambda: propensity_choice([1, 0, 1]), "positive"),
}


@pytest.mark.parametrize(("build", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_choice_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()
