"""Reading tables of answers, with a report of what could be used."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from complabel._opening import StrPaths, existing_ones, explained
from complabel._parameters import check_choice
from complabel.answers import (
    CONTRADICTION_POLICIES,
    USED_COLUMNS,
    Answers,
    ContradictionPolicy,
    Question,
    UnlistedLabelsWarning,
    contradictions_table,
    resolve_contradictions,
)
from complabel.errors import AnnotationError
from complabel.files._names import refuse_strangers
from complabel.files._table import Table, pyarrow, some_of

_TEXTS = ("answer_id", "item", "label", "answer", "question", "annotator")


class UnmatchedItemsWarning(UserWarning):
    """Some answers were left out, because their items have no features."""


@dataclass(frozen=True, eq=False)
class AnswerFile:
    """Answers from one or several files, and what was left out.

    ``contradictions`` are those before the policy was applied; they are only searched among all
    files together, not within ``parts``. ``n_rows`` counts blank rows, too. ``n_repeated_rows`` are
    rows without an ``answer_id`` that are the same as a row before; they count as other answers.
    """

    answers: Answers
    n_rows: int
    n_blank_rows: int
    unmatched_items: tuple[str, ...]
    n_unmatched_answers: int
    contradictions: dict[str, list[Any]] = field(default_factory=lambda: {"item": []})
    n_dropped_answers: int = 0
    n_repeated_rows: int = 0
    parts: tuple[AnswerFile, ...] = ()

    @property
    def n_contradictions(self) -> int:
        """Number of pairs of an item and a label with contradicting answers."""
        return len(self.contradictions["item"])

    @property
    def n_answered_items(self) -> int:
        return int(np.count_nonzero(self.answers.answered))

    def reconciliation(self) -> list[str]:
        """Say how much of the files could be used, in lines."""
        answers = self.answers
        lines = [f"answers for {self.n_answered_items:,} of {_count(answers.n_items, 'item')}"]
        if self.n_blank_rows:
            lines.append(f"{_count(self.n_blank_rows, 'blank row')} left out")
        if self.n_repeated_rows:
            lines.append(
                f"{_count(self.n_repeated_rows, 'row')} without an answer_id: the same as a row"
                " before, and counted as another answer; if it is the same answer, take it out"
            )
        if self.unmatched_items:
            lines.append(_unmatched(self.unmatched_items, self.n_unmatched_answers))
        if self.n_contradictions:
            lines.append(
                f"{_count(self.n_contradictions, 'contradiction')} about a label of an item; "
                f"{_count(self.n_dropped_answers, 'answer')} dropped"
            )
        return lines


def read_answers(
    path: StrPaths,
    *,
    items: Sequence[Any] | None = None,
    label_names: Sequence[str] | None = None,
    question: Question | None = None,
    contradictions: ContradictionPolicy | Literal["keep"] = "error",
) -> AnswerFile:
    r"""Read tables of answers, one row for each label of an answer.

    Parameters
    ----------
    path : path or sequence of paths
        Files that end in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet``. They must
        have the columns ``item`` and ``label``; :meth:`complabel.answers.Answers.from_table`
        explains the others. Items, labels and annotators are text, even if they look like numbers.
    items : sequence of length n_items, or None, default=None
        Names of the rows of X in their order. Answers about other items are left out, with a
        warning. By default all items of the files, sorted.
    label_names : sequence of str, or None, default=None
        All labels, in the order of the columns. By default those of the files, sorted.
    question : {"named", "asked", "ticked", "excluded"} or None, default=None
        The question of all rows that have none in the column ``question``.
    contradictions : {"error", "drop", "majority", "trust-relevant", "keep"}, default="error"
        See :func:`complabel.answers.resolve_contradictions`; "keep" keeps all answers.
        Contradictions are settled over all files: a majority in one may be a minority in all.

    Returns
    -------
    AnswerFile
        Its ``answers`` can be passed to ``fit``.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If a file is missing or cannot be parsed, or none of its items is among the wanted ones.
    AnnotationError
        If an answer contradicts itself; if nothing tells what was asked; if answers contradict each
        other and the policy is "error"; if a word or a label is unknown. The message names the line
        of a CSV file (the header is line 1) or the row of a Parquet file (from 0).

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
    sheets = [_Sheet.read(each) for each in existing_ones("path", path)]
    items = None if items is None else [str(each) for each in items]
    if len(sheets) > 1 and (items is None or label_names is None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnlistedLabelsWarning)
            seen = [sheet.answers(items, label_names, question).answers for sheet in sheets]
        if label_names is None:
            label_names = sorted({name for each in seen for name in each.label_names or ()})
        if items is None:
            known = (each.item_names for each in seen if each.item_names is not None)
            items = sorted({str(name) for names in known for name in names})
    parts = tuple(sheet.answers(items, label_names, question) for sheet in sheets)
    for sheet, part in zip(sheets, parts, strict=True):
        if part.unmatched_items:
            told = _unmatched(part.unmatched_items, part.n_unmatched_answers)
            told = f"{sheet.table.path}: {told}; they are left out"
            warnings.warn(told, UnmatchedItemsWarning, stacklevel=2)
    answers = parts[0].answers
    if parts[1:]:
        answers = Answers.concatenate([part.answers for part in parts])
    found = contradictions_table(answers)
    resolved = answers
    if found["item"] and contradictions != "keep":
        try:
            resolved = resolve_contradictions(answers, contradictions)
        except AnnotationError as error:
            named = " and ".join(str(sheet.table.path) for sheet in sheets)
            raise AnnotationError(f"{named}: {error}") from error
    return AnswerFile(
        answers=resolved,
        n_rows=sum(part.n_rows for part in parts),
        unmatched_items=tuple(sorted({name for part in parts for name in part.unmatched_items})),
        n_unmatched_answers=sum(part.n_unmatched_answers for part in parts),
        contradictions=found,
        n_dropped_answers=answers.n_answers - resolved.n_answers,
        n_blank_rows=sum(part.n_blank_rows for part in parts),
        n_repeated_rows=sum(part.n_repeated_rows for part in parts),
        parts=parts,
    )


