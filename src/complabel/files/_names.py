"""Lists of names: of the labels, and of the rows of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import DatasetFormatError, InputError
from complabel.files._source import (
    MAX_LISTED,
    StrPath,
    existing,
    explained,
    read_lines,
    some_of,
)


def read_label_names(path: StrPath) -> tuple[str, ...]:
    r"""Read the names of all labels, one on each line.

    Parameters
    ----------
    path : path
        A text file in UTF-8. Blank lines at its end do not count.

    Returns
    -------
    tuple of str
        In the order of the file.

    Raises
    ------
    DatasetNotFoundError
        If there is no such file.
    DatasetFormatError
        If it is empty, a line is blank, or a name occurs twice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> _ = path.write_text("city\nsea\nsky\n")
    >>> read_label_names(path)
    ('city', 'sea', 'sky')
    """
    file = existing("path", path)
    names = read_lines(file, "the names of the labels")
    first: dict[str, int] = {}
    for line, name in enumerate(names, start=1):
        if first.setdefault(name, line) != line:
            raise DatasetFormatError(
                f"{file}, line {line}: label {name!r} is already on line {first[name]}; give each"
                " label once"
            )
    return tuple(names)


def read_items(path: StrPath) -> list[str]:
    """Read the ids of items, one on each line, in the order of the rows of X."""
    return read_lines(existing("items", path), "the ids of the items")


def as_items(ids: Sequence[str]) -> NDArray[Any]:
    """Return ids as an array (n,) of objects."""
    return np.fromiter(ids, dtype=object, count=len(ids))


def as_text(path: Path, name: str, values: NDArray[Any], count: int) -> list[str]:
    """Return the names in an archive as text; they may be numbers there."""
    if values.shape != (count,) or values.dtype.kind not in "iuU":
        raise DatasetFormatError(
            f"{path}: {name} has shape {values.shape} and type {str(values.dtype)[:60]}; give "
            f"{count} names, as np.array(names, dtype=str)"
        )
    with explained(path, f"give {name} as text"):
        found = values.astype(np.str_).tolist()
        "".join(found).encode()
    return list(found)


def numbered(start: int, count: int) -> list[str]:
    """Return row numbers as text."""
    return list(map(str, range(start, start + count)))


def refuse_repeated(path: Path, ids: Sequence[str], place: Callable[[int], str]) -> None:
    """Refuse ids if one occurs twice."""
    if len(set(ids)) == len(ids):
        return
    repeated = [each for each, count in Counter(ids).items() if count > 1]
    at = [row for row, each in enumerate(ids) if each == repeated[0]][:2]
    places = f"{place(at[0])} and {place(at[1])}; give each item one row"
    raise DatasetFormatError(
        f"{path}: {len(repeated)} items occur more than once: {some_of(repeated)}; the first "
        f"is in {places}"
        if len(repeated) > 1
        else f"{path}: item {repeated[0]!r} occurs more than once, in {places}"
    )


def rows_of(
    wanted: Sequence[str] | NDArray[Any], items: Sequence[str] | NDArray[Any], source: object
) -> NDArray[np.intp]:
    """Return the row numbers of some items.

    Parameters
    ----------
    wanted : sequence or ndarray of str
        Items of another table, such as :attr:`Truth.items`.
    items : sequence or ndarray of str
        Names of the rows, such as :attr:`Features.items`.
    source : path or str
        Name of the other table in error messages.

    Returns
    -------
    ndarray of shape (len(wanted),), dtype intp

    Raises
    ------
    InputError
        If an item has no row.

    Examples
    --------
    >>> rows_of(["b.jpg", "a.jpg"], ["a.jpg", "b.jpg", "c.jpg"], "truth.csv")
    array([1, 0])
    """
    place = {item: row for row, item in enumerate(items)}
    missing = [item for item in wanted if item not in place]
    if not missing:
        return np.array([place[item] for item in wanted], dtype=np.intp)
    some = _listed(missing)
    if len(missing) == len(wanted):
        raise InputError(
            f"{source}: none of its {len(wanted):,} items has features. They are called {some}, but"
            f" the items with features {_listed(items)}; use the same names in both files, or name"
            " the rows of the features with --items"
        )
    raise InputError(
        f"{source}: {len(missing):,} of its {len(wanted):,} items have no features: {some}; give"
        " features of all of them, or leave these rows out"
    )


def _listed(names: Sequence[str] | NDArray[Any]) -> str:
    """Join the first few names, without quotes."""
    return ", ".join(names[:MAX_LISTED]) + ", ..." * (len(names) > MAX_LISTED)
