"""Forecasts of how many answers goals take: known cases, order, and simulated sittings."""

import numpy as np
import pytest
from tests.frequencies.test_strata import world
from tests.refusals import raises

from complabel.answers import Answers
from complabel.asking import plan_answers, suggest_questions
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_answers


def nothing(n_items, n_labels):
    names = [*map(str, range(n_labels))]
    return Answers.from_table(
        {"item": [], "label": []}, items=[*map(str, range(n_items))], label_names=names
    )


def answered(table, Y, about):
    """Answer a table of questions by the truth."""
    said = np.where(Y[table["item"].astype(int), table["label"].astype(int)] > 0, "yes", "no")
    names = {"items": about.item_names, "label_names": about.label_names}
    return Answers.from_table(table.assign(answer=said), **names)


def test_one_label_takes_what_the_normal_approximation_says():
    """A share of .3 within .03 takes .21 (1.96 / .03)^2 = 896 answers, less those there are."""
    Y = (np.arange(200_000) % 10 < 3).astype(int)[:, np.newaxis]
    first = draw_answers(Y, question="asked", items_share=0.002, random_state=3)
    (goal,) = plan_answers(first, within=0.03).goals
    share = first.known_relevant.sum() / 400
    middle, low, high = goal.questions
    assert middle == pytest.approx(share * (1 - share) * (1.96 / 0.03) ** 2 - 400, abs=60)
    assert low < middle < high
    assert goal.forms == pytest.approx(goal.questions, abs=1)  # one label: a form is a question


def test_a_finer_goal_takes_more_and_never_more_than_all_pairs():
    Y = (np.random.default_rng(0).random((300, 4)) < [0.1, 0.2, 0.4, 0.6]).astype(int)
    first = draw_answers(Y, question="asked", items_share=0.3, random_state=0)
    plan = plan_answers(first, within=[0.5, 0.1, 0.05, 0.01, 0.001])
    middles = [goal.questions[0] for goal in plan.goals]
    assert middles == sorted(middles)
    assert middles[0] == 0
    assert middles[-1] > 0.95 * (4 * 300 - 90)
    for goal in plan.goals:
        assert all(of_form <= 300 for of_form in goal.forms)
        assert goal.forms[0] <= goal.questions[0] <= 4 * goal.forms[0] + 4


def test_a_machine_that_is_often_right_saves_questions():
    Y, machine = world(1000, 6)
    first = nothing(1000, 6)
    table = suggest_questions(first, 100, against=machine, random_state=0)
    people = answered(table, Y, first)
    beside = plan_answers(people, machine, within=0.03).goals[0].questions[0]
    alone = draw_answers(Y, question="asked", items_share=0.1, random_state=0)
    assert 2 * beside < plan_answers(alone, within=0.03).goals[0].questions[0]


def test_a_machine_that_says_the_opposite_is_found_to_be_of_no_use():
    Y, _ = world(1000, 3)
    first = nothing(1000, 3)
    people = answered(suggest_questions(first, 200, against=1 - Y, random_state=0), Y, first)
    decided = plan_answers(people, 1 - Y).decided
    assert decided[500] == (3, 3, 3)
    assert plan_answers(nothing(1000, 3), guess=0.2).decided == {}


def test_what_tells_nothing_is_refused():
    about = nothing(100, 3)
    with raises(InputError, "guess"):
        plan_answers(about)
    for value in (0.0, 1.0, [0.1, -0.1]):
        with raises(InputError, "within"):
            plan_answers(about, guess=0.1, within=value)
    with raises(InputError, "guess"):
        plan_answers(about, guess=1.0)
    chosen = Answers.from_arrays(relevant=[[1, 0]], question="asked", n_items=3)
    with raises(AnnotationError, "--random-questions"):
        plan_answers(chosen)
