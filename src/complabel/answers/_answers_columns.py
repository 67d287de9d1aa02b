"""Read the columns of a table of answers. Each distinct value of a column is read only once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.answers._answers_masks import Mask, mask_of
from complabel.answers._answers_read import check_names
from complabel.answers._forms import _is_missing
from complabel.answers._indicator import MAX_NAMED
from complabel.answers._names import suggest
from complabel.answers._questions import ANSWER_WORDS
from complabel.errors import AnnotationError

_COLUMNS = (
    "answer_id",
    "item",
    "label",
    "answer",
    "question",
    "offered",
    "asked_for",
    "annotator",
    "probability",
)
_REQUIRED = ("item", "label")


@dataclass(frozen=True)
class Column:
    """A column as distinct values, and the code (R,) of each row's value, -1 for a gap."""

    name: str
    codes: NDArray[np.intp]
    values: list[Any]

    def read(self, convert: Callable[[Any], Any], advice: str) -> Column:
        """Return the column with its values converted; an error names the first bad row."""
        converted = []
        for code, value in enumerate(self.values):
            try:
                converted.append(convert(value))
            except (AttributeError, TypeError, ValueError) as error:
                row = int(np.argmax(self.codes == code))
                told = str(error) if isinstance(error, AnnotationError) else advice
                raise AnnotationError(
                    f"row {row} of the table has {self.name} {value!r}; {told}"
                ) from error
        return Column(self.name, self.codes, converted)

    def numbers(self, gap: int = -1) -> NDArray[np.intp]:
        """Return the integer of each row, (R,), ``gap`` for a gap; the values must be integers."""
        return np.array([*self.values, gap], dtype=np.intp)[self.codes]  # code -1: last entry


def read_columns(table: Any) -> dict[str, Column]:
    """Return all columns that answers are made from; a missing column has only gaps."""
    if not (isinstance(table, Mapping) or hasattr(table, "columns")):
        raise AnnotationError(
            f"the table is a {type(table).__name__}; give a pandas.DataFrame or a mapping of "
            "column names to columns"
        )
    found: list[Any] = list(getattr(table, "columns", table))
    for name in _REQUIRED:
        if name not in found:
            raise AnnotationError(
                f"the table has no column {name!r}; it has {', '.join(map(str, found)) or 'none'}"
            )
    columns = {name: _factorize(name, table[name]) for name in _COLUMNS if name in found}
    n_rows = len(columns["item"].codes)
    for name, column in columns.items():
        if len(column.codes) != n_rows:
            raise AnnotationError(
                f"the table's column {name!r} has {len(column.codes)} rows, but 'item' {n_rows}; "
                "all columns must have the same length"
            )
    gaps = np.full(n_rows, -1, dtype=np.intp)
    return {name: columns.get(name, Column(name, gaps, [])) for name in _COLUMNS}


def word_of(words: Sequence[str]) -> Callable[[Any], int]:
    """Return a function that gives the position of a value in ``words``."""
    return lambda value: words.index(value.strip().casefold())


def answer_of(value: Any) -> str:
    """Return "no", "yes" or "unsure" for a word of ``ANSWER_WORDS``, a bool, 0 or 1."""
    word = ANSWER_WORDS.get(_text_of(value).strip().casefold())
    if word is None:
        raise ValueError
    return word


def number_of(value: Any) -> float:
    """Return a number or text as a float; a comma in a text is the decimal point."""
    return float(value.replace(",", ".") if isinstance(value, str) else value)


def count_of(value: Any) -> int:
    """Return a number or text as a whole number of at least 0."""
    number = number_of(value)
    if not (number.is_integer() and 0 <= number < 2**53):
        raise ValueError
    return int(number)


