"""How good a machine's labels are, label by label, by people's answers to a few questions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from complabel._parameters import Array, Bools, Ints, check_array
from complabel._settings import setting
from complabel.answers import Answers, about_positives
from complabel.errors import InputError
from complabel.frequencies._changes import MachineChanges
from complabel.frequencies._counts import Audit
from complabel.frequencies._earlier import EarlierMonth, Month, asked_about, earlier_months
from complabel.frequencies._estimate import LabelFrequencies, checked_machines, rates_of_mistakes
from complabel.frequencies._machine_strata import YES, Strata, words_of
from complabel.frequencies._strata import StrataPosterior

RATES = ("precision", "recall", "missed", "invented")
_QUANTILES = (0.025, 0.5, 0.975)
# A label is called good, or bad, from this probability on.
_SURE = 0.8
# What an error of a frequency counts in a rate of all pairs, up to a factor: where the machine says
# no, and yes.
_COUNTS: dict[str, Callable[[float], tuple[float, float]]] = {
    "precision": lambda _: (0.0, 1.0),
    "recall": lambda rate: (-rate, 1 - rate),
    "missed": lambda rate: (1 - rate, -rate),
    "invented": lambda rate: (rate, rate - 1),
}
# A machine is too sure if people contradict scores this near to 0 and 1 more often than chance.
_NEAR, _BY_CHANCE, _LEAST_EXPECTED = 0.95, 0.01, 0.1


@dataclass(frozen=True, eq=False)
class MachineRates:
    """One rate of a machine, with intervals of 95 %.

    Attributes
    ----------
    values : ndarray of shape (n_labels,), dtype float64
        The median of the posterior, of each label; NaN where the rate has no meaning, such as the
        precision of a label that the machine never says.
    intervals : ndarray of shape (n_labels, 2), dtype float64
    overall : tuple of float
        The value, and both ends of its interval, over all pairs of an item and a label.
    """

    values: Array
    intervals: Array
    overall: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class MachineAudit:
    """How often labels apply, and how good a machine's labels are.

    Attributes
    ----------
    label_names : list of str
    frequencies : LabelFrequencies
        How often each label applies.
    machine_shares : ndarray of shape (n_labels,), dtype float64
        Share of the items of which the machine says yes, among those of which it says something.
    precision, recall, missed, invented : MachineRates
        Of the machine's yes, the share that applies; of what applies, the share of which the
        machine says yes, and the rest; of what does not apply, the share of which it says yes.
    good : ndarray of shape (n_labels,), dtype float64
        Probability that precision and recall are both at least ``least``.
    least : float
    cardinality : tuple of float
        The mean number of labels that apply to an item, and both ends of its interval.
    n_asked : ndarray of shape (3, n_labels), dtype intp
        Answers about pairs of which the machine says no, yes, and nothing.
    n_more : ndarray of shape (n_labels,), dtype intp
        How many more answers about a label would halve the interval of its frequency.
    too_sure : tuple of (int, int, float) or None
        How often people contradict a machine's scores below .05 and above .95, of how many answers,
        and how often they would if the scores were right; None if that is not more than chance.
    others : tuple of MachineAudit
        The same of the other machines, if several were given; frequencies are of all together.
    draws : ndarray of shape (n_draws, n_labels), dtype float64
        Draws of the frequencies from their posterior.
    changes : MachineChanges or None
        What changed since the month before, if one was given.
    """

    label_names: list[str]
    frequencies: LabelFrequencies
    machine_shares: Array
    precision: MachineRates
    recall: MachineRates
    missed: MachineRates
    invented: MachineRates
    good: Array
    least: float
    cardinality: tuple[float, float, float]
    n_asked: Ints
    n_more: Ints
    too_sure: tuple[int, int, float] | None = None
    others: tuple[MachineAudit, ...] = ()
    draws: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    changes: MachineChanges | None = None

    @property
    def usable(self) -> Bools:
        """Which labels of the machine can probably be used as they are, (n_labels,)."""
        return np.asarray(self.good >= _SURE)

    @property
    def unusable(self) -> Bools:
        """Which labels of the machine are probably not good enough, (n_labels,)."""
        return np.asarray(self.good <= 1 - _SURE)

    @property
    def tells_nothing(self) -> Bools:
        """Of which labels the machine says the same of all items, or nothing, (n_labels,)."""
        return np.asarray(np.isnan(self.machine_shares) | np.isin(self.machine_shares, (0, 1)))

    def about_nothing(self) -> str:
        """Return a sentence about the labels of which the machine tells nothing, or no text."""
        kinds = {"no": self.machine_shares == 0, "yes": self.machine_shares == 1}
        kinds["nothing"] = np.isnan(self.machine_shares)
        parts = [
            f"{word} of {', '.join(np.array(self.label_names, dtype=object)[at])}"
            for word, at in kinds.items()
            if at.any()
        ]
        if not parts:
            return ""
        return f"Of all items the machine says {'; '.join(parts)}: it tells nothing about that"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; what has no meaning is None."""

        def finite(value: float) -> float | None:
            return None if np.isnan(value) else float(value)

        def rate(name: str, label: int) -> dict[str, Any]:
            rates: MachineRates = getattr(self, name)
            ends = [finite(end) for end in rates.intervals[label]]
            return {"value": finite(rates.values[label]), "interval": ends}

        labels = {
            name: {
                "frequency": float(self.frequencies.values[at]),
                "interval": self.frequencies.intervals[at].tolist(),
                "machine": finite(self.machine_shares[at]),
                **{each: rate(each, at) for each in RATES},
                "good": float(self.good[at]),
                "asked": {"no": int(n_no), "yes": int(n_yes), "nothing": int(n_nothing)},
                "more": int(self.n_more[at]),
            }
            for at, (name, (n_no, n_yes, n_nothing)) in enumerate(
                zip(self.label_names, self.n_asked.T, strict=True)
            )
        }
        overall = {name: [finite(each) for each in getattr(self, name).overall] for name in RATES}
        return {
            "n_answers": int(self.n_asked.sum()),
            "least": self.least,
            "cardinality": list(self.cardinality),
            "machine_cardinality": float(np.nansum(self.machine_shares)),
            "too_sure": None if self.too_sure is None else list(self.too_sure),
            "all_pairs": overall,
            "labels": labels,
            "changes": None if self.changes is None else self.changes.as_dict(),
        }


