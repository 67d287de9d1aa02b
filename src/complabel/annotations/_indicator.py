"""Indicator matrices: read from whatever they are given as, or refused with the place."""

import difflib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from complabel.errors import AnnotationError

IndicatorLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""What a 0/1 matrix may be given as: nested lists, an array, a data frame, a sparse matrix."""

_MAX_NAMED = 5


def check_indicator(values: IndicatorLike, *, name: str = "indicator") -> NDArray[np.uint8]:
    """Return an indicator matrix as a dense 0/1 array, whatever it was given as.

    Parameters
    ----------
    values : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Zeros and ones of any boolean, integer or floating type.
    name : str, default "indicator"
        What to call the matrix in an error message.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        The same matrix; the input itself where it already is such an array.

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
    if sparse.issparse(values):
        return _dense_from_sparse(values, name)
    array = _as_numbers(values, name)
    _refuse_other_than_2d(array.ndim, array.shape, name)
    valid = (array == 0) | (array == 1)
    if not valid.all():
        row, label = np.argwhere(~valid)[0]
        raise _not_binary(array[row, label], row, label, name)
    return array.astype(np.uint8, copy=False)


def label_names_of(values: object) -> list[str] | None:
    """Return the column names of a data frame of labels, if it has any.

    Parameters
    ----------
    values : object
        A data frame of pandas or polars, or anything else.

    Returns
    -------
    list of str or None
        None for what is no data frame, and where some column's name is not a string.

    Raises
    ------
    AnnotationError
        If two columns have one name.

    Examples
    --------
    >>> label_names_of([[1, 0, 0]]) is None
    True
    """
    try:
        names = list(getattr(values, "columns", ()))
    except TypeError:  # an attribute of this name that lists nothing
        return None
    if not names or not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise AnnotationError(f"two columns are named {repeated!r}; give every label one column")
    return names


def check_label_names(
    values: object, expected: Sequence[object], *, name: str = "y", reference: str = "fit"
) -> None:
    """Refuse a data frame whose columns are other labels, or the same in another order.

    Parameters
    ----------
    values : object
        What has no column names, and what is held against no names, passes.
    expected : sequence
        The label of each column.
    name : str, default "y"
        What to call the data frame in an error message.
    reference : str, default "fit"
        What to call the place that the expected labels come from.

    Raises
    ------
    AnnotationError
        If a name is unknown, missing, or in another place.

    Examples
    --------
    >>> check_label_names([[1, 0, 0]], ["city", "desert", "water"])
    """
    names = label_names_of(values)
    if names is None or not all(isinstance(label, str) for label in expected):
        return
    labels = [str(label) for label in expected]
    if names == labels:
        return
    unknown = [label for label in names if label not in labels]
    missing = [label for label in labels if label not in names]
    if unknown:
        raise AnnotationError(
            f"{name} has the column {unknown[0]!r}, which {reference} was not given"
            f"{suggest(unknown[0], labels)}"
        )
    if missing:
        raise AnnotationError(
            f"{name} lacks the column {missing[0]!r}, which {reference} was given"
        )
    at = next(column for column, label in enumerate(labels) if names[column] != label)
    raise AnnotationError(
        f"{name} has its columns in another order than {reference}: column {at} is {names[at]!r}"
        f" where {labels[at]!r} was; give them in the same order"
    )


def suggest(unknown: str, known: Sequence[object]) -> str:
    """Return '; did you mean ...?' if a known name is near, else the first few that are known."""
    plain = {str(label).strip().casefold(): str(label) for label in known}
    near = difflib.get_close_matches(unknown.strip().casefold(), plain, n=1)
    if near:
        return f"; did you mean {plain[near[0]]!r}?"
    listed = ", ".join(repr(str(label)) for label in known[:_MAX_NAMED])
    more = ", ..." if len(known) > _MAX_NAMED else ""
    return f"; the {len(known)} known labels are {listed}{more}"


