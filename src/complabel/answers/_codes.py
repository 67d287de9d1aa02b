"""A table with a row for each label of an answer, in codes: each distinct value stands once."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from complabel._drawn import AS_WRITTEN, is_sealed, opened
from complabel._opening import tidy
from complabel._parameters import AnyArray, Bools, Ints
from complabel._questions import BY_QUESTION
from complabel._settings import setting
from complabel.answers._names import (
    ANSWER_WORDS,
    QUESTIONS,
    Question,
    is_gap,
    list_some,
    name_of,
    shown,
    text_of,
)
from complabel.errors import AnnotationError

COLUMNS = (
    *("answer_id", "item", "label", "answer", "question", "offered", "asked_for"),
    *("annotator", "time", "probability", "drawn", "seconds"),
)
"""Columns of a table of answers, as :meth:`complabel.answers.Answers.from_table` reads them.

``time`` is when the answer was given, in the words of the tool; it is never used in computations.
``drawn`` is how the question was drawn, in the words of :mod:`complabel._drawn`.
``seconds`` is how long the person took for the whole answer.
"""

# Tables may also say how much each answer counts, and what people do if there is no label to name;
# no tool's do.
IF_NONE = ("all_apply", "none_applies")
USED_COLUMNS = (*(name for name in COLUMNS if name != "time"), "weight", *IF_NONE)
NAMED, ASKED, TICKED, EXCLUDED, POSITIVE, TAGGED = range(6)  # in the order of QUESTIONS
_MENU = 'it must be a list of labels, as text a JSON list, such as ["sea", "sky"]'


@dataclass(frozen=True)
class Column:
    """A column as distinct values, and the code (R,) of each row's value, -1 for a gap."""

    name: str
    codes: Ints
    values: list[Any]

    @classmethod
    def of_codes(cls, name: str, codes: AnyArray, values: Sequence[Any]) -> Self:
        """Make a column; values that are gaps, such as blanks, get the code -1."""
        at: dict[Any, int] = {}  # the code of each value; names are compared as they are tidied up
        number = [
            -1 if is_gap(v) else at.setdefault(tidy(v) if isinstance(v, str) else v, len(at))
            for v in values
        ]
        return cls(name, np.array([*number, -1], dtype=np.intp)[codes], list(at))

    @classmethod
    def of(cls, name: str, values: Any) -> Self:
        """Make a column from a list, an array, a Series or an Arrow array, a value for each row."""
        if isinstance(values, cls):
            return values
        try:
            iter(values)
            has_rows = not isinstance(values, str | bytes)
        except TypeError:  # a 0-d array has __iter__, but raises here
            has_rows = False
        if not has_rows:
            raise AnnotationError(
                f"the table's column {name!r} is the single value {values!r}; give a list with a"
                " value for each row"
            )
        is_arrow = hasattr(values, "dictionary_encode")
        if name == "offered" and not (is_arrow and values.type.num_fields == 0):  # no lists inside
            values = values.to_pylist() if is_arrow else values
            values = [_as_text(row, each) for row, each in enumerate(values)]
        elif is_arrow:
            encoded = values.dictionary_encode()
            chunks = (
                encoded.unify_dictionaries().chunks if hasattr(encoded, "chunks") else [encoded]
            )
            parts = [chunk.indices.fill_null(-1).to_numpy() for chunk in chunks]
            return cls.of_codes(name, np.concatenate(parts), chunks[-1].dictionary.to_pylist())
        if hasattr(values, "factorize"):  # a Series, which is many times faster
            codes, distinct = values.factorize()
            return cls.of_codes(name, codes, distinct.tolist())
        number: dict[Any, int] = {}
        numbers = [number.setdefault(value, len(number)) for value in values]
        return cls.of_codes(name, np.array(numbers, dtype=np.intp), list(number))

    def only(self, rows: Ints) -> Self:
        """Return the column with some rows, and with the values that they have."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        values = [self.values[code] for code in used[used >= 0]]
        return type(self)(self.name, codes - int(np.count_nonzero(used < 0)), values)

    def numbers(self, gap: int = -1) -> Ints:
        """Return the integer of each row, (R,), ``gap`` for a gap; the values must be integers."""
        return np.array([*self.values, gap], dtype=np.intp)[self.codes]  # code -1: last entry

    def encode(self, names: Sequence[Any]) -> Ints:
        """Return the position of each row's value in ``names``, (R,), -1 for a gap."""
        at = {name: code for code, name in enumerate(names)}
        return replace(self, values=[at[value] for value in self.values]).numbers()


