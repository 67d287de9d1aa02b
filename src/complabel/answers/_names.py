"""Labels and rows by name: words of questions, label names, forms of labels, pairing of rows."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from complabel._opening import tidy
from complabel._parameters import Indicator, Ints
from complabel.answers._masks import MAX_NAMED, IndicatorLike, check_indicator
from complabel.errors import AnnotationError, InputError

Question: TypeAlias = Literal["named", "asked", "ticked", "excluded", "positive", "tagged"]
"""The question that an answer belongs to."""

QUESTIONS: tuple[Question, ...] = get_args(Question)
"""All questions that an answer can belong to; :class:`Answers` says what each means."""

ALL_APPLY = ("answer", "skip", "pick", "never")
"""What an annotator who should name a label does if all offered labels apply: says so ("answer"),
does not answer ("skip"), or names one of them anyway ("pick"). "never": this does not happen.
The same of one who should name a label that applies, if no offered label does."""

ANSWER_WORDS: dict[str, str] = {
    **dict.fromkeys(("yes", "y", "true", "1"), "yes"),
    **dict.fromkeys(("no", "n", "false", "0"), "no"),
    **dict.fromkeys(("unsure", "?", "skip"), "unsure"),
}
"""What may stand in the column ``answer`` of a table, in lower case, and the answer that it means.
"""


def label_names_of(values: object) -> list[str] | None:
    """Return the label names of a data frame (its columns) or of answers.

    None if there are none, or if one is not a string. An AnnotationError if two are the same.
    """
    columns = getattr(values, "columns", getattr(values, "label_names", None))
    try:
        names = [] if columns is None else list(columns)
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
    """Refuse a data frame or answers that have not the ``expected`` label names, in their order.

    Arrays always pass, answers without names never. If an expected label is not a str, nothing is
    checked. Messages call ``values`` ``name``, and say that ``reference`` was given the names.
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
    for at, (name_there, label) in enumerate(zip(names, labels, strict=True)):
        if name_there != label:
            raise AnnotationError(
                f"{name} has its columns in another order than {reference}: column {at} is "
                f"{name_there!r} where {label!r} was; give them in the same order"
            )


def check_names(label_names: Sequence[str]) -> list[str]:
    """Return the label names, after checking that all are different strings."""
    names = list(_columns_by_name(label_names))
    for at, name in enumerate(names):
        if not isinstance(name, str):
            raise AnnotationError(f"label_names[{at}] is {name!r}; give names as strings")
    return names


def suggest(unknown: str, known: Sequence[str]) -> str:
    """Return '; did you mean ...?' if a known name is similar, else a list of known names."""
    plain = {label.strip().casefold(): label for label in known}
    near = difflib.get_close_matches(unknown.strip().casefold(), plain, n=1)
    if near:
        return f"; did you mean {plain[near[0]]!r}?"
    return f"; the {len(known)} known labels are {list_some(known)}"


def list_some(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names[:MAX_NAMED])) + (", ..." if len(names) > MAX_NAMED else "")


def is_gap(entry: object) -> bool:
    """Return whether an entry means "no answer": None, NaN, pandas.NA or a blank string."""
    if isinstance(entry, str):
        return not entry.strip()
    if isinstance(entry, (float, np.floating)):
        return bool(np.isnan(entry))
    return entry is None or type(entry).__name__ == "NAType"  # pandas.NA, if pandas is installed


def shown(value: object) -> str:
    """Return a value for a message, cut if it is long."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} nested too deeply"
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text):,} characters)"


def name_of(label: Any) -> str:
    """Return a label of a list as a name; a ValueError if it is no text and no number."""
    if is_gap(label) or (hasattr(label, "__len__") and not isinstance(label, str)):
        raise ValueError
    return text_of(label)


def text_of(value: Any) -> str:
    """Return a value as a name, tidied up; 3.0 becomes "3", as a gap turns integers to floats."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else tidy(str(value))