def name_some(positions: NDArray[np.intp], noun: str) -> str:
    """Name the first few positions and count them all: 'row 4' or 'rows 1, 2 (2 in all)'."""
    if len(positions) == 1:
        return f"{noun} {positions[0]}"
    shown = ", ".join(str(position) for position in positions[:_MAX_NAMED])
    dots = ", ..." if len(positions) > _MAX_NAMED else ""
    return f"{noun}s {shown}{dots} ({len(positions)} in all)"


def _as_numbers(values: IndicatorLike, name: str) -> NDArray[Any]:
    """Return the values as an array of numbers or booleans."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise _no_matrix(name, _uneven_rows(values) or str(error)) from error
    if array.dtype.kind in "SU":
        place = "" if array.ndim != 2 else " at row 0, label 0"
        found = f"{array.astype(object).flat[0]!r}{place}" if array.size else "strings"
        raise _no_matrix(name, f"it holds {found}")
    if array.dtype == object:
        array = _numbers_from_objects(array, name)
    if array.dtype.kind not in "biuf":
        raise _no_matrix(name, f"it holds values of type {array.dtype}")
    return array


def _numbers_from_objects(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert an array of objects, or say which one is no number."""
    if array.ndim != 2 and any(isinstance(entry, Sequence) for entry in array.flat):
        entries = [entry for entry in array.flat if not isinstance(entry, str)]
        raise _no_matrix(name, _uneven_rows(entries) or "it holds names")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        for place, entry in np.ndenumerate(array):
            if not _is_number(entry):
                at = " at row " + ", label ".join(map(str, place)) if place else ""
                raise _no_matrix(name, f"it holds {entry!r}{at}") from error
        raise _no_matrix(name, str(error)) from error


def _is_number(entry: Any) -> bool:
    """Tell what can be converted to a float."""
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return True


def _uneven_rows(values: Any) -> str | None:
    """Say which two rows of nested sequences differ in length, if that is the trouble."""
    lengths = [len(row) if hasattr(row, "__len__") else None for row in values]
    for position, length in enumerate(lengths):
        if length != lengths[0]:
            first, other = (
                "no entries" if n is None else "1 entry" if n == 1 else f"{n} entries"
                for n in (lengths[0], length)
            )
            return f"row 0 has {first} and row {position} has {other}"
    return None


def _no_matrix(name: str, found: str) -> AnnotationError:
    """Return the error for what cannot be read as numbers."""
    return AnnotationError(
        f"{name} is not a matrix of numbers: {found}; give zeros and ones, or make an indicator "
        "with indicator_from_indices or indicator_from_names"
    )


def _dense_from_sparse(values: Any, name: str) -> NDArray[np.uint8]:
    """Check the stored entries only, then expand them in the narrow type."""
    _refuse_other_than_2d(values.ndim, values.shape, name)
    stored = values.tocoo(copy=True)
    stored.sum_duplicates()
    valid = (stored.data == 0) | (stored.data == 1)
    if not valid.all():
        at = int(np.flatnonzero(~valid)[0])
        raise _not_binary(stored.data[at], stored.row[at], stored.col[at], name)
    dense: NDArray[np.uint8] = stored.astype(np.uint8).toarray()
    return dense


def _refuse_other_than_2d(ndim: int, shape: tuple[int, ...], name: str) -> None:
    """Raise unless there are two dimensions."""
    if ndim != 2:
        raise AnnotationError(
            f"{name} has shape {shape}; give a matrix (n_samples, n_labels) of zeros and ones, "
            "indicator_from_indices makes one out of label numbers"
        )


def _not_binary(value: Any, row: int, label: int, name: str) -> AnnotationError:
    """Return the error for an entry that is neither 0 nor 1."""
    gap = "" if value == value else "; where nothing was answered, give 0"
    return AnnotationError(
        f"{name} holds {value} at row {row}, label {label}; every entry must be 0 or 1{gap}"
    )
