"""Read indicator matrices (0/1) from arrays, lists, data frames and sparse matrices."""

from collections.abc import Sized
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from complabel.errors import AnnotationError

IndicatorLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""Types of a 0/1 matrix: nested lists, an array, a data frame, a sparse matrix."""

MAX_NAMED = 5
"""How many rows or names a message lists before it only counts them."""


def check_indicator(values: IndicatorLike, *, name: str = "indicator") -> NDArray[np.uint8]:
    """Check an indicator matrix, and return it as a dense 0/1 array.

    Parameters
    ----------
    values : array-like or sparse matrix of shape (n_samples, n_labels)
        Zeros and ones of any boolean, integer or floating type.
    name : str, default="indicator"
        Name of the matrix in error messages.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        The same matrix; ``values`` itself if it already is such an array.

    Raises
    ------
    AnnotationError
        If the input is not 2-D or holds anything but 0 and 1.

    Examples
    --------
    >>> check_indicator([[True, False], [False, True]])
    array([[1, 0],
           [0, 1]], dtype=uint8)
    """
    stored: Any = None
    if sparse.issparse(values):
        stored = values.tocoo(copy=True)
        stored.sum_duplicates()
    entries: NDArray[Any] = _as_numbers(values, name) if stored is None else stored.data
    shape = entries.shape if stored is None else stored.shape
    if len(shape) != 2:
        raise AnnotationError(
            f"{name} has shape {shape}; give a matrix (n_samples, n_labels) of zeros and ones; "
            "indicator_from_indices makes one from label numbers"
        )
    valid = (entries == 0) | (entries == 1)
    if not valid.all():
        at = np.unravel_index(np.argmin(valid), valid.shape)
        row, label = at if stored is None else (stored.row[at], stored.col[at])
        gap = "; give 0 if there is no answer" if np.isnan(entries[at]) else ""
        raise AnnotationError(
            f"{name} holds {entries[at]} at row {row}, label {label}; every entry must be 0 or 1"
            f"{gap}"
        )
    dense: NDArray[np.uint8] = entries.astype(np.uint8, copy=False)
    # The dense array is made in uint8, an eighth of the memory of float64.
    return dense if stored is None else stored.astype(np.uint8).toarray()


def name_some(positions: NDArray[np.intp], noun: str) -> str:
    """List the first positions and count all: 'row 4' or 'rows 1, 2 (2 in all)'."""
    if len(positions) == 1:
        return f"{noun} {positions[0]}"
    shown = ", ".join(str(position) for position in positions[:MAX_NAMED])
    dots = ", ..." if len(positions) > MAX_NAMED else ""
    return f"{noun}s {shown}{dots} ({len(positions)} in all)"


def _as_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return the values as an array of numbers or booleans."""
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
