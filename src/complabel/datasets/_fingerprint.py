"""Tells whether two datasets in memory hold the same, whatever files they came from."""

import hashlib
from typing import Any

import numpy as np

from complabel.datasets._dataset import MultiLabelDataset


def dataset_fingerprint(dataset: MultiLabelDataset) -> str:
    """Return a checksum of everything a method or a table can see of a dataset.

    Parameters
    ----------
    dataset : MultiLabelDataset

    Returns
    -------
    str
        SHA-256, hexadecimal, of features, relevant labels, label names and groups, as they are
        after preprocessing. Feature names do not count.

    Examples
    --------
    >>> from complabel.datasets import load_dataset
    >>> dataset_fingerprint(load_dataset("synthetic")) == dataset_fingerprint(
    ...     load_dataset("synthetic", random_state=1)
    ... )
    False
    """
    X = dataset.X
    arrays: list[Any] = [X]
    if not isinstance(X, np.ndarray):
        X = X.copy()
        X.sum_duplicates()  # the one form that equal matrices share
        arrays = [np.array(X.shape), X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)]
    arrays.append(dataset.Y)
    if dataset.groups is not None:
        arrays.append(dataset.groups.astype(np.int64))
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update("\n".join(dataset.label_names).encode())
    return digest.hexdigest()
