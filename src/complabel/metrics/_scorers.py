"""Choosing models when no relevant label is known: criteria, and scorers for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import AnyArray, Array, Bools, Indicator
from complabel.answers import (
    Answers,
    IndicatorLike,
    about_positives,
    check_complementary,
    check_indicator,
    check_label_names,
    pair_rows,
)
from complabel.errors import AnnotationError, InputError
from complabel.metrics._criteria import (
    average_precision,
    by_row,
    check_same_shape,
    check_scores,
    ranking_loss_of_rows,
)


def complementary_log_likelihood_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score a method by the likelihood of held-out answers; pass as ``scoring``.

    Parameters
    ----------
    estimator : fitted classifier, pipeline or search
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples, K) or (n_samples,), or Answers
        Complementary labels or answers, as in ``fit``; true labels are not needed.

    Returns
    -------
    float
        Mean log-likelihood of the answers, in nats; higher is better. It is the estimator's own
        ``score``. Methods with different models of the choice cannot be compared by it if rows
        have several complementary labels.

    Raises
    ------
    InputError
        If the method has no such likelihood (then its ``score`` is something else), or none for
        Answers.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.methods import PriorClassifier
    >>> X, y = np.zeros((4, 1)), np.eye(3, dtype=int)[[0, 1, 2, 2]]
    >>> round(complementary_log_likelihood_scorer(PriorClassifier().fit(X, y), X, y), 3)
    -1.042
    """
    y = pair_rows(X, y)
    classifier, features = _innermost(estimator, X)
    if not getattr(classifier, "models_the_choice", False):
        raise InputError(
            f"{type(classifier).__name__} does not model which label is chosen as complementary,"
            " so it has no complementary log-likelihood; use complementary_ranking_scorer"
        )
    if isinstance(y, Answers) and not getattr(classifier, "understands_answers", False):
        raise InputError(
            f"{type(classifier).__name__} models labels that are named freely, so it has no"
            " likelihood of Answers; use complementary_ranking_scorer"
        )
    return float(classifier.score(features, y))


