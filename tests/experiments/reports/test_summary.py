"""What a summary says of a study; the headline, and marks that cannot be misread."""

import numpy as np
import pytest
from scipy import stats
from tests.experiments.reports.small import (
    DETAILS,
    ROWS,
    folds_of,
    make_plan,
    make_results,
    the_cell,
)
from tests.reports.small import Page

from complabel.experiments.paper import Published, published_cells
from complabel.experiments.reports import FORMATS, headline, render_report, summarize_study
from complabel.experiments.reports._summary import WinTieLoss
from complabel.experiments.reports._tables import study_tables
from complabel.experiments.reports._templates import title_of
from complabel.metrics import METRICS


def test_a_cell_by_hand():
    plan = make_plan(datasets=["scene"], rows=[{"method": "mlcl"}, {"method": "prior"}])

    def change(unit):
        value = 0.2 + 0.1 * unit.fold if unit.row == "MLCL" else 0.5
        return {"metrics": dict.fromkeys(METRICS, value)}

    results = make_results(plan, change=change)
    summary = summarize_study(results)
    cell = the_cell(summary, row="MLCL", metric="hamming_loss_minmax")
    assert (cell.folds, cell.mean, cell.std) == (3, pytest.approx(0.3), pytest.approx(0.1))
    # Printed: 0.264 with 0.027; lower is better.
    assert cell.published == Published(mean=0.264, std=0.027)
    assert cell.advantage == pytest.approx((0.264 - 0.3) / 0.027)
    assert cell.plain is None  # the reference itself
    # Differences of -0.3, -0.2, -0.1: t = -0.2 / (0.1 / sqrt(3)) = -3.46, p = 0.074; a tie.
    other = the_cell(summary, row="Prior", metric="ranking_loss")
    assert (other.plain, other.corrected, other.tested_folds) == ("tie", "tie", 3)
    assert other.published is None
    assert other.advantage is None


def test_folds_are_paired_by_their_number():
    """Every fold differs from the others by more than the two rows do within it."""
    plan = make_plan(datasets=["scene"], rows=[{"method": "mlcl"}, {"method": "prior"}])

    def change(unit):
        value = 0.1 * unit.fold + (0.05 + 0.001 * unit.fold if unit.row == "Prior" else 0)
        return {"metrics": dict.fromkeys(METRICS, value)}

    summary = summarize_study(make_results(plan, change=change))
    assert the_cell(summary, row="Prior", metric="ranking_loss").plain == "better"


def test_hamming_losses_are_held_against_the_printed_one_only_once(summary):
    printed = published_cells("table2")
    for row, compared, other in (
        ("MLCL", "hamming_loss_minmax", "hamming_loss"),
        ("L-UW", "hamming_loss", "hamming_loss_minmax"),
    ):
        cells = {m: the_cell(summary, row=row, dataset="yeast", metric=m) for m in METRICS}
        assert cells[other].published is None
        expected = printed["yeast", "uniform", row, "hamming_loss"].mean
        assert cells[compared].published.mean == expected


@pytest.mark.parametrize(
    "draw",
    [
        {"asked_for": 2},
        {"scheme": "biased", "sharpness": 2.0},
        {"question": "menu-2"},
        {"error_rate": 0.1},
        {"scheme": "biased", "propensity_sd": 1.0},
    ],
    ids=str,
)
def test_draws_other_than_the_papers_have_no_published_cells(draw):
    plan = make_plan(draws=[{"name": "mine", **draw}], published="table3", datasets=["scene"])
    assert all(c.published is None for c in summarize_study(make_results(plan)).cells)


def test_tests_agree_with_scipy(results, summary):
    for cell in summary.cells:
        if cell.row == "MLCL":
            continue
        ours = folds_of(results, "MLCL", cell.dataset, cell.metric)
        theirs = folds_of(results, cell.row, cell.dataset, cell.metric)
        test = stats.ttest_rel(ours, theirs)
        better = (test.statistic > 0) == (cell.metric == "average_precision")
        assert cell.plain == ("tie" if test.pvalue > 0.05 else "better" if better else "worse")


def test_wins_ties_and_losses_count_the_cells(summary):
    assert [counted.row for counted in summary.comparison] == [
        ROWS[1]["title"], "L-UW", "Supervised",
    ]  # fmt: skip
    for counted in summary.comparison:
        cells = [c for c in summary.cells if c.row == counted.row]
        assert counted.cells == len(cells) == 18
        for test in ("plain", "corrected"):
            judgements = [getattr(cell, test) for cell in cells]
            expected = WinTieLoss(*map(judgements.count, ("better", "tie", "worse")))
            assert getattr(counted, test) == expected
    assert sum(counted.plain.wins for counted in summary.comparison) > 0


