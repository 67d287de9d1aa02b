"""Features of items and the names of the rows, from files of any usual format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from complabel._parameters import check_integer
from complabel.files._feature_sources import FeatureSource, open_features
from complabel.files._names import as_items
from complabel.files._source import StrPath


@dataclass(frozen=True, eq=False)
class Features:
    """Features of items, with the names of rows and columns.

    Attributes
    ----------
    X : ndarray or sparse.csr_array of shape (n, d), dtype float32 or float64
        The features. From a ``.npy`` file, an array on disk (``numpy.memmap``).
    items : ndarray of shape (n,), dtype object
        Names of the rows, as str. If the file has none, their numbers as text.
    feature_names : tuple of str, or None
        Names of the columns, if the file has some.
    """

    X: Any
    items: NDArray[Any]
    feature_names: tuple[str, ...] | None = None


def read_features(
    path: StrPath,
    *,
    items: StrPath | None = None,
    name_column: str | None = "item",
    n_features: int | None = None,
) -> Features:
    r"""Read the features of items, and the names of the items.

    Parameters
    ----------
    path : path
        The file. Its ending determines the format:

        - ``.npy``: an array (n, d). It stays on disk, and only the needed parts are read.
        - ``.npz``: an array ``X``, or the parts of a CSR matrix: ``X_data``, ``X_indices``,
          ``X_indptr`` and ``X_shape``. It may also have ``items`` and ``feature_names``. Or a file
          that ``scipy.sparse.save_npz`` wrote.
        - ``.csv``, ``.tsv``, also with ``.gz``: a header, a column of ids, and columns of numbers.
        - ``.parquet``: the same, or a column of ids and a column with lists of numbers.
        - ``.svm``, ``.svmlight``, ``.libsvm``: svmlight text; its labels are ignored. Columns are
          counted from 0 if the index 0 occurs, else from 1.
    items : path or None, default=None
        A text file with the id of each row, one on each line, if the file of features has no ids.
        Without ids, the rows are called "0", "1", "2" and so on.
    name_column : str or None, default="item"
        Name of the column of ids in a table; None if the table has no such column.
    n_features : int or None, default=None
        Number of columns of a svmlight file, which does not contain it. By default, the largest
        index determines it.

    Returns
    -------
    Features
        Numbers of type float32 or smaller types become float32, all others float64.

    Raises
    ------
    DatasetNotFoundError
        If a file is missing.
    DatasetFormatError
        If a file cannot be parsed; if a number is missing, NaN or infinite; if a column does not
        hold numbers; if a row has no id, or two rows have the same id.
    InputError
        If an argument has a wrong type, or pyarrow is needed but not installed.

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
    source = open_features(path, items, name_column, n_features)
    ids, X = source.whole()
    return Features(X, as_items(ids), source.feature_names)


def iterate_features(
    path: StrPath,
    *,
    items: StrPath | None = None,
    name_column: str | None = "item",
    n_features: int | None = None,
    n_rows: int = 65_536,
) -> Iterator[Features]:
    """Read features in pieces, for a file that is larger than the memory.

    Parameters
    ----------
    path, items, name_column, n_features
        As for :func:`read_features`.
    n_rows : int, default=65536
        Number of rows of each piece; the last one may have fewer.

    Yields
    ------
    Features
        The next rows. ``.npz`` and svmlight files are still read into memory as a whole.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError, InputError
        As for :func:`read_features`, but repeated ids are not found. Errors in a row are raised
        when its piece is read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "X.npy"
    >>> np.save(path, np.eye(5))
    >>> [piece.items.tolist() for piece in iterate_features(path, n_rows=2)]
    [['0', '1'], ['2', '3'], ['4']]
    """
    check_integer("n_rows", n_rows, at_least=1)
    return _pieces(open_features(path, items, name_column, n_features), int(n_rows))


def _pieces(source: FeatureSource, n_rows: int) -> Iterator[Features]:
    """Yield the pieces; a separate generator, so that wrong arguments are refused at the call."""
    for ids, X in source.pieces(n_rows):
        yield Features(X, as_items(ids), source.feature_names)
