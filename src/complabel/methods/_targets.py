"""What a classifier is given to learn from, turned into indicator matrices at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from complabel.annotations import check_complementary, check_indicator
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Targets:
    """Checked targets.

    Parameters
    ----------
    indicator : ndarray of shape (n_samples, K), uint8
        Complementary labels, or relevant ones for a method that learns from those.
    classes : ndarray of shape (K,)
        What the columns stand for.
    single : bool
        Whether they came as one class per instance rather than as an indicator.
    """

    indicator: NDArray[np.uint8]
    classes: NDArray[Any]
    single: bool

    @classmethod
    def from_complementary(cls, y: Any, *, relevant: NDArray[np.uint8] | None) -> Targets:
        """Check complementary labels, given as an indicator or as one class per instance."""
        if _is_single(y):
            targets = cls._from_classes(y)
            if relevant is not None:
                _refuse_contradiction(targets.indicator, relevant)
            return targets
        checked = check_complementary(y, relevant=relevant)
        return cls(checked, np.arange(checked.shape[1]), single=False)

    @classmethod
    def from_relevant(cls, y: Any) -> Targets:
        """Check relevant labels, given as an indicator or as one class per instance."""
        if _is_single(y):
            return cls._from_classes(y)
        checked = check_indicator(y, name="relevant")
        return cls(checked, np.arange(checked.shape[1]), single=False)

    @classmethod
    def _from_classes(cls, y: Any) -> Targets:
        """Encode one class per instance; only classes that occur are known."""
        flat = np.asarray(y).ravel()
        try:
            check_classification_targets(flat)
        except ValueError as error:
            raise AnnotationError(str(error)) from error
        classes = np.unique(flat)
        if len(classes) < 2:
            raise AnnotationError(
                f"every instance carries one class, {classes[0]}; at least 2 classes are"
                " needed. Give an indicator matrix if some labels were never chosen."
            )
        return cls(encode_classes(flat, classes), classes, single=True)


def encode_classes(y: Any, classes: NDArray[Any]) -> NDArray[np.uint8]:
    """Turn one class per instance into an indicator whose columns are ``classes``."""
    flat = np.asarray(y).ravel()
    unknown = np.setdiff1d(flat, classes)
    if unknown.size:
        raise AnnotationError(
            f"class {unknown[0]!r} was not seen during fit; known are {classes.tolist()}"
        )
    indicator: NDArray[np.uint8] = (flat[:, None] == classes[None, :]).astype(np.uint8)
    return indicator


def _is_single(y: Any) -> bool:
    """Tell one class per instance, as (n,) or (n, 1), from an indicator matrix."""
    shape = np.shape(y) if not hasattr(y, "shape") else y.shape
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _refuse_contradiction(complementary: NDArray[np.uint8], relevant: NDArray[np.uint8]) -> None:
    """Refuse relevant labels of another shape, or that are complementary as well."""
    if relevant.shape != complementary.shape:
        raise AnnotationError(
            f"relevant has shape {relevant.shape}, but the complementary classes make"
            f" {complementary.shape}: give one column per class, in sorted order"
        )
    both = np.argwhere(complementary & relevant)
    if both.size:
        row, label = both[0]
        raise AnnotationError(
            f"row {row}: label {label} is given both as complementary and as relevant"
        )