def test_ranks_leave_out_references_and_follow_the_means(summary):
    for ranking in summary.rankings:
        # Values grow from row to row, by more than they spread.
        expected = [3, 2, 1] if ranking.metric == "average_precision" else [1, 2, 3]
        assert ranking.rows == ("MLCL", ROWS[1]["title"], "L-UW")
        assert list(ranking.ranks) == expected
        assert ranking.friedman.statistic == pytest.approx(6.0)  # 3 problems, same order
        assert ranking.friedman.f_statistic is None
        # 2.343 sqrt(3 * 4 / (6 * 3))
        assert ranking.critical_difference == pytest.approx(1.913, abs=1e-3)


def test_a_single_fold_has_no_spread_and_no_test(without_charts):
    results = make_results(
        make_plan(datasets=["yeast"]), change=lambda u: {"status": "pending"} if u.fold else {}
    )
    cell = the_cell(summarize_study(results), row="L-UW", metric="coverage")
    assert (cell.folds, cell.std, cell.plain) == (1, None, None)
    assert "1 of 3 folds" in render_report(results)


def test_costs_scalars_settings_and_machines(summary):
    cost = summary.costs[0]
    assert (cost.fit_seconds, cost.predict_seconds, cost.peak_memory_mb) == (2.5, 0.25, 302)
    number, text = summary.fitted[:2]
    assert (number.mean, number.min, number.max) == pytest.approx((0.2, 0.1, 0.3))
    assert text.counts == {"top": 3}
    assert summary.settings[0].parameters == {"beta": 0.5}
    assert summary.settings[0].by_dataset == {"alpha": {"scene": 5, "yeast": 5, "corel5k": 7}}
    assert summary.machines == ({"system": "Linux", "torch": "2.9", "units": 36},)
    assert summary.curves[0].stages["scores"] == (1.0, None, 0.25)
    assert summary.matrices[0].matrices == DETAILS["matrices"]


def test_a_grid_of_numbers_gives_curves_by_value(without_charts):
    grid = {"beta": [1.0, 0.1, 0.5]}
    plan = make_plan(
        rows=[{"method": "mlcl", "title": "beta = {beta}", "published": "{beta:g}", "grid": grid}],
        published="table5",
        datasets=["yeast"],
    )
    results = make_results(plan)
    summary = summarize_study(results)
    assert len(summary.sensitivity) == len(METRICS)
    (record,) = [r for r in summary.sensitivity if r.metric == "average_precision"]
    assert record.parameter == "beta"
    assert [point.value for point in record.points] == [0.1, 0.5, 1.0]
    for point in record.points:
        folds = folds_of(results, f"beta = {point.value}", "yeast", "average_precision")
        assert point.mean == pytest.approx(np.mean(folds))
    assert record.points[0].published == 0.714
    assert "over beta of mlcl" in render_report(results)


TOLD = {"method": "prior", "label_frequencies": "true", "match_frequencies": True}


def test_a_row_that_is_told_frequencies_is_marked_and_does_not_compete():
    plan = make_plan(rows=[{"method": "mlcl"}, {"method": "l-uw"}, TOLD])
    summary = summarize_study(make_results(plan))
    assert [(row.learns_from, row.competes) for row in summary.rows] == [
        ("complementary", True), ("complementary", True), ("frequencies", False),
    ]  # fmt: skip
    told = "Prior, matched to true frequencies"
    assert [title_of(row) for row in summary.rows] == ["MLCL", "L-UW", f"{told} †"]
    for ranking in summary.rankings:
        assert ranking.rows == ("MLCL", "L-UW")
    # Its average precision is the greatest, as means grow from row to row.
    for table in study_tables(summary).criteria:
        best = {row.title for row, entries in table.lines for entry in entries if entry.best}
        assert best == {"L-UW" if table.metric.higher else "MLCL"}
    assert told in {counted.row for counted in summary.comparison}


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([TOLD], "† is told how often each label truly applies: out of competition."),
        (
            [TOLD, {"method": "supervised"}],
            "† learns from true labels, or is told how often each label truly applies: out of"
            " competition.",
        ),
        ([{"method": "supervised"}], "† learns from true labels: a reference, out of competition."),
    ],
)
def test_tables_say_what_the_rows_are_told_that_do_not_compete(rows, note):
    plan = make_plan(rows=[{"method": "mlcl"}, *rows], datasets=["scene"])
    results = make_results(plan)
    assert note in FORMATS["tables.md"](summarize_study(results), results)