def complementary_ranking_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score any method by how it ranks labels that do not apply; pass as ``scoring``.

    Parameters
    ----------
    estimator : fitted classifier, pipeline or search with a ``decision_function``
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples, K) or (n_samples,), or Answers
        Complementary labels or answers, as in ``fit``; true labels are not needed. Rows without a
        complementary label are left out; with Answers, those with all labels denied, too.

    Returns
    -------
    float
        Minus :func:`complementary_ranking_error`; higher is better. All methods can be compared by
        it.

    Raises
    ------
    AnnotationError, InputError
        If ``y`` has no complementary labels, other labels than in ``fit``, or other rows than
        ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.methods import PriorClassifier
    >>> X, y = np.zeros((4, 1)), np.eye(3, dtype=int)[[0, 1, 2, 2]]
    >>> complementary_ranking_scorer(PriorClassifier().fit(X, y), X, y)
    -0.375
    """
    y = pair_rows(X, y)
    decision = np.asarray(estimator.decision_function(X))
    if decision.ndim == 1:  # with two classes, there is one decision for each row
        decision = np.column_stack([-decision, decision])
    if not isinstance(y, Answers) and np.ndim(y) == 1:
        y = _indicator_of(np.asarray(y), np.asarray(estimator.classes_))
    check_label_names(y, list(getattr(estimator, "classes_", ())))
    if isinstance(y, Answers):
        return -complementary_ranking_error(y, decision)
    refuse_labels_after_answers(_innermost(estimator, X)[0])
    complementary = check_complementary(y, min_labels=2, allow_unanswered=True, name="y")
    check_same_shape(complementary, decision, names=("y", "the decision function"))
    answered = complementary.any(axis=1)
    return -complementary_ranking_error(complementary[answered], decision[answered])


def refuse_labels_after_answers(classifier: Any) -> None:
    """Refuse an array for a classifier that was fitted to Answers: it may hold true labels."""
    if getattr(classifier, "_from_answers", False):
        raise InputError(
            "y is an array, but fit was given Answers, and score takes what fit took. For true"
            " labels, use average_precision_scorer(classifier, X, true_labels=Y) of"
            ' complabel.metrics, or a scorer of scikit-learn, such as scoring="average_precision".'
            " If 1 in y says that a label does not apply, give Answers.from_complementary(y)"
        )


def _indicator_of(y: AnyArray, classes: AnyArray) -> Bools:
    """Turn one class per row into an indicator; refuse classes that were not in ``fit``."""
    indicator: Bools = y[:, np.newaxis] == classes
    unknown = np.flatnonzero(~indicator.any(axis=1))
    if unknown.size:
        row = int(unknown[0])
        raise AnnotationError(
            f"class {y.tolist()[row]!r} of row {row} was not seen during fit; known are"
            f" {classes.tolist()}"
        )
    return indicator


@dataclass(frozen=True, kw_only=True, repr=False)
class TrueLabelScorer:
    """A scorer that takes true labels from the metadata ``true_labels`` and ignores ``y``.

    In a search, ``y`` has complementary labels. Call
    ``sklearn.set_config(enable_metadata_routing=True)``. Then pass the true labels as
    ``params={"true_labels": Y}`` to ``cross_validate``, or as ``true_labels=Y`` to the ``fit`` of a
    search. The scorer already requests them. For other criteria, make your own scorer:
    ``TrueLabelScorer(ranking_loss)`` or ``TrueLabelScorer(hamming_loss, response="predict")``.

    Parameters
    ----------
    criterion : callable
        Takes relevant labels (n, K) and the classifier's response (n, K).
    response : str, default="decision_function"
        Method of the classifier to call.
    greater_is_better : bool, default=False
        If False, the score is minus the criterion.
    request : bool, str or None, default=True
        See ``set_score_request``.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.methods import PriorClassifier
    >>> X, y = np.zeros((4, 1)), np.eye(3, dtype=int)[[0, 1, 2, 2]]
    >>> classifier = PriorClassifier().fit(X, y)
    >>> average_precision_scorer(classifier, X[:1], y[:1], true_labels=[[0, 1, 0]])
    0.5
    """

    criterion: Callable[[Any, Any], float] = field(kw_only=False)
    response: str = "decision_function"
    greater_is_better: bool = False
    request: bool | str | None = True

    def __call__(
        self, estimator: Any, X: Any, y: Any = None, *, true_labels: ArrayLike | None = None
    ) -> float:
        """Score a fitted classifier by relevant labels, 0/1 of shape (n, K); higher is better."""
        del y
        if true_labels is None:
            raise InputError(
                f"{self!r} got no true_labels; with"
                " sklearn.set_config(enable_metadata_routing=True), pass"
                " params={'true_labels': Y} to cross_validate, or true_labels=Y to fit of a search"
            )
        true_labels = pair_rows(X, true_labels, names=("X", "true_labels"))
        value = self.criterion(true_labels, getattr(estimator, self.response)(X))
        return value if self.greater_is_better else -value

    def set_score_request(self, *, true_labels: bool | str | None) -> TrueLabelScorer:
        """Return a copy with another request for the true labels, as everywhere in scikit-learn.

        True requests the metadata, False ignores it, None refuses it; a text is another name.
        """
        return replace(self, request=true_labels)

    def get_metadata_routing(self) -> Any:
        """Return the scorer's ``MetadataRequest``, for scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="true_labels", alias=self.request)
        return request

    def __repr__(self) -> str:
        return f"{self.criterion.__name__}_scorer"


average_precision_scorer: Final = TrueLabelScorer(average_precision, greater_is_better=True)
"""Average precision on true labels; see :class:`TrueLabelScorer`."""