@dataclass(frozen=True)
class CodedTable:
    """The columns of a table of answers in codes; ``Answers.from_table`` reads it.

    ``rows``, (R,), are the numbers that the rows have in the table that they come from, and
    ``place`` returns what messages call such a number.
    """

    columns: Mapping[str, Column]
    rows: Ints
    place: Callable[[int], str] = lambda row: f"row {row} of the table"

    @classmethod
    def of(cls, table: Any) -> Self:
        """Read a data frame, or a mapping of column names to columns."""
        if not (isinstance(table, Mapping) or hasattr(table, "columns")):
            raise AnnotationError(
                f"the table is a {type(table).__name__}; give a pandas.DataFrame or a mapping of "
                "column names to columns"
            )
        names: list[Any] = list(getattr(table, "columns", table))
        for name in ("item", "label"):
            if name not in names:
                listed = ", ".join(map(str, names)) or "none"
                raise AnnotationError(
                    f"the table has no column {name!r}; it has {listed}. Answers.from_frame reads"
                    " a frame with a column for each label"
                )
        columns = {name: Column.of(name, table[name]) for name in USED_COLUMNS if name in names}
        n_rows = len(columns["item"].codes)
        for name, column in columns.items():
            if len(column.codes) != n_rows:
                raise AnnotationError(
                    f"the table's column {name!r} has {len(column.codes)} rows, but 'item'"
                    f" {n_rows}; all columns must have the same length"
                )
        return cls(columns, np.arange(n_rows))

    def __getitem__(self, name: str) -> Column:
        """Return a column; one that is missing has only gaps."""
        if name in self.columns:
            return self.columns[name]
        return Column(name, np.full(len(self.rows), -1, dtype=np.intp), [])

    def only(self, which: Bools) -> CodedTable:
        """Return the table with the rows that ``which``, (R,), marks."""
        if which.all():
            return self
        at = np.flatnonzero(which)
        columns = {name: column.only(at) for name, column in self.columns.items()}
        return CodedTable(columns, self.rows[at], self.place)

    def read(self, name: str, convert: Callable[[Any], Any], advice: str) -> Column:
        """Return a column with its values converted; an error names the first bad row."""
        column, converted = self[name], []
        for code, value in enumerate(column.values):
            try:
                converted.append(convert(value))
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                reason = str(error) if isinstance(error, AnnotationError) else advice
                row = int(np.argmax(column.codes == code))
                raise self.refusal(row, f"has {name} {shown(value)}; {reason}") from error
        return replace(column, values=converted)

    def refusal(
        self, row: int, problem: str, proposes: Sequence[Mapping[str, object]] = ()
    ) -> AnnotationError:
        """Return the error about a row."""
        number = int(self.rows[row])
        return AnnotationError(f"{self.place(number)} {problem}", row=number, proposes=proposes)

    def words(self) -> Column:
        """Return the column ``answer`` with the words "no", "yes" and "unsure"."""
        advice = f"it must be one of {', '.join(ANSWER_WORDS)}"
        return self.read("answer", lambda value: ANSWER_WORDS[_folded(value)], advice)

    def kinds(self, question: Question | None) -> Column:
        """Return the column ``question`` as kinds of questions; ``question`` fills gaps."""
        advice = f"it must be one of {', '.join(BY_QUESTION)}"
        kinds = self.read("question", lambda value: BY_QUESTION[_folded(value)], advice)
        if question is None:
            return kinds
        filled = np.where(kinds.codes == -1, len(kinds.values), kinds.codes)
        return replace(kinds, codes=filled, values=[*kinds.values, BY_QUESTION[question]])

    def held_as(self, question: Question | None) -> Ints:
        """Return the position in QUESTIONS of what each row's answer is held as, (R,)."""
        kinds = self.kinds(question)
        return replace(kinds, values=[kind.held_as for kind in kinds.values]).encode(QUESTIONS)

    def texts(self, name: str) -> Column:
        """Return a column of names."""
        return self.read(name, text_of, "it must be a name")

    def drawn(self) -> Column:
        """Return the column ``drawn`` in clear, also what is sealed for people who are asked."""
        texts, names = self.texts("drawn"), [self.texts(name) for name in ("item", "label")]
        codes, values = texts.codes.copy(), {text: at for at, text in enumerate(texts.values)}
        hidden = np.array([*map(is_sealed, texts.values), False])[codes]
        for row in np.flatnonzero(hidden).tolist():
            pair = ([*each.values, ""][each.codes[row]] for each in names)
            with contextlib.suppress(ValueError):  # what cannot be opened is refused below
                clear = opened(texts.values[codes[row]], *pair)
                codes[row] = values.setdefault(clear, len(values))
        column = Column("drawn", codes, [*values]).only(np.arange(len(codes)))
        table = replace(self, columns={**self.columns, "drawn": column})
        return table.read("drawn", lambda text: opened(text, "", ""), AS_WRITTEN)

    def numbers(self, name: str) -> Column:
        """Return a column of numbers; a comma in a text is the decimal point."""
        if name == "asked_for":
            return self.read(name, _count_of, "it must be a whole number")
        return self.read(name, _number_of, "it must be a number")

    def labels(self) -> set[str]:
        """Return the names of all labels that the table mentions."""
        return {*self.texts("label").values, *itertools.chain(*self.menus(tuple).values)}

    def menus(self, convert: Callable[[list[str]], Any]) -> Column:
        """Return the column ``offered``; ``convert`` is given the names in each list."""
        return self.read("offered", lambda menu: convert(_names_of(menu)), _MENU)

    def rows_of_whole_lists(
        self, question: Question | None, none: Collection[str]
    ) -> tuple[Bools, Bools, Bools]:
        """Return which rows have a blank or a word for *none* in the place of a label, (R,).

        These are blanks; words for *none* with yes; and others, which say of no label what applies.
        """
        label, words, kind = self["label"], self.words(), self.held_as(question)
        unknown = (self["offered"].codes == -1) & (self["asked_for"].codes == -1)
        is_list = np.isin(kind, (ASKED, TICKED, TAGGED)) | ((kind == -1) & unknown)
        sure = np.append(np.isin(words.values, ("no", "yes")), False)[words.codes]
        is_word = [str(value).casefold() in none for value in label.values]
        says_none = np.append(np.array(is_word, dtype=np.bool_), False)[label.codes]
        if (odd := says_none & ~is_list).any():
            problem = "has a word for none, but people were to name labels"
            raise self.refusal(int(odd.argmax()), f"{problem}; say in the table what it means")
        yes = np.append(np.isin(words.values, ("yes",)), False)[words.codes] | (
            "answer" not in self.columns
        )
        told = (kind == TAGGED) & sure & ~yes  # "no" of no label is a list without tags
        return (label.codes == -1) & sure & is_list & ~told, says_none & yes, says_none & ~yes

    def with_empty_lists(self, which: Bools) -> CodedTable:
        """Return the table in which some rows, (R,), say "no" of no label: lists without tags."""
        label, answer = self["label"], self["answer"]
        values = list(dict.fromkeys([*answer.values, "no"]))
        changed: dict[str, Column] = {
            "label": replace(label, codes=np.where(which, -1, label.codes)),
            "answer": replace(
                answer, codes=np.where(which, values.index("no"), answer.codes), values=values
            ),
        }
        return CodedTable({**self.columns, **changed}, self.rows, self.place)

    def about_all(self, which: Bools, applies: Bools, names: Sequence[str]) -> CodedTable:
        """Return the table with a row about each label in place of each row of ``which``, (R,).

        These rows say whether the label ``applies``, (R,), and belong to one answer.
        """
        at = np.repeat(np.arange(len(which)), np.where(which, len(names), 1))
        new, rows = which[at], self.rows[at]
        columns = {n: replace(each, codes=each.codes[at]) for n, each in self.columns.items()}
        new_values = {
            "label": [name for _ in range(np.count_nonzero(which)) for name in names],
            "answer": np.where(applies[at[new]], "yes", "no").tolist(),
            "answer_id": [f"list {row}" for row in rows[new]],
        }
        for name, values in new_values.items():
            old = replace(self[name], codes=self[name].codes[at])
            fresh = new & (old.codes == -1) if name == "answer_id" else new
            codes, known = old.codes.copy(), {v: code for code, v in enumerate(old.values)}
            new_codes = np.array([known.setdefault(value, len(known)) for value in values])
            codes[fresh] = new_codes[fresh[new]]
            columns[name] = Column(name, codes, list(known)).only(np.arange(len(at)))
        return CodedTable(columns, rows, self.place)

    def answer_of_row(self) -> Ints:
        """Return a number for the answer that each row belongs to, (R,)."""
        ids = self["answer_id"]
        return np.where(ids.codes == -1, len(ids.values) + np.arange(len(self.rows)), ids.codes)

    def open_questions(self, question: Question | None = None) -> Bools:
        """Return which rows are questions that nobody answered yet, (R,).

        These are yes/no questions with a blank ``answer``, lists to tick of which no row says "yes"
        or "no", and menus that were drawn at random, of which no label was named.
        """
        kind, words = self.held_as(question), self.words()
        filled = {name: self[name].codes != -1 for name in ("label", "probability")}
        to_name = np.isin(kind, (NAMED, POSITIVE)) & ~filled["label"] & filled["probability"]
        if "answer" not in self.columns:
            return np.asarray(to_name)
        unnamed = (self["offered"].codes == -1) & (self["asked_for"].codes == -1)
        asked = ((kind == ASKED) | ((kind == -1) & unnamed)) & filled["label"]
        answer, sure = self.answer_of_row(), np.isin(words.values, ("no", "yes"))
        judged = np.append(sure, False)[words.codes]
        waits = (kind == TICKED) & ~np.isin(answer, answer[judged])
        return np.asarray((words.codes == -1) & (asked | waits | to_name))


