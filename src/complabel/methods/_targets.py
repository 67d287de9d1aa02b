"""The labels or answers that ``fit`` is given, checked and converted for the methods."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.answers import (
    Answers,
    UnansweredRowWarning,
    UnchosenLabelWarning,
    check_complementary,
    check_indicator,
    check_known,
    check_label_names,
    label_names_of,
    warn_unchosen,
)
from complabel.errors import AnnotationError, InputError
from complabel.methods._classes import (
    encode_classes,
    is_single,
    read_classes,
    shape_of,
    warn_of_doubtful_classes,
)
from complabel.methods._complementary_part import complementary_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Indicator

# stacklevel of warnings: from a helper below, over a constructor of Targets and fit, to its caller.
_USER = 4


@dataclass(frozen=True)
class Targets:
    """The checked labels or answers that ``fit`` was given, without the rows that have none."""

    complementary: NDArray[np.uint8]
    """Complementary labels (n_rows, K); for a reference method, the true labels."""
    classes: NDArray[Any]
    """The labels of the K columns: names if a data frame has them, else numbers."""
    single: bool
    """Whether y held one class per instance, not an indicator."""
    relevant: NDArray[np.uint8] | None = None
    """Known relevant labels (n_rows, K); None if there are none."""
    answered: NDArray[np.bool_] | None = None
    """Which samples (n_samples,) are kept as rows; None if all are."""
    answers: Answers | None = None
    """All answers about the rows, for a method that understands them; else None."""

    @classmethod
    def from_complementary(cls, y: Any, *, relevant: Any) -> Targets:
        """Check complementary labels, given as an indicator or as one class per instance."""
        single = is_single(y)
        if single:
            complementary, classes = read_classes(y)
            warn_of_doubtful_classes(y, classes, stacklevel=_USER)
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
    def from_answers(cls, answers: Answers, *, learner: str, understands: bool) -> Targets:
        """Check answers; for a method that does not understand them, convert them to labels."""
        n_labels = answers.n_labels
        if n_labels < 2:
            raise AnnotationError(f"y has {n_labels} label; give answers about at least 2 labels")
        rows = answers.answered
        if not rows.any():
            raise AnnotationError("y has no answers; at least one item needs one")
        classes = _classes_of(answers, n_labels)
        if not rows.all():
            _warn_unasked(rows)
        relevant = None
        if understands:
            answers = answers if rows.all() else answers[rows]
            complementary = answers.complementary
            _warn_untold(answers, complementary, classes)
        else:
            complementary, relevant, rows = complementary_part(answers, learner, stacklevel=_USER)
            warn_unchosen(complementary, classes.tolist(), stacklevel=_USER)
        return cls(
            complementary,
            classes,
            single=False,
            relevant=relevant,
            answered=None if rows.all() else rows,
            answers=answers if understands else None,
        )

    @classmethod
    def from_true_labels(cls, y: Any) -> Targets:
        """Check the labels that a reference learns from, an indicator or one class per instance."""
        if is_single(y):
            return cls(*read_classes(y), single=True)
        true_labels = check_indicator(y, name="y")
        return cls(true_labels, _classes_of(y, true_labels.shape[1]), single=False)


def _classes_of(y: Any, n_labels: int) -> NDArray[Any]:
    """Return the labels' names if y has them, as a data frame does; else their numbers."""
    names = label_names_of(y)
    return np.arange(n_labels) if names is None else np.array(names)


def encode_new(y: Any, classes: NDArray[Any], *, single: bool) -> Indicator:
    """Return held-out labels as an indicator, checked against the ``classes`` of ``fit``."""
    if isinstance(y, Answers):
        raise InputError(
            "y is Answers, but this method is scored on true labels; give the true labels"
        )
    if single:
        return encode_classes(y, classes)
    check_label_names(y, classes.tolist())
    indicator = check_indicator(y, name="y")
    _refuse_other_number_of_labels(indicator.shape[1], len(classes))
    return indicator


def check_new(answers: Answers, classes: NDArray[Any]) -> None:
    """Refuse held-out answers about other labels than the ``classes`` of ``fit``."""
    check_label_names(answers, classes.tolist())
    _refuse_other_number_of_labels(answers.n_labels, len(classes))


def _refuse_other_number_of_labels(found: int, expected: int) -> None:
    """Refuse more or fewer labels than fit was given."""
    if found != expected:
        raise AnnotationError(
            f"y has {found} labels, but fit was given {expected}; give the same labels"
        )


def _warn_untold(answers: Answers, complementary: NDArray[np.uint8], classes: NDArray[Any]) -> None:
    """Warn of labels that no answer rules out, unless somebody was asked about them."""
    asked = np.isin(answers.question, ("asked", "ticked"))
    judged = np.asarray(answers.relevant[asked].sum(axis=0)) > 0
    columns = np.flatnonzero(~(complementary.any(axis=0) | judged))
    if len(columns):
        warnings.warn(
            f"never named, excluded or judged: label{'s' * (len(columns) > 1)}"
            f" {', '.join(map(str, classes[columns]))}; no answer says where they do not apply."
            " Drop them, or ask about them",
            UnchosenLabelWarning,
            stacklevel=_USER,
        )


def _warn_unasked(answered: NDArray[np.bool_]) -> None:
    """Warn of items without an answer, which are left out."""
    n_items, n_left_out = len(answered), int(np.sum(~answered))
    warnings.warn(
        f"{n_left_out:,} of {n_items:,} items have no answer, so they are left out",
        UnansweredRowWarning,
        stacklevel=_USER,
    )


def _warn_unanswered(answered: NDArray[np.bool_], relevant: NDArray[np.uint8] | None) -> None:
    """Warn of rows without a complementary label, which are left out."""
    empty = np.flatnonzero(~answered)
    shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
    lost = 0 if relevant is None else int(relevant[~answered].any(axis=1).sum())
    also = f"; {lost} of them have known relevant labels, which are left out, too" if lost else ""
    warnings.warn(
        f"{len(empty)} of {len(answered)} rows of y mark no label (row{'s' * (len(empty) > 1)}"
        f" {shown}), so they are left out{also}",
        UnansweredRowWarning,
        stacklevel=_USER,
    )


def refuse_other_number_of_rows(y: Any, n_samples: int, *, name: str = "y") -> None:
    """Refuse labels of more or fewer rows than X; a y without rows is refused elsewhere."""
    shape = shape_of(y)
    if not shape or shape[0] == n_samples:
        return
    advice = "both need one row per sample"
    if len(shape) == 2 and shape[1] == n_samples:
        advice = f"y has shape {shape}, so it looks transposed: give y.T"
    raise InputError(f"X has {n_samples} rows but {name} has {shape[0]}; {advice}")
