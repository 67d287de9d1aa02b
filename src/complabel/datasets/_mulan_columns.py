"""Tells attributes that look like labels which their XML file has lost."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from complabel.datasets._arff import ArffTable
from complabel.errors import DatasetFormatError


def refuse_unnamed_labels(
    tables: Sequence[ArffTable], is_label: NDArray[np.bool_], xml: Path
) -> None:
    """Refuse attributes that look like labels, lie among or beside them, and have no name."""
    looks = _looks_like_label(tables, is_label)
    suspect = _between(is_label, looks) | _beside(is_label, looks)
    if not suspect.any():
        return
    first = int(np.argmax(suspect))
    others = int(suspect.sum()) - 1
    more = f" (as {others} more)" if others else ""
    raise DatasetFormatError(
        f"{tables[0].source}: attribute {tables[0].names[first]!r}{more} holds only 0 and 1 and "
        f"lies between or beside the labels, but {xml} does not name it. A label read as a feature "
        'tells the answer: add <label name="..."> there if it is one, else give '
        "xml_is_complete=True"
    )


def _looks_like_label(
    tables: Sequence[ArffTable], is_label: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mark the attributes (d + K,) that are of the labels' kind and no labels."""
    looks = tables[0].binary
    if not looks[is_label].all():
        looks = looks | np.logical_and.reduce([_only_zeros_and_ones(table) for table in tables])
    return looks & ~is_label


def _only_zeros_and_ones(table: ArffTable) -> NDArray[np.bool_]:
    """Mark the columns without another value."""
    values = table.values
    if isinstance(values, np.ndarray):
        return np.asarray(((values == 0) | (values == 1)).all(axis=0))
    only = np.ones(values.shape[1], dtype=bool)
    only[values.indices[values.data != 1]] = False  # zeros are not stored
    return only


def _between(is_label: NDArray[np.bool_], looks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark those with labels on both sides."""
    before = np.logical_or.accumulate(is_label)
    after = np.logical_or.accumulate(is_label[::-1])[::-1]
    return looks & before & after


def _beside(is_label: NDArray[np.bool_], looks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark those that touch labels, where they can be told from the features."""
    if not (looks | is_label).all():
        # An unbroken stretch of 0/1 columns: which of them hold a label?
        stretch = np.cumsum(np.diff(looks | is_label, prepend=False))
        return looks & np.isin(stretch, stretch[is_label])
    positions = np.flatnonzero(is_label)
    n_before, n_after = int(positions[0]), int(is_label.size - 1 - positions[-1])
    rarer = np.zeros_like(looks)
    if n_before and n_after:
        rarer[: n_before if n_before <= n_after else 0] = True
        rarer[is_label.size - (n_after if n_after <= n_before else 0) :] = True
    return looks & rarer