# A list, or a part of one, as Python or JSON write it; an object; a name in quotation marks.
_NO_NAME = re.compile(
    r"""[\[({]\s*(['"{\[]|[\])}]$).*|.*['"]\s*[\])}]|\{.*\}|(['"]).*\2""", re.DOTALL
)


# Marks and words that are answers, in several languages, and hardly names of labels.
_MARKS = {
    *("true", "false", "x", "\u2713", "\u2714", "\u2611", "\u2612", "\u00d7", "\u2022", "*", "ja"),
    *("nein", "oui", "non", "si", "s\u00ed", "s\u00ec", "sim", "n\u00e3o", "wahr", "falsch"),
    *("vrai", "faux", "\u0434\u0430", "\u043d\u0435\u0442", "\u662f", "\u5426", "\u306f\u3044"),
}


def refuse_odd_labels(names: Collection[str], *, are_answered: bool) -> None:
    """Refuse names of labels that are answers, such as 0 and 1, or lists, such as ['sea', 'sky'].

    ``are_answered``: the table also has a column with answers.
    """
    remedy = f"if these are names of labels, give {setting('label_names')}"
    if odd := sorted(name for name in names if _NO_NAME.fullmatch(name)):
        raise AnnotationError(
            f"the labels of the table are {list_some(odd)}, which look like lists, or parts of"
            " lists; give each label a row, or read cells with lists by complabel import --from"
            f" columns; {remedy}"
        )
    words = {_folded(name) for name in names}
    alone = words <= {"true", "false"}
    alone |= not are_answered and (len(names) > 1 or words <= _MARKS)
    if names and alone and words <= {*ANSWER_WORDS, *_MARKS}:
        raise AnnotationError(
            f"the labels of the table are {list_some(sorted(names))}, which look like answers: the"
            " column label must name what an answer is about, and the column answer has yes or no;"
            f" {remedy}"
        )


