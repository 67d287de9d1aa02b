"""CSV tables, read in pieces by pyarrow; messages name the wrong line."""

from __future__ import annotations

import contextlib
import csv
import gzip
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from complabel.errors import ComplabelError, DatasetFormatError
from complabel.files._source import NO_UTF8, explained, pyarrow, some_of

# Bytes that pyarrow reads at a time; it cannot read a longer row.
_BLOCK = 1 << 24


@dataclass(frozen=True)
class CsvTable:
    """A file of comma or tab separated values with a header, in UTF-8, plain or in gzip.

    In text, semicolons may separate values, as some spreadsheets write them. Numbers then often
    have decimal commas, so they are refused.
    """

    path: Path
    ending: str
    columns: tuple[str, ...]
    delimiter: str

    @classmethod
    def open(cls, path: Path, ending: str) -> CsvTable:
        """Read the header of a file."""
        advice = "save it as UTF-8, with a line of column names"
        with explained(path, advice), _opened(path) as file:
            delimiter = "\t" if ending.startswith(".tsv") else ","
            header = next(csv.reader(file, delimiter=delimiter), [])
            columns = header
            if delimiter == "," and len(header) == 1 and ";" in header[0]:
                delimiter, columns = ";", next(csv.reader(header, delimiter=";"))
        if not columns:
            raise DatasetFormatError(f"{path}: the file is empty; give a line of column names")
        _refuse_columns(path, columns, delimiter)
        return cls(path, ending, tuple(columns), delimiter)

    def pieces(
        self,
        *,
        texts: Sequence[str] = (),
        numbers: Sequence[str] = (),
        advice: str = "",
    ) -> Iterator[dict[str, Any]]:
        """Yield columns as pyarrow arrays: ``texts`` with blanks for gaps, ``numbers`` with nulls.

        ``advice`` is part of the message about a column that must hold numbers but does not.
        """
        pa = pyarrow()
        from pyarrow import csv as arrow_csv  # type: ignore[import-untyped]

        if numbers and self.delimiter == ";":
            raise _one_column(self.path, ";".join(self.columns))
        types = {**dict.fromkeys(texts, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        packed = "gzip" if self.ending.endswith(".gz") else None
        try:
            with (
                pa.input_stream(str(self.path), compression=packed) as stream,
                arrow_csv.open_csv(
                    stream,
                    read_options=arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self.delimiter, newlines_in_values=True
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=types, include_columns=[*types]
                    ),
                ) as reader,
            ):
                for batch in reader:
                    yield dict(zip(types, batch.columns, strict=True))
        except ComplabelError:
            raise  # of the caller
        except (pa.ArrowException, OSError, ValueError, KeyError) as cause:
            raise DatasetFormatError(f"{self.path}{self._fault(numbers, advice, cause)}") from cause

    def place(self, row: int) -> str:
        """Return the line in which a row (from 0) begins; the header is line 1."""
        with contextlib.suppress(csv.Error, OSError, ValueError):  # Python's reader is stricter
            for at, (line, _) in enumerate(self._records()):
                if at == row:
                    return f"line {line}"
        return f"row {row}"

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each record's first line and its fields, without the header."""
        with _opened(self.path) as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            next(reader)
            before = reader.line_num
            for fields in reader:
                if fields:  # a blank line is no record
                    yield before + 1, fields
                before = reader.line_num

    def _fault(self, numbers: Sequence[str], advice: str, cause: Exception) -> str:
        """Return a message about what pyarrow could not read; slow, but only used for an error."""
        count, places = len(self.columns), {self.columns.index(name): name for name in numbers}
        wrong: dict[str, tuple[int, str]] = {}
        try:
            for line, fields in self._records():
                if len(fields) != count:
                    return (
                        f", line {line}: found {len(fields)} values for {count} columns; give one "
                        "for each, and quote values that hold a separator"
                    )
                for at, name in places.items():
                    if name not in wrong and not _is_number(fields[at]):
                        wrong[name] = (line, fields[at])
        except UnicodeDecodeError:
            return f": {NO_UTF8}"
        except (csv.Error, OSError, EOFError, ValueError):
            pass  # then pyarrow's own message must do
        if wrong:
            line, value = next(iter(wrong.values()))
            return f", line {line}: {not_numeric([*wrong], advice)}; found {value[:40]!r}"
        return f": {str(cause).splitlines()[0][:200]}; save the table again"


def not_numeric(columns: Sequence[str], advice: str) -> str:
    """Return a message about columns that hold something else than numbers."""
    noun = "column" if len(columns) == 1 else f"{len(columns)} columns"
    return f"{noun} {some_of(columns)} must hold numbers; {advice}"


def _opened(path: Path) -> IO[str]:
    """Open a text file, also in gzip."""
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _is_number(text: str) -> bool:
    """Return whether pyarrow reads a text as a number or as a gap."""
    from pyarrow import csv as arrow_csv

    if text in arrow_csv.ConvertOptions().null_values:
        return True
    try:
        return "_" not in text and text.isascii() and not math.isnan(float(text))
    except ValueError:
        return False


def _refuse_columns(path: Path, columns: Sequence[str], delimiter: str) -> None:
    """Refuse a header with blank or repeated names, or with the wrong separator."""
    for at, name in enumerate(columns, start=1):
        if not name.strip():
            raise DatasetFormatError(
                f"{path}, line 1: column {at} has no name; give it one, or leave it out (if it is"
                " an index of pandas, save with index=False)"
            )
    repeated, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise DatasetFormatError(
            f"{path}, line 1: {count} columns are named {repeated!r}; give each its own name"
        )
    other = next((sign for sign in ";\t," if sign in columns[0]), None)
    if len(columns) == 1 and other is not None and other != delimiter:
        raise _one_column(path, columns[0])


def _one_column(path: Path, header: str) -> DatasetFormatError:
    """Return the error about a table with another separator."""
    return DatasetFormatError(
        f"{path}, line 1: found only one column, {header[:60]!r}; separate values by commas in"
        " .csv, and by tabs in .tsv, and write 0.5 with a point"
    )
