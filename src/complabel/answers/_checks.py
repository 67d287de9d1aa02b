"""Refuse labels that nothing can be learned from, and warn about doubtful ones."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from complabel.answers._indicator import IndicatorLike, check_indicator, name_some
from complabel.answers._names import check_label_names, label_names_of
from complabel.errors import AnnotationError

_MIN_LABELS = 3


class UnchosenLabelWarning(UserWarning):
    """A label was never chosen as complementary, so nothing says where it does not apply."""


class UnansweredRowWarning(UserWarning):
    """Rows have no complementary label, so nothing is learned from them."""


class ClassPerRowWarning(UserWarning):
    """Names, or a column, were read as one complementary class per row.

    That reading assumes that exactly one class applies to each row.
    """


class IgnoredAnswersWarning(UserWarning):
    """A method understands only freely named labels, so it ignored or misread other answers."""


class AssumedUniformWarning(UserWarning):
    """A fit assumed that all labels come to mind equally easily; free naming cannot check this.

    To check it, ask "does this label apply?" about random labels, or offer small random menus.
    """


def check_complementary(
    complementary: IndicatorLike,
    *,
    relevant: IndicatorLike | None = None,
    min_labels: int = _MIN_LABELS,
    allow_unanswered: bool = False,
    name: str = "complementary",
) -> NDArray[np.uint8]:
    """Check complementary labels, and return them as a dense 0/1 array.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, n_labels)
        1 where a label is known *not* to apply; at least one, and not all, per row.
    relevant : array-like or sparse matrix of shape (n_samples, n_labels), or None, default=None
        Known relevant labels, checked as by :func:`check_known`.
    min_labels : int, default=3
        Smallest number of labels to accept. With two labels, a complementary label only says
        that the other one applies.
    allow_unanswered : bool, default=False
        Whether rows may have no complementary label, as long as some row has one.
    name : str, default="complementary"
        Name of the matrix in an error message.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 where a label does not apply.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, has no rows or too few labels, has a row with no or
        only complementary labels, or contradicts ``relevant``.

    Examples
    --------
    >>> check_complementary([[0, 1, 0], [1, 0, 0]])
    array([[0, 1, 0],
           [1, 0, 0]], dtype=uint8)
    """
    checked = check_sets(complementary, name, min_labels, allow_empty=allow_unanswered)
    if relevant is not None:
        check_known(relevant, checked, label_names_of(complementary), name=name)
    return checked


def check_known(
    relevant: IndicatorLike,
    complementary: NDArray[np.uint8],
    labels: Sequence[object] | None = None,
    *,
    name: str = "complementary",
) -> NDArray[np.uint8]:
    """Check known relevant labels against complementary ones, and return a dense 0/1 array.

    Parameters
    ----------
    relevant : array-like or sparse matrix of shape (n_samples, n_labels)
        1 where a label is known to apply; a row may have none.
    complementary : ndarray of shape (n_samples, n_labels), dtype uint8
        Complementary labels, already checked.
    labels : sequence of length n_labels, or None, default=None
        Names or numbers of the columns; by default 0, 1, 2, ... If they are names and
        ``relevant`` is a data frame, its columns must have the same names.
    name : str, default="complementary"
        Name of the complementary labels in an error message.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 where a label applies.

    Raises
    ------
    AnnotationError
        If ``relevant`` is not 0/1, has another shape or other names than the complementary
        labels, or marks a complementary label.
    """
    names = list(range(complementary.shape[1]) if labels is None else labels)
    check_label_names(relevant, names, name="relevant", reference=name)
    known = check_indicator(relevant, name="relevant")
    if known.shape != complementary.shape:
        raise AnnotationError(
            f"relevant has shape {known.shape} but {name} {complementary.shape}; both need one row "
            "per sample and one column per label (of classes, in sorted order)"
        )
    both = known & complementary
    if both.any():
        row, label = np.unravel_index(np.argmax(both), both.shape)
        rows = name_some(np.flatnonzero(both.any(axis=1)), "row")
        raise AnnotationError(
            f"row {row} gives label {names[label]!r} as complementary and as relevant (so in "
            f"{rows}); a label either applies or does not, correct one"
        )
    return known


def check_relevant(Y: IndicatorLike) -> NDArray[np.uint8]:
    """Check relevant labels like complementary ones, and return them as a dense 0/1 array.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        1 where a label applies; at least one, and not all, per row.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8

    Raises
    ------
    AnnotationError
        See :func:`check_complementary`.
    """
    return check_sets(Y, "relevant", _MIN_LABELS)


def warn_unchosen(
    complementary: NDArray[np.uint8],
    label_names: Sequence[object] | None = None,
    *,
    stacklevel: int = 2,
) -> None:
    """Warn about labels that are complementary in no row.

    Parameters
    ----------
    complementary : ndarray of shape (n_samples, n_labels), dtype uint8
        Complementary labels, already checked.
    label_names : sequence of length n_labels, or None, default=None
        What to call the labels; by default their column numbers.
    stacklevel : int, default=2
        Which caller the warning points to, as for :func:`warnings.warn`.

    Warns
    -----
    UnchosenLabelWarning
        If a label is never complementary; the message names all such labels.
    """
    columns = np.flatnonzero(~complementary.any(axis=0)).tolist()
    if columns:
        listed = [str(at if label_names is None else label_names[at]) for at in columns]
        warnings.warn(
            f"never chosen as complementary: label{'s' * (len(columns) > 1)} {', '.join(listed)}; "
            "nothing in the data says where they do not apply, so they will tend to be ranked high "
            "everywhere",
            UnchosenLabelWarning,
            stacklevel=stacklevel,
        )


def check_sets(
    values: IndicatorLike, name: str, min_labels: int, *, allow_empty: bool = False
) -> NDArray[np.uint8]:
    """Check that no row marks all labels and, unless ``allow_empty``, that none is empty."""
    checked = check_indicator(values, name=name)
    n_samples, n_labels = checked.shape
    if n_labels < min_labels:
        labels, advice = f"{n_labels} labels (columns)", "give one column per label"
        if n_labels == 1:
            labels = "1 label (column)"
        elif n_labels == 2:
            advice = (
                "with two, 'not a' means 'b': fit an ordinary classifier on the label that is left"
            )
        raise AnnotationError(
            f"{name} has {labels}; learning from complementary labels needs at least {min_labels}: "
            f"{advice}"
        )
    if n_samples == 0:
        raise AnnotationError(f"{name} has no rows; give at least one")
    counts = checked.sum(axis=1, dtype=np.intp)
    empty, full = np.flatnonzero(counts == 0), np.flatnonzero(counts == n_labels)
    if len(empty) == n_samples or (len(empty) and not allow_empty):
        advice = "every row needs at least one, drop the empty rows"
        if allow_empty:
            advice = "at least one row needs a mark"
        raise AnnotationError(f"{name} marks no label in {name_some(empty, 'row')}; {advice}")
    if len(full):
        raise AnnotationError(
            f"{name} marks all {n_labels} labels in {name_some(full, 'row')}; every row must "
            "leave at least one, drop or correct these rows"
        )
    return checked
