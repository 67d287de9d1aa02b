"""The likelihood of any mix of answers, and its gradient, by enumeration of all label sets."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.losses.answers_cases import cases, container, masks, some_logits
from tests.losses.answers_reference import (
    answers_gradient_reference,
    answers_log_likelihood_reference,
    item_log_likelihood,
    read_answers,
)

from complabel.losses import AnswersLikelihood, answers_log_likelihood


def found(logits, answers, **of):
    """The library's values (n,) and gradients (n, K) of them."""
    leaf = torch.tensor(np.asarray(logits), dtype=torch.float64, requires_grad=True)
    values = answers_log_likelihood(leaf, answers, **of)
    (gradient,) = torch.autograd.grad(values.sum(), leaf)
    return values.detach().numpy(), gradient.numpy()


def check(case):
    """Hold value and gradient against the oracle's."""
    values, gradient = found(case.logits, case.answers, **case.settings)
    expected = answers_log_likelihood_reference(case.logits, case.answers, **case.settings)
    slopes = answers_gradient_reference(case.logits, case.answers, **case.settings)
    # A relative error of the likelihood is an absolute one of its logarithm.
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=case.tolerance)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-13, atol=case.tolerance)


@examples(200)
@given(cases())
def test_all_kinds_mixed(case):
    check(case)


@given(cases(questions=("named",), propensities=False, most_answers=1, most_named=5))
def test_one_naming_without_propensities(case):
    assert case.tolerance == 1e-12
    check(case)


@given(cases(questions=("named", "asked"), most_named=1, rates=(0.0,)))
def test_several_namings_and_facts(case):
    check(case)


@given(cases(questions=("asked", "ticked", "excluded")))
def test_facts_alone_are_exact_to_rounding(case):
    values, gradient = found(case.logits, case.answers, **case.settings)
    expected = answers_log_likelihood_reference(case.logits, case.answers, **case.settings)
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-13)
    slopes = answers_gradient_reference(case.logits, case.answers, **case.settings)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-13, atol=1e-13)


# Where some make mistakes, a rate of 0 is taken for 1e-30, which is much beside such chances.
NONE_OR_ALL_MISTAKEN = st.sampled_from([(0.0,), (0.15, 0.6)])


@given(NONE_OR_ALL_MISTAKEN.flatmap(lambda e: cases(scale=30.0, most_labels=6, rates=e)))
def test_extreme_logits(case):
    check(case)


@examples(15)
@given(cases(most_labels=4, most_items=2))
def test_gradients_by_finite_differences_of_the_oracle(case):
    _, gradient = found(case.logits, case.answers, **case.settings)
    for k in range(case.logits.shape[1]):
        step = 1e-5 * np.eye(case.logits.shape[1])[k]
        ahead, behind = (
            answers_log_likelihood_reference(
                case.logits + sign * step, case.answers, **case.settings
            )
            for sign in (1, -1)
        )
        np.testing.assert_allclose(gradient[:, k], (ahead - behind) / 2e-5, rtol=0, atol=1e-5)


@examples(30)
@given(cases(most_labels=4, most_items=2, rates=(0.1, 0.4, 0.8)), st.integers(0, 99))
def test_gradients_of_propensities_and_rates(case, seed):
    answers, n_labels = case.answers, case.logits.shape[1]
    rng = np.random.default_rng(seed)
    log_w, odds = rng.normal(size=n_labels), rng.normal(size=len(answers.annotator_names) + 1)
    known = {"exclusion_rates": np.broadcast_to(case.settings["exclusion_rates"], n_labels)}
    likelihood = AnswersLikelihood(answers, with_error_rates=True, **known)
    found = likelihood(
        torch.tensor(case.logits),
        log_propensities=torch.tensor(log_w),
        error_rates=torch.sigmoid(torch.tensor(odds)),
    )

    def total(log_w, odds):
        # The rate at the end is that of unknown annotators, whose code is -1.
        of = {"propensities": np.exp(log_w), "error_rates": 1 / (1 + np.exp(-odds)), **known}
        by_item = read_answers(answers, of["error_rates"], unknown_last=True)
        return sum(
            item_log_likelihood(z, row, of["propensities"], of["exclusion_rates"], mistakes=True)
            for z, row in zip(case.logits, by_item, strict=True)
        )

    assert float(found.values.sum()) == pytest.approx(float(total(log_w, odds)), abs=1e-8)
    for k, step in enumerate(1e-5 * np.eye(n_labels)):
        slope = (total(log_w + step, odds) - total(log_w - step, odds)) / 2e-5
        assert float(found.through_log_propensities[k]) == pytest.approx(slope, abs=1e-6)
    for k, step in enumerate(1e-5 * np.eye(len(odds))):
        slope = (total(log_w, odds + step) - total(log_w, odds - step)) / 2e-5
        assert float(found.through_log_odds[k]) == pytest.approx(slope, abs=1e-6)


@examples(15)
@given(cases(most_labels=4, most_items=2, scale=3.0))
def test_autograd_agrees_with_the_values(case):
    leaf = torch.tensor(case.logits, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda z: answers_log_likelihood(z, case.answers, **case.settings), (leaf,), atol=1e-4
    )