def audit_machine(
    answers: Answers,
    machine: ArrayLike | Sequence[ArrayLike],
    *,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
    unsure: tuple[ArrayLike, ArrayLike] | None = None,
    least: float = 0.8,
    before: Sequence[Month] = (),
    same_items: bool = False,
) -> MachineAudit:
    """Find how good a machine's labels are, by people's answers about some of them.

    Parameters
    ----------
    answers : Answers
        Yes and no of people about single labels. The pairs were drawn at random by what the machine
        says, as :func:`complabel.asking.suggest_questions` draws them with ``against``, or at
        random from all pairs.
    machine : array-like of shape (n_items, n_labels), or a list of several
        What the machine says: 1 where a label applies and 0 where it does not, or probabilities, of
        which .5 and more are yes; NaN where it says nothing. Among probabilities, 0 and 1 have no
        log-odds; how often they are right is found apart from the others. Several machines are
        taken together: people's answers tell what each pattern of yes and no is worth, or what
        each machine's scores are (a logistic regression), and how good each machine is.
    missed, invented : float or array-like of shape (R,) or (R, n_labels), default=0.0
        Known mistakes of people, as in
        :func:`~complabel.frequencies.estimate_label_frequencies`.
    unsure : tuple of two array-likes of shape (U,), or None, default=None
        Positions of the items and of the labels about which people were asked and were unsure. How
        often people are unsure may differ between labels that apply and labels that do not, and
        this is estimated.
    least : float, default=0.8
        The precision and the recall that a label needs to be called good.
    before : sequence of tuples, default=()
        Earlier months, the latest one first: the answers about its items, what the machine, or an
        earlier version of it, said of them, and perhaps ``unsure`` of that month. Their answers
        count as far as the new ones agree with them. Labels are known by their names, if there are
        any.
    same_items : bool, default=False
        Whether items that have one name in this month and in the latest one before are one item, so
        that they tell whether the machine changed.

    Returns
    -------
    MachineAudit

    Raises
    ------
    InputError
        If no answer is about a pair, or ``machine`` has another shape or values outside [0, 1]; if
        ``before`` is given with several machines, or months have no label in common.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((1000, 3)) < [0.1, 0.3, 0.6]).astype(np.uint8)
    >>> machine = np.where(rng.random(Y.shape) < 0.1, 1 - Y, Y)
    >>> asked = np.eye(3, dtype=np.uint8)[rng.integers(3, size=300)]
    >>> item = rng.permutation(1000)[:300]
    >>> answers = Answers.from_arrays(
    ...     relevant=asked * Y[item], absent=asked * (1 - Y[item]), question="asked", item=item,
    ...     n_items=1000,
    ... )
    >>> audit_machine(answers, machine).precision.values.round(1)
    array([0.5, 0.7, 0.9])
    """
    least = float(check_array("least", least))
    machines = checked_machines("machine", machine, answers.shape)
    if len(before) and len(machines) > 1:
        raise InputError(
            f"{setting('before')} is given with {len(machines)} machines; give one, about which the"
            " earlier answers tell",
            parameter="before",
        )
    strata = Strata.of(machines, answers, fitted=True)
    audit, asked = asked_about(answers, strata, missed, invented, unsure)
    if not len(audit.item):
        raise InputError(
            f"{answers!r} hold no yes or no about a single label, so they say nothing about the"
            f" machine{about_positives(answers)}; ask people with complabel ask --against"
        )
    rates = rates_of_mistakes(missed, invented, answers)
    months = earlier_months(before, answers, strata, missed=missed, invented=invented)
    posterior = asked.frequencies([each.seen_from(answers) for each in months])
    audits = [
        _audited(answers, posterior, at, _Together.of(audit, strata, posterior, each), least)
        for at, each in enumerate(machines)
    ]
    too_sure = [_too_sure(each, audit, *rates) for each in machines]
    first, *others = (
        replace(each, too_sure=sure) for each, sure in zip(audits, too_sure, strict=True)
    )
    if months:
        newest = EarlierMonth(answers, machines[0], asked.frequencies())
        changes = MachineChanges.of(newest, months[-1], posterior, same_items=same_items)
        first = replace(first, changes=changes)
    return replace(first, others=tuple(others))


