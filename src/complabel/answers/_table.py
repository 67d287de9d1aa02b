"""Read answers from a table with a row for each label; each distinct value is read once."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel._questions import BY_QUESTION
from complabel._settings import setting
from complabel.answers._masks import (
    Mask,
    complete_ticks,
    counts_of,
    keep_rows,
    mask_of,
    spell_out,
    union,
    without,
)
from complabel.answers._names import (
    ANSWER_WORDS,
    QUESTIONS,
    Question,
    check_names,
    is_gap,
    list_some,
    name_of,
    shown,
    suggest,
    text_of,
)
from complabel.errors import AnnotationError

COLUMNS = (
    *("answer_id", "item", "label", "answer", "question", "offered", "asked_for"),
    *("annotator", "time", "probability", "seconds"),
)
"""Columns of a table of answers, as :meth:`complabel.answers.Answers.from_table` reads them.

``time`` is when the answer was given, in the words of the tool; it is never used in computations.
``seconds`` is how long the person took for the whole answer.
"""

# People's tables may also say how much each answer counts; no tool does.
USED_COLUMNS = (*(name for name in COLUMNS if name != "time"), "weight")
_NO, _YES, _UNSURE = range(3)
_WORDS = ("no", "yes", "unsure")
_IF_ALL_APPLY = ("pick", "answer")  # a gap, -1, is the last of them
_MENU = 'it must be a list of labels, as text a JSON list, such as ["sea", "sky"]'
_NAMED, _ASKED, _TICKED, _EXCLUDED = range(4)  # in the order of QUESTIONS


class UnlistedLabelsWarning(UserWarning):
    """Answers are about all labels, but nobody listed the labels: only answers mention them."""


def read_table(
    table: Any,
    *,
    items: Sequence[Any] | None,
    label_names: Sequence[str] | None,
    question: Question | None,
) -> tuple[dict[str, Mask], dict[str, Any], dict[str, Any], Callable[[int], str]]:
    """Return masks and columns for ``from_arrays``, names, and words for an answer by its row."""
    columns = _read_columns(table)
    answer = columns["answer"].read(_answer_of, f"it must be one of {', '.join(ANSWER_WORDS)}")
    rows = _Rows.of(columns["answer_id"], answer)
    item_names = _items_of(columns["item"], items)
    item = rows.agreed(columns["item"], columns["item"].encode(item_names.tolist()))
    if (item == -1).any():
        raise AnnotationError(
            f"{rows.name(int(np.argmin(item)))} has no item; fill in the item that it is about"
        )
    label, lists, names = _labels_of(columns["label"], columns["offered"], label_names)
    offered = _offered_mask(
        rows.agreed(columns["offered"], lists.codes), lists.values, (rows.n_answers, len(names))
    )
    counts = columns["asked_for"].read(_count_of, "it must be a whole number")
    asked_for = rows.agreed(columns["asked_for"], counts.numbers())
    chances = columns["probability"].read(_number_of, "it must be a number")
    chance = rows.agreed(chances, chances.codes)
    durations = columns["seconds"].read(_number_of, "it must be a number")
    duration = rows.agreed(durations, durations.codes)
    weights = columns["weight"].read(_number_of, "it must be a number")
    weight = rows.agreed(weights, weights.codes)
    kinds = columns["question"].read(
        lambda value: BY_QUESTION[value.strip().casefold()],
        f"it must be one of {', '.join(BY_QUESTION)}",
    )
    if question is not None:
        filled = np.where(kinds.codes == -1, len(kinds.values), kinds.codes)
        kinds = _Column("question", filled, [*kinds.values, BY_QUESTION[question]])
    held, all_apply = (
        _Column("question", kinds.codes, values)
        for values in (
            [QUESTIONS.index(kind.held_as) for kind in kinds.values],
            [_IF_ALL_APPLY.index(kind.all_apply) for kind in kinds.values],
        )
    )
    told = rows.agreed(columns["question"], held.numbers())
    if label_names is None and not answer.values:
        _refuse_answers_as_labels(names)
    marks = _Marks(rows, label[rows.rows], offered, asked_for, chance != -1, names)
    questions = marks.questions(told)
    _refuse_unanswered(marks, questions, bool(answer.values))
    if label_names is None:
        _warn_unlisted(questions, offered, len(names))
    masks = marks.masks(questions)
    n_named = np.maximum(counts_of(masks["named"]), 1)
    asked_for = np.where(asked_for == -1, n_named, asked_for)
    texts = columns["annotator"].read(text_of, "it must be a name")
    people = sorted(set(texts.values))
    person = rows.agreed(columns["annotator"], texts.encode(people))
    _refuse_scattered(rows, questions, item, person)
    made = {
        "question": np.array(QUESTIONS)[questions],
        "item": item,
        "annotator": person,
        "asked_for": np.where(questions == _NAMED, asked_for, 0),
        "probability": np.array([*chances.values, np.nan])[chance],
        "seconds": np.array([*durations.values, np.nan])[duration],
        "weight": np.array([*weights.values, 1.0])[weight],
        "all_apply": np.array(_IF_ALL_APPLY)[rows.agreed(columns["question"], all_apply.numbers())],
        "n_items": len(item_names),
        "label_names": names,
    }
    known = {"item_names": item_names, "annotator_names": tuple(people)}
    return masks, made, known, lambda at: f"{rows.name(at)} (item {item_names[item[at]]!r})"


@dataclass(frozen=True)
class _Column:
    """A column as distinct values, and the code (R,) of each row's value, -1 for a gap."""

    name: str
    codes: NDArray[np.intp]
    values: list[Any]

    def read(self, convert: Callable[[Any], Any], advice: str) -> _Column:
        """Return the column with its values converted; an error names the first bad row."""
        converted = []
        for code, value in enumerate(self.values):
            try:
                converted.append(convert(value))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                row = int(np.argmax(self.codes == code))
                told = str(error) if isinstance(error, AnnotationError) else advice
                raise AnnotationError(
                    f"row {row} of the table has {self.name} {shown(value)}; {told}"
                ) from error
        return _Column(self.name, self.codes, converted)

    def numbers(self, gap: int = -1) -> NDArray[np.intp]:
        """Return the integer of each row, (R,), ``gap`` for a gap; the values must be integers."""
        return np.array([*self.values, gap], dtype=np.intp)[self.codes]  # code -1: last entry

    def encode(self, names: Sequence[Any]) -> NDArray[np.intp]:
        """Return the position of each row's value in ``names``, (R,), -1 for a gap."""
        at = {name: code for code, name in enumerate(names)}
        return _Column(self.name, self.codes, [at[value] for value in self.values]).numbers()


