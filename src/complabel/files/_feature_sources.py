"""Sources of features: arrays, which are opened as a whole, and tables, read in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from complabel.errors import DatasetFormatError, InputError
from complabel.files._arrays import as_float, read_npy, read_npz, read_svmlight
from complabel.files._matrices import MatrixTable, open_table
from complabel.files._names import as_text, numbered, read_items, refuse_repeated
from complabel.files._source import CSV_ENDINGS, PARQUET, StrPath, as_path, some_of, source_of

_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_ENDINGS = (".npy", ".npz", *CSV_ENDINGS, PARQUET, *_SVMLIGHT)
_CHECKED = 1 << 22  # numbers checked at a time, so that the checks take little memory

Block = tuple[list[str], Any]


class FeatureSource(Protocol):
    """A file of features."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if known."""

    def whole(self) -> Block:
        """Return all ids and the matrix; refuse repeated ids."""

    def pieces(self, n_rows: int) -> Iterator[Block]:
        """Yield ids and matrices of ``n_rows`` rows each."""


def open_features(
    path: StrPath, items: StrPath | None, name_column: str | None, n_features: int | None
) -> FeatureSource:
    """Open a file of features, and read the ids of its rows from another file if given."""
    file, ending = source_of("path", path, _ENDINGS, "files of features")
    ids_path = None if items is None else as_path("items", items)
    ids = None if items is None else read_items(items)
    if ending in (".npy", ".npz", *_SVMLIGHT):
        return _open_array(file, ending, ids, ids_path, n_features)
    table = open_table(file, ending)
    columns = list(table.columns)
    column = name_column
    if column is not None and column not in columns:
        if ids is None:
            raise DatasetFormatError(
                f"{file}: there is no column {column!r} that names the items, only"
                f" {some_of(columns)}; rename the column that does (or give name_column in Python),"
                " or name the items with --items (items), a file with one on each line"
            )
        column = None
    if column is not None:
        if ids is not None:
            raise InputError(
                f"{file} has ids in its column {column!r}, but --items (items) gives others; leave"
                " it out, or rename the column if it is a feature (or give name_column=None in"
                " Python)"
            )
        columns.remove(column)
    if not columns:
        raise DatasetFormatError(f"{file}: there are no features, only ids; add columns of numbers")
    return _Table(MatrixTable(table, column, tuple(columns)), ids, ids_path)


