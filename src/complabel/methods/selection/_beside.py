"""Fit a classifier to people's answers beside a machine's: its weight is found by people's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special
from sklearn.base import clone

from complabel._parameters import Array, Bools, Ints
from complabel._training import LinearMap, one_thread
from complabel.answers import Answers, Statements
from complabel.errors import InputError
from complabel.frequencies import audit_machine, checked_probabilities
from complabel.methods._features import moments_of
from complabel.methods._held_out import _folds, _paired
from complabel.methods.selection._choices import Choices, Setting
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
from complabel.methods.selection._features import FeatureMap, PreparedFeatures, _transformed
from complabel.methods.selection._plan import plan_for
from complabel.methods.selection._trials import fit_maps, probably_best

# How much an answer of the machine counts beside one of a person, and the penalties.
_WEIGHTS, _ALPHAS = (0.0, 0.03, 0.1, 0.3, 1.0), (0.1, 0.03, 0.01, 0.003, 0.001)
# Features are chosen with the first; with the second, people are alone, but for the features.
_CHOOSING, _NEARLY_NOTHING = 0.1, 1e-6
# Fits that are the best with less than this probability are left out of the mean.
_LEAST_SHARE = 0.02
# Rates of a machine are kept from 0, and their sum from 1; unknown ones are half the most.
_LEAST, _MOST = 1e-3, 0.95


@dataclass(frozen=True, eq=False)
class BesideMachine:
    """A classifier that learned from people and from a machine.

    Attributes
    ----------
    classifier : SelectionLikelihoodClassifier
        The mean of fits to all answers. Its ``alpha_`` is the one of the greatest share.
    weight : float
        How much an answer of the machine counts beside one of a person, the mean of the fits; 0:
        people alone.
    weights : ndarray of shape (W,), dtype float64
        The weights that were tried.
    alphas : ndarray of shape (A,), dtype float64
        The values of ``alpha`` that were tried with each of them.
    shares : ndarray of shape (W, A), dtype float64
        The share of each fit in the mean.
    log_likelihood : ndarray of shape (W, A), dtype float64
        Mean log-likelihood of people's held-out answers with each fit, in nats per answer, after
        one slope of all log-odds and a shift of each label.
    gain, gain_error : float
        By how much the log-likelihood of the mean is greater than the one of the best fit to
        people's answers alone, and its standard error.
    n_answers : int
        Number of people's answers about single labels.
    """

    classifier: SelectionLikelihoodClassifier
    weight: float
    weights: Array
    alphas: Array
    shares: Array
    log_likelihood: Array
    gain: float
    gain_error: float
    n_answers: int


def fit_beside_machine(
    classifier: SelectionLikelihoodClassifier,
    X: ArrayLike,
    answers: Answers,
    machine: ArrayLike,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    on_fit: Callable[[int, int], None] | None = None,
) -> BesideMachine:
    """Fit a classifier to people's answers and to a machine's, which count less.

    A machine's mistakes depend on the item, so many of its answers tell less than their number, and
    a fit to both can be worse than one to people's answers alone. Here its answers have rates of
    mistakes by label, from :func:`complabel.frequencies.audit_machine`. Features are chosen once.
    Then fits with several weights of the machine's answers and penalties are compared by people's
    held-out answers, and averaged by how probable each is to be the best. People are often asked by
    what the machine says, so one slope and a shift of each label are fitted to log-odds first.

    Parameters
    ----------
    classifier : SelectionLikelihoodClassifier
        It is cloned, and not changed. Its ``missed`` and ``invented``, two numbers, are people's.
    X : array-like or sparse matrix of shape (n_items, n_features)
    answers : Answers
        What people said; some of it is about single labels.
    machine : array-like of shape (n_items, n_labels)
        What the machine says: 1 where a label applies and 0 where it does not, or probabilities, of
        which .5 and more are yes; NaN where it says nothing.
    n_folds : int, default=5
        Items with answers of people are divided into so many folds.
    random_state : int, default=0
        Seed of the folds.
    on_fit : callable or None, default=None
        Called with the number of steps that are done, and of all steps.

    Returns
    -------
    BesideMachine

    Raises
    ------
    InputError
        If no answer is about a single label, there are fewer items with answers than folds,
        ``machine`` has another shape or values outside [0, 1], people's rates are not numbers, or
        X is read in blocks.

    Examples
    --------
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.simulate import draw_answers
    >>> from complabel.methods import SelectionLikelihoodClassifier
    >>> data = make_synthetic(200, n_features=5, n_labels=3, signal=4.0, random_state=0)
    >>> people = draw_answers(data.Y, question="asked", random_state=1)
    >>> machine = np.where(data.X[:, :1] > 1, 1 - data.Y, data.Y)
    >>> linear = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    >>> found = fit_beside_machine(linear, data.X, people, machine)
    >>> found.weight < 1, found.classifier.predict_proba(data.X).shape
    (True, (200, 3))
    """
    rates = [classifier.missed, classifier.invented]
    if classifier.error_rate != 0.0 or any(
        isinstance(rate, str) or np.ndim(rate) for rate in rates
    ):
        raise InputError(
            "beside a machine, people's mistakes are missed and invented, two numbers; set these,"
            " and leave out error_rate"
        )
    if hasattr(X, "pieces") or hasattr(X, "dask"):
        raise InputError("beside a machine, features must fit into memory; give fewer items")
    rows, people = _paired(X, answers)
    people = people.only(people.weight > 0)
    said = checked_probabilities("machine", machine, people.shape, gaps=True)
    said = np.where(np.isnan(said), np.nan, said >= 0.5)
    audit = audit_machine(people, said, missed=rates[0], invented=rates[1])
    both, of_machine = _together(people, said)
    known: dict[str, Any] = {}
    for name, of_people in zip(("missed", "invented"), rates, strict=True):
        found = np.nan_to_num(getattr(audit, name).values, nan=_MOST / 2)
        known[name] = np.full((len(both.annotator_names), both.n_labels), of_people, np.float64)
        known[name][of_machine] = np.clip(found, _LEAST, _MOST / 2)
    kept = np.flatnonzero(both.answered)
    rows, both, people = rows[kept], both[kept], people[kept]
    folds = [test for _, test in _folds(np.flatnonzero(people.answered), n_folds, random_state)]
    judged = people.only(people.judges).statements()
    log_odds: list[Array] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as one about labels that nobody named
        model = clone(classifier).set_params(callback=None, warm_start=False, **known)
        fits = _Fits.of(model, rows, both, both.annotator == of_machine)
        n_steps = len(_WEIGHTS) * len(fits.settings) + 2
        tell = on_fit or (lambda *_: None)
        tell(1, n_steps)
        for weight in _WEIGHTS:
            for each in fits.held_out(weight, folds):
                log_odds.append(each[judged.item, judged.label])
                tell(len(log_odds) + 1, n_steps)
        values = np.stack([_recalibrated(each, judged) for each in log_odds])
        shares = probably_best(values, random_state)
        shares[shares < _LEAST_SHARE * shares.max()] = 0
        shares /= shares.sum()
        mean = _recalibrated(shares @ np.stack(log_odds), judged)
        shares = shares.reshape(len(_WEIGHTS), -1)
        fits.average(shares)
        tell(n_steps, n_steps)
    alone = values[: len(fits.settings)]
    gain = mean - alone[alone.sum(axis=1).argmax()]
    return BesideMachine(
        model,
        float(shares.sum(axis=1) @ _WEIGHTS),
        np.array(_WEIGHTS),
        np.array([each.alpha for each in fits.settings]),
        shares,
        values.mean(axis=1).reshape(shares.shape),
        float(gain.mean()),
        float(gain.std(ddof=1) / np.sqrt(len(gain))),
        len(gain),
    )


def fit_again(classifier: Any, X: Any, answers: Answers, machine: Any) -> Any:
    """Return another fit with the settings of a classifier that learned beside a machine."""
    rates = {name: np.ravel(getattr(classifier, name))[0] for name in ("missed", "invented")}
    # The rates of the first annotator, who is a person: the machine is the last one.
    again = clone(classifier).set_params(**{name: float(rate) for name, rate in rates.items()})
    return fit_beside_machine(again, X, answers, machine).classifier


@dataclass(frozen=True, eq=False)
class _Fits:
    """Fits of the same features to people's answers and a machine's."""

    model: SelectionLikelihoodClassifier
    prepared: PreparedFeatures
    answers: Answers
    of_machine: Bools
    settings: list[Setting]

    @classmethod
    def of(cls, model: Any, X: Any, answers: Answers, of_machine: Bools) -> _Fits:
        """Let a model choose the features, the cardinality and the rank."""
        weighted = answers.with_weight(answers.weight * np.where(of_machine, _CHOOSING, 1.0))
        rows = model.fit(X, weighted)._validate_new(X)
        chosen = ("scaling_", "gamma_", "rank_")
        scaling, gamma, rank = (getattr(model, each, None) for each in chosen)
        features, kernel = FeatureMap(scaling, gamma), getattr(model.model_, "transformer", None)
        rows = rows if kernel is None else _transformed(kernel, rows)
        moments = moments_of(rows, weighted.item_weight)
        prepared = PreparedFeatures(rows, kernel, features._scaling(moments))
        alphas = _ALPHAS if isinstance(model.alpha, str) else (float(model.alpha),)
        settings = [Setting(features, alpha, model.cardinality_, rank) for alpha in alphas]
        if hasattr(model, "propensities_"):
            model.set_params(propensities=model.propensities_)
        return cls(model, prepared, answers, of_machine, settings)

    def choices(self, weight: float) -> Choices:
        """Return what is learned from if the machine's answers have this weight."""
        counts = np.where(self.of_machine, max(weight, _NEARLY_NOTHING), 1.0)
        weighted = self.answers.with_weight(self.answers.weight * counts)
        return plan_for(self.model, weighted, n_features=self.model.n_features_in_)[0]

    def held_out(self, weight: float, folds: list[Ints]) -> Iterator[Array]:
        """Yield log-odds (n, K) for each alpha, of items in folds by fits to the others."""
        train = [np.setdiff1d(np.arange(self.answers.n_items), test) for test in folds]
        choices, fits = self.choices(weight).of_rows(np.concatenate(train)), None
        short = self.prepared.in_short()
        for setting in self.settings:
            with one_thread():
                fits = fit_maps(short, choices, setting, rows=train, start=fits)
            log_odds = np.full(self.answers.shape, np.nan)
            log_odds[np.concatenate(folds)] = fits.logits_of(folds)
            yield log_odds

    def average(self, shares: Array) -> None:
        """Give the model the mean of maps, by shares (W, A), that are fitted to all items."""
        maps = []
        for weight, row in zip(_WEIGHTS, shares, strict=True):
            choices, fits = self.choices(weight), None
            for at in np.flatnonzero(row):
                with one_thread():
                    fits = fit_maps(self.prepared, choices, self.settings[at], start=fits)
                maps.append(fits.models[0])
        mean = LinearMap.mean(maps, shares[shares > 0].tolist())
        # A mean of maps has a greater rank, and the interval belongs to one of them.
        self.model._forget("rank_", "cardinality_interval_")
        self.model.alpha_ = self.settings[int(shares.sum(axis=0).argmax())].alpha
        self.model.model_ = self.prepared.model(mean)
        self.model.mean_cardinality_ = self.prepared.mean_cardinality(mean, None)
        self.model._set_derived()


