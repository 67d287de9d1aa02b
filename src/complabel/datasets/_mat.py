"""Read datasets from MATLAB files, in the two usual layouts."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.answers import check_indicator
from complabel.datasets._dataset import CSR, Features, MultiLabelDataset
from complabel.datasets._matlab import Matrix, read_matrices
from complabel.datasets._reading import BYTES_PER_NAME, refuse_large
from complabel.errors import AnnotationError, DatasetFormatError, InputError

# If at most this share of the values is not 0, computing with a sparse matrix is faster.
_MOST_NONZERO = 0.1


def read_mat(file: Path, name: str, limit: int) -> MultiLabelDataset:
    """Read ``data``, ``target`` and ``partial_labels``, or ``X``, ``Y`` and ``excluded``.

    The first layout is usual for partial multi-label data: each label has a row. The second
    layout is that of a ``.npz`` archive. The last matrix of each may be missing.
    """
    layouts = [("data", "target"), ("X", "Y")]
    found = read_matrices(file, layouts, limit, others=("partial_labels", "excluded"))
    return mat_dataset(file, found, name, limit)


def mat_dataset(
    file: Path, found: Mapping[str, Matrix], name: str, limit: int
) -> MultiLabelDataset:
    """Make a dataset from the matrices of a file."""
    try:
        if "data" in found:
            _check_shapes(found)
            X = _features("data", found["data"], limit)
            Y, candidates = (_labels(key, found, limit, 1) for key in ("target", "partial_labels"))
            excluded = None if candidates is None else 1 - candidates
        else:
            X = _features("X", found["X"], limit)
            Y, excluded = (_labels(key, found, limit, 0) for key in ("Y", "excluded"))
        assert Y is not None  # read_matrices demands it in every layout
        for kind, count in (("label", Y.shape[1]), ("feature", X.shape[1])):
            refuse_large(f"{count:,} {kind} names", BYTES_PER_NAME * count, limit)
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            label_names=tuple(f"label_{i}" for i in range(Y.shape[1])),
            feature_names=tuple(f"feature_{i}" for i in range(X.shape[1])),
            excluded=excluded,
        )
    except (AnnotationError, InputError) as cause:
        raise DatasetFormatError(f"{file}: {cause}") from cause


def _check_shapes(found: Mapping[str, Matrix]) -> None:
    """Refuse label matrices whose shapes do not fit the features or each other."""
    n_rows, n_labels = found["data"].shape[0], found["target"].shape[0]
    for name in ("partial_labels", "target"):
        if name in found and found[name].shape != (n_labels, n_rows):
            raise InputError(
                f"{name} has shape {found[name].shape}; data has {n_rows} rows and target "
                f"{n_labels} rows: give a row for each label and a column for each row of data"
            )


def _features(name: str, values: Matrix, limit: int) -> Features:
    """Return the features as float64; sparse if they are sparse already or mostly zeros."""
    if not isinstance(values, np.ndarray) or (
        np.count_nonzero(values) <= _MOST_NONZERO * values.size
    ):
        found: CSR = sparse.csr_array(values).astype(np.float64)
        found.sum_duplicates()
        return found
    refuse_large(f"{name} as float64", 8 * values.size, limit)
    return np.ascontiguousarray(values, dtype=np.float64)


def _labels(
    name: str, found: Mapping[str, Matrix], limit: int, axis: int
) -> NDArray[np.uint8] | None:
    """Return labels as a dense indicator (n, K); ``axis`` is the axis of the instances."""
    matrix = found.get(name)
    if matrix is None:
        return None
    refuse_large(f"{name} as a dense matrix", math.prod(matrix.shape), limit)
    if isinstance(matrix, np.ndarray) and matrix.size and np.isin(matrix, (-1, 1)).all():
        matrix = (matrix > 0).astype(np.uint8)  # many files have -1 instead of 0
    return np.ascontiguousarray(check_indicator(matrix.T if axis else matrix, name=name))
