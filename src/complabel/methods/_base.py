"""The interface every method shares, and the part of scikit-learn's contract it fulfils."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from complabel import metrics
from complabel._parameters import Constraints, Real, check_parameters
from complabel.annotations import check_complementary, check_indicator, check_label_names
from complabel.errors import AnnotationError, InputError
from complabel.methods._arrays import Features
from complabel.methods._decisions import THRESHOLDS, labels_above
from complabel.methods._features import validated
from complabel.methods._targets import Targets, encode_classes, refuse_other_number_of_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class ComplementaryClassifier(ClassifierMixin, BaseEstimator):
    """Base of all methods; a method implements ``_fit`` and ``_decision``.

    Attributes
    ----------
    learns_from : {"complementary", "relevant"}
        What a method's ``fit`` is given as ``y``. Only reference methods declare ``"relevant"``;
        every table marks them.
    models_the_choice : bool
        Whether the method models which label is chosen as complementary. If so, ``score`` is a
        log-likelihood, and the method implements ``_log_likelihood``.
    threshold : {"probability", "minmax"}
        Rule of ``predict``: f > ``cut``, or the same after scaling each row of f to [0, 1].
    cut : float
        In (0, 1).
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "complementary"
    models_the_choice: ClassVar[bool] = False
    threshold: str = "probability"
    cut: float = 0.5

    # What each parameter may be; a method declares its own beside these.
    _constraints: ClassVar[Constraints] = {
        "threshold": THRESHOLDS,
        "cut": Real(above=0, below=1),
    }

    classes_: NDArray[Any]
    n_features_in_: int

    @abstractmethod
    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        """Learn from checked arrays.

        ``X`` is an ndarray or CSR array (n, d) of finite float64 or float32. ``complementary``
        (n, K) has at least one and not all labels of each row; the relevant ones instead where
        ``learns_from = "relevant"``. ``relevant`` (n, K) are known ones; rows may be empty.
        """

    @abstractmethod
    def _decision(self, X: Features) -> NDArray[np.float64]:
        """Return scores of shape (n, K), float64, in the order of f within each row.

        They are the log-odds of f unless the method implements ``_log_odds``.
        """

    def fit(self, X: ArrayLike, y: ArrayLike, *, relevant: ArrayLike | None = None) -> Self:
        """Learn from complementary labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features; CSR stays sparse, but in LIFT where it is small.
        y : array-like of shape (n_samples, K) or (n_samples,)
            The complementary labels: an indicator of labels that do not apply, or one such class
            per row of which exactly one applies; names given so are warned of. A row of the
            indicator without a label is left out with a warning, so that not every row needs an
            answer. A data frame's columns name the labels. For a method with
            ``learns_from = "relevant"``, the relevant labels instead.
        relevant : array-like of shape (n_samples, K) or None, default=None
            Indicator of labels known to apply, if any are; rows may be empty. Of two data frames
            the columns must agree.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If ``X`` is not a finite matrix with as many rows as there are labels, or a parameter
            is out of range.
        AnnotationError
            If the labels contradict themselves or each other.

        Warns
        -----
        UnchosenLabelWarning
            If a label is complementary in no row.
        UnansweredRowWarning
            If a row has no complementary label; the message counts them.
        ClassPerRowWarning
            If ``y`` holds one name per row, or is a column.

        Notes
        -----
        Every row weighs the same: ``sample_weight`` is not supported.

        True labels given as ``y`` look like an annotator's answers and cannot be told from them
        here. A held-out fit shows them: see :func:`complabel.metrics.least_cardinality`.
        """
        if relevant is not None and self.learns_from == "relevant":
            raise InputError("relevant is what y is for this reference method; leave it out")
        features = validated(self, X, y)
        refuse_other_number_of_rows(y, features.shape[0])
        if self.learns_from == "relevant":
            targets = Targets.from_true_labels(y)
        else:
            targets = Targets.from_complementary(y, relevant=relevant)
        self._check_parameters()
        self.classes_ = targets.classes
        self._single = targets.single
        if targets.answered is not None:
            features = features[targets.answered]
        self._fit(features, targets.complementary, targets.relevant)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return scores, greater where a label is more likely to be relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), float64
            Shape (n_samples,) after a fit on one of two classes per row.
        """
        decision = self._decision(self._validate_new(X))
        if self._single and len(self.classes_) == 2:
            return decision[:, 1] - decision[:, 0]
        return decision

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability f(x) of each label to be relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), float64
            Each in [0, 1]. After a fit on one class per row, rows sum to 1: the probabilities
            given that exactly one label is relevant.
        """
        return self._probabilities(self._decision(self._validate_new(X)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), int64
            Indicator of the predicted relevant labels. After a fit on one class per row, the
            most probable class, shape (n_samples,). After a fit on a data frame,
            ``names_from_indicator(classifier.predict(X), classifier.classes_)`` gives names.
        """
        return self._predicted(self._decision(self._validate_new(X)))

    def predict_with_proba(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return what ``predict`` and ``predict_proba`` return, from one pass over the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        predicted : ndarray of shape (n_samples, K), int64, or (n_samples,)
            See ``predict``.
        probabilities : ndarray of shape (n_samples, K), float64
            See ``predict_proba``.
        """
        decision = self._decision(self._validate_new(X))
        return self._predicted(decision), self._probabilities(decision)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Score on held-out complementary labels; greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples, K) or (n_samples,)
            Complementary labels, as in ``fit``; rows without one are left out. Scoring against
            true labels is done by :mod:`complabel.metrics`, never here.

        Returns
        -------
        float
            Mean over rows of the log-likelihood of the answers, in nats, where
            ``models_the_choice``. Else minus the complementary ranking error, between -1 and 0.

        Notes
        -----
        The two quantities cannot be compared. To compare methods, as ``cross_val_score`` does,
        pass ``scoring=complementary_ranking_scorer`` of :mod:`complabel.metrics`, which is one
        quantity for every method; ``complementary_log_likelihood_scorer`` compares those that
        model the choice. scikit-learn's own scorers, ``"f1_micro"`` for instance, take ``y``
        for what should be predicted: on complementary labels they prefer the worse method.
        """
        features = self._validate_new(X)
        refuse_other_number_of_rows(y, features.shape[0])
        complementary = check_complementary(
            self._encode(y), min_labels=2, allow_unanswered=True, name="y"
        )
        answered = complementary.any(axis=1)
        if not answered.all():
            features, complementary = features[answered], complementary[answered]
        if self.models_the_choice:
            return float(self._log_likelihood(features, complementary).mean())
        return -metrics.complementary_ranking_error(complementary, self._decision(features))

    def _log_odds(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn what ``_decision`` returned into log f / (1 - f), of shape (n, K)."""
        return decision

    def _relevance(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn what ``_decision`` returned into f, of shape (n, K)."""
        return np.asarray(special.expit(self._log_odds(decision)))

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-likelihood of each row's complementary labels, shape (n,), in nats."""
        raise NotImplementedError(f"{type(self).__name__} does not model the choice")

    def _probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f (n, K); given one class per row, the probability of each class."""
        if self._single:
            return np.asarray(special.softmax(decision, axis=1))
        return self._relevance(decision)

    def _predicted(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        """Return the predicted labels (n, K), or one class per row, shape (n,)."""
        if self._single:
            predicted: NDArray[Any] = self.classes_[decision.argmax(axis=1)]
            return predicted
        return labels_above(self._log_odds(decision), threshold=self.threshold, cut=self.cut)

    def _check_parameters(self) -> None:
        """Refuse parameters that break ``_constraints``; methods may extend it."""
        check_parameters(self)

    def _forget(self, *attributes: str) -> None:
        """Drop what an earlier fit with other parameters may have left."""
        for attribute in attributes:
            self.__dict__.pop(attribute, None)

    def _encode(self, y: ArrayLike) -> NDArray[np.uint8]:
        """Check held-out labels against those of ``fit``."""
        if self._single:
            return encode_classes(y, self.classes_)
        check_label_names(y, self.classes_.tolist())
        indicator = check_indicator(y, name="y")
        if indicator.shape[1] != len(self.classes_):
            raise AnnotationError(
                f"y has {indicator.shape[1]} labels, but fit was given {len(self.classes_)}"
            )
        return indicator

    def _validate_new(self, X: ArrayLike) -> Features:
        """Validate features to predict for."""
        check_is_fitted(self, "classes_")
        return validated(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        # Trained on true labels, as scikit-learn's checks do, it learns what does not apply.
        tags.classifier_tags.poor_score = True
        return tags