@given(cases(scale=4.0))
def test_single_precision(case):
    leaf = torch.tensor(case.logits, dtype=torch.float32, requires_grad=True)
    values = answers_log_likelihood(leaf, case.answers, **case.settings)
    assert values.dtype == torch.float32
    (gradient,) = torch.autograd.grad(values.sum(), leaf)
    assert gradient.dtype == torch.float32
    logits = leaf.detach().double().numpy()
    expected = answers_log_likelihood_reference(logits, case.answers, **case.settings)
    np.testing.assert_allclose(values.detach(), expected, rtol=1e-4, atol=1e-4)
    slopes = answers_gradient_reference(logits, case.answers, **case.settings)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-3, atol=1e-4)


# All answers to one question


@st.composite
def questions(draw, most_named=3):
    """Draw logits (K,), a menu, how many are asked for, and an error rate; with propensities."""
    n_labels = draw(st.integers(2, 6))
    weights = draw(st.none() | st.lists(st.floats(0.2, 5), min_size=n_labels, max_size=n_labels))
    return (
        draw(some_logits(1, n_labels))[0],
        draw(masks(n_labels, least=2)),
        draw(st.integers(1, most_named)),
        {"error_rates": draw(st.sampled_from([0.0, 0.2, 1.0])), "propensities": weights},
    )


def all_namings(logits, menu, m, all_apply, of):
    """The sum of the probabilities of everything that can be named."""
    labels = np.flatnonzero(menu)
    least = 0 if all_apply == "answer" else 1
    sizes = range(least, min(m, len(labels)) + 1)
    sets = [named for size in sizes for named in itertools.combinations(labels, size)]
    rows = [
        {
            "item": item,
            "question": "named",
            "offered": menu,
            "named": np.isin(np.arange(len(menu)), named),
            "asked_for": m,
            "all_apply": all_apply,
        }
        for item, named in enumerate(sets)
    ]
    answers = container(rows, len(rows), len(menu))
    return np.exp(found(np.tile(logits, (len(rows), 1)), answers, **of)[0]).sum()


@given(questions())
def test_all_answers_to_one_question_sum_to_one(question):
    logits, menu, m, of = question
    m = min(m, menu.sum())
    tolerance = 1e-12 if of["propensities"] is None else 1e-8
    assert all_namings(logits, menu, m, "answer", of) == pytest.approx(1, rel=tolerance)
    all_apply = np.prod(1 / (1 + np.exp(-logits[menu])))
    some = 1 - (1 - of["error_rates"]) * all_apply
    assert all_namings(logits, menu, m, "never", of) == pytest.approx(some, rel=tolerance)
    assert all_namings(logits, menu, m, "skip", of) == pytest.approx(1, rel=tolerance)
    assert all_namings(logits, menu, 1, "pick", of) == pytest.approx(1, rel=tolerance)


@given(questions(most_named=1), st.sampled_from([0.0, 0.3]))
def test_all_judgements_sum_to_one(question, rate):
    logits, menu, _, _ = question
    labels = np.flatnonzero(menu)
    rows = [
        {
            "item": item,
            "question": "ticked",
            "offered": menu,
            "absent": np.isin(np.arange(len(menu)), labels[list(marks)]),
            "relevant": np.isin(np.arange(len(menu)), labels[[not mark for mark in marks]]),
        }
        for item, marks in enumerate(itertools.product((False, True), repeat=len(labels)))
    ]
    answers = container(rows, len(rows), len(menu))
    values, _ = found(np.tile(logits, (len(rows), 1)), answers, error_rates=rate)
    assert math.fsum(np.exp(values)) == pytest.approx(1, rel=1e-12)


# Shapes


def test_items_without_an_answer_say_nothing():
    rows = [{"item": 1, "question": "asked", "offered": [1, 0, 0], "relevant": [1, 0, 0]}]
    values, gradient = found(np.ones((3, 3)), container(rows, 3, 3))
    np.testing.assert_allclose(values, [0, -np.log1p(np.exp(-1)), 0], rtol=1e-14, atol=0)
    assert not gradient[[0, 2]].any()


def test_no_answer_at_all_and_no_item_at_all():
    values, gradient = found(np.ones((2, 3)), container([], 2, 3))
    assert not values.any()
    assert not gradient.any()
    assert found(np.ones((0, 3)), container([], 0, 3))[0].shape == (0,)


@pytest.mark.parametrize("logit", [15.0, 20.5, 25.0, 39.0, 45.0])
def test_labels_named_that_seemed_sure_to_apply(logit):
    menu, named = np.ones(4), [1, 1, 0, 0]
    row = {"item": 0, "question": "named", "offered": menu, "named": named, "asked_for": 2}
    values, _ = found([[logit, 0.0, 0.0, 0.0]], container([row], 1, 4))
    # Of the others none, one or two do not apply, and two labels of 2, 3 or 4 are named.
    rest = math.log(1 / 2 * (1 / 4 + 1 / 2 / 3 + 1 / 4 / 6))
    assert values[0] == pytest.approx(-logit - math.log1p(math.exp(-logit)) + rest, rel=1e-14)
