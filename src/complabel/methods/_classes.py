"""One class per instance, as scikit-learn writes it, read as an indicator matrix."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from complabel.annotations import ClassPerRowWarning
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_classes(y: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return one class per instance as an indicator, and the classes; only those that occur."""
    flat = _flat_classes(y)
    _refuse_indicator_of_one_label(y, flat)
    try:
        check_classification_targets(flat)
        classes = np.unique(flat)
    except (TypeError, ValueError) as error:
        raise AnnotationError(f"y is no list of classes: {error}") from error
    if len(classes) < 2:
        raise AnnotationError(
            f"every instance carries one class, {classes[0]}; at least 2 classes are"
            " needed. Give an indicator matrix if some labels were never chosen."
        )
    return encode_classes(flat, classes), classes


def encode_classes(y: Any, classes: NDArray[Any]) -> NDArray[np.uint8]:
    """Turn one class per instance into an indicator whose columns are ``classes``."""
    flat = _flat_classes(y)
    seen = np.isin(flat, classes)
    if not seen.all():
        row = int(np.argmin(seen))
        raise AnnotationError(
            f"class {flat.tolist()[row]!r} of row {row} was not seen during fit; known are"
            f" {classes.tolist()}"
        )
    indicator: NDArray[np.uint8] = (flat[:, None] == classes[None, :]).astype(np.uint8)
    return indicator


def is_single(y: Any) -> bool:
    """Tell one class per instance, as (n,) or (n, 1), from an indicator matrix."""
    shape = shape_of(y)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _flat_classes(y: Any) -> NDArray[Any]:
    """Return one class per instance, refusing gaps and collections with their place."""
    values: Any = y.toarray() if sparse.issparse(y) else np.asarray(y)  # type: ignore[attr-defined]
    flat: NDArray[Any] = values.ravel()
    if flat.dtype.kind == "f":
        gaps = ~np.isfinite(flat)
    elif flat.dtype == object:
        gaps = np.array([_is_gap(entry) for entry in flat], dtype=bool)
        nested = [at for at, entry in enumerate(flat) if isinstance(entry, (list, tuple, set))]
        if nested:
            raise AnnotationError(
                f"y holds {flat[nested[0]]!r} in row {nested[0]}, not one class; of collections"
                " of names, indicator_from_names(y, labels) makes an indicator"
            )
    else:
        return flat
    if gaps.any():
        row = int(np.argmax(gaps))
        raise AnnotationError(
            f"y holds {flat[row]} in row {row}, so nobody named a class; with"
            " indicator_from_names(y, labels) or indicator_from_indices rows may have no answer"
        )
    return flat


def _is_gap(entry: object) -> bool:
    """Tell None, NaN, infinity and pandas.NA."""
    if isinstance(entry, (float, np.floating)):
        return not np.isfinite(entry)
    return entry is None or type(entry).__name__ == "NAType"


def _refuse_indicator_of_one_label(y: Any, flat: NDArray[Any]) -> None:
    """Refuse a column of zeros and ones: a matrix of one label rather than a list of classes."""
    if len(shape_of(y)) == 2 and flat.dtype.kind in "biuf" and np.isin(flat, (0, 1)).all():
        raise AnnotationError(
            f"y has shape {shape_of(y)} and holds zeros and ones, an indicator of one label;"
            " give one column per label, at least 3, or one class per row as y.ravel()"
        )


def warn_of_doubtful_classes(y: Any, classes: NDArray[Any], *, stacklevel: int) -> None:
    """Warn of names and of a column, which may be meant as labels of which several apply."""
    names = classes.dtype.kind in "US" or any(isinstance(label, str) for label in classes)
    if not names and len(shape_of(y)) == 1:
        return
    found, way_out = "names", "indicator_from_names(y, labels)"
    if not names:
        found, way_out = "classes in a column", "indicator_from_indices(y, n_labels)"
    warnings.warn(
        f"y holds {found}, one per row. They are read as one complementary class per row where"
        " exactly one class applies, so predict returns one class per row. If several labels"
        f" may apply to a row, pass {way_out} instead; if not, filter ClassPerRowWarning.",
        ClassPerRowWarning,
        stacklevel=stacklevel,
    )


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of an array-like; that of the outer sequence where rows are uneven."""
    if hasattr(values, "shape"):
        return tuple(values.shape)
    try:
        return np.asarray(values).shape  # np.shape refuses what overrides NumPy's functions
    except ValueError:
        return (len(values), -1)
