"""What a draw costs annotators, by hand."""

import pytest
from pydantic import ValidationError

from complabel.studies import Draw, Plan, answers_of, read_plan, seconds_of
from complabel.studies._draw import Seconds

# (draw, answers about 120 items, seconds with 6 labels)
BY_HAND = {
    "named freely": ({}, 120, 600),
    "two labels each": ({"asked_for": 2}, 240, 1200),
    "a menu, half of the items": ({"question": "menu-3", "items_share": 0.5}, 60, 180),
    "asked, four answers": ({"question": "asked", "answers_per_item": 4}, 480, 720),
    "ticked": ({"question": "ticked"}, 120, 1080),
    "an audit besides": ({"propensity_sd": 1.0, "audit": 50}, 170, 675),
    "an audit alone": ({"question": "none", "audit": 200}, 200, 300),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_answers_and_seconds_by_hand(case):
    settings, n_answers, seconds = BY_HAND[case]
    draw = Draw(name="draw", **settings)
    assert answers_of(draw, 120) == pytest.approx(n_answers)
    assert seconds_of(draw, 120, 6, Seconds()) == pytest.approx(seconds)


def test_each_kind_of_question_has_its_seconds():
    used = Seconds(named=7, menu=11, asked=13, ticked=17)
    took = {
        question: seconds_of(Draw(name="d", question=question), 1, 3, used)
        for question in ("free", "menu-2", "asked", "ticked")
    }
    assert took == {"free": 7, "menu-2": 11, "asked": 13, "ticked": 51}


def test_nobody_was_asked_for_a_datasets_own_labels():
    own = Draw(name="own", scheme="own")
    assert answers_of(own, 10) is None
    assert seconds_of(own, 10, 3, Seconds()) is None


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")], ids=str)
def test_seconds_are_positive_numbers(value):
    with pytest.raises(ValidationError):
        Seconds(menu=value)


def test_other_seconds_are_stored_with_the_plan():
    plan = read_plan("how-to-ask")
    assert plan.seconds == Seconds()
    other = plan.model_copy(update={"seconds": Seconds(menu=4)})
    assert Plan.model_validate_json(other.model_dump_json()).seconds.menu == 4


def test_the_study_of_how_to_ask_varies_one_thing_at_a_time():
    plan = read_plan("how-to-ask")
    assert len(plan.draws) <= 40
    assert (plan.folds, plan.seed, plan.datasets) == (3, 0, ["scene", "yeast", "corel5k"])
    counted = [str(draw.what_counts()) for draw in plan.draws]
    assert len(set(counted)) == len(counted)
