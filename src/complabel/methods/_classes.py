"""Conversion of one class per instance, as in scikit-learn, to an indicator matrix."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from complabel.answers import ClassPerRowWarning
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_classes(y: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return an indicator (n, K) of one class per instance, and the K classes that occur."""
    flat = _flat_classes(y)
    _refuse_indicator_of_one_label(y, flat)
    try:
        check_classification_targets(flat)
        classes = np.unique(flat)
    except (TypeError, ValueError) as error:
        raise AnnotationError(f"y is no list of classes: {error}") from error
    if len(classes) < 2:
        raise AnnotationError(
            f"y holds only one class, {classes[0]}, in all rows; at least 2 classes are needed."
            " If some labels were never chosen, give an indicator matrix."
        )
    return encode_classes(flat, classes), classes


def encode_classes(y: Any, classes: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an indicator (n, K) of one class per instance; its columns are ``classes``."""
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
    """Tell whether y has the shape of one class per instance, (n,) or (n, 1)."""
    shape = shape_of(y)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _flat_classes(y: Any) -> NDArray[Any]:
    """Return one class per instance (n,); refuse gaps and collections, and name the row."""
    values: Any = y.toarray() if sparse.issparse(y) else np.asarray(y)  # type: ignore[attr-defined]
    flat: NDArray[Any] = values.ravel()
    if flat.dtype.kind == "f":
        gaps = ~np.isfinite(flat)
    elif flat.dtype == object:
        gaps = np.array([_is_gap(entry) for entry in flat], dtype=bool)
        nested = [at for at, entry in enumerate(flat) if isinstance(entry, (list, tuple, set))]
        if nested:
            raise AnnotationError(
                f"y holds {flat[nested[0]]!r} in row {nested[0]}, not one class; make an indicator"
                " of collections of names by indicator_from_names(y, labels)"
            )
    else:
        return flat
    if gaps.any():
        row = int(np.argmax(gaps))
        raise AnnotationError(
            f"y holds {flat[row]} in row {row} instead of a class; if rows may have no answer, make"
            " an indicator by indicator_from_names(y, labels) or indicator_from_indices"
        )
    return flat


def _is_gap(entry: object) -> bool:
    """Tell whether an entry is None, NaN, infinity or pandas.NA."""
    if isinstance(entry, (float, np.floating)):
        return not np.isfinite(entry)
    return entry is None or type(entry).__name__ == "NAType"


def _refuse_indicator_of_one_label(y: Any, flat: NDArray[Any]) -> None:
    """Refuse a column of zeros and ones: it is an indicator of one label, not a list of classes."""
    if len(shape_of(y)) == 2 and flat.dtype.kind in "biuf" and np.isin(flat, (0, 1)).all():
        raise AnnotationError(
            f"y has shape {shape_of(y)} and holds zeros and ones, an indicator of one label;"
            " give one column per label, at least 3, or one class per row as y.ravel()"
        )


def warn_of_doubtful_classes(y: Any, classes: NDArray[Any], *, stacklevel: int) -> None:
    """Warn of one name per row and of a column: several labels per row may be meant."""
    names = classes.dtype.kind in "US" or any(isinstance(label, str) for label in classes)
    if not names and len(shape_of(y)) == 1:
        return
    found, way_out = "names", "indicator_from_names(y, labels)"
    if not names:
        found, way_out = "classes in a column", "indicator_from_indices(y, n_labels)"
    warnings.warn(
        f"y holds {found}, one per row. Each is read as a complementary class, and exactly one"
        " class applies to each row, so predict returns one class per row. If several labels"
        f" may apply to a row, pass {way_out} instead; if not, filter ClassPerRowWarning.",
        ClassPerRowWarning,
        stacklevel=stacklevel,
    )


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of an array-like; (n, -1) for n rows of unequal lengths."""
    if hasattr(values, "shape"):
        return tuple(values.shape)
    try:
        return np.asarray(values).shape  # np.shape fails for types that override NumPy's functions
    except ValueError:
        return (len(values), -1)
