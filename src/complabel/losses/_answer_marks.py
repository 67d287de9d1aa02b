"""What is read off the masks of answers before they are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.annotations import Answers


def marks_of(answers: Answers, name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the answers and labels of all marks of a mask."""
    answer, label = getattr(answers, name).tocoo().coords
    return answer.astype(np.intp), label.astype(np.intp)


def on_offer(answers: Answers, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return which labels (b, K) some answers are about."""
    offered = answers.offered[rows].toarray()
    offered[np.diff(answers.offered.indptr)[rows] == 0] = 1  # no entries stand for all labels
    return np.asarray(offered)


def is_complete(answers: Answers) -> NDArray[np.bool_]:
    """Return which answers (A,) name fewer labels than asked for: all that do not apply."""
    n_named = np.diff(answers.named.indptr)
    return np.asarray((answers.question == "named") & (n_named < answers.asked_for))


def name_of(answers: Answers, label: int) -> str:
    """Return what a label is called in an error."""
    return str(label) if answers.label_names is None else repr(answers.label_names[label])
