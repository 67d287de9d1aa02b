"""Features of items and their true labels: matrices with the names of their rows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from complabel._opening import StrPath, as_path, ending_of, existing, explained, fault, tidy
from complabel._parameters import AnyArray, Bools, Indicator, Ints, check_integer
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError
from complabel.files._arrays import (
    CSR_PARTS,
    as_float,
    as_texts,
    matrix_of,
    read_arrays,
    read_npy,
    read_svmlight_parts,
)
from complabel.files._names import read_lines
from complabel.files._table import (
    TABLE_ENDINGS,
    Table,
    is_list,
    refuse_other_length,
    refuse_repeated,
    some_of,
)

SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_ARRAYS = (".npy", ".npz", *SVMLIGHT)
_NAMED = ("items", "feature_names", "recipe", "made_of", "network")
RECIPE_KEY, MADE_OF_KEY = b"complabel.recipe", b"complabel.made_of"
NETWORK_KEY = b"complabel.network"
"""Where the schema of a Parquet file keeps how its features were made; of what, a list in JSON.

And the path of the file with the network, as it was given.
"""
_ROWS = 65_536
_LARGE = 2**30  # bytes of features that are read in pieces
_TURN = (
    "leave out columns that are no features; turn text into numbers first, with complabel features"
    " FILE --text COLUMN, and categories with OneHotEncoder of scikit-learn"
)


@dataclass(frozen=True, eq=False)
class Features:
    """Features X (n, d), float32 or float64, and names of the rows (n,) and columns.

    From a ``.npy`` file, X is on disk (``numpy.memmap``). From a Parquet file that is read in
    pieces, it is :class:`FeaturePieces`. Without ids, rows are called by their
    numbers. ``recipe`` says how ``complabel features`` made them, and ``made_of`` of which columns
    of a table: that of the texts or pictures, and that of the names of items, if it was given.
    ``network`` is the path of the file with the network that made them, if there is one.
    """

    X: Any
    items: AnyArray
    feature_names: tuple[str, ...] | None = None
    recipe: str | None = None
    made_of: tuple[str, ...] = ()
    network: str | None = None

    def framed(self) -> Any:
        """Return X as a data frame, if it is an array and its columns have names."""
        return framed(self.X, self.feature_names)

    def notes(self) -> dict[str, Any]:
        """Return what a model keeps of how the features were made that it learned from."""
        notes: dict[str, Any] = {"recipe": self.recipe, "made_of": [*self.made_of]}
        return notes | ({"network": self.network} if self.network else {})


def framed(X: Any, names: Sequence[str] | None) -> Any:
    """Return features as a data frame, if they are an array and the columns have names."""
    if names is None or hasattr(X, "tocsr") or hasattr(X, "pieces"):
        return X
    import pandas as pd  # type: ignore[import-untyped]

    return pd.DataFrame(X, columns=list(names), copy=False)


@dataclass(frozen=True, eq=False)
class FeaturePieces:
    """Features (n, d) of a Parquet file, of which only a piece is in memory at a time.

    ``SelectionLikelihoodClassifier.fit`` takes them as X, and reads the file once for each pass.
    """

    source: _Source
    groups: tuple[int, ...]  # rows of each row group
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    feature_names: tuple[str, ...] | None

    @classmethod
    def of(cls, source: _Source) -> FeaturePieces:
        from pyarrow import parquet  # type: ignore[import-untyped]

        table, columns = source.table_and_columns
        with (
            explained(source.path, "write the table again"),
            parquet.ParquetFile(table.path) as file,
        ):
            about = file.metadata
            groups = tuple(about.row_group(at).num_rows for at in range(about.num_row_groups))
        kinds = {name: table.schema.field(name).type for name in columns}
        width = len(columns)
        if _is_list(table, columns):
            kinds = {name: kind.value_type for name, kind in kinds.items()}
            first = next(_matrices(table, None, columns, _TURN), (None, np.empty((0, 0))))[1]
            width = first.shape[1]
        dtype = np.dtype(table.kind_of(kinds, _TURN).to_pandas_dtype())
        return cls(source, groups, (sum(groups), width), dtype, source.feature_names)

    @property
    def sizes(self) -> list[int]:
        """The numbers of rows of all pieces."""
        n = self.shape[0]
        return [min(_ROWS, n - start) for start in range(0, n, _ROWS)]

    def pieces(self, group: int | None = None) -> Iterator[AnyArray]:
        """Read the file, or one of its row groups, in pieces of 65,536 rows."""
        table, columns = self.source.table_and_columns
        row = sum(self.groups[: group or 0])
        for _, piece in _matrices(table, None, columns, _TURN, group):
            rows = row + np.arange(len(piece))
            _refuse_gaps(piece, self.source.path, self.feature_names, table.place, rows)
            yield piece
            row += len(piece)

    def to_dask_array(self) -> Any:
        """Return a Dask array with a block for each row group, or for several small ones.

        The workers read the file.
        """
        from dask import array
        from dask.delayed import delayed

        table, _ = self.source.table_and_columns
        source = replace(self.source, table=replace(table, path=table.path.resolve()))
        far: Any = delayed(replace(self, source=source), pure=False)
        dask_array: Any = array
        parts, groups = [], list[int]()
        for at, rows in enumerate(self.groups):
            if rows:
                groups.append(at)
            size = sum(self.groups[each] for each in groups)
            # A block costs the scheduler some milliseconds in each pass.
            if size >= _ROWS or (groups and at == len(self.groups) - 1):
                shape = size, self.shape[1]
                parts.append(dask_array.from_delayed(far.read_groups(groups), shape, self.dtype))
                groups = []
        return dask_array.concatenate(parts)

    def read_groups(self, groups: Sequence[int]) -> AnyArray:
        return np.concatenate([piece for group in groups for piece in self.pieces(group)])


@dataclass(frozen=True, eq=False)
class Truth:
    """True labels Y (n, n_labels), 0 or 1, of items (n,); Y is 0 where it is not ``known``."""

    items: AnyArray
    Y: Indicator
    label_names: tuple[str, ...]
    known: Bools


def read_features(
    path: StrPath,
    *,
    items: StrPath | None = None,
    name_column: str | None = "item",
    n_features: int | None = None,
    rows: Bools | None = None,
    in_pieces: bool | None = False,
) -> Features:
    r"""Read the features of items, and the names of the items.

    Parameters
    ----------
    path : path
        - ``.npy``: an array (n, d). It stays on disk, and only the needed parts are read.
        - ``.npz``: an array ``X``, or the parts of a CSR matrix: ``X_data``, ``X_indices``,
          ``X_indptr`` and ``X_shape``; maybe ``items``, ``feature_names`` and ``recipe``. Or a
          file that ``scipy.sparse.save_npz`` wrote.
        - ``.csv``, ``.tsv``, also with ``.gz``: a header, a column of ids, and columns of numbers.
        - ``.parquet``: the same, or a column of ids and a column with lists of numbers.
        - ``.svm``, ``.svmlight``, ``.libsvm``: svmlight text; its labels are ignored. Columns are
          counted from 0 if the index 0 occurs, else from 1.
    items : path or None, default=None
        A text file with the id of each row, one on each line, if the file of features has no ids.
        Without ids, the rows are called "0", "1", "2" and so on.
    name_column : str or None, default="item"
        Name of the column of ids in a table; None if it has none.
    n_features : int or None, default=None
        Number of columns of a svmlight file; by default the largest index determines it.
    rows : ndarray of shape (n,), bool, or None, default=None
        The rows to keep, at least one, by the names of :func:`read_row_names`; only these are
        looked at and held in memory. By default all.
    in_pieces : bool or None, default=False
        Whether to leave the features in a Parquet file; X is then read again, piece by piece, in
        each pass of ``SelectionLikelihoodClassifier.fit``. None: if those of ``rows`` are larger
        than 1 GiB. X then has all rows.

    Returns
    -------
    Features
        Numbers of type float32 or smaller types become float32, all others float64.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If a file is missing or cannot be parsed; if a number is missing, NaN or infinite; if a
        column does not hold numbers; if a row has no id, or two rows have the same id; if
        ``rows`` has another length than the file.
    InputError
        If ``rows`` keeps no row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "X.csv"
    >>> _ = path.write_text("item,red,blue\n007.jpg,0.5,1\nb.jpg,0,-2\n")
    >>> features = read_features(path)
    >>> features.X
    array([[ 0.5,  1. ],
           [ 0. , -2. ]])
    >>> features.items, features.feature_names
    (array(['007.jpg', 'b.jpg'], dtype=object), ('red', 'blue'))
    """
    if rows is not None and not rows.any():
        raise InputError("rows keeps no row of the file; keep at least one", parameter="rows")
    source = _open(path, items, name_column, n_features)
    ids: list[str] = []
    blocks = []
    if in_pieces is not False and source.table is not None and source.table.schema is not None:
        pieces = FeaturePieces.of(source)
        n_kept = pieces.shape[0] if rows is None else int(rows.sum())
        if in_pieces or n_kept * pieces.shape[1] * pieces.dtype.itemsize > _LARGE:
            ids_of = _ids_of(source)
            return Features(pieces, ids_of, source.feature_names, *source.origin)
    X = source.kept(rows)
    for block_ids, block in source.blocks(_ROWS, rows, X):
        ids += block_ids
        if X is None:
            blocks.append(block)
    if rows is None:
        source.refuse_repeated_ids(ids)
    X = np.concatenate(blocks) if X is None else X
    return Features(X, as_items(ids), source.feature_names, *source.origin)


def read_row_names(path: StrPath, *, items: StrPath | None = None) -> AnyArray:
    """Read the names of the rows of a file of features, without the features.

    The arguments are those of :func:`read_features`, and so are the names, an ndarray (n,).
    """
    return _ids_of(_open(path, items, "item", None))


def _ids_of(source: _Source) -> AnyArray:
    table, ids = source.table, list[str]()
    if table is None or source.id_column is None:
        n_rows = source.n_rows
        if source.ids is not None and len(source.ids) != n_rows:
            raise source.other_count(n_rows)
        if not n_rows:
            raise fault(source.path, "there are no rows; add one for each item")
        source.refuse_repeated_ids(source.ids or ())
        return as_items([*map(str, range(n_rows))] if source.ids is None else source.ids)
    for piece in table.pieces([source.id_column]):
        rows = _numbers(None, len(ids), len(ids) + len(piece[source.id_column]))
        ids += _named(table, source.id_column, piece, rows)
    if not ids:
        raise fault(source.path, "there are no rows; add one for each item")
    source.refuse_repeated_ids(ids)
    return as_items(ids)


def iterate_features(
    path: StrPath,
    *,
    items: StrPath | None = None,
    n_features: int | None = None,
    n_rows: int = 65_536,
) -> Iterator[Features]:
    """Read features in pieces of at most ``n_rows`` rows, for a file larger than the memory.

    ``.npz`` and svmlight files are still read as a whole. Repeated ids are not found, and errors
    in a row are raised when its piece is read. The arguments are those of :func:`read_features`.
    """
    check_integer("n_rows", n_rows, at_least=1)
    source = _open(path, items, "item", n_features)
    return (
        Features(X, as_items(ids), source.feature_names, *source.origin)
        for ids, X in source.blocks(int(n_rows))
    )


def read_truth(
    path: StrPath, *, label_names: Sequence[str] | None = None, complete: bool = True
) -> Truth:
    r"""Read a table of true labels: a column of ids, and one of zeros and ones for each label.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz`` or ``.parquet``.
    label_names : sequence of str, or None, default=None
        All labels, in the order of the columns. By default the labels of the file, in its order.
    complete : bool, default=True
        Refuse blank cells. If False, nobody knows whether the label applies there.

    Returns
    -------
    Truth
        With ``items`` (n,), ``Y`` (n, n_labels) of uint8, ``label_names``, and ``known``, a mask
        like ``Y`` of the cells that are not blank; ``Y`` is 0 in the others.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If the file is missing or cannot be parsed; if a label is missing or unknown; if a value is
        neither 0 nor 1; if all cells are blank; if a row has no id, or two rows have the same id.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> _ = path.write_text("item,sea,city\na.jpg,1,0\nb.jpg,0,0\n")
    >>> read_truth(path, label_names=["city", "sea"]).Y
    array([[0, 1],
           [0, 0]], dtype=uint8)
    """
    table = Table.open(path, "tables of true labels", ["item"])
    columns = [name for name in table.columns if name != "item"]
    names = columns if label_names is None else list(label_names)
    missing = [name for name in names if name not in columns]
    unknown = [name for name in columns if name not in names]
    if missing or unknown or not names:
        lacks = [f"no column for label {some_of(missing)}"] if missing else []
        extra = [f"a column {some_of(unknown)}, which is not a label"] if unknown else []
        raise fault(
            table.path,
            f"there is {' and '.join(lacks + extra) or 'no column but the ids'}; give one column"
            " for each label, named after it",
        )
    ids: list[str] = []
    blocks: list[Indicator] = []
    masks: list[Bools] = []
    for block_ids, block in _matrices(table, "item", names, "give 1 if the label applies, else 0"):
        known = ~np.isnan(block)
        wrong = (block != 0) & (block != 1) & (known | complete)
        if wrong.any():
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            value = block[row, column]
            raise table.refuse(
                len(ids) + int(row),
                f"column {names[column]!r} {'is blank' if np.isnan(value) else f'holds {value:g}'};"
                " give 1 if the label applies, else 0",
            )
        ids += block_ids or ()
        blocks.append(np.where(known, block, 0).astype(np.uint8))
        masks.append(known)
    if not ids:
        raise fault(table.path, "there are no rows; add one for each item")
    refuse_repeated(table.path, ids, table.place)
    mask = np.concatenate(masks)
    if not mask.any():
        raise fault(table.path, "all cells are blank; give 1 or 0 where it is known what applies")
    return Truth(as_items(ids), np.concatenate(blocks), tuple(names), mask)


def as_items(ids: Sequence[str]) -> AnyArray:
    return np.fromiter(ids, dtype=object, count=len(ids))


@dataclass(frozen=True)
class _Source:
    """A file of features: a matrix ``X`` in memory or on disk, or a table.

    ``ids`` are those of a file of their own or of an archive, ``id_column`` is that of a table.
    ``origin`` has the recipe, the columns and the network as in :class:`Features`.
    """

    path: Path
    X: Any
    table: Table | None
    columns: tuple[str, ...] | None
    id_column: str | None = None
    ids: Sequence[str] | None = None
    ids_path: Path | None = None
    origin: tuple[str | None, tuple[str, ...], str | None] = (None, (), None)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns; None for a single column of lists."""
        is_list = self.table is not None and self.columns and _is_list(self.table, self.columns)
        return None if is_list else self.columns

    @property
    def table_and_columns(self) -> tuple[Table, tuple[str, ...]]:
        assert self.table is not None
        assert self.columns is not None
        return self.table, self.columns

    @property
    def n_rows(self) -> int:
        if self.table is None:
            return int(self.X.shape[0])
        column = self.table.columns[0]
        return sum(len(piece[column]) for piece in self.table.pieces(others=[column]))

    def kept(self, rows: Bools | None) -> Any:
        """Return the ``rows`` of X that are kept; None if X is in a table."""
        if self.X is None or rows is None:
            return self.X
        refuse_other_length(self.path, rows, self.n_rows)
        return self.X if rows.all() else self.X[rows]

    def blocks(
        self, n_rows: int, rows: Bools | None = None, kept: Any = None
    ) -> Iterator[tuple[Sequence[str], Any]]:
        """Yield ids and checked matrices of at most ``n_rows`` rows, of which ``rows`` are kept.

        ``kept`` are these rows of X, if it is no table.
        """
        place = self.table.place if self.table is not None else "row {}".format
        rest = map(str, itertools.count()) if self.ids is None else iter(self.ids)
        if rows is not None:
            rest = itertools.compress(rest, rows)
        row = 0
        pieces: Iterable[tuple[list[str] | None, Any]] = [(None, self.X if kept is None else kept)]
        if self.table is not None and self.columns is not None:
            pieces = _matrices(self.table, self.id_column, self.columns, _TURN, rows=rows)
        for piece_ids, piece in pieces:
            for start in range(0, piece.shape[0], n_rows):
                block = piece[start : start + n_rows]
                count = block.shape[0]
                numbers = _numbers(rows, row, row + count)
                _refuse_gaps(block, self.path, self.feature_names, place, numbers)
                ids = (
                    list(itertools.islice(rest, count))
                    if piece_ids is None
                    else piece_ids[start : start + count]
                )
                if len(ids) < count:
                    raise self.other_count("more")
                yield ids, block
                row += count
        if row == 0:
            raise fault(self.path, "there are no rows; add one for each item")
        if self.ids is not None and rows is None and row < len(self.ids):
            raise self.other_count(row)

    def refuse_repeated_ids(self, ids: Sequence[str]) -> None:
        """Refuse ids of a table or an archive that occur twice; a file of ids is checked before."""
        if self.table is not None and self.id_column is not None:
            refuse_repeated(self.path, ids, self.table.place)
        elif self.ids is not None and self.ids_path is None:
            refuse_repeated(self.path, ids, "row {}".format)

    def other_count(self, n_rows: object) -> DatasetFormatError:
        return fault(
            self.ids_path or self.path,
            f"has {len(self.ids or ())} ids, but {self.path} has {n_rows} rows; give one for each",
        )


