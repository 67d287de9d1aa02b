"""Writing a table of answers in pieces, as CSV or Parquet."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files._answers import COLUMNS
from complabel.files._table import pyarrow

_ENDINGS = (".csv", ".csv.gz", ".parquet")
_NUMBERS = {"asked_for": "int64", "probability": "float64"}
_ROWS = 1 << 15  # least number of rows written at a time; files of many small pieces are slow


class AnswerWriter:
    """Writes a table of answers in pieces; only a few pieces are in memory.

    It is used in a ``with`` block. The file appears when the block ends; after an error, an older
    file is unchanged.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz`` or ``.parquet``.
    more : sequence of str, default=()
        Other columns of text to write after :data:`COLUMNS`, for people who read the table.

    Raises
    ------
    InputError
        If ``path`` has another ending, a piece is not a table of answers, or pyarrow is missing.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> with AnswerWriter(path) as writer:
    ...     writer.write({"item": [7], "label": ["sea"], "offered": [["sea", "sky"]]})
    >>> print(path.read_text().strip())
    answer_id,item,label,answer,question,offered,asked_for,annotator,time,probability
    ,"7","sea",,,"[""sea"", ""sky""]",,,,
    """

    def __init__(self, path: str | os.PathLike[str], *, more: Sequence[str] = ()) -> None:
        self.path = Path(path)
        self._more = tuple(more)
        if not self.path.name.lower().endswith(_ENDINGS):
            raise InputError(f"{self.path}: give a name that ends in {', '.join(_ENDINGS)}")
        self._arrow = pyarrow()
        self._files = contextlib.ExitStack()
        self._waiting: list[Any] = []
        self._put: Any = None

    def __enter__(self) -> Self:
        with explained(self.path), contextlib.ExitStack() as stack:
            partial = stack.enter_context(replacing(self.path))
            self._put = self._open(partial, stack)
            self._files = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            with explained(self.path), self._files:
                self._flush()
        else:  # the error in the block is more important than one in closing
            with contextlib.suppress(OSError):
                self._files.__exit__(kind, error, trace)
        self._put = None

    def write(self, piece: Mapping[str, Any]) -> None:
        """Add rows.

        Parameters
        ----------
        piece : mapping of str to list, ndarray or pyarrow array
            Columns of equal length, by names of :data:`COLUMNS`; missing ones are empty.
        """
        self.write_table(answers_to_arrow(piece, more=self._more))

    def write_table(self, table: Any) -> None:
        """Add rows that :func:`answers_to_arrow` made.

        Parameters
        ----------
        table : pyarrow.Table
        """
        if self._put is None:
            raise InputError("this AnswerWriter is not open; use it inside a with block")
        self._waiting.append(table)
        if sum(each.num_rows for each in self._waiting) >= _ROWS:
            with explained(self.path):
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._put(self._arrow.concat_tables(self._waiting).combine_chunks())
            self._waiting.clear()

    def _open(self, partial: Path, stack: contextlib.ExitStack) -> Any:
        """Return a function that writes a table to the file."""
        if self.path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq  # type: ignore[import-untyped]

            return stack.enter_context(pq.ParquetWriter(partial, _schema(self._more))).write_table
        file = cast(BinaryIO, stack.enter_context(partial.open("wb")))
        if self.path.suffix.lower() == ".gz":
            # Without a name and a time in the gzip header, the same answers give the same bytes.
            packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
            file = cast(BinaryIO, stack.enter_context(packed))
        file.write(f"{','.join((*COLUMNS, *self._more))}\n".encode())
        return lambda table: file.write(_as_csv(table))


def answers_to_arrow(piece: Mapping[str, Any], *, more: Sequence[str] = ()) -> Any:
    """Turn rows of answers into an Arrow table with all columns in their types.

    Parameters
    ----------
    piece : mapping of str to list, ndarray or pyarrow array
        Columns of equal length, by names of :data:`COLUMNS`; missing ones are empty. Entries of
        ``offered`` are lists of labels, or such lists as JSON text.
    more : sequence of str, default=()
        Names of other columns, which hold text.

    Returns
    -------
    pyarrow.Table
        All columns of :data:`COLUMNS` in their order: ``asked_for`` as int64, ``probability`` as
        float64, the others as text. Empty text becomes null.

    Raises
    ------
    InputError
        If there are other columns, their lengths differ, a value has a wrong type, or an item is
        missing.

    Examples
    --------
    >>> answers_to_arrow({"item": [3, 4], "label": ["sea", ""]})["label"].to_pylist()
    ['sea', None]
    """
    pa = pyarrow()
    unknown = [name for name in piece if name not in (*COLUMNS, *more)]
    if unknown or "item" not in piece:
        what = f"no column {unknown[0]!r}" if unknown else "a column 'item'"
        raise InputError(f"a table of answers has {what}; its columns are {', '.join(COLUMNS)}")
    sizes = {name: len(values) for name, values in piece.items()}
    n_rows = sizes["item"]
    if set(sizes.values()) != {n_rows}:
        raise InputError(
            f"columns of answers differ in length: {sizes}; give all of them the same length"
        )
    schema = _schema(more)
    columns = [
        _column(name, piece[name]) if name in piece else pa.nulls(n_rows, schema.field(name).type)
        for name in schema.names
    ]
    table = pa.Table.from_arrays(columns, schema=schema)
    if table["item"].null_count:
        raise InputError("an answer has no item; give the item of each answer")
    return table


def _schema(more: Sequence[str]) -> Any:
    pa = pyarrow()
    return pa.schema([(name, _NUMBERS.get(name, "string")) for name in (*COLUMNS, *more)])


def _column(name: str, values: Any) -> Any:
    """Return a column of the table in its type."""
    pa = pyarrow()
    if name == "offered":
        values = _offered(values)
    try:
        column = _array(values)
        if name in _NUMBERS:
            column = _blanks_to_nulls(column) if pa.types.is_string(column.type) else column
            # Convert to floats first, because pandas turns whole numbers with gaps into floats.
            return column.cast("float64").cast(_NUMBERS[name])
        return _blanks_to_nulls(column.cast("string"))
    except UnicodeEncodeError as cause:
        raise InputError(
            f"column {name!r} holds text that is not valid Unicode ({cause}); correct it"
        ) from cause
    except (pa.ArrowException, OverflowError) as cause:
        raise InputError(f"column {name!r} holds a value of a wrong type: {cause}") from cause


def _array(values: Any) -> Any:
    """Return values as an Arrow array; values of mixed types become text."""
    pa = pyarrow()
    try:
        column = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if _is_gap(value) else _text_of(value) for value in values])
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def _blanks_to_nulls(column: Any) -> Any:
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    blank = pc.equal(column, "")
    return pc.if_else(blank, None, column) if pc.any(blank).as_py() else column


def _offered(values: Any) -> Any:
    """Return menus as JSON text."""
    pa = pyarrow()
    if isinstance(values, pa.Array | pa.ChunkedArray):
        if not pa.types.is_list(values.type) and not pa.types.is_large_list(values.type):
            return values
        values = values.to_pylist()
    return [
        each
        if _is_gap(each) or isinstance(each, str)
        else json.dumps([_text_of(label) for label in each], ensure_ascii=False)
        if len(each)
        else None
        for each in values
    ]


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _text_of(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _as_csv(table: Any) -> Any:
    """Return rows as CSV, with quotes only if a text needs them."""
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
