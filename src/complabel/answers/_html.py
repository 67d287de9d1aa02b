"""Answers in a notebook: how many of each kind, the labels, and what the first answers say."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from complabel.answers._arrays import AnswerArrays

_FIRST = 5  # answers, and statements of an answer
_LABELS = 20


def as_html(answers: AnswerArrays) -> str:
    """Return answers as HTML without styles, so that it looks like the rest of the notebook."""
    labels = answers.label_names or tuple(map(str, range(answers.n_labels)))
    items = answers.item_names
    first = np.arange(answers.n_answers) < _FIRST
    said = answers.only(first).statements()
    rows = []
    for at, (item, question, person) in enumerate(
        zip(answers.item[first], answers.question[first], answers.annotator[first], strict=True)
    ):
        of_answer = said.answer == at
        says = [
            f"{labels[label]}: {'yes' if applies else 'no'}"
            for label, applies in zip(said.label[of_answer], said.applies[of_answer], strict=True)
        ]
        name = item if items is None else items[item]
        who = answers.annotator_names[person] if person >= 0 else ""
        rows.append(_cells("td", (name, question, who, _listed(says, _FIRST))))
    head = _cells("th", ("item", "question", "annotator", "says: does the label apply?"))
    more = answers.n_answers - len(rows)
    rest = f"<p>and {more:,} more answers</p>" if more else ""
    table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{rest}"
    return (
        f"<div><p><strong>{escape(repr(answers))}</strong></p>"
        f"<p>Labels: {escape(_listed(labels, _LABELS))}</p>{table if rows else ''}</div>"
    )


def _cells(tag: str, texts: Sequence[object]) -> str:
    cells = "".join(f"<{tag}>{escape(str(text))}</{tag}>" for text in texts)
    return f"<tr>{cells}</tr>"


def _listed(names: Sequence[str], most: int) -> str:
    more = [f"and {len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])
