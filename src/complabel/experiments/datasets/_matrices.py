"""Datasets as matrices: NumPy archives, svmlight text, and MATLAB files of versions 5 to 7.

SciPy reads MATLAB files. It does not limit what they unpack to, so take them from people you trust.
"""

import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from complabel._opening import StrPath, as_path, fault, limit_of, refuse_large
from complabel._parameters import AnyArray, Indicator
from complabel._writing import explained, replacing
from complabel.answers import check_indicator
from complabel.datasets import Features, MultiLabelDataset
from complabel.errors import AnnotationError, InputError
from complabel.files import CSR_PARTS, as_texts, matrix_of, read_arrays, read_svmlight_parts

_OPTIONAL = ("label_names", "feature_names", "groups")
_KNOWN = [
    *(x for name in ("X", "Y", "excluded") for x in (name, *(f"{name}_{p}" for p in CSR_PARTS))),
    *_OPTIONAL,
]
_MOST_NAMES = 1 << 24  # a small file can declare any number of columns


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
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.experiments.datasets import load_file
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


def _labels(path: Path, name: str, arrays: dict[str, AnyArray]) -> Indicator:
    matrix = matrix_of(path, arrays, name)
    refuse_large(path, f"{name} as a dense matrix", math.prod(matrix.shape), limit_of(path))
    return check_indicator(matrix, name=name)


def _names(path: Path, kind: str, arrays: dict[str, AnyArray], count: int) -> tuple[str, ...]:
    given = arrays.get(f"{kind}_names")
    if given is None:
        return numbered(kind, count)
    return tuple(as_texts(path, f"{kind}_names", given, count))


def numbered(kind: str, count: int, first: int = 0) -> tuple[str, ...]:
    """Return names of columns that have none; refuse so many that they would fill the memory."""
    if count > _MOST_NAMES:
        raise InputError(f"there are {count:,} {kind}s, more than {_MOST_NAMES:,}; give fewer")
    return tuple(f"{kind}_{at}" for at in range(first, count + first))


def read_svmlight(paths: Sequence[Path], name: str, n_features: int | None) -> MultiLabelDataset:
    """Read multi-label svmlight text, plain, .bz2 or .gz, from parts that are stacked in order.

    The labels are the numbers that occur in the file, and these are their names. ``n_features`` is
    by default the largest index in the file.
    """
    X, per_row = read_svmlight_parts(paths, n_features)
    labels = np.fromiter(chain.from_iterable(per_row), np.float64).astype(np.int64)
    for what, count in (("feature", X.nnz or n_features), ("label", labels.size)):
        if not count:
            raise fault(paths[0], f"no row has a {what}; expected 'label,label index:value ...'")
    numbers, columns = np.unique(labels, return_inverse=True)
    Y = np.zeros((X.shape[0], len(numbers)), dtype=np.uint8)
    Y[np.repeat(np.arange(len(per_row)), list(map(len, per_row))), columns] = 1
    return MultiLabelDataset(
        name=name,
        X=X,
        Y=Y,
        label_names=tuple(map(str, numbers.tolist())),
        feature_names=numbered("feature", X.shape[1], first=1),
    )


# If at most this share of the values is not 0, computing with a sparse matrix is faster.
_MOST_NONZERO = 0.1
_LAYOUTS = (("data", "target", "partial_labels"), ("X", "Y", "excluded"))


def read_mat(file: Path, name: str, *, with_candidates: bool = False) -> MultiLabelDataset:
    """Read a MATLAB file up to version 7, with dense or sparse matrices, in one of two layouts.

    Files of partial multi-label data (M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning",
    AAAI 2018) have the features ``data`` (n, d); ``target`` (K, n), 1 where a label is truly
    relevant; ``partial_labels`` (K, n), 1 where it is a candidate. The rules and people that chose
    the candidates make mistakes, so a label may be both excluded and relevant. Other files have
    ``X`` (n, d), ``Y`` (n, K) and ``excluded`` (n, K). The last matrix may be missing, unless the
    file must be ``with_candidates``. X is a csr_array if it is sparse, or mostly zeros.
    """
    try:
        found = io.loadmat(file, appendmat=False, variable_names=[*_LAYOUTS[0], *_LAYOUTS[1]])
    except Exception as cause:  # SciPy raises errors of many kinds
        told = f"SciPy cannot read it as a MATLAB file ({cause}); get it again, or save it in"
        raise fault(file, f"{told} MATLAB with save(..., '-v7')") from cause
    layouts = [each for each in _LAYOUTS if found.keys() >= {*each[: 3 if with_candidates else 2]}]
    if len(layouts) != 1:
        there = ", ".join(each for each in found if not each.startswith("__")) or "none of them"
        expected = ", or ".join(", ".join(each[:2]) for each in _LAYOUTS)
        expected += ", and also partial_labels" * with_candidates
        raise fault(file, f"found the variables {there}; expected {expected}")
    features, target, third = layouts[0]
    by_label = features == "data"
    try:
        X = _features_of(features, found[features])
        Y = _labels_of(target, found[target], by_label=by_label)
        excluded = None
        if third in found:
            excluded = _labels_of(third, found[third], by_label=by_label)
            excluded = 1 - excluded if by_label else excluded
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            label_names=numbered("label", Y.shape[1]),
            feature_names=numbered("feature", X.shape[1]),
            excluded=excluded,
        )
    except (AnnotationError, InputError) as cause:
        told = " (data has a row for each instance, target and partial_labels a column)" * by_label
        raise fault(file, f"{cause}{told}") from cause


def _features_of(name: str, values: Any) -> Features:
    """Return the features as float64; sparse if they are sparse already or mostly zeros."""
    if values.dtype.kind not in "biuf":
        raise InputError(f"{name} has the type {values.dtype}; give a matrix of real numbers")
    if not isinstance(values, np.ndarray) or (
        np.count_nonzero(values) <= _MOST_NONZERO * values.size
    ):
        found: sparse.csr_array[np.float64, tuple[int, int]]
        found = sparse.csr_array(values).astype(np.float64)
        found.sum_duplicates()
        return found
    return np.ascontiguousarray(values, dtype=np.float64)


def _labels_of(name: str, matrix: Any, *, by_label: bool) -> Indicator:
    if isinstance(matrix, np.ndarray) and matrix.size and np.isin(matrix, (-1, 1)).all():
        matrix = (matrix > 0).astype(np.uint8)  # many files have -1 instead of 0
    return np.ascontiguousarray(check_indicator(matrix.T if by_label else matrix, name=name))