def _read_columns(table: Any) -> dict[str, _Column]:
    """Return all columns that answers are made from; a missing column has only gaps."""
    if not (isinstance(table, Mapping) or hasattr(table, "columns")):
        raise AnnotationError(
            f"the table is a {type(table).__name__}; give a pandas.DataFrame or a mapping of "
            "column names to columns"
        )
    found: list[Any] = list(getattr(table, "columns", table))
    for name in ("item", "label"):
        if name not in found:
            raise AnnotationError(
                f"the table has no column {name!r}; it has {', '.join(map(str, found)) or 'none'}"
            )
    columns = {name: _factorize(name, table[name]) for name in USED_COLUMNS if name in found}
    n_rows = len(columns["item"].codes)
    for name, column in columns.items():
        if len(column.codes) != n_rows:
            raise AnnotationError(
                f"the table's column {name!r} has {len(column.codes)} rows, but 'item' {n_rows}; "
                "all columns must have the same length"
            )
    gaps = np.full(n_rows, -1, dtype=np.intp)
    return {name: columns.get(name, _Column(name, gaps, [])) for name in USED_COLUMNS}


def _factorize(name: str, values: Any) -> _Column:
    try:
        iter(values)
        has_rows = not isinstance(values, str | bytes)
    except TypeError:  # a 0-d array has __iter__, but raises here
        has_rows = False
    if not has_rows:
        raise AnnotationError(
            f"the table's column {name!r} is the single value {values!r}; give a list with a value "
            "for each row"
        )
    if name == "offered":
        values = [_as_text(row, each) for row, each in enumerate(values)]
    codes, found = _codes_of(values)
    kept = np.array([not is_gap(value) for value in found], dtype=np.bool_)
    renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    known = [value for value, keep in zip(found, kept, strict=True) if keep]
    return _Column(name, renumbered[codes].astype(np.intp), known)


