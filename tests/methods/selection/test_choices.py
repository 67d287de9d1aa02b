"""Where a fit starts, and error rates under which held-out answers are likeliest."""

import numpy as np
import pytest
from scipy import optimize, special

from complabel.answers import Answers
from complabel.methods.selection._choices import Choices
from complabel.methods.selection._trials import likeliest_rates


def yes_no(n, rates, rng):
    """Yes/no answers of people who err at these rates, and the logits of the truth."""
    logits = 3 * rng.normal(size=(n, 3))
    truth = rng.random((n, 3)) < special.expit(logits)
    label, person = rng.integers(3, size=n), rng.integers(len(rates), size=n)
    said = truth[np.arange(n), label]
    at_random = rng.random(n) < np.asarray(rates)[person]
    said = np.where(at_random, rng.random(n) < 0.5, said)
    asked = np.eye(3, dtype=int)[label]
    answers = Answers.from_arrays(
        relevant=asked * said[:, np.newaxis], absent=asked * ~said[:, np.newaxis], annotator=person
    )
    chance = special.expit(logits[np.arange(n), label])
    return answers, logits, np.where(said, chance, 1 - chance), person


def by_one_annotator(chance):
    """The likeliest rate of one annotator, with the prior, by a search along a line."""

    def loss(e):
        return -np.log((1 - e) * chance + e / 2).sum() - np.log(e) - 9 * np.log1p(-e)

    return optimize.minimize_scalar(loss, bounds=(1e-9, 1 - 1e-9), method="bounded").x


def test_each_rate_is_the_likeliest_and_the_unknown_ones_is_the_prior():
    rng = np.random.default_rng(0)
    answers, logits, chance, person = yes_no(3000, [0.02, 0.4, 0.2], rng)
    found = likeliest_rates(Choices(answers), logits, None, np.full(4, 0.05))
    expected = [by_one_annotator(chance[person == each]) for each in range(3)]
    assert found[:3] == pytest.approx(expected, abs=1e-3)
    assert found[3] == pytest.approx(0.1, abs=1e-3)
    assert found[:3] == pytest.approx([0.02, 0.4, 0.2], abs=0.08)


def start(counts, *, cardinality, propensities=None):
    """The probabilities of the constant model for labels chosen so many times."""
    complementary = np.repeat(np.eye(len(counts), dtype=np.uint8), counts, axis=0)
    choices = Choices(Answers.from_complementary(complementary), propensities=propensities)
    return special.expit(choices.constant_logits(cardinality))


def test_a_label_chosen_twice_as_often_is_irrelevant_twice_as_often():
    # 4 - 1.5 labels of 4 are irrelevant: a tenth of 2.5 for the first, two tenths, three tenths.
    found = start([10, 20, 30, 40], cardinality=1.5)
    assert found[:3] == pytest.approx([0.75, 0.5, 0.25])
    assert found[3] == pytest.approx(0.02)  # 0 has no logit


def test_a_label_that_comes_to_mind_twice_as_readily_counts_half():
    found = start([10, 40, 30], cardinality=1.5, propensities=np.array([1.0, 2.0, 1.0]))
    assert found == pytest.approx(1 - 1.5 * np.array([10, 20, 30]) / 60)


def test_all_labels_start_alike_where_the_cardinality_is_open():
    assert start([25, 25, 50], cardinality=None) == pytest.approx([1 / 3, 1 / 3, 1 / 3])
