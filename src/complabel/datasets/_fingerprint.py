"""Tells whether two datasets in memory hold the same, whatever files they came from."""

import hashlib

import numpy as np
from scipy import sparse

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
    digest = hashlib.sha256()
    X = dataset.X
    arrays = (X,) if isinstance(X, np.ndarray) else _canonical(X)
    groups = () if dataset.groups is None else (dataset.groups.astype(np.int64),)
    for array in (*arrays, dataset.Y, *groups):
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update("\n".join(dataset.label_names).encode())
    return digest.hexdigest()


def _canonical(X: "sparse.csr_array[np.float64, tuple[int, int]]") -> tuple[np.ndarray, ...]:
    """Return CSR's parts in the one form that equal matrices share."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (np.array(X.shape), X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64))