def _together(people: Answers, said: Array) -> tuple[Answers, int]:
    """Return people's answers and the machine's, and the machine's number among annotators."""
    # A person without a name would have the mean rates of all, those of the machine included.
    names, unknown = people.annotator_names, people.annotator < 0
    unnamed, name = (
        next(name for n in range(len(names) + 1) if (name := each + "'" * n) not in names)
        for each in ("people", "machine")
    )
    if unknown.any():
        codes = np.where(unknown, len(names), people.annotator).astype(people.annotator.dtype)
        people = replace(people, annotator=codes, annotator_names=(*names, unnamed))
    items = np.flatnonzero(~np.isnan(said).all(axis=1))
    answers = Answers.from_arrays(
        relevant=(said == 1).astype(np.uint8)[items],
        absent=(said == 0).astype(np.uint8)[items],
        question="asked",
        item=items,
        n_items=people.n_items,
        annotator=[name] * len(items),
        label_names=people.label_names,
    )
    both = Answers.concatenate([people, answers])
    return both, list(both.annotator_names).index(name)


def _recalibrated(log_odds: Array, judged: Statements) -> Array:
    """Return the log-likelihood (J,) of yes and no after one slope, and a shift of each label.

    Labels have different shares of yes among the questions, which depend on what the machine says.
    The slope is normal around 1, the shifts of labels around a common one; all spreads are 1.
    """
    sign = np.where(judged.applies, 1.0, -1.0)
    start = np.append([1.0, 0.0], np.zeros(judged.label.max(initial=0) + 1))
    has_prior = np.arange(len(start)) != 1

    def margins(at: Array) -> Array:
        return np.asarray(sign * (at[0] * log_odds + at[1] + at[2:][judged.label]))

    def loss(at: Array) -> tuple[float, Array]:
        margin, away = margins(at), (at - start) * has_prior
        slope = -sign * special.expit(-margin)
        common = np.array([slope @ log_odds, slope.sum()])
        through = np.concatenate([common, np.bincount(judged.label, slope)])
        return float(np.logaddexp(0, -margin).sum() + away @ away / 2), through + away

    bounds = [(0.05, 5.0)] + [(None, None)] * (len(start) - 1)
    found: Any = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(-np.logaddexp(0, -margins(found.x)))
