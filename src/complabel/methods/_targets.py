"""What a classifier is given to learn from, turned into indicator matrices at the door."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from complabel.annotations import (
    ClassPerRowWarning,
    UnansweredRowWarning,
    check_complementary,
    check_indicator,
    check_known,
    label_names_of,
    warn_unchosen,
)
from complabel.errors import AnnotationError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_USER = 4  # from a helper below over its constructor and fit to the caller of fit


@dataclass(frozen=True)
class Targets:
    """What ``fit`` was given, checked; rows without an answer are left out."""

    complementary: NDArray[np.uint8]
    """(n_rows, K); the true labels instead for a reference method."""
    classes: NDArray[Any]
    """What the K columns stand for: names where a data frame has them."""
    single: bool
    """Whether they came as one class per instance rather than as an indicator."""
    relevant: NDArray[np.uint8] | None = None
    """Known relevant labels (n_rows, K), if any are."""
    answered: NDArray[np.bool_] | None = None
    """Which samples the rows are (n_samples,), where some were left out."""

    @classmethod
    def from_complementary(cls, y: Any, *, relevant: Any) -> Targets:
        """Check complementary labels, given as an indicator or as one class per instance."""
        single = _is_single(y)
        if single:
            complementary, classes = _read_classes(y)
            _warn_of_doubtful_classes(y, classes)
        else:
            complementary = check_complementary(y, allow_unanswered=True, name="y")
            classes = _classes_of(y, complementary.shape[1])
        if relevant is not None:
            relevant = check_known(relevant, complementary, classes.tolist(), name="y")
        warn_unchosen(complementary, classes.tolist(), stacklevel=_USER)
        answered: NDArray[np.bool_] = np.asarray(complementary.any(axis=1))
        if answered.all():
            return cls(complementary, classes, single, relevant)
        _warn_unanswered(answered, relevant)
        relevant = None if relevant is None else relevant[answered]
        return cls(complementary[answered], classes, single, relevant, answered)

    @classmethod
    def from_true_labels(cls, y: Any) -> Targets:
        """Check the labels that a reference learns from, an indicator or one class per instance."""
        if _is_single(y):
            return cls(*_read_classes(y), single=True)
        true_labels = check_indicator(y, name="y")
        return cls(true_labels, _classes_of(y, true_labels.shape[1]), single=False)


def _read_classes(y: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
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


def _is_single(y: Any) -> bool:
    """Tell one class per instance, as (n,) or (n, 1), from an indicator matrix."""
    shape = _shape_of(y)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _classes_of(y: Any, n_labels: int) -> NDArray[Any]:
    """Return the labels' names where y is a data frame that has them, else their numbers."""
    names = label_names_of(y)
    return np.arange(n_labels) if names is None else np.array(names)


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
    if len(_shape_of(y)) == 2 and flat.dtype.kind in "biuf" and np.isin(flat, (0, 1)).all():
        raise AnnotationError(
            f"y has shape {_shape_of(y)} and holds zeros and ones, an indicator of one label;"
            " give one column per label, at least 3, or one class per row as y.ravel()"
        )


def _warn_of_doubtful_classes(y: Any, classes: NDArray[Any]) -> None:
    """Warn of names and of a column, which may be meant as labels of which several apply."""
    names = classes.dtype.kind in "US" or any(isinstance(label, str) for label in classes)
    if not names and len(_shape_of(y)) == 1:
        return
    found, way_out = "names", "indicator_from_names(y, labels)"
    if not names:
        found, way_out = "classes in a column", "indicator_from_indices(y, n_labels)"
    warnings.warn(
        f"y holds {found}, one per row. They are read as one complementary class per row where"
        " exactly one class applies, so predict returns one class per row. If several labels"
        f" may apply to a row, pass {way_out} instead; if not, filter ClassPerRowWarning.",
        ClassPerRowWarning,
        stacklevel=_USER,
    )


def _warn_unanswered(answered: NDArray[np.bool_], relevant: NDArray[np.uint8] | None) -> None:
    """Warn of rows without a complementary label, which are left out."""
    empty = np.flatnonzero(~answered)
    shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
    lost = 0 if relevant is None else int(relevant[~answered].any(axis=1).sum())
    also = f"; so are the known relevant labels that {lost} of them have" if lost else ""
    warnings.warn(
        f"{len(empty)} of {len(answered)} rows of y mark no label (row{'s' * (len(empty) > 1)}"
        f" {shown}): nobody said what does not apply, so they are left out{also}",
        UnansweredRowWarning,
        stacklevel=_USER,
    )


def refuse_other_number_of_rows(y: Any, n_samples: int) -> None:
    """Refuse labels of more or fewer rows than X; what is no sequence is refused elsewhere."""
    shape = _shape_of(y)
    if not shape or shape[0] == n_samples:
        return
    advice = "both need one row per sample"
    if len(shape) == 2 and shape[1] == n_samples:
        advice = f"y has shape {shape}, so it looks transposed: give y.T"
    raise InputError(f"X has {n_samples} rows but y has {shape[0]}; {advice}")


def _shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of an array-like; that of the outer sequence where rows are uneven."""
    if hasattr(values, "shape"):
        return tuple(values.shape)
    try:
        return np.asarray(values).shape  # np.shape refuses what overrides NumPy's functions
    except ValueError:
        return (len(values), -1)
