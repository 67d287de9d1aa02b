"""Where a fit starts, the prior of biases, and rates under which held-out answers are likeliest."""

import numpy as np
import pytest
from scipy import optimize, special

from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._known import KnownRates, Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._prior import variances_of_biases, widening
from complabel.methods.selection._trials import likeliest_rates
from complabel.simulate import draw_answers


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
    found = likeliest_rates(Likelihood(answers), logits, None, np.full(4, 0.05))
    expected = [by_one_annotator(chance[person == each]) for each in range(3)]
    assert found[:3] == pytest.approx(expected, abs=1e-3)
    assert found[3] == pytest.approx(0.1, abs=1e-3)
    assert found[:3] == pytest.approx([0.02, 0.4, 0.2], abs=0.08)


def start(counts, *, cardinality, propensities=None):
    """The probabilities of the constant model for labels chosen so many times."""
    complementary = np.repeat(np.eye(len(counts), dtype=np.uint8), counts, axis=0)
    answers, known = Answers.from_complementary(complementary), KnownRates(propensities)
    return special.expit(Likelihood(answers, known).constant_logits(cardinality))


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


def spread_found(biases, n, *, question="free", seed=0):
    """The standard deviation of the prior that n answers about labels with these biases lead to."""
    p = special.expit(biases)
    relevant = (np.random.default_rng(seed).random((n, len(biases))) < p).astype(np.uint8)
    answers = draw_answers(relevant, question=question, random_state=100 + seed)
    cardinality = None if question == "asked" else float(p.sum())
    setting = Setting(FeatureMap("global"), alpha=1.0, cardinality=cardinality)
    return float(variances_of_biases(Likelihood(answers), setting, [n])) ** 0.5


@pytest.mark.parametrize(
    ("question", "n"), [("free", 100_000), ("menu-3", 20_000), ("asked", 20_000)]
)
def test_the_prior_of_biases_is_as_wide_as_biases_are(question, n):
    biases = -1 + 0.5 * np.random.default_rng(1).normal(size=20)
    assert spread_found(biases, n, question=question) == pytest.approx(biases.std(), rel=0.3)


def test_biases_differ_more_than_logits_of_frequencies_do():
    rng = np.random.default_rng(0)
    biases = 0.3 * rng.normal(size=40)
    logits = biases + 2.5 * rng.normal(size=(20_000, 40))
    of_frequencies = special.logit(special.expit(logits).mean(axis=0))
    assert biases.var() == pytest.approx(of_frequencies.var() * widening(logits), rel=0.15)


def test_the_prior_is_narrow_where_chance_explains_the_counts():
    # With 40 namings a label, the logits of frequencies have errors of about .8.
    assert spread_found(np.full(10, -1.5), 400, seed=2) < 0.4


def test_few_namings_hardly_tell_labels_apart_and_many_do():
    complementary = np.repeat(np.eye(4, dtype=np.uint8), [8, 11, 9, 12], axis=0)
    ratios = []
    for times in (1, 400):
        y = np.tile(complementary, (times, 1))
        classifier = SelectionLikelihoodClassifier(
            alpha=1.0, cardinality=1.5, scaling="global", kernel="linear", random_state=0
        )
        X = np.random.default_rng(0).normal(size=(len(y), 1))
        p = special.expit(classifier.fit(X, y).intercept_)
        # Without a prior, 1 - p is in proportion to how often a label is named.
        ratios.append((p.max() - p.min()) / (2.5 * 4 / 40))
    assert ratios[0] < 0.4
    assert ratios[1] == pytest.approx(1, abs=0.15)
