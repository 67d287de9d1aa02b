"""Reading a table of answers, with a report of what could be used."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import check_choice
from complabel.answers import (
    CONTRADICTION_POLICIES,
    Answers,
    ContradictionPolicy,
    Question,
    contradictions_table,
    resolve_contradictions,
)
from complabel.errors import AnnotationError, DatasetFormatError
from complabel.files._columns import COLUMNS
from complabel.files._csv import CsvTable
from complabel.files._matrices import open_table
from complabel.files._parquet import ParquetTable
from complabel.files._source import TABLE_ENDINGS, StrPath, explained, pyarrow, some_of, source_of

_USED = tuple(name for name in COLUMNS if name != "time")  # the time is never used
_AS_TEXT = ("answer_id", "item", "label", "answer", "question", "annotator")


class UnmatchedItemsWarning(UserWarning):
    """Some answers were left out, because their items have no features."""


@dataclass(frozen=True, eq=False)
class AnswerFile:
    """Answers from a file, and what was left out.

    Attributes
    ----------
    answers : Answers
        The answers, with the items in the wanted order. Contradictions are settled by the policy.
    n_rows : int
        Number of rows of the file, without its header.
    unmatched_items : tuple of str
        Items with answers in the file that are not among the wanted ones, sorted.
    n_unmatched_answers : int
        Number of answers about these items; they were left out.
    contradictions : dict of str to list
        The contradictions before the policy was applied, as
        :func:`complabel.answers.contradictions_table` lists them.
    n_dropped_answers : int
        Number of answers that the policy dropped completely.
    n_blank_rows : int
        Number of rows without item, label and answer; they were left out.
    """

    answers: Answers
    n_rows: int
    unmatched_items: tuple[str, ...]
    n_unmatched_answers: int
    contradictions: dict[str, list[Any]]
    n_dropped_answers: int
    n_blank_rows: int = 0

    @property
    def n_contradictions(self) -> int:
        """Number of pairs of an item and a label with contradicting answers."""
        return len(self.contradictions["item"])

    @property
    def n_answered_items(self) -> int:
        """Number of items with an answer."""
        return int(np.count_nonzero(self.answers.answered))

    def reconciliation(self) -> list[str]:
        """Return lines on how much of the file could be used.

        Returns
        -------
        list of str
        """
        answers = self.answers
        lines = [f"answers for {self.n_answered_items:,} of {_count(answers.n_items, 'item')}"]
        if self.n_blank_rows:
            lines.append(f"{_count(self.n_blank_rows, 'blank row')} left out")
        if self.unmatched_items:
            lines.append(_unmatched(self.unmatched_items, self.n_unmatched_answers))
        if self.n_contradictions:
            lines.append(
                f"{_count(self.n_contradictions, 'contradiction')} about a label of an item; "
                f"{_count(self.n_dropped_answers, 'answer')} dropped"
            )
        return lines


def read_answers(
    path: StrPath,
    *,
    items: Sequence[Any] | None = None,
    label_names: Sequence[str] | None = None,
    question: Question | None = None,
    contradictions: ContradictionPolicy | Literal["keep"] = "error",
) -> AnswerFile:
    r"""Read a table of answers, one row for each label of an answer.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet``. Of the
        columns in :data:`COLUMNS`, it must have ``item`` and ``label``; other columns are ignored.
        :meth:`complabel.answers.Answers.from_table` explains the columns. Items, labels and
        annotators are text, even if they look like numbers.
    items : sequence of length n_items, or None, default=None
        Names of the rows of X in their order, such as :attr:`Features.items`. Answers about other
        items are left out, with a warning. By default all items of the file, sorted.
    label_names : sequence of str, or None, default=None
        All labels, in the order of the columns. By default all labels that the file mentions,
        sorted.
    question : {"named", "asked", "ticked", "excluded"} or None, default=None
        The question of all rows that have none in the column ``question``.
    contradictions : {"error", "drop", "majority", "trust-relevant", "keep"}, default="error"
        What to do if one answer says that a label applies to an item and another denies it: see
        :func:`complabel.answers.resolve_contradictions`. "keep" keeps all answers.

    Returns
    -------
    AnswerFile
        Its ``answers`` can be passed to ``fit``.

    Raises
    ------
    DatasetNotFoundError
        If there is no such file.
    DatasetFormatError
        If the file cannot be parsed, or none of its items is among the wanted ones.
    AnnotationError
        If an answer contradicts itself; if nothing tells what was asked; if answers contradict each
        other and the policy is "error"; if a word or a label is unknown. The message names the line
        of a CSV file (the header is line 1) or the row of a Parquet file (from 0).
    InputError
        If an argument is wrong, or pyarrow is not installed.

    Warns
    -----
    UnmatchedItemsWarning
        If there are answers about items that are not among the wanted ones.
    UnlistedLabelsWarning
        If answers are about all labels, but ``label_names`` does not list them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("item,label,answer\n007.jpg,sea,yes\n007.jpg,sky,no\nb.jpg,sea,no\n")
    >>> found = read_answers(path, items=["a.jpg", "b.jpg", "007.jpg"])
    >>> found.answers.complementary
    array([[0, 0],
           [1, 0],
           [0, 1]], dtype=uint8)
    >>> found.reconciliation()
    ['answers for 2 of 3 items']
    """
    check_choice("contradictions", contradictions, (*CONTRADICTION_POLICIES, "keep"))
    file, ending = source_of(
        "path",
        path,
        TABLE_ENDINGS,
        "tables of answers, which complabel import makes from other files,",
    )
    table = open_table(file, ending)
    for name in ("item", "label"):
        if name not in table.columns:
            raise DatasetFormatError(
                f"{file}: there is no column {name!r}; a table of answers needs item and label, and"
                f" may have all of {', '.join(COLUMNS)}"
            )
    columns = _from_csv(table) if isinstance(table, CsvTable) else _from_parquet(table)
    columns, kept = _without_blank_rows(columns)
    wanted = None if items is None else [str(each) for each in items]
    unmatched = () if wanted is None else _unmatched_items(file, columns["item"], wanted)
    try:
        everything = Answers.from_table(
            columns,
            items=None if wanted is None else [*wanted, *unmatched],
            labels=label_names,
            question=question,
            contradictions="keep",
        )
        answers = everything if wanted is None else everything[: len(wanted)]
        found = contradictions_table(answers)
        resolved = answers
        if found["item"] and contradictions != "keep":
            resolved = resolve_contradictions(answers, contradictions)
    except AnnotationError as error:
        raise AnnotationError(f"{file}: {_with_lines(str(error), table, kept)}") from error
    n_unmatched = everything.n_answers - answers.n_answers
    if unmatched:
        told = f"{file}: {_unmatched(unmatched, n_unmatched)}; they are left out"
        warnings.warn(told, UnmatchedItemsWarning, stacklevel=2)
    return AnswerFile(
        answers=resolved,
        n_rows=len(kept),
        unmatched_items=unmatched,
        n_unmatched_answers=n_unmatched,
        contradictions=found,
        n_dropped_answers=answers.n_answers - resolved.n_answers,
        n_blank_rows=int(np.count_nonzero(~kept)),
    )


def _from_csv(table: CsvTable) -> dict[str, Any]:
    """Return the columns of a file as categorical series of text."""
    names = [name for name in _USED if name in table.columns]
    pieces: dict[str, list[Any]] = {name: [] for name in names}
    for piece in table.pieces(texts=names):
        for name, values in piece.items():
            pieces[name].append(values.dictionary_encode())
    return {name: _categories(values) for name, values in pieces.items()}


def _from_parquet(table: ParquetTable) -> dict[str, Any]:
    """Return the columns of a file: names as categorical series of text, others unchanged."""
    import pandas as pd  # type: ignore[import-untyped]

    names = [name for name in _USED if name in table.columns]
    pieces: dict[str, list[Any]] = {name: [] for name in names}
    for piece in table.pieces(names):
        for name, values in piece.items():
            if name in _AS_TEXT:
                pieces[name].append(table.as_texts(name, values).dictionary_encode())
                continue
            with explained(table.path, "write the table again"):  # the text may not be UTF-8
                pieces[name] += values.to_pylist()
    return {
        name: _categories(values) if name in _AS_TEXT else pd.Series(values, dtype=object)
        for name, values in pieces.items()
    }


def _without_blank_rows(columns: dict[str, Any]) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Leave out rows without item, label and answer; also return which rows are kept, (R,)."""
    kept = np.zeros(len(columns["item"]), dtype=np.bool_)
    for name in ("item", "label", "answer"):
        if name in columns and not kept.all():
            values = columns[name].cat.categories
            filled = np.array([*(bool(str(each).strip()) for each in values), False])
            kept |= filled[columns[name].cat.codes]  # code -1: a gap
    if kept.all():
        return columns, kept
    return {name: column[kept].reset_index(drop=True) for name, column in columns.items()}, kept