def _open(
    path: StrPath, items: StrPath | None, name_column: str | None, n_features: int | None
) -> _Source:
    file = existing("path", path)
    ids_path = None if items is None else as_path("items", items)
    ids = None if items is None else read_lines("items", items, "item")
    ending = ending_of(file, _ARRAYS)
    if ending:
        return _open_array(file, ending, ids, ids_path, n_features)
    table = Table.open(file, "files of features", endings=(*_ARRAYS, *TABLE_ENDINGS))
    columns = list(table.columns)
    if name_column in columns:
        if ids is not None:
            raise InputError(
                f"{file} has ids in its column {name_column!r}, but {setting('items')} gives"
                " others; leave it out, or rename the column if it is a feature (or give"
                " name_column=None in Python)",
                parameter="items",
            )
        columns.remove(name_column)
    elif name_column is not None and ids is None:
        raise fault(
            file,
            f"there is no column {name_column!r} that names the items, only {some_of(columns)};"
            " rename the column that does (or give name_column in Python), or name the items with"
            f" {setting('items')}, a file with one on each line",
        )
    if not columns:
        raise fault(file, "there are no features, only ids; add columns of numbers")
    id_column = name_column if name_column in table.columns else None
    notes = (table.schema.metadata if table.schema is not None else None) or {}
    recipe = notes.get(RECIPE_KEY, b"").decode("utf-8", "replace") or None
    with explained(file, "write the table again"):
        made_of = tuple(map(str, json.loads(notes.get(MADE_OF_KEY, b"[]"))))
    network = notes.get(NETWORK_KEY, b"").decode("utf-8", "replace") or None
    origin = recipe, made_of, network
    return _Source(file, None, table, tuple(columns), id_column, ids, ids_path, origin)


