"""Read answers row by row: bare entries, collections of them, data frames, and gaps."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import AnnotationError


def read_entries(
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
    if isinstance(per_row, np.ndarray):
        per_row = per_row.tolist()  # Python's own numbers and strings are several times as fast
    rows: list[int] = []
    labels: list[int] = []
    n_rows = 0
    for position, row in enumerate(per_row):
        n_rows += 1
        for entry in _entries_of(row, position, scalar, noun):
            if is_missing(entry):
                continue
            if not isinstance(entry, scalar) or isinstance(entry, bool):
                raise AnnotationError(f"row {position} holds {entry!r}, which is no {noun}")
            if entry not in columns:
                raise AnnotationError(f"row {position} has {complain(entry)}")
            rows.append(position)
            labels.append(columns[entry])
    if n_rows == 0:
        raise AnnotationError(f"there are no rows; give one {noun} or more for each sample")
    indicator = np.zeros((n_rows, len(columns)), dtype=np.uint8)
    indicator[rows, labels] = 1
    return indicator, np.bincount(np.array(rows, dtype=np.intp), minlength=n_rows)


def is_missing(entry: object) -> bool:
    """Tell None, NaN, pandas.NA and blank strings: nobody answered."""
    if isinstance(entry, str):
        return not entry.strip()
    if isinstance(entry, (float, np.floating)):
        return bool(np.isnan(entry))
    return entry is None or type(entry).__name__ == "NAType"  # of pandas, which may be absent


def _entries_of(row: Any, position: int, scalar: tuple[type, ...], noun: str) -> Iterable[Any]:
    """Return one row's entries."""
    if isinstance(row, scalar) or is_missing(row):
        return [row]
    is_collection = hasattr(row, "__iter__") and getattr(row, "ndim", 1) > 0
    if isinstance(row, (bytes, Mapping)) or not is_collection:
        raise AnnotationError(f"row {position} is {row!r}, neither a {noun} nor a sequence of them")
    entries: Iterable[Any] = row
    return entries
