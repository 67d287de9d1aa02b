"""The figures of a report: means, tests, ranks and costs, by hand, by SciPy, by exact fractions."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.experiments.reports.small import (
    ROWS,
    failing,
    folds_of,
    make_plan,
    make_results,
    the_cell,
)

from complabel.experiments.paper import published_cells
from complabel.experiments.reports import summarize_study
from complabel.experiments.reports._sections import headline
from complabel.metrics import METRICS

EIGHT = ["scene", "yeast", "eurlex_dc", "eurlex_sm", "corel5k", "corel16k", "bookmark", "delicious"]


def test_a_cell_by_hand():
    plan = make_plan(datasets=["scene"], rows=[{"method": "mlcl"}, {"method": "prior"}])

    def change(unit):
        value = 0.2 + 0.1 * unit.fold if unit.row == "MLCL" else 0.5
        return {"metrics": dict.fromkeys(METRICS, value)}

    summary = summarize_study(make_results(plan, change=change))
    cell = the_cell(summary, row="MLCL", metric="hamming_loss_minmax")
    assert (cell.folds, cell.mean, cell.std) == (3, pytest.approx(0.3), pytest.approx(0.1))
    # Printed: 0.264 with 0.027; lower is better.
    assert (cell.published, cell.published_std) == (0.264, 0.027)
    assert cell.advantage == pytest.approx((0.264 - 0.3) / 0.027)
    assert math.isnan(cell.plain)  # the reference itself
    # Differences of -0.3, -0.2, -0.1: t = -0.2 / (0.1 / sqrt(3)) = -3.46, p = 0.074; a tie.
    other = the_cell(summary, row="Prior", metric="ranking_loss")
    assert (other.plain, other.corrected) == ("tie", "tie")
    assert math.isnan(other.published)
    assert math.isnan(other.advantage)


def test_folds_are_paired_by_their_number():
    """Every fold differs from the others by more than the two rows do within it."""
    plan = make_plan(datasets=["scene"], rows=[{"method": "mlcl"}, {"method": "prior"}])

    def change(unit):
        value = 0.1 * unit.fold + (0.05 + 0.001 * unit.fold if unit.row == "Prior" else 0)
        return {"metrics": dict.fromkeys(METRICS, value)}

    results = make_results(plan, change=change)
    results = replace(results, units=results.units[::-1])
    assert the_cell(summarize_study(results), row="Prior", metric="ranking_loss").plain == "better"


def test_hamming_losses_are_held_against_the_printed_one_only_once(summary):
    printed = published_cells("table2")
    for row, compared, other in (
        ("MLCL", "hamming_loss_minmax", "hamming_loss"),
        ("L-UW", "hamming_loss", "hamming_loss_minmax"),
    ):
        cells = {m: the_cell(summary, row=row, dataset="yeast", metric=m) for m in METRICS}
        assert math.isnan(cells[other].published)
        expected = printed["yeast", "uniform", row, "hamming_loss"].mean
        assert cells[compared].published == expected


@pytest.mark.parametrize(
    "draw",
    [{"asked_for": 2}, {"scheme": "biased", "sharpness": 2.0}, {"question": "menu-2"}],
    ids=str,
)
def test_draws_other_than_the_papers_have_no_published_cells(draw):
    plan = make_plan(draws=[{"name": "mine", **draw}], published="table3", datasets=["scene"])
    assert summarize_study(make_results(plan)).cells["published"].isna().all()


def test_tests_agree_with_scipy_and_their_results_are_counted(results, summary):
    wins = dict.fromkeys({row.title for row in results.plan.expanded_rows()}, 0)
    for cell in summary.cells.itertuples():
        if cell.row == "MLCL":
            continue
        ours = folds_of(results, "MLCL", cell.dataset, cell.metric)
        test = stats.ttest_rel(ours, folds_of(results, cell.row, cell.dataset, cell.metric))
        better = (test.statistic > 0) == (cell.metric == "average_precision")
        assert cell.plain == ("tie" if test.pvalue > 0.05 else "better" if better else "worse")
        wins[cell.row] += cell.plain == "better"
    for row in wins.keys() - {"MLCL"}:
        counted = summary.wins.loc["uniform", row, "plain"]
        assert (counted.better, counted.sum()) == (wins[row], 18)
    assert sum(wins.values()) > 0


@pytest.mark.parametrize("seed", range(3))
def test_ranks_are_those_of_exact_fractions_and_what_differs_that_of_nemenyi(seed):
    """Values in hundredths, whose means over folds often tie, but for rounding."""
    random = np.random.default_rng(seed)
    rows = [*ROWS, {"method": "ridge"}]
    results = make_results(
        make_plan(datasets=EIGHT, rows=rows, folds=5),
        change=lambda unit: {"metrics": dict(zip(METRICS, random.integers(0, 9, 6) / 100))},  # noqa: B905
    )
    summary = summarize_study(results)
    competing = ["MLCL", ROWS[1]["title"], "L-UW", "Ridge"]
    for ranking in summary.rankings:
        sums = [
            [
                sum(Fraction(str(v)) for v in folds_of(results, row, dataset, ranking.metric))
                for row in competing
            ]
            for dataset in EIGHT
        ]
        sign = -1 if METRICS[ranking.metric].higher_is_better else 1
        ranks = stats.rankdata([[float(sign * v) for v in line] for line in sums], axis=1)
        assert ranking.ranks.to_dict() == dict(zip(competing, ranks.mean(axis=0), strict=True))
        assert ranking.friedman == pytest.approx(stats.friedmanchisquare(*ranks.T).pvalue)
        assert ranking.difference == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 8)), rel=1e-3)
        apart = np.abs(np.subtract.outer(*[ranks.mean(axis=0)] * 2))
        np.testing.assert_array_equal(ranking.nemenyi < 0.05, apart >= ranking.difference)


def test_nemenyis_values_are_those_that_demsar_printed():
    # Table 5(a) for 5 %, and the example of section 3.2.2: 2.569 sqrt(4 * 5 / (6 * 14)) = 1.25.
    for n_rows, q in ((3, 2.343), (5, 2.728), (8, 3.031)):
        rows = [{"method": "prior", "title": f"row {at}"} for at in range(n_rows)]
        summary = summarize_study(make_results(make_plan(datasets=EIGHT, rows=rows)))
        expected = q * math.sqrt(n_rows * (n_rows + 1) / (6 * 8))
        assert summary.rankings[0].difference == pytest.approx(expected, rel=1e-3)


def test_rows_and_datasets_that_are_not_complete_have_no_ranks():
    results = make_results(make_plan(datasets=EIGHT), change=failing, missing=("scene",))
    summary = summarize_study(results)
    assert the_cell(summary, row="L-UW", dataset="yeast", metric="coverage").folds == 2
    for ranking in summary.rankings:
        assert ranking.datasets == [name for name in EIGHT[2:] if name != "corel5k"]
        assert ranking.left_out == ["yeast", "corel5k"]
    two = summarize_study(make_results(make_plan(published="", datasets=["scene", "yeast"])))
    # Nemenyi, 3 methods: 2.343 sqrt(3 * 4 / (6 N)) is below 2, the widest span, from N = 3.
    assert all("at least 3 datasets" in ranking.reason for ranking in two.rankings)


TOLD = {"method": "prior", "label_frequencies": "true", "match_frequencies": True}


def test_rows_that_are_told_more_do_not_compete_and_have_no_published_figure():
    matched = {**TOLD, "method": "l-uw", "published": "L-UW", "title": "told"}
    rows = [{"method": "mlcl"}, {"method": "l-uw"}, matched, {"method": "supervised"}]
    summary = summarize_study(make_results(make_plan(rows=rows)))
    for ranking in summary.rankings:
        assert list(ranking.ranks.index) == ["MLCL", "L-UW"]
    # Values grow from row to row, so the greatest are out of competition.
    best = summary.cells[summary.cells["best"]]
    precision = best["metric"] == "average_precision"
    assert {*best[precision]["row"]} == {"L-UW"}
    assert {*best[~precision]["row"]} == {"MLCL"}
    assert summary.cells[summary.cells["row"] == "told"]["published"].isna().all()


def test_costs_leave_out_the_fold_that_recorded_its_curve(summary):
    # Folds take 1, 2 and 3 s; the first one of MLCL recorded a curve.
    assert tuple(summary.costs.loc["uniform", "scene", "MLCL"]) == (2.5, 0.25, 302)
    assert tuple(summary.costs.loc["uniform", "scene", "L-UW"]) == (2.0, 0.25, 302)


def test_the_headline_names_the_best_rows_or_what_is_missing():
    plan = make_plan(published="", datasets=["yeast"], rows=ROWS[:3])
    assert headline(summarize_study(make_results(plan))) == (
        "The best by average precision: L-UW on yeast."
    )
    waiting = make_results(plan, change=lambda u: {"status": "pending"} if u.fold else {})
    assert headline(summarize_study(waiting)) == "No method is complete yet."
    alone = plan.model_copy(update={"rows": plan.rows[:1]})
    assert "Complete so far: MLCL." in headline(summarize_study(make_results(alone)))
    assert headline(summarize_study(make_results(make_plan()))).startswith("The paper printed 30")
