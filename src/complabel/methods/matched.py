"""A classifier that matches any method's scores to how often labels apply."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special
from sklearn.base import clone

from complabel._parameters import (
    AnyArray,
    Array,
    Constraints,
    Features,
    Indicator,
    Integer,
    Ints,
    Real,
)
from complabel.answers import Answers, ClassPerRowWarning, UnchosenLabelWarning
from complabel.errors import InputError
from complabel.frequencies import (
    LabelFrequencies,
    check_auto_or_given,
    drawn_at_random,
    estimate_label_frequencies,
    given_frequencies,
    rates_of_lists,
)
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._matching import class_shifts, label_shifts
from complabel.methods._saving import MISSING, Numbers, model_of, parts_of

# Frequencies are kept this far from 0 and 1, because only infinite scores have means of 0 or 1.
_RAREST = 1e-6


@dataclass(eq=False, repr=False)
class FrequencyMatchedClassifier(ComplementaryClassifier):
    r"""Any classifier of the package, with its scores matched to how often each label applies.

    The label that comes to mind first is not always the label that applies least. Methods that
    assume so rank whole labels wrongly, even if they rank the items of each label well. If s are
    the scores of the trained ``classifier``, the log-odds here are ::

        z_k(x) = a s_k(x) + b_k

    The shift b_k makes the mean of sigmoid(z_k) over the training rows the frequency of label k, so
    the order of labels within an item can change. The scale a is the one under which the answers
    are likeliest, with scores of classifiers that did not learn from these answers.

    Parameters
    ----------
    classifier : ComplementaryClassifier
        Any method. It is cloned, and fitted to the same data as this classifier.
    label_frequencies : "auto" or array-like of shape (K,), default="auto"
        The share of rows to which each label applies, in [0, 1]. ``"auto"`` estimates it by
        :func:`complabel.frequencies.estimate_label_frequencies`. This needs Answers with yes/no
        answers about random labels; about a hundred in all are enough.
    cv : int or None, default=3
        Number of parts of the rows, each scored by a clone that is fitted to the others, for the
        scale and the estimate. Without them (None), the scale is one over the standard deviation
        of scores around their labels' means.

    Attributes
    ----------
    classifier_ : ComplementaryClassifier
        The fitted clone.
    label_frequencies_ : ndarray of shape (K,)
        The frequencies, given or estimated: the means of ``predict_proba`` over the training rows.
    label_frequencies_errors_ : ndarray of shape (K,), or None
        Standard errors of the estimate; None if frequencies were given.
    label_frequencies_intervals_ : ndarray of shape (K, 2), or None
        Intervals of 95 %, as of :class:`complabel.frequencies.LabelFrequencies`.
    propensities_ : ndarray of shape (K,)
        How readily each label comes to mind. Only if they were estimated.
    scale_, shift_ : float and ndarray of shape (K,)
        a and b.

    Notes
    -----
    A fit trains the classifier ``cv + 1`` times. ``score`` is the mean log-likelihood of answers,
    with labels that are independent given x, also if the classifier itself has no likelihood. For
    exclusions, the rates e_k come from the observed shares e_k (1 - pi_k) of excluded labels.

    With one class per row, probabilities are a softmax of z, and frequencies add up to 1.

    Examples
    --------
    Among the labels that do not apply, people name the third label nine times as readily:

    >>> import numpy as np
    >>> from complabel.simulate import draw_answers
    >>> from complabel.methods import ComplementaryRidgeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> relevant = (X > [1.0, 1.0, 0.5]).astype(int)
    >>> relevant[relevant.all(axis=1), 0] = 0
    >>> named = draw_answers(relevant, propensities=[1, 1, 9], random_state=0)
    >>> ridge = ComplementaryRidgeClassifier(random_state=0)
    >>> ridge.fit(X, named).predict_proba(X).mean(axis=0).round(2)
    array([0.61, 0.63, 0.24])

    It is known how often each label applies. (If not, yes/no answers about random labels tell it.)

    >>> known = relevant.mean(axis=0)
    >>> known.round(2)
    array([0.12, 0.17, 0.33])
    >>> matched = FrequencyMatchedClassifier(ridge, known).fit(X, named)
    >>> matched.predict_proba(X).mean(axis=0).round(2)
    array([0.12, 0.17, 0.33])
    """

    models_the_choice = True
    understands_answers = True
    _constraints: ClassVar[Constraints] = {
        "classifier": ComplementaryClassifier,
        "cv": (None, Integer(at_least=2)),
    }
    _fitted: ClassVar[Constraints] = {
        "classifier_": dict,
        "label_frequencies_": Numbers("K"),
        "label_frequencies_errors_": (None, Numbers("K")),
        "label_frequencies_intervals_": (None, Numbers("K", "ends")),
        "propensities_": (MISSING, Numbers("K")),
        "scale_": Real(),
        "shift_": Numbers("K"),
        "_exclusion_rates": (None, Numbers("K")),
    }

    classifier: ComplementaryClassifier
    label_frequencies: str | ArrayLike = "auto"
    cv: int | None = field(default=3, kw_only=True)

    @property
    def learns_from(self) -> Literal["complementary", "relevant"]:  # type: ignore[override]
        """The kind of labels that the classifier learns from."""
        # The default is for objects that are not classifiers; fit refuses them.
        return getattr(self.classifier, "learns_from", "complementary")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_auto_or_given(self.label_frequencies)

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        y = self.classes_[complementary.argmax(axis=1)] if self._single else complementary
        if self.learns_from == "relevant":
            answers = Answers.from_arrays(absent=1 - complementary, question="ticked")
        else:
            answers = Answers.from_complementary(complementary, relevant=relevant)
        with warnings.catch_warnings():  # fit has already given these warnings
            warnings.simplefilter("ignore", UnchosenLabelWarning)
            warnings.simplefilter("ignore", ClassPerRowWarning)
            self._learn(X, y, relevant, answers)

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        self._learn(X, answers, None, answers)

    def _learn(self, X: Features, y: Any, relevant: Indicator | None, answers: Answers) -> None:
        """Fit clones of the classifier to ``y``, and match their scores by ``answers``."""
        frequencies = self._frequencies(answers)
        self.classifier_ = clone(self.classifier).fit(X, y, relevant=relevant)
        scores = _scores(self.classifier_, X)
        self.scale_ = unit_scale(scores)
        if self.cv is not None:
            held_out = self._held_out_scores(X, y, relevant, cv=self.cv)
            self.scale_ = self._likeliest_scale(held_out, frequencies, answers)
            if isinstance(self.label_frequencies, str):
                scaled = self.scale_ * held_out
                p = self._probabilities(scaled + self._shifts(scaled, frequencies))
                frequencies = self._frequencies(answers, predictions=p)
        self.label_frequencies_ = frequencies
        self.shift_ = self._shifts(self.scale_ * scores, frequencies)
        self._exclusion_rates = rates_of_lists(answers, frequencies)

    def _frequencies(self, answers: Answers, *, predictions: Array | None = None) -> Array:
        """Return the frequencies (K,), given or estimated; store errors and propensities."""
        if not isinstance(self.label_frequencies, str):
            return self._given_or(None)
        estimate = estimate_label_frequencies(answers)
        if predictions is not None:  # they follow from these answers, and make no error smaller
            sharp = estimate_label_frequencies(drawn_at_random(answers), predictions=predictions)
            estimate = sharp.with_errors_of(estimate)
        return self._given_or(estimate)

    def _given_or(self, estimate: LabelFrequencies | None) -> Array:
        """Return frequencies (K,) that were found, or else given; store what belongs to them."""
        self._forget("propensities_")
        self.label_frequencies_errors_ = None if estimate is None else estimate.standard_errors
        self.label_frequencies_intervals_ = None if estimate is None else estimate.intervals
        self._log_propensities: Array | None = None
        if estimate is None:
            values = given_frequencies(
                self.label_frequencies, self.classes_, one_applies=self._single
            )
        else:
            values = estimate.values
            if estimate.propensities is not None:
                self.propensities_ = estimate.propensities
                self._log_propensities = np.log(estimate.propensities)
        values = np.clip(values, _RAREST, 1 - _RAREST)
        return values / values.sum() if self._single else values

    def _plain_parameters(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        plain = parts_of(self.classifier, unfitted_for=sizes)
        return {**super()._plain_parameters(sizes), "classifier": plain}

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        made = model_of(parameters["classifier"], fitted=False)
        return super()._from_plain({**parameters, "classifier": made})

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "classifier_": parts_of(self.classifier_)}

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        made = model_of(state["classifier_"], sizes=sizes)
        super()._set_state({**state, "classifier_": made}, sizes)
        propensities = getattr(self, "propensities_", None)
        self._log_propensities = None if propensities is None else np.log(propensities)

    def _held_out_scores(
        self, X: Features, y: Any, relevant: Indicator | None, *, cv: int
    ) -> Array:
        n = X.shape[0]
        if n < cv:
            raise InputError(f"n_samples={n} is less than cv={cv}; give more rows, or cv=None")
        scores = np.empty((n, len(self.classes_)))
        part = _parts(y if self._single else None, n, cv)
        for number in range(cv):
            rest, rows = np.flatnonzero(part != number), np.flatnonzero(part == number)
            known = None if relevant is None else relevant[rest]
            with warnings.catch_warnings():  # the fit to all rows has warned
                warnings.simplefilter("ignore")
                fitted = clone(self.classifier).fit(X[rest], y[rest], relevant=known)
            held_out = _scores(fitted, X[rows])
            # A class of a single row is unknown to a fit to the others: give it the mean score.
            scores[rows] = held_out.mean(axis=1, keepdims=True)
            known_to_it = np.isin(self.classes_, fitted.classes_) | (not self._single)
            scores[np.ix_(rows, known_to_it)] = held_out
        return scores

    def _likeliest_scale(self, scores: Array, frequencies: Array, answers: Answers) -> float:
        shifts = partial(self._shifts, frequencies=frequencies)
        if not self._single:
            return likeliest_scale(scores, shifts, evidence_of(answers, self._log_propensities))
        applies = self.learns_from == "relevant"
        marks = answers.known_relevant if applies else answers.complementary

        def evidence(logits: Array) -> float:
            return float(log_chances_of_classes(logits, marks, applies=applies).sum())

        return likeliest_scale(scores, shifts, evidence)

    def _shifts(self, scaled: Array, frequencies: Array) -> Array:
        return (class_shifts if self._single else label_shifts)(scaled, frequencies)

    def _decision(self, X: Features) -> Array:
        return self.scale_ * _scores(self.classifier_, X) + self.shift_

    def _log_likelihood(self, X: Features, complementary: Indicator) -> Array:
        if self._single:
            return log_chances_of_classes(self._decision(X), complementary, applies=False)
        return super()._log_likelihood(X, complementary)

    def _answers_log_likelihood(self, decision: Array, answers: Answers, /) -> Array:
        likelihood = log_likelihood_of(
            answers, self._log_propensities, exclusion_rates=self._exclusion_rates
        )
        return likelihood(decision)

    def around(
        self,
        fitted: ComplementaryClassifier,
        X: ArrayLike,
        scale: float,
        estimate: LabelFrequencies,
    ) -> FrequencyMatchedClassifier:
        """Return a clone around a fitted classifier, which matches scores times ``scale``.

        Its frequencies are those that were given, or else ``estimate``.
        """
        made: FrequencyMatchedClassifier = clone(self)
        for name in ("classes_", "_single", "_from_answers", "n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(made, name, getattr(fitted, name))
        estimates = isinstance(made.label_frequencies, str)
        made.label_frequencies_ = made._given_or(estimate if estimates else None)
        made.classifier_, made.scale_, made._exclusion_rates = fitted, scale, None
        scores = _scores(fitted, fitted._validate_new(X))
        made.shift_ = made._shifts(scale * scores, made.label_frequencies_)
        return made


def _parts(classes: AnyArray | None, n: int, cv: int) -> Ints:
    """Return the part (n,) of each row, at random; each class is spread evenly, if given."""
    rows = np.random.default_rng(0).permutation(n)
    if classes is not None:
        rows = rows[np.argsort(classes[rows], kind="stable")]
    part = np.empty(n, dtype=np.intp)
    part[rows] = np.arange(n) % cv
    return part


def _scores(classifier: ComplementaryClassifier, X: Features) -> Array:
    scores = np.asarray(classifier._decision(X), dtype=np.float64)
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        raise InputError(
            f"{type(classifier).__name__} has a score that is not finite in row"
            f" {int(np.argmin(finite))} of X; scale the features, or change the parameters of"
            " training"
        )
    return scores


# The prior of the scale's logarithm is normal with this standard deviation. Its mean is the scale
# that makes the standard deviation of scores 1.
_SPREAD = 1.0
# The scale's logarithm is searched in [-4, 4] around that mean, to an error of 0.01: a change of
# the scale by 1 %, which hardly matters.
_RANGE = 4.0
_EXACTLY = 0.01
# One number is estimated, so the likelihood of this many items is enough.
_MANY_ITEMS = 10_000
# Deviations below this share of the largest score are rounding.
_CONSTANT = 1e-12

LogLikelihood = Callable[[Array], float]
"""Returns the log-likelihood of all answers, given the logits (n, K)."""


def unit_scale(scores: Array) -> float:
    """Return one over the deviation of scores (n, K) around their labels' means; 1 if that is 0."""
    largest = float(np.abs(scores).max())
    if largest == 0:
        return 1.0
    deviation = float(np.sqrt((scores / largest).var(axis=0).mean()))
    return 1.0 if deviation < _CONSTANT else 1 / deviation / largest


