"""Reports of studies whose draws differ in how much or what is asked."""

import re

import pytest
from tests.experiments.reports.small import make_plan, make_results, the_cell
from tests.reports.small import Page, do_not_draw

from complabel.experiments.reports import FORMATS, headline, render_report, summarize_study
from complabel.experiments.reports._render import answer_charts, way_of_asking
from complabel.experiments.reports._tables import factor_tables
from complabel.experiments.studies import Draw

ROWS = [
    {"method": "mlcl"},
    {"method": "prior"},
    {"method": "prior", "title": "Prior, matched", "match_frequencies": True},
    {"method": "supervised"},
]
DRAWS = [
    {"name": "free"},
    {"name": "free-half", "items_share": 0.5},
    {"name": "asked", "question": "asked"},
    {"name": "asked-half", "question": "asked", "items_share": 0.5},
    {"name": "menu", "question": "menu-3"},
    {"name": "wrong", "question": "asked", "error_rate": 0.1},
    {"name": "audited", "audit": 90},
]


def make(draws=DRAWS, rows=ROWS, **changed):
    plan = make_plan(published="", draws=draws, rows=rows, datasets=["yeast", "scene"], **changed)
    results = make_results(plan)
    by_title = {row.title: row for row in plan.expanded_rows()}
    by_name = {draw.name: draw for draw in plan.draws}
    units = [u for u in results.units if by_title[u.row].has_answers_under(by_name[u.draw])]
    return type(results)(plan=plan, units=units, missing={})


@pytest.fixture(scope="module")
def asked():
    return make()


@pytest.fixture(scope="module")
def summary(asked):
    return summarize_study(asked)


@pytest.fixture(scope="module")
def asked_page(asked):
    with pytest.MonkeyPatch.context() as patch:
        do_not_draw(patch)
        return Page(render_report(asked))


def test_points_count_the_answers_of_a_training_part_and_their_minutes(summary):
    # Scene has 2,407 instances, of which two of three folds are 1,604.67.
    points = {p.draw: p for p in summary.answers if (p.dataset, p.row) == ("scene", "Prior")}
    assert {name: point.n_answers for name, point in points.items()} == {
        "free": 1605, "free-half": 802, "asked": 1605, "asked-half": 802, "menu": 1605,
        "wrong": 1605, "audited": 1695,
    }  # fmt: skip
    assert points["free"].minutes == pytest.approx(1604.667 * 30 / 60, abs=0.01)
    assert points["menu"].minutes == pytest.approx(1604.667 * 24 / 60, abs=0.01)
    assert points["audited"].minutes == pytest.approx((1604.667 * 30 + 90 * 14.5) / 60, abs=0.01)
    cell = the_cell(summary, row="Prior", dataset="scene", draw="menu", metric="average_precision")
    assert (points["menu"].mean, points["menu"].std) == (cell.mean, cell.std)
    assert {point.row for point in summary.answers} == {"MLCL", "Prior", "Prior, matched"}


@pytest.mark.parametrize(
    "draws",
    [
        DRAWS[:1],
        [{"name": "a"}, {"name": "b", "propensity_sd": 1.0}, {"name": "c", "error_rate": 0.1}],
        [{"name": "a"}, {"name": "b", "scheme": "biased"}],
    ],
    ids=["one draw", "bias and mistakes", "two schemes"],
)
def test_draws_that_ask_alike_have_no_curves(draws):
    results = make(draws, ROWS[:2])
    summary = summarize_study(results)
    assert summary.answers == ()
    assert answer_charts(summary) == []


def test_a_line_is_a_way_of_asking_from_little_to_much(summary):
    groups = answer_charts(summary)
    assert [group.title for group in groups] == ["MLCL", "Prior", "Prior, matched"]
    lines = {line.name: list(line.draws) for line in groups[0].lines}
    assert lines == {
        "named freely": ["free", "free-half"],
        "asked yes/no": ["asked", "asked-half"],
        "named freely, and an audit": ["free", "audited"],
        "named from menus of 3": ["menu"],
    }
    assert [chart.title for chart in groups[0].charts] == ["yeast", "scene"] * 2
    told = groups[0].charts[1].description
    half, full = re.search(r"named freely: ([\d.]+) at 802, ([\d.]+) at 1,605", told).groups()
    found = {p.draw: p.mean for p in summary.answers if (p.dataset, p.row) == ("scene", "MLCL")}
    assert (float(half), float(full)) == pytest.approx(
        (found["free-half"], found["free"]), abs=0.0006
    )


