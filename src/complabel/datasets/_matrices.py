"""Datasets as matrices: NumPy archives, with one array for each part, and svmlight text."""

import math
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel._opening import (
    StrPath,
    StrPaths,
    as_path,
    existing_ones,
    fault,
    limit_of,
    refuse_large,
)
from complabel._parameters import check_integer
from complabel._writing import explained, replacing
from complabel.answers import check_indicator
from complabel.datasets._dataset import Features, MultiLabelDataset, numbered
from complabel.errors import AnnotationError, InputError
from complabel.files import CSR_PARTS, as_texts, matrix_of, read_arrays, read_svmlight_parts

_OPTIONAL = ("label_names", "feature_names", "groups")
_KNOWN = [
    *(
        key
        for name in ("X", "Y", "excluded")
        for key in (name, *(f"{name}_{p}" for p in CSR_PARTS))
    ),
    *_OPTIONAL,
]


def save_file(dataset: MultiLabelDataset, path: StrPath) -> None:
    """Save a dataset as a NumPy archive that ``load_file`` reads.

    Parameters
    ----------
    dataset : MultiLabelDataset
        Its name is not saved; ``load_file`` uses the name of the file.
    path : path
        Must end in ``.npz``. An existing file is replaced.

    Raises
    ------
    InputError
        If the dataset has answers of people, or rows whose true labels are not known: an archive
        cannot store these, tables can.
    OutputError
        If the file cannot be written. What was there before is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from complabel.datasets import load_file, make_synthetic
    >>> path = Path(tempfile.mkdtemp()) / "mine.npz"
    >>> save_file(make_synthetic(50), path)
    >>> load_file(path).Y.shape
    (50, 6)
    """
    target = as_path("path", path)
    if target.suffix.lower() != ".npz":
        raise InputError(f"path is {str(target)!r}; give a name that ends in .npz")
    if dataset.answers is not None or dataset.known is not None:
        raise InputError(
            f"dataset {dataset.name!r} has answers of people, or rows whose true labels are not"
            " known; a .npz file cannot store these: keep its tables and read them with load_tables"
        )
    X = dataset.X
    arrays: dict[str, Any] = {"X": X}
    if not isinstance(X, np.ndarray):
        arrays = {f"X_{part}": getattr(X, part) for part in CSR_PARTS}
    stored = {key: getattr(dataset, key) for key in ("Y", *_OPTIONAL, "excluded")}
    arrays |= {key: np.asarray(part) for key, part in stored.items() if part is not None}
    with explained(target), replacing(target) as partial, partial.open("wb") as out:
        np.savez_compressed(out, **arrays)


def read_npz(path: Path, name: str) -> MultiLabelDataset:
    arrays = read_arrays(path, _KNOWN)
    for key in ("X", "Y"):
        if key in arrays and f"{key}_indptr" in arrays:
            raise fault(path, f"there are both {key} and {key}_indptr; give one of them")
    try:
        X = _features(path, matrix_of(path, arrays, "X"))
        Y = _labels(path, "Y", arrays)
        ruled_out = any(key.startswith("excluded") for key in arrays)
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            label_names=_names(path, "label", arrays, Y.shape[1]),
            feature_names=_names(path, "feature", arrays, X.shape[1]),
            groups=arrays.get("groups"),
            excluded=_labels(path, "excluded", arrays) if ruled_out else None,
        )
    except (AnnotationError, InputError) as cause:
        raise fault(path, str(cause)) from cause


def _features(path: Path, X: Any) -> Features:
    """Return X as float64; long doubles beyond its range become infinite, and are refused."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"X has shape {X.shape} and type {X.dtype}; give a matrix of numbers")
    refuse_large(path, "X as float64", 8 * X.size, 8 * limit_of(path))
    with np.errstate(over="ignore"):
        found: Features = X.astype(np.float64, copy=False)
    return found


def _labels(path: Path, name: str, arrays: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    matrix = matrix_of(path, arrays, name)
    refuse_large(path, f"{name} as a dense matrix", math.prod(matrix.shape), limit_of(path))
    return check_indicator(matrix, name=name)


def _names(path: Path, kind: str, arrays: dict[str, NDArray[Any]], count: int) -> tuple[str, ...]:
    given = arrays.get(f"{kind}_names")
    if given is None:
        return numbered(kind, count)
    return tuple(as_texts(path, f"{kind}_names", given, count))


_MOST_COLUMNS = 2**31 - 1  # the largest 32-bit index


def read_svmlight(
    path: StrPaths, *, n_features: int | None = None, name: str | None = None
) -> MultiLabelDataset:
    """Read a multi-label dataset in svmlight format, plain, .bz2 or .gz, from one file or parts.

    The labels are the numbers that occur in the file, and these are their names. ``n_features`` is
    by default the largest index in the file, which must then be at most 2,000,000, so that one
    wrong index cannot fill the memory with names.
    """
    if n_features is not None:
        check_integer("n_features", n_features, at_least=1)
        if n_features > _MOST_COLUMNS:
            raise InputError(f"n_features is {n_features}; give {_MOST_COLUMNS:,} at most")
    paths = existing_ones("path", path)
    X, per_row = read_svmlight_parts(paths, n_features)
    if n_features is None and X.nnz == 0:
        raise fault(paths[0], "no row has a feature; expected 'label,label index:value ...'")
    rows = np.repeat(np.arange(len(per_row)), list(map(len, per_row)))
    labels = np.fromiter(chain.from_iterable(per_row), np.float64).astype(np.int64)
    if not labels.size:
        raise fault(paths[0], "no row has a label; expected 'label,label index:value ...'")
    numbers, columns = np.unique(labels, return_inverse=True)
    Y = np.zeros((X.shape[0], len(numbers)), dtype=np.uint8)
    Y[rows, columns] = 1
    return MultiLabelDataset(
        name=paths[0].name.partition(".")[0] if name is None else name,
        X=X,
        Y=Y,
        label_names=tuple(map(str, numbers.tolist())),
        feature_names=numbered("feature", X.shape[1], first=1),
    )
