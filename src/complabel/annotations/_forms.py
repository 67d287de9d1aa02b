"""Turn label numbers and label names into indicator matrices, and back."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.annotations._indicator import IndicatorLike, check_indicator
from complabel.annotations._names import suggest
from complabel.errors import AnnotationError


def indicator_from_indices(indices: Iterable[Any], n_labels: int) -> NDArray[np.uint8]:
    """Return the indicator matrix of label numbers.

    Parameters
    ----------
    indices : (n_samples,) integers, or one collection of integers per row, or data frame
        Which labels each row has, counted from 0. In a data frame or 2-D array, each column
        holds what one annotator answered. None, NaN and ``pandas.NA`` are no answer, and a
        number given twice in a row counts once.
    n_labels : int

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels given; a row without any answer is all 0, and ``fit`` leaves it out.

    Raises
    ------
    AnnotationError
        If a number is not a whole one in ``range(n_labels)``, or what is given is an indicator
        matrix already.

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
    # A number given twice counts once, so that an indicator would pass as labels 0 and 1.
    if n_labels > 2 and (n_entries == n_labels).all() and not indicator[:, 2:].any():
        raise AnnotationError(
            f"every row has {n_labels} numbers, all 0 or 1: this is an indicator matrix already,"
            " so use it as it is; if they are label numbers, give each once in a row"
        )
    return indicator


def indicator_from_names(names: Iterable[Any], label_names: Sequence[str]) -> NDArray[np.uint8]:
    """Return the indicator matrix of label names.

    Parameters
    ----------
    names : (n_samples,) names, or one collection of names per row, or data frame of names
        As for :func:`indicator_from_indices`; blank strings are no answer either.
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels given; a row without any answer is all 0, and ``fit`` leaves it out.

    Raises
    ------
    AnnotationError
        If a row names an unknown label or holds something else than names, or ``label_names``
        repeats itself.

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
    """Return each row's label numbers.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)

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
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    list of tuple of str
        One tuple per row in the order of the columns, empty where the row has no label.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, or ``label_names`` has another length or repeats
        itself.

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
    """Return the labels that remain possible, those that are not complementary.

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
    """Map every label name to its column."""
    if isinstance(label_names, str):
        raise AnnotationError(f"label_names is the string {label_names!r}; give a list of names")
    as_list = getattr(label_names, "tolist", None)  # of an array, as plain strings
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
    """Return the indicator (n, K) of the entries' columns, and how many entries each row has.

    Gaps are left out, so that a row may have no entry. A data frame is read by rows. ``complain``
    says what is wrong with an entry that has no column.
    """
    if isinstance(per_row, (str, bytes, Mapping)):
        raise AnnotationError(
            f"the {noun}s are a single {type(per_row).__name__}; give a list with one entry, or "
            "one collection of entries, for each row"
        )
    if hasattr(per_row, "columns") and hasattr(per_row, "to_numpy"):
        per_row = per_row.to_numpy()
    # Python's own numbers and strings are several times as fast.
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
                raise AnnotationError(f"row {row} holds {entry!r}, which is no {noun}")
            if entry not in columns:
                raise AnnotationError(f"row {row} has {complain(entry)}")
            marked.append((row, columns[entry]))
    rows, labels = np.array(marked, dtype=np.intp).reshape(-1, 2).T
    indicator = np.zeros((len(answers), len(columns)), dtype=np.uint8)
    indicator[rows, labels] = 1
    return indicator, np.bincount(rows, minlength=len(answers))


def _is_missing(entry: object) -> bool:
    """Tell None, NaN, pandas.NA and blank strings: nobody answered."""
    if isinstance(entry, str):
        return not entry.strip()
    if isinstance(entry, (float, np.floating)):
        return bool(np.isnan(entry))
    return entry is None or type(entry).__name__ == "NAType"  # of pandas, which may be absent
