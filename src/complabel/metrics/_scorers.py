"""Scorers for scikit-learn: for searches without true labels, and for reports with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel.answers import Answers, check_complementary, check_label_names, pair_rows
from complabel.errors import AnnotationError, InputError
from complabel.metrics._criteria import average_precision, check_same_shape
from complabel.metrics._label_free import complementary_ranking_error


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
    complementary = check_complementary(y, min_labels=2, allow_unanswered=True, name="y")
    check_same_shape(complementary, decision, names=("y", "the decision function"))
    answered = complementary.any(axis=1)
    return -complementary_ranking_error(complementary[answered], decision[answered])


def _indicator_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Turn one class per row into an indicator; refuse classes that were not in ``fit``."""
    indicator: NDArray[np.bool_] = y[:, np.newaxis] == classes
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
