"""The theory's page: what was computed is what it shows, and it needs nothing else."""

import dataclasses

import pytest
from research.theory import Finding, Tally
from research.theory._theory_charts import power_of_ten
from research.theory._theory_page import render_theory
from research.theory._theory_text import STATEMENTS, by_number, counted, said_slope, theory_lines
from research.theory.tests.results import SIZES, made_up
from tests.reports.small import Page

from complabel.reports import MINUS


@pytest.fixture(scope="module")
def results():
    return made_up()


@pytest.fixture(scope="module")
def page(results):
    return render_theory(results, left_out={"<i>scene</i>": "no file & no folder"})


def test_the_page_is_one_document_that_needs_nothing_from_outside(page):
    document = Page(page)
    assert page.startswith("<!doctype html>")
    for attributes in document.attributes:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert "url(http" not in page
    assert not [tag for tag, *_ in document.elements if tag in ("script", "b", "i")]


def test_names_appear_as_they_are(page):
    text = Page(page).text
    for name in ("<b>mine</b>", "<i>scene</i>", "no file & no folder", "a<b", "sea & sky"):
        assert name in text


def test_ids_are_unique_and_links_lead_somewhere(page):
    attributes = Page(page).attributes
    ids = [attrs["id"] for attrs in attributes if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"][1:] for attrs in attributes if attrs.get("href", "").startswith("#")}
    assert {"theorem-1", "theorem-2", "figure-2", "theorem-6", "simulation", "data"} <= links
    assert links <= set(ids)


def test_every_chart_is_described(page):
    charts = [attrs for tag, attrs, _ in Page(page).elements if tag == "svg"]
    # gaps, growth, five matrices, three kinds, four risks, two datasets, and their labels by draw
    assert len(charts) == 1 + 1 + 5 + 3 + 4 + 2 + 4
    assert all(attrs["aria-label"] for attrs in charts)


def test_without_data_nothing_is_said_of_any():
    page = render_theory(made_up(with_data=False))
    assert 'id="data"' not in page
    assert 'href="#data"' not in page
    assert "Left out" not in page


def test_tables_have_the_numbers(page, results):
    rows = [row for table in Page(page).tables for row in table]
    assert ["left side, p(ȳj | x)", "0", "0", "1"] in rows
    assert ["right side", "0", "0", "2"] in rows
    means = ["0.0100"] * len(SIZES)
    assert ["MLCL, exact T", *means, "0.1250", "0.00 ± 0.25"] in rows
    assert ["supervised", *means, "0", f"{MINUS}1.00 ± 0.25"] in rows
    assert ["digits, uniform: distance", "0.500", "0.250", "0.750", "0.000"] in rows
    assert ["digits, biased: average precision", "0.500", "0.625", "0.750", "0.875"] in rows


def test_findings_are_added_up():
    statement = "l_j >= |Cov(N, ybar_j|x)|"
    first, second = Tally.of([1, 1, 0], [0, 2, 1]), Tally.of([5], [1])
    findings = [
        Finding("Corollary", statement, False, "K=8, m=3 dependent only", first),
        Finding("Corollary", statement, False, "K=8, m=4 dependent only", second),
        Finding("Estimates", statement, False, "m=3 ", second),
    ]
    (row,) = counted(findings, "Corollary")
    assert (row.n_cases, row.n_failing, row.share) == (4, 2, 0.5)
    assert (row.least, row.greatest, row.medians) == (-1, 4, (-1, 4))
    assert row.median_range == f"{MINUS}1.000 to 4.000"
    assert by_number(findings) == {STATEMENTS[statement]: {3: 2 / 3, 4: 0.0}}


def test_all_that_the_survey_counts_about_the_theorems_has_a_name(results):
    parts = ("Theorem 1", "Theorem 2", "Corollary", "Assumption")
    statements = {finding.statement for finding in results.findings if finding.part in parts}
    assert statements - {"l_j >= 0 (its size)"} == set(STATEMENTS)


def test_lines_for_a_terminal(results):
    lines = dict(theory_lines(results))
    assert lines["average precision of MLCL by its T, digits, uniform draw"] == (
        "S 0.500, S C' 0.625, uniform 0.750, exact 0.875"
    )
    assert (
        lines["error of p(y|x), one label, supervised"]
        == f"1.0e-02 at 10,000, slope {MINUS}1.00 ± 0.25"
    )
    assert lines["Theorem 1, reversed, T of each x: fails"].startswith("0.0 % of ")


def test_slopes_in_words(results):
    nan = float("nan")
    curve = results.curves[0]
    assert said_slope(dataclasses.replace(curve, slope_error=nan)) == f"slope {MINUS}1.00"
    assert said_slope(dataclasses.replace(curve, slope=nan)) == "no slope"
    assert power_of_ten(1e6) == "10⁶"
