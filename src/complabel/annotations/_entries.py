"""Read answers row by row: bare entries, collections of them, data frames, and gaps."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import AnnotationError


def flatten(
    per_row: Any, *, scalar: tuple[type, ...], noun: str
) -> tuple[list[Any], NDArray[np.intp], int]:
    """Return all entries in one list, the row of each, and the number of rows.

    Gaps are left out, so that a row may have no entry. A data frame is read by rows.
    """
    if isinstance(per_row, (str, bytes, Mapping)):
        raise AnnotationError(
            f"the {noun}s are a single {type(per_row).__name__}; give a list with one entry, or "
            "one collection of entries, for each row"
        )
    if hasattr(per_row, "columns") and hasattr(per_row, "to_numpy"):
        per_row = per_row.to_numpy()
    entries: list[Any] = []
    rows: list[int] = []
    n_rows = 0
    for position, row in enumerate(per_row):
        n_rows += 1
        for entry in _entries_of(row, position, scalar, noun):
            if is_missing(entry):
                continue
            if not isinstance(entry, scalar) or isinstance(entry, bool):
                raise AnnotationError(f"row {position} holds {entry!r}, which is no {noun}")
            entries.append(entry)
            rows.append(position)
    if n_rows == 0:
        raise AnnotationError(f"there are no rows; give one {noun} or more for each sample")
    return entries, np.array(rows, dtype=np.intp), n_rows


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