def indicator_from_indices(indices: Iterable[Any], n_labels: int) -> Indicator:
    """Convert label numbers to an indicator matrix.

    Parameters
    ----------
    indices : (n_samples,) integers, or one collection of integers per row, or data frame
        Label numbers of each row, counted from 0. In a data frame or 2-D array, each column
        holds the answers of one annotator. None, NaN and ``pandas.NA`` mean "no answer". A
        number that occurs twice in a row counts once.
    n_labels : int

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
    >>> indicator_from_indices([[0, 2], 1, None], 3)
    array([[1, 0, 1],
           [0, 1, 0],
           [0, 0, 0]], dtype=uint8)
    """
    indicator, n_entries = _read_entries(
        indices,
        {number: number for number in range(n_labels)},
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


def indicator_from_names(names: Iterable[Any], label_names: Sequence[str]) -> Indicator:
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
        See :func:`indicator_from_indices`.

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


def names_from_indicator(
    indicator: IndicatorLike, label_names: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the label names of each row.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)
    label_names : sequence of str, length n_labels
        The name of each column, all different.

    Returns
    -------
    list of tuple of str
        One tuple per row, in the order of the columns; empty if the row has no label.

    Raises
    ------
    AnnotationError
        If the matrix is not 0/1, or ``label_names`` has another length or a name twice.

    Examples
    --------
    >>> names_from_indicator([[1, 0, 1], [0, 1, 0]], ["city", "desert", "water"])
    [('city', 'water'), ('desert',)]
    """
    checked = check_indicator(indicator)
    names = np.array(list(_columns_by_name(label_names)), dtype=object)
    if len(names) != checked.shape[1]:
        raise AnnotationError(
            f"there are {len(names)} label names for {checked.shape[1]} columns; give one for each"
        )
    return [tuple(names[row].tolist()) for row in checked.astype(np.bool_)]


def pair_rows(X: object, y: Any, *, names: tuple[str, str] = ("X", "y")) -> Any:
    """Return labels or answers in the order of the rows of X, by the names that both have.

    The rows of a pandas object are named by its index, unless that is the default one; items of
    Answers by ``item_names``. ``y`` itself is returned if one of both has no names. If both have
    names, but not the same ones, each once, an InputError calls them ``names``.

    If no name is in both, the names are compared as text, so that 1 is "1". If still none is,
    and one side has only whole numbers, these are taken as numbers of rows: a frame with the
    default index has such an index after a split.
    """
    rows, items = row_names(X), row_names(y)
    if rows is None or items is None or rows == items:
        return y
    numbered = any(all(isinstance(each, Integral) for each in side) for side in (rows, items))
    if set(rows).isdisjoint(items):
        rows, items = [str(each) for each in rows], [str(each) for each in items]
    shared = set(rows).intersection(items)
    if rows == items or (numbered and not shared):
        return y
    if not len(rows) == len(items) == len(shared):
        alone = [
            f"{len(missing):,} of {len(side):,} names are only in {owner} ({list_some(missing)})"
            for side, owner in ((rows, names[0]), (items, names[1]))
            if (missing := [each for each in side if each not in shared])
        ]
        raise InputError(
            f"{names[0]} and {names[1]} both have names of rows, but"
            f" {' and '.join(alone) or 'some occur more than once'}; keep the rows that both have,"
            " or give X.to_numpy() if both have the same rows in the same order"
        )
    at = {each: row for row, each in enumerate(items)}
    order = np.array([at[each] for each in rows], dtype=np.intp)
    return y.iloc[order] if hasattr(y, "iloc") else y[order]


def row_names(values: Any) -> list[Any] | None:
    """Return the names of items or rows; None if they have none, as with pandas' default index."""
    if hasattr(values, "item_names"):
        names = values.item_names
        return None if names is None else tidied(names)
    index = values.index if hasattr(values, "iloc") else None
    if index is None or (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1):
        return None
    return tidied(index.tolist())


def tidied(names: Iterable[Any]) -> list[Any]:
    return [tidy(name) if isinstance(name, str) else name for name in names]


def _columns_by_name(label_names: Sequence[str]) -> dict[str, int]:
    if isinstance(label_names, str):
        raise AnnotationError(f"label_names is the string {label_names!r}; give a list of names")
    as_list = getattr(label_names, "tolist", None)  # makes plain strings of an array's entries
    names: list[Any] = as_list() if as_list else list(label_names)
    names = tidied(names)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise AnnotationError(f"label_names repeats {repeated[0]!r}; every name must differ")
    blank = next((column for column, name in enumerate(names) if is_gap(name)), None)
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
) -> tuple[Indicator, Ints]:
    """Return the indicator (n, K) of all entries but gaps, and how many each row has, (n,).

    ``complain`` returns the message about an entry that has no column.
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
        is_one = isinstance(answer, scalar) or is_gap(answer)
        is_collection = hasattr(answer, "__iter__") and getattr(answer, "ndim", 1) > 0
        if not is_one and (isinstance(answer, (bytes, Mapping)) or not is_collection):
            raise AnnotationError(f"row {row} is {answer!r}, neither a {noun} nor a list of them")
        for entry in [answer] if is_one else answer:
            if is_gap(entry):
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