def _innermost(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier inside pipelines and searches, and X as that classifier gets it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            if len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator.steps[-1][1]
        else:
            return estimator, X


# Least probability of a label. With 0, a single mistake would outweigh all other rows.
_LEAST_PROBABILITY = 1e-12


def complementary_ranking_error(complementary: IndicatorLike | Answers, scores: ArrayLike) -> float:
    """Return how often a candidate ranks below a label known to be wrong; lower is better.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, K), or Answers
        1 if a label is known not to apply; at least one, and not all, per row. With Answers, these
        are the labels that some answer denies; items with none or all of them are left out.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.

    Returns
    -------
    float
        Mean over rows of the mean of [s_k < s_j] + [s_k = s_j] / 2 over the row's candidates k
        and complementary labels j. A random order has 0.5. A constant order can have less, because
        some labels are chosen as complementary more often.

    Raises
    ------
    AnnotationError, InputError
        If a row marks none or all labels, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> complementary_ranking_error([[1, 0, 0]], [[0.3, 0.1, 0.7]])
    0.5
    """
    if isinstance(complementary, Answers):
        complementary, scores = _ranked_items(complementary, scores)
    return float(complementary_ranking_error_of_rows(complementary, scores).mean())


def complementary_ranking_error_of_rows(complementary: IndicatorLike, scores: ArrayLike) -> Array:
    """Return the values (n,) whose mean is the error, for paired comparisons of two scores."""
    wrong = check_complementary(complementary, min_labels=2)
    checked = check_scores(scores, wrong, names=("complementary", "scores"))
    # Let the two shares be those of pairs (k, j) with s_j <= s_k and with s_k <= s_j; both count
    # the ties. Then the mean of [s_k < s_j] + [s_k = s_j] / 2 is (1 - first + second) / 2.
    (not_above,) = by_row((ranking_loss_of_rows,), wrong, checked)
    (not_below,) = by_row((ranking_loss_of_rows,), wrong, -checked)
    return np.asarray((1 - not_above + not_below) / 2)


def least_cardinality(complementary: IndicatorLike, scores: ArrayLike) -> float:
    """Return a lower bound on the mean number of relevant labels, for marks chosen at random.

    It can detect true labels that were given as complementary labels by mistake. A value above
    half the number of labels says that most labels apply to most rows, or that the marks are not a
    random choice of labels that do not apply.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, K)
        1 if a label is known not to apply; at least one, and not all, per row.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant, of a method that was fitted
        on *other* rows; for fitted rows, the value means nothing.

    Returns
    -------
    float
        It exceeds the mean number of relevant labels only by chance, and comes close to it if the
        method ranks labels well. It can be negative.

    Raises
    ------
    AnnotationError, InputError
        If a row marks none or all labels, the shapes differ, or a score is not finite.

    Notes
    -----
    Of a row's K - s candidates, c are relevant and may all rank above the s complementary ones. The
    others do not differ from the latter, so half of them rank below. So the expected ranking error
    e is at least (K - s - c) / (2 (K - s)), which means c >= (K - s) (1 - 2 e). This also holds if
    every label that does not apply is marked.

    Examples
    --------
    >>> marks = [[1, 0, 0, 0], [0, 1, 0, 0]]
    >>> scores = [[0.1, 0.9, 0.8, 0.7], [0.9, 0.1, 0.8, 0.7]]
    >>> least_cardinality(marks, scores)  # each mark ranks last: perhaps 3 of 4 labels apply
    3.0
    """
    errors = complementary_ranking_error_of_rows(complementary, scores)
    marks = check_indicator(complementary, name="complementary")
    n_candidates = marks.shape[1] - marks.sum(axis=1, dtype=np.intp)
    return float(np.mean(n_candidates * (1 - 2 * errors)))


def complementary_log_likelihood_of_rows(
    complementary: IndicatorLike, probabilities: ArrayLike
) -> Array:
    """Return the log-probability of each row's complementary labels (n,), in nats.

    ``probabilities`` (n, K) are in proportion to the chances that labels are chosen. Of several
    labels it is the mean; a label with probability 0 counts as log 1e-12.
    """
    chosen = check_complementary(complementary, min_labels=2)
    checked = check_scores(probabilities, chosen, names=("complementary", "probabilities"))
    if checked.min() < 0:
        row, label = np.argwhere(checked < 0)[0]
        raise InputError(
            f"probabilities holds {checked[row, label]} at row {row}, label {label}; "
            "probabilities cannot be negative"
        )
    sums = checked.sum(axis=1)
    if not sums.all():
        raise InputError(
            f"probabilities is all 0 in row {np.argmin(sums)}; give at least one label a positive"
            " value"
        )
    rows, labels = np.nonzero(chosen)
    log_q = np.log(np.maximum(checked[rows, labels] / sums[rows], _LEAST_PROBABILITY))
    return np.bincount(rows, weights=log_q) / np.bincount(rows)


def _ranked_items(answers: Answers, scores: ArrayLike) -> tuple[Indicator, Array]:
    """Return complementary labels and scores of the items with some but not all labels denied."""
    scores = pair_rows(answers, scores, names=("complementary", "scores"))
    wrong = answers.complementary
    checked = check_scores(scores, wrong, names=("complementary", "scores"))
    rows = wrong.any(axis=1) & ~wrong.all(axis=1)
    if not rows.any():
        raise AnnotationError(
            "the ranking error needs an item with a label that does not apply and with a candidate,"
            f" but the answers have none{about_positives(answers)}; give more answers to yes/no"
            " questions"
        )
    return wrong[rows], checked[rows]
