"""The base class of all methods: their public interface, as scikit-learn expects it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from complabel import metrics
from complabel.answers import Answers, check_complementary, pair_rows
from complabel.errors import AnnotationError
from complabel.methods._features import validated
from complabel.methods._hooks import Hooks
from complabel.methods._masks import read_answers, refuse_for_reference
from complabel.methods._saving import load_model, save_model
from complabel.methods._targets import Targets, check_new, refuse_other_number_of_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._arrays import Features


class ComplementaryClassifier(Hooks):
    """Base class of all methods; a method implements ``_fit`` and ``_decision``.

    Attributes
    ----------
    learns_from : {"complementary", "relevant"}
        The labels that ``fit`` expects as ``y``. Only reference methods expect ``"relevant"``
        labels; tables mark these methods.
    models_the_choice : bool
        Whether the method models which label is chosen as complementary. If so, ``score`` is a
        log-likelihood, and the method implements ``_log_likelihood``.
    understands_answers : bool
        Whether the method learns from :class:`complabel.answers.Answers` of every kind. If so,
        it implements ``_fit_answers``, and ``_answers_log_likelihood`` if it models the choice.
        If not, ``fit`` passes on only the labels that do not apply, as if they were named freely.
    threshold : {"probability", "minmax"}
        Rule of ``predict``: f > ``cut``, or the same after scaling each row of f to [0, 1].
    cut : float
        The cut of that rule, in (0, 1).
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | Answers | None = None,
        *,
        relevant: ArrayLike | None = None,
        offered: ArrayLike | None = None,
        absent: ArrayLike | None = None,
        excluded: ArrayLike | None = None,
    ) -> Self:
        """Learn from complementary labels, or from answers of any kind.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features. A sparse matrix becomes CSR and stays sparse; only LIFT makes small ones
            dense.
        y : array-like of shape (n_samples, K) or (n_samples,), Answers, or None, default=None
            One of these:

            - An indicator (n_samples, K) of complementary labels that were named freely. The
              columns of a data frame name the labels.
            - One complementary class per row, (n_samples,). Then exactly one class applies to each
              row. There is a warning if these are names, because several labels may be meant.
            - :class:`complabel.answers.Answers` to any questions.
            - None, if all answers are in ``absent`` or ``excluded``.

            Rows without a label or an answer are left out with a warning. A method with
            ``learns_from = "relevant"`` takes the relevant labels instead. If X is a pandas
            data frame, Answers with ``item_names`` and labels in data frames are paired with it
            by the names of rows, see :func:`complabel.answers.pair_rows`; otherwise by
            position.
        relevant : array-like of shape (n_samples, K) or None, default=None
            Indicator of labels that are known to apply; rows may be empty. If this and ``y`` are
            data frames, they must have the same columns.
        offered : array-like of shape (n_samples, K) or None, default=None
            Indicator of the menus that the labels in ``y`` were named from. An empty row means all
            K labels. If a row has a menu and ``y`` names no label, all labels of the menu apply.
        absent : array-like of shape (n_samples, K) or None, default=None
            Indicator of labels that were asked about and judged not to apply ("no"). The labels
            judged to apply ("yes") belong in ``relevant``.
        excluded : array-like of shape (n_samples, K) or None, default=None
            Indicator of labels that a rule or a report excluded. An empty row means that the row
            was not looked at.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If ``X`` is not a finite matrix with as many rows as ``y``, the names of their rows
            differ, a parameter is out of range, or a mask is given together with Answers.
        AnnotationError
            If the labels are not an indicator or contradict each other.

        Warns
        -----
        UnchosenLabelWarning
            If a label is complementary in no row.
        UnansweredRowWarning
            If a row has no complementary label, or no answer; the message counts them.
        ClassPerRowWarning
            If ``y`` holds one name per row, or is a column.
        IgnoredAnswersWarning
            If the method does not understand some of the answers; see ``understands_answers``.

        Notes
        -----
        ``offered``, ``absent`` and ``excluded`` are a short way to give one answer of each kind
        per row. Only ``Answers`` can say who answered, and how questions were drawn.

        All rows have the same weight: ``sample_weight`` is not supported.

        If true labels are given as ``y`` by mistake, ``fit`` cannot notice it. A held-out fit can:
        see :func:`complabel.metrics.least_cardinality`.
        """
        masks = {"relevant": relevant, "offered": offered, "absent": absent, "excluded": excluded}
        y, relevant, offered, absent, excluded = (
            pair_rows(X, labels, names=("X", name)) for name, labels in {"y": y, **masks}.items()
        )
        answers = read_answers(
            y, relevant=relevant, offered=offered, absent=absent, excluded=excluded
        )
        if self.learns_from == "relevant":
            refuse_for_reference(answers, relevant)
        given: Any = y if answers is None else answers
        features = validated(self, X, given)
        name = "a mask" if y is None else "y"
        refuse_other_number_of_rows(given, features.shape[0], name=name)
        if self.learns_from == "relevant":
            targets = Targets.from_true_labels(y)
        elif answers is None:
            targets = Targets.from_complementary(y, relevant=relevant)
        else:
            targets = Targets.from_answers(
                answers, learner=type(self).__name__, understands=self.understands_answers
            )
        self._check_parameters()
        self.classes_ = targets.classes
        self._single = targets.single
        if targets.answered is not None:
            features = features[targets.answered]
        if targets.answers is None:
            self._fit(features, targets.complementary, targets.relevant)
        else:
            self._fit_answers(features, targets.answers)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
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

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability f(x) of each label to be relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), float64
            Probabilities in [0, 1]. After a fit on one class per row, rows sum to 1: these are the
            probabilities given that exactly one label is relevant.
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
            Indicator of the predicted relevant labels. After a fit on one class per row, this is
            the most probable class instead, of shape (n_samples,). After a fit on a data frame,
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

    def score(self, X: ArrayLike, y: ArrayLike | Answers) -> float:
        """Return the score on held-out complementary labels or answers; greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples, K) or (n_samples,), or Answers
            Complementary labels, as in ``fit``, or answers about the same labels. Rows without
            one are left out. To score against true labels, use :mod:`complabel.metrics`.

        Returns
        -------
        float
            If the method models the choice (for Answers, if it also understands answers): the mean
            over rows of their log-likelihood, in nats. Else: minus the complementary ranking
            error, between -1 and 0.

        Raises
        ------
        InputError
            If ``X`` is not valid, or has other rows than ``y``.
        AnnotationError
            If ``y`` has no answer, or is not about the labels of ``fit``.

        Notes
        -----
        The two quantities cannot be compared. To compare methods, for example by
        ``cross_val_score``, pass ``scoring=complementary_ranking_scorer`` of
        :mod:`complabel.metrics`: it is the same quantity for every method. Methods that model the
        choice can also be compared by ``complementary_log_likelihood_scorer``. Scorers of
        scikit-learn, such as ``"f1_micro"``, expect the labels to predict as ``y``. With Answers
        they are refused. With an indicator of complementary labels this cannot be noticed: they
        return a number, and prefer the worse method. Nor can it be noticed here if ``y`` holds
        true labels; the score then means nothing.
        """
        y = pair_rows(X, y)
        features = self._validate_new(X)
        refuse_other_number_of_rows(y, features.shape[0])
        if isinstance(y, Answers):
            return self._score_answers(features, y)
        complementary = check_complementary(
            self._encode(y), min_labels=2, allow_unanswered=True, name="y"
        )
        answered = complementary.any(axis=1)
        if not answered.all():
            features, complementary = features[answered], complementary[answered]
        if self.models_the_choice:
            return float(self._log_likelihood(features, complementary).mean())
        return -metrics.complementary_ranking_error(complementary, self._decision(features))

    def save(
        self, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None
    ) -> None:
        """Save the fitted classifier to a file that :func:`complabel.load` reads.

        Parameters
        ----------
        path : path-like
            The file; ``.safetensors`` is the usual ending.
        provenance : mapping of str to object or None, default=None
            Notes to store with the model, such as the date: numbers, texts, and lists and mappings
            of them. :func:`complabel.methods.read_header` shows them.

        Raises
        ------
        ModelFileError
            If the class, network, loss or generator is your own; the message says what to do.
        OutputError
            If the file cannot be written.

        Notes
        -----
        After an error, a file that was there before is unchanged. The same model always gives the
        same bytes.

        The file does not hold the answers that the classifier learned from, nor ``callback``. It
        holds training features if predictions need them: all rows and their candidate labels for
        ML-KNN; up to ``n_components`` rows for the selection likelihood with a kernel; for LIFT,
        centres of rows, of which some are a single row. It holds the annotators' names if they
        have error rates.

        Examples
        --------
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

    def _score_answers(self, X: Features, answers: Answers) -> float:
        """Return the score on held-out answers."""
        check_new(answers, self.classes_)
        if not (self.understands_answers and self.models_the_choice):
            return -metrics.complementary_ranking_error(answers, self._decision(X))
        answered = answers.answered
        if not answered.any():
            raise AnnotationError("y has no answers; at least one item needs one")
        return float(self._answers_log_likelihood(X[answered], answers[answered]).mean())


def load(path: str | os.PathLike[str]) -> ComplementaryClassifier:
    """Load a classifier that ``classifier.save(path)`` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ComplementaryClassifier
        The classifier. On the same machine, its predictions equal those of the saved one exactly.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, from a newer complabel or not a model. The message says
        what to do.

    Notes
    -----
    Loading runs no code from the file. Only classes of the package are used, and their parameters
    and arrays are checked first. So a stranger's file is as safe to load as a table, but its
    predictions may be whatever the stranger wants.

    In a loaded classifier, ``callback`` is None. ``device`` is ``"auto"`` if the saved device does
    not exist here. ``network`` makes layers like the trained ones.
    """
    return cast("ComplementaryClassifier", load_model(path))
