"""Read tables, CSV, Parquet or .xlsx, in pieces that are data frames of texts."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from complabel import files
from complabel._opening import explained, fault, open_binary, text_lines
from complabel.importers._format import delimiter_of, some
from complabel.importers._json import shown

WORDS = ("no", "yes", "unsure")
_ROWS = 1 << 15  # rows of a piece


class Table(files.Table):
    """A table of which only the names of the columns have been read."""

    def frames(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield pieces of some columns as data frames of categories of text.

        Cells without a value are blank. The index has the numbers of the rows, from 0.
        """
        import pyarrow as pa  # type: ignore[import-untyped]

        first = 0
        for piece in self.pieces(others=columns):
            with explained(self.path, "write the table again"):
                columns_of_text = {name: _as_text(piece[name]) for name in columns}
            texts = pa.RecordBatch.from_pydict(columns_of_text)
            for start in range(0, texts.num_rows, _ROWS):
                frame = texts.slice(start, _ROWS).to_pandas(strings_to_categorical=True)
                frame.index += first + start
                yield frame
            first += texts.num_rows

    def check(self, column: Any, faulty: Any, text: str) -> None:
        """Refuse the first row that is marked as faulty; ``{}`` in the text becomes its cell."""
        if faulty.any():
            row = int(faulty.idxmax())
            raise self.refuse(row, text.replace("{}", shown(column[row])))


def open_table(path: Path, *needed: str) -> Table:
    """Read the header of a table, which must have some columns."""
    if path.suffix.lower() == ".parquet":
        found = files.Table.open(path, "a table")
        table = Table(path, found.columns, schema=found.schema)
    else:
        table = _of_csv(path)
    missing = [name for name in needed if name not in table.columns]
    if missing:
        told = f"has no column {missing[0]!r}; its columns are {some(map(shown, table.columns))}"
        raise fault(path, f"{told}; give another name, such as --item COLUMN")
    return table


def _of_csv(path: Path) -> Table:
    with explained(path, "save it with a line of column names"), open_binary(path) as file:
        lines = text_lines(path, file)
        header = next(lines, "")
        delimiter = delimiter_of(header)
        names = next(csv.reader(itertools.chain([header], lines), delimiter=delimiter), [])
    if not any(names):
        raise fault(path, "has no header; the first row must name the columns")
    for at, name in enumerate(names):
        if name in names[:at]:
            raise fault(path, f"has two columns {shown(name)}; give each column another name")
    return Table(path, tuple(names), delimiter)


def long_form(items: Any, labels: Sequence[str], said: Any, question: str) -> Any:
    """Return a row for each label of which something was said.

    ``said`` (n, K) holds positions in ``WORDS``, or a negative number where nothing was said.
    """
    import pandas as pd  # type: ignore[import-untyped]

    row, column = np.nonzero(said >= 0)
    return pd.DataFrame(
        {
            "item": np.asarray(items)[row],
            "label": pd.Categorical.from_codes(column, list(labels)),
            "answer": pd.Categorical.from_codes(said[row, column], WORDS),
            "question": pd.Categorical.from_codes(np.zeros(len(row), int), [question]),
        }
    )


def _as_text(column: Any) -> Any:
    """Return a Parquet column as text: booleans as 1 and 0, lists as JSON, nulls as ""."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        texts = [
            None if each is None else json.dumps(each, ensure_ascii=False, default=str)
            for each in column.to_pylist()
        ]
        column = pa.array(texts, pa.string())
    elif pa.types.is_boolean(kind):
        column = column.cast("int8")
    texts = pc.fill_null(column.cast("string"), "")
    texts.validate(full=True)  # Arrow does not check before that the bytes are text
    return texts
