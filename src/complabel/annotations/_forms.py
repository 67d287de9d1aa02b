"""Turn label numbers and label names into indicator matrices, and back."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.annotations._checks import IndicatorLike, check_indicator, name_some
from complabel.errors import AnnotationError


def indicator_from_indices(
    indices: Sequence[int] | Sequence[Sequence[int]] | NDArray[Any], n_labels: int
) -> NDArray[np.uint8]:
    """Return the indicator matrix of label numbers.

    Parameters
    ----------
    indices : (n_samples,) integers, or a sequence of one sequence of integers per row
        Which labels each row has, counted from 0; at least one per row.
    n_labels : int
        Number of labels, the columns of the result.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels given.

    Raises
    ------
    AnnotationError
        If a row is empty or names a label twice, or a number is not an integer in
        ``range(n_labels)``.

    Examples
    --------
    >>> indicator_from_indices([2, 0], 3)
    array([[0, 0, 1],
           [1, 0, 0]], dtype=uint8)
    >>> indicator_from_indices([[0, 2], [1]], 3)
    array([[1, 0, 1],
           [0, 1, 0]], dtype=uint8)
    """
    if isinstance(indices, np.ndarray) and indices.ndim in (1, 2) and indices.size > 0:
        n_samples = len(indices)
        labels = indices.reshape(-1)
        rows = np.repeat(np.arange(n_samples), labels.size // n_samples)
    else:
        flat, rows, n_samples = _flatten(indices, scalar=(int, np.integer), noun="label number")
        labels = np.asarray(flat)
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise AnnotationError(
            f"label numbers are of type {labels.dtype} and shape {labels.shape}; give integers "
            f"from 0 to {n_labels - 1}, one or a sequence of them per row"
        )
    outside = (labels < 0) | (labels >= n_labels)
    if outside.any():
        at = int(np.argmax(outside))
        raise AnnotationError(
            f"row {rows[at]} has label number {labels[at]}, but with {n_labels} labels the "
            f"numbers go from 0 to {n_labels - 1}"
        )
    return _mark(rows, labels.astype(np.intp, copy=False), (n_samples, n_labels))


def indicator_from_names(
    names: Sequence[str] | Sequence[Iterable[str]], label_names: Sequence[str]
) -> NDArray[np.uint8]:
    """Return the indicator matrix of label names.

    Parameters
    ----------
    names : (n_samples,) names, or a sequence of one collection of names per row
        Which labels each row has; at least one per row.
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels given.

    Raises
    ------
    AnnotationError
        If a row is empty, names a label twice or names an unknown label, or `label_names`
        repeats itself.

    Examples
    --------
    >>> indicator_from_names(["water", ["desert", "city"]], ["city", "desert", "water"])
    array([[0, 0, 1],
           [1, 1, 0]], dtype=uint8)
    """
    column = _columns_by_name(label_names)
    flat, rows, n_samples = _flatten(names, scalar=(str,), noun="label name")
    unknown = next((at for at, name in enumerate(flat) if name not in column), None)
    if unknown is not None:
        near = difflib.get_close_matches(str(flat[unknown]), map(str, column), n=1, cutoff=0.0)
        raise AnnotationError(
            f"row {rows[unknown]} has the unknown label {flat[unknown]!r}; did you mean "
            f"{near[0]!r}? there are {len(column)} known labels"
        )
    labels = np.fromiter((column[name] for name in flat), dtype=np.intp, count=len(flat))
    return _mark(rows, labels, (n_samples, len(column)))


def indices_from_indicator(indicator: IndicatorLike) -> list[NDArray[np.intp]]:
    """Return each row's label numbers.

    Parameters
    ----------
    indicator : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Zeros and ones.

    Returns
    -------
    list of ndarray, dtype intp
        One array per row, ascending, empty where the row has no label.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1.

    Examples
    --------
    >>> indices_from_indicator([[1, 0, 1], [0, 1, 0]])
    [array([0, 2]), array([1])]
    """
    checked = check_indicator(indicator)
    ends = np.cumsum(checked.sum(axis=1, dtype=np.intp))
    return np.split(np.nonzero(checked)[1], ends)[:-1]


def names_from_indicator(
    indicator: IndicatorLike, label_names: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return each row's label names.

    Parameters
    ----------
    indicator : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Zeros and ones.
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    list of tuple of str
        One tuple per row in the order of the columns, empty where the row has no label.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, or `label_names` has another length or repeats
        itself.

    Examples
    --------
    >>> names_from_indicator([[1, 0, 1], [0, 1, 0]], ["city", "desert", "water"])
    [('city', 'water'), ('desert',)]
    """
    checked = check_indicator(indicator)
    n_labels = checked.shape[1]
    names = list(_columns_by_name(label_names))
    if len(names) != n_labels:
        raise AnnotationError(
            f"there are {len(names)} label names for {n_labels} columns; give one for each column"
        )
    return [tuple(names[label] for label in row) for row in indices_from_indicator(checked)]


def candidates_from_complementary(complementary: IndicatorLike) -> NDArray[np.uint8]:
    """Return the labels that remain possible, those that are not complementary.

    Parameters
    ----------
    complementary : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        1 where a label is known not to apply.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 where `complementary` is 0.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1.

    Examples
    --------
    >>> candidates_from_complementary([[0, 1, 0]])
    array([[1, 0, 1]], dtype=uint8)
    """
    return np.uint8(1) - check_indicator(complementary, name="complementary")


def _columns_by_name(label_names: Sequence[str]) -> dict[str, int]:
    """Map every label name to its column."""
    repeated = [name for name, count in Counter(label_names).items() if count > 1]
    if repeated:
        raise AnnotationError(f"label_names repeats {repeated[0]!r}; every name must differ")
    return {name: column for column, name in enumerate(label_names)}


def _flatten(
    per_row: Iterable[Any], *, scalar: tuple[type, ...], noun: str
) -> tuple[list[Any], NDArray[np.intp], int]:
    """Return all entries in one list, the row of each, and the number of rows."""
    rows = [[entry] if isinstance(entry, scalar) else entry for entry in per_row]
    if not rows:
        raise AnnotationError(f"there are no rows; give one {noun} or more for each sample")
    lengths = np.fromiter((_length(row, at, noun) for at, row in enumerate(rows)), dtype=np.intp)
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        raise AnnotationError(
            f"{name_some(empty, 'row')} without a {noun}; every row needs at least one"
        )
    return list(chain.from_iterable(rows)), np.repeat(np.arange(len(rows)), lengths), len(rows)


def _length(row: Any, position: int, noun: str) -> int:
    """Return how many entries a row has."""
    try:
        return len(row)
    except TypeError:
        raise AnnotationError(
            f"row {position} is {row!r}, neither a {noun} nor a sequence of them"
        ) from None


def _mark(
    rows: NDArray[np.intp], labels: NDArray[np.intp], shape: tuple[int, int]
) -> NDArray[np.uint8]:
    """Return the indicator with ones at the given cells, refusing a cell given twice."""
    indicator = np.zeros(shape, dtype=np.uint8)
    indicator[rows, labels] = 1
    if np.count_nonzero(indicator) < len(labels):
        cells = np.sort(np.ravel_multi_index((rows, labels), shape))
        row, label = divmod(int(cells[1:][cells[1:] == cells[:-1]][0]), shape[1])
        raise AnnotationError(f"row {row} gives label {label} twice; give each label once per row")
    return indicator
