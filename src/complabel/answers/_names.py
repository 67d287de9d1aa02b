"""Names of labels and of rows: read them from a data frame, compare them, pair rows by them."""

import difflib
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from complabel.answers._indicator import MAX_NAMED
from complabel.errors import AnnotationError, InputError


def label_names_of(values: object) -> list[str] | None:
    """Return the label names of a data frame (its columns) or of answers.

    Parameters
    ----------
    values : object
        A data frame of pandas or polars, Answers, or anything else.

    Returns
    -------
    list of str or None
        None if ``values`` has no names, or if a column's name is not a string.

    Raises
    ------
    AnnotationError
        If two columns have the same name.
    """
    found = getattr(values, "columns", getattr(values, "label_names", None))
    try:
        names = [] if found is None else list(found)
    except TypeError:  # an object of another kind, whose attribute is not a list
        return None
    if not names or not all(isinstance(name, str) for name in names):
        return None
    repeated, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise AnnotationError(f"two columns are named {repeated!r}; give every label one column")
    return names


def check_label_names(
    values: object, expected: Sequence[object], *, name: str = "y", reference: str = "fit"
) -> None:
    """Check that a data frame or answers have the expected label names, in the same order.

    Parameters
    ----------
    values : object
        A data frame or Answers. Arrays have no names and always pass. Answers without names are
        refused.
    expected : sequence
        The expected label of each column. If one of them is not a str, nothing is checked.
    name, reference : str, default="y" and "fit"
        Words for an error message: what ``values`` is called, and where ``expected`` comes from.

    Raises
    ------
    AnnotationError
        If a name is unknown, missing, or at another position.
    """
    names = label_names_of(values)
    labels = [str(label) for label in expected if isinstance(label, str)]
    if names is None and hasattr(values, "label_names") and len(labels) == len(expected):
        raise AnnotationError(
            f"{name} has no label_names{suggest('', labels)}: give those that {reference} was given"
        )
    if names is None or len(labels) < len(expected):
        return
    for unknown in [label for label in names if label not in labels]:
        raise AnnotationError(
            f"{name} has the column {unknown!r}, which {reference} was not given"
            f"{suggest(unknown, labels)}"
        )
    for missing in [label for label in labels if label not in names]:
        raise AnnotationError(f"{name} lacks the column {missing!r}, which {reference} was given")
    for at, (found, label) in enumerate(zip(names, labels, strict=True)):
        if found != label:
            raise AnnotationError(
                f"{name} has its columns in another order than {reference}: column {at} is "
                f"{found!r} where {label!r} was; give them in the same order"
            )


def suggest(unknown: str, known: Sequence[str]) -> str:
    """Return '; did you mean ...?' if a known name is similar, else a list of known names."""
    plain = {label.strip().casefold(): label for label in known}
    near = difflib.get_close_matches(unknown.strip().casefold(), plain, n=1)
    if near:
        return f"; did you mean {plain[near[0]]!r}?"
    listed = ", ".join(map(repr, known[:MAX_NAMED]))
    more = ", ..." if len(known) > MAX_NAMED else ""
    return f"; the {len(known)} known labels are {listed}{more}"


def pair_rows(X: object, y: Any, *, names: tuple[str, str] = ("X", "y")) -> Any:
    """Return labels or answers in the order of the rows of X, by the names that both have.

    Parameters
    ----------
    X : object
        Features. The rows of a pandas object are named by its index, unless that is the default
        one. All others have no names.
    y : object
        Answers, whose items are named by ``item_names``; or labels, named like features.
    names : (str, str), default=("X", "y")
        What both are called in an error message.

    Returns
    -------
    object
        ``y`` itself if one of both has no names, or if both have the same in the same order.

    Raises
    ------
    InputError
        If both have names, but not the same ones, each once.

    Notes
    -----
    If no name is in both, the names are compared as text, so that 1 is "1". If still none is,
    and one side has only whole numbers, these are taken as numbers of rows: a frame with the
    default index has such an index after a split.
    """
    rows, items = _row_names(X), _row_names(y)
    if rows is None or items is None or rows == items:
        return y
    numbered = any(all(isinstance(each, Integral) for each in side) for side in (rows, items))
    if set(rows).isdisjoint(items):
        rows, items = [str(each) for each in rows], [str(each) for each in items]
    shared = set(rows).intersection(items)
    if rows == items or (numbered and not shared):
        return y
    if not len(rows) == len(items) == len(shared):
        alone = [*_only_in(rows, shared, names[0]), *_only_in(items, shared, names[1])]
        raise InputError(
            f"{names[0]} and {names[1]} both have names of rows, but"
            f" {' and '.join(alone) or 'some occur more than once'}; keep the rows that both have,"
            " or give X.to_numpy() if both have the same rows in the same order"
        )
    at = {each: row for row, each in enumerate(items)}
    order = np.array([at[each] for each in rows], dtype=np.intp)
    return y.iloc[order] if hasattr(y, "iloc") else y[order]


def _only_in(names: list[Any], shared: set[Any], owner: str) -> list[str]:
    """Return words for the names that only one side has; none: an empty list."""
    alone = [each for each in names if each not in shared]
    shown = ", ".join(map(repr, alone[:MAX_NAMED])) + (", ..." if len(alone) > MAX_NAMED else "")
    words = f"{len(alone):,} of {len(names):,} names are only in {owner} ({shown})"
    return [words] if alone else []


def _row_names(values: Any) -> list[Any] | None:
    """Return the names of items or rows; None if they have none, as with pandas' default index."""
    if hasattr(values, "item_names"):
        return None if values.item_names is None else list(values.item_names)
    index = values.index if hasattr(values, "iloc") else None
    if index is None or (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1):
        return None
    return list(index.tolist())
