"""Look for constant features, and for items with equal features and contradicting answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from complabel.answers import pair_rows
from complabel.asking._inspection import FeatureSummary
from complabel.asking._statements import distinct
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.asking._statements import Statements

_CHUNK = 10_000  # rows hashed at a time, which limits the memory for their bits


def look_at_features(X: ArrayLike, statements: Statements) -> FeatureSummary:
    """Count constant features, and items whose features are all equal to another item's."""
    X = pair_rows(statements.answers, X, names=("answers", "X"))
    features = _checked(X, statements.answers.n_items)
    key, constant = _keys(features, sparse.issparse(X))
    _, group, size = np.unique(key, return_inverse=True, return_counts=True)
    K = statements.answers.n_labels
    of_group = group[statements.answers.item[statements.answer]] * K + statements.label
    # Contradictions within one item are counted elsewhere, so they are left out here.
    shared = np.intersect1d(
        distinct(of_group[statements.yes]), distinct(of_group[~statements.yes]), assume_unique=True
    )
    item, label = np.divmod(statements.contradicted, K)
    groups = distinct(np.setdiff1d(shared, group[item] * K + label) // K)
    return FeatureSummary(
        n_features=int(features.shape[1]),
        n_constant=constant,
        n_same=int(size[size > 1].sum()),
        n_contradicting=int(size[groups].sum()),
    )


def _checked(X: ArrayLike, n_items: int) -> Any:
    """Return features as finite float64, dense or CSR, or raise an InputError."""
    features: Any
    if sparse.issparse(X):
        features = sparse.csr_array(X, dtype=np.float64)
        features.sum_duplicates()
        features.eliminate_zeros()
    else:
        try:
            features = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"X must hold numbers only ({error})") from error
    if features.ndim != 2 or features.shape[0] != n_items:
        raise InputError(
            f"X has shape {features.shape}, but the answers are about {n_items} items; give a"
            " matrix with one row for each item, in the same order"
        )
    is_sparse = sparse.issparse(X)
    values = features.data if is_sparse else features
    finite = np.isfinite(values)
    if not finite.all():
        if is_sparse:
            row = int(np.searchsorted(features.indptr, np.argmin(finite), side="right")) - 1
        else:
            row = int(np.argmin(finite.all(axis=1)))
        raise InputError(
            f"row {row} of X holds NaN or infinity ({np.count_nonzero(~finite):,} values in all);"
            " fill them in, or leave these rows out with their answers"
        )
    return features


def _keys(features: Any, is_sparse: bool) -> tuple[NDArray[np.uint64], int]:
    """Return a hash of each row, (n,), and the number of constant columns.

    Equal rows have equal hashes. A hash is the sum of the values' bits times random numbers,
    modulo 2^64. Integer sums are exact in any order, sums of floats are not.
    """
    n, d = features.shape
    random = np.random.default_rng(0).integers(1, 2**63, size=d, dtype=np.uint64)
    if is_sparse:
        bits = _mixed(features.data) * random[features.indices]
        total = np.concatenate([[np.uint64(0)], np.cumsum(bits, dtype=np.uint64)])
        key = total[features.indptr[1:]] - total[features.indptr[:-1]]
        low, high = (
            np.asarray(each.toarray()).ravel()
            for each in (features.min(axis=0), features.max(axis=0))
        )
        return key, int((low == high).sum())
    key = np.empty(n, dtype=np.uint64)
    for start in range(0, n, _CHUNK):
        part = np.ascontiguousarray(features[start : start + _CHUNK] + 0.0)  # -0.0 becomes 0.0
        key[start : start + _CHUNK] = _mixed(part) @ random
    constant = (features == features[:1]).all(axis=0) if n else np.ones(d, dtype=np.bool_)
    return key, int(constant.sum())


def _mixed(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the bits of floats, mixed: the low bits of short numbers such as 0.5 are all 0."""
    bits = values.view(np.uint64)
    return np.asarray(bits ^ (bits >> np.uint64(51)) ^ (bits >> np.uint64(29)))
