"""Fit a classifier to people's answers beside a machine's: its weight is found by people's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize
from sklearn.base import clone

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import audit_machine, checked_probabilities
from complabel.methods._arrays import Array
from complabel.methods._held_out import _folds, _paired
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier

# How much an answer of the machine counts beside one of a person. The first: people alone.
_WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.3)
# Rates of a machine are kept from 0, and their sum from 1, where a yes would mean nothing.
_LEAST, _MOST = 1e-3, 0.95
_CHOSEN = ("alpha", "cardinality", "kernel", "rank")


@dataclass(frozen=True, eq=False)
class BesideMachine:
    """A classifier that learned from people and from a machine.

    Attributes
    ----------
    classifier : SelectionLikelihoodClassifier
        Fitted to all answers.
    weight : float
        How much an answer of the machine counts beside one of a person; 0: people alone.
    weights : ndarray of shape (W,), dtype float64
        The weights that were tried.
    log_likelihood : ndarray of shape (W,), dtype float64
        Mean log-likelihood of people's held-out answers with each weight, in nats per answer, after
        one slope and one shift of all log-odds.
    gain, gain_error : float
        By how much the log-likelihood is greater than by people alone, and its standard error.
    n_answers : int
        Number of people's answers about single labels.
    """

    classifier: SelectionLikelihoodClassifier
    weight: float
    weights: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
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
    mistakes by label, from :func:`complabel.frequencies.audit_machine`, and the weight (.01, .03,
    .1 or .3) under which held-out answers of people are likeliest. People were often asked by what
    the machine says, so one slope and one shift of the log-odds are fitted first. People alone are
    chosen if they are better by two standard errors.

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
        Called with the number of fits that are done, and of all fits.

    Returns
    -------
    BesideMachine

    Raises
    ------
    InputError
        If no answer is about a single label, there are fewer items with answers than folds,
        ``machine`` has another shape or values outside [0, 1], or people's rates are not numbers.

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
    rows, people = _paired(X, answers)
    said = checked_probabilities("machine", machine, people.shape, gaps=True)
    said = np.where(np.isnan(said), np.nan, said >= 0.5)
    audit = audit_machine(people, said, missed=rates[0], invented=rates[1])
    both, of_machine = _together(people, said)
    known = {
        name: _by_annotator(both, of_machine, getattr(audit, name).values, rate)
        for name, rate in zip(("missed", "invented"), rates, strict=True)
    }
    judged = people.only(people.judges).statements()
    folds = list(_folds(np.flatnonzero(people.answered), n_folds, random_state))
    n_fits, done = len(_WEIGHTS) * (n_folds + 1), 0
    fitted, log_odds = [], []
    for weight in _WEIGHTS:
        given: Answers = people
        settings: dict[str, Any] = {"callback": None}
        if weight:
            given = both.with_weight(np.where(both.annotator == of_machine, weight, 1.0))
            settings |= known
        found = np.empty(people.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as one about items without an answer
            for fold in (None, *folds):
                # Items about which people were not asked are learned from in all folds.
                kept = given.answered.copy()
                if fold is None:
                    model = clone(classifier).set_params(**settings).fit(rows[:], given)
                    fitted.append(model)
                    settings |= _chosen(model)
                else:
                    kept[fold[1]] = False
                    learned = np.flatnonzero(kept)
                    model = clone(classifier).set_params(**settings)
                    model.fit(rows[learned], given[learned])
                    found[fold[1]] = model.decision_function(rows[fold[1]])
                done += 1
                if on_fit is not None:
                    on_fit(done, n_fits)
        log_odds.append(found[judged.item, judged.label])
    values = np.stack([_recalibrated(z, judged.applies) for z in log_odds])
    best = 1 + int(values[1:].sum(axis=1).argmax())
    gain, error = _gain(values[best] - values[0])
    if gain < -2 * error:
        best, gain, error = 0, 0.0, 0.0
    return BesideMachine(
        fitted[best],
        _WEIGHTS[best],
        np.array(_WEIGHTS),
        values.mean(axis=1),
        gain,
        error,
        len(judged.item),
    )


def _together(people: Answers, said: Array) -> tuple[Answers, int]:
    """Return people's answers and the machine's, and the machine's number among annotators."""
    # A person without a name would have the mean rates of all, those of the machine included.
    names, unknown = people.annotator_names, people.annotator < 0
    if unknown.any():
        codes = np.where(unknown, len(names), people.annotator).astype(people.annotator.dtype)
        people = replace(
            people, annotator=codes, annotator_names=(*names, _new_name("people", names))
        )
    name = _new_name("machine", people.annotator_names)
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


def _new_name(name: str, names: tuple[str, ...]) -> str:
    while name in names:
        name += "'"
    return name


def _by_annotator(both: Answers, of_machine: int, values: Array, of_people: Any) -> Array:
    """Return rates (R, K) of all annotators; half the most where a rate has no meaning."""
    rates = np.full((len(both.annotator_names), both.n_labels), float(of_people))
    rates[of_machine] = np.clip(np.nan_to_num(values, nan=_MOST / 2), _LEAST, _MOST / 2)
    return rates


def _chosen(model: SelectionLikelihoodClassifier) -> dict[str, Any]:
    """Return what a fit chose, so that fits to folds need not choose it."""
    found = {name: getattr(model, f"{name}_") for name in _CHOSEN if hasattr(model, f"{name}_")}
    own = "gamma" if found.get("kernel") == "rbf" else "scaling"
    return {"rank": None, **found, own: getattr(model, f"{own}_")}


def _recalibrated(log_odds: Array, applies: NDArray[np.bool_]) -> Array:
    """Return the log-likelihood (J,) of yes and no after one slope and one shift."""
    sign = np.where(applies, 1.0, -1.0)

    def each(at: Array) -> Array:
        return np.asarray(-np.logaddexp(0, -sign * (at[0] * log_odds + at[1])))

    def loss(at: Array) -> float:
        return float((at[0] - 1) ** 2 / 2 - each(at).sum())

    found: Any = optimize.minimize(
        loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0.05, 5.0), (None, None)]
    )
    return each(found.x)


def _gain(difference: Array) -> tuple[float, float]:
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))
