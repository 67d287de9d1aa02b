"""Fit a classifier to people's answers beside a machine's: its weight is found by people's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from complabel._parameters import Array, Bools, Ints
from complabel._training import LinearFits, LinearMap, one_thread
from complabel.answers import Answers, Statements
from complabel.errors import InputError
from complabel.frequencies import MachineAudit, audit_machine, checked_probabilities
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._features import moments_of
from complabel.methods._held_out import _paired, folds_of
from complabel.methods._matching import label_shifts
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
from complabel.methods.selection._features import FeatureMap, PreparedFeatures, _transformed
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._plan import plan_for
from complabel.methods.selection._trials import fit_maps

# How much an answer of the machine counts beside one of a person, and the penalties.
_WEIGHTS, _ALPHAS = (0.0, 0.03, 0.1, 0.3, 1.0), (0.1, 0.03, 0.01, 0.003, 0.001)
# Features are chosen with the first weight, by half of the items, or by so many if these are more.
_CHOOSING, _LEAST_CHOOSING = 0.1, 1000
# Fits that are the best with less than this probability are left out of the mean.
_LEAST_SHARE = 0.02
# A penalty beside one that is worse by so many standard errors is not tried.
_ERRORS_OF_LOSERS = 1.0
# Rates of a machine are kept from 0.
_LEAST = 1e-3
# In the comparison of fits for a label, answers about other labels count with one of these powers.
# Then the number of draws of the answers.
_POWERS, _DRAWS = (0.0, 0.1, 0.3, 1.0), 500


@dataclass(frozen=True, eq=False)
class BesideMachine:
    """A classifier that learned from people and from a machine.

    Attributes
    ----------
    classifier : SelectionLikelihoodClassifier or FrequencyMatchedClassifier
        The mean of fits to all answers, times their slopes. Its ``alpha_`` is the one of the
        greatest share. As a FrequencyMatchedClassifier, if one was given, around it.
    weight : float
        How much an answer of the machine counts beside one of a person, the mean of the fits and
        labels; 0: people alone.
    label_weights : ndarray of shape (K,), dtype float64
        The same for each label.
    weights : ndarray of shape (W,), dtype float64
        The weights that were tried.
    alphas : ndarray of shape (A,), dtype float64
        The values of ``alpha`` that were tried with them.
    shares : ndarray of shape (W, A, K), dtype float64
        The share of each fit in the mean, for each label.
    slopes : ndarray of shape (W, A), dtype float64
        What each fit's log-odds are multiplied by, as people's held-out answers tell; or NaN.
    log_likelihood : ndarray of shape (W, A), dtype float64
        Mean log-likelihood of people's held-out answers with each fit, in nats per answer, after
        one slope of all log-odds and a shift of each label; NaN where others were clearly better
        and this one was not tried.
    gain, gain_error : float
        By how much the log-likelihood of the mean is greater than the one of the best fit to
        people's answers alone, and its standard error.
    n_answers : int
        Number of people's answers about single labels.
    audit : MachineAudit
        How good the machine is, by label.
    """

    classifier: ComplementaryClassifier
    weight: float
    label_weights: Array
    weights: Array
    alphas: Array
    shares: Array
    slopes: Array
    log_likelihood: Array
    gain: float
    gain_error: float
    n_answers: int
    audit: MachineAudit

    def lines(self) -> list[str]:
        """Say what the machine's answers were worth, in lines."""
        missed, invented = self.audit.missed.overall[0], self.audit.invented.overall[0]
        weights, names = self.label_weights, self.audit.label_names
        least, most = int(weights.argmin()), int(weights.argmax())
        helps = self.gain > 2 * self.gain_error
        told = self.audit.about_nothing()
        return [
            f"the machine misses {missed:.2g} of the labels that apply, and invents {invented:.2g}"
            " of the others (all pairs; complabel audit has each label)",
            f"each answer of the machine counts {self.weight:.2g} of a person's answer"
            + (":" if helps else ", but it is not shown that this helps:"),
            f"  {weights[least]:.2g} ({names[least]}) to {weights[most]:.2g} ({names[most]}), by"
            " label",
            f"  log-likelihood of {self.n_answers:,} held-out answers of people (nats per answer)",
            f"  gain over people's answers alone  {self.gain:.4f} ± {self.gain_error:.4f}",
            *[f"{told}; of these labels, the model knows what people said"] * bool(told),
        ]


