"""How a classifier does on answers that it did not learn from: a score, and probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from complabel._parameters import Array, Bools, Ints, check_integer
from complabel.answers import Answers, pair_rows
from complabel.errors import AnnotationError, InputError
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._door import refuse_other_number_of_rows
from complabel.methods._registry import make_classifier
from complabel.metrics import complementary_log_likelihood_scorer, complementary_ranking_scorer


@dataclass(frozen=True)
class HeldOutScore:
    """Scores on answers about items that were left out of a fit.

    Attributes
    ----------
    criterion : str
        ``"log-likelihood"``, the mean over items in nats, if the classifier models all kinds of
        answers; or ``"ranking"``, minus the complementary ranking error. Greater is better.
    score : float
        Mean over the folds.
    standard_error : float
        Standard error of ``score``, from the spread between folds; nan with one fold.
    constant : float
        The score of a classifier that gives all items the same scores.
    gain_error : float
        Standard error of ``gain``, from the differences of both scores in each fold.
    n_folds : int
        Number of folds with answers to score on.
    probabilities : ndarray of shape (n_items, n_labels), dtype float64
        Chances that labels apply, by the model of the fold that left out the item; NaN for items
        without an answer.
    folds : ndarray of shape (n_items,), dtype intp
        The number of that fold.
    """

    criterion: str
    score: float
    standard_error: float
    constant: float
    gain_error: float
    n_folds: int
    probabilities: Array = field(repr=False, compare=False)
    folds: Ints = field(repr=False, compare=False)

    @property
    def gain(self) -> float:
        """How much the features help: ``score`` minus ``constant``."""
        return self.score - self.constant


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a classifier says of n items, from one pass over their features."""

    classifier: ComplementaryClassifier
    scores: Array  # (n, K), of ``decision_function``
    probabilities: Array  # (n, K), of ``predict_proba``

    @classmethod
    def of(cls, classifier: ComplementaryClassifier, X: ArrayLike) -> Self:
        """Predict the rows of X."""
        scores = classifier._decision(classifier._validate_new(X))
        return cls(classifier, scores, classifier._probabilities(scores))

    def log_likelihood(self, answers: Answers) -> float | None:
        """Return the ``score`` on answers about the items; None if they are not modelled."""
        if not (self.classifier.models_the_choice and self.classifier.understands_answers):
            return None
        return self.classifier._score_answers(self.scores, answers)


