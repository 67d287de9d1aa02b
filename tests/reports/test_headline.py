"""What came out, in a sentence; and marks that cannot be misread."""

import pytest
from tests.reports.small import Tables, make_plan, make_results

from complabel.metrics import METRIC_NAMES
from complabel.reports import FORMATS, headline, render_report, summarize_study


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
        return {"metrics": dict.fromkeys(METRIC_NAMES, value)}

    return make_results(plan, change=change)


def said(values, datasets, **draws):
    return headline(summarize_study(valued(values, datasets, **draws)))


def test_one_winner():
    values = {("uniform", "scene"): (0.8, 0.5), ("uniform", "yeast"): (0.7, 0.6)}
    assert said(values, ["scene", "yeast"]) == (
        "MLCL has the highest average precision on scene and yeast."
    )


def test_a_winner_on_each_dataset():
    values = {("uniform", "scene"): (0.8, 0.5), ("uniform", "yeast"): (0.6, 0.7)}
    assert said(values, ["scene", "yeast"]) == (
        "The best by average precision: MLCL on scene; Prior on yeast."
    )


def test_a_tie():
    assert said({("uniform", "scene"): (0.8, 0.8)}, ["scene"]) == (
        "MLCL and Prior have the highest average precision on scene."
    )


def test_more_datasets_than_a_sentence_names():
    datasets = ["scene", "yeast", "corel5k", "delicious"]
    values = {("uniform", d): (0.8, 0.5 if d != "yeast" else 0.9) for d in datasets}
    assert said(values, datasets) == ("MLCL has the highest average precision on 3 of 4 datasets.")


def test_draws_of_which_the_same_can_be_said_share_a_sentence():
    draws = ({"name": "a"}, {"name": "b", "mistakes": 0.1}, {"name": "c", "mistakes": 0.2})
    values = {("a", "scene"): (0.8, 0.5), ("b", "scene"): (0.8, 0.5), ("c", "scene"): (0.1, 0.5)}
    assert said(values, ["scene"], draws=draws) == (
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
def test_a_mark_says_how_the_row_is_that_it_stands_on(prior, mark, words):
    results = valued({("uniform", "scene"): (0.8, prior)}, ["scene"])
    summary = summarize_study(results)
    tables = Tables(render_report(results)).tables
    table = tables[METRIC_NAMES.index("average_precision")]
    assert [line[0] for line in table] == ["Method", "MLCL", "Prior"]
    assert words in table[2][1]
    assert mark not in table[1][1]  # the reference has no mark
    assert mark in table[2][1]
    line = next(
        line for line in FORMATS["tables.md"](summary, results).split("Average precision,")[1]
        .splitlines() if line.startswith("| Prior |")
    )  # fmt: skip
    assert mark in line


def test_two_datasets_have_no_ranks_but_a_sentence():
    results = make_results(make_plan(published="", datasets=["scene", "yeast"]))
    summary = summarize_study(results)
    assert all(ranking.ranks and ranking.groups is None for ranking in summary.rankings)
    # Nemenyi, 3 methods: 2.343 sqrt(3 * 4 / (6 N)) is below 2, the widest span, from N = 3.
    text = "".join(Tables(render_report(results)).text)
    assert text.count("A test needs at least 3 datasets.") == 1
    assert "critical difference" not in text
