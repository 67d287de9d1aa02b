"""Masks: sparse 0/1 matrices with a row for each answer, and operations on them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.answers._indicator import IndicatorLike, check_indicator
from complabel.errors import AnnotationError

Mask: TypeAlias = "sparse.csr_array[np.uint8, tuple[int, int]]"


def read_mask(values: IndicatorLike, name: str) -> Mask:
    """Copy a 0/1 matrix into a CSR array without explicit zeros."""
    if not sparse.issparse(values):
        return as_mask(check_indicator(values, name=name))
    given: Any = values
    if len(given.shape) != 2:
        raise AnnotationError(f"{name} has shape {given.shape}; give a matrix (n_answers, K)")
    entries = given.tocoo(copy=True)
    entries.sum_duplicates()
    valid = (entries.data == 0) | (entries.data == 1)
    if not valid.all():
        at = int(np.argmin(valid))
        raise AnnotationError(
            f"{name} holds {entries.data[at]} at row {entries.row[at]}, label {entries.col[at]}; "
            "every entry must be 0 or 1"
        )
    return as_mask(entries.astype(np.uint8))


def as_mask(values: Any) -> Mask:
    """Return a matrix as a mask: a CSR array with sorted indices and no explicit zeros."""
    mask: Any = sparse.csr_array(values, dtype=np.uint8)
    mask.sum_duplicates()
    mask.eliminate_zeros()
    found: Mask = mask
    return found


def mask_of(rows: NDArray[np.intp], labels: NDArray[np.intp], shape: tuple[int, int]) -> Mask:
    """Return the mask with marks at (rows, labels); marks may be given more than once."""
    keys = np.unique(rows.astype(np.int64) * shape[1] + labels)
    marks = np.ones(len(keys), dtype=np.uint8)
    return as_mask(sparse.coo_array((marks, np.divmod(keys, shape[1])), shape=shape))


def empty_mask(shape: tuple[int, int]) -> Mask:
    """Return a mask without marks."""
    return as_mask(sparse.csr_array(shape, dtype=np.uint8))


def counts_of(mask: Mask) -> NDArray[np.intp]:
    """Return the number of marks of each row, (A,)."""
    return np.diff(mask.indptr).astype(np.intp)


def keep_rows(mask: Mask, rows: NDArray[np.bool_]) -> Mask:
    """Return the mask with only the marks of ``rows``, (A,); the other rows become empty."""
    counts = counts_of(mask)
    kept = np.repeat(rows, counts)
    starts = np.concatenate([[0], np.cumsum(np.where(rows, counts, 0))])
    return as_mask(sparse.csr_array((mask.data[kept], mask.indices[kept], starts), mask.shape))


def spell_out(offered: Mask, rows: NDArray[np.bool_]) -> Mask:
    """Return the offered labels of ``rows``, with all labels listed where a row is empty."""
    n_labels = offered.shape[1]
    unlisted = np.flatnonzero(rows & (counts_of(offered) == 0))
    labels = np.tile(np.arange(n_labels), len(unlisted))
    every = mask_of(np.repeat(unlisted, n_labels), labels, offered.shape)
    return as_mask(keep_rows(offered, rows) + every)


def union(mask: Mask, other: Mask) -> Mask:
    """Return the marks that at least one of the masks has."""
    total = as_mask(mask + other)
    total.data[:] = 1
    return total


def common(mask: Mask, other: Mask) -> Mask:
    """Return the marks that both masks have."""
    return as_mask(mask.multiply(other))


def without(mask: Mask, other: Mask) -> Mask:
    """Return the marks of ``mask`` that ``other`` does not have."""
    return as_mask(mask - mask.multiply(other))
