"""Indicator matrices (0/1): read them, and masks, sparse ones with a row for each answer."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from complabel._parameters import AnyArray, Bools, Indicator, Ints
from complabel.errors import AnnotationError

IndicatorLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""Types of a 0/1 matrix: nested lists, an array, a data frame, a sparse matrix."""

Mask: TypeAlias = "sparse.csr_array[np.uint8, tuple[int, int]]"

MAX_NAMED = 5
"""How many rows or names a message lists before it only counts them."""


def check_indicator(values: IndicatorLike, *, name: str = "indicator") -> Indicator:
    """Return a matrix of zeros and ones of any type as a dense 0/1 array, (n, K) uint8.

    An array of uint8 is returned itself. Errors call the matrix ``name``.
    """
    if sparse.issparse(values):
        # The dense array is made in uint8, an eighth of the memory of float64.
        return np.asarray(read_mask(values, name).toarray())
    entries = _as_numbers(values, name)
    _check_entries(entries, entries.shape, name, np.unravel_index)
    dense: Indicator = entries.astype(np.uint8, copy=False)
    return dense


def read_mask(values: IndicatorLike, name: str) -> Mask:
    if not sparse.issparse(values):
        return as_mask(check_indicator(values, name=name))
    given: Any = values.tocoo(copy=True)
    if len(given.shape) == 2:
        given.sum_duplicates()
    _check_entries(given.data, given.shape, name, lambda at, _: tuple(x[at] for x in given.coords))
    return as_mask(given.astype(np.uint8))


def _check_entries(entries: AnyArray, shape: Any, name: str, place_of: Any) -> None:
    """Refuse a matrix that is not 2-D, or whose entries are not all 0 or 1."""
    if len(shape) != 2:
        raise AnnotationError(
            f"{name} has shape {shape}; give a matrix (n_samples, n_labels) of zeros and ones; "
            "indicator_from_indices makes one from label numbers"
        )
    valid = (entries == 0) | (entries == 1)
    if not valid.all():
        at = int(np.argmin(valid))
        row, label = place_of(at, shape)
        found = entries.ravel()[at]
        gap = "; give 0 if there is no answer" if np.isnan(found) else ""
        raise AnnotationError(
            f"{name} holds {found} at row {row}, label {label}; every entry must be 0 or 1{gap}"
        )


def name_some(positions: Ints, noun: str) -> str:
    """List the first positions and count all: 'row 4' or 'rows 1, 2 (2 in all)'."""
    if len(positions) == 1:
        return f"{noun} {positions[0]}"
    shown = ", ".join(str(position) for position in positions[:MAX_NAMED])
    dots = ", ..." if len(positions) > MAX_NAMED else ""
    return f"{noun}s {shown}{dots} ({len(positions)} in all)"


def _as_numbers(values: Any, name: str) -> AnyArray:
    try:
        array = np.asarray(values)
        if array.dtype == object:
            array = array.astype(np.float64)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it holds values of type {array.dtype}")
    except AnnotationError:  # Answers, which say why they are no array
        raise
    except (TypeError, ValueError) as error:
        found = _uneven_rows(values) or _first_that_is_no_number(values) or error
        raise AnnotationError(
            f"{name} is not a matrix of numbers: {found}; give zeros and ones, or make an "
            "indicator with indicator_from_indices or indicator_from_names"
        ) from error
    return array


def _first_that_is_no_number(values: Any) -> str | None:
    """Return words for the first entry that is not a number, with its place; None if all are."""
    try:
        entries = np.asarray(values, dtype=object)
    except ValueError:  # arrays of different shapes in a list
        return None
    for place, entry in np.ndenumerate(entries):
        if not isinstance(entry, (bool, int, float, np.bool_, np.integer, np.floating)):
            at = ", label ".join(map(str, place))
            return f"it holds {entry!r}" + (f" at row {at}" if at else "")
    return None


def _uneven_rows(values: Any) -> str | None:
    """Return words for two rows of different length; None if all rows have the same length."""
    rows = values if isinstance(values, (list, tuple)) or getattr(values, "ndim", 0) == 1 else []
    sizes = [len(row) if isinstance(row, Sized) and not isinstance(row, str) else 0 for row in rows]
    for position, size in enumerate(sizes):
        if size != sizes[0]:
            first, here = (f"{n} {'entry' if n == 1 else 'entries'}" for n in (sizes[0], size))
            return f"row 0 has {first} and row {position} has {here}"
    return None


def as_mask(values: Any) -> Mask:
    """Return a matrix as a mask: a CSR array with sorted indices and no explicit zeros."""
    mask: Any = sparse.csr_array(values, dtype=np.uint8)
    mask.sum_duplicates()
    mask.eliminate_zeros()
    found: Mask = mask
    return found


def mask_of(rows: Ints, labels: Ints, shape: tuple[int, int]) -> Mask:
    """Return the mask with marks at (rows, labels); marks may be given more than once."""
    keys = np.unique(rows.astype(np.int64) * shape[1] + labels)
    marks = np.ones(len(keys), dtype=np.uint8)
    return as_mask(sparse.coo_array((marks, np.divmod(keys, shape[1])), shape=shape))


def counts_of(mask: Mask) -> Ints:
    return np.diff(mask.indptr).astype(np.intp)


def rows_of(mask: Mask) -> Ints:
    return np.repeat(np.arange(mask.shape[0]), counts_of(mask))


def keep_rows(mask: Mask, rows: Bools) -> Mask:
    """Return the mask with only the marks of ``rows``, (A,); the other rows become empty."""
    counts = counts_of(mask)
    kept = np.repeat(rows, counts)
    starts = np.concatenate([[0], np.cumsum(np.where(rows, counts, 0))])
    return as_mask(sparse.csr_array((mask.data[kept], mask.indices[kept], starts), mask.shape))


def spell_out(offered: Mask, rows: Bools) -> Mask:
    """Return the offered labels of ``rows``, with all labels listed where a row is empty."""
    n_labels = offered.shape[1]
    unlisted = np.flatnonzero(rows & (counts_of(offered) == 0))
    labels = np.tile(np.arange(n_labels), len(unlisted))
    every = mask_of(np.repeat(unlisted, n_labels), labels, offered.shape)
    return as_mask(keep_rows(offered, rows) + every)


def complete_ticks(
    judged: Mask, absent: Mask, relevant: Mask, ticked_yes: Bools, ticked_no: Bools
) -> tuple[Mask, Mask]:
    """Return ``absent`` and ``relevant`` with the labels of lists that nobody ticked.

    In the answers ``ticked_yes``, (A,), people ticked all of the ``judged`` labels that apply: the
    others do not. In ``ticked_no`` they ticked all that do not apply: the others do.
    """
    unticked = without(keep_rows(judged, ticked_yes), relevant)
    others = without(keep_rows(judged, ticked_no), absent)
    return union(absent, unticked), union(relevant, others)


def union(mask: Mask, other: Mask) -> Mask:
    """Return the marks that at least one of the masks has."""
    total = as_mask(mask + other)
    total.data[:] = 1
    return total


def common(mask: Mask, other: Mask) -> Mask:
    return as_mask(mask.multiply(other))


def without(mask: Mask, other: Mask) -> Mask:
    """Return the marks of ``mask`` that ``other`` does not have."""
    return as_mask(mask - mask.multiply(other))