def test_few_lines_share_a_chart():
    groups = answer_charts(summarize_study(make(DRAWS[:4], ROWS[:2])))
    (group,) = groups
    assert [line.name for line in group.lines] == [
        "MLCL · named freely", "MLCL · asked yes/no", "Prior · named freely",
        "Prior · asked yes/no",
    ]  # fmt: skip
    assert len({line.series for line in group.lines}) == 4


def test_ways_of_asking_in_words():
    said = {
        "named freely, unequally (sd 1), and an audit": {"propensity_sd": 1.0, "audit": 5},
        "asked yes/no, 10 % mistakes": {"question": "asked", "error_rate": 0.1, "items_share": 0.5},
        "all labels ticked, people miss 25 %": {"question": "ticked", "missed": 0.25},
        "audit alone": {"question": "none", "audit": 5},
        "all labels ticked": {"question": "ticked"},
        "5 random labels ticked": {"question": "ticked-5", "propensity_sd": 1.0},
        "named freely, by correlation (sharpness 2)": {"scheme": "biased", "sharpness": 2.0},
    }
    assert list(said) == [way_of_asking(Draw(name="d", **how)) for how in said.values()]


def test_many_draws_have_a_line_each_and_the_best_of_it_is_bold(asked, summary, asked_page):
    tables = factor_tables(summary)
    first = tables.criteria[0]
    assert (first.metric.name, first.dataset) == ("average_precision", "yeast")
    assert [draw.name for draw, _ in first.lines] == [draw["name"] for draw in DRAWS]
    lines = {draw.name: entries for draw, entries in first.lines}
    assert lines["free"][2] is None  # nothing to match to
    for name, entries in lines.items():
        competing = {i: e.cell.mean for i, e in enumerate(entries[:3]) if e}
        best = max(competing, key=competing.get)
        assert [i for i, e in enumerate(entries) if e and e.best] == [best], name
    shown = asked_page.tables
    n_factors = sum(table[0][0] == "Draw" and len(table[0]) == 5 for table in shown)
    assert n_factors == 6 * 2
    for form in ("tables.md", "tables.tex"):
        text = FORMATS[form](summary, asked)
        assert text.count("Average precision on ") == 2
        for entry in lines["asked"]:
            assert f"{entry.cell.mean:.3f}" in text


def test_the_seconds_are_printed_beside_the_curves(asked_page):
    text = re.sub(r"\s+", " ", asked_page.text)
    assert (
        "Minutes rest on the seconds of other people, or on those that the plan gives: 30 s to name"
        " a label freely, 24 s to name a label from a menu, 14.5 s for a yes or no." in text
    )


def test_the_first_sentence_says_between_which_draws_the_reference_goes(summary):
    cells = [
        cell for cell in summary.cells
        if (cell.metric, cell.row) == ("average_precision", "MLCL")
    ]  # fmt: skip
    said = headline(summary)
    for dataset in ("yeast", "scene"):
        here = [cell for cell in cells if cell.dataset == dataset]
        low, high = min(here, key=lambda c: c.mean), max(here, key=lambda c: c.mean)
        assert f"on {dataset} from {low.mean:.3f} ({low.draw})" in said
        assert f"to {high.mean:.3f} ({high.draw})" in said


def test_units_that_no_draw_gives_answers_for_are_not_planned(summary):
    # 2 datasets, 7 draws, 4 rows, 3 folds; without the matched row under two draws.
    assert summary.units.planned == summary.units.done == 3 * 2 * (7 * 4 - 2)
    assert summary.incomplete == ()
