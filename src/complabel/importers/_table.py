"""Read the neutral table itself, such as a table of questions that were answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.answers import ANSWER_WORDS, QUESTIONS
from complabel.files import COLUMNS
from complabel.importers._format import Format, Head, Options, Tally
from complabel.importers._tabular import Table, head_rows, open_table

_REQUIRED = ("item", "label")
_WORDS: dict[str, dict[str, str]] = {
    "answer": ANSWER_WORDS,
    "question": {name: name for name in QUESTIONS},
}
_SAYS_NOTHING = ("item", "label", "answer")  # without these a row is blank


def _recognizes(head: Head) -> bool:
    if head.path.suffix.lower() == ".parquet":
        return head.start.startswith(b"PAR1") and _has_names(head.path)
    rows = head_rows(head.start)
    return bool(rows) and set(_REQUIRED) <= set(rows[0])


def _has_names(path: Path) -> bool:
    try:
        return set(_REQUIRED) <= set(open_table(path).names)
    except (ImportError, ValueError):  # no pyarrow, or a damaged file
        return False


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """Read the rows, without blank ones and without questions that are not answered yet."""
    import pyarrow as pa  # type: ignore[import-untyped]

    table = open_table(path)
    item = options.item or "item"
    missing = [name for name in (item, "label") if name not in table.names]
    if missing:
        raise table.fail(
            -1, f"has no column {missing[0]!r}; a table of answers needs item and label"
        )
    there = [name for name in COLUMNS if name in table.names and name != "item"]
    untold = _Untold()
    drawn_at_random = 0
    for first, piece in table.pieces([item, *there]):
        columns = {"item": piece[item], **{name: piece[name] for name in there}}
        rows = np.flatnonzero(~_all_blank(columns))
        tally.counts["rows of the file"] += len(columns["item"])
        tally.counts["blank rows"] += len(columns["item"]) - len(rows)
        columns = {name: column.take(pa.array(rows)) for name, column in columns.items()}
        rows += first
        for name in _WORDS.keys() & columns.keys():
            columns[name] = _meant(table, rows, name, columns[name])
        if options.question is not None:
            columns["question"] = _filled_in(columns, options.question)
        _check(table, rows, columns)
        is_open = _not_answered(columns)
        untold.look(rows, columns, is_open)
        tally.counts["questions not answered"] += int(np.count_nonzero(is_open))
        if "probability" in columns:
            drawn_at_random += int(np.count_nonzero(is_open & ~_blank(columns, "probability")))
        yield {name: column.filter(pa.array(~is_open)) for name, column in columns.items()}
    untold.refuse(table)
    left = [name for name in table.names if name not in (item, *there)]
    if left:
        tally.remark(
            f"Columns that do not belong to a table of answers were left out: {_some(left)}"
        )
    if drawn_at_random:
        tally.remark(
            f"{drawn_at_random:,} random questions are not answered. If somebody stopped early, "
            "delete all rows after the last one that was answered, also those with an answer that "
            "was known before: only then the rest is a random sample"
        )


def _meant(table: Table, rows: NDArray[np.intp], name: str, column: Any) -> Any:
    """Return a column of words as what they mean, or refuse an unknown one."""
    import pyarrow as pa

    allowed = {"": "", **_WORDS[name]}
    encoded = column.dictionary_encode()
    words = [allowed.get(text.strip().casefold()) for text in encoded.dictionary.to_pylist()]
    known = np.array([word is not None for word in words], dtype=np.bool_)
    faulty = ~known[encoded.indices.to_numpy()]
    if faulty.any():
        at = int(np.argmax(faulty))
        raise table.fail(
            rows[at],
            f"has {name} {column[at].as_py()!r}; it must be one of {', '.join(_WORDS[name])}, "
            "or empty",
        )
    return pa.DictionaryArray.from_arrays(
        encoded.indices, pa.array(words, pa.string())
    ).dictionary_decode()


def _filled_in(columns: dict[str, Any], question: str) -> Any:
    """Return the column of questions, with this one where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    told = pa.repeat(pa.scalar(question), len(columns["item"]))
    if "question" not in columns:
        return told
    return pc.if_else(pc.equal(columns["question"], ""), told, columns["question"])


def _blank(columns: dict[str, Any], name: str) -> NDArray[np.bool_]:
    """Return which rows have nothing in a column, (R,); all if there is no such column."""
    import pyarrow.compute as pc

    if name not in columns:
        return np.ones(len(columns["item"]), dtype=np.bool_)
    trimmed = pc.utf8_trim_whitespace(columns[name])
    found: NDArray[np.bool_] = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return found


def _all_blank(columns: dict[str, Any]) -> NDArray[np.bool_]:
    """Return which rows have no item, label and answer, (R,)."""
    blank: NDArray[np.bool_] = np.logical_and.reduce([_blank(columns, n) for n in _SAYS_NOTHING])
    return blank


