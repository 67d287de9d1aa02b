"""Read the arrays given to ``Answers.from_arrays``, and infer what was not given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel.answers._answers_arrays import MASKS
from complabel.answers._answers_masks import (
    Mask,
    counts_of,
    empty_mask,
    keep_rows,
    read_mask,
    spell_out,
    union,
    without,
)
from complabel.answers._forms import _columns_by_name, _is_missing
from complabel.answers._indicator import IndicatorLike
from complabel.answers._names import check_label_names, label_names_of
from complabel.answers._questions import QUESTIONS
from complabel.errors import AnnotationError

# A name is stored for every code up to the largest one. Larger numbers are probably user ids.
_MOST_ANNOTATORS = 1_000_000


def read_masks(
    given: Mapping[str, IndicatorLike | None], label_names: Sequence[str] | None
) -> tuple[dict[str, Mask], tuple[str, ...] | None]:
    """Return all masks and the label names; a mask that was not given has no marks."""
    names = None if label_names is None else check_names(label_names)
    reference = "label_names"
    masks: dict[str, Mask] = {}
    for name, values in given.items():
        if values is None:
            continue
        if names is None:
            names, reference = label_names_of(values), name
        elif label_names_of(values) is not None:
            check_label_names(values, names, name=name, reference=reference)
        masks[name] = read_mask(values, name)
    if not masks:
        raise AnnotationError(f"there are no answers; give at least one of {', '.join(MASKS)}")
    (first, mask), *others = masks.items()
    for name, other in others:
        if other.shape != mask.shape:
            raise AnnotationError(
                f"{name} has shape {other.shape} but {first} {mask.shape}; all need one row per "
                "answer and one column per label"
            )
    if mask.shape[1] < 1:
        raise AnnotationError(f"{first} has no columns; give one for each label")
    if names is not None and len(names) != mask.shape[1]:
        raise AnnotationError(
            f"there are {len(names)} label names for {mask.shape[1]} columns; give one for each"
        )
    every = {name: masks.get(name, empty_mask(mask.shape)) for name in MASKS}
    return every, None if names is None else tuple(names)


def check_names(label_names: Sequence[str]) -> list[str]:
    """Return the label names, after checking that all are different strings."""
    names = list(_columns_by_name(label_names))
    for at, name in enumerate(names):
        if not isinstance(name, str):
            raise AnnotationError(f"label_names[{at}] is {name!r}; give names as strings")
    return names


def read_questions(
    question: str | ArrayLike | None, masks: Mapping[str, Mask], *, given: Sequence[str]
) -> NDArray[np.str_]:
    """Return the question of each answer, (A,); if not given, infer it from the marks."""
    if question is not None:
        return read_words(question, "question", masks["named"].shape[0], QUESTIONS)
    has = {name: counts_of(mask) > 0 for name, mask in masks.items()}
    questions = np.select(
        [has["named"], has["excluded"], has["absent"] | has["relevant"]],
        ["named", "excluded", "asked"],
        default="",
    )
    if "named" in given:  # a menu was offered and nothing named: all its labels apply
        questions[(questions == "") & has["offered"]] = "named"
    elif "excluded" in given:  # no label was excluded
        questions[questions == ""] = "excluded"
    blank = np.flatnonzero(questions == "")
    if len(blank):
        also = f" ({len(blank)} answers in all)" if len(blank) > 1 else ""
        raise AnnotationError(
            f"answer {blank[0]} marks no label, so its meaning is unknown{also}; leave it out, or "
            'give its question: "named" if all offered labels apply'
        )
    return questions.astype("<U8")


def complete_masks(
    masks: Mapping[str, Mask], questions: NDArray[np.str_], *, unticked_apply: bool
) -> dict[str, Mask]:
    """Add marks that follow from others: asked labels were offered, unticked labels apply.

    A row of ``offered`` that lists every label becomes empty, which means the same.
    """
    offered, relevant = masks["offered"], masks["relevant"]
    ticked = questions == "ticked"
    if unticked_apply and ticked.any():
        relevant = union(relevant, without(spell_out(offered, ticked), masks["absent"]))
    unlisted = (questions == "asked") & (counts_of(offered) == 0)
    if unlisted.any():
        offered = union(offered, keep_rows(union(masks["absent"], relevant), unlisted))
    offered = keep_rows(offered, counts_of(offered) < offered.shape[1])
    return {**masks, "offered": offered, "relevant": relevant}


def read_asked_for(
    asked_for: ArrayLike | None, named: Mask, questions: NDArray[np.str_]
) -> NDArray[np.intp]:
    """Return how many labels each answer was asked to name, (A,)."""
    is_named = questions == "named"
    if asked_for is None:
        return np.where(is_named, np.maximum(counts_of(named), 1), 0)
    marks = read_column(asked_for, "asked_for", len(questions), np.intp)
    return np.where(is_named, marks, 0) if np.ndim(asked_for) == 0 else marks


def read_column(
    values: ArrayLike, name: str, n_answers: int, dtype: type[np.generic]
) -> NDArray[Any]:
    """Return one number for each answer, (A,), given an array or one number for all."""
    array = _one_each(values, name, n_answers)
    whole = np.issubdtype(dtype, np.integer)
    if array.size and array.dtype.kind not in ("iu" if whole else "iuf"):
        raise AnnotationError(
            f"{name} holds values of type {array.dtype}; give "
            f"{'integers' if whole else 'numbers, NaN where there is none'}"
        )
    return array.astype(dtype)


def read_words(
    values: str | ArrayLike, name: str, n_answers: int, words: Sequence[str]
) -> NDArray[np.str_]:
    """Return one of the allowed ``words`` for each answer, (A,)."""
    array = _one_each(values, name, n_answers)
    texts = array.astype(np.str_)
    unknown = np.flatnonzero(~np.isin(texts, words))
    if len(unknown):
        found = array[unknown[0]]
        raise AnnotationError(
            f"{name} of answer {unknown[0]} is {getattr(found, 'item', lambda: found)()!r}; it "
            f"must be one of {', '.join(words)}"
        )
    return texts.astype(f"<U{max(map(len, words))}")


def read_annotators(
    annotator: ArrayLike | None, n_answers: int
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the code of each answer's annotator, -1 if unknown, and the names of the codes."""
    if annotator is None:
        return np.full(n_answers, -1, dtype=np.intp), ()
    values = _one_each(annotator, "annotator", n_answers)
    if values.dtype.kind in "iu":
        least, largest = values.min(initial=0), values.max(initial=-1)
        if least < -1 or largest >= _MOST_ANNOTATORS:
            raise AnnotationError(
                f"annotator holds {least if least < -1 else largest}; codes go from 0 to"
                f" {_MOST_ANNOTATORS - 1:,}, and -1 means unknown; give other ids as strings"
            )
        return values.astype(np.intp), tuple(map(str, range(largest + 1)))
    known = ~np.fromiter(map(_is_missing, values.tolist()), dtype=np.bool_, count=n_answers)
    # A gap turns an array of integers into floats; write these as integers again.
    people = [str(int(each)) if _is_whole(each) else str(each) for each in values[known].tolist()]
    names, inverse = np.unique(np.array(people, dtype=np.str_), return_inverse=True)
    codes = np.full(n_answers, -1, dtype=np.intp)
    codes[known] = inverse
    return codes, tuple(names.tolist())


def _one_each(values: Any, name: str, n_answers: int) -> NDArray[Any]:
    """Return an array with one value for each answer, (A,), repeating a single value."""
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.full(n_answers, array)
    if array.shape != (n_answers,):
        raise AnnotationError(
            f"{name} has shape {array.shape} for {n_answers} answers; give one value for each"
        )
    return array


def _is_whole(value: object) -> bool:
    """Return whether a value is a float without a fraction."""
    return isinstance(value, float) and value.is_integer()
