"""How long ticking may take: break-evens and comparisons at equal time, by hand."""

from dataclasses import replace

import pytest
from tests.experiments.reports.small import make_plan, make_results
from tests.reports.small import Page

from complabel.experiments.reports import FORMATS, render_report, summarize_study
from complabel.experiments.reports._asking import asked_points, break_even, reached, tickings

# Average precision of yes/no answers and of ticked labels, by amounts. One for each item reaches
# .7; ticking does so at .2, which is halfway between .1 and .4 in the logarithm.
ASKED = {0.5: 0.6, 1: 0.7, 2: 0.8}
TICKED = {0.1: 0.6, 0.4: 0.8, 1: 0.9}
FORMS = {0.25: 0.65, 1: 0.75}  # with two of six labels
DRAWS = [
    {"name": "asked-half", "question": "asked", "items_share": 0.5},
    {"name": "asked", "question": "asked"},
    {"name": "asked-2", "question": "asked", "answers_per_item": 2},
    {"name": "few-2", "question": "asked", "items_share": 0.5, "answers_per_item": 2},
    {"name": "ticked-.1", "question": "ticked", "items_share": 0.1},
    {"name": "ticked-.4", "question": "ticked", "items_share": 0.4},
    {"name": "ticked", "question": "ticked"},
    {"name": "form-.25", "question": "ticked-2", "items_share": 0.25},
    {"name": "form", "question": "ticked-2"},
    {"name": "wrong", "question": "ticked", "error_rate": 0.1},
    {"name": "free"},
]
MEANS = dict(
    zip(
        [draw["name"] for draw in DRAWS],
        [*ASKED.values(), 0.1, *TICKED.values(), *FORMS.values(), 0.2, 0.3],
        strict=True,
    )
)


@pytest.mark.parametrize(
    ("one_each", "expected"),
    [
        (0.7, (5.0, "")),
        (0.8, (2.5, "")),
        (0.6, (10.0, "")),
        (0.9, (1.0, "")),
        (0.95, (1.0, "below")),
        (0.5, (10.0, "above")),
    ],
)
def test_the_break_even_is_one_over_the_share_that_is_as_good(one_each, expected):
    times, bound = break_even(one_each, list(TICKED.items()))
    assert (times, bound) == (pytest.approx(expected[0]), expected[1])


def test_precision_between_amounts_is_interpolated_in_the_logarithm():
    points = list(TICKED.items())
    assert [reached(points, at) for at in (0.1, 0.2, 0.4, 1.0, 3.0)] == pytest.approx(
        [0.6, 0.7, 0.8, 0.9, 0.9]
    )
    assert reached(points, 0.09) is None


@pytest.fixture(scope="module")
def study():
    plan = make_plan(
        published="",
        draws=DRAWS,
        rows=[{"method": "prior"}, {"method": "supervised"}],
        datasets=["scene"],
        seconds={"asked": 10, "judged": 8},
    )

    def set_means(unit):
        return {"metrics": {**unit.metrics, "average_precision": MEANS[unit.draw]}}

    return make_results(plan, change=set_means)


def test_a_study_with_both_questions_has_break_evens(study):
    every, form = tickings(summarize_study(study))
    assert (every.draw, every.dataset, every.row) == ("asked", "scene", "Prior")
    assert (every.question, form.question) == ("ticked", "ticked-2")
    assert dict(every.asked) == pytest.approx(ASKED)
    assert dict(every.ticked) == pytest.approx(TICKED)
    assert every.break_even == (pytest.approx(5.0), "")
    assert form.break_even[0] == pytest.approx(2.0)  # halfway between .25 and 1
    # All items are ticked in the time of one each; the time that is left helps nobody.
    assert every.ahead[0][0] == 1
    assert every.ahead[0][1][1:] == pytest.approx((0.2, 0.1))
    assert every.ahead[4] == (10, [None, pytest.approx(-0.1), pytest.approx(-0.1)])
    # 10 s for a yes or no and 8 for each of five further labels: 50 s, five times as long. Half an
    # answer each is a tenth of the forms; one is a fifth; two are two fifths.
    ratio, gains = every.ahead[-1]
    assert (ratio, gains) == (pytest.approx(5.0), pytest.approx([0.0, 0.0, 0.0]))
    # A form of two then takes 18 s, 1.8 times as long: half of the items are .28 of them.
    assert form.ahead[-1][1][1] == pytest.approx(0.65 + 0.1 * 0.5760 - 0.7, abs=1e-4)


def test_one_question_only_or_an_unfinished_fold_has_no_break_even(study):
    for left_out in ("asked", "ticked"):
        draws = [draw for draw in study.plan.draws if draw.question != left_out]
        plan = study.plan.model_copy(update={"draws": draws})
        units = [unit for unit in study.units if unit.draw in {draw.name for draw in draws}]
        some = tickings(summarize_study(replace(study, plan=plan, units=units)))
        assert [one.question for one in some] == (["ticked-2"] if left_out == "ticked" else [])
    units = [
        replace(unit, status="pending") if (unit.draw, unit.fold) == ("asked", 1) else unit
        for unit in study.units
    ]
    assert not [*tickings(summarize_study(replace(study, units=units)))]


def test_points_count_the_answers_of_a_training_part_and_their_minutes(study):
    # Scene has 2,407 instances, of which two of three folds are 1,604.67.
    points = asked_points(summarize_study(study)).set_index("draw")
    assert points["answers"].to_dict() == {
        "asked-half": 802, "asked": 1605, "asked-2": 3209, "few-2": 1605, "ticked-.1": 160,
        "ticked-.4": 642, "ticked": 1605, "form-.25": 401, "form": 1605, "wrong": 1605,
        "free": 1605,
    }  # fmt: skip
    assert points["minutes"]["free"] == pytest.approx(1604.667 * 30 / 60, abs=0.01)
    assert points["minutes"]["ticked"] == pytest.approx(1604.667 * 50 / 60, abs=0.01)
    assert {*points["row"]} == {"Prior"}
    alike = [{"name": "a"}, {"name": "b", "propensity_sd": 1.0}, {"name": "c", "error_rate": 0.1}]
    assert asked_points(summarize_study(make_results(make_plan(draws=alike)))).empty


@pytest.mark.usefixtures("without_charts")
def test_the_tables_are_in_every_form(study):
    summary = summarize_study(study)
    page = Page(render_report(study))
    assert ["Prior: all labels ticked", "5"] in [line for table in page.tables for line in table]
    text = FORMATS["tables.md"](summary, study)
    assert "| Prior: 2 random labels ticked | 2 |" in text
    assert "| 5 ×, from the seconds | +0.000 | +0.000 | +0.000 |" in text  # noqa: RUF001
    assert "| 10 × | n/a | −0.100 | −0.100 |" in text  # noqa: RUF001
    latex = FORMATS["tables.tex"](summary, study)
    assert r"10 $\times$ & n/a & $-$0.100" in latex
