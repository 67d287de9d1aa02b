"""What is said of features that are finite, but too large to learn anything from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.methods._base import Features


def refuse_overflow(X: Features) -> None:
    """Refuse features whose squares, added up, exceed the range of float64.

    Raises
    ------
    InputError
        If they do.
    """
    largest = float(max(X.max(), -X.min()))
    if largest > (np.finfo(np.float64).max / X.shape[0] / X.shape[1]) ** 0.5:
        raise InputError(
            f"X holds values up to {largest:.3g}, whose squares overflow: scale the features first"
        )


def refuse_beyond_single(X: Features) -> None:
    """Refuse features that are finite as given, but not in single precision.

    Raises
    ------
    InputError
        The message says where the largest is.
    """
    if max(X.max(), -X.min()) <= np.finfo(np.float32).max:
        return
    matrix = sparse.coo_array(X)
    at = np.argmax(np.abs(matrix.data))
    row, column = (int(index[at]) for index in matrix.coords)
    raise InputError(
        f"X holds {matrix.data[at]:g} in row {row}, column {column}, too large for single"
        " precision; scale the features first"
    )


def range_of(X: Features) -> str:
    """Say between which values the features lie."""
    return f"X holds values from {X.min():.3g} to {X.max():.3g}"
