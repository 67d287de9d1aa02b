"""The likelihood of any mix of answers, and its gradient, by enumeration of all label sets."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.losses.answers_cases import MASKS, Case, cases, container
from tests.losses.answers_reference import (
    answers_gradient_reference,
    answers_log_likelihood_reference,
    item_log_likelihood,
    rates_of_lists,
    read_answers,
)

from complabel.answers import Answers
from complabel.losses import AnswersLikelihood, answers_log_likelihood


def found(logits, answers, *, dtype=torch.float64, **of):
    """The library's values (n,) and gradients (n, K) of them."""
    leaf = torch.tensor(np.asarray(logits), dtype=dtype, requires_grad=True)
    values = answers_log_likelihood(leaf, answers, **of)
    (gradient,) = torch.autograd.grad(values.sum(), leaf)
    assert values.dtype == gradient.dtype == dtype
    return values.detach().numpy(), gradient.numpy()


def check(case, tolerance=None):
    """Hold value and gradient against the oracle's."""
    atol = case.tolerance if tolerance is None else tolerance
    values, gradient = found(case.logits, case.answers, **case.settings)
    expected = answers_log_likelihood_reference(case.logits, case.answers, **case.settings)
    slopes = answers_gradient_reference(case.logits, case.answers, **case.settings)
    # A relative error of the likelihood is an absolute one of its logarithm.
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=atol)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-13, atol=atol)


@examples(40)
@given(cases())
def test_all_kinds_mixed(case):
    check(case)


@given(cases(questions=("named", "positive"), propensities=False, most_answers=1, most_named=5))
def test_one_naming_without_propensities(case):
    assert case.tolerance == 1e-12
    check(case)


@examples(30)
@given(cases(questions=("named", "positive", "asked"), most_named=1, rates=(0.0,)))
def test_several_namings_and_facts(case):
    check(case)


@given(cases(questions=("asked", "ticked", "excluded", "tagged")))
def test_facts_alone_are_exact_to_rounding(case):
    check(case, tolerance=1e-13)


# Where some make mistakes, a rate of 0 is taken for 1e-30, which is much beside such chances.
NONE_OR_ALL_MISTAKEN = st.sampled_from([(0.0,), (0.15, 0.6)])


@given(NONE_OR_ALL_MISTAKEN.flatmap(lambda e: cases(scale=30.0, most_labels=6, rates=e)))
def test_extreme_logits(case):
    check(case)


@examples(30)
@given(cases(most_labels=4, most_items=2, rates=(0.1, 0.4, 0.8)), st.integers(0, 99))
def test_gradients_of_propensities_and_rates(case, seed):
    answers, n_labels = case.answers, case.logits.shape[1]
    rng = np.random.default_rng(seed)
    log_w, odds = rng.normal(size=n_labels), rng.normal(size=len(answers.annotator_names) + 1)
    known = rates_of_lists(case.settings, n_labels)
    likelihood = AnswersLikelihood(answers, with_error_rates=True, **known)
    found = likelihood(
        torch.tensor(case.logits),
        log_propensities=torch.tensor(log_w),
        error_rates=torch.sigmoid(torch.tensor(odds)),
    )

    def total(log_w, odds):
        # The rate at the end is that of unknown annotators, whose code is -1.
        by_item = read_answers(answers, 1 / (1 + np.exp(-odds)), unknown_last=True)
        return sum(
            item_log_likelihood(z, row, np.exp(log_w), known, mistakes=True)
            for z, row in zip(case.logits, by_item, strict=True)
        )

    check_slopes(found, total, log_w, odds)


def check_slopes(found, total, log_w, odds):
    """Hold value and slopes against the oracle's, and its finite differences."""
    assert float(found.values.sum()) == pytest.approx(float(total(log_w, odds)), abs=1e-8)
    for at, slopes in enumerate((found.through_log_propensities, found.through_log_odds)):
        for place in np.ndindex(slopes.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [log_w.copy(), odds.copy()]
                moved[at][place] += step
                ends.append(total(*moved))
            assert float(slopes[place]) == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)


def check_single_precision(case):
    logits = case.logits.astype(np.float32)
    values, gradient = found(logits, case.answers, dtype=torch.float32, **case.settings)
    expected = answers_log_likelihood_reference(logits.astype(float), case.answers, **case.settings)
    slopes = answers_gradient_reference(logits, case.answers, **case.settings)
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-3, atol=1e-4)


@examples(25)
@given(cases(scale=4.0))
def test_single_precision(case):
    check_single_precision(case)


# Relations


def rebuilt(answers, places, items=None):
    """The same answers in another order, with items renumbered."""
    arrays = {name: getattr(answers, name).toarray()[places] for name in MASKS}
    for name in ("question", "annotator", "asked_for", "all_apply", "none_applies"):
        arrays[name] = getattr(answers, name)[places]
    item = answers.item if items is None else np.argsort(items)[answers.item]
    return Answers.from_arrays(**arrays, item=item[places], n_items=answers.n_items)


@examples(25)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_answers_and_items_does_not_matter(case, random):
    places = np.array(
        random.sample(range(case.answers.n_answers), case.answers.n_answers), dtype=np.intp
    )
    items = np.array(random.sample(range(len(case.logits)), len(case.logits)))
    expected = found(case.logits, case.answers, **case.settings)
    shuffled = found(case.logits, rebuilt(case.answers, places), **case.settings)
    moved = rebuilt(case.answers, places, items=items)
    for value, same, other, again in zip(
        expected,
        shuffled,
        found(case.logits[items], moved, **case.settings),
        found(case.logits[items], case.answers[items], **case.settings),
        strict=True,
    ):
        for each, wanted in ((same, value), (other, value[items]), (again, value[items])):
            np.testing.assert_allclose(each, wanted, rtol=1e-12, atol=1e-12)


def test_complete_namings_that_may_be_skipped_are_a_composite():
    row = {"item": 0, "question": "named", "named": [1, 0, 0, 0], "asked_for": 2}
    row |= {"all_apply": "skip"}
    menus = [{**row, "offered": menu} for menu in ([1, 1, 1, 0], [1, 0, 1, 1])]
    logits = np.array([[0.3, -0.5, 1.0, 0.2]])
    check(Case(logits, container(menus, 1, 4), {"error_rates": 0.0}), tolerance=1e-12)


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
