"""Indicator matrices (0/1): read them, and masks, sparse ones with a row for each answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from complabel._parameters import AnyArray, Array, Bools, Indicator, Ints
from complabel.errors import AnnotationError

IndicatorLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""Types of a 0/1 matrix: nested lists, an array, a data frame, a sparse matrix."""

Mask: TypeAlias = "sparse.csr_array[np.uint8, tuple[int, int]]"

MAX_NAMED = 5
"""How many rows or names a message lists before it only counts them."""

# What a message adds about gaps, by the name of a matrix: what is not known is not 0.
_OF_GAPS = dict.fromkeys(
    ("y", "relevant", "absent"),
    "; a gap is not 0: Answers.from_frame of complabel.answers takes a frame with 1 where a label"
    " applies, 0 where it does not, and NaN where that is not known",
) | {
    "true_labels": "; a gap is not 0: give known=~np.isnan(true_labels) to evaluate or"
    " evaluate_labels of complabel.metrics, or use complabel.trust.evaluate_on_truth"
}
_OF_FRAMES = (
    "give 1 where a label applies, 0 where it does not, NaN where it is not known. If a column"
    " names the items, make it the index (set_index); if cells are codes, map them to these"
    " numbers, or read the file with complabel import --from coded"
)
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating, type(None))


def check_indicator(values: IndicatorLike, *, name: str = "indicator") -> Indicator:
    """Return a matrix of zeros and ones of any type as a dense 0/1 array, (n, K) uint8.

    An array of uint8 is returned itself. Errors call the matrix ``name``.
    """
    if sparse.issparse(values):
        # The dense array is made in uint8, an eighth of the memory of float64.
        return np.asarray(read_mask(values, name).toarray())
    entries = _as_numbers(values, name)
    _check_entries(entries, entries.shape, name, lambda at: _place(values, at, entries.shape))
    dense: Indicator = entries.astype(np.uint8, copy=False)
    return dense


def read_frame(values: Any) -> Array:
    """Return a frame of 1, 0 and gaps as floats (n, K), with NaN for a gap; refuse all else."""
    cells = _as_numbers(values, "frame").astype(np.float64)
    known = np.where(np.isnan(cells), 0, cells)
    _check_entries(known, cells.shape, "frame", lambda at: _place(values, at, cells.shape))
    return cells


def read_mask(values: IndicatorLike, name: str) -> Mask:
    if not sparse.issparse(values):
        return as_mask(check_indicator(values, name=name))
    entries: Any = values.tocoo(copy=True)
    if len(entries.shape) == 2:
        entries.sum_duplicates()
    _check_entries(entries.data, entries.shape, name, lambda at: _at(x[at] for x in entries.coords))
    return as_mask(entries.astype(np.uint8))


def _check_entries(
    entries: AnyArray, shape: tuple[int, ...], name: str, place: Callable[[int], str]
) -> None:
    is_frame = name == "frame"
    if len(shape) != 2:
        advice = "a matrix (n_samples, n_labels) of zeros and ones; indicator_from_indices makes it"
        advice = "a row for each item and a column for each label" if is_frame else advice
        raise AnnotationError(f"{name} has shape {shape}; give {advice}")
    valid = (entries == 0) | (entries == 1)
    if not valid.all():
        at = int(np.argmin(valid))
        entry = entries.ravel()[at]
        gap = _OF_GAPS.get(name, "") if np.isnan(entry) else ""
        advice = _OF_FRAMES if is_frame else f"every entry must be 0 or 1{gap}"
        raise AnnotationError(f"{name} holds {entry} at {place(at)}; {advice}")


def _place(values: Any, at: int, shape: tuple[int, ...]) -> str:
    """Return words for an entry; data frames have names of columns, and pandas' also of rows."""
    place: list[Any] = [*map(int, np.unravel_index(at, shape))]
    for axis, names in enumerate(("index", "columns")[: len(shape)]):
        if hasattr(values, "columns") and hasattr(values, names):
            place[axis] = repr(np.asarray(getattr(values, names), dtype=object)[place[axis]])
    return _at(place)


def _at(place: Iterable[object]) -> str:
    return f"row {', label '.join(map(str, place))}"


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
            array = _of_objects(array)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it holds values of type {array.dtype}")
    except AnnotationError:  # Answers, which say why they are no array
        raise
    except (TypeError, ValueError) as error:
        advice = (
            "give zeros and ones, or make an indicator with indicator_from_indices or"
            " indicator_from_names"
        )
        raise AnnotationError(
            f"{name} is not a matrix of numbers: {_no_number(values) or error};"
            f" {_OF_FRAMES if name == 'frame' else advice}"
        ) from error
    return array


def _of_objects(entries: AnyArray) -> Array:
    """Return objects as floats, with NaN for None and pandas.NA; refuse texts and lists."""
    flat = entries.ravel().tolist()
    kinds = set(map(type, flat))  # a few: nothing here looks at each entry in Python, unless NA
    if any(hasattr(kind, "__len__") for kind in kinds):
        raise TypeError("it holds texts")
    if any(kind.__name__ == "NAType" for kind in kinds):
        flat = [None if type(each).__name__ == "NAType" else each for each in flat]
    return np.array(flat, dtype=object).astype(np.float64).reshape(entries.shape)


def _no_number(values: Any) -> str | None:
    """Return words for rows of two lengths, or for the first entry that is no number and no gap."""
    try:
        entries = np.asarray(values, dtype=object)
    except ValueError:  # arrays of different shapes in a list
        return None
    rows: Any = entries if entries.ndim == 1 else []
    sizes = [len(row) if isinstance(row, Sized) and not isinstance(row, str) else 0 for row in rows]
    for row, size in enumerate(sizes):
        if size != sizes[0]:
            first, here = (f"{n} {'entry' if n == 1 else 'entries'}" for n in (sizes[0], size))
            return f"row 0 has {first} and row {row} has {here}"
    for at, entry in enumerate(entries.ravel()):
        if not isinstance(entry, _NUMBERS) and type(entry).__name__ != "NAType":
            place = f" at {_place(values, at, entries.shape)}" if entries.ndim else ""
            return f"it holds {entry!r}{place}"
    return None


def as_mask(values: Any) -> Mask:
    """Return a matrix as a mask: a CSR array with sorted indices and no explicit zeros."""
    mask: Any = sparse.csr_array(values, dtype=np.uint8)
    mask.sum_duplicates()
    mask.eliminate_zeros()
    tidied: Mask = mask
    return tidied


def mask_of(rows: Ints, labels: Ints, shape: tuple[int, int]) -> Mask:
    """Return the mask with marks at (rows, labels); marks may be given more than once."""
    marks = np.ones(len(rows), dtype=np.bool_)  # whose sum stays 1
    return as_mask(sparse.coo_array((marks, (rows, labels)), shape=shape))


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
