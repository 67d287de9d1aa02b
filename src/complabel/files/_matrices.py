"""Tables with a column of ids and columns of numbers, read in pieces as matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import DatasetFormatError
from complabel.files._csv import CsvTable, not_numeric
from complabel.files._parquet import ParquetTable
from complabel.files._source import PARQUET, pyarrow

Ids = list[str] | None


def open_table(path: Path, ending: str) -> CsvTable | ParquetTable:
    """Open a table and read its columns' names."""
    return ParquetTable.open(path) if ending == PARQUET else CsvTable.open(path, ending)


@dataclass(frozen=True)
class MatrixTable:
    """Columns of numbers in a table, and its column of ids, unless that is None."""

    table: CsvTable | ParquetTable
    id_column: str | None
    columns: tuple[str, ...]
    advice: str = (
        "leave out columns that are no features; turn text into numbers first, for example with"
        " TfidfVectorizer or HashingVectorizer of scikit-learn, and categories with OneHotEncoder"
    )

    @property
    def path(self) -> Path:
        """The file."""
        return self.table.path

    def place(self, row: int) -> str:
        """Return the place of a row (from 0) in words."""
        return self.table.place(row)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns; None for a single column of lists."""
        return None if self._list_column() else self.columns

    def pieces(self) -> Iterator[tuple[Ids, NDArray[Any]]]:
        """Yield ids and matrices (n, d), float32 if that holds all numbers, else float64."""
        row, last = 0, None
        for ids, block in self._from_csv() if self._is_csv() else self._from_parquet():
            blank = [at for at, each in enumerate(ids or ()) if each is None or not each.strip()]
            if blank:
                raise DatasetFormatError(
                    f"{self.path}, {self.place(row + blank[0])}: {self.id_column!r} is blank; give"
                    " the item of the row, or leave the row out"
                )
            if last is not None and block.shape[1] != last:
                raise self._uneven(row)
            row, last = row + len(block), block.shape[1]
            yield ids, block

    def _is_csv(self) -> bool:
        return isinstance(self.table, CsvTable)

    def _from_csv(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield ids and matrices before the checks of ``pieces``."""
        assert isinstance(self.table, CsvTable)
        texts = [] if self.id_column is None else [self.id_column]
        for piece in self.table.pieces(texts=texts, numbers=self.columns, advice=self.advice):
            block = np.column_stack(
                [piece[name].to_numpy(zero_copy_only=False) for name in self.columns]
            )
            yield (piece[texts[0]].to_pylist() if texts else None), block

    def _from_parquet(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield ids and matrices before the checks of ``pieces``."""
        assert isinstance(self.table, ParquetTable)
        as_list = self._list_column()
        kind = self._arrow_type(as_list)
        wanted = [*([] if self.id_column is None else [self.id_column]), *self.columns]
        row = 0
        for piece in self.table.pieces(wanted):
            if as_list:
                block = self._of_lists(piece[as_list], kind, row)
            else:
                block = np.column_stack([_numbers(piece[name], kind) for name in self.columns])
            ids = None
            if self.id_column is not None:
                ids = self.table.as_texts(self.id_column, piece[self.id_column]).to_pylist()
            yield ids, block
            row += len(block)

    def _list_column(self) -> str | None:
        """Return the name of the column if it is the only one and holds lists, else None."""
        if self._is_csv() or len(self.columns) > 1:
            return None
        kind = self.table.schema.field(self.columns[0]).type  # type: ignore[union-attr]
        return self.columns[0] if _is_list(kind) else None

    def _arrow_type(self, as_list: str | None) -> Any:
        """Return the type that can hold all numbers; refuse columns with something else."""
        assert isinstance(self.table, ParquetTable)
        pa = pyarrow()
        kinds = {name: self.table.schema.field(name).type for name in self.columns}
        if as_list:
            kinds = {as_list: kinds[as_list].value_type}
        wrong = [name for name, kind in kinds.items() if not _is_numeric(kind)]
        if wrong:
            hint = (
                ", or keep one column of lists alone" if any(map(_is_list, kinds.values())) else ""
            )
            raise DatasetFormatError(
                f"{self.path}: {not_numeric(wrong, self.advice)}{hint}; found type "
                f"{kinds[wrong[0]]}"
            )
        small = (pa.float32(), pa.float16(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
        return pa.float32() if all(kind in small for kind in kinds.values()) else pa.float64()

    def _of_lists(self, values: Any, kind: Any, row: int) -> NDArray[Any]:
        """Turn a column of lists into a matrix."""
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
        uneven = (lengths != lengths[0]) | (lengths == 0) if len(lengths) else lengths != 0
        if uneven.any():
            raise self._uneven(row + int(np.argmax(uneven)))
        flat = _numbers(values.flatten(), kind)
        return flat.reshape(len(lengths), -1) if len(lengths) else flat.reshape(0, 0)

    def _uneven(self, row: int) -> DatasetFormatError:
        return DatasetFormatError(
            f"{self.path}, {self.place(row)}: the list in column {self.columns[0]!r} is empty or "
            "has another length than the first; give each row the same number of values"
        )


def _numbers(values: Any, kind: Any) -> NDArray[Any]:
    """Return the numbers of an Arrow array, with NaN for gaps."""
    import pyarrow.compute as pc

    found: NDArray[Any] = pc.cast(values, kind, safe=False).to_numpy(zero_copy_only=False)
    return found


def _is_numeric(kind: Any) -> bool:
    """Return whether a type holds numbers."""
    types = pyarrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _is_list(kind: Any) -> bool:
    """Return whether a type holds lists."""
    types = pyarrow().types
    return any(
        test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list)
    )