def held_out_score(
    classifier: ComplementaryClassifier | Pipeline,
    X: ArrayLike,
    answers: Answers,
    *,
    n_folds: int = 3,
    random_state: int = 0,
    same_features: bool = False,
    on_fold: Callable[[int], None] | None = None,
) -> HeldOutScore:
    """Score a classifier on answers about items that it did not learn from.

    Parameters
    ----------
    classifier : ComplementaryClassifier, or Pipeline that ends in one
        It is cloned, and not changed.
    X : array-like or sparse matrix of shape (n_items, n_features)
        See ``fit`` for how the rows of a data frame are paired with answers.
    answers : Answers
    n_folds : int, default=3
        Number of folds, at least 2. Items are assigned to folds at random.
    random_state : int, default=0
        Seed of the folds.
    same_features : bool, default=False
        Whether each fold takes the kind of features (kernel, scaling, gamma and rank) that a fitted
        ``classifier`` chose, in a fraction of the time. Penalties are still chosen in each fold.
        The choice knew the fold's answers, so the score may be a little too high.
    on_fold : callable or None, default=None
        Called after each fold with the number of folds that are done.

    Returns
    -------
    HeldOutScore

    Raises
    ------
    InputError
        If there are fewer items with answers than folds, or the classifier cannot learn from them.
    AnnotationError
        If no fold has answers to score on.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.methods import SelectionLikelihoodClassifier
    >>> data = make_synthetic(300, n_features=5, n_labels=4, signal=4.0, random_state=0)
    >>> answers = draw_answers(data.Y, question="asked", random_state=1)
    >>> classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    >>> found = held_out_score(classifier, data.X, answers)
    >>> found.criterion, found.gain > 0.1
    ('log-likelihood', True)
    """
    last = _last_step(classifier)
    rows, answers = _paired(X, answers)
    explains = last.models_the_choice and last.understands_answers
    score = complementary_log_likelihood_scorer if explains else complementary_ranking_scorer
    scores: list[tuple[float, float]] = []
    folds = folds_of(answers.answered, n_folds, random_state)
    probabilities = np.full(answers.shape, np.nan)
    for number in range(n_folds):
        of_fold = folds == number
        train, test = (np.flatnonzero(answers.answered & each) for each in (~of_fold, of_fold))
        with warnings.catch_warnings():
            # The fit on all answers gives the same warnings.
            warnings.simplefilter("ignore")
            model = _clone(classifier, same_features=same_features)
            model.fit(rows[train], answers[train])
            blind = _without_features(last, len(train), answers[train])
            probabilities[test] = model.predict_proba(rows[test])
        nothing = np.zeros((len(test), 1))
        try:
            pair = score(model, rows[test], answers[test]), score(blind, nothing, answers[test])
        except AnnotationError:  # in this fold, no label is known not to apply
            continue
        scores.append(pair)
        if on_fold is not None:
            on_fold(number + 1)
    if not scores:
        raise AnnotationError(
            "no held-out answer says that a label does not apply, so there is nothing to score;"
            " give answers that do"
        )
    values: Array = np.array(scores)
    of_both = np.stack([values[:, 0], values[:, 0] - values[:, 1]])
    error = np.full(2, np.nan)
    if len(values) > 1:
        error = of_both.std(axis=1, ddof=1) / np.sqrt(len(values))
    return HeldOutScore(
        criterion="log-likelihood" if explains else "ranking",
        score=float(values[:, 0].mean()),
        standard_error=float(error[0]),
        constant=float(values[:, 1].mean()),
        gain_error=float(error[1]),
        n_folds=len(values),
        probabilities=probabilities,
        folds=folds,
    )


