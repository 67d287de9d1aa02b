"""Features of items, and what the rows are called, from a file of any usual format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from complabel._parameters import check_integer
from complabel.tables._feature_sources import FeatureSource, open_features
from complabel.tables._names import as_items
from complabel.tables._source import StrPath


@dataclass(frozen=True, eq=False)
class Features:
    """Features of items, and what the rows are called.

    Attributes
    ----------
    X : ndarray or sparse.csr_array of shape (n, d), dtype float32 or float64
        Of a ``.npy`` file, an array on disk (``numpy.memmap``).
    items : ndarray of shape (n,), dtype object
        What the rows are called, as str; their numbers as text, if the file does not say.
    feature_names : tuple of str, or None
        What the columns are called, if the file says.
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
    r"""Read the features of items, and what the items are called.

    Parameters
    ----------
    path : path
        What the file is, its ending tells:

        - ``.npy``: an array (n, d). It stays on disk, and is read where it is needed.
        - ``.npz``: an array ``X``, or the parts of a CSR matrix, ``X_data``, ``X_indices``,
          ``X_indptr`` and ``X_shape``, and if there are any ``items`` and ``feature_names``; or
          what ``scipy.sparse.save_npz`` wrote.
        - ``.csv``, ``.tsv``, also ``.gz``: a header, a column of ids, and else numbers.
        - ``.parquet``: the same, or a column of ids and one of lists of numbers.
        - ``.svm``, ``.svmlight``, ``.libsvm``: svmlight text, whose labels are ignored. Columns
          are counted from 0 if the index 0 occurs, and else from 1.
    items : path or None, default=None
        A text file with the id of each row, one on each line, if the file has none. Without any,
        the rows are called "0", "1", "2" and so on.
    name_column : str or None, default="item"
        The column of ids in a table. None if there is none.
    n_features : int or None, default=None
        Number of columns of a svmlight file, which does not say; by default up to the largest
        index.

    Returns
    -------
    Features
        float32 stays as it is; smaller types become float32, all others float64.

    Raises
    ------
    DatasetNotFoundError
        If a file is missing.
    DatasetFormatError
        If a file does not parse; if a number is missing, NaN or infinite; if a column holds no
        numbers; if a row has no id, or two rows have the same.
    InputError
        If an argument is of the wrong type, or pyarrow is needed and not installed.

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
        Rows of each piece but the last.

    Yields
    ------
    Features
        Of ``.npz`` and svmlight, the whole is in memory all the same.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError, InputError
        As :func:`read_features` does, but that two rows have the same id is not seen. What is
        wrong with a row is told when its piece is asked for.

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
    """Yield the pieces; a function of its own, so that what is wrong at once is told at once."""
    for ids, X in source.pieces(n_rows):
        yield Features(X, as_items(ids), source.feature_names)
