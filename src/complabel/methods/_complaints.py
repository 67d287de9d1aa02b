"""What is wrong with features and their number of rows, in sentences that say where."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

from complabel.errors import InputError


def located(error: ValueError, X: Any) -> str:
    """Say where the first entry of X is that scikit-learn complained of, and nothing beside."""
    message = str(error)
    # The array itself follows, whatever its size.
    message = re.sub(r":\s*\n?array=.*?\.\n(?=Reshape)", ". ", message, flags=re.DOTALL)
    if "NaN" not in message and "infinity" not in message:
        return message.splitlines()[0] if "Complex data" in message else message
    matrix: Any = X if sparse.issparse(X) else np.atleast_2d(X)
    try:
        entries = sparse.coo_array(matrix.astype(np.float64))
    except (TypeError, ValueError):  # not numbers: scikit-learn's complaint says so
        return message
    bad = np.flatnonzero(~np.isfinite(entries.data))
    if not bad.size:
        return message
    row, column = (int(index[bad[0]]) for index in entries.coords)
    counted = "1 entry is" if len(bad) == 1 else f"{len(bad)} entries are"
    # Further lines are advice to take scikit-learn's own estimators.
    return (
        f"{message.splitlines()[0]} {counted} not finite, the first in row {row},"
        f" column {column}. Remove or impute them first."
    )


def refuse_other_number_of_rows(y: Any, n_samples: int, *, name: str = "y") -> None:
    """Refuse labels of more or fewer rows than X; what is no sequence is refused elsewhere."""
    shape = shape_of(y)
    if not shape or shape[0] == n_samples:
        return
    if len(shape) == 2 and shape[1] == n_samples:
        advice = f"{name} has shape {shape}, so it looks transposed: give {name}.T"
    else:
        advice = "both need one row per sample"
    raise InputError(f"X has {n_samples} rows but {name} has {shape[0]}; {advice}")


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of an array-like; that of the outer sequence where rows are uneven."""
    if hasattr(values, "shape"):
        return tuple(values.shape)
    try:
        return np.asarray(values).shape  # np.shape refuses what overrides NumPy's functions
    except ValueError:
        return (len(values), -1)
