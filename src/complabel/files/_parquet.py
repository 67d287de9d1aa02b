"""Parquet tables, read in pieces by pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from complabel.errors import DatasetFormatError
from complabel.files._source import explained, pyarrow

_ROWS = 65_536
_ADVICE = "write the Parquet file again"


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file; only its schema has been read."""

    path: Path
    schema: Any

    @classmethod
    def open(cls, path: Path) -> ParquetTable:
        """Read the schema of a file."""
        pyarrow()
        from pyarrow import parquet  # type: ignore[import-untyped]

        with explained(path, _ADVICE):
            schema = parquet.read_schema(path)
        names = schema.names
        if not names:
            raise DatasetFormatError(
                f"{path}: the table has no columns; write the Parquet file again"
            )
        repeated, count = Counter(names).most_common(1)[0]
        if count > 1:
            raise DatasetFormatError(
                f"{path}: {count} columns are named {repeated!r}; give each its own name"
            )
        return cls(path, schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.schema.names)

    def pieces(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield columns as pyarrow arrays, in pieces."""
        from pyarrow import parquet

        with (
            explained(self.path, _ADVICE),
            parquet.ParquetFile(self.path, buffer_size=1 << 16, pre_buffer=False) as file,
        ):
            for batch in file.iter_batches(batch_size=_ROWS, columns=[*columns]):
                yield {name: batch.column(name) for name in columns}

    def place(self, row: int) -> str:
        """Return the place of a row (from 0) in words."""
        return f"row {row}"

    def as_texts(self, name: str, values: Any) -> Any:
        """Return a column of names as pyarrow strings; whole numbers become their digits."""
        pa = pyarrow()
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        kind = values.type
        if pa.types.is_dictionary(kind):
            values = values.dictionary_decode()
            kind = values.type
        if pa.types.is_null(kind):
            return pc.cast(values, pa.string())
        whole = pa.types.is_integer(kind)
        if pa.types.is_floating(kind):  # pandas stores whole numbers with gaps as floats
            given = pc.if_else(pc.is_nan(values), None, values)
            fine = pc.and_(pc.equal(given, pc.floor(given)), pc.less(pc.abs(given), 2**53))
            whole = pc.all(fine, min_count=0).as_py()
            values = pc.cast(given, pa.int64(), safe=False) if whole else values
        if not (whole or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise DatasetFormatError(
                f"{self.path}: column {name!r} holds values of type {kind}; give text or whole "
                "numbers"
            )
        with explained(self.path, _ADVICE):
            texts = pc.cast(values, pa.string())
            texts.validate(full=True)  # Arrow does not check before that the bytes are text
        return texts