def _as_text(row: int, menu: Any) -> Any:
    """Return a list of offered labels as JSON: text can be hashed, lists cannot."""
    if isinstance(menu, str) or not hasattr(menu, "__len__"):
        return menu
    try:
        return json.dumps([name_of(label) for label in menu])
    except ValueError as error:
        raise AnnotationError(
            f"row {row} of the table has offered {shown(menu)}; {_MENU}"
        ) from error


def _codes_of(values: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the code of each row's value, -1 for a gap, and the values in order of occurrence."""
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, but many times faster
    except ImportError:
        seen: dict[Any, int] = {}
        numbers = [seen.setdefault(value, len(seen)) for value in values]
        return np.array(numbers, dtype=np.intp), list(seen)
    series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
    codes, found = pd.factorize(series)
    return codes, found.tolist()


def _answer_of(value: Any) -> int:
    """Return the position in _WORDS of a word of ``ANSWER_WORDS``, a bool, 0 or 1."""
    return _WORDS.index(ANSWER_WORDS.get(text_of(value).strip().casefold(), ""))


def _number_of(value: Any) -> float:
    """Return a number or text as a float; a comma in a text is the decimal point."""
    return float(value.replace(",", ".") if isinstance(value, str) else value)


def _count_of(value: Any) -> int:
    number = _number_of(value)
    if not (number.is_integer() and 0 <= number < 2**53):
        raise ValueError
    return int(number)


def _items_of(column: _Column, items: Sequence[Any] | None) -> NDArray[Any]:
    """Return the names of all items, after checking that they have those of the column."""
    ids = _sorted(column.values) if items is None else list(items)
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
    column: _Column, offered: _Column, label_names: Sequence[str] | None
) -> tuple[NDArray[np.intp], _Column, list[str]]:
    """Return the label of each row, (R,), -1 for a gap; the offered labels; all label names."""

    def listed(values: Any) -> list[str]:
        try:
            labels = json.loads(values)
        except RecursionError as error:
            raise ValueError from error
        if not isinstance(labels, list):
            raise TypeError
        return [name_of(label) for label in labels]

    column = column.read(text_of, "it must be a name")
    lists = offered.read(listed, _MENU)
    if label_names is None:
        names = _sorted({name for each in lists.values for name in each}.union(column.values))
        if all(name.isdecimal() for name in names):
            # int() refuses more than 4,300 digits
            names.sort(key=lambda name: (len(name.lstrip("0")), name.lstrip("0")))
    else:
        names = check_names(label_names)
    if not names:
        raise AnnotationError("the table has no label; give label_names, or rows with a label")
    number = {name: at for at, name in enumerate(names)}

    def find(name: str) -> int:
        if name not in number:
            raise AnnotationError(f"{name!r} is not among labels{suggest(name, names)}")
        return number[name]

    numbers = column.read(find, "").numbers()
    lists = lists.read(lambda each: tuple(sorted({find(name) for name in each})), "")
    different = list(dict.fromkeys(filter(None, lists.values)))
    at = {each: code for code, each in enumerate(different)} | {(): -1}  # an empty list is a gap
    codes = _Column("offered", lists.codes, [at[each] for each in lists.values]).numbers()
    return numbers, _Column("offered", codes, different), names


