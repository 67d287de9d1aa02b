"""Tables, CSV or Parquet, read in pieces; messages name the wrong line or row."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Self

import numpy as np

from complabel._opening import (
    ending_of,
    existing,
    explained,
    fault,
    limit_of,
    open_binary,
    refuse_large,
    tidy,
)
from complabel._parameters import AnyArray, Bools
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError

PARQUET = ".parquet"
TABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".xlsx", PARQUET)
ITEM_TABLES = (*TABLE_ENDINGS, ".txt")
"""Endings of tables of texts or pictures; ``.txt`` is what spreadsheets call Unicode text."""
DELIMITERS = ",;\t"

_MAX_LISTED = 5  # names in a message
_BLOCK = 1 << 24  # bytes that pyarrow reads at a time; it cannot read a longer row
_ROWS = 65_536
_FEW_ROWS = 8_192  # read at a time where most rows are left out
_AGAIN = "write the table again"
_ODD = {
    "\0": f"a byte 0, which is no text; {_AGAIN}",
    '{"ImportId"': "an id of Qualtrics, whose tables have three lines of names; keep the first of"
    " them, and delete the other two",
}


def pyarrow() -> Any:
    """Return the module pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ModuleNotFoundError as cause:
        raise InputError(
            "CSV and Parquet tables need pyarrow, which is not installed; run pip install"
            ' "complabel[tables]"'
        ) from cause
    return pa


