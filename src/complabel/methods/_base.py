"""The interface every method shares, and the part of scikit-learn's contract it fulfils."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from complabel import metrics
from complabel.annotations import Answers, check_complementary
from complabel.errors import AnnotationError
from complabel.methods._features import validated
from complabel.methods._hooks import Hooks
from complabel.methods._masks import read_answers, refuse_for_reference
from complabel.methods._targets import Targets, check_new, refuse_other_number_of_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._arrays import Features


class ComplementaryClassifier(Hooks):
    """Base of all methods; a method implements ``_fit`` and ``_decision``.

    Attributes
    ----------
    learns_from : {"complementary", "relevant"}
        What a method's ``fit`` is given as ``y``. Only reference methods declare ``"relevant"``;
        every table marks them.
    models_the_choice : bool
        Whether the method models which label is chosen as complementary. If so, ``score`` is a
        log-likelihood, and the method implements ``_log_likelihood``.
    understands_answers : bool
        Whether the method learns from :class:`complabel.annotations.Answers` as they are. If so,
        it implements ``_fit_answers``, and ``_answers_log_likelihood`` if it models the choice.
        Others are given the labels that do not apply as if each had been named freely.
    threshold : {"probability", "minmax"}
        Rule of ``predict``: f > ``cut``, or the same after scaling each row of f to [0, 1].
    cut : float
        In (0, 1).
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
        """Learn from complementary labels, or from all that people answered.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features; CSR stays sparse, but in LIFT where it is small.
        y : array-like of shape (n_samples, K) or (n_samples,), Answers, or None, default=None
            The complementary labels, each named freely: an indicator of labels that do not apply,
            or one such class per row of which exactly one applies; names given so are warned of.
            Or :class:`complabel.annotations.Answers` to any questions. Rows without a label or
            answer are left out with a warning. A data frame's columns name the labels. None where
            all answers are in ``absent`` or ``excluded``. For a method with
            ``learns_from = "relevant"``, the relevant labels instead.
        relevant : array-like of shape (n_samples, K) or None, default=None
            Indicator of labels known to apply, if any are; rows may be empty. Of two data frames
            the columns must agree.
        offered : array-like of shape (n_samples, K) or None, default=None
            The labels of which those in ``y`` were named; an empty row stands for all K. Where
            labels were offered and ``y`` names none, all of them apply.
        absent : array-like of shape (n_samples, K) or None, default=None
            Labels that were asked about and judged not to apply ("no"), beside those in
            ``relevant`` ("yes").
        excluded : array-like of shape (n_samples, K) or None, default=None
            Labels that a rule or a report ruled out. An empty row was not looked at.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If ``X`` is not a finite matrix with as many rows as there are labels, a parameter
            is out of range, or a mask comes beside Answers.
        AnnotationError
            If the labels contradict themselves or each other.

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
        ``offered``, ``absent`` and ``excluded`` are the short way to one answer of each kind a
        row. Only ``Answers`` say who answered, and how questions were drawn.

        Every row weighs the same: ``sample_weight`` is not supported.

        True labels given as ``y`` look like an annotator's answers and cannot be told from them
        here. A held-out fit shows them: see :func:`complabel.metrics.least_cardinality`.
        """
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

    def score(self, X: ArrayLike, y: ArrayLike | Answers) -> float:
        """Score on held-out complementary labels or answers; greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples, K) or (n_samples,), or Answers
            Complementary labels, as in ``fit``, or answers about the same labels; rows without
            one are left out. Scoring against true labels is done by :mod:`complabel.metrics`,
            never here.

        Returns
        -------
        float
            Mean over rows of the log-likelihood of the answers, in nats, where
            ``models_the_choice``; of Answers, where ``understands_answers`` too. Else minus the
            complementary ranking error, between -1 and 0.

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
            A file; ``.safetensors`` is the usual ending.
        provenance : mapping of str to object or None, default=None
            The date, say, in plain values; :func:`complabel.persistence.read_header` shows it.

        Raises
        ------
        ModelFileError
            If a class, network, loss or generator is your own; the message says what to do.
        OutputError
            If the file cannot be written. In either case, what was there before is unchanged.

        Notes
        -----
        The same model gives the same bytes. The answers learned from, and ``callback``, are left
        out. Training features are there where predictions need them: all rows, with candidate
        labels, in ML-KNN; up to ``n_components`` rows in the selection likelihood with a kernel;
        centres of rows, some of a single one, in LIFT. Annotators are named where they have error
        rates.

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
        from complabel.methods._saving import save  # the registry of classes imports this module

        check_is_fitted(self, "classes_")
        save(self, path, provenance=provenance)

    def _score_answers(self, X: Features, answers: Answers) -> float:
        """Score on held-out answers."""
        check_new(answers, self.classes_)
        if not (self.understands_answers and self.models_the_choice):
            return -metrics.complementary_ranking_error(answers, self._decision(X))
        answered = answers.answered
        if not answered.any():
            raise AnnotationError("y has no answers; at least one item needs one")
        return float(self._answers_log_likelihood(X[answered], answers[answered]).mean())
