"""Reading tables, CSV or Parquet, in pieces of text columns, with the place of each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.importers._reading import not_utf8, open_binary, text_lines

_DELIMITERS = ",;\t"
_BLOCK = 1 << 20  # bytes that are parsed at a time: four times as many are slower
_HEADERS = 32  # and at least so many times the header, as no row may be longer than a block
_ROWS = 1 << 15


@dataclass(frozen=True)
class Table:
    """A file that holds a table.

    Attributes
    ----------
    path : Path
    names : tuple of str
        Of the columns, each different.
    delimiter : str
        Of a CSV file; empty for Parquet.
    """

    path: Path
    names: tuple[str, ...]
    delimiter: str

    def pieces(self, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give some columns, in pieces of many rows.

        Yields
        ------
        first : int
            The number of the first row, from 0.
        piece : dict of str to pyarrow.StringArray
            Blank where there is nothing.
        """
        import pyarrow as pa  # type: ignore[import-untyped]

        first = 0
        read = self._csv if self.delimiter else self._parquet
        batches = read(list(columns))
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, UnicodeDecodeError) as cause:
                raise self._explained(cause) from cause
            except OSError as cause:
                if self.delimiter:
                    raise
                raise self._explained(cause) from cause  # Arrow's word for damage within
            if batch is None:
                return
            yield first, batch
            first += len(batch[columns[0]])

    def fail(self, row: int, text: str) -> DatasetFormatError:
        """Return what is raised about a row, by its number from 0."""
        if not self.delimiter:
            return DatasetFormatError(f"{self.path}, row {row + 1}: {text}")
        for at, (line, _) in enumerate(_records(self.path, self.delimiter)):
            if at == row + 1:
                return DatasetFormatError(f"{self.path}, line {line}: {text}")
        return DatasetFormatError(f"{self.path}, row {row + 1}: {text}")

    def _csv(self, columns: list[str]) -> Iterator[dict[str, Any]]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

        with open_binary(self.path) as file:
            longest = _HEADERS * sum(map(len, self.names))
            reader = arrow_csv.open_csv(
                pa.PythonFile(file, "r"),
                arrow_csv.ReadOptions(use_threads=False, block_size=max(_BLOCK, longest)),
                arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    column_types={name: pa.string() for name in columns},
                    include_columns=columns,
                    strings_can_be_null=False,
                ),
            )
            for batch in reader:
                yield dict(zip(columns, batch.columns, strict=True))

    def _parquet(self, columns: list[str]) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(_ROWS, columns=columns, use_threads=False):
                batch.validate(full=True)  # else text that is no UTF-8 comes through
                yield {name: _as_text(batch[name]) for name in columns}

    def _explained(self, cause: Exception) -> DatasetFormatError:
        """Find the place of what Arrow complains about."""
        if self.delimiter:
            for line, cells in _records(self.path, self.delimiter):  # raises if not UTF-8
                if len(cells) != len(self.names):
                    return DatasetFormatError(
                        f"{self.path}, line {line}: has {len(cells)} cells, the header "
                        f"{len(self.names)}; give each row as many, in quotes where a cell holds "
                        f"{self.delimiter!r}"
                    )
        return DatasetFormatError(
            f"{self.path}: is damaged ({' '.join(str(cause).split())[:200]}); save or get it again"
        )


def open_table(path: Path) -> Table:
    """Read the header of a CSV or Parquet file."""
    if path.suffix.lower() == ".parquet":
        names, delimiter = _parquet_names(path), ""
    else:
        with open_binary(path) as file:
            header = next(text_lines(path, file), "")
        delimiter = delimiter_of(header)
        names = next((cells for _, cells in _records(path, delimiter)), [])
    if not any(names):
        raise DatasetFormatError(f"{path}: holds no header; the first row must name the columns")
    for at, name in enumerate(names):
        if name in names[:at]:
            raise DatasetFormatError(
                f"{path}: has two columns {name!r}; give each column a name of its own"
            )
    return Table(path, tuple(names), delimiter)


def delimiter_of(header: str) -> str:
    """Return what parts the cells of a header best: a comma, a semicolon or a tab."""
    return max(_DELIMITERS, key=lambda each: len(_cells(header, each)))


def head_rows(start: bytes) -> list[list[str]]:
    """Return the rows of the beginning of a CSV file that are whole, none if it is no text."""
    try:
        text = start[: start.rfind(b"\n") + 1].decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    if "\0" in text:
        return []
    delimiter = delimiter_of(text.partition("\n")[0])
    try:
        return [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row
        ]
    except csv.Error:
        return []


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Give the rows that are not blank, the header too, with the line each ends in; slow."""
    with open_binary(path) as file:
        reader = csv.reader(text_lines(path, file), delimiter=delimiter)
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num, cells
        except csv.Error as cause:
            raise DatasetFormatError(
                f"{path}, line {reader.line_num}: {cause}; check the quotes before it"
            ) from cause


def _parquet_names(path: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names: list[str] = file.schema_arrow.names
            return names
    except UnicodeDecodeError as cause:
        raise not_utf8(path, 1) from cause
    except (pa.ArrowException, OSError) as cause:
        raise DatasetFormatError(
            f"{path}: is no Parquet file, or a damaged one ({' '.join(str(cause).split())[:200]}); "
            "save or get it again"
        ) from cause


def _as_text(column: Any) -> Any:
    """Return a Parquet column as text, truth as 1 and 0, menus as JSON."""
    import json

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
        column = column.cast("int8").cast("string")
    else:
        column = column.cast("string")
    return pc.fill_null(column, "")