@dataclass(frozen=True)
class _Sheet:
    """The columns of a file without its blank rows; ``kept`` marks the other ones, (R,)."""

    table: Table
    columns: dict[str, Any]
    kept: NDArray[np.bool_]

    @classmethod
    def read(cls, path: Path) -> _Sheet:
        """Read a file: names as categories of text, which are stored once, others unchanged."""
        what = "tables of answers, which complabel import makes from other files,"
        table = Table.open(path, what, ["item", "label"])
        names = [name for name in USED_COLUMNS if name in table.columns]
        texts = [name for name in names if name in _TEXTS or table.delimiter]
        others = [name for name in names if name not in texts]
        pieces: dict[str, list[Any]] = {name: [] for name in names}
        for piece in table.pieces(texts, others=others):
            for name in texts:
                pieces[name].append(piece[name].dictionary_encode())
            with explained(path, "write the table again"):  # the text may not be UTF-8
                for name in others:
                    pieces[name] += piece[name].to_pylist()
        import pandas as pd  # type: ignore[import-untyped]

        columns = {
            name: _categories(values) if name in texts else pd.Series(values, dtype=object)
            for name, values in pieces.items()
        }
        kept = np.zeros(len(columns["item"]), dtype=np.bool_)
        for name in ("item", "label", "answer"):
            if name in columns and not kept.all():
                values = columns[name].cat.categories
                filled = np.array([*(bool(str(each).strip()) for each in values), False])
                kept |= filled[columns[name].cat.codes]  # code -1: a gap
        if not kept.all():
            columns = {name: each[kept].reset_index(drop=True) for name, each in columns.items()}
        return cls(table, columns, kept)

    def answers(
        self,
        items: Sequence[str] | None,
        label_names: Sequence[str] | None,
        question: Question | None,
    ) -> AnswerFile:
        unmatched = () if items is None else _unmatched_items(self, items)
        try:
            everything = Answers.from_table(
                self.columns,
                items=None if items is None else [*items, *unmatched],
                label_names=label_names,
                question=question,
                contradictions="keep",
            )
        except AnnotationError as error:
            told = f"{self.table.path}: {self._with_places(str(error))}"
            raise AnnotationError(told) from error
        answers = everything if items is None else everything[: len(items)]
        return AnswerFile(
            answers=answers,
            n_rows=len(self.kept),
            unmatched_items=unmatched,
            n_unmatched_answers=everything.n_answers - answers.n_answers,
            n_blank_rows=int(np.count_nonzero(~self.kept)),
            n_repeated_rows=self._n_repeated(),
        )

    def _n_repeated(self) -> int:
        import pandas as pd

        by_name = self.columns.items()
        codes = {name: getattr(each, "cat", each) for name, each in by_name if name != "offered"}
        frame = pd.DataFrame({name: getattr(each, "codes", each) for name, each in codes.items()})
        if "answer_id" in frame:
            frame = frame[frame["answer_id"] == -1]
        return int(frame.duplicated().sum())

    def _with_places(self, text: str) -> str:
        """Replace rows of the table in a message by lines of the file."""
        rows = np.flatnonzero(self.kept)

        def place(found: re.Match[str]) -> str:
            row = found["row"]
            return found[0] if row is None else self.table.place(int(rows[int(row)]))

        quoted = r"""(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*\""""
        return re.sub(rf"{quoted}|\brow (?P<row>\d+)\b(?: of the table)?", place, text)


def _categories(pieces: Sequence[Any]) -> Any:
    """Join pieces of a column into a categorical series, which stores each value once."""
    import pandas as pd

    if not pieces:
        return pd.Series([], dtype=object)
    return pyarrow().chunked_array(pieces).unify_dictionaries().to_pandas()


def _unmatched_items(sheet: _Sheet, wanted: Sequence[str]) -> tuple[str, ...]:
    column = sheet.columns["item"]
    known, found = set(wanted), set(column.cat.categories) if len(column) else set()
    found = {each for each in found if each.strip()}
    if found and not found & known:
        refuse_strangers(sheet.table.path, sorted(found), wanted)
    return tuple(sorted(found - known))


def _unmatched(items: Sequence[str], n_answers: int) -> str:
    return (
        f"{_count(n_answers, 'answer')} about {_count(len(items), 'item')} without features: "
        f"{some_of(items)}"
    )


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)