def _offered_mask(
    code: NDArray[np.intp], lists: Sequence[Sequence[int]], shape: tuple[int, int]
) -> Mask:
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

    rows: NDArray[np.intp]  # (R,), rows in use; answers with only "unsure" are left out
    answer: NDArray[np.intp]  # (R,), the answer that each row belongs to
    words: NDArray[np.intp]  # (R,), "no", "yes" or "unsure" as a position in _WORDS; a gap is "no"
    blank: NDArray[np.bool_]  # (R,), gaps
    first: NDArray[np.intp]  # (A,), the first row of each answer
    ids: _Column

    @classmethod
    def of(cls, ids: _Column, said: _Column) -> _Rows:
        words, row = said.numbers(gap=_NO), np.arange(len(said.codes))
        group = np.where(ids.codes == -1, len(ids.values) + row, ids.codes)
        sure = np.zeros(len(ids.values) + len(row), dtype=np.bool_)
        sure[group[words != _UNSURE]] = True
        kept = np.flatnonzero(sure[group])
        _, first, answer = np.unique(group[kept], return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(len(first))
        blank = said.codes[kept] == -1
        return cls(kept, rank[answer], words[kept], blank, kept[np.sort(first)], ids)

    @property
    def n_answers(self) -> int:
        return len(self.first)

    def name(self, answer: int) -> str:
        """Return words for an answer in a message: its id, else its row."""
        row = int(self.first[answer])
        code = self.ids.codes[row]
        return f"row {row} of the table" if code == -1 else f"answer {self.ids.values[code]!r}"

    def agreed(self, column: _Column, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return each answer's value, (A,), -1 if all rows have gaps; refuse two values."""
        numbers = numbers[self.rows]
        largest = np.full(self.n_answers, -1, dtype=np.intp)
        np.maximum.at(largest, self.answer, numbers)
        differs = (numbers != -1) & (numbers != largest[self.answer])
        if differs.any():
            at = int(np.argmax(differs))
            same = self.answer == self.answer[at]
            other = int(np.argmax(same & (numbers == largest[self.answer[at]])))
            places = self.rows[sorted((at, other))].tolist()
            values = [column.values[column.codes[place]] for place in places]
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
    label: NDArray[np.intp]  # (R,), -1 for all offered labels
    offered: Mask
    asked_for: NDArray[np.intp]  # (A,), -1 if unknown
    is_random: NDArray[np.bool_]  # (A,), the question was drawn at random
    names: Sequence[str]  # (K,), of labels

    def questions(self, given: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return each answer's position in QUESTIONS, (A,); infer it where ``given`` is -1.

        A "no" does not tell that somebody was asked; a probability or another's "yes" does.
        """
        blank = self.label == -1
        everything = self.any(blank & (self.rows.words == _YES))
        no, yes = (self.any(~blank & (self.rows.words == word)) for word in (_NO, _YES))
        choice = no & ~yes & (counts_of(self.offered) > 0)
        inferred = np.where((self.asked_for > 0) | everything | choice, _NAMED, _ASKED)
        questions = np.where(given == -1, inferred, given)
        self._refuse(
            self.any(blank & (self.rows.words == _NO)),
            "says 'no' without a label; fill in the label, or say 'yes' if all offered ones apply",
        )
        self._refuse(
            everything & (questions == _ASKED), "is asked without a label; fill in the label"
        )
        self._refuse(
            everything & no,
            "says 'yes' about all offered labels and 'no' about one; correct one of the two",
        )
        self._refuse(
            ((questions == _NAMED) | (questions == _EXCLUDED)) & yes & ~no & ~everything,
            "is 'named' or 'excluded' and only says 'yes' about a label, which would mean that the"
            " label applies; say 'no' about labels that were named or excluded. If people ticked"
            " what applies, the question is 'ticked'; if they said yes or no, 'asked'",
        )
        untold = (given == -1) & (inferred == _ASKED)
        self._refuse(
            untold & no & ~yes & ~self.is_random & (not (untold & yes).any()),
            "says 'no' about a label, and nothing says what was asked; say it in the column"
            f" question, or give {setting('question')} for all such rows: named if somebody named a"
            " label that does not apply, asked if somebody was asked about this label, ticked if"
            " all that do not apply were ticked in a list, excluded if a rule says it",
        )
        return questions

    def masks(self, questions: NDArray[np.intp]) -> dict[str, Mask]:
        question = questions[self.rows.answer]
        no = self.rows.words == _NO
        absent = self._mask(no & ((question == _ASKED) | (question == _TICKED)))
        relevant = self._mask(self.rows.words == _YES)
        offered, is_ticked = self.offered, questions == _TICKED
        if is_ticked.any():
            unsure = self._mask((self.rows.words == _UNSURE) & (question == _TICKED))
            judged = without(spell_out(offered, is_ticked), unsure)
            self._refuse(
                is_ticked & (counts_of(judged) == 0),
                "is unsure about every offered label; leave it out",
            )
            offered = union(keep_rows(offered, ~is_ticked), judged)
            absent, relevant = self._complete(judged, absent, relevant)
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
            raise AnnotationError(
                f"{rows.name(int(np.argmax(ticked_no)))} says 'no' about ticked labels and nothing"
                f" about {self._first(left, ticked_no)}, but {rows.name(int(np.argmax(others)))}"
                " says 'yes' about some or leaves them blank, so it is not clear whether people"
                " ticked what applies; give each label that was on offer a row with yes or no, or"
                " put answers of different lists into different tables"
            )
        unclear = doubtful & no & (yes | blank)
        if unclear.any():
            raise AnnotationError(
                f"{rows.name(int(np.argmax(unclear)))} says nothing about"
                f" {self._first(left, unclear)}, which was on offer; give it a row with yes, no or"
                " unsure, or list the labels that were on offer in the column offered"
            )
        return complete_ticks(judged, absent, relevant, yes & ~no & ~everything, everything | no)

    def _first(self, left: Mask, faulty: NDArray[np.bool_]) -> str:
        return f"the label {self.names[keep_rows(left, faulty).indices[0]]!r}"

    def any(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which answers, (A,), have a row among these, (R,)."""
        return np.bincount(self.rows.answer[rows], minlength=self.rows.n_answers) > 0

    def _mask(self, rows: NDArray[np.bool_]) -> Mask:
        rows = rows & (self.label != -1)
        return mask_of(self.rows.answer[rows], self.label[rows], self.offered.shape)

    def _refuse(self, faulty: NDArray[np.bool_], text: str) -> None:
        if faulty.any():
            raise AnnotationError(f"{self.rows.name(int(np.argmax(faulty)))} {text}")


def _refuse_unanswered(marks: _Marks, questions: NDArray[np.intp], has_answers: bool) -> None:
    """Refuse yes/no questions without an answer, and lists to tick without a "yes" or a "no".

    Blanks beside a "yes" are labels that were not ticked. Beside a "no" they are so in a random
    form, where one "no" says that nothing was ticked; elsewhere they may mean the opposite.
    """
    rows = marks.rows
    blank, kind = rows.blank, questions[rows.answer]
    no, yes = (marks.any(~blank & (rows.words == word)) for word in (_NO, _YES))
    open_ones = blank & ((kind == _ASKED) | ((kind == _TICKED) & ~(no | yes)[rows.answer]))
    if open_ones.any():
        advice = "fill in yes, no or unsure, or leave such rows out, as complabel import does"
        if not has_answers:
            advice = (
                "give the table a column answer with yes or no in each row; if all rows say the"
                " same, complabel import FILE --answer yes, or --answer no, adds it"
            )
        at = int(np.argmax(open_ones))
        raise AnnotationError(
            f"row {rows.rows[at]} of the table is a question without an answer"
            f" ({QUESTIONS[kind[at]]!r}, {int(open_ones.sum())} in all); {advice}"
        )
    unclear = blank & (kind == _TICKED) & (no & ~yes & ~marks.is_random)[rows.answer]
    if unclear.any():
        raise AnnotationError(
            f"row {int(rows.rows[np.argmax(unclear)])} of the table is blank, and other rows of"
            " its answer say only 'no', so it is not clear what was ticked; fill in yes or no"
        )


def _refuse_answers_as_labels(names: Sequence[str]) -> None:
    """Refuse a column of answers, such as 0 and 1, that is called ``label``."""
    if len(names) > 1 and all(name.strip().casefold() in ANSWER_WORDS for name in names):
        raise AnnotationError(
            f"the labels of the table are {list_some(names)}, which look like answers: the column"
            " label must name what an answer is about, and the column answer has yes or no. If"
            " these are names of labels, give label_names (--label-names)"
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


def _warn_unlisted(questions: NDArray[np.intp], offered: Mask, n_labels: int) -> None:
    about_all = (questions != _ASKED) & (counts_of(offered) == 0)
    if about_all.any():
        warnings.warn(
            f"{np.count_nonzero(about_all)} answers are about all labels, and the table mentions "
            f"{n_labels} labels; others are missing if no answer mentions them: give "
            f"{setting('label_names')}",
            UnlistedLabelsWarning,
            stacklevel=4,
        )
