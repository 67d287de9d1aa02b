"""Rates of mistakes and exclusions, how small they may be, and contradictions that are refused."""

import numpy as np
import pytest
import torch
from tests.losses.answers_cases import container
from tests.losses.answers_reference import (
    answers_gradient_reference,
    answers_log_likelihood_reference,
)
from tests.refusals import raises

from complabel.errors import AnnotationError, InputError
from complabel.losses import AnswersLikelihood, answers_log_likelihood, check_rates

LOGITS = np.array([[1.0, -2.0, 0.5], [-0.3, 0.8, 2.5]])
ALL, FIRST, TWO = np.ones(3), np.array([1, 0, 0]), np.array([1, 1, 0])
# Of the first item two people judge the first label, and do not agree.
SAID = container(
    [
        {"item": 0, "annotator": 0, "question": "asked", "offered": FIRST, "relevant": FIRST},
        {"item": 0, "annotator": 1, "question": "asked", "offered": FIRST, "absent": FIRST},
        {"item": 1, "annotator": 0, "question": "named", "offered": ALL, "named": FIRST,
         "asked_for": 1},
        {"item": 1, "annotator": 1, "question": "named", "offered": TWO, "named": FIRST,
         "asked_for": 1},
    ],
    2,
    3,
)  # fmt: skip


def found(rates, dtype):
    """Values and gradients, as float64."""
    leaf = torch.tensor(LOGITS, dtype=dtype, requires_grad=True)
    values = answers_log_likelihood(leaf, SAID, error_rates=rates)
    (gradient,) = torch.autograd.grad(values.sum(), leaf)
    assert values.dtype == gradient.dtype == dtype
    return values.detach().double().numpy(), gradient.double().numpy()


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("rate", [1e-8, 1e-15, 1e-25])
def test_tiny_rates_of_mistakes(rate, dtype, tolerance):
    for rates in ([rate, rate], [rate, 0.3]):
        values, gradient = found(rates, dtype)
        expected = answers_log_likelihood_reference(LOGITS, SAID, error_rates=rates)
        slopes = answers_gradient_reference(LOGITS, SAID, error_rates=rates)
        np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(gradient, slopes, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("rate", [0.0, 1e-300, 1e-40])
def test_rates_of_next_to_nothing_leave_the_logarithm_finite(rate, dtype, tolerance):
    # Both people would have to be right about the first label; 1e-30 stands for the rate.
    values, gradient = found([rate, rate if rate else 0.3], dtype)
    expected = answers_log_likelihood_reference(
        LOGITS, SAID, error_rates=[1e-30, 1e-30 if rate else 0.3]
    )
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_of_next_to_nothing_are_finite(dtype):
    likelihood = AnswersLikelihood(SAID, with_error_rates=True, dtype=dtype)
    logits = torch.tensor(LOGITS, dtype=dtype)
    for rates in ([0.0, 0.0, 0.0], [1e-40, 0.5, 1.0], [1.0, 1.0, 1.0]):
        of = likelihood(logits, error_rates=torch.tensor(rates, dtype=dtype))
        for slopes in (of.values, of.through_log_odds):
            assert torch.isfinite(slopes).all()


@pytest.mark.parametrize(
    ("rates", "n", "message"),
    [
        (-0.1, 3, ("error_rates", "-0.1", "0", "1")),
        (np.nan, 3, ("error_rates", "nan")),
        ([0.1, 1.5, 2.0], 3, ("error_rates[1]", "1.5")),
        ([0.1], 3, "3 in all"),
        ([[0.1, 0.2, 0.3]], 3, "error_rates"),
        ([0.1], 0, "error_rates"),
    ],
    ids=str,
)
def test_what_is_no_rate_is_refused(rates, n, message):
    with raises(InputError, message):
        check_rates("error_rates", rates, n, "annotator")


@pytest.mark.parametrize("rates", [0.3, 0, [0, 0.3, 1], np.array([0, 1, 1], dtype=np.int8)])
def test_rates_become_one_for_each(rates):
    np.testing.assert_array_equal(check_rates("r", rates, 3, "label"), np.ones(3) * rates)


LAST = np.array([0, 0, 1])
YES = {"question": "asked", "offered": FIRST, "relevant": FIRST}
NO = {"question": "asked", "offered": FIRST, "absent": FIRST}
OTHER_NO = {"question": "asked", "offered": LAST, "absent": LAST}
NAMED = {"question": "named", "offered": ALL, "named": FIRST, "asked_for": 1, "all_apply": "never"}
PICKED = {**NAMED, "all_apply": "pick"}
# Two were asked for and the last was named, so the first applies.
COMPLETE = {**NAMED, "named": LAST, "asked_for": 2}
TOLD = {**NAMED, "named": LAST, "relevant": FIRST}  # volunteered beside a name
RULED_OUT = {"question": "excluded", "offered": ALL, "excluded": FIRST}
SPARED = {"question": "excluded", "offered": ALL, "excluded": LAST}


def likelihood(*rows, rates=0.5, **settings):
    """The likelihood of answers about the second of two items."""
    answers = container([{"item": 1, **row} for row in rows], 2, 3)
    rates = None if rates is None else np.broadcast_to(rates, 3).astype(float)
    return AnswersLikelihood(answers, exclusion_rates=rates, **settings)


@pytest.mark.parametrize(
    ("rows", "sure", "unsure"),
    [
        # Whether they are refused without error rates, and with them.
        ([YES, NO], True, False),
        ([YES, OTHER_NO], False, False),
        ([YES, NAMED], True, False),
        ([YES, PICKED], False, False),
        ([YES, PICKED, OTHER_NO], True, False),
        ([NO, COMPLETE], True, False),
        ([NO, {**COMPLETE, "all_apply": "skip"}], True, False),
        ([TOLD, NO], True, False),
        ([TOLD, RULED_OUT], True, True),
        ([YES, RULED_OUT], True, False),
        ([NO, SPARED], False, False),
    ],
)
def test_contradictions_are_refused_unless_they_may_be_mistakes(rows, sure, unsure):
    for with_error_rates, refused in ((False, sure), (True, unsure)):
        if not refused:
            likelihood(*rows, with_error_rates=with_error_rates)
            continue
        with raises(AnnotationError, "item 1", "label 0"):
            likelihood(*rows, with_error_rates=with_error_rates)


def test_who_is_spared_by_a_rule_that_misses_nothing_applies():
    with raises(AnnotationError, "label 0"):
        likelihood(NO, SPARED, rates=1.0)
    likelihood(NO, SPARED, rates=1.0, with_error_rates=True)


def test_exclusions_need_rates_above_0():
    with raises(InputError, "exclusion_rates"):
        likelihood(RULED_OUT, rates=None)
    likelihood(SPARED, rates=[0.0, 0.5, 0.5])
    with raises(InputError, "label 0", "item 1", "exclusion_rates[0]", "0"):
        likelihood(RULED_OUT, rates=[0.0, 0.5, 0.5])
