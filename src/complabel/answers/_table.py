"""Read answers from a table with a row for each label; each distinct value is read once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel._settings import setting
from complabel.answers._arrays import MARKS, AnswerArrays
from complabel.answers._codes import (
    ASKED,
    EXCLUDED,
    IF_NONE,
    NAMED,
    POSITIVE,
    TAGGED,
    TICKED,
    CodedTable,
    Column,
    refuse_odd_labels,
    sort_labels,
)
from complabel.answers._masks import (
    Mask,
    complete_ticks,
    counts_of,
    keep_rows,
    mask_of,
    rows_of,
    spell_out,
    union,
    without,
)
from complabel.answers._names import (
    ALL_APPLY,
    QUESTIONS,
    Question,
    check_names,
    list_some,
    suggest,
    text_of,
    tidied,
)
from complabel.errors import AnnotationError

_NO, _YES, _UNSURE = range(3)
_WORDS = ("no", "yes", "unsure")
_SHOWN = 10  # rows in a notebook


class UnlistedLabelsWarning(UserWarning):
    """Answers are about all labels, but nobody listed the labels: only answers mention them."""


def read_table(
    table: CodedTable,
    *,
    items: Sequence[Any] | None,
    label_names: Sequence[str] | None,
    question: Question | None,
) -> tuple[dict[str, Any], Callable[[int], str]]:
    """Return all arrays of ``Answers``, and words for an answer by its row in these."""
    rows = _Rows.of(table)
    item_names = _items_of(table["item"], items)
    item = rows.agreed("item", table["item"].encode(item_names.tolist()))
    if (item == -1).any():
        raise rows.refusal(item == -1, "has no item; fill in the item that it is about")
    label, lists, names = _labels_of(table, label_names)
    menus = rows.agreed("offered", lists.codes)
    offered = _offered_mask(menus, lists.values, (len(rows.first), len(names)))
    asked_for = rows.agreed("asked_for", table.numbers("asked_for").numbers())
    probability = rows.measured("probability", np.nan)
    draws = table.drawn()
    drawn = np.array([*draws.values, ""])[rows.agreed("drawn", draws.codes)]  # code -1: last entry
    stated = rows.agreed("question", table.held_as(question))
    kinds = table.kinds(question)
    by_kind = replace(kinds, values=[ALL_APPLY.index(kind.all_apply) for kind in kinds.values])
    advice = f"it must be one of {', '.join(ALL_APPLY)}"
    if_all, if_none = (
        rows.agreed(name, table.read(name, ALL_APPLY.index, advice).numbers()) for name in IF_NONE
    )
    if_all = np.where(if_all == -1, rows.agreed("question", by_kind.numbers()), if_all)
    rows = rows.with_positive(np.isin(stated, (POSITIVE, TAGGED)))
    if label_names is None:
        refuse_odd_labels(names, are_answered=bool(table["answer"].values))
    marks = _Marks(rows, label[rows.rows], offered, asked_for, ~np.isnan(probability), names)
    questions = marks.questions(stated)
    _refuse_unanswered(marks, questions)
    if label_names is None:
        _warn_unlisted(questions, offered, len(names))
    masks = marks.masks(questions)
    n_named = np.maximum(counts_of(masks["named"]) + counts_of(masks["positive"]), 1)
    asked_for = np.where(asked_for == -1, n_named, asked_for)
    texts = table.texts("annotator")
    people = sorted(set(texts.values))
    person = rows.agreed("annotator", texts.encode(people))
    _refuse_scattered(rows, questions, item, person)
    arrays = {
        "n_items": len(item_names),
        "n_labels": len(names),
        "label_names": tuple(names),
        "item_names": item_names,
        "annotator_names": tuple(people),
        "item": item,
        "question": np.array(QUESTIONS)[questions],
        "annotator": person,
        "asked_for": np.where(np.isin(questions, (NAMED, POSITIVE)), asked_for, 0),
        "probability": probability,
        "drawn": drawn,
        "seconds": rows.measured("seconds", np.nan),
        "weight": rows.measured("weight", 1.0),
        "all_apply": np.array(ALL_APPLY)[np.maximum(if_all, 0)],  # a gap is the first
        "none_applies": np.array(ALL_APPLY)[np.maximum(if_none, 0)],
        **masks,
    }
    return arrays, lambda at: f"{rows.name(at)} (item {item_names[item[at]]!r})"


def _items_of(column: Column, items: Sequence[Any] | None) -> AnyArray:
    """Return the names of all items, after checking that they have those of the column."""
    ids = _sorted(column.values) if items is None else list(items)
    ids = tidied(ids)
    known = {each: at for at, each in enumerate(ids)}
    if len(known) < len(ids):
        repeated = next(each for at, each in enumerate(ids) if known[each] != at)
        raise AnnotationError(
            f"items has {repeated!r} more than once; give each row of X a different name"
        )
    unknown = [value for value in column.values if value not in known]
    if unknown:
        hint = "leave these rows out, or add the items"
        if {str(value) for value in unknown} <= {str(each) for each in ids}:
            kinds = type(unknown[0]).__name__, type(ids[0]).__name__
            hint = f"they are {kinds[0]} in the table, but {kinds[1]} in items: use the same type"
        raise AnnotationError(
            f"the table has {list_some(unknown)} ({len(unknown)} in all), which are not in items;"
            f" {hint}"
        )
    return np.fromiter(ids, dtype=object, count=len(ids))


def _labels_of(
    table: CodedTable, label_names: Sequence[str] | None
) -> tuple[Ints, Column, list[str]]:
    """Return the label of each row, (R,), -1 for a gap; the offered labels; all label names."""
    names = sort_labels(table.labels()) if label_names is None else check_names(label_names)
    if not names:
        raise AnnotationError("the table has no label; give label_names, or rows with a label")
    number = {name: at for at, name in enumerate(names)}

    def find(name: str) -> int:
        if name not in number:
            raise AnnotationError(f"{name!r} is not among labels{suggest(name, names)}")
        return number[name]

    labels = table.read("label", lambda value: find(text_of(value)), "it must be a name")
    lists = table.menus(lambda menu: tuple(sorted(set(map(find, menu)))))
    different = list(dict.fromkeys(filter(None, lists.values)))
    at = {each: code for code, each in enumerate(different)} | {(): -1}  # an empty list is a gap
    codes = Column("offered", lists.codes, [at[each] for each in lists.values]).numbers()
    return labels.numbers(), Column("offered", codes, different), names


def _offered_mask(code: Ints, lists: Sequence[Sequence[int]], shape: tuple[int, int]) -> Mask:
    """Return the mask of offered labels (A, K), given each answer's list, (A,), -1 for all."""
    rows = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
    labels = np.array([label for each in lists for label in each], dtype=np.intp)
    by_list = mask_of(rows, labels, (len(lists) + 1, shape[1]))  # the last row is empty
    return by_list[code]