def likeliest_scale(
    scores: Array, shifts_of: Callable[[Array], Array], log_likelihood: LogLikelihood | None
) -> float:
    """Return the scale a of scores (n, K) that makes the answers likeliest.

    The logits are ``a * scores + shifts_of(a * scores)``; a has a prior around ``unit_scale``.
    """
    unit = unit_scale(scores)
    if log_likelihood is None:
        return unit

    def loss(log_ratio: float) -> float:
        scaled = unit * np.exp(log_ratio) * scores
        return log_ratio**2 / (2 * _SPREAD**2) - log_likelihood(scaled + shifts_of(scaled))

    minimum: Any = optimize.minimize_scalar(
        loss, bounds=(-_RANGE, _RANGE), method="bounded", options={"xatol": _EXACTLY}
    )
    return float(unit * np.exp(minimum.x))


def evidence_of(answers: Answers, log_propensities: Array | None) -> LogLikelihood | None:
    """Return the log-likelihood of answers with independent labels; None if no answer is left."""
    # Lists are left out: features may predict the rules, and not the labels. So are items with
    # contradictions, of which some answers are mistakes.
    kept = answers.only(~answers.lists)
    clear = kept.answered
    clear[kept.contradictions()[:, 0]] = False
    items = np.flatnonzero(clear)
    if not len(items):
        return None
    items = items[np.linspace(0, len(items) - 1, min(len(items), _MANY_ITEMS)).astype(np.intp)]
    likelihood = log_likelihood_of(kept[items], log_propensities)
    return lambda logits: float(likelihood(logits[items]).sum())


def log_likelihood_of(
    answers: Answers, log_propensities: Array | None, *, exclusion_rates: Array | None = None
) -> Callable[[Array], Array]:
    """Return the log-likelihood of the answers about each item (n,), given logits (n, K)."""
    import torch  # predictions do without it

    from complabel.losses import AnswersLikelihood

    answers = answers.only(answers.question != "tagged")  # these methods do not read tags
    likelihood = AnswersLikelihood(answers, exclusion_rates=exclusion_rates)
    log_w = None if log_propensities is None else torch.from_numpy(log_propensities)

    def of_items(logits: Array) -> Array:
        evaluated = likelihood(torch.from_numpy(logits), log_propensities=log_w)
        return np.asarray(evaluated.values.numpy())

    return of_items


def log_chances_of_classes(logits: Array, marks: Indicator, *, applies: bool) -> Array:
    """Return the log-probability (n,) that a row's marked class applies, or does not apply."""
    impossible = (marks == 0) if applies else (marks != 0)
    log_p = np.where(impossible, -np.inf, special.log_softmax(logits, axis=1))
    return np.asarray(special.logsumexp(log_p, axis=1))
