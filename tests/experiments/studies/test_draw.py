"""What a draw may say, what it is called, what its labels depend on, and what it costs."""

import pytest

from complabel.errors import InputError, PlanError
from complabel.experiments.studies import (
    Draw,
    answers_of,
    benchmark_plan,
    plan_units,
    seconds_of,
)
from complabel.experiments.studies._draw import Seconds
from complabel.experiments.studies._plan_files import _make_draw as make_draw


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"question": "menu-1"}, "menu-1"),
        ({"question": "ticked-3", "asked_for": 2}, "asked_for"),
        ({"question": "menu-2", "asked_for": 3}, "asked_for"),
        ({"scheme": "biased", "question": "asked"}, "scheme"),
        ({"scheme": "own", "question": "menu-2"}, "question"),
        ({"scheme": "own", "error_rate": 0.1, "propensity_sd": 1.0}, "propensity_sd and error"),
        ({"scheme": "odd"}, "scheme"),
        ({"labels": "released", "scheme": "own"}, "released"),
        ({"labels": "released", "scheme": "biased", "sharpness": 4.0}, "sharpness"),
        ({"question": "none"}, "audit"),
        ({"question": "none", "audit": 9, "error_rate": 0.1}, "error_rate"),
        ({"error_rate": 1.5}, "error_rate"),
        ({"error_rate": 0.1, "missed": 0.2}, "missed"),
        ({"menu": 3}, "menu"),
    ],
)
def test_what_does_not_fit_together_is_refused(settings, complaint):
    with pytest.raises(PlanError, match=complaint) as refusal:
        benchmark_plan(["synthetic"], ["prior"], draw=settings)
    assert "\n" not in str(refusal.value)


def test_a_scheme_beside_a_draw_is_refused():
    with pytest.raises(PlanError, match="put the scheme into the draw"):
        benchmark_plan(["synthetic"], ["prior"], scheme="biased", draw={"question": "asked"})


@pytest.mark.parametrize(
    ("settings", "name", "title"),
    [
        ({}, "uniform", "uniform complementary labels"),
        (
            {"error_rate": 0.1, "answers_per_item": 2},
            "uniform-mistakes-0.1-answers-2",
            "uniform complementary labels, 10 % of the answers at random, 2 answers per item",
        ),
        (
            {"question": "asked", "propensity_sd": 1e9, "missed": 0.25, "invented": 0.03},
            "asked-sd-1e09-missed-0.25-invented-0.03",
            None,
        ),
        (
            {"scheme": "own", "items_share": 0.25},
            "own-share-0.25",
            "the dataset's own excluded labels, 25 % of the items",
        ),
        (
            {"question": "menu-4", "asked_for": 2},
            "menu-4-labels-2",
            "2 labels named from a random menu of 4",
        ),
        ({"question": "none", "audit": 50}, "audit-50", None),
        ({"labels": "released", "scheme": "biased"}, "released-biased", None),
    ],
)
def test_a_draw_without_a_name_is_called_by_its_settings(settings, name, title):
    draw = make_draw(settings)
    assert name in (None, draw.name)
    assert title in (None, draw.title)
    assert make_draw({**settings, "name": "mine"}).name == "mine"


@pytest.mark.parametrize(
    ("draw", "complaint"),
    [
        ({"scheme": "own"}, "synthetic has no labels own"),
        ({"question": "menu-7"}, "synthetic has 6 labels, too few for a menu-7"),
        ({"question": "ticked-7"}, "synthetic has 6 labels, too few for a ticked-7"),
    ],
)
def test_what_a_dataset_has_no_answers_for_is_refused_before_anything_runs(draw, complaint):
    with pytest.raises(InputError, match=complaint):
        plan_units(benchmark_plan(["synthetic"], ["prior"], draw=draw))


# (draw, answers about 120 items, seconds with 6 labels): 10 s for a yes or no, 2 for each further
# label on the form, 30 to name a label, 20 to name one from a menu.
BY_HAND = {
    "named freely": ({}, 120, 3600),
    "two labels each": ({"asked_for": 2}, 240, 7200),
    "a menu, half of the items": ({"question": "menu-3", "items_share": 0.5}, 60, 1200),
    "asked, four answers": ({"question": "asked", "answers_per_item": 4}, 480, 4800),
    "ticked": ({"question": "ticked"}, 120, 120 * 20),
    "a form of three": ({"question": "ticked-3", "items_share": 0.5}, 60, 60 * 14),
    "an audit besides": ({"propensity_sd": 1.0, "audit": 50}, 170, 4100),
    "an audit alone": ({"question": "none", "audit": 200}, 200, 2000),
}
SECONDS = Seconds(asked=10, judged=2, named=30, menu=20)


@pytest.mark.parametrize("case", BY_HAND)
def test_answers_and_seconds_by_hand(case):
    settings, n_answers, seconds = BY_HAND[case]
    draw = Draw(name="draw", **settings)
    assert answers_of(draw, 120) == pytest.approx(n_answers)
    assert seconds_of(draw, 120, 6, SECONDS) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "times", [(0, 9, 5), (9, 8, 5), (9, 10, 1), (float("nan"), 9, 5), (9, float("inf"), 5)]
)
def test_a_form_takes_at_least_as_long_as_a_yes_or_no(times):
    asked, ticked, labels = times
    with pytest.raises(InputError, match="at least as long"):
        Seconds.measured(asked=asked, ticked=ticked, labels=labels)