def _open_array(
    path: Path, ending: str, ids: list[str] | None, ids_path: Path | None, n_features: int | None
) -> _Source:
    columns = None
    words: dict[str, str] = {}
    made_of: tuple[str, ...] = ()
    if ending == ".npy":
        X: Any = read_npy(path)
    elif ending == ".npz":
        parts = (f"{prefix}{part}" for prefix in ("", "X_") for part in CSR_PARTS)
        arrays = read_arrays(path, ["X", *parts, "format", *_NAMED])
        X = matrix_of(path, arrays, "X")
        if "items" in arrays:
            if ids is not None:
                raise InputError(
                    f"{path} already names its items; leave out {setting('items')}",
                    parameter="items",
                )
            ids = as_texts(path, "items", arrays["items"], X.shape[0] if X.ndim else 0)
        for name in {"recipe", "network"} & {*arrays}:
            (words[name],) = as_texts(path, name, arrays[name].reshape(-1), 1)
        if "made_of" in arrays:
            texts = arrays["made_of"].reshape(-1)
            made_of = tuple(as_texts(path, "made_of", texts, len(texts)))
        if "feature_names" in arrays:
            count = X.shape[-1] if X.ndim else 0
            columns = tuple(as_texts(path, "feature_names", arrays["feature_names"], count))
    else:
        X, _ = read_svmlight_parts([path], n_features, labelled=False)
    origin = words.get("recipe"), made_of, words.get("network")
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise fault(
            path,
            f"found an array of shape {X.shape} and type {str(X.dtype)[:60]}; give a matrix of"
            " numbers with a row for each item",
        )
    return _Source(path, as_float(X), None, columns, None, ids, ids_path, origin)


