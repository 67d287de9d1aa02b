"""Make answers from arrays: read them, check that they fit together, and sort by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import check_integer
from complabel.answers._answers_arrays import AnswerArrays
from complabel.answers._answers_checks import Place, check_answers
from complabel.answers._answers_read import (
    complete_masks,
    read_annotators,
    read_asked_for,
    read_column,
    read_masks,
    read_questions,
    read_words,
)
from complabel.answers._questions import ALL_APPLY

A = TypeVar("A", bound=AnswerArrays)


def build(
    kind: type[A],
    given: Mapping[str, Any],
    *,
    question: str | ArrayLike | None,
    item: ArrayLike | None,
    annotator: ArrayLike | None,
    asked_for: ArrayLike | None,
    probability: ArrayLike | None,
    all_apply: str | ArrayLike,
    n_items: int | None,
    label_names: Sequence[str] | None,
    place: Place | None = None,
) -> A:
    """Make answers from the arguments of ``Answers.from_arrays``.

    ``place`` says how to call an answer in an error message.
    """
    masks, names = read_masks(given, label_names)
    n_answers, n_labels = masks["named"].shape
    marked = [name for name, values in given.items() if values is not None]
    questions = read_questions(question, masks, given=marked)
    masks = complete_masks(masks, questions, unticked_apply="relevant" not in marked)
    codes, people = read_annotators(annotator, n_answers)
    items = read_column(np.arange(n_answers) if item is None else item, "item", n_answers, np.intp)
    if n_items is None:
        n_items = int(items.max(initial=-1)) + 1
    check_integer("n_items", n_items, at_least=0)
    if probability is None:
        probability = np.nan
    answers = kind(
        n_items=int(n_items),
        n_labels=n_labels,
        label_names=names,
        item_names=None,
        annotator_names=people,
        item=items,
        question=questions,
        annotator=codes,
        asked_for=read_asked_for(asked_for, masks["named"], questions),
        probability=read_column(probability, "probability", n_answers, np.float64),
        all_apply=read_words(all_apply, "all_apply", n_answers, ALL_APPLY),
        **masks,
    )
    check_answers(answers, place or (lambda row: f"answer {row} (item {items[row]})"))
    return answers._sorted()
