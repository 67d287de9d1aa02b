"""The base class of all methods: their public interface, as scikit-learn expects it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from complabel import metrics
from complabel._opening import StrPath
from complabel._parameters import AnyArray, Array, Features, Indicator, check_parameters, declared
from complabel.answers import Answers, check_complementary, pair_rows
from complabel.errors import AnnotationError, InputError
from complabel.methods._decisions import check_thresholds
from complabel.methods._door import (
    Targets,
    check_new,
    encode_new,
    read_weights,
    refuse_arguments,
    refuse_other_number_of_rows,
    refuse_table,
)
from complabel.methods._features import validated
from complabel.methods._predictor import Predictor
from complabel.methods._saving import read_model, save_model


class ComplementaryClassifier(ClassifierMixin, BaseEstimator, Predictor):
    """Base class of all methods, which learn from labels that do *not* apply: 1 in ``y`` says so.

    A method implements ``_fit`` and ``_decision``.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels: names if a data frame or Answers have them, classes, or numbers.
    n_features_in_ : int
    learns_from : {"complementary", "relevant"}
        The labels that ``fit`` expects as ``y``; ``"relevant"`` for reference methods only.
    models_the_choice : bool
        Whether the method models which label is chosen as complementary. If so, ``score`` is a
        log-likelihood, and the method implements ``_log_likelihood``.
    understands_answers : bool
        Whether the method learns from :class:`complabel.answers.Answers` of every kind. If so, it
        implements ``_fit_answers``, and ``_answers_log_likelihood`` if it models the choice, and
        may leave out ``_fit`` and ``_log_likelihood``. If not, ``fit`` passes on only the labels
        that do not apply, as if they were named freely.
    understands_weights : bool
        Whether the method learns from weights of rows and answers. If so, it derives from
        ``WeightedClassifier``, and understands answers or implements ``_fit_weighted``.
    reads_pieces : bool
        Whether ``fit`` takes features in pieces, such as a Dask array.
    learns_beside_machine : bool
        Whether :func:`complabel.methods.fit_beside_machine` fits it.
    threshold : {"probability", "minmax"}
        Rule of ``predict``: f > ``cut``, or the same after scaling each row of f to [0, 1].
    cut : float
        The cut of that rule, in (0, 1).
    thresholds_ : ndarray of shape (K,)
        Only after ``set_thresholds``: ``predict`` then returns the labels whose probability is at
        least their threshold, whatever ``threshold`` and ``cut`` are.
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "complementary"
    models_the_choice: ClassVar[bool] = False
    reads_pieces: ClassVar[bool] = False
    learns_beside_machine: ClassVar[bool] = False
    understands_answers: ClassVar[bool] = False
    understands_weights: ClassVar[bool] = False

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | Answers,
        *,
        relevant: ArrayLike | None = None,
        **refused: Any,
    ) -> Self:
        """Learn from labels that do *not* apply (1 in ``y``), or from answers of any kind.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples, K) or (n_samples,), or Answers
            An indicator of complementary labels that were named freely: 1 if a label does *not*
            apply. If 1 means in yours that it applies, and 0 that it does not, give
            ``Answers.from_frame(Y)`` instead. The columns of a data frame name the labels. Or one
            complementary class per row, of at least three; then exactly one class applies to each
            row. Or :class:`complabel.answers.Answers` to any questions.

            Rows without a label or an answer are left out with a warning. A method with
            ``learns_from = "relevant"`` takes the relevant labels instead. Rows of pandas data
            frames are paired by their names, see :func:`complabel.answers.pair_rows`.
        relevant : array-like of shape (n_samples, K) or None, default=None
            Indicator of labels that are known to apply; rows may be empty. Answers say it
            themselves.
        **refused
            Anything else is refused. ``sample_weight`` is understood by
            :class:`SelectionLikelihoodClassifier`, :class:`NetworkLikelihoodClassifier`,
            :class:`ComplementaryRidgeClassifier`, :class:`PriorClassifier` and
            :class:`SupervisedClassifier`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If ``X``, its rows or a parameter are wrong, or ``relevant`` is given with Answers.
        AnnotationError
            If the labels are not an indicator or contradict each other; if ``y`` holds one of two
            classes per row, which would be an ordinary problem.

        Warns
        -----
        ReadAsComplementaryWarning
            If ``y`` is an array, once in a process: nothing in it says what it means.
        UnchosenLabelWarning
            If a label is complementary in no row.
        UnansweredRowWarning
            If a row has no complementary label, or no answer.
        ClassPerRowWarning
            If ``y`` holds one name per row, or is a column: several labels may be meant.
        IgnoredAnswersWarning
            If the method does not understand some of the answers, or their weights.

        Notes
        -----
        If true labels are given as ``y`` by mistake, ``fit`` cannot notice it; a held-out fit can,
        see :func:`complabel.metrics.least_cardinality`.
        """
        if refused:
            refuse_arguments(refused, type(self).__name__)
        return self._learn_from(X, y, relevant, None)

    def _learn_from(self, X: ArrayLike, y: Any, relevant: Any, sample_weight: Any) -> Self:
        refuse_table(y)
        y = pair_rows(X, y)
        relevant = pair_rows(X, relevant, names=("X", "relevant"))
        sample_weight = pair_rows(X, sample_weight, names=("X", "sample_weight"))
        features = validated(self, X, y)
        refuse_other_number_of_rows(y, features.shape[0])
        weights = None
        if sample_weight is not None:
            weights = read_weights(sample_weight, features.shape[0])
        targets = Targets.read(features, y, relevant, self, weights)
        self._check_parameters()
        self._forget("thresholds_")  # they were for the probabilities of an earlier fit
        self.classes_, self._single = targets.classes, targets.single
        self._from_answers = isinstance(y, Answers)
        marks = targets.complementary, targets.relevant
        if targets.answers is not None:
            self._fit_answers(targets.features, targets.answers)
        elif targets.weights is not None:
            self._fit_weighted(targets.features, *marks, targets.weights)
        else:
            self._fit(targets.features, *marks)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores; a label is the more likely to be relevant, the greater its score is.

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

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability f(x) of each label to be relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), float64
            After a fit on one class per row, rows sum to 1, because exactly one label is relevant.
        """
        return self._probabilities(self._decision(self._validate_new(X)))

    def set_thresholds(self, values: Mapping[Any, float] | ArrayLike | None) -> Self:
        """Choose from which probability on ``predict`` returns a label; ``save`` keeps it.

        Parameters
        ----------
        values : mapping of label to float, float, array-like of shape (K,), or None
            Thresholds in (0, 1). A label is predicted if its probability is at least its threshold.
            One number is for all labels. Labels that a mapping leaves out keep their threshold, or
            have ``cut`` if there is none yet. None goes back to ``threshold`` and ``cut``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a threshold is outside (0, 1), a label is unknown, or exactly one class applies to
            each row: then ``predict`` returns the most probable one.

        See Also
        --------
        complabel.trust.choose_thresholds : Thresholds for a precision, a recall or F1.

        Examples
        --------
        >>> import numpy as np
        >>> from complabel.methods import PriorClassifier
        >>> Y = np.eye(3, dtype=int)
        >>> classifier = PriorClassifier().fit(np.zeros((3, 1)), Y)
        >>> classifier.set_thresholds({2: 0.9}).thresholds_
        array([0.5, 0.5, 0.9])
        """
        check_is_fitted(self, "classes_")
        if values is None:
            self._forget("thresholds_")
            return self
        if self._single:
            raise InputError(
                "exactly one class applies to each row here, and predict returns the most probable"
                " one, without a threshold"
            )
        now = getattr(self, "thresholds_", self.cut)
        self.thresholds_ = check_thresholds(values, self.classes_, now)
        return self

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), int64
            Indicator of the predicted relevant labels; ``names_from_indicator`` makes names of it.
            After a fit on one class per row, the most probable class instead, (n_samples,).
        """
        return self._predicted(self._decision(self._validate_new(X)))

    def predict_with_proba(self, X: ArrayLike) -> tuple[AnyArray, Array]:
        """Return what ``predict`` and ``predict_proba`` return, from one pass over the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        predicted, probabilities : ndarrays
        """
        decision = self._decision(self._validate_new(X))
        return self._predicted(decision), self._probabilities(decision)

    def score(self, X: ArrayLike, y: ArrayLike | Answers) -> float:
        """Return the score on held-out complementary labels or answers; greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples, K) or (n_samples,), or Answers
            As in ``fit``, about the same labels: Answers if ``fit`` took Answers. Rows without a
            label or an answer are left out.

        Returns
        -------
        float
            If the method models the choice (for Answers, if it also understands answers): the mean
            over rows of their log-likelihood, in nats, weighted if answers have weights. Else:
            minus the complementary ranking error, between -1 and 0. For a reference: the average
            precision.

        Raises
        ------
        InputError
            If ``X`` is wrong, or has other rows than ``y``; if ``y`` is an array after a fit to
            Answers, as true labels would be.
        AnnotationError
            If ``y`` has no answer, or is not about the labels of ``fit``.

        Notes
        -----
        To compare methods, pass ``scoring=complementary_ranking_scorer`` of
        :mod:`complabel.metrics`, or ``complementary_log_likelihood_scorer`` for methods that model
        the choice. Scorers of scikit-learn, such as ``"f1_micro"``, expect the labels to predict
        as ``y``: with complementary labels they prefer the worse method, unnoticed.
        """
        y = pair_rows(X, y)
        features = self._validate_new(X)
        refuse_other_number_of_rows(y, features.shape[0])
        if self.learns_from == "relevant":
            true_labels = encode_new(y, self.classes_, single=self._single)
            return metrics.average_precision(true_labels, self._decision(features))
        if isinstance(y, Answers):
            return self._score_answers(self._decision(features), y)
        metrics.refuse_labels_after_answers(self)
        labels = encode_new(y, self.classes_, single=self._single)
        complementary = check_complementary(labels, min_labels=2, allow_unanswered=True, name="y")
        answered = complementary.any(axis=1)
        if not answered.all():
            features, complementary = features[answered], complementary[answered]
        if self.models_the_choice:
            return float(self._log_likelihood(features, complementary).mean())
        return -metrics.complementary_ranking_error(complementary, self._decision(features))

    def _score_answers(self, decision: Array, answers: Answers) -> float:
        check_new(answers, self.classes_)
        if not (self.understands_answers and self.models_the_choice):
            return -metrics.complementary_ranking_error(answers, decision)
        weights = answers.item_weight
        answered = weights > 0
        if not answered.any():
            raise AnnotationError("y has no answers; at least one item needs one")
        log_likelihood = self._answers_log_likelihood(decision[answered], answers[answered])
        return float(log_likelihood.mean() / weights[answered].mean())

    def save(self, path: StrPath, *, provenance: Mapping[str, Any] | None = None) -> None:
        """Save the fitted classifier to a file that :func:`complabel.load` reads.

        Parameters
        ----------
        path : path-like
            The file; ``.safetensors`` is the usual ending.
        provenance : mapping of str to object or None, default=None
            Plain notes to store with the model; :func:`complabel.methods.read_header` shows them.

        Raises
        ------
        ModelFileError
            If the class, network, loss or generator is your own.
        OutputError
            If the file cannot be written. A file that was there before is unchanged.

        Notes
        -----
        The file does not hold the answers, nor ``callback``. It holds training features if
        predictions need them: all rows and their candidate labels for ML-KNN; up to
        ``n_components`` rows for the selection likelihood with a kernel; centres of rows for LIFT.
        It holds the names of annotators with error rates.

        Examples
        --------
        >>> import numpy as np
        >>> import tempfile
        >>> from pathlib import Path
        >>> import complabel
        >>> from complabel.methods import PriorClassifier
        >>> classifier = PriorClassifier().fit(np.zeros((3, 1)), np.eye(3, dtype=int))
        >>> path = Path(tempfile.mkdtemp()) / "model.safetensors"
        >>> classifier.save(path)
        >>> complabel.load(path)
        PriorClassifier()
        """
        check_is_fitted(self, "classes_")
        save_model(self, path, provenance)

    # What a method implements, or may override

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        """Learn from features (n, d) and indicators (n, K); no row is empty or full.

        If ``learns_from = "relevant"``, ``complementary`` holds the relevant labels.
        """
        self._fit_answers(X, Answers.from_complementary(complementary, relevant=relevant))

    def _fit_weighted(
        self, X: Features, complementary: Indicator, relevant: Indicator | None, weights: Array, /
    ) -> None:
        """Do as ``_fit``, with a weight (n,) above 0 for each row."""
        raise NotImplementedError(f"{type(self).__name__} does not understand weights")

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not understand answers")

    def _log_likelihood(self, X: Features, complementary: Indicator) -> Array:
        """Return the log-likelihood of each row's complementary labels, shape (n,), in nats."""
        answers = Answers.from_complementary(complementary)
        return self._answers_log_likelihood(self._decision(X), answers)

    def _answers_log_likelihood(self, decision: Array, answers: Answers, /) -> Array:
        """Return the log-likelihood (n,) of the answers about rows with such scores, in nats."""
        raise NotImplementedError(f"{type(self).__name__} does not model the choice")

    def _check_parameters(self) -> None:
        """Refuse parameters that break ``_constraints``; methods may add checks."""
        check_parameters(self)

    def _plain_parameters(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return the parameters for a file, for ``sizes`` K and d; it holds no callback."""
        del sizes
        parameters: dict[str, Any] = self.get_params(deep=False)
        return {**parameters, "callback": None} if "callback" in parameters else parameters

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        return cls(**parameters)

    def _state(self) -> dict[str, Any]:
        """Return what ``_fitted`` declares, as plain values and arrays."""
        names = declared(type(self), "_fitted")
        return {name: vars(self)[name] for name in names if name in vars(self)}

    # What methods use

    def _forget(self, *attributes: str) -> None:
        """Delete attributes that an earlier fit with other parameters may have set."""
        for attribute in attributes:
            self.__dict__.pop(attribute, None)

    def _validate_new(self, X: ArrayLike) -> Features:
        check_is_fitted(self, "classes_")
        return validated(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        # scikit-learn's checks train on true labels, which the method reads as complementary ones.
        tags.classifier_tags.poor_score = True
        return tags


class WeightedClassifier(ComplementaryClassifier):
    """Base class of methods whose ``fit`` takes a weight for each row."""

    # Only their ``fit`` has the argument: scikit-learn asks the signature which methods can.

    understands_weights = True

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | Answers,
        *,
        relevant: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **refused: Any,
    ) -> Self:
        """Learn from labels that do *not* apply (1 in ``y``), or from answers of any kind.

        Parameters
        ----------
        X, y, relevant
            As in :meth:`ComplementaryClassifier.fit`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How much each row counts, from 0: a row with weight 2 counts like two such rows, and one
            with weight 0 is left out. The weights of Answers are multiplied by it. Folds are of
            rows, the kernel of :class:`SelectionLikelihoodClassifier` takes its rows from all
            alike, and what is estimated from counts (label frequencies, propensities that follow
            from them, rates of exclusions) counts each answer once.
        **refused
            Anything else is refused.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As there; also if a weight is negative or not finite, all are 0, or there is not one
            for each row.
        AnnotationError
            As there.

        Examples
        --------
        >>> import numpy as np
        >>> from complabel.methods import PriorClassifier
        >>> X, Y = np.zeros((3, 1)), np.eye(3, dtype=int)
        >>> PriorClassifier().fit(X, Y, sample_weight=[2, 1, 1]).choice_rate_
        array([0.5 , 0.25, 0.25])
        """
        if refused:
            refuse_arguments(refused, type(self).__name__)
        return self._learn_from(X, y, relevant, sample_weight)

    def _fit_weighted(
        self, X: Features, complementary: Indicator, relevant: Indicator | None, weights: Array, /
    ) -> None:
        answers = Answers.from_complementary(complementary, relevant=relevant)
        self._fit_answers(X, answers.with_weight(weights))


def load(path: StrPath) -> ComplementaryClassifier:
    """Load a classifier that ``classifier.save(path)`` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ComplementaryClassifier
        On the same machine, its predictions equal those of the saved one exactly. ``callback`` is
        None, and ``device`` is ``"auto"`` if the saved device does not exist here.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, from another version of complabel, or not a model.

    Notes
    -----
    Loading runs no code from the file. So a stranger's file is as safe to load as a table, but its
    predictions may be whatever the stranger wants, or an error.
    """
    loaded: ComplementaryClassifier = read_model(path)[0]
    return loaded
