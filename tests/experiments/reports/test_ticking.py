"""How long ticking may take: break-evens and comparisons at equal time, by hand."""

import json
import re
from dataclasses import replace

import pytest
from tests.experiments.reports.small import make_plan, make_results
from tests.reports.small import Page

from complabel.experiments.reports import FORMATS, render_report, summarize_study
from complabel.experiments.reports._render import time_charts
from complabel.experiments.reports._summarize import break_even, compare, reached, times_of_form
from complabel.experiments.reports._tables import ticking_tables

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


def test_the_least_share_that_is_as_good_counts_where_a_curve_falls():
    # A quarter reaches .6 first; that more is worse again does not take it back.
    assert break_even(0.6, [(0.25, 0.6), (0.5, 0.5), (1.0, 0.7)]) == (4.0, "")
    assert break_even(0.6, [(0.125, 0.5), (0.25, 0.5), (1.0, 0.7)])[0] == pytest.approx(2.0)


def test_precision_between_amounts_is_interpolated_in_the_logarithm():
    points = list(TICKED.items())
    assert [reached(points, at) for at in (0.1, 0.2, 0.4, 1.0, 3.0)] == pytest.approx(
        [0.6, 0.7, 0.8, 0.9, 0.9]
    )
    assert reached(points, 0.09) is None


@pytest.mark.parametrize(
    ("ratio", "n_ticked", "n_labels", "expected"),
    [(6, 6, 6, 6), (6, 1, 6, 1), (6, 2, 6, 2), (1.5, 4, 7, 1.25), (3, 1, 1, 1)],
)
def test_a_smaller_form_takes_less_in_proportion(ratio, n_ticked, n_labels, expected):
    assert times_of_form(ratio, n_ticked, n_labels) == pytest.approx(expected)


def test_at_equal_time_ticking_covers_fewer_items():
    ahead = compare(list(ASKED.items()), list(TICKED.items()), 5)
    # Half an answer each is a tenth of the forms; one is a fifth; two are two fifths.
    assert ahead == pytest.approx((0.0, 0.0, 0.0))
    ahead = compare(list(ASKED.items()), list(TICKED.items()), 10)
    assert ahead == (None, pytest.approx(-0.1), pytest.approx(-0.1))
    # All items are ticked in the time of one each; the time that is left helps nobody.
    assert compare(list(ASKED.items()), list(TICKED.items()), 1)[1:] == pytest.approx((0.2, 0.1))


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


@pytest.fixture(scope="module")
def summary(study):
    return summarize_study(study)


def test_a_study_with_both_questions_has_break_evens(summary):
    every, form = summary.ticking
    assert (every.place, every.question) == (("asked", "scene", "Prior"), "ticked")
    assert dict(every.asked) == pytest.approx(ASKED)
    assert dict(every.ticked) == pytest.approx(TICKED)
    assert (every.break_even, every.bound, every.said) == (pytest.approx(5.0), "", "5")
    assert (form.question, form.n_ticked) == ("ticked-2", 2)
    assert form.break_even == pytest.approx(2.0)  # halfway between .25 and 1
    # 10 s for a yes or no and 8 for each of five further labels: 50 s, the fifth ratio.
    own = every.equal_time[-1]
    assert (own.ratio, own.own) == (pytest.approx(5.0), True)
    assert own.ahead == pytest.approx((0.0, 0.0, 0.0))
    # A form of two then takes 18 s, 1.8 times as long: half of the items are .28 of them.
    assert form.equal_time[-1].ahead[1] == pytest.approx(0.65 + 0.1 * 0.5760 - 0.7, abs=1e-4)


def test_who_learns_from_truth_or_asked_one_question_only_has_no_break_even(study):
    assert {ticking.row for ticking in summarize_study(study).ticking} == {"Prior"}
    for left_out in ("asked", "ticked"):
        plan = study.plan.model_copy(
            update={"draws": [d for d in study.plan.draws if d.question != left_out]}
        )
        some = {draw.name for draw in plan.draws}
        units = [unit for unit in study.units if unit.draw in some]
        found = summarize_study(replace(study, plan=plan, units=units)).ticking
        assert [one.question for one in found] == (["ticked-2"] if left_out == "ticked" else [])


def test_unfinished_folds_have_no_break_even(study):
    units = [
        replace(unit, status="pending") if (unit.draw, unit.fold) == ("asked", 1) else unit
        for unit in study.units
    ]
    assert summarize_study(replace(study, units=units)).ticking == ()


def test_tables_and_curves_are_in_every_form(study, summary, without_charts):
    tables = ticking_tables(summary)
    assert [line for line, _ in tables.lines] == [
        "Prior: all labels ticked",
        "Prior: 2 random labels ticked",
    ]
    page = Page(render_report(study))
    assert ["Prior: all labels ticked", "5"] in [line for table in page.tables for line in table]
    text = FORMATS["tables.md"](summary, study)
    assert "| Prior: 2 random labels ticked | 2 |" in text
    assert "| 5 ×, from the seconds | +0.000 | +0.000 | +0.000 |" in text  # noqa: RUF001
    assert "| 10 × | n/a | −0.100 | −0.100 |" in text  # noqa: RUF001
    latex = FORMATS["tables.tex"](summary, study)
    assert r"10 $\times$ & n/a & $-$0.100" in latex
    stored = json.loads(FORMATS["summary.json"](summary, study))["ticking"][0]
    assert stored["break_even"] == pytest.approx(5.0)


def test_a_chart_shows_ticking_at_each_ratio_of_times(summary):
    charts = time_charts(summary)
    assert [line.name for line in charts.lines][:2] == [
        "asked yes/no", "all labels ticked, in 1 times the time",
    ]  # fmt: skip
    (chart,) = charts.charts
    six = re.search(r"in 6 times the time: ([^;]+)", chart.description).group(1)
    assert six == "0.600 at 0.6, 0.800 at 2.4, 0.900 at 6"
