"""How many more answers a goal takes, by the first answers, by a machine, or by a guess.

From the posterior of each label's chance in each cell of a machine's answers, chances are drawn.
For each draw, questions are added as :func:`complabel.asking.suggest_questions` adds them: with a
machine, where they reduce the variance of a frequency most; without one, spread evenly. They are
enough when all intervals are short enough. How the numbers differ from draw to draw says how sure
the forecast is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from complabel._parameters import Array, Ints, check_array
from complabel._settings import setting
from complabel.answers import Answers
from complabel.asking._against import SPREAD, sizes_of, spread_questions
from complabel.errors import InputError
from complabel.frequencies import (
    YES,
    Strata,
    checked_machines,
    drawn_at_random,
    drawn_chances,
    refuse_without_sample,
)

Forecast: TypeAlias = tuple[int, int, int]  # the middle, and both ends of an interval of 95 %

WITHIN = (0.1, 0.05, 0.03, 0.02)
"""Halves of intervals of 95 % that are forecast where nobody names others."""
_DECIDED_AT = (100, 200, 500, 1000, 2000)
_SURE = 0.8  # as of MachineAudit.usable
_N_DRAWS, _HALVINGS = 100, 30
_QUANTILES = (0.5, 0.025, 0.975)
_NORMAL = float(special.ndtri(0.975))
# A guess of a frequency: standard deviations of the logits of all labels together, and of each.
_OF_ALL, _OF_EACH = 0.3, 0.7
_TINY = 1e-12


class PlannedGoal(NamedTuple):
    """What one goal takes: the middle of a forecast, and both ends of its interval of 95 %."""

    within: float  # half of the widest interval of a label's frequency
    questions: Forecast  # more yes or no, each about one label of one item
    forms: Forecast  # or more items of which all labels are ticked


@dataclass(frozen=True)
class AnswersPlan:
    """What :func:`plan_answers` returns: how many more answers goals take.

    Attributes
    ----------
    goals : list of PlannedGoal
        For each half of an interval: more yes/no questions, or more items of which all labels are
        ticked, that make the frequency of every label known so well.
    decided : dict of int to (int, int, int)
        By the number of more questions: of how many labels it will be known whether the machine's
        labels can be used; empty without a machine.
    widest : float
        Half of the widest interval of a label's frequency now.
    n_labels, n_known, n_pairs : int
        Labels; pairs of an item and a label that are known; and all pairs.
    """

    goals: list[PlannedGoal]
    decided: dict[int, Forecast]
    widest: float
    n_labels: int
    n_known: int
    n_pairs: int

    def lines(self) -> list[str]:
        """Return sentences and a table as text."""
        so_far = f"{self.n_known:,} of {self.n_pairs:,} pairs of an item and a label are known"
        lines = [f"{so_far}; the widest interval of a frequency is now about ±{self.widest:.2g}"]
        lines.append("every frequency within   more yes/no questions   or more items ticked whole")
        for within, questions, forms in self.goals:
            cells = (f"±{within:<23g}", f"{_words(questions):<23}", _words(forms))
            lines.append(" ".join(cells))
        within, questions, forms = self.goals[-1]
        if questions[0] and forms[0]:
            ratio = questions[0] / forms[0]
            lines.append(
                f"for ±{within:g} of every label, tick all {self.n_labels:,} labels of an item if"
                f" that takes less than {ratio:.2g} times as long as a yes or no"
            )
        for n, (middle, low, high) in self.decided.items():
            lines.append(
                f"with {n:,} more questions it is known of about {middle} of {self.n_labels:,}"
                f" labels ({low} to {high}) whether the machine's can be used"
            )
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "n_known": self.n_known,
            "n_pairs": self.n_pairs,
            "widest": self.widest,
            "goals": [
                {"within": within, "questions": list(questions), "forms": list(forms)}
                for within, questions, forms in self.goals
            ],
            "decided": {str(n): list(forecast) for n, forecast in self.decided.items()},
        }


def plan_answers(
    answers: Answers,
    machine: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    within: ArrayLike = WITHIN,
    guess: float | None = None,
    least: float = 0.8,
    random_state: int = 0,
) -> AnswersPlan:
    """Forecast how many more answers goals take.

    Parameters
    ----------
    answers : Answers
        People's yes and no so far, about random pairs or drawn ``against`` the machine; some 50 are
        enough for a forecast. There may be none; then the machine tells, or ``guess``.
    machine : array-like of shape (n_items, n_labels), a list of several, or None, default=None
        What a machine says, as for :func:`complabel.frequencies.audit_machine`.
    within : float or array-like of shape (G,), default=(.1, .05, .03, .02)
        The goals: half of the interval of 95 % of each label's frequency.
    guess : float or None, default=None
        Without a machine and without answers: about how often a label applies, between 0 and 1.
    least : float, default=0.8
        The precision and the recall that a label of the machine needs to be used.
    random_state : int, default=0

    Returns
    -------
    AnswersPlan

    Raises
    ------
    InputError
        If there is neither an answer, nor a machine, nor a guess; if ``within`` or ``guess`` is not
        between 0 and 1; or if ``machine`` has another shape.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> Y = np.random.default_rng(0).random((2000, 3)) < [0.1, 0.3, 0.6]
    >>> first = draw_answers(Y.astype(int), question="asked", items_share=0.03, random_state=0)
    >>> plan = plan_answers(first, within=0.05)
    >>> 300 < plan.goals[0].questions[0] < 1500
    True
    """
    goals = check_array("within", np.atleast_1d(np.asarray(within)), "goal")
    for name, values in (("within", goals), ("guess", np.array([0.5 if guess is None else guess]))):
        if not ((values > 0) & (values < 1)).all():
            raise InputError(f"{setting(name)} is {values.tolist()}; give numbers between 0 and 1")
    known = (answers.complementary > 0) | (answers.known_relevant > 0)
    if machine is None and not known.any() and guess is None:
        raise InputError(
            "nothing tells how often labels apply: give some answers (50 are enough), a machine's"
            f" labels, or {setting('guess')}, such as .1"
        )
    if machine is None and known.any():
        sample = drawn_at_random(answers)
        if not sample.n_answers:
            raise refuse_without_sample(answers)
        answers = sample
    shape = answers.shape
    says = np.full(shape, np.nan) if machine is None else machine
    strata = Strata.of(checked_machines("machine", says, shape), answers, fitted=True)
    rng = np.random.default_rng(random_state)
    if guess is not None and machine is None and not known.any():
        logits = special.logit(guess) + rng.normal(0, _OF_ALL, (_N_DRAWS, 1, 1))
        spread = rng.normal(0, _OF_EACH, (_N_DRAWS, *strata.shares.shape))
        chances, information = special.expit(logits + spread), np.zeros(strata.shares.shape)
    else:
        chances, information = drawn_chances(answers, strata, _N_DRAWS, rng)
    so_far = _SoFar(strata, known, chances, information, machine is not None)
    questions = [so_far.needed(so_far.asked, each) for each in goals.tolist()]
    forms = [so_far.needed(so_far.ticked, each) for each in goals.tolist()]
    largest = len(known) * strata.shares.shape[1]
    numbers = [n for n in _DECIDED_AT if n < largest] if machine is not None else []
    return AnswersPlan(
        [
            PlannedGoal(each, _forecast(of_questions), _forecast(of_forms))
            for each, of_questions, of_forms in zip(goals.tolist(), questions, forms, strict=True)
        ],
        {n: _forecast(so_far.decided(so_far.asked(np.full(_N_DRAWS, n)), least)) for n in numbers},
        min(float(np.median(so_far.half(np.zeros_like(chances)))), 0.5),
        shape[1],
        int(known.sum()),
        known.size,
    )


@dataclass(frozen=True)
class _SoFar:
    """What is known in C cells of K labels, at D drawn chances (D, C, K)."""

    strata: Strata
    known: Any  # (n, K), bool
    chances: Array
    information: Array  # (C, K): as after so many answers
    follows: bool  # questions go where they tell most

    @cached_property
    def of_one(self) -> Array:
        """The variance (D, C, K) of what one answer says."""
        return np.maximum(self.chances * (1 - self.chances), _TINY)

    @cached_property
    def free(self) -> Ints:
        """The number of pairs (C, K) of which nobody has said anything."""
        n_labels = self.known.shape[1]
        place = (self.strata.cell * n_labels + np.arange(n_labels))[~self.known]
        size = self.strata.shares.size
        counts: Ints = np.bincount(place, minlength=size).reshape(self.strata.shares.shape)
        return counts

    def variances(self, more: Array) -> Array:
        """Return the variance (D, C, K) of each cell's share after so many more answers there."""
        pairs = np.maximum(self.strata.shares * len(self.known), 1)
        still = np.clip((self.free - more) / pairs, 0, 1)  # what was answered is known
        return self.of_one / np.maximum(self.information + more, 0.25) * still

    def half(self, more: Array) -> Array:
        """Return half of the widest interval of a frequency (D,)."""
        variance = (self.strata.shares**2 * self.variances(more)).sum(axis=1)
        return np.asarray(_NORMAL * np.sqrt(variance.max(axis=1)))

    def ticked(self, n: Array) -> Array:
        """Return the answers (D, C, K) of so many forms (D,), drawn as ``ask`` draws them."""
        return np.asarray(np.minimum(n[:, np.newaxis, np.newaxis] * self._of_form, self.free))

    @cached_property
    def _of_form(self) -> Array:
        """How many open pairs of each cell a form is about, on average, (C, K)."""
        sizes = sizes_of(self.strata)[:, np.newaxis] * ~self.known
        n_labels, size = self.known.shape[1], self.strata.shares.size
        place = (self.strata.cell * n_labels + np.arange(n_labels)).ravel()
        sums = np.bincount(place, sizes.ravel(), size).reshape(self.strata.shares.shape)
        return np.asarray(sums / np.maximum(sums.sum(axis=0), _TINY))

    def asked(self, n: Array) -> Array:
        """Return the answers (D, C, K) of so many questions (D,)."""
        if not self.follows:
            return self.ticked(n / self.known.shape[1])
        weight = np.log(self.strata.shares**2 * self.of_one + _TINY)
        spread = SPREAD * n[:, np.newaxis, np.newaxis] * self._spread
        low, high = np.full(len(n), -60.0), np.full(len(n), 5.0)
        for _ in range(_HALVINGS):  # the gain, in logarithms, at which so many are asked
            gain = (low + high) / 2
            so_far = np.sqrt(np.exp(weight - gain[:, np.newaxis, np.newaxis]) + 0.25) - 0.5
            more = np.clip(np.maximum(so_far - self.information, spread), 0, self.free)
            too_many = more.sum(axis=(1, 2)) > n
            low, high = np.where(too_many, gain, low), np.where(too_many, high, gain)
        return np.asarray(more)

    @cached_property
    def _spread(self) -> Array:
        """The share of each cell among questions that are spread whatever was answered, (C, K)."""
        n = int(min(self.free.sum(), 1000))
        expected = spread_questions(self.strata, self.free, n, np.random.default_rng(0))[1]
        return np.asarray(expected / max(expected.sum(), _TINY))

    def needed(self, answered: Any, within: float) -> Array:
        """Return the least numbers (D,) after which every frequency is known so well."""
        low = np.zeros(len(self.chances))
        high = np.full(len(low), float(self.free.sum()))
        for _ in range(math.ceil(math.log2(max(high[0], 2))) + 1):
            n = (low + high) / 2
            enough = self.half(answered(n)) <= within
            low, high = np.where(enough, low, n), np.where(enough, n, high)
        enough_now = self.half(np.zeros_like(self.chances)) <= within
        most = len(self.known) if answered == self.ticked else high
        return np.where(enough_now, 0.0, np.minimum(np.ceil(high), most))

    def decided(self, more: Array, least: float) -> Array:
        """Return of how many labels (D,) it is known whether the machine's can be used."""
        share, variance = self.strata.shares, self.variances(more)
        yes = (self.strata.says == YES)[:, np.newaxis]
        said = np.maximum((share * yes).sum(axis=0), _TINY)
        right = (share * yes * self.chances).sum(axis=1)
        applies = np.maximum((share * self.chances).sum(axis=1), _TINY)
        of_yes, of_no = ((share**2 * variance * part).sum(axis=1) for part in (yes, ~yes))
        precision, recall = right / said, right / applies
        spreads = (
            np.sqrt(of_yes) / said,
            np.sqrt((1 - recall) ** 2 * of_yes + recall**2 * of_no) / applies,
        )
        good = np.ones_like(precision)
        for rate, spread in zip((precision, recall), spreads, strict=True):
            good *= special.ndtr((rate - least) / np.maximum(spread, _TINY))
        known: Array = ((good >= _SURE) | (good <= 1 - _SURE)).sum(axis=1)
        return known


def _forecast(numbers: Array) -> Forecast:
    middle, low, high = np.quantile(numbers, _QUANTILES)
    return round(float(middle)), math.floor(low), math.ceil(high)


def _words(forecast: Forecast) -> str:
    middle, low, high = forecast
    return f"{middle:,} ({low:,} to {high:,})" if high else "none"