def _says(columns: dict[str, Any], name: str, word: str) -> NDArray[np.bool_]:
    """Return which rows have this word in a column, (R,)."""
    import pyarrow.compute as pc

    if name not in columns:
        return np.zeros(len(columns["item"]), dtype=np.bool_)
    found: NDArray[np.bool_] = pc.equal(columns[name], word).to_numpy(zero_copy_only=False)
    return found


def _not_answered(columns: dict[str, Any]) -> NDArray[np.bool_]:
    """Return which rows are open yes/no questions, (R,).

    Without a column of answers each row says "no". But a random question waits for its answer.
    """
    named = ~_blank(columns, "offered") | ~_blank(columns, "asked_for")
    asked = _says(columns, "question", "asked") | (_blank(columns, "question") & ~named)
    waits = _blank(columns, "answer")
    return asked & (waits if "answer" in columns else ~_blank(columns, "probability"))


class _Untold:
    """Finds rows for which nothing says what was asked; the first is refused at the end.

    Other rows of the same answer may say it. Or a row without a question says "yes": then people
    were asked about each label. ``Answers.from_table`` has the same rules.
    """

    def __init__(self) -> None:
        self._first: int | None = None  # of the rows without an answer_id
        self._by_id: dict[str, int] = {}
        self._told: set[str] = set()
        self._is_yes = False

    def look(
        self, rows: NDArray[np.intp], columns: dict[str, Any], is_open: NDArray[np.bool_]
    ) -> None:
        """Look at a piece of the table."""
        plain = _blank(columns, "question") & ~is_open
        about_one = ~_blank(columns, "label")
        self._is_yes |= bool((plain & about_one & _says(columns, "answer", "yes")).any())
        if self._is_yes:
            return
        doubtful = plain & about_one & ~_says(columns, "answer", "unsure")
        for name in ("asked_for", "offered", "probability"):
            doubtful &= _blank(columns, name)
        alone = _blank(columns, "answer_id")
        if self._first is None and (doubtful & alone).any():
            self._first = int(rows[np.argmax(doubtful & alone)])
        for at in np.flatnonzero(~alone).tolist() if "answer_id" in columns else ():
            name = columns["answer_id"][at].as_py()
            if doubtful[at]:
                self._by_id.setdefault(name, int(rows[at]))
            elif not is_open[at]:
                self._told.add(name)

    def refuse(self, table: Table) -> None:
        """Refuse the first such row, if there is one."""
        found = [row for name, row in self._by_id.items() if name not in self._told]
        found += [] if self._first is None else [self._first]
        if found and not self._is_yes:
            raise table.fail(
                min(found),
                "says that a label does not apply, but nothing says what was asked; say it in the"
                " column question, or for all such rows with --question (question=): named if"
                " somebody named a label that does not apply, asked if somebody was asked about"
                " this label, ticked if all that do not apply were ticked, excluded if a rule"
                " says it",
            )


def _check(table: Table, rows: NDArray[np.intp], columns: dict[str, Any]) -> None:
    """Refuse rows without an item or label, and numbers that cannot be read; read the others."""
    import pyarrow.compute as pc

    says_no = _says(columns, "answer", "no") | _blank(columns, "answer")
    no_label = _blank(columns, "label") & (says_no | _says(columns, "question", "asked"))
    for faulty, name in ((_blank(columns, "item"), "item"), (no_label, "label")):
        if faulty.any():
            raise table.fail(
                rows[np.argmax(faulty)],
                f"has no {name}; fill in the {name} that the row is about, or leave the row out",
            )
    for name, (allows, advice) in _NUMBERS.items():
        if name not in columns:
            continue
        for text in columns[name].unique().to_pylist():
            if text.strip() and not allows(_number(text)):
                at = pc.index(columns[name], text).as_py()
                raise table.fail(rows[at], f"has {name} {text!r}; it must be {advice}, or empty")
        points = pc.replace_substring(columns[name], ",", ".")  # decimal commas
        columns[name] = pc.utf8_trim_whitespace(points)


def _is_count(number: float) -> bool:
    return 1 <= number <= 2**31 and number.is_integer()


def _is_chance(number: float) -> bool:
    return 0 < number <= 1


_NUMBERS = {
    "asked_for": (_is_count, "a whole number of at least 1"),
    "probability": (_is_chance, "above 0 and at most 1"),
}


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return float("nan")


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


TABLE = Format(
    name="table",
    title="the table of answers itself: CSV or Parquet with item, label, answer, ...",
    recognizes=_recognizes,
    read=_read,
    takes_question=True,
)
"""Yes/no questions without an answer are left out."""