def _categories(pieces: Sequence[Any]) -> Any:
    """Join pieces of a column into a categorical series, which stores each value once."""
    import pandas as pd

    pa = pyarrow()
    if not pieces:
        return pd.Series([], dtype=object)
    whole = pa.chunked_array(pieces).unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    codes = whole.indices.fill_null(-1).to_numpy()
    values = pd.Index(whole.dictionary.to_pylist(), dtype=object)
    return pd.Series(pd.Categorical.from_codes(codes, categories=values))


def _unmatched_items(path: Path, column: Any, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the items of a column that are not wanted, sorted."""
    known, found = set(wanted), set(column.cat.categories) if len(column) else set()
    found = {each for each in found if each.strip()}
    if found and not found & known:
        raise DatasetFormatError(
            f"{path}: none of its {_count(len(found), 'item')} has features. They are called "
            f"{some_of(sorted(found))}, but the items with features {some_of(wanted)}; use the "
            "same names in both files"
        )
    return tuple(sorted(found - known))


def _with_lines(text: str, table: CsvTable | ParquetTable, kept: NDArray[np.bool_]) -> str:
    """Replace rows of the table in a message by lines of the file."""
    rows = np.flatnonzero(kept)

    def line(found: re.Match[str]) -> str:
        return found[0] if found["row"] is None else table.place(int(rows[int(found["row"])]))

    quoted = r"""(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*\""""
    return re.sub(rf"{quoted}|\brow (?P<row>\d+)\b(?: of the table)?", line, text)


def _unmatched(items: Sequence[str], n_answers: int) -> str:
    """Return a message with the number of answers about items without features."""
    return (
        f"{_count(n_answers, 'answer')} about {_count(len(items), 'item')} without features: "
        f"{some_of(items)}"
    )


def _count(count: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural."""
    return f"{count:,} {noun}" + "s" * (count != 1)
