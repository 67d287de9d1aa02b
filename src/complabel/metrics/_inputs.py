"""Checks of what the metrics are given."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel.errors import InputError


def check_scores(scores: ArrayLike, *, name: str = "scores") -> NDArray[np.float64]:
    """Return a finite, non-empty matrix of scores."""
    try:
        checked = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not a matrix of numbers: {error}") from error
    if checked.ndim != 2 or checked.size == 0:
        raise InputError(
            f"{name} has shape {checked.shape}; give a non-empty matrix (n_samples, K)"
        )
    finite = np.isfinite(checked)
    if not finite.all():
        row, label = np.argwhere(~finite)[0]
        raise InputError(
            f"{name} holds {checked[row, label]} at row {row}, label {label}; "
            "every value must be finite"
        )
    return checked


def check_same_shape(
    labels: NDArray[np.uint8], other: NDArray[np.generic], *, names: tuple[str, str]
) -> None:
    """Refuse two matrices that do not speak of the same rows and labels."""
    if labels.shape != other.shape:
        raise InputError(
            f"{names[0]} has shape {labels.shape} but {names[1]} {other.shape}; both need one "
            "row per sample and one column per label"
        )
