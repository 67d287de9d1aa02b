"""Helpers that read the masks of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers


def marks_of(answers: Answers, name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the answer and the label of each mark in the named mask, both (number of marks,)."""
    answer, label = getattr(answers, name).tocoo().coords
    return answer.astype(np.intp), label.astype(np.intp)


def on_offer(answers: Answers, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return an indicator (b, K) of the labels on offer in b answers."""
    offered = answers.offered[rows].toarray()
    offered[np.diff(answers.offered.indptr)[rows] == 0] = 1  # an empty row means all labels
    return np.asarray(offered)


def is_complete(answers: Answers) -> NDArray[np.bool_]:
    """Tell which answers (A,) name fewer labels than asked for.

    Such an answer is complete: it names all labels on offer that do not apply.
    """
    n_named = np.diff(answers.named.indptr)
    return np.asarray((answers.question == "named") & (n_named < answers.asked_for))


def name_of(answers: Answers, label: int) -> str:
    """Return the name of a label for messages: its quoted name if it has one, else its number."""
    return str(label) if answers.label_names is None else repr(answers.label_names[label])
