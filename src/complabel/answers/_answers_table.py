"""Read answers from a table with one row for each label of an answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.answers._answers_build import A, build
from complabel.answers._answers_checks import Place
from complabel.answers._answers_columns import (
    Column,
    answer_of,
    count_of,
    number_items,
    number_labels,
    number_of,
    number_people,
    offered_mask,
    read_columns,
    word_of,
)
from complabel.answers._answers_masks import (
    Mask,
    counts_of,
    keep_rows,
    mask_of,
    spell_out,
    union,
    without,
)
from complabel.answers._questions import ANSWER_WORDS, QUESTIONS, Question
from complabel.errors import AnnotationError

_NO, _YES, _UNSURE = range(3)
_WORDS = ("no", "yes", "unsure")
_NAMED, _ASKED, _TICKED, _EXCLUDED = range(4)  # in the order of QUESTIONS


class UnlistedLabelsWarning(UserWarning):
    """Answers are about all labels, but nobody listed the labels: only answers mention them."""


@dataclass(frozen=True)
class TableParts:
    """The content of a table, as arrays with an entry or row for each answer."""

    masks: dict[str, Mask]
    columns: dict[str, Any]
    item_names: NDArray[Any]
    annotator_names: tuple[str, ...]
    place: Place

    def make(self, kind: type[A]) -> A:
        """Make answers from these parts."""
        made = build(kind, self.masks, **self.columns, place=self.place)
        return replace(made, item_names=self.item_names, annotator_names=self.annotator_names)


def read_table(
    table: Any,
    *,
    items: Sequence[Any] | None,
    labels: Sequence[str] | None,
    question: Question | None,
) -> TableParts:
    """Read a table into the parts that answers are made from."""
    columns = read_columns(table)
    answer = columns["answer"].read(
        lambda value: _WORDS.index(answer_of(value)), f"it must be one of {', '.join(ANSWER_WORDS)}"
    )
    rows = _Rows.of(columns["answer_id"], answer.numbers(gap=_NO))
    item, item_names = number_items(columns["item"], items)
    item = rows.agreed(columns["item"], item)
    if (item == -1).any():
        raise AnnotationError(
            f"{rows.name(int(np.argmin(item)))} has no item; fill in the item that it is about"
        )
    label, offered_of, names = number_labels(columns["label"], columns["offered"], labels)
    offered = offered_mask(
        rows.agreed(columns["offered"], offered_of.codes),
        offered_of.values,
        (rows.n_answers, len(names)),
    )
    asked_for = rows.agreed(
        columns["asked_for"],
        columns["asked_for"].read(count_of, "it must be a whole number").numbers(),
    )
    marks = _Marks(rows, rows.words, label[rows.rows], offered, asked_for)
    given = columns["question"].read(
        word_of(QUESTIONS), f"it must be one of {', '.join(QUESTIONS)}"
    )
    chances = columns["probability"].read(number_of, "it must be a number")
    default = -1 if question is None else QUESTIONS.index(question)
    questions = rows.agreed(columns["question"], given.numbers())
    questions = marks.questions(
        np.where(questions == -1, default, questions),
        rows.agreed(chances, chances.codes) != -1,
    )
    _refuse_unanswered(rows, columns["answer"], chances, questions)
    if labels is None:
        _warn_unlisted(questions, offered, len(names))
    masks = marks.masks(questions)
    n_named = np.maximum(counts_of(masks["named"]), 1)
    asked_for = np.where(asked_for == -1, n_named, asked_for)
    person, people = number_people(columns["annotator"])
    person = rows.agreed(columns["annotator"], person)
    _refuse_scattered(rows, questions, item, person)
    return TableParts(
        masks=masks,
        columns={
            "question": np.array(QUESTIONS)[questions],
            "item": item,
            "annotator": person,
            "asked_for": np.where(questions == _NAMED, asked_for, 0),
            "probability": np.array([*chances.values, np.nan])[rows.agreed(chances, chances.codes)],
            "all_apply": "answer",
            "n_items": len(item_names),
            "label_names": names,
        },
        item_names=item_names,
        annotator_names=people,
        place=lambda at: f"{rows.name(at)} (item {item_names[item[at]]!r})",
    )


def _refuse_unanswered(
    rows: _Rows, answer: Column, probability: Column, questions: NDArray[np.intp]
) -> None:
    """Refuse yes/no questions without an answer, which would be read as "no".

    Without any answer in the table, each row says "no". But a random question waits for one.
    """
    open_ones = (questions[rows.answer] == _ASKED) & (answer.codes[rows.rows] == -1)
    if not answer.values:
        open_ones &= probability.codes[rows.rows] != -1
    if open_ones.any():
        raise AnnotationError(
            f"row {int(rows.rows[np.argmax(open_ones)])} of the table is a yes/no question without"
            f" an answer ({int(open_ones.sum())} in all); fill in yes, no or unsure, or leave such"
            " rows out, as complabel import does"
        )


def _refuse_scattered(
    rows: _Rows, questions: NDArray[np.intp], item: NDArray[np.intp], person: NDArray[np.intp]
) -> None:
    """Refuse ticked labels of one item and person in rows that nothing joins to one answer."""
    alone = np.flatnonzero((questions == _TICKED) & (rows.ids.codes[rows.first] == -1))
    _, first, count = np.unique(
        np.column_stack([item, person])[alone], axis=0, return_index=True, return_counts=True
    )
    if (count > 1).any():
        raise AnnotationError(
            f"{rows.name(int(alone[first[count > 1].min()]))} and other rows have labels that were"
            " ticked about the same item, but no answer_id; without it each row is an answer that"
            " ticked one label only: give all rows of one answer the same answer_id"
        )


@dataclass(frozen=True)
class _Rows:
    """Which rows of the table form which answer; answers are ordered by their first row."""

    rows: NDArray[np.intp]  # (R,), rows in use; answers with only "unsure" are left out
    answer: NDArray[np.intp]  # (R,), the answer that each row belongs to
    words: NDArray[np.intp]  # (R,), "no", "yes" or "unsure" as a position in _WORDS
    first: NDArray[np.intp]  # (A,), the first row of each answer
    ids: Column

    @classmethod
    def of(cls, ids: Column, words: NDArray[np.intp]) -> _Rows:
        """Group the rows of a table by answer."""
        row = np.arange(len(words))
        group = np.where(ids.codes == -1, len(ids.values) + row, ids.codes)
        sure = np.zeros(len(ids.values) + len(row), dtype=np.bool_)
        sure[group[words != _UNSURE]] = True
        kept = np.flatnonzero(sure[group])
        _, first, answer = np.unique(group[kept], return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(len(first))
        return cls(kept, rank[answer], words[kept], kept[np.sort(first)], ids)

    @property
    def n_answers(self) -> int:
        return len(self.first)

    def name(self, answer: int) -> str:
        """Return words for an answer in a message: its id, else its row."""
        row = int(self.first[answer])
        code = self.ids.codes[row]
        return f"row {row} of the table" if code == -1 else f"answer {self.ids.values[code]!r}"

    def agreed(self, column: Column, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the value of each answer, (A,), -1 if all its rows have gaps.

        Rows of one answer with two different values are refused.
        """
        numbers = numbers[self.rows]
        largest = np.full(self.n_answers, -1, dtype=np.intp)
        np.maximum.at(largest, self.answer, numbers)
        differs = (numbers != -1) & (numbers != largest[self.answer])
        if differs.any():
            at = int(np.argmax(differs))
            same = self.answer == self.answer[at]
            other = int(np.argmax(same & (numbers == largest[self.answer[at]])))
            values = [column.values[column.codes[self.rows[each]]] for each in sorted((at, other))]
            places = [int(self.rows[each]) for each in sorted((at, other))]
            raise AnnotationError(
                f"{self.name(int(self.answer[at]))} has {column.name} {values[0]!r} in row "
                f"{places[0]} of the table and {values[1]!r} in row {places[1]}; the rows of one "
                "answer must agree, give different answers different ids"
            )
        return largest


