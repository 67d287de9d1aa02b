"""Sparse features in the one form that all of SciPy and scikit-learn reads alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from complabel.errors import InputError


def canonical_csr(X: Any) -> Any:
    """Return CSR features sorted, without duplicates and zeros; dense ones as they are.

    Some routines read only the last of several entries for one place, some mend the matrix they
    are given, in place, and some refuse indices of 64 bits. The arrays of ``X`` never change:
    what has to be mended is copied first.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Finite, of floating type.

    Returns
    -------
    ndarray or CSR array of shape (n_samples, n_features)
        CSR with indices of 32 bits where they suffice.

    Raises
    ------
    InputError
        If entries for one place add up to more than their type can hold.
    """
    if not sparse.issparse(X):
        return X
    return _with_short_indices(_tidied(X))


def _tidied(X: Any) -> Any:
    """Return a CSR array sorted, without duplicates and zeros: itself, or a copy."""
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()
        X.sum_duplicates()
        _refuse_overflow(X)
        X.eliminate_zeros()
    return X


def _with_short_indices(X: Any) -> Any:
    """Return a CSR array with indices of 32 bits, where they suffice."""
    if X.indices.dtype != np.int32 and max(*X.shape, X.nnz) <= np.iinfo(np.int32).max:
        narrow = type(X)(X.shape, dtype=X.dtype)
        narrow.data = X.data
        narrow.indices, narrow.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return narrow
    return X


def _refuse_overflow(X: Any) -> None:
    """Refuse sums of duplicate entries that are infinite."""
    if np.isfinite(X.data).all():
        return
    entries = X.tocoo()
    at = np.flatnonzero(~np.isfinite(entries.data))[0]
    raise InputError(
        f"X has several entries for row {entries.row[at]}, column {entries.col[at]}, whose sum"
        " overflows: give one entry for each place, and scale the features"
    )