def cross_fit_probabilities(
    classifier: ComplementaryClassifier | Pipeline,
    X: ArrayLike,
    answers: Answers,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    on_fold: Callable[[int], None] | None = None,
    fit: Callable[[Ints, Any, Answers], Any] | None = None,
) -> Array:
    """Return probabilities of labels, for each item from a clone that did not see its answers.

    They stand for those of ``classifier`` fitted to all answers, so that the same answers can say
    how good these are (:func:`~complabel.trust.estimate_metrics`). The clones learned from fewer
    answers, and may be a little worse.

    Parameters
    ----------
    classifier : ComplementaryClassifier, or Pipeline that ends in one
        It is cloned, and not changed.
    X : array-like or sparse matrix of shape (n_items, n_features)
        See ``fit`` for how the rows of a data frame are paired with answers.
    answers : Answers
    n_folds : int, default=5
        How many clones are fitted, at least 2. Items are assigned to folds at random.
    random_state : int, default=0
        Seed of the folds.
    on_fold : callable or None, default=None
        Called after each fold with the number of folds that are done.
    fit : callable or None, default=None
        Called in place of a clone's ``fit`` with the numbers of the other items, their features and
        the answers about them; it returns a fitted classifier.

    Returns
    -------
    ndarray of shape (n_items, n_labels), dtype float64
        Also of items without an answer.

    Raises
    ------
    InputError
        If there are fewer items with answers than folds, or the classifier cannot learn from them.

    References
    ----------
    Zrnic and Candes, "Cross-prediction-powered inference", PNAS 2024.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.methods import ComplementaryRidgeClassifier
    >>> data = make_synthetic(300, n_features=5, n_labels=4, random_state=0)
    >>> answers = draw_answers(data.Y, random_state=1)
    >>> cross_fit_probabilities(ComplementaryRidgeClassifier(), data.X, answers).shape
    (300, 4)
    """
    _last_step(classifier)
    check_integer("n_folds", n_folds, at_least=2)
    rows, answers = _paired(X, answers)
    probabilities = np.empty(answers.shape)
    folds = folds_of(answers.answered, n_folds, random_state)
    for number in range(n_folds):
        left_out = np.flatnonzero(folds == number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all answers gives the same warnings
            if fit is None:
                train = np.flatnonzero(answers.answered & (folds != number))
                model = clone(classifier).fit(rows[train], answers[train])
            else:
                items = np.flatnonzero(folds != number)
                model = fit(items, rows[items], answers[items])
        probabilities[left_out] = model.predict_proba(rows[left_out])
        if on_fold is not None:
            on_fold(number + 1)
    return probabilities


def _paired(X: ArrayLike, answers: Answers) -> tuple[Any, Answers]:
    """Return rows that can be picked by number, and the answers about them."""
    answers = pair_rows(X, answers, names=("X", "answers"))
    rows: Any = X if hasattr(X, "shape") else np.asarray(X)
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
    refuse_other_number_of_rows(answers, rows.shape[0], name="answers")
    return getattr(rows, "iloc", rows), answers


def folds_of(answered: Bools, n_folds: int, random_state: int = 0) -> Ints:
    """Return the fold (n,) that leaves each item out; items without an answer are spread, too."""
    check_integer("n_folds", n_folds, at_least=2)
    items, others = np.flatnonzero(answered), np.flatnonzero(~answered)
    if len(items) < n_folds:
        raise InputError(
            f"only {len(items)} items have answers, which is too few for {n_folds} folds; give"
            " fewer folds or more answers"
        )
    numbers = np.empty(len(answered), dtype=np.intp)
    folds = KFold(n_folds, shuffle=True, random_state=random_state)
    # Items without answers are spread over the folds, so that all items have similar predictions.
    rest = np.array_split(np.random.default_rng(random_state).permutation(others), n_folds)
    for number, ((_, test), of_rest) in enumerate(zip(folds.split(items), rest, strict=True)):
        numbers[items[test]] = numbers[of_rest] = number
    return numbers


def _last_step(classifier: Any) -> ComplementaryClassifier:
    last = classifier
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    kind = type(last).__name__
    if not isinstance(last, ComplementaryClassifier):
        raise InputError(
            f"classifier must be one of complabel, or a Pipeline that ends in one, got {kind};"
            " others may take the labels that do not apply for labels to predict. To calibrate,"
            " use FrequencyMatchedClassifier"
        )
    if last.learns_from != "complementary":
        raise InputError(
            f"{kind} learns from true labels; give a classifier that learns from answers"
        )
    return last


def _clone(classifier: Any, *, same_features: bool) -> Any:
    """Return a clone, with the kind of features that a fitted classifier chose if it shall."""
    copied, fitted = clone(classifier), _last_step(classifier)
    if same_features and hasattr(fitted, "kernel_"):
        parameters = fitted.get_params(deep=False)
        chosen = {"rank": getattr(fitted, "rank_", None)}  # without it, the rank is full
        for name in ("kernel", "scaling", "gamma"):
            if hasattr(fitted, f"{name}_"):
                chosen[name] = getattr(fitted, f"{name}_")
        _last_step(copied).set_params(
            **{n: v for n, v in chosen.items() if parameters[n] == "auto"}
        )
    return copied


def _without_features(
    classifier: ComplementaryClassifier, n_items: int, answers: Answers
) -> ComplementaryClassifier:
    """Fit a clone to a constant feature if it models answers, else the prior."""
    nothing = np.zeros((n_items, 1))
    if not (classifier.models_the_choice and classifier.understands_answers):
        return make_classifier("prior").fit(nothing, answers)
    blind: ComplementaryClassifier = clone(classifier)
    if "network" in classifier.get_params(deep=False):
        # A few steps of gradient descent would not reach the best constant.
        blind = make_classifier("selection-likelihood")
    # The weights are 0 under any penalty.
    settings = {"kernel": "linear", "scaling": "global", "alpha": 1.0, "callback": None}
    known = blind.get_params(deep=False)
    parameters = {**classifier.get_params(deep=False), **settings}
    blind.set_params(**{name: value for name, value in parameters.items() if name in known})
    return blind.fit(nothing, answers)