@dataclass(frozen=True)
class _Marks:
    """What each row says about a label, and what each answer was asked."""

    rows: _Rows
    words: NDArray[np.intp]  # (R,)
    label: NDArray[np.intp]  # (R,), -1 for all offered labels
    offered: Mask
    asked_for: NDArray[np.intp]  # (A,), -1 if unknown

    def questions(self, given: NDArray[np.intp], is_random: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return each answer's position in QUESTIONS, (A,); infer it where ``given`` is -1.

        "No" about a label does not tell whether somebody was asked about it. A probability does,
        and so does a "yes" of another answer: then people were asked about each label.
        """
        blank = self.label == -1
        everything = self._any(blank & (self.words == _YES))
        no, yes = (self._any(~blank & (self.words == word)) for word in (_NO, _YES))
        choice = no & ~yes & (counts_of(self.offered) > 0)
        inferred = np.where((self.asked_for > 0) | everything | choice, _NAMED, _ASKED)
        questions = np.where(given == -1, inferred, given)
        self._refuse(
            self._any(blank & (self.words == _NO)),
            "says 'no' without a label; fill in the label, or say 'yes' if all offered ones apply",
        )
        self._refuse(
            everything & (questions == _ASKED), "is asked without a label; fill in the label"
        )
        self._refuse(
            everything & no,
            "says 'yes' about all offered labels and 'no' about one; correct one of the two",
        )
        untold = (given == -1) & (inferred == _ASKED)
        self._refuse(
            untold & no & ~yes & ~is_random & (not (untold & yes).any()),
            "says 'no' about a label, and nothing says what was asked; say it in the column"
            ' question, or for all such rows as question="named" (--question named): "named" if'
            ' somebody named a label that does not apply, "asked" if somebody was asked about this'
            ' label, "ticked" if all that do not apply were ticked, "excluded" if a rule says it',
        )
        return questions

    def masks(self, questions: NDArray[np.intp]) -> dict[str, Mask]:
        """Return all masks of the answers."""
        question = questions[self.rows.answer]
        no = self.words == _NO
        absent = self._mask(no & ((question == _ASKED) | (question == _TICKED)))
        relevant = self._mask(self.words == _YES)
        offered, is_ticked = self.offered, questions == _TICKED
        if is_ticked.any():
            unsure = self._mask((self.words == _UNSURE) & (question == _TICKED))
            judged = without(spell_out(offered, is_ticked), unsure)
            self._refuse(
                is_ticked & (counts_of(judged) == 0),
                "is unsure about every offered label; leave it out",
            )
            offered = union(keep_rows(offered, ~is_ticked), judged)
            relevant = union(relevant, without(judged, absent))
        is_asked = questions == _ASKED
        # For "asked", offered follows from the judged labels. A given list is kept only if it
        # lacks a judged label: check_answers refuses such an answer.
        judged = keep_rows(union(absent, relevant), is_asked & (counts_of(offered) > 0))
        strays = counts_of(without(judged, offered)) > 0
        return {
            "named": self._mask(no & (question == _NAMED)),
            "absent": absent,
            "relevant": relevant,
            "excluded": self._mask(no & (question == _EXCLUDED)),
            "offered": keep_rows(offered, ~is_asked | strays),
        }

    def _any(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which answers have at least one of the rows, (A,)."""
        return np.bincount(self.rows.answer[rows], minlength=self.rows.n_answers) > 0

    def _mask(self, rows: NDArray[np.bool_]) -> Mask:
        """Return the mask (A, K) of the labels in these rows."""
        rows = rows & (self.label != -1)
        return mask_of(self.rows.answer[rows], self.label[rows], self.offered.shape)

    def _refuse(self, faulty: NDArray[np.bool_], text: str) -> None:
        """Raise an error about the first faulty answer, if there is one."""
        if faulty.any():
            raise AnnotationError(f"{self.rows.name(int(np.argmax(faulty)))} {text}")


def _warn_unlisted(questions: NDArray[np.intp], offered: Mask, n_labels: int) -> None:
    """Warn if all labels were offered, but the labels were not listed."""
    about_all = (questions != _ASKED) & (counts_of(offered) == 0)
    if about_all.any():
        warnings.warn(
            f"{np.count_nonzero(about_all)} answers are about all labels, and the table mentions "
            f"{n_labels} labels; others are missing if no answer mentions them: give labels=",
            UnlistedLabelsWarning,
            stacklevel=4,
        )
