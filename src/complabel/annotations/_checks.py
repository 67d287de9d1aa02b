"""Refuse labels that cannot be learned from, saying where and why, and warn of the doubtful."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from complabel.annotations._indicator import (
    IndicatorLike,
    check_indicator,
    check_label_names,
    label_names_of,
    name_some,
)
from complabel.errors import AnnotationError

_MIN_LABELS = 3


class UnchosenLabelWarning(UserWarning):
    """A label was never chosen as complementary, so nothing says where it does not apply."""


class UnansweredRowWarning(UserWarning):
    """Rows carry no complementary label, so nothing is learned from them."""


class ClassPerRowWarning(UserWarning):
    """Names, or a column, were read as one complementary class per row, of which one applies."""


def check_complementary(
    complementary: IndicatorLike,
    *,
    n_samples: int | None = None,
    relevant: IndicatorLike | None = None,
    min_labels: int = _MIN_LABELS,
    allow_unanswered: bool = False,
    name: str = "complementary",
) -> NDArray[np.uint8]:
    """Return complementary labels as a dense 0/1 array, after checking that one can learn from it.

    Parameters
    ----------
    complementary : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        1 where a label is known *not* to apply; at least one, and not all, per row.
    n_samples : int, optional
        How many rows there must be, the number of rows of the features.
    relevant : array_like or scipy sparse matrix of shape (n_samples, n_labels), optional
        1 where a label is known to apply; a row may have none. Of two data frames the columns
        must agree.
    min_labels : int, default 3
        Fewest labels to accept: with two, a complementary label is just the other label.
    allow_unanswered : bool, default False
        Whether rows may have no complementary label, as long as some row has one.
    name : str, default "complementary"
        What to call the matrix in an error message.

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
    checked = _check_proper_subsets(
        complementary, name, min_labels=min_labels, allow_empty=allow_unanswered
    )
    if n_samples is not None and len(checked) != n_samples:
        raise AnnotationError(
            f"{name} has {len(checked)} rows but there are {n_samples} samples; "
            "give one row of labels for each sample"
        )
    if relevant is not None:
        check_label_names(
            relevant, label_names_of(complementary) or [], name="relevant", reference=name
        )
        _refuse_contradiction(checked, relevant, name)
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
    return _check_proper_subsets(Y, "relevant", min_labels=_MIN_LABELS, allow_empty=False)


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


def _check_proper_subsets(
    values: IndicatorLike, name: str, *, min_labels: int, allow_empty: bool
) -> NDArray[np.uint8]:
    """Check that every row leaves at least one label and, if it must, marks at least one."""
    checked = check_indicator(values, name=name)
    n_samples, n_labels = checked.shape
    if n_labels < min_labels:
        raise AnnotationError(_too_few_labels(name, n_labels, min_labels))
    if n_samples == 0:
        raise AnnotationError(f"{name} has no rows; give at least one")
    counts = checked.sum(axis=1, dtype=np.intp)
    empty, full = np.flatnonzero(counts == 0), np.flatnonzero(counts == n_labels)
    if len(empty) == n_samples or (len(empty) and not allow_empty):
        raise AnnotationError(
            f"{name} marks no label in {name_some(empty, 'row')}; "
            + (
                "at least one row needs a mark"
                if allow_empty
                else "every row needs at least one, drop the rows without"
            )
        )
    if len(full):
        raise AnnotationError(
            f"{name} marks all {n_labels} labels in {name_some(full, 'row')}; every row must "
            "leave at least one, drop or correct these rows"
        )
    return checked


def _too_few_labels(name: str, n_labels: int, min_labels: int) -> str:
    """Say why a matrix of one or two labels is refused, and what to do with it."""
    labels = "1 label (column)" if n_labels == 1 else f"{n_labels} labels (columns)"
    advice = {
        1: "give one column per label",
        2: "with two, 'not a' means 'b': fit an ordinary classifier on the label that is left",
    }.get(n_labels, "give one column per label")
    return (
        f"{name} has {labels}; learning from complementary labels needs at least {min_labels}: "
        f"{advice}"
    )


def _refuse_contradiction(
    complementary: NDArray[np.uint8], relevant: IndicatorLike, name: str
) -> None:
    """Raise where a label is said both to apply and not to apply."""
    known = check_indicator(relevant, name="relevant")
    if known.shape != complementary.shape:
        raise AnnotationError(
            f"relevant has shape {known.shape} but {name} {complementary.shape}; "
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
