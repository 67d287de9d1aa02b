"""Error rates of annotators are those under which held-out answers are likeliest."""

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
        relevant=asked * said[:, np.newaxis],
        absent=asked * ~said[:, np.newaxis],
        annotator=person,
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