def _sorted(values: Any) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


@dataclass(frozen=True)
class _Rows:
    """Which rows of the table form which answer; answers are ordered by their first row."""

    rows: Ints  # (R,), rows in use; answers with only "unsure" are left out
    answer: Ints  # (R,), the answer that each row belongs to
    words: Ints  # (R,), "no", "yes" or "unsure" as a position in _WORDS; a gap is "no"
    blank: Bools  # (R,), gaps
    first: Ints  # (A,), the first row of each answer
    table: CodedTable

    @classmethod
    def of(cls, table: CodedTable) -> _Rows:
        codes = table.words().encode(_WORDS)
        words, group = np.where(codes == -1, _NO, codes), table.answer_of_row()
        kept = np.flatnonzero(np.isin(group, group[words != _UNSURE]))
        _, first, answer = np.unique(group[kept], return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(len(first))
        return cls(kept, rank[answer], words[kept], codes[kept] == -1, kept[np.sort(first)], table)

    def with_positive(self, positive: Bools) -> _Rows:
        """Return the rows with "yes" for gaps of answers, (A,), that name labels that apply."""
        return replace(self, words=np.where(self.blank & positive[self.answer], _YES, self.words))

    def name(self, answer: int) -> str:
        """Return words for an answer in a message: its id, else its row."""
        row, ids = int(self.first[answer]), self.table["answer_id"]
        if ids.codes[row] == -1:
            return self.table.place(int(self.table.rows[row]))
        return f"answer {ids.values[ids.codes[row]]!r}"

    def refusal(
        self, faulty: Bools, problem: str, proposes: Sequence[Mapping[str, object]] = ()
    ) -> AnnotationError:
        """Return the error about the first of some answers, (A,)."""
        answer = int(np.argmax(faulty))
        row = int(self.table.rows[self.first[answer]])
        return AnnotationError(f"{self.name(answer)} {problem}", row=row, proposes=proposes)

    def agreed(self, name: str, numbers: Ints) -> Ints:
        """Return each answer's value of a column, (A,), -1 if all rows have gaps; refuse two."""
        numbers = numbers[self.rows]
        largest = np.full(len(self.first), -1, dtype=np.intp)
        np.maximum.at(largest, self.answer, numbers)
        differs = (numbers != -1) & (numbers != largest[self.answer])
        if differs.any():
            at = int(np.argmax(differs))
            same = self.answer == self.answer[at]
            other = int(np.argmax(same & (numbers == largest[self.answer[at]])))
            column, table = self.table[name], self.table
            first, second = (
                f"{column.values[column.codes[row]]!r} in {table.place(int(table.rows[row]))}"
                for row in self.rows[sorted((at, other))]
            )
            raise self.refusal(
                np.arange(len(self.first)) == self.answer[at],
                f"has {name} {first} and {second}; the rows of one answer must agree: give"
                " different answers different ids, or tables that were put together apart",
            )
        return largest

    def measured(self, name: str, gap: float) -> Array:
        """Return each answer's number in a column, (A,), ``gap`` if there is none."""
        numbers = self.table.numbers(name)
        return np.array([*numbers.values, gap], dtype=np.float64)[self.agreed(name, numbers.codes)]


@dataclass(frozen=True)
class _Marks:
    """What each row says about a label, and what each answer was asked."""

    rows: _Rows
    label: Ints  # (R,), -1 for all offered labels
    offered: Mask
    asked_for: Ints  # (A,), -1 if unknown
    is_random: Bools  # (A,), the question was drawn at random
    names: Sequence[str]  # (K,), of labels

    def questions(self, stated: Ints) -> Ints:
        """Return each answer's position in QUESTIONS, (A,); infer it where ``stated`` is -1.

        A "no" does not tell that somebody was asked; a probability or another's "yes" does.
        """
        blank, positive, tagged = self.label == -1, stated == POSITIVE, stated == TAGGED
        everything, nothing = (self.any(blank & (self.rows.words == word)) for word in (_YES, _NO))
        no, yes = (self.any(~blank & (self.rows.words == word)) for word in (_NO, _YES))
        choice = no & ~yes & (counts_of(self.offered) > 0)
        inferred = np.where((self.asked_for > 0) | everything | choice, NAMED, ASKED)
        questions = np.where(stated == -1, inferred, stated)
        self._refuse(
            nothing & ~positive & ~tagged,
            "has no label; fill it in. If the table lists what applies, complabel import reads it"
            " with --answer yes, and says what a row without a label means with --unselected",
        )
        self._refuse(everything & (questions == ASKED), "is asked without a label; fill it in")
        self._refuse(
            everything & no,
            "says 'yes' about all offered labels and 'no' about one; correct one of the two",
        )
        self._refuse(
            (positive | tagged) & everything,
            "names no label that applies; fill the label in, or say 'no' if no label applies, or if"
            " there are no tags",
        )
        self._refuse(
            (positive | tagged) & nothing & yes,
            "says that no label on offer applies or is a tag, and that one is; correct one of the"
            " two",
        )
        self._refuse(
            tagged & no & ~(tagged & (yes | nothing)).any(),
            "is 'tagged' and says 'no' about a label, and no list has a tag that says 'yes'; say"
            " 'yes' about labels that apply. If rules say which do not, the question is 'excluded'",
        )
        self._refuse(
            positive & no & ~yes & ~nothing,
            "is 'positive' and only says 'no' about a label, which would mean that the label does"
            " not apply; say 'yes' about labels that somebody named because they apply. If people"
            " named labels that do not apply, the question is 'named'",
        )
        self._refuse(
            ((questions == NAMED) | (questions == EXCLUDED)) & yes & ~no & ~everything,
            "is 'named' or 'excluded' and only says 'yes' about a label, which would mean that the"
            " label applies; say 'no' about labels that were named or excluded. If people ticked"
            " what applies, the question is 'ticked'; if they said yes or no, 'asked'",
        )
        inferred_asked = (stated == -1) & (inferred == ASKED)
        faulty = inferred_asked & no & ~yes & ~self.is_random
        if faulty.any() and not (inferred_asked & yes).any():
            raise self.rows.refusal(
                faulty,
                "says 'no' about a label, and nothing says what was asked; say it in the column"
                f" question, or give {setting('question')} for all such rows: named if somebody"
                " named a label that does not apply, asked if somebody was asked about this label,"
                " ticked if all that do not apply were ticked in a list, excluded if a rule says"
                " it",
                [{"question": name} for name in QUESTIONS[:POSITIVE]],
            )
        return questions

    def masks(self, questions: Ints) -> dict[str, Mask]:
        question = questions[self.rows.answer]
        no = self.rows.words == _NO
        absent = self._mask(no & np.isin(question, (ASKED, TICKED, POSITIVE, TAGGED)))
        yes, positive = self.rows.words == _YES, question == POSITIVE
        tagged = question == TAGGED
        relevant = self._mask(yes & ~positive & ~tagged)
        offered, is_ticked = self.offered, questions == TICKED
        if is_ticked.any():
            unsure = self._mask((self.rows.words == _UNSURE) & (question == TICKED))
            judged = without(spell_out(offered, is_ticked), unsure)
            self._refuse(
                is_ticked & (counts_of(judged) == 0),
                "is unsure about every offered label; leave it out",
            )
            offered = union(keep_rows(offered, ~is_ticked), judged)
            absent, relevant = self._complete(judged, absent, relevant)
        is_asked = questions == ASKED
        # For "asked", offered follows from the judged labels. A given list is kept only if it
        # lacks a judged label: check_answers refuses such an answer. All labels are no list.
        judged = keep_rows(union(absent, relevant), is_asked)
        listed = keep_rows(judged, counts_of(offered) > 0)
        strays = counts_of(without(listed, offered)) > 0
        offered = union(keep_rows(offered, ~is_asked | strays), keep_rows(judged, ~strays))
        return {
            "named": self._mask(no & (question == NAMED)),
            "absent": absent,
            "relevant": relevant,
            "excluded": self._mask(no & (question == EXCLUDED)),
            "positive": self._mask(yes & positive),
            "tagged": self._mask(yes & tagged),
            "offered": keep_rows(offered, counts_of(offered) < offered.shape[1]),
        }

    def _complete(self, judged: Mask, absent: Mask, relevant: Mask) -> tuple[Mask, Mask]:
        """Add the labels of lists that were not ticked; ``judged`` has those on offer.

        If the rows of an answer say only "yes", or only "no", they are what was ticked. If they
        say both, or leave answers blank, they say all.
        """
        rows, is_ticked = self.rows, counts_of(judged) > 0
        no, yes = (is_ticked & self.any(~rows.blank & (rows.words == w)) for w in (_NO, _YES))
        everything = is_ticked & self.any((self.label == -1) & (rows.words == _YES))
        blank = is_ticked & self.any(rows.blank)
        left = without(judged, union(absent, relevant))
        doubtful = is_ticked & ~everything & (counts_of(left) > 0)
        ticked_no = no & ~yes & ~blank & doubtful
        others = (blank | (yes & (no | doubtful))) & ~everything
        if ticked_no.any() and others.any():
            raise rows.refusal(
                ticked_no,
                f"says 'no' about ticked labels and nothing about {self._first(left, ticked_no)},"
                f" but {rows.name(int(np.argmax(others)))} says 'yes' about some or leaves them"
                " blank, so it is not clear whether people ticked what applies; give each label"
                " that was on offer a row with yes or no, or put answers of different lists into"
                " different tables",
            )
        unclear = doubtful & no & (yes | blank)
        if unclear.any():
            raise rows.refusal(
                unclear,
                f"says nothing about {self._first(left, unclear)}, which was on offer; give it a"
                " row with yes, no or unsure, or list the labels that were on offer in the column"
                " offered",
            )
        return complete_ticks(judged, absent, relevant, yes & ~no & ~everything, everything | no)

    def _first(self, left: Mask, faulty: Bools) -> str:
        return f"the label {self.names[keep_rows(left, faulty).indices[0]]!r}"

    def any(self, rows: Bools) -> Bools:
        """Return which answers, (A,), have a row among these, (R,)."""
        return np.bincount(self.rows.answer[rows], minlength=len(self.rows.first)) > 0

    def _mask(self, rows: Bools) -> Mask:
        rows = rows & (self.label != -1)
        return mask_of(self.rows.answer[rows], self.label[rows], self.offered.shape)

    def _refuse(self, faulty: Bools, text: str) -> None:
        if faulty.any():
            raise self.rows.refusal(faulty, text)


def _refuse_unanswered(marks: _Marks, questions: Ints) -> None:
    """Refuse yes/no questions without an answer, and lists to tick without a "yes" or a "no".

    Blanks beside a "yes" are labels that were not ticked. Beside a "no" they are so in a random
    form, where one "no" says that nothing was ticked; elsewhere they may mean the opposite.
    """
    rows = marks.rows
    blank, kind = rows.blank, questions[rows.answer]
    no, yes = (marks.any(~blank & (rows.words == word)) for word in (_NO, _YES))
    open_ones = blank & ((kind == ASKED) | ((kind == TICKED) & ~(no | yes)[rows.answer]))
    if open_ones.any():
        advice = "fill in yes, no or unsure, or leave such rows out, as read_answers does"
        ways: list[dict[str, object]] = []
        if not rows.table["answer"].values:
            ways = [{"answer": "yes"}, {"answer": "no"}]
            advice = (
                "give the table a column answer with yes or no in each row; if all rows say the"
                " same, complabel import FILE --answer yes, or --answer no, adds it"
            )
        at = int(np.argmax(open_ones))
        raise rows.table.refusal(
            int(rows.rows[at]),
            f"is a question without an answer ({QUESTIONS[kind[at]]!r}, {int(open_ones.sum())} in"
            f" all); {advice}",
            ways,
        )
    unclear = blank & (kind == TICKED) & (no & ~yes & ~marks.is_random)[rows.answer]
    if unclear.any():
        raise rows.table.refusal(
            int(rows.rows[np.argmax(unclear)]),
            "is blank, and other rows of its answer say only 'no', so it is not clear what was"
            " ticked; fill in yes or no",
        )


def _refuse_scattered(rows: _Rows, questions: Ints, item: Ints, person: Ints) -> None:
    """Refuse ticked labels of one item and person in rows that nothing joins to one answer."""
    without_id = rows.table["answer_id"].codes[rows.first] == -1
    alone = np.flatnonzero((questions == TICKED) & without_id)
    _, first, count = np.unique(
        np.column_stack([item, person])[alone], axis=0, return_index=True, return_counts=True
    )
    if (count > 1).any():
        raise rows.refusal(
            np.arange(len(rows.first)) == alone[first[count > 1].min()],
            "and other rows have labels that were ticked about the same item, but no answer_id;"
            " without it each row is an answer that ticked one label only: give all rows of one"
            " answer the same answer_id",
        )


def _warn_unlisted(questions: Ints, offered: Mask, n_labels: int) -> None:
    about_all = (questions != ASKED) & (counts_of(offered) == 0)
    if about_all.any():
        warnings.warn(
            f"{np.count_nonzero(about_all)} answers are about all labels, and the table mentions "
            f"{n_labels} labels; others are missing if no answer mentions them: give "
            f"{setting('label_names')}",
            UnlistedLabelsWarning,
            stacklevel=4,
        )


def table_of(answers: AnswerArrays) -> dict[str, Any]:
    """Return the columns of ``Answers.to_table``."""
    question, marks = answers.question, [getattr(answers, name) for name in MARKS]
    # A "named" or "excluded" answer without a "no" has a row that says so, and so has a "positive"
    # or "tagged" one without a "yes". What was struck from a menu stands in an answer of its own.
    bare = counts_of(answers.chosen) + counts_of(answers.listed) == 0
    blank = np.flatnonzero(bare & ~answers.judges)
    positive = np.isin(question, ("positive", "tagged"))
    row = np.concatenate([*map(rows_of, marks), blank])
    label = np.concatenate([*(mask.indices for mask in marks), np.full(len(blank), -1)])
    kind = np.repeat(np.arange(len(marks) + 1), [*(mask.nnz for mask in marks), len(blank)])
    struck = np.where(positive[row], kind == 3, (kind == 1) & (question[row] == "named"))
    no = (kind < 3) | ((label == -1) & positive[row])
    order = np.lexsort((kind, struck, row))
    row, label, no, struck = (each[order] for each in (row, label, no, struck))
    names = answers.label_names or tuple(map(str, range(answers.n_labels)))
    labels, people = (np.array([*x, None], dtype=object) for x in (names, answers.annotator_names))
    items = np.arange(answers.n_items) if answers.item_names is None else answers.item_names
    menus, offered = np.full(answers.n_answers, None, dtype=object), answers.offered
    for at in np.flatnonzero((counts_of(offered) > 0) & (question != "asked")):
        menus[at] = labels[offered.indices[offered.indptr[at] : offered.indptr[at + 1]]].tolist()
    none: Any = None
    columns: dict[str, Any] = {
        "answer_id": (row + 1 + answers.n_answers * struck).astype(np.str_),
        "item": items[answers.item[row]],
        "label": labels[label],  # -1: the last entry
        "answer": np.where(no, "no", "yes"),
        "question": np.where(struck, "asked", question[row]),
        "offered": np.where(struck, none, menus[row]),
        "asked_for": np.where(struck | (answers.asked_for == 0)[row], none, answers.asked_for[row]),
        "annotator": people[answers.annotator[row]],
        "time": np.full(len(row), None),
        "probability": np.where(struck, np.nan, answers.probability[row]),
        "drawn": np.where(struck | (answers.drawn == "")[row], none, answers.drawn[row]),
        "seconds": np.where(struck, np.nan, answers.seconds[row]),
    }
    if answers.weighted:
        columns["weight"] = answers.weight[row]
    for name in IF_NONE:
        if ((words := getattr(answers, name)) != "answer").any():
            columns[name] = np.where(struck, none, words[row])
    return columns


def as_html(answers: AnswerArrays) -> str:
    """Return the first rows of the table without styles, so that it looks like the notebook."""
    head = ("item", "question", "annotator", "label", "answer")
    first = table_of(answers.only(np.arange(answers.n_answers) < _SHOWN))
    rows = zip(*(first[name][:_SHOWN] for name in head), strict=True)
    texts = [["" if cell is None else escape(str(cell)) for cell in row] for row in rows]
    lines = [f"<tr><th>{'</th><th>'.join(head)}</th></tr>"] if texts else []
    lines += [f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in texts]
    labels = escape(list_some(answers.label_names or range(answers.n_labels)))
    title = f"<p><strong>{escape(repr(answers))}</strong></p><p>Labels: {labels}</p>"
    table = f"<table>{''.join(lines)}</table>" if texts else ""
    return f"<div>{title}{table}</div>"
