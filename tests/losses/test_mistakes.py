"""Labels that people miss and invent, by enumeration of all label sets and all perceived sets."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.losses.answers_cases import Case, cases, container
from tests.losses.answers_reference import item_log_likelihood, rates_of_lists, read_answers
from tests.losses.test_answers_likelihood import (
    check,
    check_single_precision,
    check_slopes,
    found,
)

from complabel.errors import InputError
from complabel.losses import AnswersLikelihood, answers_log_likelihood

RATES = (0.02, 0.1, 0.4, 0.7)


@st.composite
def mistaken(draw, **given):
    """A case with any answers, and with missed and invented labels instead of error rates."""
    # The case has an error rate, so that people say what is not true.
    case = draw(cases(most_labels=5, rates=(0.6,), scale=4.0, **given))
    n_annotators, n_labels = len(case.answers.annotator_names), case.logits.shape[1]
    shapes = [(), (n_annotators,), (n_annotators, n_labels)] if n_annotators else [()]
    settings = {name: case.settings[name] for name in case.settings if name != "error_rates"}
    for name in ("missed", "invented"):
        shape = draw(st.sampled_from(shapes))
        values = st.lists(st.sampled_from(RATES), min_size=(n := int(np.prod(shape))), max_size=n)
        settings[name] = np.array(draw(values)).reshape(shape)
    return Case(case.logits, case.answers, settings)


@examples(40)
@given(mistaken())
def test_all_kinds_mixed(case):
    check(case)


@examples(40)
@given(mistaken(questions=("asked", "ticked")))
def test_judgements_are_exact(case):
    check(case, tolerance=1e-12)


@examples(40)
@given(mistaken(questions=("named", "positive", "asked"), propensities=False, most_answers=2))
def test_a_naming_with_facts_is_exact(case):
    if case.answers.chooses.sum() < 2:
        check(case, tolerance=1e-12)


def judged(question, offered, relevant, annotator=0):
    offered = np.array(offered)
    relevant = offered * relevant
    row = {"item": 0, "annotator": annotator, "question": question, "offered": offered}
    return {**row, "relevant": relevant, "absent": offered - relevant}


def test_two_people_judge_a_label():
    # One says yes, the other no: p (1 - m0) m1 + (1 - p) v0 (1 - v1).
    rows = [judged("asked", [1, 0], 1), judged("asked", [1, 0], 0, annotator=1)]
    values = answers_log_likelihood(
        torch.tensor([[0.4, 0.0]], dtype=torch.float64),
        container(rows, 1, 2),
        missed=[0.3, 0.6],
        invented=[0.1, 0.05],
    )
    p = 1 / (1 + np.exp(-0.4))
    expected = np.log(p * 0.7 * 0.6 + (1 - p) * 0.1 * 0.95)
    assert float(values) == pytest.approx(expected, rel=1e-13)


def test_equal_rates_are_half_an_error_rate():
    rows = [judged("ticked", [1, 1, 0], [1, 0, 0]), judged("asked", [1, 0, 0], 0, annotator=1)]
    answers, logits = container(rows, 1, 3), [[0.4, -1.0, 2.0]]
    half, whole = np.array([0.1, 0.3]), np.array([0.2, 0.6])
    for one, other in zip(
        found(logits, answers, missed=half, invented=half),
        found(logits, answers, error_rates=whole),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-13)


MENU = {"item": 0, "annotator": 0, "question": "named", "offered": [1, 1, 0], "asked_for": 1}


@pytest.mark.parametrize(
    ("named", "all_apply"),
    [([1, 0, 0], "answer"), ([0, 0, 0], "answer"), ([1, 0, 0], "pick"), ([1, 0, 0], "skip")],
)
def test_a_menu_of_two_by_hand(named, all_apply):
    row = {**MENU, "named": named, "all_apply": all_apply}
    p = 1 / (1 + np.exp(-np.array([0.4, -1.0])))
    seen = p * (1 - np.array([0.2, 0.3])) + (1 - p) * np.array([0.05, 0.1])
    both = seen.prod()
    chance = both if not sum(named) else (1 - seen[0]) * (seen[1] + (1 - seen[1]) / 2)
    if all_apply == "pick":
        chance += both / 2
    if all_apply == "skip":
        chance /= 1 - both
    values, _ = found(
        [[0.4, -1.0, 2.0]],
        container([row], 1, 3),
        missed=[[0.2, 0.3, 0.9]],
        invented=[[0.05, 0.1, 0.9]],
    )
    assert values[0] == pytest.approx(np.log(chance), rel=1e-13)


@examples(20)
@given(mistaken(most_items=2), st.integers(0, 99), st.booleans())
def test_gradients_of_propensities_and_rates(case, seed, by_label):
    answers, n_labels = case.answers, case.logits.shape[1]
    rng = np.random.default_rng(seed)
    shape = (2, len(answers.annotator_names) + 1, n_labels if by_label else 1)
    log_w, odds = rng.normal(size=n_labels), rng.normal(size=shape)
    known = rates_of_lists(case.settings, n_labels)
    likelihood = AnswersLikelihood(answers, **known, with_error_rates=True)
    missed, invented = torch.sigmoid(torch.tensor(odds))
    found = likelihood(
        torch.tensor(case.logits),
        log_propensities=torch.tensor(log_w),
        missed=missed,
        invented=invented,
    )

    def total(log_w, odds):
        # The rates at the end are those of unknown annotators, whose code is -1.
        missed, invented = np.broadcast_to(1 / (1 + np.exp(-odds)), (*shape[:2], n_labels))
        by_item = read_answers(answers, missed=missed, invented=invented, unknown_last=True)
        return sum(
            item_log_likelihood(z, row, np.exp(log_w), known, mistakes=True)
            for z, row in zip(case.logits, by_item, strict=True)
        )

    check_slopes(found, total, log_w, odds)


@examples(25)
@given(mistaken(), st.lists(st.integers(0, 2), max_size=4))
def test_batches_and_differentiable_values(case, rows):
    rows = [row % len(case.logits) for row in rows]
    n_labels = case.logits.shape[1]
    n_annotators = len(case.answers.annotator_names)
    known = rates_of_lists(case.settings, n_labels)
    likelihood = AnswersLikelihood(case.answers, **known, with_error_rates=True)
    rates = {
        "missed": torch.linspace(0.1, 0.5, n_annotators + 1, dtype=torch.float64),
        "invented": torch.full((n_annotators + 1, n_labels), 0.1, dtype=torch.float64),
    }
    whole = likelihood(torch.tensor(case.logits), **rates)
    part = likelihood.batch(rows)
    leaf = torch.tensor(case.logits[rows], requires_grad=True)
    values = part.log_likelihood(leaf, **rates)
    values.sum().backward()
    np.testing.assert_allclose(values.detach(), whole.values[rows], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(leaf.grad, whole.through_logits[rows], rtol=1e-12, atol=1e-12)


@examples(20)
@given(mistaken())
def test_single_precision(case):
    check_single_precision(case)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("missed", "invented"), [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1e-40)])
def test_rates_of_nothing_and_everything_are_finite(missed, invented, dtype):
    rows = [judged("ticked", [1, 1, 1], [1, 0, 0]), {**MENU, "named": [0, 1, 0]}]
    likelihood = AnswersLikelihood(container(rows, 1, 3), with_error_rates=True, dtype=dtype)
    for logit in (-200.0, 0.5, 200.0):
        of = likelihood(
            torch.full((1, 3), logit, dtype=dtype),
            missed=torch.full((2,), missed, dtype=dtype),
            invented=torch.full((2,), invented, dtype=dtype),
        )
        for slopes in (of.values, of.through_logits, of.through_log_odds):
            assert torch.isfinite(slopes).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"missed": -0.1}, r"missed is -0\.1; give rates between 0 and 1"),
        ({"invented": [[0.1, 2.0, 0.1]]}, r"invented\[0, 1\] is 2"),
        ({"missed": [0.1, 0.2]}, "one for each annotator, 1 in all"),
        ({"missed": [[0.1, 0.2]]}, "a row for each and 3 columns"),
        ({"missed": 0.1, "error_rates": 0.1}, "only one sort of mistakes"),
    ],
    ids=str,
)
def test_what_are_no_rates_is_refused(given, message):
    answers = container([judged("asked", [1, 0, 0], 1)], 1, 3)
    with pytest.raises(InputError, match=message):
        answers_log_likelihood(torch.zeros(1, 3), answers, **given)


def test_two_sorts_of_rates_are_refused_by_the_likelihood():
    likelihood = AnswersLikelihood(container([MENU], 1, 3), with_error_rates=True)
    with pytest.raises(InputError, match="not both"):
        likelihood.log_likelihood(torch.zeros(1, 3), error_rates=0.1, missed=0.1)
    with pytest.raises(InputError, match="give error_rates, or missed and invented"):
        likelihood.log_likelihood(torch.zeros(1, 3))
