"""Weights of answers: exponents of probabilities, by the enumeration of all label sets."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.losses.answers_cases import cases
from tests.losses.answers_reference import answers_log_likelihood_reference
from tests.losses.test_batches import likelihood_of

from complabel.answers import Answers
from complabel.losses import answers_log_likelihood

MOST = 3
GRADIENTS = ("through_logits", "through_log_propensities", "through_log_odds")


@st.composite
def weighted_cases(draw, **given):
    """Draw a `Case` whose answers have whole weights from 0 on."""
    case = draw(cases(**given))
    n = case.answers.n_answers
    weights = draw(st.lists(st.integers(0, MOST), min_size=n, max_size=n))
    answers = case.answers.with_weight(np.array(weights, dtype=float))
    return type(case)(case.logits, answers, case.settings)


def layers(answers):
    """The answers that are left at each level of weight, by the definition."""
    for level in range(1, MOST + 1):
        yield answers.with_weight(1.0).only(answers.weight >= level)


@examples(15)
@given(weighted_cases(most_labels=4))
def test_weights_are_exponents(case):
    found = answers_log_likelihood(torch.tensor(case.logits), case.answers, **case.settings)
    expected = sum(
        answers_log_likelihood_reference(case.logits, part, **case.settings)
        for part in layers(case.answers)
    )
    how = {"rtol": 1e-9, "atol": MOST * max(case.tolerance, 1e-11)}
    np.testing.assert_allclose(found.numpy(), expected, **how)


@examples(15)
@given(weighted_cases(most_labels=5))
def test_gradients_are_those_of_the_parts(case):
    likelihood, arguments = likelihood_of(case)
    logits = torch.tensor(case.logits)
    found = likelihood(logits, **arguments)
    parts = []
    for part in layers(case.answers):
        # The parts allow for mistakes if the whole does.
        unweighted, _ = likelihood_of(type(case)(case.logits, part, case.settings))
        parts.append(unweighted(logits, **arguments))
    for name in GRADIENTS:
        if (gradient := getattr(found, name)) is not None:
            expected = sum(getattr(part, name) for part in parts)
            np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
    rows = [*range(len(case.logits)), 0]
    batch = likelihood.batch(rows)(logits[rows], **arguments)
    np.testing.assert_allclose(batch.values, found.values[rows], rtol=1e-9, atol=1e-9)


@examples(10)
@given(cases(most_labels=5), st.floats(0.1, 5))
def test_one_weight_of_all_answers(case, weight):
    logits = torch.tensor(case.logits)
    usual = answers_log_likelihood(logits, case.answers, **case.settings)
    again = case.answers.with_weight(np.ones(case.answers.n_answers))
    assert torch.equal(answers_log_likelihood(logits, again, **case.settings), usual)
    heavier = answers_log_likelihood(logits, case.answers.with_weight(weight), **case.settings)
    np.testing.assert_allclose(heavier, weight * usual, rtol=1e-10, atol=1e-13)


def test_judgements_of_two_labels_have_exponents_of_their_own():
    # By hand: P(label 0 applies) is 3/4, P(label 1 applies) is 1/3.
    logits = torch.tensor([[3.0, 0.5]], dtype=torch.float64).log()
    said = {"relevant": [[1, 0], [0, 0]], "absent": [[0, 0], [0, 1]], "item": [0, 0]}
    answers = Answers.from_arrays(**said, weight=[2.0, 0.5])
    found = answers_log_likelihood(logits, answers)
    np.testing.assert_allclose(found.exp(), [(3 / 4) ** 2 * (2 / 3) ** 0.5])
