"""Rates of mistakes and exclusions: how small they may be, and which are refused."""

import numpy as np
import pytest
import torch
from tests.losses.answers_cases import container
from tests.losses.answers_reference import (
    answers_gradient_reference,
    answers_log_likelihood_reference,
)

from complabel.errors import InputError
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
        (-0.1, 3, r"error_rates is -0\.1; give rates between 0 and 1"),
        (np.nan, 3, "error_rates is nan"),
        ([0.1, 1.5, 2.0], 3, r"error_rates\[1\] is 1\.5"),
        ([0.1], 3, "give one number, or one for each annotator, 3 in all"),
        ([[0.1, 0.2, 0.3]], 3, "give one number, or one for each annotator"),
        ([0.1], 0, "no annotator is named; give one number for all"),
    ],
    ids=str,
)
def test_what_is_no_rate_is_refused(rates, n, message):
    with pytest.raises(InputError, match=message):
        check_rates("error_rates", rates, n, "annotator")


@pytest.mark.parametrize("rates", [0.3, 0, [0, 0.3, 1], np.array([0, 1, 1], dtype=np.int8)])
def test_rates_become_one_for_each(rates):
    np.testing.assert_array_equal(check_rates("r", rates, 3, "label"), np.ones(3) * rates)
