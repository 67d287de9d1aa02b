"""Answers after which a label can neither apply nor not apply, and rates of exclusions."""

import numpy as np
import pytest
from tests.losses.answers_cases import container

from complabel.errors import AnnotationError, InputError
from complabel.losses import AnswersLikelihood

ALL, FIRST, LAST = np.ones(3), np.array([1, 0, 0]), np.array([0, 0, 1])
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
        with pytest.raises(AnnotationError, match=r"answers about item 1 .* that label 0 applies"):
            likelihood(*rows, with_error_rates=with_error_rates)


def test_who_is_spared_by_a_rule_that_misses_nothing_applies():
    with pytest.raises(AnnotationError, match="label 0 applies"):
        likelihood(NO, SPARED, rates=1.0)
    likelihood(NO, SPARED, rates=1.0, with_error_rates=True)


def test_exclusions_need_rates_above_0():
    with pytest.raises(InputError, match="give exclusion_rates"):
        likelihood(RULED_OUT, rates=None)
    likelihood(SPARED, rates=[0.0, 0.5, 0.5])
    with pytest.raises(InputError, match=r"label 0 of item 1 .*exclusion_rates\[0\] is 0"):
        likelihood(RULED_OUT, rates=[0.0, 0.5, 0.5])
