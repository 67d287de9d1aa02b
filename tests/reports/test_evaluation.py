"""The page of `complabel evaluate`: its sentence, tables and pictures."""

import math
from dataclasses import replace

import pytest
from tests.reports.small import HOSTILE, Page

from complabel.reports import render_evaluation
from complabel.trust import Figure

UNKNOWN = Figure(math.nan, 0.0, 1.0, 0, None)


@pytest.fixture(scope="module")
def page(estimated):
    return Page(render_evaluation(estimated, notes=["<b>note & co"]))


def headline(measured, **figures):
    known = replace(measured.estimates, **figures)
    ((_, text),) = Page(render_evaluation(replace(measured, estimates=known))).find("h1")
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_shows_all_figures_with_intervals_and_what_halves_them(page, estimated):
    found, reliable = estimated.estimates, estimated.reliability
    names = ("precision", "recall", "f1", "average_precision", "share")
    for name, (title, *cells) in zip(names, page.tables[0][1:], strict=True):
        figure = getattr(found, name)
        assert title.lower().startswith(name.replace("_", " "))
        assert f"{100 * figure.value:.1f} %" in cells[0]
        assert f"({100 * figure.low:.1f} to {100 * figure.high:.1f})" in cells[0]
        assert cells[1] == f"{figure.n_judgements}"
        more = figure.more_questions
        assert cells[2] == ("more items" if more is None else f"{more:+,}")
    assert f"{100 * reliable.error:.1f} %" in page.text
    assert [attributes["role"] for attributes, _ in page.find("svg")] == ["img", "img"]
    for said in ("By <i>.", "<b>note & co."):  # escaped, else they would not be in the text
        assert said in page.text


def test_the_least_known_labels_come_first(page, estimated):
    (_, *rows) = page.tables[1]
    labels = estimated.estimates.labels
    assert {row[0] for row in rows} == {*HOSTILE}
    shown = [labels[row[0]].average_precision for row in rows]
    lengths = [each.high - each.low for each in shown]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]
    for (_, _, cell, _), each in zip(rows, shown, strict=True):
        assert f"{100 * each.value:.1f} %" in cell


def test_warnings_stand_on_top(estimated):
    page = Page(render_evaluation(estimated, notes=["note", "warning: <too> good"]))
    ((_, header),) = page.find("header")
    assert "Warning: <too> good." in header
    assert page.find("li")[0][1] == "Note."


def test_the_headline_says_what_is_known(estimated):
    found = estimated.estimates
    p, r = (
        f"{100 * each.value:.0f} ({100 * each.low:.0f} to {100 * each.high:.0f})"
        for each in (found.precision, found.recall)
    )
    missed = f"of 100 labels that apply, it predicts {r}"
    assert headline(estimated) == f"Of 100 labels that the model predicts, {p} apply; {missed}"
    text = headline(estimated, precision=UNKNOWN)
    assert text == f"No answer is about a label that the model predicts; {missed}"
    unknown = headline(estimated, precision=UNKNOWN, recall=UNKNOWN, f1=UNKNOWN)
    assert "do not tell the recall" in unknown


@pytest.mark.usefixtures("without_charts")
def test_of_many_labels_the_first_are_drawn(estimated):
    found = estimated.estimates
    vars(many := replace(found))["labels"] = {f"label {at}": found for at in range(70)}
    text = Page(render_evaluation(replace(estimated, estimates=many))).text
    assert "Only 60 labels are shown, of 70." in text