@dataclass(frozen=True)
class _Together:
    """What P judged pairs add to the errors of sums over labels; arrays are (P,)."""

    # A form tells of all labels of an item, and a machine may err in several of them. The errors
    # of different labels then depend on each other, which the posterior of each one leaves out.

    item: Ints
    word: Ints  # what the machine says
    error: Array  # of the frequency of the pair's label
    n_asked: Ints  # (3, K): answers about what the machine says no, yes and nothing of

    @classmethod
    def of(cls, audit: Audit, strata: Strata, posterior: StrataPosterior, machine: Array) -> Self:
        n_labels, words = audit.n_labels, words_of(machine)
        asked = words[audit.item, audit.label] * n_labels + audit.label
        pair, at = np.unique(audit.item * n_labels + audit.label, return_inverse=True)
        item, label = np.divmod(pair, n_labels)
        cell = strata.cell[item, label]
        place = strata.stratum[cell] * n_labels + label
        weight, yes = (np.bincount(at, audit.weight * each) for each in (1.0, audit.applies))
        size = np.bincount((strata.of_pairs * n_labels + np.arange(n_labels)).ravel())
        stands = size[place] / strata.n_items / np.bincount(place, weight)[place]
        error = (yes - weight * posterior.by_cell()[0][cell, label]) * stands
        n_asked = np.bincount(asked, minlength=3 * n_labels).reshape(3, -1)
        return cls(item, words[item, label], error, n_asked)

    def rate(self, name: str, rates: MachineRates) -> MachineRates:
        """Return rates of which the one of all pairs has a wider interval."""
        counts = _COUNTS[name](rates.overall[0])
        value, low, high = self.widened(*rates.overall, *counts, 0.0)
        return replace(rates, overall=(value, max(low, 0.0), min(high, 1.0)))

    def widened(
        self, value: float, low: float, high: float, *counts: float
    ) -> tuple[float, float, float]:
        """Return value and ends of a figure, given those of independent labels.

        An error of a frequency ``counts`` by what the machine says of the pair: no, yes, nothing.
        """
        error = self.error * np.array(counts)[self.word]
        alone, by_item = np.square(error).sum(), np.square(np.bincount(self.item, error)).sum()
        ratio = by_item / max(alone, np.finfo(float).tiny)
        factor = round(math.sqrt(max(ratio, 1.0)), 9)  # whatever the order of items
        return value, value - factor * (value - low), value + factor * (high - value)


