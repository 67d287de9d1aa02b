"""Read the neutral table itself, such as a table of questions that were answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from complabel.answers import ANSWER_WORDS, QUESTIONS
from complabel.errors import ComplabelError
from complabel.files import COLUMNS, SHOWN
from complabel.importers._format import Format, Head, Options, Table, Tally, open_table, some
from complabel.importers._write_questions import TO_DO

_WORDS: dict[str, Mapping[str, str]] = {
    "answer": ANSWER_WORDS,
    "question": {name: name for name in QUESTIONS},
}


def _recognizes(head: Head) -> bool:
    if head.path.suffix.lower() != ".parquet":
        return {"item", "label"} <= set(head.columns())
    try:
        return {"item", "label"} <= set(open_table(head.path).columns)
    except (ImportError, ComplabelError):  # no pyarrow, or a damaged file
        return False


def _read(path: Path, options: Options, tally: Tally) -> Iterator[Any]:
    """Read the rows, without blank ones and without questions that are not answered yet."""
    import pandas as pd  # type: ignore[import-untyped]

    tally.start("rows of the file", "blank rows", "questions not answered")
    item = options.item or "item"
    table = open_table(path, item, "label")
    there = [name for name in COLUMNS if name in table.columns and name != "item"]
    answered = _Answered(table)
    untold = _Untold()
    drawn_at_random = 0
    for piece in table.frames([*dict.fromkeys([item, *there])]):
        rows = piece.assign(item=piece[item])
        for name in set(COLUMNS).difference(rows):
            rows[name] = pd.Categorical.from_codes(np.zeros(len(rows), int), [""])
        empty = _blank(rows, "item") & _blank(rows, "label") & _blank(rows, "answer")
        rows = rows.loc[~empty, list(COLUMNS)].copy()
        tally.counts["rows of the file"] += len(piece)
        tally.counts["blank rows"] += len(piece) - len(rows)
        for name in _WORDS:
            rows[name] = _meant(table, name, rows[name])
        if options.question is not None:
            rows["question"] = rows["question"].where(rows["question"] != "", options.question)
        open_ = _not_answered(rows, "answer" in there)
        _check(table, rows, open_)
        open_ = open_ | answered.not_ticked(rows)
        untold.look(rows, open_)
        again = rows["answer_id"].astype(object).duplicated() & ~_blank(rows, "answer_id")
        tally.counts["questions not answered"] += int((open_ & ~again).sum())
        drawn_at_random += int((open_ & ~again & ~_blank(rows, "probability")).sum())
        numbers = {name: rows[name].map(_number).astype(float) for name in _NUMBERS}
        yield rows.assign(**numbers)[~open_]
    untold.refuse(table)
    left = [name for name in table.columns if name not in (item, *there, *SHOWN, TO_DO)]
    if left:
        told = "Columns that do not belong to a table of answers were left out"
        tally.remark(f"{told}: {some(left)}")
    if drawn_at_random:
        tally.remark(
            f"{drawn_at_random:,} random questions are not answered. If somebody stopped early, "
            "delete all rows after the last one that was answered, also those with an answer that "
            "was known before: only then the rest is a random sample"
        )


def _blank(rows: Any, name: str) -> Any:
    """Return which rows have nothing in a column, (R,)."""
    return rows[name].map(lambda text: not text.strip()).astype(bool)


def _meant(table: Table, name: str, column: Any) -> Any:
    allowed = {"": "", **_WORDS[name]}
    meant = column.map(lambda text: allowed.get(text.strip().casefold()))
    told = f"has {name} {{}}; it must be one of {', '.join(_WORDS[name])}, or empty"
    table.check(column, meant.isna(), told)
    return meant.astype(object)


def _not_answered(rows: Any, has_answers: bool) -> Any:
    """Return which rows are open questions about one label, or open namings, (R,).

    Without a column of answers, each row says "no" unless it is a random question.
    """
    named = ~_blank(rows, "offered") | ~_blank(rows, "asked_for")
    asked = (rows["question"] == "asked") | ((rows["question"] == "") & ~named)
    waits = rows["answer"] == "" if has_answers else ~_blank(rows, "probability")
    to_name = (rows["question"] == "named") & _blank(rows, "label") & ~_blank(rows, "probability")
    return (asked & waits) | (to_name & (rows["answer"] == ""))


class _Answered:
    """Finds random questions to tick of which no row has an answer; their rows may be far apart."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _ids(self) -> set[str]:
        found: set[str] = set()
        if {"answer_id", "answer"} <= set(self._table.columns):
            for piece in self._table.frames(["answer_id", "answer"]):
                found.update(piece["answer_id"][~_blank(piece, "answer")])
        return found

    def not_ticked(self, rows: Any) -> Any:
        """Return which rows are of such a question, (R,)."""
        waits = (rows["question"] == "ticked") & (rows["answer"] == "")
        waits &= ~_blank(rows, "probability")
        return waits & ~rows["answer_id"].isin(self._ids) if waits.any() else waits


