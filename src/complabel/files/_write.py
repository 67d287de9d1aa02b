"""Writing tables in pieces, as CSV or Parquet: answers and predictions."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from complabel._opening import StrPath, as_path, ending_of
from complabel._parameters import AnyArray, Ints, check_integer, check_real
from complabel._settings import setting
from complabel._writing import explained, replacing
from complabel.answers import COLUMNS, Column, text_of
from complabel.errors import AnnotationError, InputError
from complabel.files._table import PARQUET, pyarrow

_ENDINGS = (".csv", ".csv.gz", PARQUET)
CONFIDENCE = "confidence"
"""A column that only tables with a machine's answers may have: how probable its answer is."""
_NUMBERS = {"asked_for": "int64"} | dict.fromkeys(("probability", "seconds", CONFIDENCE), "float64")
_ROWS = 1 << 15  # least number of rows written at a time; files of many small pieces are slow


class FormulaWarning(UserWarning):
    """A table holds a text that a spreadsheet may take for a formula, and run."""


class TableWriter:
    """Writes a file in a ``with`` block; it appears when the block ends without an error."""

    _packed = 6  # level of gzip

    def __init__(self, path: StrPath, endings: Sequence[str]) -> None:
        self.path = as_path("path", path)
        self._ending = ending_of(self.path, endings)
        if not self._ending:
            raise InputError(f"{self.path}: give a name that ends in {', '.join(endings)}")
        pyarrow()
        self._is_open = self._has_warned = False
        self._files = ExitStack()
        self._file: Any = None

    def __enter__(self) -> Self:
        self._is_open, self._file = True, None
        with explained(self.path):
            self._partial = self._files.enter_context(replacing(self.path))
            self._partial.touch()  # finds a missing folder at once
        return self

    def __exit__(self, *raised: Any) -> None:
        self._is_open = False
        if raised[0] is not None:
            with contextlib.suppress(Exception):  # the error in the block is more important
                self._files.__exit__(*raised)
            return
        with explained(self.path), self._files:
            self._finish()

    def _finish(self) -> None:
        """Write what is left; a file without rows also needs a header."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if not self._is_open:
            name = type(self).__name__
            raise InputError(f"this {name} is not open; use it inside its with block")

    def _put(self, table: Any) -> None:
        """Add rows of a table; the first one opens the file."""
        if self._ending == PARQUET:
            if self._file is None:
                from pyarrow import parquet  # type: ignore[import-untyped]

                writer = parquet.ParquetWriter(self._partial, table.schema)
                self._file = self._files.enter_context(writer)
            self._file.write_table(table)
            return
        self._warn_of_formulas(table)
        if self._file is None:
            self._file = self._open_bytes()
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(table.schema.names)
            self._file.write(header.getvalue().encode())
        self._file.write(_as_csv(table))

    def _warn_of_formulas(self, table: Any) -> None:
        """Warn once; the text is written as it is, since it would no longer be the item's name."""
        pa = pyarrow()
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        texts = [column for column in table.columns if pa.types.is_string(column.type)]
        for column in [] if self._has_warned else [pa.array(table.schema.names), *texts]:
            odd = pc.match_substring_regex(column, "^[=+@\\t\\r-]")
            odd = pc.and_not(odd, pc.match_substring_regex(column, "^[+-][0-9.,eE+-]*$"))
            if pc.any(odd).as_py():
                self._has_warned = True
                text = pc.filter(column, odd)[0].as_py()
                warnings.warn(
                    f"{self.path}: {text[:60]!r} begins as a formula, which a spreadsheet may run;"
                    " open the file as text there, or write .parquet",
                    FormulaWarning,
                    stacklevel=3,
                )
                return

    def _open_bytes(self) -> Any:
        file: Any = self._files.enter_context(self._partial.open("wb"))
        if self._ending.endswith(".gz"):
            # Without a name and a time in the gzip header, the same rows give the same bytes.
            packed = gzip.GzipFile("", "wb", self._packed, fileobj=file, mtime=0)
            file = self._files.enter_context(packed)
        return file


class AnswerWriter(TableWriter):
    """Writes a table of answers in pieces, in a ``with`` block; few pieces are in memory.

    The file appears when the block ends; after an error, an older file is unchanged.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz`` or ``.parquet``.
    more : sequence of str, default=()
        Other columns of text to write after :data:`COLUMNS`, for people who read the table.

    Raises
    ------
    InputError, OutputError
        If a piece is not a table of answers, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> with AnswerWriter(path) as writer:
    ...     writer.write({"item": [7], "label": ["sea"], "offered": [["sea", "sky"]]})
    >>> print(path.read_text().strip())
    answer_id,item,label,answer,question,offered,asked_for,annotator,time,probability,drawn,seconds
    ,"7","sea",,,"[""sea"", ""sky""]",,,,,,
    """

    def __init__(self, path: StrPath, *, more: Sequence[str] = ()) -> None:
        super().__init__(path, _ENDINGS)
        self._more = tuple(more)
        self._waiting: list[Any] = []

    def write(self, piece: Mapping[str, Any]) -> None:
        """Add columns of equal length, by names of :data:`COLUMNS`; missing ones are empty."""
        self.write_table(answers_to_arrow(piece, more=self._more))

    def write_table(self, table: Any) -> None:
        """Add rows that :func:`answers_to_arrow` made."""
        self._check_open()
        self._waiting.append(table)
        if sum(each.num_rows for each in self._waiting) >= _ROWS:
            with explained(self.path):
                self._finish()

    def _finish(self) -> None:
        if not self._waiting and self._file is None:
            self._waiting.append(pyarrow().Table.from_batches([], _schema(self._more)))
        if self._waiting:
            self._put(pyarrow().concat_tables(self._waiting).combine_chunks())
            self._waiting.clear()