def number_items(
    column: Column, items: Sequence[Any] | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the item number of each row, (R,), -1 for a gap, and the names of the items."""
    ids = _sorted(column.values) if items is None else list(items)
    number = {each: at for at, each in enumerate(ids)}
    if len(number) < len(ids):
        repeated = next(each for at, each in enumerate(ids) if number[each] != at)
        raise AnnotationError(
            f"items has {repeated!r} more than once; give each row of X a different name"
        )
    unknown = [value for value in column.values if value not in number]
    if unknown:
        listed = ", ".join(map(repr, unknown[:MAX_NAMED])) + ", ..." * (len(unknown) > MAX_NAMED)
        hint = "leave these rows out, or add the items"
        texts = {str(each) for each in ids}
        if all(str(value) in texts for value in unknown):
            kinds = type(unknown[0]).__name__, type(ids[0]).__name__
            hint = f"they are {kinds[0]} in the table, but {kinds[1]} in items: use the same type"
        raise AnnotationError(
            f"the table has {listed} ({len(unknown)} in all), which are not in items; {hint}"
        )
    numbers = np.array([*(number[value] for value in column.values), -1], dtype=np.intp)
    return numbers[column.codes], np.fromiter(ids, dtype=object, count=len(ids))


def number_labels(
    column: Column, offered: Column, labels: Sequence[str] | None
) -> tuple[NDArray[np.intp], Column, list[str]]:
    """Return the label of each row, (R,), -1 for a gap; the offered labels; all label names."""
    column = column.read(_text_of, "it must be a name")
    lists = offered.read(_labels_of, 'it must be a JSON list of labels, such as ["sea", "sky"]')
    if labels is None:
        found = {name for each in lists.values for name in each}.union(column.values)
        names = _sorted(found)
        if all(name.isdecimal() for name in names):
            names.sort(key=_as_number)
    else:
        names = check_names(labels)
    if not names:
        raise AnnotationError("the table has no label; give labels, or rows with a label")
    number = {name: at for at, name in enumerate(names)}

    def find(name: str) -> int:
        if name not in number:
            raise AnnotationError(f"{name!r} is not among labels{suggest(name, names)}")
        return number[name]

    numbers = column.read(find, "").numbers()
    lists = lists.read(lambda each: sorted({find(name) for name in each}), "")
    codes: dict[tuple[int, ...], int] = {}
    merged = [codes.setdefault(tuple(each), len(codes)) if each else -1 for each in lists.values]
    different = [list(each) for each in codes]
    return numbers, Column("offered", Column("", lists.codes, merged).numbers(), different), names


def _as_number(digits: str) -> tuple[int, str]:
    """Return a key that sorts digits as numbers; int() refuses more than 4,300 digits."""
    digits = digits.lstrip("0")
    return len(digits), digits


def offered_mask(code: NDArray[np.intp], lists: list[list[int]], shape: tuple[int, int]) -> Mask:
    """Return the mask of offered labels (A, K), given the code of each answer's list, (A,).

    A code of -1 means that all labels were offered; that row stays empty.
    """
    sizes = np.array([*map(len, lists), 0], dtype=np.intp)
    labels = np.array([label for each in lists for label in each], dtype=np.intp)
    starts = np.append(np.cumsum(sizes[:-1]) - sizes[:-1], 0)
    counts = sizes[code]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    answer = np.repeat(np.arange(len(code)), counts)
    return mask_of(answer, labels[np.repeat(starts[code], counts) + within], shape)


def number_people(column: Column) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the annotator code of each row, (R,), -1 if unknown, and the annotators' names."""
    texts = [_text_of(value) for value in column.values]
    people = sorted(set(texts))
    code = {name: at for at, name in enumerate(people)}
    numbers = np.array([*(code[text] for text in texts), -1], dtype=np.intp)
    return numbers[column.codes], tuple(people)


def _text_of(value: Any) -> str:
    """Return a value as a name; 3.0 becomes "3", as a gap turns a column of integers to floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _labels_of(offered: Any) -> list[str]:
    """Return the labels of a JSON list."""
    labels = json.loads(offered)
    if not isinstance(labels, list):
        raise TypeError
    return [_text_of(label) for label in labels]


def _factorize(name: str, values: Any) -> Column:
    """Find the distinct values of a column, and its gaps."""
    if not _has_rows(values):
        raise AnnotationError(
            f"the table's column {name!r} is the single value {values!r}; give a list with a value "
            "for each row"
        )
    if name == "offered":  # text can be hashed, lists cannot
        values = [
            each if isinstance(each, str) or not hasattr(each, "__len__") else _as_json(each)
            for each in values
        ]
    codes, found = _codes_of(values)
    kept = np.array([not _is_missing(value) for value in found], dtype=np.bool_)
    renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    return Column(
        name,
        renumbered[codes].astype(np.intp),
        [value for value, keep in zip(found, kept, strict=True) if keep],
    )


def _has_rows(values: Any) -> bool:
    """Return whether a column can be iterated over and is not a text."""
    try:
        iter(values)
    except TypeError:  # a 0-d array has __iter__, but raises here
        return False
    return not isinstance(values, str | bytes)


def _as_json(labels: Any) -> str:
    """Return a list of labels as JSON text."""
    return json.dumps([_text_of(label) for label in labels])


def _codes_of(values: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the code of each row's value, -1 for a gap, and the values in order of occurrence."""
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, but many times faster
    except ImportError:
        seen: dict[Any, int] = {}
        numbers = [seen.setdefault(value, len(seen)) for value in values]
        return np.array(numbers, dtype=np.intp), list(seen)
    series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
    codes, found = pd.factorize(series)
    return codes, found.tolist()


def _sorted(values: Any) -> list[Any]:
    """Sort values; if their types cannot be compared, sort by type and then as text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))