class _Untold:
    """Finds rows for which nothing says what was asked, by the rules of ``Answers.from_table``.

    Other rows of the answer may say it; or a row without a question says "yes": all were asked.
    """

    def __init__(self) -> None:
        self._first: dict[str, int] = {}  # by answer_id; "" has the first of rows without an id
        self._told: set[str] = set()
        self._is_yes = False

    def look(self, rows: Any, open_: Any) -> None:
        plain = (rows["question"] == "") & ~open_ & ~_blank(rows, "label")
        self._is_yes |= bool((plain & (rows["answer"] == "yes")).any())
        if self._is_yes:
            return
        doubtful = plain & (rows["answer"] != "unsure")
        for name in ("asked_for", "offered", "probability"):
            doubtful &= _blank(rows, name)
        ids = rows["answer_id"].astype(object)
        for row, name in ids[doubtful].drop_duplicates().items():
            self._first.setdefault(name.strip() and name, row)
        self._told.update(ids[~doubtful & ~open_ & ~_blank(rows, "answer_id")])

    def refuse(self, table: Table) -> None:
        """Refuse the first such row, if there is one."""
        found = [row for name, row in self._first.items() if name not in self._told]
        if found and not self._is_yes:
            raise table.refuse(
                min(found),
                "says that a label does not apply, but nothing says what was asked; say it in the"
                " column question, or for all such rows with --question (question=): named if"
                " somebody named a label that does not apply, asked if somebody was asked about"
                " this label, ticked if all that do not apply were ticked, excluded if a rule"
                " says it",
            )


def _check(table: Table, rows: Any, open_: Any) -> None:
    says_no = rows["answer"].isin(("no", ""))
    no_label = _blank(rows, "label") & (says_no | (rows["question"] == "asked"))
    no_label &= ~open_ | (rows["question"] == "asked")
    for faulty, name in ((_blank(rows, "item"), "item"), (no_label, "label")):
        told = f"has no {name}; fill in the {name} that the row is about, or leave the row out"
        table.check(rows[name], faulty, told)
    for name, (allows, advice) in _NUMBERS.items():
        numbers = rows[name].map(_number).astype(float)
        fits = _blank(rows, name) | numbers.map(allows)
        table.check(rows[name], ~fits, f"has {name} {{}}; it must be {advice}, or empty")


_NUMBERS: dict[str, tuple[Callable[[float], bool], str]] = {
    "asked_for": (lambda x: 1 <= x <= 2**31 and x.is_integer(), "a whole number of at least 1"),
    "probability": (lambda x: 0 < x <= 1, "above 0 and at most 1"),
    "seconds": (lambda x: 0 <= x < math.inf, "a number from 0"),
}


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))  # a decimal comma
    except ValueError:
        return float("nan")


_TITLE = "the table of answers itself: CSV or Parquet with item, label, answer, ..."
TABLE = Format("table", _TITLE, _recognizes, _read, takes_question=True)