def answers_to_arrow(piece: Mapping[str, Any], *, more: Sequence[str] = ()) -> Any:
    """Turn rows of answers into an Arrow table of all :data:`COLUMNS` in their types.

    ``piece`` maps names of columns to lists, ndarrays or Arrow arrays of equal length; missing
    columns are empty, and so is empty text. Entries of ``offered`` are lists of labels, or such
    lists as JSON. The table has a column ``confidence`` if ``piece`` does.
    """
    more = (*more, *[CONFIDENCE] * (CONFIDENCE in piece))
    unknown = [name for name in piece if name not in (*COLUMNS, *more)]
    if unknown or "item" not in piece:
        what = f"no column {unknown[0]!r}" if unknown else "a column 'item'"
        raise InputError(f"a table of answers has {what}; its columns are {', '.join(COLUMNS)}")
    try:
        columns = {name: Column.of(name, values) for name, values in piece.items()}
    except AnnotationError as error:
        raise InputError(str(error), row=error.row) from error
    sizes = {name: len(column.codes) for name, column in columns.items()}
    n_rows = sizes["item"]
    if set(sizes.values()) != {n_rows}:
        raise InputError(f"columns of answers differ in length: {sizes}; give all the same length")
    if (columns["item"].codes == -1).any():
        raise InputError("an answer has no item; give the item of each answer")
    pa, schema = pyarrow(), _schema(more)
    arrays = [
        _array(columns[name], kind) if name in columns else pa.nulls(n_rows, kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _schema(more: Sequence[str]) -> Any:
    pa = pyarrow()
    return pa.schema([(name, _NUMBERS.get(name, "string")) for name in (*COLUMNS, *more)])


def _array(column: Column, kind: Any) -> Any:
    pa = pyarrow()
    try:
        values = pa.array([*map(text_of, column.values), None], pa.string())
        if kind != values.type:
            values = values.cast("float64").cast(kind)  # an integer may be written as 2.0
    except UnicodeEncodeError as cause:
        raise InputError(
            f"column {column.name!r} holds text that is not valid Unicode ({cause}); correct it"
        ) from cause
    except pa.ArrowException as cause:
        raise InputError(f"column {column.name!r} holds a value of wrong type: {cause}") from cause
    return values.take(pa.array(column.codes % len(values)))  # code -1: the null at the end


def _as_csv(table: Any) -> Any:
    pa = pyarrow()
    import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

    for style in ("none", "needed"):
        out = pa.BufferOutputStream()
        options = arrow_csv.WriteOptions(include_header=False, quoting_style=style)
        try:
            arrow_csv.write_csv(table, out, options)
            break
        except pa.ArrowInvalid:  # a text has a comma, a quote or a line break
            if style == "needed":
                raise
    return out.getvalue()


_PREDICTION_ENDINGS = (*_ENDINGS, ".jsonl")


class PredictionWriter(TableWriter):
    """Writes the probabilities of labels for items, in pieces; used in a ``with`` block.

    With ``top``, only the most probable labels of each item are written, with ``threshold``, a
    number or an array (K,), only which labels have at least this probability. A table has the
    column ``item``, and then

    - for each label, a column of its name with probabilities, or with ``threshold`` of 0 and 1;
    - with ``top``, the columns ``label_1``, ``probability_1``, ``label_2``, ``probability_2``, ...

    JSON lines are ``{"item": "a.jpg", "labels": {"sea": 0.9, "sky": 0.2}}``; with ``threshold``,
    ``{"item": "a.jpg", "labels": ["sea"]}``. Numbers have all digits, so that they are read back
    exactly; float32 needs fewer digits than float64.
    """

    _packed = 1  # takes a fifth of the time of level 6; files of digits are 6 % larger

    def __init__(
        self,
        path: StrPath,
        label_names: Sequence[str],
        *,
        top: int | None = None,
        threshold: ArrayLike | None = None,
    ) -> None:
        super().__init__(path, _PREDICTION_ENDINGS)
        self._names = tuple(label_names)
        if top is not None and threshold is not None:
            raise InputError(
                f"{setting('top')} and {setting('threshold')} are both given; choose one of them",
                parameter="threshold",
            )
        if top is not None:
            check_integer("top", top, at_least=1)
            if top > len(self._names):
                raise InputError(
                    f"{setting('top')} is {top}, but there are {len(self._names)} labels; ask for"
                    " fewer",
                    parameter="top",
                )
        if threshold is not None:
            shape = np.shape(threshold)
            if shape not in ((), (len(self._names),)):
                raise InputError(
                    f"threshold has shape {shape}; give one number, or one for each of"
                    f" {len(self._names)} labels"
                )
            for each in np.ravel(threshold).tolist():
                check_real("threshold", each, at_least=0, at_most=1)
        self._top: int | None = top
        self._threshold: Any = threshold
        if self._ending != ".jsonl" and top is None:
            _refuse_columns(self._names)
        self._dtype: np.dtype[Any] | None = None

    def write(self, items: Sequence[str] | AnyArray, probabilities: ArrayLike) -> None:
        """Add the probabilities (n, K) of some items; the first ones determine the type."""
        self._check_open()
        values = np.asarray(probabilities)
        values = values if values.dtype == np.float32 else values.astype(np.float64)
        called = [str(each) for each in items]
        if values.shape != (len(called), len(self._names)):
            raise InputError(
                f"probabilities have shape {values.shape}; give a row for each of {len(called)} "
                f"items, and a column for each of {len(self._names)} labels"
            )
        _refuse_others(values, called, self._names)
        with explained(self.path):
            self._add(called, values)

    def _finish(self) -> None:
        if self._file is None:
            self._add([], np.zeros((0, len(self._names))))

    def _add(self, items: Sequence[str], values: AnyArray) -> None:
        self._dtype = values.dtype if self._file is None else self._dtype
        values = values.astype(self._dtype, copy=False)
        if self._ending != ".jsonl":
            self._put(self._table(items, values))
            return
        if self._file is None:
            self._file = self._open_bytes()
        self._file.write(self._lines(items, values).encode())

    def _table(self, items: Sequence[str], values: AnyArray) -> Any:
        pa = pyarrow()
        if self._top is not None:
            best, values = _most_probable(values, self._top)
            names = np.array(self._names, dtype=object)[best]
            columns = [part for pair in zip(names.T, values.T, strict=True) for part in pair]
            called: Sequence[str] = _top_columns(self._top)
        else:
            if self._threshold is not None:
                values = (values >= self._threshold).astype(np.uint8)
            columns, called = list(values.T), self._names
        arrays = [pa.array(each, pa.string() if each.dtype == object else None) for each in columns]
        return pa.table([pa.array(items, pa.string()), *arrays], names=["item", *called])

    def _lines(self, items: Sequence[str], values: AnyArray) -> str:
        if self._threshold is not None:
            chosen = (np.flatnonzero(row) for row in values >= self._threshold)
            labels_of: Any = ([self._names[at] for at in row] for row in chosen)
        else:
            pa = pyarrow()
            best = np.broadcast_to(np.arange(len(self._names)), values.shape)
            if self._top is not None:
                best, values = _most_probable(values, self._top)
            # By way of text, a number of float32 keeps its few digits.
            digits = pa.array(values.ravel()).cast(pa.string()).cast(pa.float64())
            numbers = digits.to_numpy().reshape(values.shape).tolist()
            labels_of = (
                dict(zip([self._names[at] for at in row], row_numbers, strict=True))
                for row, row_numbers in zip(best.tolist(), numbers, strict=True)
            )
        rows = zip(items, labels_of, strict=True)
        return "".join(
            f"{json.dumps({'item': item, 'labels': labels}, ensure_ascii=False)}\n"
            for item, labels in rows
        )


def _top_columns(top: int) -> list[str]:
    return [f"{what}_{at}" for at in range(1, top + 1) for what in ("label", "probability")]


def _most_probable(values: AnyArray, top: int) -> tuple[Ints, AnyArray]:
    """Return labels (n, top) and their probabilities; of equal ones, the first come first."""
    best = np.argsort(-values, axis=1, kind="stable")[:, :top]
    return best, np.take_along_axis(values, best, axis=1)


def _refuse_columns(names: Sequence[str]) -> None:
    if "item" in names:
        raise InputError(
            "a label is called 'item', but this is the name of the column of ids; rename the label,"
            " write .jsonl, or write the most probable labels with top"
        )
    if list(names) == _top_columns(len(names) // 2):
        raise InputError(
            "labels are called label_1, probability_1, ..., but these are the columns of a table of"
            " the most probable labels; rename the labels, or write .jsonl"
        )


def _refuse_others(values: AnyArray, items: Sequence[str], names: Sequence[str]) -> None:
    fine = (values >= 0) & (values <= 1)  # NaN is neither
    if not fine.all():
        row, label = map(int, np.unravel_index(int(np.argmin(fine)), fine.shape))
        raise InputError(
            f"item {items[row]!r} has {values[row, label]} for label {names[label]!r}; give "
            "probabilities from 0 to 1"
        )