@dataclass(frozen=True)
class Table:
    """A table of which only the names of the columns have been read.

    ``delimiter`` is that of CSV, in UTF-8 or UTF-16, plain or packed, or the sheet of an ``.xlsx``
    file; empty for Parquet, which has a ``schema``. In text, semicolons may separate values, as
    some spreadsheets write them. Numbers then often have decimal commas, so they are refused.
    """

    path: Path
    columns: tuple[str, ...]
    delimiter: str = ""
    schema: Any = None
    raw: Mapping[str, str] = field(default_factory=dict)  # names as they stand in the file
    begins: int = 0  # lines before the header

    @classmethod
    def open(
        cls,
        value: object,
        what: str,
        needed: Sequence[str] = (),
        *,
        endings: Sequence[str] = TABLE_ENDINGS,
    ) -> Self:
        """Open a file; ``what`` says in a message which tables have these endings and columns."""
        path = existing("path", value)
        if not ending_of(path, endings):
            raise fault(
                path,
                f"{what} must end in {', '.join(endings)}; save the file in one of these formats",
            )
        table = cls.of_parquet(path) if ending_of(path, [PARQUET]) else cls.of_csv(path)
        for name in needed:
            if name not in table.columns:
                raise fault(
                    path,
                    f"there is no column {name!r}, only {some_of(table.columns)}; {what} need"
                    f" {' and '.join(needed)}: rename the column that holds it, or add it",
                )
        return table

    @classmethod
    def of_parquet(cls, path: Path) -> Self:
        """Open a Parquet file of any name."""
        pyarrow()
        from pyarrow import parquet

        with explained(path, _AGAIN):
            about = parquet.read_metadata(path)
            schema = about.schema.to_arrow_schema()
        # A column of one value takes next to nothing on disk.
        refuse_large(path, "its content", about.num_rows * about.num_columns, limit_of(path))
        if not schema.names:
            raise fault(path, f"the table has no columns; {_AGAIN}")
        names = [tidy(name) for name in schema.names]
        _refuse_repeated_columns(path, names)
        raw = dict(zip(names, schema.names, strict=True))
        metadata, kinds = schema.metadata, zip(names, schema.types, strict=True)
        return cls(path, tuple(names), "", pyarrow().schema([*kinds], metadata), raw)

    @classmethod
    def of_csv(cls, path: Path, *, may_lack_names: bool = False) -> Self:
        """Open a text, or an ``.xlsx`` file; ``may_lack_names``: a column may have a blank name."""
        advice = "save it with a line of column names"
        with (
            explained(path, advice),
            open_binary(path) as raw,
            io.TextIOWrapper(raw, "utf-8-sig", newline="") as file,
        ):
            first = file.readline(_BLOCK)  # a damaged file may have no ends of lines
            sign = separator_line(first)
            first = file.readline(_BLOCK) if sign else first
            tabs = ending_of(path, (".tsv", ".tsv.gz", ".txt")) and "\t" in first
            delimiter = sign or ("\t" if tabs else delimiter_of(first))
            header = next(csv.reader(itertools.chain([first], file), delimiter=delimiter), [])
        if not any(header):
            raise fault(path, "the file is empty; give a line of column names")
        for at, name in enumerate(header, start=1):
            if not (name.strip() or may_lack_names):
                raise fault(
                    path,
                    f"column {at} has no name; give it one, or leave it out (if it is an index of"
                    " pandas, save with index=False)",
                    line=1,
                )
        as_written, header = header, [tidy(name) for name in header]
        _refuse_repeated_columns(path, header, line=1)
        if len(header) == 1 and any(sign in header[0] for sign in ";\t," if sign != delimiter):
            raise _one_column(path, header[0])
        names = dict(zip(header, as_written, strict=True))
        return cls(path, tuple(header), delimiter, None, names, int(bool(sign)))

    def pieces(
        self,
        texts: Sequence[str] = (),
        numbers: Sequence[str] = (),
        *,
        others: Sequence[str] = (),
        advice: str = "",
        group: int | None = None,
        rows: Bools | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield columns as Arrow arrays, in pieces.

        ``texts`` are strings, where blanks or nulls are gaps. ``numbers`` are floats with nulls;
        ``advice`` is part of the message about columns that are none. ``others`` are as they are.
        ``group`` is the row group of a Parquet file to read; by default all are read. ``rows`` (n,)
        are the rows to keep; row groups of a Parquet file without them are not read.
        """
        if self.delimiter:
            pieces = self._csv_pieces([*texts, *others], numbers, advice)
            yield from pieces if rows is None else self._only(pieces, rows)
            return
        kind = self.kind_of({name: self.schema.field(name).type for name in numbers}, advice)
        import pyarrow.compute as pc  # type: ignore[import-untyped]
        from pyarrow import parquet

        wanted = [*texts, *numbers, *others]
        with (
            explained(self.path, _AGAIN),
            parquet.ParquetFile(self.path, buffer_size=1 << 16, pre_buffer=False) as file,
        ):
            if rows is not None:
                refuse_other_length(self.path, rows, file.metadata.num_rows)
            for batch in _batches(file, [self.raw[name] for name in wanted], group, rows):
                piece = {name: batch.column(self.raw[name]) for name in wanted}
                piece |= {name: self._as_text(name, piece[name]) for name in texts}
                yield piece | {name: pc.cast(piece[name], kind, safe=False) for name in numbers}

    def _only(self, pieces: Iterator[dict[str, Any]], rows: Bools) -> Iterator[dict[str, Any]]:
        done = 0
        for piece in pieces:
            count = len(next(iter(piece.values())))
            kept = rows[done : done + count]
            if kept.any() and len(kept) == count:
                yield {name: each.filter(pyarrow().array(kept)) for name, each in piece.items()}
            done += count
        refuse_other_length(self.path, rows, done)

    def _csv_pieces(
        self, texts: Sequence[str], numbers: Sequence[str], advice: str
    ) -> Iterator[dict[str, Any]]:
        pa = pyarrow()
        from pyarrow import csv as arrow_csv

        if numbers and self.delimiter == ";":
            raise _one_column(self.path, ";".join(self.columns))
        types = {**dict.fromkeys(texts, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        kinds = {self.raw[name]: kind for name, kind in types.items()}
        layout: Any = {"skip_rows": self.begins, "use_threads": False}
        options = (
            arrow_csv.ReadOptions(block_size=_BLOCK, **layout),
            arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(column_types=kinds, include_columns=[*kinds]),
        )
        with open_binary(self.path) as file:
            try:
                with arrow_csv.open_csv(pa.PythonFile(file, "r"), *options) as reader:
                    done = 0
                    for batch in reader:
                        self._refuse_odd_rows(done, dict(zip(types, batch.columns, strict=True)))
                        done += len(batch)
                        yield dict(zip(types, batch.columns, strict=True))
            except DatasetFormatError:
                raise
            except (pa.ArrowException, ValueError, KeyError) as cause:
                raise self._refusal(numbers, advice, cause) from cause

    def _refuse_odd_rows(self, done: int, piece: Mapping[str, Any]) -> None:
        """Refuse a header in the middle, of a second table, and bytes 0, which no text has."""
        import pyarrow.compute as pc

        texts = {name: each for name, each in piece.items() if each.type == "string"}
        again = [pc.equal(each, self.raw[name]) for name, each in texts.items()]
        for name, each in texts.items():
            for sign, problem in _ODD.items():
                if pc.any(odd := pc.match_substring(each, sign)).as_py():
                    row = done + pc.index(odd, True).as_py()
                    raise self.refuse(row, f"{name!r} has {problem}")
        headers = reduce(pc.and_, again) if len(again) > 1 else None
        if headers is not None and pc.any(headers).as_py():
            text = "this is the header again, so there are two tables in the file; give them apart"
            raise self.refuse(done + pc.index(headers, True).as_py(), text)

    def place(self, row: int) -> str:
        """Return where a row (from 0) begins: its line in CSV, where the header is line 1.

        In a sheet it is its row, as a spreadsheet counts.
        """
        if self.delimiter:
            with contextlib.suppress(csv.Error, OSError, ValueError):  # Python's is stricter
                for at, (where, _) in enumerate(self._records()):
                    if at == row:
                        return where
        return f"row {row}"

    def unique_columns(self, *besides: str) -> list[str]:
        """Return the other columns in which each row has a text or a whole number of its own."""
        types = pyarrow().types
        tests = (types.is_string, types.is_large_string, types.is_integer)
        kinds = {name: self.schema and self.schema.field(name).type for name in self.columns}
        seen: dict[str, set[str]] = {
            name: set()
            for name, kind in kinds.items()
            if name and name not in besides and (kind is None or any(test(kind) for test in tests))
        }
        for piece in self.pieces([*seen]) if seen else ():
            for name, before in [*seen.items()]:
                cells = piece[name].to_pylist()
                if not all(cells) or len({*cells}) < len(cells) or before.intersection(cells):
                    del seen[name]
                before.update(cells)
        return [*seen]

    def refuse(
        self, row: int, problem: str, proposes: Sequence[Mapping[str, object]] = ()
    ) -> DatasetFormatError:
        return fault(f"{self.path}, {self.place(row)}", problem, proposes=proposes)

    def _records(self) -> Iterator[tuple[str, list[str]]]:
        """Yield where each record begins and its fields, without the header."""
        is_sheet = ending_of(self.path, [".xlsx"])
        with open_binary(self.path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as file:
            for _ in range(self.begins):
                next(file)
            reader = csv.reader(file, delimiter=self.delimiter)
            next(reader)
            before = reader.line_num
            for row, fields in enumerate(reader, start=2):
                if fields:  # a blank line is no record
                    yield (
                        f"row {row} of the sheet"
                        if is_sheet
                        else f"line {self.begins + before + 1}",
                        fields,
                    )
                before = reader.line_num

    def _refusal(self, numbers: Sequence[str], advice: str, cause: Exception) -> DatasetFormatError:
        """Return the error about what pyarrow could not read; slow, but only used for an error."""
        count, places = len(self.columns), {self.columns.index(name): name for name in numbers}
        wrong: dict[str, tuple[str, str]] = {}
        try:
            for where, fields in self._records():
                if len(fields) != count:
                    return fault(
                        f"{self.path}, {where}",
                        f"found {len(fields)} values for {count} columns; give one for each, and"
                        " quote values that hold a separator",
                    )
                for at, name in places.items():
                    if name not in wrong and not _is_number(fields[at]):
                        wrong[name] = (where, fields[at])
        except DatasetFormatError as refusal:  # the text is not UTF-8
            return refusal
        except (csv.Error, OSError, EOFError, ValueError):
            pass  # then pyarrow's own message must do
        if wrong:
            where, value = next(iter(wrong.values()))
            text = f"{_not_numeric([*wrong], advice)}; found {value[:40]!r}"
            return fault(f"{self.path}, {where}", text)
        return fault(self.path, f"{str(cause).splitlines()[0][:200]}; save the table again")

    def _as_text(self, name: str, values: Any) -> Any:
        """Return a column of Parquet as strings; whole numbers become their digits."""
        pa = pyarrow()
        import pyarrow.compute as pc

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        kind = values.type
        whole = pa.types.is_integer(kind) or pa.types.is_null(kind)
        if pa.types.is_floating(kind):  # pandas stores whole numbers with gaps as floats
            filled = pc.if_else(pc.is_nan(values), None, values)
            fine = pc.and_(pc.equal(filled, pc.floor(filled)), pc.less(pc.abs(filled), 2**53))
            whole = pc.all(fine, min_count=0).as_py()
            values = pc.cast(filled, pa.int64(), safe=False) if whole else values
        if not (whole or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise fault(
                self.path,
                f"column {name!r} holds values of type {kind}; give text or whole numbers",
            )
        texts = pc.cast(values, pa.string())
        texts.validate(full=True)  # Arrow does not check before that the bytes are text
        return texts

    def kind_of(self, kinds: Mapping[str, Any], advice: str) -> Any:
        """Return the type that can hold all numbers of some columns; refuse other types."""
        pa = pyarrow()
        wrong = [name for name, kind in kinds.items() if not _is_numeric(kind)]
        if wrong:
            lists = any(map(is_list, kinds.values()))
            raise fault(
                self.path,
                f"{_not_numeric(wrong, advice)}{', or keep one column of lists alone' * lists};"
                f" found type {kinds[wrong[0]]}",
            )
        small = ("float", "halffloat", "int8", "uint8", "int16", "uint16")  # fit into float32
        return pa.float32() if all(str(kind) in small for kind in kinds.values()) else pa.float64()


def _batches(file: Any, columns: Sequence[str], group: int | None, rows: Bools | None) -> Any:
    """Yield record batches of a Parquet file, with those of its rows that are to be kept."""
    if rows is None:
        yield from file.iter_batches(_ROWS, None if group is None else [group], columns)
        return
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
    kept_of = np.split(rows, np.cumsum(sizes)[:-1])
    groups = [at for at, kept in enumerate(kept_of) if kept.any()]
    rest = np.concatenate([kept_of[at] for at in groups])
    parts = []
    # A second thread does not make it faster, and takes more memory.
    for batch in file.iter_batches(_FEW_ROWS, groups, columns, use_threads=False):
        kept, rest = rest[: len(batch)], rest[len(batch) :]
        parts.append(batch.filter(pyarrow().array(kept)))
        if sum(map(len, parts)) >= _ROWS:  # few large parts are faster than many small ones
            yield _joined(parts)
            parts = []
    if parts:
        yield _joined(parts)


def _joined(batches: Sequence[Any]) -> Any:
    (joined,) = pyarrow().Table.from_batches(batches).combine_chunks().to_batches()
    return joined


def refuse_other_length(path: Path, rows: Bools, n_rows: int) -> None:
    if len(rows) != n_rows:
        problem = f"has {n_rows:,} rows, where {len(rows):,} were found before; {_AGAIN}"
        raise fault(path, f"{problem}, and leave it alone while it is read")


def separator_line(line: str) -> str:
    """Return the sign in a line ``sep=;``, with which Excel begins a table; "" in other lines."""
    match = re.fullmatch(r'"?sep=(.)"?\s*', line.lstrip("\ufeff"))
    return match[1] if match else ""


def delimiter_of(header: str) -> str:
    """Return the delimiter that gives a header the most cells: a comma, a semicolon or a tab."""
    sizes = dict.fromkeys(DELIMITERS, 0)
    for delimiter in DELIMITERS:
        with contextlib.suppress(csv.Error):
            sizes[delimiter] = len(next(csv.reader([header], delimiter=delimiter), []))
    return max(DELIMITERS, key=sizes.__getitem__)


def some_of(names: Sequence[str] | AnyArray) -> str:
    return ", ".join(map(repr, names[:_MAX_LISTED])) + ", ..." * (len(names) > _MAX_LISTED)


def _not_numeric(columns: Sequence[str], advice: str) -> str:
    noun = "column" if len(columns) == 1 else f"{len(columns)} columns"
    return f"{noun} {some_of(columns)} must hold numbers; {advice}"


def refuse_repeated(
    source: object, ids: Sequence[str], place: Callable[[int], str], noun: str = "item"
) -> None:
    if len(set(ids)) == len(ids):
        return
    repeated = [each for each, count in Counter(ids).items() if count > 1]
    at = [row for row, each in enumerate(ids) if each == repeated[0]][:2]
    places = f"{place(at[0])} and {place(at[1])}; give each {noun} one row"
    raise fault(
        source,
        f"{len(repeated)} {noun}s occur more than once: {some_of(repeated)}; the first is in"
        f" {places}"
        if len(repeated) > 1
        else f"{noun} {repeated[0]!r} occurs more than once, in {places}",
    )


def is_list(kind: Any) -> bool:
    types = pyarrow().types
    return any(
        test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list)
    )


def _is_numeric(kind: Any) -> bool:
    types = pyarrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _is_number(text: str) -> bool:
    """Return whether pyarrow reads a text as a number or as a gap."""
    from pyarrow import csv as arrow_csv

    if text in arrow_csv.ConvertOptions().null_values:
        return True
    try:
        return "_" not in text and text.isascii() and not math.isnan(float(text))
    except ValueError:
        return False


def _refuse_repeated_columns(path: Path, names: Sequence[str], **place: Any) -> None:
    repeated, count = Counter(names).most_common(1)[0]
    if count > 1:
        problem = f"{count} columns are named {repeated!r}; give each its own name"
        raise fault(path, problem, **place)


def _one_column(path: Path, header: str) -> DatasetFormatError:
    return fault(
        path,
        f"found only one column, {header[:60]!r}; separate values by commas in .csv, and by tabs"
        " in .tsv, and write 0.5 with a point",
        line=1,
    )


def about_row_numbers(path: Path, item: str | None, *shown: str | None) -> str:
    """Say that items of a table are called by row numbers, if a column could name them.

    ``item`` is the column of the names that was given, ``shown`` are columns with something else.
    """
    if item is not None or path.is_dir():
        return ""
    table = Table.open(path, "tables of items", endings=ITEM_TABLES)
    if "item" in table.columns or not (names := table.unique_columns(*filter(None, shown))):
        return ""
    return (
        f"{path}: items are called by the numbers of their rows, from 0, as there is no column"
        f" item. If a column names them ({some_of(names)}), give it as {setting('item')}"
    )
