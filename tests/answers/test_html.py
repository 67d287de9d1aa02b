"""Answers as a notebook shows them."""

import re

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
    assert table[0][:3] == ["item", "question", "annotator"]
    assert table[1] == ["0", "asked", "<b>ann</b>", f"{HOSTILE[0]}: no, {HOSTILE[1]}: yes"]
    assert table[2][:3] == ["2", "ticked", ""]
    assert [part.rpartition(": ")[2] for part in re.split(", (?=[<asł])", table[2][3])] == [
        "no", "no", "yes", "yes"
    ]  # fmt: skip


def test_many_answers_and_labels_are_cut():
    answers = Answers.from_arrays(absent=np.eye(30, dtype=int), question="ticked")
    page = Page(f"<html>{answers._repr_html_()}</html>")
    assert len(page.tables[0]) == 6
    assert "and 25 more answers" in page.text
    assert "18, 19, and 10 more" in page.text
    assert "29: yes" not in page.text  # each answer is about 30 labels


def test_no_answers():
    shown = Answers.from_arrays(absent=np.zeros((0, 2)), n_items=3)._repr_html_()
    assert "Answers(3 items, 2 labels, 0 answers)" in shown
    assert "<table" not in shown
