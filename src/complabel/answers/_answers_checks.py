"""Checks for answers that contradict themselves or say nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from complabel.answers._answers_masks import Mask, common, counts_of, keep_rows, union, without
from complabel.answers._questions import QUESTIONS
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from complabel.answers._answers_arrays import AnswerArrays


Place: TypeAlias = Callable[[int], str]
"""Returns the name of an answer for messages, given its row in the arrays."""


def check_answers(answers: AnswerArrays, place: Place) -> None:
    """Refuse answers that contradict themselves or say nothing.

    Contradictions between two answers are allowed here: people make mistakes.
    """
    for marks, text in _faulty_marks(answers):
        if marks.nnz:
            rows = np.flatnonzero(counts_of(marks))
            label = marks.indices[0]
            named = label if answers.label_names is None else repr(answers.label_names[label])
            raise AnnotationError(
                f"{place(int(rows[0]))} {text.format(label=f'label {named}')}{_also(rows)}"
            )
    for faulty, text, *arrays in _faulty_rows(answers):
        if faulty.any():
            rows = np.flatnonzero(faulty)
            told = text.format(*(array[rows[0]] for array in arrays))
            raise AnnotationError(f"{place(int(rows[0]))} {told}{_also(rows)}")


def _also(rows: NDArray[np.intp]) -> str:
    """Return words that count the faulty answers; empty if there is only one."""
    return f" ({len(rows)} answers in all)" if len(rows) > 1 else ""


def _faulty_marks(answers: AnswerArrays) -> Iterator[tuple[Mask, str]]:
    """Yield the faulty marks of each check, and the message for the first of them."""
    named, offered, absent = answers.named, answers.offered, answers.absent
    listed = counts_of(offered) > 0  # rows without entries offer every label
    is_named, is_asked, is_ticked, is_excluded = (answers.question == word for word in QUESTIONS)
    judged = is_asked | is_ticked
    yield (
        keep_rows(named, ~is_named),
        "names {label}, but its question is not 'named'; give it question 'named', or give the "
        "label as absent",
    )
    yield (
        without(keep_rows(named, listed), offered),
        "names {label}, which was not offered; add it to offered, or correct named",
    )
    yield (
        common(named, answers.relevant),
        "names {label} and gives it as relevant; a label either applies or does not, correct one",
    )
    yield (
        common(answers.relevant, union(absent, answers.excluded)),
        "gives {label} as relevant and as absent or excluded; a label either applies or does not,"
        " correct one",
    )
    struck = keep_rows(absent, is_named)
    yield (
        union(common(struck, offered), keep_rows(struck, ~listed)),
        "offers {label} and gives it as absent; leave the label out of offered, or give the 'no' "
        "as a separate answer",
    )
    facts = keep_rows(union(absent, answers.relevant), judged & listed)
    yield (
        without(facts, offered),
        "judges {label}, which was not offered; add it to offered, or correct absent and relevant",
    )
    yield (
        keep_rows(answers.excluded, judged),
        "excludes {label}, but its question is 'asked' or 'ticked'; give the excluded labels as a "
        "separate answer",
    )
    yield (
        without(keep_rows(answers.excluded, is_excluded & listed), offered),
        "excludes {label}, which was not offered; add it to offered, or correct excluded",
    )


def _faulty_rows(answers: AnswerArrays) -> Iterator[tuple[Any, ...]]:
    """Yield the faulty answers of each check, (A,), the message, and arrays to fill it in."""
    is_named, is_asked, is_ticked, _ = (answers.question == word for word in QUESTIONS)
    n_named, n_offered = counts_of(answers.named), answers.n_offered
    n_judged = counts_of(union(answers.absent, answers.relevant))
    asked_for, probability = answers.asked_for, answers.probability
    yield (
        (answers.item < 0) | (answers.item >= answers.n_items),
        f"is about an item that does not exist: with {answers.n_items} items the numbers go from "
        f"0 to {answers.n_items - 1}",
    )
    yield (
        is_named & (n_offered == 1),
        "is a menu of one label, which is a yes/no question; give it question 'asked', with the "
        "label as absent (no) or relevant (yes)",
    )
    yield (
        np.where(is_named, asked_for < 1, asked_for != 0),
        "has asked_for {} with question '{}'; give at least 1 for 'named', and 0 for all others",
        asked_for,
        answers.question,
    )
    yield (
        is_named & (asked_for > n_offered),
        "was asked for {} labels with {} on offer; correct asked_for or offered",
        asked_for,
        n_offered,
    )
    yield (
        is_named & (n_named > asked_for),
        "names {} labels but was asked for {}; correct asked_for or named",
        n_named,
        asked_for,
    )
    yield (
        is_named & (n_named == 0) & (answers.all_apply != "answer"),
        "names nothing, which says that all labels on offer apply, but all_apply is '{}'; leave "
        'it out, or give all_apply="answer"',
        answers.all_apply,
    )
    yield (
        is_asked & (n_judged == 0),
        "judges no label; leave it out, or give what was said as absent or relevant",
    )
    yield (
        (is_asked | is_ticked) & (n_judged < n_offered),
        "judges {} of {} labels on offer; mark each as absent or relevant, or offer fewer",
        n_judged,
        n_offered,
    )
    yield (
        ~(np.isnan(probability) | ((probability > 0) & (probability <= 1))),
        "has probability {}; give the chance with which a random question was drawn, above 0 and "
        "at most 1, or NaN if it was not drawn at random",
        probability,
    )
