"""Answers as a notebook shows them."""

import numpy as np
from tests.reports.small import HOSTILE, Page

from complabel.answers import Answers


def test_counts_labels_and_the_first_answers_are_shown_as_they_are():
    answers = Answers.from_arrays(
        absent=[[1, 0, 0, 0], [0, 1, 1, 0]],
        relevant=[[0, 1, 0, 0], [1, 0, 0, 1]],
        question=["asked", "ticked"],
        offered=[[1, 1, 0, 0], [0, 0, 0, 0]],
        item=[0, 2],
        annotator=["<b>ann</b>", None],
        label_names=HOSTILE,
    )
    shown = answers._repr_html_()
    page = Page(f"<html>{shown}</html>")
    assert "Answers(3 items, 4 labels, 2 answers: 1 asked, 1 ticked)" in page.text
    assert all(name in page.text for name in HOSTILE)
    (table,) = page.tables
    assert table[0] == ["item", "question", "annotator", "label", "answer"]
    assert table[1] == ["0", "asked", "<b>ann</b>", HOSTILE[0], "no"]
    assert table[3][:3] == ["2", "ticked", ""]
    assert [row[4] for row in table[3:]] == ["no", "no", "yes", "yes"]


def test_many_answers_and_labels_are_cut():
    answers = Answers.from_arrays(absent=np.eye(30, dtype=int), question="ticked")
    page = Page(f"<html>{answers._repr_html_()}</html>")
    assert len(page.tables[0]) == 11
    assert "0, 1, 2, 3, 4, ..." in page.text


def test_no_answers():
    shown = Answers.from_arrays(absent=np.zeros((0, 2)), n_items=3)._repr_html_()
    assert "Answers(3 items, 2 labels, 0 answers)" in shown
    assert "<table" not in shown
