"""The neutral table of answers: one row for each label of an answer."""

COLUMNS = (
    "answer_id",
    "item",
    "label",
    "answer",
    "question",
    "offered",
    "asked_for",
    "annotator",
    "time",
    "probability",
)
"""Columns of a table of answers, as :meth:`complabel.answers.Answers.from_table` reads them.

``time`` is when the answer was given, in the words of the tool; it is never used in computations.
"""
