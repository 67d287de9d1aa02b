"""The door of ``fit``: what was told about the rows of X, checked once and brought in one form."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from multiprocessing import current_process
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets

from complabel._parameters import AnyArray, Array, Bools, Features, Indicator
from complabel.answers import (
    Answers,
    AssumedUniformWarning,
    ClassPerRowWarning,
    IgnoredAnswersWarning,
    ReadAsComplementaryWarning,
    UnansweredRowWarning,
    UnchosenLabelWarning,
    about_positives,
    check_complementary,
    check_indicator,
    check_known,
    check_label_names,
    label_names_of,
)
from complabel.errors import AnnotationError, InputError

Rows: TypeAlias = Bools

# The methods that understand weights; a test compares them with the classes.
WEIGHTED = (
    *("SelectionLikelihoodClassifier", "NetworkLikelihoodClassifier"),
    *("ComplementaryRidgeClassifier", "PriorClassifier", "SupervisedClassifier"),
)
_PACKAGE = str(Path(__file__).parents[1])
_assumed: set[object] = set()  # what was said that is said once


@dataclass(frozen=True)
class Targets:
    """The rows of X, and what was told about them. Rows of which nothing was told are left out."""

    features: Features  # (n_rows, d)
    complementary: Indicator  # (n_rows, K); for a reference method, the true labels
    classes: AnyArray  # the labels' names, or their numbers
    single: bool = False  # whether y held one class per row, not an indicator
    relevant: Indicator | None = None  # known relevant labels (n_rows, K)
    answers: Answers | None = None  # only for a method that understands them
    weights: Array | None = None  # of rows (n_rows,), above 0; answers hold them themselves

    @classmethod
    def read(
        cls, X: Features, y: Any, relevant: Any, learner: Any, weights: Array | None = None
    ) -> Targets:
        """Check what ``fit`` of the learner was given, and warn of what it cannot use."""
        if isinstance(y, Answers) and y.item_names is None:  # parts of it keep the rows' numbers
            y = replace(y, item_names=np.arange(y.n_items))
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            y, relevant = (
                None if each is None else _safe_indexing(_indexable(each), rows)
                for each in (y, relevant)
            )
            try:
                return cls.read(X[rows], y, relevant, learner, weights[rows])
            except AnnotationError as error:
                if not isinstance(y, Answers):
                    error.add_note("Rows are counted without those of sample_weight 0.")
                raise
        if learner.learns_from == "relevant":
            return replace(_true_labels(X, y, relevant), weights=weights)
        if not isinstance(y, Answers):
            return _of_labels(X, y, relevant, weights)
        if relevant is not None:
            raise InputError(
                "y is Answers, but relevant is given, too; convert that to Answers and pass"
                " Answers.concatenate of both"
            )
        if weights is not None:
            y = y.with_weight(y.weight * weights[y.item])
        targets = _of_answers(X, y.only(y.weight > 0), learner)
        if not learner.understands_answers:
            return _as_named(targets, type(learner).__name__)
        _warn_of_untold_labels(targets)
        return targets

    def keep(self, rows: Rows) -> Targets:
        """Return what was told about some of the rows."""
        if rows.all():
            return self
        return replace(
            self,
            features=self.features[rows],
            complementary=self.complementary[rows],
            relevant=None if self.relevant is None else self.relevant[rows],
            answers=None if self.answers is None else self.answers[rows],
            weights=None if self.weights is None else self.weights[rows],
        )


def refuse_arguments(arguments: Mapping[str, Any], learner: str) -> None:
    """Refuse arguments that the ``fit`` of a learner does not have."""
    if "sample_weight" in arguments:
        raise InputError(
            f"{learner} cannot use sample_weight; leave it out, or take one of"
            f" {', '.join(WEIGHTED)}"
        )
    for name in arguments:
        raise TypeError(f"{learner}.fit() got an unexpected keyword argument {name!r}")


def refuse_table(y: Any) -> None:
    """Refuse a data frame with a line for each answer, which is no indicator."""
    if {"item", "label"} <= {str(name) for name in getattr(y, "columns", ())}:
        raise InputError(
            "y is a table with the columns item and label, one line for each answer; give"
            " Answers.from_table(y, items=...) of complabel.answers, with the item of each row of X"
        )


def read_weights(values: Any, n_samples: int) -> Array:
    """Return the weights (n,) of rows, checked."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight holds values that are not numbers: {error}") from error
    if weights.shape != (n_samples,):
        raise InputError(
            f"X has {n_samples} rows, but sample_weight has shape {weights.shape}; give one number"
            " for each row"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise InputError(
            f"sample_weight of row {wrong[0]} is {weights[wrong[0]]:g}; give finite numbers from 0"
        )
    if not weights.any():
        raise InputError("sample_weight is zero in every row; give at least one row more")
    return weights


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, and point to the line outside of this package that led here."""
    warnings.warn(message, category, stacklevel=_depth() + 1)


def warn_assumed(
    message: str, category: type[AssumedUniformWarning] = AssumedUniformWarning
) -> None:
    """Give such a warning, once in a process unless a filter asks for each of them."""
    if _is_new(message, message, category):
        warn_user(message, category)


def _warn_unanswered(message: str) -> None:
    """Warn of rows without answers, once for each line of a program that led here."""
    # The number in the message differs from fold to fold: to a filter each text would be new.
    frame = sys._getframe(_depth())
    if _is_new((frame.f_code.co_filename, frame.f_lineno), message, UnansweredRowWarning):
        warn_user(message, UnansweredRowWarning)


def _depth() -> int:
    """Return how many frames outward of the caller of this function another package's is."""
    frame, depth = sys._getframe(1), 0
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_new(warned: object, message: str, category: type[Warning]) -> bool:
    """Tell whether to say something that is said once, unless a filter asks for each time."""
    actions = (
        action
        for action, text, kind, module, _ in warnings.filters
        if issubclass(category, kind) and not module and (not text or text.match(message))
    )
    action = next(actions, "default")
    if action in ("always", "error"):
        return True
    name, _, number = current_process().name.rpartition("-")
    # Only the first worker of a search warns: the warnings of the others would be the same.
    if warned in _assumed or (name == "LokyProcess" and number != "1"):
        return False
    if action != "ignore":
        _assumed.add(warned)
    return True


def _true_labels(X: Features, y: Any, relevant: Any) -> Targets:
    if relevant is not None:
        raise InputError("this reference method takes the relevant labels as y; leave out relevant")
    if isinstance(y, Answers):
        raise InputError(
            "this reference method learns from true labels, not from answers"
            f"{about_positives(y)}; give an indicator of all labels that apply as y"
        )
    if _is_single(y):
        return Targets(X, *_read_classes(y), single=True)
    true_labels = check_indicator(y, name="y")
    return Targets(X, true_labels, _labels_of(y, true_labels.shape[1]))


def _of_labels(X: Features, y: Any, relevant: Any, weights: Array | None) -> Targets:
    """Read complementary labels, given as an indicator or as one class per row."""
    single = _is_single(y)
    if single:
        complementary, classes = _read_classes(y)
        _refuse_two(classes)
        _warn_of_doubtful_classes(y, classes)
    else:
        complementary = check_complementary(y, allow_unanswered=True, name="y")
        classes = _labels_of(y, complementary.shape[1])
        # Nothing in a matrix tells which of the two it holds.
        warn_assumed(
            "1 in y means that the label does NOT apply, and 0 that nothing is known of it. If 1"
            " means in yours that the label applies, the model learns the opposite: give"
            " Answers.from_frame(y), where 1 applies, 0 does not, and NaN is not known; zeros that"
            " stand for what is not known must be NaN. If y is right, Answers.from_complementary(y)"
            " says so, without this warning. Answers is in complabel.answers",
            ReadAsComplementaryWarning,
        )
    if relevant is not None:
        relevant = check_known(relevant, complementary, classes.tolist(), name="y")
    _warn_unless_ruled_out(complementary.any(axis=0), classes)
    rows: Rows = np.asarray(complementary.any(axis=1))
    if not rows.all():
        empty = np.flatnonzero(~rows)
        shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        lost = 0 if relevant is None else int(relevant[~rows].any(axis=1).sum())
        also = f"; {lost} of them have known relevant labels, which are left out, too"
        _warn_unanswered(
            f"{len(empty)} of {len(rows)} rows of y mark no label (row{'s' * (len(empty) > 1)}"
            f" {shown}), so they are left out{also if lost else ''}"
        )
    return Targets(X, complementary, classes, single, relevant, weights=weights).keep(rows)


def _of_answers(X: Features, answers: Answers, learner: Any) -> Targets:
    if answers.n_labels < 2:
        raise AnnotationError(
            f"y has {answers.n_labels} label; give answers about at least 2 labels"
        )
    rows = answers.answered
    if not rows.any():
        raise AnnotationError("y has no answers; at least one item needs one")
    if not rows.all():
        _warn_unanswered(
            f"{int(np.sum(~rows)):,} of {len(rows):,} items have no answer, so they are left out"
        )
    classes = _labels_of(answers, answers.n_labels)
    weights = None
    if answers.weighted and learner.understands_weights:
        weights = answers.item_weight
    elif answers.weighted:
        warn_user(
            f"{type(learner).__name__} cannot use weights, and ignores those of"
            f" {int((answers.weight != 1).sum()):,} of {answers.n_answers:,} answers; use one of"
            f" {', '.join(WEIGHTED)}",
            IgnoredAnswersWarning,
        )
        answers = answers.with_weight(1.0)
    targets = Targets(X, answers.complementary, classes, answers=answers, weights=weights)
    return targets.keep(rows)


def _as_named(targets: Targets, learner: str) -> Targets:
    """Convert answers for a method that only understands labels that were named freely.

    Rows without a complementary label, or with complementary labels only, are left out.
    """
    answers: Any = targets.answers
    # What was left over by somebody who named what applies, nobody named as a label that does not.
    complementary = answers.only(answers.question != "positive").complementary
    full: Rows = np.asarray(complementary.all(axis=1))
    rows: Rows = np.asarray(complementary.any(axis=1) & ~full)
    if not rows.any():
        raise AnnotationError(
            f"{learner} learns from labels that do not apply, but y has no item for which answers"
            f" rule out some labels and not all{about_positives(answers)};"
            " SelectionLikelihoodClassifier learns from other answers"
        )
    relevant = answers.known_relevant * (1 - complementary)
    has_relevant: Rows = np.asarray(relevant.any(axis=1) & rows)
    of_rows = {
        "complementary": complementary,
        "relevant": relevant if has_relevant.any() else None,
    }
    named = replace(targets, **of_rows, answers=None).keep(rows)
    check_complementary(named.complementary, name="y")
    ignored = _ignored(answers, rows, full, has_relevant)
    if ignored:
        warn_user(
            f"{learner} learns from labels that do not apply: {'; '.join(ignored)}."
            " SelectionLikelihoodClassifier understands every answer.",
            IgnoredAnswersWarning,
        )
    _warn_unless_ruled_out(named.complementary.any(axis=0), targets.classes)
    return named


def _ignored(answers: Answers, rows: Rows, full: Rows, has_relevant: Rows) -> list[str]:
    """Describe, with counts, the answers that are ignored or treated as another kind."""
    marks = (answers.named, answers.absent, answers.excluded)
    rules_out = np.logical_or.reduce([np.diff(mask.indptr) > 0 for mask in marks])
    used, full, has_relevant = (
        rules_out & rows[answers.item],
        full[answers.item],
        has_relevant[answers.item],
    )
    menu = (answers.question == "named") & (answers.n_offered < answers.n_labels)
    judged = answers.judges
    several = np.bincount(answers.item[used], minlength=answers.n_items) > 1
    left_out = (
        (~rules_out & ~has_relevant & ~full, "rule out no label and are ignored"),
        (
            ~rules_out & has_relevant,
            "say only which labels apply, which are used as known relevant labels",
        ),
        (full, "are about items for which all labels are ruled out, and are ignored"),
    )
    misread = (
        (used & judged, "a label judged 'no' is treated as named freely of all labels"),
        (used & menu, "a label named from a menu is treated as named freely of all labels"),
        (used & (answers.question == "excluded"), "an excluded label is treated as named freely"),
        (several, "several answers about an item are treated as one"),
    )
    of_all = f"of {answers.n_answers:,} answers"
    return [f"{np.sum(which):,} {of_all} {what}" for which, what in left_out if which.any()] + [
        f"{(n := int(which.sum())):,} time{'s' * (n > 1)} {what}"
        for which, what in misread
        if which.any()
    ]


def _warn_unless_ruled_out(ruled_out: Any, classes: AnyArray) -> None:
    """Warn of labels (K,) of which nothing says where they do not apply."""
    missing = classes[~ruled_out]
    if len(missing):
        _warn_of_labels(
            "never chosen as complementary",
            missing,
            "nothing in the data says where they do not apply, so they will tend to be ranked high"
            " everywhere",
        )


def _warn_of_untold_labels(targets: Targets) -> None:
    """Warn of labels of which nothing says where they do not apply, or where they do."""
    said: Any = targets.answers  # of labels that somebody was asked about
    told = targets.complementary.any(axis=0)
    told |= np.asarray(said.relevant[said.judges].sum(axis=0)) > 0
    if (positive := np.isin(said.question, ("positive", "tagged"))).any():
        # Where another label was named because it applies, this one is less likely to apply.
        offered = said.offered[positive]
        told |= (offered.sum(axis=0) > 0) | (np.diff(offered.indptr) == 0).any()
        if (never := ~said.known_relevant.any(axis=0)).any():
            why = "nothing in the data says where they apply, so they will be ranked low everywhere"
            _warn_of_labels("never said to apply", targets.classes[never], why)
    _warn_unless_ruled_out(told, targets.classes)


def _warn_of_labels(what: str, labels: AnyArray, why: str) -> None:
    names = f"label{'s' * (len(labels) > 1)} {', '.join(map(str, labels))}"
    warn_user(f"{what}: {names}; {why}. Drop them, or ask about them", UnchosenLabelWarning)


def _labels_of(y: Any, n_labels: int) -> AnyArray:
    names = label_names_of(y)
    return np.arange(n_labels) if names is None else np.array(names)


def encode_new(y: Any, classes: AnyArray, *, single: bool) -> Indicator:
    """Return held-out labels as an indicator, checked against the ``classes`` of ``fit``."""
    if isinstance(y, Answers):
        raise InputError(
            "y is Answers, but this method is scored on true labels; give the true labels"
        )
    if single:
        return _encode_classes(y, classes)
    check_label_names(y, classes.tolist())
    indicator = check_indicator(y, name="y")
    _refuse_other_number_of_labels(indicator.shape[1], len(classes))
    return indicator


def check_new(answers: Answers, classes: AnyArray) -> None:
    """Refuse held-out answers about other labels than the ``classes`` of ``fit``."""
    check_label_names(answers, classes.tolist())
    _refuse_other_number_of_labels(answers.n_labels, len(classes))


def _refuse_other_number_of_labels(n_labels: int, expected: int) -> None:
    if n_labels != expected:
        raise AnnotationError(
            f"y has {n_labels} labels, but fit was given {expected}; give the same labels"
        )


def refuse_other_number_of_rows(y: Any, n_samples: int, *, name: str = "y") -> None:
    """Refuse labels of more or fewer rows than X; a y without rows is refused elsewhere."""
    shape = _shape_of(y)
    if not shape or shape[0] == n_samples:
        return
    advice = "both need one row per sample"
    if len(shape) == 2 and shape[1] == n_samples:
        advice = f"y has shape {shape}, so it looks transposed: give y.T"
    raise InputError(f"X has {n_samples} rows but {name} has {shape[0]}; {advice}")


# One class per row, as in scikit-learn


def _is_single(y: Any) -> bool:
    shape = _shape_of(y)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def _read_classes(y: Any) -> tuple[Indicator, AnyArray]:
    """Return an indicator (n, K) of one class per row, and the K classes that occur."""
    flat = _flat_classes(y)
    if len(_shape_of(y)) == 2 and flat.dtype.kind in "biuf" and np.isin(flat, (0, 1)).all():
        raise AnnotationError(
            f"y has shape {_shape_of(y)} and holds zeros and ones, an indicator of one label;"
            " give one column per label, at least 3"
        )
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
    return _encode_classes(flat, classes), classes


def _encode_classes(y: Any, classes: AnyArray) -> Indicator:
    flat = _flat_classes(y)
    seen = np.isin(flat, classes)
    if not seen.all():
        row = int(np.argmin(seen))
        raise AnnotationError(
            f"class {flat.tolist()[row]!r} of row {row} was not seen during fit; known are"
            f" {classes.tolist()}"
        )
    indicator: Indicator = (flat[:, None] == classes[None, :]).astype(np.uint8)
    return indicator


def _flat_classes(y: Any) -> AnyArray:
    """Return one class per row (n,); refuse gaps and collections, and name the row."""
    values: Any = y.toarray() if sparse.issparse(y) else np.asarray(y)  # type: ignore[attr-defined]
    flat: AnyArray = values.ravel()
    if flat.dtype.kind not in "fO":
        return flat
    for row, entry in enumerate(flat):
        if isinstance(entry, (list, tuple, set)):
            raise AnnotationError(
                f"y holds {entry!r} in row {row}, not one class; make an indicator of collections"
                " of names by indicator_from_names(y, labels)"
            )
        number = isinstance(entry, (float, np.floating))
        if entry is None or type(entry).__name__ == "NAType" or (number and not np.isfinite(entry)):
            raise AnnotationError(
                f"y holds {entry} in row {row} instead of a class; if rows may have no answer, make"
                " an indicator by indicator_from_names(y, labels) or indicator_from_indices"
            )
    return flat


def _refuse_two(classes: AnyArray) -> None:
    """Refuse one of two classes per row: wrappers hand on true labels, one by one, like this."""
    if len(classes) == 2:
        first, second = classes.tolist()
        raise AnnotationError(
            f"y holds two classes, {first!r} and {second!r}, and would be read as the class that"
            " does NOT apply; of two, that names the other. If y holds what applies, fit an"
            " ordinary classifier. If OneVsRestClassifier, MultiOutputClassifier or"
            " ClassifierChain handed on one label, fit this method itself, to Answers.from_frame(Y)"
            " of complabel.answers, where 1 says that a label applies and 0 that it does not"
        )


def _warn_of_doubtful_classes(y: Any, classes: AnyArray) -> None:
    """Warn of one name per row and of a column: several labels per row may be meant."""
    form, way_out = "classes in a column", "indicator_from_indices(y, n_labels)"
    if classes.dtype.kind in "US" or any(isinstance(label, str) for label in classes):
        form, way_out = "names", "indicator_from_names(y, labels)"
    elif len(_shape_of(y)) == 1:
        warn_assumed(
            "each row of y holds the class that does NOT apply. If yours hold the class that"
            " applies, the model learns the opposite: fit an ordinary classifier",
            ReadAsComplementaryWarning,
        )
        return
    warn_user(
        f"y holds {form}, one per row. Each is read as a complementary class, and exactly one"
        " class applies to each row, so predict returns one class per row. If several labels"
        f" may apply to a row, pass {way_out} instead; if not, filter ClassPerRowWarning.",
        ClassPerRowWarning,
    )


def _indexable(values: Any) -> Any:
    return values if hasattr(values, "__getitem__") else np.asarray(values)


def _shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of an array-like; (n, -1) for n rows of unequal lengths."""
    if hasattr(values, "shape"):
        return tuple(values.shape)
    try:
        return np.asarray(values).shape  # np.shape fails for types that override NumPy's functions
    except ValueError:
        return (len(values), -1)