def _too_sure(
    machine: Array, audit: Audit, missed: Array, invented: Array
) -> tuple[int, int, float] | None:
    """Return how often people contradict scores near 0 and 1, of how many, and what is expected.

    None if the machine gives no scores, or if chance contradicts as many.
    """
    predicted = ~np.isnan(machine)
    if not ((machine > 0) & (machine < 1)).any():
        return None
    p = machine[audit.item, audit.label]
    sure = predicted[audit.item, audit.label] & (np.abs(p - 0.5) >= _NEAR - 0.5)
    who = audit.annotator[sure] % len(missed), audit.label[sure]
    p, applies = p[sure], audit.applies[sure]
    of_yes = p * (1 - missed[who]) + (1 - p) * invented[who]
    chance = np.where(p >= 0.5, 1 - of_yes, of_yes)
    n_wrong, expected = int((applies != (p >= 0.5)).sum()), float(chance.sum())
    by_chance = special.pdtrc(n_wrong - 1, max(expected, _LEAST_EXPECTED)) if n_wrong else 1.0
    return (n_wrong, len(p), expected) if by_chance < _BY_CHANCE else None


def _audited(
    answers: Answers, posterior: StrataPosterior, machine: int, asked: _Together, least: float
) -> MachineAudit:
    estimate, draws = posterior.posterior(), posterior.draws
    of_draws = draws.rates(machine)
    rates: Any = {name: asked.rate(name, summary(of_draws[name])) for name in RATES}
    low, middle, high = np.quantile(draws.frequencies.sum(axis=1), _QUANTILES).tolist()
    sums = asked.widened(middle, low, high, 1.0, 1.0, 1.0)
    share_of_words = draws.shares[machine].sum(axis=0)
    shares = draws.shares[machine, YES] / np.maximum(share_of_words, np.finfo(float).tiny)
    shares[share_of_words == 0] = np.nan
    with np.errstate(invalid="ignore"):
        good = (of_draws["precision"] >= least) & (of_draws["recall"] >= least)
    names = answers.label_names or [str(label) for label in range(answers.n_labels)]
    frequencies = LabelFrequencies(
        values=estimate.values,
        covariance=estimate.covariance,
        intervals=estimate.intervals,
        propensities=None,
        spread=0.0,
        n_audit=int(asked.n_asked.sum()),
    )
    return MachineAudit(
        label_names=list(names),
        frequencies=frequencies,
        machine_shares=shares,
        **rates,
        good=good.mean(axis=0)[:-1],
        least=least,
        cardinality=(float(estimate.values.sum()), *sums[1:]),
        n_asked=asked.n_asked,
        n_more=_to_halve(*posterior.by_cell(), posterior.asked.shares),
        draws=draws.frequencies,
    )


def summary(draws: Array) -> MachineRates:
    """Summarize draws (D, K + 1), of which the last column is about all pairs.

    A label may apply to nothing in some draws, where it has no recall; these are left out.
    """
    low, middle, high = ends = np.empty((3, draws.shape[1]))
    lacks = np.isnan(draws).any(axis=0)
    ends[:, ~lacks] = np.quantile(draws[:, ~lacks], _QUANTILES, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels without a rate in all draws
        ends[:, lacks] = np.nanquantile(draws[:, lacks], _QUANTILES, axis=0)
    overall = (float(middle[-1]), float(low[-1]), float(high[-1]))
    return MachineRates(middle[:-1], np.stack([low, high], axis=1)[:-1], overall)


def _to_halve(mean: Array, variance: Array, share: Array) -> Ints:
    """Return how many more answers (K,) halve the error of a frequency, at best (Neyman)."""
    tiny = np.finfo(float).tiny
    of_one = mean * (1 - mean)
    so_far = of_one / np.maximum(variance, tiny)
    goal = (share**2 * variance).sum(axis=0) / 4
    weight = share * np.sqrt(of_one)
    needed = weight * weight.sum(axis=0) / np.maximum(goal, tiny)
    still_needed = np.where(share > 0, np.maximum(needed - so_far, 0), 0).sum(axis=0)
    return np.asarray(np.ceil(np.minimum(still_needed, 1e9)), dtype=np.intp)
