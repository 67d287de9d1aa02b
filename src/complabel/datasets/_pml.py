"""Partial multi-label datasets as MATLAB files: features, candidate labels and true labels."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.annotations import check_indicator
from complabel.datasets._dataset import CSR, Features, MultiLabelDataset
from complabel.datasets._matlab import Matrix, read_matrices
from complabel.datasets._paths import StrPath, as_path, check_options, is_file
from complabel.datasets._reading import BYTES_PER_NAME, MAX_UNPACKED, refuse_large
from complabel.errors import AnnotationError, DatasetFormatError, DatasetNotFoundError, InputError

_VARIABLES = ("data", "partial_labels", "target")
# A dense matrix of more zeros is slower to compute with than a sparse one.
_MOST_NONZERO = 0.1


def read_pml(
    path: StrPath, *, name: str | None = None, max_unpacked: int = MAX_UNPACKED
) -> MultiLabelDataset:
    """Read a partial multi-label dataset from a MATLAB file of versions 5 to 7.

    Parameters
    ----------
    path : path
        Holds ``data`` (n, d), features; ``partial_labels`` (K, n), 1 where a label is a candidate;
        and ``target`` (K, n), 1 where it is truly relevant; each dense or sparse. Other variables
        are not read.
    name : str or None, default=None
        By default the file's name without its ending.
    max_unpacked : int, default=2**30
        The most bytes that the file may unpack to, and each of its matrices take in memory.

    Returns
    -------
    MultiLabelDataset
        ``excluded`` are the labels that are no candidates. Labels and features are numbered from
        0. X is a csr_array where ``data`` is sparse, or at most a tenth of it differs from zero.

    Raises
    ------
    DatasetNotFoundError
        If the file is missing or cannot be read.
    DatasetFormatError
        If it does not parse or unpack, is of MATLAB 7.3 or 4, lacks a variable, or holds matrices
        that do not fit together.
    InputError
        If an argument is of the wrong type.

    Notes
    -----
    A true label may be missing among the candidates, as the rules and people that chose them err.
    It is excluded then, and relevant all the same.

    Source: Xie and Huang, "Partial Multi-Label Learning", AAAI 2018, for the task; the layout is
    that of the files at https://palm.seu.edu.cn/zhangml/Resources.htm.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scipy.io import savemat
    >>> path = Path(tempfile.mkdtemp()) / "toy.mat"
    >>> candidates, target = [[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 1], [0, 1]]
    >>> savemat(path, {"data": np.eye(2), "partial_labels": candidates, "target": target})
    >>> read_pml(path).excluded
    array([[0, 0, 1],
           [1, 0, 0]], dtype=uint8)
    """
    check_options(max_unpacked, name=name)
    file = as_path("path", path)
    if not is_file(file):
        raise DatasetNotFoundError(f"{file}: no such file; check the path")
    found = read_matrices(file, _VARIABLES, max_unpacked)
    try:
        _check_shapes(found)
        X = _features(found["data"], max_unpacked)
        candidates = _labels("partial_labels", found["partial_labels"], max_unpacked)
        Y = _labels("target", found["target"], max_unpacked)
        for kind, count in (("label", Y.shape[1]), ("feature", X.shape[1])):
            refuse_large(f"{count:,} {kind} names", BYTES_PER_NAME * count, max_unpacked)
        return MultiLabelDataset(
            name=file.stem if name is None else name,
            X=X,
            Y=Y,
            label_names=tuple(f"label_{i}" for i in range(Y.shape[1])),
            feature_names=tuple(f"feature_{i}" for i in range(X.shape[1])),
            excluded=1 - candidates,
        )
    except (AnnotationError, InputError) as cause:
        raise DatasetFormatError(f"{file}: {cause}") from cause


def _check_shapes(found: Mapping[str, Matrix]) -> None:
    """Refuse labels that do not fit the features, or each other."""
    n_rows, n_labels = found["data"].shape[0], found["target"].shape[0]
    for name in _VARIABLES[1:]:
        if found[name].shape != (n_labels, n_rows):
            raise InputError(
                f"{name} has shape {found[name].shape}; data has {n_rows} rows and target "
                f"{n_labels}: give a row for each label and a column for each row of data"
            )


def _features(data: Matrix, limit: int) -> Features:
    """Return the features as float64, sparse where they are mostly zeros."""
    if not isinstance(data, np.ndarray) or np.count_nonzero(data) <= _MOST_NONZERO * data.size:
        found: CSR = sparse.csr_array(data).astype(np.float64)
        found.sum_duplicates()
        return found
    refuse_large("data as float64", 8 * data.size, limit)
    return np.ascontiguousarray(data, dtype=np.float64)


def _labels(name: str, matrix: Matrix, limit: int) -> NDArray[np.uint8]:
    """Return labels as a dense indicator with a row for each instance."""
    refuse_large(f"{name} as a dense matrix", math.prod(matrix.shape), limit)
    return np.ascontiguousarray(check_indicator(matrix.T, name=name))