def _matrices(
    table: Table,
    ids: str | None,
    columns: Sequence[str],
    advice: str,
    group: int | None = None,
    rows: Bools | None = None,
) -> Iterator[tuple[list[str] | None, AnyArray]]:
    """Yield ids and matrices (n, d), float32 if that holds all numbers, else float64."""
    texts = [] if ids is None else [ids]
    lists = _is_list(table, columns)
    needs: Any = {"others": columns} if lists else {"numbers": columns, "advice": advice}
    row, width = 0, None
    for piece in table.pieces(texts, group=group, rows=rows, **needs):
        numbers = _numbers(rows, row, row + len(piece[columns[0]]))
        if lists:
            block = _of_lists(table, columns[0], piece[columns[0]], numbers, width, advice)
            width = block.shape[1]
        else:
            block = np.column_stack([piece[n].to_numpy(zero_copy_only=False) for n in columns])
        yield None if ids is None else _named(table, ids, piece, numbers), block
        row += len(block)


def _numbers(rows: Bools | None, start: int, stop: int) -> Ints:
    """Return the numbers in a file of some of the rows that are kept; by default, all are."""
    return np.arange(start, stop) if rows is None else np.flatnonzero(rows)[start:stop]


def _named(table: Table, id_column: str, piece: Mapping[str, Any], rows: Ints) -> list[str]:
    """Return the ids of a piece with these rows; refuse blanks."""
    ids: list[Any] = piece[id_column].to_pylist()
    blank = [at for at, each in enumerate(ids) if each is None or not each.strip()]
    if blank:
        problem = f"{id_column!r} is blank; give the item of the row, or leave the row out"
        raise table.refuse(int(rows[blank[0]]), problem)
    return [*map(tidy, ids)]


def _is_list(table: Table, columns: Sequence[str]) -> bool:
    of_parquet = table.schema is not None and len(columns) == 1
    return of_parquet and is_list(table.schema.field(columns[0]).type)


def _of_lists(
    table: Table, name: str, values: Any, rows: Ints, width: int | None, advice: str
) -> AnyArray:
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if width is None and len(lengths) else width
    uneven = (lengths != width) | (lengths == 0)
    if uneven.any():
        raise table.refuse(
            int(rows[np.argmax(uneven)]),
            f"the list in column {name!r} is empty or has another length than the first; give each"
            " row the same number of values",
        )
    kind = table.kind_of({name: values.type.value_type}, advice)
    flat = pc.cast(values.flatten(), kind, safe=False)
    matrix: AnyArray = flat.to_numpy(zero_copy_only=False).reshape(len(lengths), width or 0)
    return matrix


def _refuse_gaps(
    block: Any, path: Path, names: Sequence[str] | None, place: Callable[[int], str], rows: Ints
) -> None:
    """Refuse NaN and infinite numbers; the message names the first one, in one of ``rows``."""
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
    raise fault(
        f"{path}, {place(int(rows[row]))}",
        f"column {called} is {what}; fill it in, or leave the row out",
    )