def sort_labels(names: set[str]) -> list[str]:
    """Return labels in the order of the columns; if all are whole numbers, by number."""
    if all(name.isdecimal() for name in names):
        # int() refuses more than 4,300 digits
        return sorted(names, key=lambda name: (len(name.lstrip("0")), name.lstrip("0"), name))
    return sorted(names)


def _folded(value: Any) -> str:
    return text_of(value).strip().casefold()


def _as_text(row: int, menu: Any) -> Any:
    """Return a list of offered labels as JSON, an empty one as None: lists cannot be hashed."""
    if isinstance(menu, str) or not hasattr(menu, "__len__"):
        return menu
    try:
        names = [name_of(label) for label in menu]
        return json.dumps(names, ensure_ascii=False) if names else None
    except ValueError as error:
        message = f"row {row} of the table has offered {shown(menu)}; {_MENU}"
        raise AnnotationError(message, row=row) from error


def _names_of(menu: Any) -> list[str]:
    try:
        labels = json.loads(menu)
    except RecursionError as error:
        raise ValueError from error
    if not isinstance(labels, list):
        raise TypeError
    return [name_of(label) for label in labels]


def _number_of(value: Any) -> float:
    return float(value.replace(",", ".") if isinstance(value, str) else value)


def _count_of(value: Any) -> int:
    number = _number_of(value)
    if not (number.is_integer() and 0 <= number < 2**53):
        raise ValueError
    return int(number)