def test_a_row_with_frequencies_has_no_published_cells():
    matched = {**TOLD, "method": "l-uw", "published": "L-UW", "title": "told"}
    plan = make_plan(rows=[{"method": "l-uw"}, matched], datasets=["yeast"])
    summary = summarize_study(make_results(plan))
    assert the_cell(summary, row="L-UW", metric="ranking_loss").published is not None
    assert the_cell(summary, row="told", metric="ranking_loss").published is None


def valued(values, datasets, draws=({"name": "uniform"},)):
    """Average precision by draw and dataset of MLCL and Prior; other criteria are all alike."""
    plan = make_plan(
        published="",
        datasets=list(datasets),
        draws=list(draws),
        rows=[{"method": "mlcl"}, {"method": "prior"}],
    )

    def change(unit):
        mlcl, prior = values[unit.draw, unit.dataset]
        value = (mlcl if unit.row == "MLCL" else prior) + 0.001 * unit.fold
        return {"metrics": dict.fromkeys(METRICS, value)}

    return make_results(plan, change=change)


MORE = ("scene", "yeast", "corel5k", "delicious")
THREE = ({"name": "a"}, {"name": "b", "error_rate": 0.1}, {"name": "c", "error_rate": 0.2})


@pytest.mark.parametrize(
    ("values", "datasets", "expected"),
    [
        (
            [(0.8, 0.5), (0.7, 0.6)],
            MORE[:2],
            "MLCL has the highest average precision on scene and yeast.",
        ),
        (
            [(0.8, 0.5), (0.6, 0.7)],
            MORE[:2],
            "The best by average precision: MLCL on scene; Prior on yeast.",
        ),
        ([(0.8, 0.8)], MORE[:1], "MLCL and Prior have the highest average precision on scene."),
        (
            [(0.8, 0.5), (0.8, 0.9), (0.8, 0.5), (0.8, 0.5)],
            MORE,
            "MLCL has the highest average precision on 3 of 4 datasets.",
        ),
    ],
)
def test_the_headline_names_the_best_rows(values, datasets, expected):
    found = {("uniform", name): value for name, value in zip(datasets, values, strict=True)}
    assert headline(summarize_study(valued(found, datasets))) == expected


def test_draws_of_which_the_same_can_be_said_share_a_sentence():
    values = {("a", "scene"): (0.8, 0.5), ("b", "scene"): (0.8, 0.5), ("c", "scene"): (0.1, 0.5)}
    assert headline(summarize_study(valued(values, ["scene"], THREE))) == (
        "MLCL has the highest average precision on scene (draws a and b)."
        " Prior has the highest average precision on scene (draw c)."
    )


def test_nothing_is_said_of_what_is_not_complete():
    results = make_results(
        make_plan(published="", datasets=["yeast"]),
        change=lambda u: {"status": "pending"} if u.fold else {},
    )
    assert headline(summarize_study(results)) == "No method is complete yet."


@pytest.mark.parametrize(
    ("prior", "mark", "words"),
    [(0.5, "▼", "worse than MLCL"), (0.9, "▲", "better than MLCL")],
    ids=["worse", "better"],
)
def test_a_mark_says_how_the_row_is_that_it_stands_on(prior, mark, words, without_charts):
    results = valued({("uniform", "scene"): (0.8, prior)}, ["scene"])
    summary = summarize_study(results)
    table = Page(render_report(results)).tables[[*METRICS].index("average_precision")]
    assert [line[0] for line in table] == ["Method", "MLCL", "Prior"]
    assert words in table[2][1]
    assert mark not in table[1][1]  # the reference has no mark
    assert mark in table[2][1]
    line = next(
        line for line in FORMATS["tables.md"](summary, results).split("Average precision,")[1]
        .splitlines() if line.startswith("| Prior |")
    )  # fmt: skip
    assert mark in line


def test_two_datasets_have_no_ranks_but_a_sentence(without_charts):
    results = make_results(make_plan(published="", datasets=["scene", "yeast"]))
    summary = summarize_study(results)
    assert all(ranking.ranks and ranking.groups is None for ranking in summary.rankings)
    # Nemenyi, 3 methods: 2.343 sqrt(3 * 4 / (6 N)) is below 2, the widest span, from N = 3.
    text = Page(render_report(results)).text
    assert text.count("A test needs at least 3 datasets.") == 1
    assert "critical difference" not in text
