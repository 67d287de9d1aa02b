"""How likely labels are to be named, against enumeration and the likelihood of answers."""

import itertools

import numpy as np
import pytest
import torch
from scipy import optimize, special

from complabel.answers import Answers
from complabel.frequencies._counts import Named
from complabel.frequencies._naming import Integrals, NamingLikelihood
from complabel.losses import AnswersLikelihood


def parameters(n_labels, seed=0, sd=1.0):
    """Logits and log-propensities of labels."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(-1, 1, size=n_labels), sd * rng.standard_normal(size=n_labels)]
    )


def chance_of(label, offered, at):
    """Probability that a label is the one named of those offered, over all sets of labels."""
    logits, log_w = np.split(at, 2)
    p, w, total = special.expit(logits), np.exp(log_w), 0.0
    for applies in itertools.product((0, 1), repeat=len(p)):
        chance = np.prod(np.where(applies, p, 1 - p))
        left = [k for k in offered if not applies[k]]
        if label is None:
            total += chance * (not left)
        elif label in left:
            total += chance * w[label] / w[left].sum()
    return total


@pytest.mark.parametrize(("n_labels", "sd"), [(14, 0.0), (14, 1.4), (80, 0.5), (300, 1.0)])
def test_integrals_agree_with_the_likelihood_of_answers(n_labels, sd):
    at = parameters(n_labels, sd=sd)
    answers = Answers.from_arrays(named=np.eye(n_labels, dtype=np.uint8), all_apply="never")
    logits, log_w = (torch.as_tensor(part) for part in np.split(at, 2))
    found = AnswersLikelihood(answers)(
        logits.expand(n_labels, -1), log_propensities=log_w.expand(n_labels, -1)
    )
    integrals = Integrals.at(at)
    np.testing.assert_allclose(integrals.log_chances, found.values, rtol=1e-7)
    slopes = torch.cat([found.through_logits, found.through_log_propensities], dim=1)
    np.testing.assert_allclose(integrals.gradients(), slopes, rtol=1e-5, atol=1e-8)


MENUS = Answers.from_arrays(
    named=[[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]],
    offered=[[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
    probability=[1 / 6, 1 / 6, 1 / 4, 1 / 6, np.nan, np.nan],
)


def test_menus_and_free_naming_are_counted_together():
    likelihood = NamingLikelihood(Named.of(MENUS))
    at = parameters(4)
    expected = [
        2 * np.log(chance_of(0, (0, 1), at)),
        np.log(chance_of(2, (1, 2, 3), at)),
        np.log(chance_of(None, (1, 3), at)),
        2 * np.log(chance_of(3, range(4), at)),
    ]
    assert likelihood.value_and_gradient(at)[0] == pytest.approx(sum(expected), rel=1e-8)


def test_mistakes_on_menus_are_any_answer_that_is_allowed():
    named = Named.of(MENUS.only([True] * 4 + [False] * 2))
    likelihood, at = NamingLikelihood(named, error_rate=0.3), parameters(4)
    right = [
        chance_of(0, (0, 1), at),
        chance_of(0, (0, 1), at),
        chance_of(2, (1, 2, 3), at),
        chance_of(None, (1, 3), at),
    ]
    mistaken = 1 / np.array([3, 3, 4, 3])  # one of the labels, or that all apply
    expected = np.log(0.7 * np.array(right) + 0.3 * mistaken).sum()
    assert likelihood.value_and_gradient(at)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("asked_for", [1, 2])
def test_error_rates_reach_one_that_explains_every_answer_that_all_apply(asked_for):
    offered = np.tile([1, 1, 1, 0, 0], (40, 1))
    named = np.zeros((40, 5), dtype=np.uint8)
    named[2:, 0] = 1  # two of forty say that all apply
    answers = Answers.from_arrays(
        named=named, offered=offered, asked_for=asked_for, probability=0.1
    )
    likelihoods = NamingLikelihood.with_mistakes(Named.of(answers))
    rates = [each.error_rate for each in likelihoods]
    allowed = 4 if asked_for == 1 else 7  # no label, one of three, or two of three
    assert rates[0] == 0
    assert rates[-1] == pytest.approx(1.2 * 2 / 40 * allowed)
    weights = np.exp([each.log_prior for each in likelihoods])
    assert weights.sum() == pytest.approx(1 - (1 - rates[-1]) ** 9)  # Beta(1, 9) up to there


ALL_NEVER_APPLY = Answers.from_arrays(
    named=[[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]], all_apply=["never", "never", "answer"]
)


def test_where_all_labels_never_apply_one_is_always_named():
    likelihood = NamingLikelihood(Named.of(ALL_NEVER_APPLY))
    at = parameters(4)
    at[:4] += 2.0  # so that all labels apply often
    named = [chance_of(label, range(4), at) for label in range(4)]
    expected = np.log(named[2] * named[1] ** 2 / sum(named) ** 2)
    assert likelihood.value_and_gradient(at)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    "answers",
    [MENUS, ALL_NEVER_APPLY, Answers.from_arrays(named=[[1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]])],
)
def test_gradients_agree_with_finite_differences(answers):
    likelihood = NamingLikelihood(Named.of(answers))
    at = parameters(4, seed=1)
    expected = optimize.approx_fprime(at, lambda x: likelihood.value_and_gradient(x)[0], 1e-6)
    np.testing.assert_allclose(likelihood.value_and_gradient(at)[1], expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("logits", "never_all"),
    [([-9.0, -8.0, -8.5], 0), ([0.5, 1.0, -0.3], 1000)],
    ids=["all apply next to never", "all apply never"],
)
def test_information_is_the_expected_curvature_where_all_is_counted_as_often_as_expected(
    logits, never_all
):
    # In both cases one label is always named.
    at = np.array([*logits, 0.3, -0.4, 0.1])
    chances = np.exp(Integrals.at(at).log_chances)
    likelihood = NamingLikelihood(
        Named(1000 * chances / chances.sum(), None, np.empty(0), never_all)
    )
    steps = np.eye(6) * 1e-5
    slope = [
        (likelihood.value_and_gradient(at + s)[1] - likelihood.value_and_gradient(at - s)[1]) / 2e-5
        for s in steps
    ]
    np.testing.assert_allclose(likelihood.information(at), -np.array(slope), rtol=1e-3, atol=0.5)
