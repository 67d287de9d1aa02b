"""Log-odds of labels given all answers, by enumeration of all label sets."""

import numpy as np
import torch
from hypothesis import given
from scipy.special import expit
from tests.examples import examples
from tests.losses.answers_cases import container
from tests.losses.answers_reference import (
    chance_of_facts,
    chance_of_naming,
    label_sets,
    prior,
    rates_of_lists,
    read_answers,
)
from tests.losses.test_mistakes import judged, mistaken

from complabel.losses import AnswersLikelihood


def enumerated(case):
    """The probability (n, K) that labels apply: over all label sets, and all that people see."""
    settings = case.settings
    by_item = read_answers(case.answers, missed=settings["missed"], invented=settings["invented"])
    n_labels = case.logits.shape[1]
    sets, weights = label_sets(n_labels), np.ones(n_labels)
    listed = rates_of_lists(settings, n_labels)
    found = []
    for z, answers in zip(case.logits, by_item, strict=True):
        known = prior(z, sets)
        for answer in answers:
            known = known * chance_of_facts(answer, sets, listed)
            if answer.question in ("named", "positive"):
                known *= chance_of_naming(answer, sets, weights)
        found.append(known @ sets / known.sum())
    return np.array(found)


def log_odds(logits, answers, *, missed, invented, **listed):
    """Call the method; rates of unknown annotators are the mean."""

    def rates(values):
        values = np.asarray(values, dtype=float)
        if not values.ndim:
            return float(values)
        return torch.tensor(np.concatenate([values, values.mean(axis=0, keepdims=True)]))

    listed = rates_of_lists(listed, answers.n_labels)
    likelihood = AnswersLikelihood(answers, **listed, with_error_rates=True)
    z = torch.tensor(np.asarray(logits), dtype=torch.float64)
    return likelihood.log_odds(z, missed=rates(missed), invented=rates(invented)).numpy()


@examples(40)
@given(mistaken(propensities=False, most_answers=4))
def test_given_all_answers_with_at_most_one_naming(case):
    named = case.answers.item[case.answers.chooses]
    if np.bincount(named, minlength=1).max() < 2:
        found = log_odds(case.logits, case.answers, **case.settings)
        np.testing.assert_allclose(expit(found), enumerated(case), atol=1e-11)


def test_several_menus_are_combined_as_if_independent():
    rows = [
        {"item": 0, "question": "named", "offered": menu, "named": [1, 0, 0, 0], "asked_for": 1}
        for menu in ([1, 1, 0, 0], [1, 0, 1, 0])
    ]
    rows.append({"item": 0, "question": "named", "offered": [0, 1, 0, 1], "asked_for": 1})
    answers = container(rows, 2, 4)
    logits = np.array([[0.4, -1.0, 2.0, 0.3], [0.4, -1.0, 2.0, 0.3]])
    found = log_odds(logits, answers, missed=0.1, invented=0.05)
    assert np.isfinite(found).all()
    # Who names the first label from both menus makes it less likely; the others more likely.
    assert found[0, 0] < logits[0, 0]
    assert (found[0, 1:] > logits[0, 1:]).all()
    np.testing.assert_array_equal(found[1], logits[1])  # nobody said anything about this item


def test_certain_answers_settle_labels():
    answers = container([judged("ticked", [1, 1, 0], [1, 0, 0])], 1, 3)
    found = AnswersLikelihood(answers).log_odds(torch.zeros(1, 3, dtype=torch.float64))
    np.testing.assert_array_equal(expit(found.numpy()), [[1.0, 0.0, 0.5]])