def fit_beside_machine(
    classifier: ComplementaryClassifier,
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
    held-out answers, and averaged by how probable each is to be the best for a label. Held-out
    answers also decide how much answers about other labels count there. Log-odds get a slope and a
    shift of each label first: fits to a machine are too sure, and people are often asked by what
    it says. The mean has these slopes, and labels apply as often as the audit says.

    Parameters
    ----------
    classifier : SelectionLikelihoodClassifier or FrequencyMatchedClassifier
        It is cloned, and not changed. Its ``missed`` and ``invented``, two numbers, are people's.
        With a FrequencyMatchedClassifier of one, labels apply as often as people's answers beside
        the machine's tell, or as its ``label_frequencies`` say.
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
        Called with the number of steps that are done, and of all steps; some are left out.

    Returns
    -------
    BesideMachine

    Raises
    ------
    InputError
        If no answer is about a single label, there are fewer items with answers than folds,
        ``machine`` has another shape or values outside [0, 1], people's rates are not numbers,
        X is read in blocks, or the classifier is another one.

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
    matched = classifier if hasattr(classifier, "around") else None
    inner = classifier if matched is None else matched.classifier
    if not isinstance(inner, SelectionLikelihoodClassifier):
        raise InputError(
            f"beside a machine, the method is SelectionLikelihoodClassifier, not"
            f" {type(inner).__name__}; give this one, or a FrequencyMatchedClassifier of it"
        )
    rates = [inner.missed, inner.invented]
    if inner.error_rate != 0.0 or any(isinstance(rate, str) or np.ndim(rate) for rate in rates):
        raise InputError(
            "beside a machine, people's mistakes are missed and invented, two numbers; set these,"
            " and leave out error_rate"
        )
    if hasattr(X, "pieces") or hasattr(X, "dask"):
        raise InputError("beside a machine, features must fit into memory; give fewer items")
    rows, people = _paired(X, answers)
    people = people.only(people.weight > 0)
    machine_says = checked_probabilities("machine", machine, people.shape, gaps=True)
    machine_says = np.where(np.isnan(machine_says), np.nan, machine_says >= 0.5)
    audit = audit_machine(people, machine_says, missed=rates[0], invented=rates[1])
    both, of_machine = _together(people, machine_says)
    known: dict[str, Any] = {}
    for name, of_people, of_it in zip(("missed", "invented"), rates, _rates_of(audit), strict=True):
        known[name] = np.full((len(both.annotator_names), both.n_labels), of_people, np.float64)
        known[name][of_machine] = of_it
    kept = np.flatnonzero(both.answered)
    rows, both, people = rows[kept], both[kept], people[kept]
    of_items = np.where(people.answered, folds_of(people.answered, n_folds, random_state), -1)
    folds = [np.flatnonzero(of_items == number) for number in range(n_folds)]
    judged = people.only(people.judges).statements()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as one about labels that nobody named
        model = clone(inner).set_params(callback=None, warm_start=False)
        fits = _JointFits.of(model, rows, people, both, both.annotator == of_machine, known)
        n_steps = len(_WEIGHTS) * len(fits.settings) + 2
        tell = on_fit or (lambda *_: None)
        tell(1, n_steps)
        compared = fits.compare(folds, judged, lambda number: tell(number + 1, n_steps))
        values = np.array([each.values for each in compared.values()])
        of_fits = np.array([each.slope * each.log_odds for each in compared.values()])
        # Where the machine tells nothing, its answers would only change what all labels share.
        useful = ~np.outer([number > 0 for number, _ in compared], audit.tells_nothing)
        by_label = _shares(values, judged.label, useful, random_state)
        mean, slope = _recalibrated((by_label[:, judged.label] * of_fits).sum(axis=0), judged)
        fits.average(compared, by_label, audit)
        tell(n_steps, n_steps)
        slopes, likelihoods = np.full((2, len(_WEIGHTS), len(fits.settings)), np.nan)
        shares = np.zeros((*slopes.shape, people.n_labels))
        for (place, each), of_it in zip(compared.items(), by_label, strict=True):
            shares[place], slopes[place], likelihoods[place] = of_it, each.slope, each.values.mean()
        learned = model if matched is None else matched.around(model, X, slope, audit.frequencies)
    gain = mean - compared[0, int(np.nanargmax(likelihoods[0]))].values
    label_weights = _WEIGHTS @ shares.sum(axis=1)
    return BesideMachine(
        learned,
        float(label_weights.mean()),
        label_weights,
        np.array(_WEIGHTS),
        np.array([each.alpha for each in fits.settings]),
        shares,
        slopes,
        likelihoods,
        float(gain.mean()),
        float(gain.std(ddof=1) / np.sqrt(len(gain))),
        len(gain),
        audit,
    )


def fit_again(classifier: Any, X: Any, answers: Answers, machine: Any) -> Any:
    """Return another fit with the settings of a classifier that learned beside a machine."""
    again = clone(classifier)
    matches = hasattr(again, "around")
    inner = again.classifier if matches else again
    # The rates of the first annotator, who is a person: the machine is the last one.
    rates = {name: float(np.ravel(getattr(inner, name))[0]) for name in ("missed", "invented")}
    inner.set_params(**rates)
    return fit_beside_machine(again, X, answers, machine).classifier


def _rates_of(audit: MachineAudit) -> tuple[Array, Array]:
    """Return how much the machine misses and invents of each label, (K,), as a fit takes it.

    A machine that says the same of all items tells nothing: yes is as probable where the label
    applies as where it does not. If a machine seems worse than chance, it gets such rates, too.
    """
    missed, invented = (
        np.clip(np.nan_to_num(each.values, nan=0.5), _LEAST, 1 - _LEAST)
        for each in (audit.missed, audit.invented)
    )
    total = np.maximum(missed + invented, 1.0)
    return missed / total, invented / total


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Fits with one weight and penalty to the others of each fold, and what they say of judged."""

    fits: LinearFits
    log_odds: Array  # (J,), of people's answers by the fits without their items
    values: Array  # (J,), the log-likelihoods after a slope and shifts
    slope: float


@dataclass(frozen=True, eq=False)
class _JointFits:
    """Fits of the same features to people's answers and a machine's."""

    model: SelectionLikelihoodClassifier  # with the rates of all
    alone: SelectionLikelihoodClassifier  # with people's
    prepared: PreparedFeatures
    short: PreparedFeatures
    people: Answers
    answers: Answers
    of_machine: Bools
    settings: list[Setting]

    @classmethod
    def of(
        cls, model: Any, X: Any, people: Answers, both: Answers, of_machine: Bools, known: Any
    ) -> _JointFits:
        """Let a model choose the features, the cardinality and the rank."""
        rates = {"missed": model.missed, "invented": model.invented}
        model.set_params(**known)
        weighted = both.with_weight(both.weight * np.where(of_machine, _CHOOSING, 1.0))
        # Items that people answered about come first: they decide the choice. More items than these
        # would not make it better.
        order = np.lexsort((np.random.default_rng(0).random(len(both)), ~people.answered))
        some = np.sort(order[: max(_LEAST_CHOOSING, len(both) // 2)])
        rows = model.fit(_safe_indexing(X, some), weighted[some])._validate_new(X)
        chosen = ("scaling_", "gamma_", "rank_")
        scaling, gamma, rank = (getattr(model, each, None) for each in chosen)
        features, kernel = FeatureMap(scaling, gamma), getattr(model.model_, "transformer", None)
        _, space = plan_for(model, weighted, n_features=model.n_features_in_)
        penalties = space.penalties_of(model)
        rows = rows if kernel is None else _transformed(kernel, rows)
        moments = moments_of(rows, weighted.item_weight)
        prepared = PreparedFeatures(rows, kernel, features._scaling(moments))
        alphas = _ALPHAS if isinstance(model.alpha, str) else (float(model.alpha),)
        first = Setting(features, 0.0, model.cardinality_, rank, penalties=penalties)
        settings = [replace(first, alpha=alpha) for alpha in alphas]
        if hasattr(model, "propensities_"):
            model.set_params(propensities=model.propensities_)
        # Answers that contradict each other need rates, also if these are 0.
        people = both.only(~of_machine)
        alone = model if len(people.contradictions()) else copy(model).set_params(**rates)
        short = prepared.in_short()
        return cls(model, alone, prepared, short, people, both, of_machine, settings)

    def likelihood(self, weight: float) -> Likelihood:
        """Return what is learned from if the machine's answers have this weight."""
        if not weight:
            return plan_for(self.alone, self.people, n_features=self.model.n_features_in_)[0]
        counts = np.where(self.of_machine, weight, 1.0)
        weighted = self.answers.with_weight(self.answers.weight * counts)
        return plan_for(self.model, weighted, n_features=self.model.n_features_in_)[0]

    def rows_of(self, weight: float) -> Ints:
        """Return the items with answers, with this weight."""
        return np.flatnonzero((self.answers if weight else self.people).answered)

    def compare(
        self, folds: list[Ints], judged: Statements, on_fit: Callable[[int], None]
    ) -> dict[tuple[int, int], _HeldOut]:
        """Return fits by the numbers of their weight and penalty, without clearly worse ones."""
        compared: dict[tuple[int, int], _HeldOut] = {}
        at, n_settings = len(self.settings) // 2, len(self.settings)
        for number, weight in enumerate(_WEIGHTS):
            held_out = self._held_out_with(weight, folds, judged)
            best, done = (number, at), number * n_settings - len(compared)
            compared[best] = held_out(self.settings[at], compared.get((number - 1, at)))
            on_fit(done + len(compared))
            for step in (1, -1):
                near, place = (number, at), (number, at + step)
                while 0 <= place[1] < n_settings:
                    compared[place] = held_out(self.settings[place[1]], compared[near])
                    on_fit(done + len(compared))
                    lost = compared[best].values - compared[place].values
                    if lost.mean() > _ERRORS_OF_LOSERS * lost.std() / np.sqrt(len(lost)):
                        break
                    best = place if lost.mean() < 0 else best
                    near, place = place, (number, place[1] + step)
            at = best[1]
        return compared

    def _held_out_with(
        self, weight: float, folds: list[Ints], judged: Statements
    ) -> Callable[[Setting, _HeldOut | None], _HeldOut]:
        """Return what fits the others of each fold with a setting, from fits that are near."""
        train = [np.setdiff1d(self.rows_of(weight), test) for test in folds]
        likelihood = self.likelihood(weight).of_rows(np.concatenate(train))

        def held_out(setting: Setting, near: _HeldOut | None) -> _HeldOut:
            start = None if near is None else near.fits
            with one_thread():
                fits = fit_maps(self.short, likelihood, setting, rows=train, start=start)
            log_odds = np.full(self.answers.shape, np.nan)
            log_odds[np.concatenate(folds)] = fits.logits_of(folds)
            of_judged = log_odds[judged.item, judged.label]
            return _HeldOut(fits, of_judged, *_recalibrated(of_judged, judged))

        return held_out

    def average(
        self, compared: dict[tuple[int, int], _HeldOut], shares: Array, audit: MachineAudit
    ) -> None:
        """Give the model the mean of maps by the shares (S, K), fitted to all items.

        Log-odds are multiplied by their slopes, and each label is shifted to the audit's frequency:
        people are mostly asked by what the machine says, so fits do not tell how often it applies.
        """
        few = self.short.X.shape[1] < self.prepared.X.shape[1]
        features = self.short if few else self.prepared
        coef, intercept = np.zeros(2, dtype=object)
        last = -1
        for (number, at), held_out, share in zip(compared, compared.values(), shares, strict=True):
            if not share.any():
                continue
            if number != last:
                rows, latest, last = self.rows_of(_WEIGHTS[number]), None, number
                likelihood = self.likelihood(_WEIGHTS[number]).of_rows(rows)
                some = features.with_prepared(features.X[rows])
            if few:  # the mean of those of folds is near
                models = held_out.fits.models
                near = LinearMap.mean(models, [1.0] * len(models))
                logits = held_out.fits.logits[:, :, rows].mean(dim=0, keepdim=True)
                latest = replace(held_out.fits, models=[near], logits=logits)
            with one_thread():
                of_them = [np.arange(len(rows))] if few else None
                latest = fit_maps(some, likelihood, self.settings[at], rows=of_them, start=latest)
            linear = latest.models[0]
            coef = coef + linear.coef * (held_out.slope * share)[:, np.newaxis]
            intercept = intercept + linear.intercept * held_out.slope * share
        mean = LinearMap(coef, intercept)
        told = np.clip(audit.frequencies.values, _LEAST, 1 - _LEAST)
        mean.intercept[:] += label_shifts(mean(features.X), told)
        mean = self._of_all_features(mean) if few else mean
        # A mean of maps has a greater rank, and the interval belongs to one of them.
        self.model._forget("rank_", "cardinality_interval_")
        of_alphas = np.bincount([at for _, at in compared], shares.sum(axis=1))
        self.model.alpha_ = self.settings[int(of_alphas.argmax())].alpha
        self.model.model_ = self.prepared.model(mean)
        self.model.mean_cardinality_ = self.prepared.mean_cardinality(mean, None)
        self.model._set_derived()

    def _of_all_features(self, linear: LinearMap) -> LinearMap:
        # The rotated rows are U S, of scaled rows U S V^T. Weights V w are those rows' transpose
        # times U S^-1 w, so V is not needed.
        rows = self.short.X.astype(np.float64)
        by_rows = rows / np.square(rows).sum(axis=0) @ linear.coef.T
        X, scaling = self.prepared.X, self.prepared.scaling
        through = np.asarray(X.T @ by_rows).T - np.outer(by_rows.sum(axis=0), scaling.shift)
        coef = through * scaling.factor**2
        return LinearMap(coef, linear.intercept - coef @ scaling.shift)


def _together(people: Answers, machine: Array) -> tuple[Answers, int]:
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
    items = np.flatnonzero(~np.isnan(machine).all(axis=1))
    answers = Answers.from_arrays(
        relevant=(machine == 1).astype(np.uint8)[items],
        absent=(machine == 0).astype(np.uint8)[items],
        question="asked",
        item=items,
        n_items=people.n_items,
        annotator=[name] * len(items),
        label_names=people.label_names,
    )
    both = Answers.concatenate([people, answers])
    return both, list(both.annotator_names).index(name)


def _shares(values: Array, label: Ints, useful: Bools, seed: int) -> Array:
    """Return how probable it is that each of S fits is the best for a label, (S, K), if ``useful``.

    These are the weights of pseudo-BMA+ (see ``probably_best``), but answers (S, J) about other
    labels count with a power from 0 to 1. Powers count by how well shares from four fifths of the
    answers predict the others: where labels are alike, all answers tell it, and few are noise.
    """
    rng, n = np.random.default_rng(seed), values.shape[1]
    part = rng.permutation(n) % 5
    without = np.where(part == np.arange(5)[:, np.newaxis], 0.0, 1.25)
    log_scores = []
    for power in _POWERS:
        of_rest = _best_by_label(values, label, useful, without, power)[label, part]
        log_scores.append(float(special.logsumexp(values.T, b=of_rest, axis=1).sum()))
    drawn = rng.exponential(size=(_DRAWS, n))  # the Bayesian bootstrap
    shares = np.zeros(useful.shape)
    for power, share in zip(_POWERS, special.softmax(log_scores), strict=True):
        shares += share * _best_by_label(values, label, useful, drawn, power).mean(axis=1).T
    shares[shares < _LEAST_SHARE * shares.max(axis=0)] = 0
    return np.asarray(shares / shares.sum(axis=0))


def _best_by_label(values: Array, label: Ints, useful: Bools, counts: Array, power: float) -> Array:
    """Return the shares (K, D, S) of fits for each label if answers count so often, (D, J)."""
    own = np.stack(
        [counts[:, label == each] @ values[:, label == each].T for each in range(useful.shape[1])]
    )
    scores = own + power * (own.sum(axis=0) - own)
    scores[np.broadcast_to(~useful.T[:, np.newaxis], scores.shape)] = -np.inf
    return np.asarray(special.softmax(scores, axis=2))


def _recalibrated(log_odds: Array, judged: Statements) -> tuple[Array, float]:
    """Return the log-likelihood (J,) of yes and no after a slope and shifts of labels; the slope.

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
        through = [slope @ log_odds, slope.sum(), *np.bincount(judged.label, slope)]
        return float(np.logaddexp(0, -margin).sum() + away @ away / 2), through + away

    bounds = [(0.05, 5.0)] + [(None, None)] * (len(start) - 1)
    minimum: Any = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(-np.logaddexp(0, -margins(minimum.x))), float(minimum.x[0])
