"""Refuse indicator matrices that cannot be learned from, saying where and why."""

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from complabel.errors import AnnotationError

IndicatorLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""What a 0/1 matrix may be given as: nested lists, an array, a data frame, a sparse matrix."""

_MIN_LABELS = 3
_MAX_NAMED = 5


class UnchosenLabelWarning(UserWarning):
    """A label was never chosen as complementary, so nothing says where it does not apply."""


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


def check_complementary(
    complementary: IndicatorLike,
    *,
    n_samples: int | None = None,
    relevant: IndicatorLike | None = None,
    min_labels: int = _MIN_LABELS,
) -> NDArray[np.uint8]:
    """Return complementary labels as a dense 0/1 array, after checking that one can learn from it.

    Parameters
    ----------
    complementary : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        1 where a label is known *not* to apply; at least one, and not all, per row.
    n_samples : int, optional
        How many rows there must be, the number of rows of the features.
    relevant : array_like or scipy sparse matrix of shape (n_samples, n_labels), optional
        1 where a label is known to apply; a row may have none.
    min_labels : int, default 3
        Fewest labels to accept: with two, a complementary label is just the other label.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        The complementary labels.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, has fewer than three labels or a wrong number of
        rows, has a row with no or only complementary labels, or contradicts `relevant`.

    Examples
    --------
    >>> check_complementary([[0, 1, 0], [1, 0, 0]])
    array([[0, 1, 0],
           [1, 0, 0]], dtype=uint8)
    """
    checked = _check_proper_subsets(complementary, "complementary", min_labels=min_labels)
    if n_samples is not None and len(checked) != n_samples:
        raise AnnotationError(
            f"complementary has {len(checked)} rows but there are {n_samples} samples; "
            "give one row of labels for each sample"
        )
    if relevant is not None:
        _refuse_contradiction(checked, relevant)
    return checked


def check_relevant(Y: IndicatorLike) -> NDArray[np.uint8]:
    """Return relevant labels as a dense 0/1 array, after checking every row's set.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        1 where a label applies; at least one, and not all, per row.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        The relevant labels.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, has fewer than three labels, or has a row with no
        or only relevant labels.

    Examples
    --------
    >>> check_relevant([[0, 1, 1], [1, 0, 0]])
    array([[0, 1, 1],
           [1, 0, 0]], dtype=uint8)
    """
    return _check_proper_subsets(Y, "relevant", min_labels=_MIN_LABELS)


def warn_unchosen(complementary: IndicatorLike, label_names: Sequence[str] | None = None) -> None:
    """Warn of labels that are complementary in no row.

    Parameters
    ----------
    complementary : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        1 where a label is known not to apply.
    label_names : sequence of str, optional
        The labels' names for the message; their column numbers if not given.

    Warns
    -----
    UnchosenLabelWarning
        If a label is never complementary; the message names all such labels.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, or `label_names` has another number of labels.
    """
    checked = check_indicator(complementary, name="complementary")
    names = list(range(checked.shape[1]) if label_names is None else label_names)
    if len(names) != checked.shape[1]:
        raise AnnotationError(
            f"there are {len(names)} label names for {checked.shape[1]} columns of "
            "complementary; give one name for each column"
        )
    unchosen = [names[label] for label in np.flatnonzero(~checked.any(axis=0))]
    if unchosen:
        listed = ", ".join(map(str, unchosen))
        warnings.warn(
            f"never chosen as complementary: {'label' if len(unchosen) == 1 else 'labels'} "
            f"{listed}; nothing in the data says where they do not apply, so they will tend to "
            "be ranked high everywhere",
            UnchosenLabelWarning,
            stacklevel=2,
        )


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
        if array.dtype == object:
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise AnnotationError(
            f"{name} is not a matrix of numbers ({error}); give zeros and ones, or make an "
            "indicator with indicator_from_indices or indicator_from_names"
        ) from error
    if array.dtype.kind not in "biuf":
        raise AnnotationError(
            f"{name} holds values of type {array.dtype}, not zeros and ones; "
            "indicator_from_names makes an indicator out of label names"
        )
    return array


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


def _not_binary(value: object, row: int, label: int, name: str) -> AnnotationError:
    """Return the error for an entry that is neither 0 nor 1."""
    return AnnotationError(
        f"{name} holds {value} at row {row}, label {label}; every entry must be 0 or 1"
    )


def _check_proper_subsets(
    values: IndicatorLike, name: str, *, min_labels: int
) -> NDArray[np.uint8]:
    """Check that every row marks at least one label and leaves at least one."""
    checked = check_indicator(values, name=name)
    n_samples, n_labels = checked.shape
    if n_labels < min_labels:
        raise AnnotationError(
            f"{name} has {n_labels} labels (columns); learning from complementary labels needs "
            f"at least {min_labels}"
        )
    if n_samples == 0:
        raise AnnotationError(f"{name} has no rows; give at least one")
    counts = checked.sum(axis=1, dtype=np.intp)
    empty, full = np.flatnonzero(counts == 0), np.flatnonzero(counts == n_labels)
    if len(empty):
        raise AnnotationError(
            f"{name} marks no label in {name_some(empty, 'row')}; every row needs at least one, "
            "drop the rows without"
        )
    if len(full):
        raise AnnotationError(
            f"{name} marks all {n_labels} labels in {name_some(full, 'row')}; every row must "
            "leave at least one, drop or correct these rows"
        )
    return checked


def _refuse_contradiction(complementary: NDArray[np.uint8], relevant: IndicatorLike) -> None:
    """Raise where a label is said both to apply and not to apply."""
    known = check_indicator(relevant, name="relevant")
    if known.shape != complementary.shape:
        raise AnnotationError(
            f"relevant has shape {known.shape} but complementary {complementary.shape}; "
            "both need one row per sample and one column per label"
        )
    both = (known & complementary).astype(bool)
    if both.any():
        row, label = np.argwhere(both)[0]
        rows = np.flatnonzero(both.any(axis=1))
        raise AnnotationError(
            f"row {row} gives label {label} as complementary and as relevant (so in "
            f"{name_some(rows, 'row')}); a label either applies or does not, correct one"
        )