@dataclass(frozen=True)
class _Array:
    """A matrix in memory or on disk."""

    path: Path
    X: Any
    ids: list[str] | None
    ids_path: Path | None
    feature_names: tuple[str, ...] | None

    def whole(self) -> Block:
        """Return all ids and the matrix."""
        n_rows = self.X.shape[0]
        if self.ids is not None:
            refuse_repeated(self.ids_path or self.path, self.ids, _line_or_row(self.ids_path))
        if isinstance(self.X, np.ndarray):
            at_once = max(1, _CHECKED // self.X.shape[1])
            for start in range(0, n_rows, at_once):
                self._check(self.X[start : start + at_once], start)
        else:
            self._check(self.X, 0)
        return self.ids or numbered(0, n_rows), self.X

    def pieces(self, n_rows: int) -> Iterator[Block]:
        """Yield parts of the matrix."""
        for start in range(0, self.X.shape[0], n_rows):
            block = self.X[start : start + n_rows]
            self._check(block, start)
            ids = numbered(start, block.shape[0])
            yield ids if self.ids is None else self.ids[start : start + n_rows], as_float(block)

    def _check(self, block: Any, start: int) -> None:
        refuse_gaps(block, self.path, self.feature_names, lambda row: f"row {start + row}")


@dataclass(frozen=True)
class _Table:
    """Columns of numbers, read as they are needed."""

    matrices: MatrixTable
    ids: list[str] | None
    ids_path: Path | None

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.matrices.feature_names

    def whole(self) -> Block:
        """Return all ids and the matrix."""
        ids: list[str] = []
        blocks = []
        for names, block in self._blocks():
            ids += names
            blocks.append(block)
        if self.matrices.id_column is not None:
            refuse_repeated(self.matrices.path, ids, self.matrices.place)
        elif self.ids is not None:
            refuse_repeated(self.ids_path or self.matrices.path, ids, _line_or_row(self.ids_path))
        return ids, np.concatenate(blocks)

    def pieces(self, n_rows: int) -> Iterator[Block]:
        """Yield blocks of ``n_rows`` rows, made from blocks of any size."""
        ids: list[str] = []
        blocks: list[Any] = []
        for names, block in self._blocks():
            ids += names
            blocks.append(block)
            if len(ids) < n_rows:
                continue
            X = np.concatenate(blocks)
            whole = len(ids) - len(ids) % n_rows
            for start in range(0, whole, n_rows):
                yield ids[start : start + n_rows], X[start : start + n_rows]
            ids, blocks = ids[whole:], [X[whole:]]
        if ids:
            yield ids, np.concatenate(blocks)

    def _blocks(self) -> Iterator[Block]:
        """Yield ids and checked matrices in the sizes in which the file is read."""
        path, names, row = self.matrices.path, self.feature_names, 0
        for own, block in self.matrices.pieces():
            first = row
            refuse_gaps(block, path, names, lambda at, first=first: self.matrices.place(first + at))
            row += len(block)
            if self.ids is not None and row > len(self.ids):
                raise DatasetFormatError(
                    f"{self.ids_path} has {len(self.ids)} ids, but {path} has more rows; give one"
                    " for each row"
                )
            given = numbered(first, len(block)) if self.ids is None else self.ids[first:row]
            yield (given if own is None else own), block
        if row == 0:
            raise DatasetFormatError(f"{path}: there are no rows; add one for each item")
        if self.ids is not None and row < len(self.ids):
            raise _unfit(self.ids_path, len(self.ids), path, row)


def _open_array(
    path: Path, ending: str, ids: list[str] | None, ids_path: Path | None, n_features: int | None
) -> _Array:
    """Read a file that holds one matrix."""
    names = None
    if ending == ".npy":
        X: Any = read_npy(path)
    elif ending == ".npz":
        X, own, columns = read_npz(path)
        if own is not None and ids is not None:
            raise InputError(f"{path} already names its items; leave out --items (items)")
        ids = as_text(path, "items", own, X.shape[0]) if own is not None else ids
        if columns is not None:
            names = tuple(as_text(path, "feature_names", columns, X.shape[-1]))
    else:
        X = read_svmlight(path, n_features)
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise DatasetFormatError(
            f"{path}: found an array of shape {X.shape} and type {str(X.dtype)[:60]}; give a matrix"
            " of numbers with a row for each item"
        )
    if ids is not None and len(ids) != X.shape[0]:
        raise _unfit(ids_path or path, len(ids), path, X.shape[0])
    return _Array(
        path, X if ending == ".npy" and _is_float(X) else as_float(X), ids, ids_path, names
    )


def refuse_gaps(block: Any, path: Path, names: Sequence[str] | None, place: Any) -> None:
    """Refuse NaN and infinite numbers; the message names the first one."""
    is_sparse = sparse.issparse(block)
    fine = np.isfinite(block.data if is_sparse else block)
    if fine.all():
        return
    if is_sparse:
        at = int(np.argmin(fine))
        entries = block.tocoo()
        row, column, value = int(entries.row[at]), int(entries.col[at]), entries.data[at]
    else:
        row, column = map(int, np.unravel_index(int(np.argmin(fine)), fine.shape))
        value = block[row, column]
    what = "missing or NaN" if np.isnan(value) else "infinite"
    called = column if names is None else repr(names[column])
    raise DatasetFormatError(
        f"{path}, {place(row)}: column {called} is {what}; fill it in, or leave the row out"
    )


def _is_float(X: Any) -> bool:
    """Return whether an array can stay on disk, without conversion."""
    return bool(X.dtype.isnative and X.dtype in (np.dtype(np.float32), np.dtype(np.float64)))


def _line_or_row(ids_path: Path | None) -> Any:
    """Return a function that names the place of an id."""
    return lambda row: f"row {row}" if ids_path is None else f"line {row + 1}"


def _unfit(ids_path: Path | None, n_ids: int, path: Path, n_rows: int) -> DatasetFormatError:
    return DatasetFormatError(
        f"{ids_path} has {n_ids} ids, but {path} has {n_rows} rows; give one for each row"
    )
