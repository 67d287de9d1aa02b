"""Convert label numbers and label names to indicator matrices, and back."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.answers._indicator import IndicatorLike, check_indicator
from complabel.answers._names import suggest
from complabel.errors import AnnotationError


def indicator_from_indices(indices: Iterable[Any], n_labels: int) -> NDArray[np.uint8]:
    """Convert label numbers to an indicator matrix.

    Parameters
    ----------
    indices : (n_samples,) integers, or one collection of integers per row, or data frame
        Label numbers of each row, counted from 0. In a data frame or 2-D array, each column
        holds the answers of one annotator. None, NaN and ``pandas.NA`` mean "no answer". A
        number that occurs twice in a row counts once.
    n_labels : int
        Number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 for the given labels. A row without an answer is all 0, and ``fit`` leaves it out.

    Raises
    ------
    AnnotationError
        If a number is not an integer in ``range(n_labels)``, or if ``indices`` is already an
        indicator matrix.

    Examples
    --------
    >>> indicator_from_indices([2, 0, None], 3)
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 0, 0]], dtype=uint8)
    >>> indicator_from_indices([[0, 2], [1]], 3)
    array([[1, 0, 1],
           [0, 1, 0]], dtype=uint8)
    """
    numbers = range(n_labels)
    indicator, n_entries = _read_entries(
        indices,
        dict(zip(numbers, numbers, strict=True)),
        scalar=(int, float, np.integer, np.floating),
        noun="label number",
        complain=lambda number: (
            f"label number {number}, but with {n_labels} labels the numbers go from 0 to "
            f"{n_labels - 1}"
        ),
    )
    # Repeated numbers are allowed, so an indicator matrix would be read as labels 0 and 1.
    if n_labels > 2 and (n_entries == n_labels).all() and not indicator[:, 2:].any():
        raise AnnotationError(
            f"every row has {n_labels} numbers, all 0 or 1: this is an indicator matrix already,"
            " so use it as it is; if they are label numbers, give each once in a row"
        )
    return indicator


def indicator_from_names(names: Iterable[Any], label_names: Sequence[str]) -> NDArray[np.uint8]:
    """Convert label names to an indicator matrix.

    Parameters
    ----------
    names : (n_samples,) names, or one collection of names per row, or data frame of names
        As for :func:`indicator_from_indices`. A blank string also means "no answer".
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 for the given labels. A row without an answer is all 0, and ``fit`` leaves it out.

    Raises
    ------
    AnnotationError
        If a row has an unknown label or anything but names, or if ``label_names`` has a name
        twice.

    Examples
    --------
    >>> indicator_from_names(["water", ["desert", "city"], None], ["city", "desert", "water"])
    array([[0, 0, 1],
           [1, 1, 0],
           [0, 0, 0]], dtype=uint8)
    """
    column = _columns_by_name(label_names)
    indicator, _ = _read_entries(
        names,
        column,
        scalar=(str,),
        noun="label name",
        complain=lambda name: f"the unknown label {str(name)!r}{suggest(name, list(column))}",
    )
    return indicator


def indices_from_indicator(indicator: IndicatorLike) -> list[NDArray[np.intp]]:
    """Return the label numbers of each row.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 matrix.

    Returns
    -------
    list of ndarray, dtype intp
        One array per row, in ascending order; empty if the row has no label.

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
    """Return the label names of each row.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 matrix.
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    list of tuple of str
        One tuple per row, in the order of the columns; empty if the row has no label.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, or if ``label_names`` has another length or has a
        name twice.

    Examples
    --------
    >>> names_from_indicator([[1, 0, 1], [0, 1, 0]], ["city", "desert", "water"])
    [('city', 'water'), ('desert',)]
    """
    checked = check_indicator(indicator)
    names = list(_columns_by_name(label_names))
    if len(names) != checked.shape[1]:
        raise AnnotationError(
            f"there are {len(names)} label names for {checked.shape[1]} columns; give one for each"
        )
    return [tuple(names[label] for label in row) for row in indices_from_indicator(checked)]


def candidates_from_complementary(complementary: IndicatorLike) -> NDArray[np.uint8]:
    """Return the candidate labels: all labels that are not complementary.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, n_labels)
        1 where a label is known not to apply.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 where ``complementary`` is 0.

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
    """Map every label name to its column, after checking that the names differ."""
    if isinstance(label_names, str):
        raise AnnotationError(f"label_names is the string {label_names!r}; give a list of names")
    as_list = getattr(label_names, "tolist", None)  # makes plain strings of an array's entries
    names: list[Any] = as_list() if as_list else list(label_names)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise AnnotationError(f"label_names repeats {repeated[0]!r}; every name must differ")
    blank = next((column for column, name in enumerate(names) if _is_missing(name)), None)
    if blank is not None:
        raise AnnotationError(f"label_names[{blank}] is {names[blank]!r}; every label needs a name")
    return {name: column for column, name in enumerate(names)}


def _read_entries(
    per_row: Any,
    columns: Mapping[Any, int],
    *,
    scalar: tuple[type, ...],
    noun: str,
    complain: Callable[[Any], str],
) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Return the indicator (n, K) of all entries, and the number of entries in each row, (n,).

    Gaps are skipped, so a row may have no entry. A data frame is read by rows. ``complain``
    returns the message about an entry that has no column.
    """
    if isinstance(per_row, (str, bytes, Mapping)):
        raise AnnotationError(
            f"the {noun}s are a single {type(per_row).__name__}; give a list with one entry, or "
            "one collection of entries, for each row"
        )
    if hasattr(per_row, "columns") and hasattr(per_row, "to_numpy"):
        per_row = per_row.to_numpy()
    # Python's own numbers and strings are several times faster here than NumPy's scalars.
    answers = per_row.tolist() if isinstance(per_row, np.ndarray) else list(per_row)
    if not answers:
        raise AnnotationError(f"there are no rows; give one {noun} or more for each sample")
    marked: list[tuple[int, int]] = []
    for row, answer in enumerate(answers):
        is_one = isinstance(answer, scalar) or _is_missing(answer)
        is_collection = hasattr(answer, "__iter__") and getattr(answer, "ndim", 1) > 0
        if not is_one and (isinstance(answer, (bytes, Mapping)) or not is_collection):
            raise AnnotationError(
                f"row {row} is {answer!r}, neither a {noun} nor a sequence of them"
            )
        for entry in [answer] if is_one else answer:
            if _is_missing(entry):
                continue
            if not isinstance(entry, scalar) or isinstance(entry, bool):
                raise AnnotationError(f"row {row} holds {entry!r}, which is not a {noun}")
            if entry not in columns:
                raise AnnotationError(f"row {row} has {complain(entry)}")
            marked.append((row, columns[entry]))
    rows, labels = np.array(marked, dtype=np.intp).reshape(-1, 2).T
    indicator = np.zeros((len(answers), len(columns)), dtype=np.uint8)
    indicator[rows, labels] = 1
    return indicator, np.bincount(rows, minlength=len(answers))


def _is_missing(entry: object) -> bool:
    """Return whether an entry means "no answer": None, NaN, pandas.NA or a blank string."""
    if isinstance(entry, str):
        return not entry.strip()
    if isinstance(entry, (float, np.floating)):
        return bool(np.isnan(entry))
    return entry is None or type(entry).__name__ == "NAType"  # pandas.NA, if pandas is installed
