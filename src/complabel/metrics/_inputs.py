"""Checks of what the metrics are given."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._parameters import check_array
from complabel.errors import InputError


def check_scores(
    scores: ArrayLike, labels: NDArray[np.uint8], *, names: tuple[str, str]
) -> NDArray[np.float64]:
    """Return finite scores (n, K) of these labels, which are checked already."""
    checked = check_matrix(scores, name=names[1])
    check_same_shape(labels, checked, names=names)
    return checked


def check_matrix(scores: ArrayLike, *, name: str = "scores") -> NDArray[np.float64]:
    """Return a finite, non-empty matrix of scores."""
    checked = check_array(name, scores, "row", "label")
    if checked.size == 0:
        raise InputError(
            f"{name} has shape {checked.shape}; give a non-empty matrix (n_samples, K)"
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
