"""Labels that annotators miss and invent: the likeliest rates, and whether answers tell them.

A rate's log-odds are a common value, plus an effect of the annotator and, where enough labels were
judged twice, one of the label. Effects are drawn from normal distributions around 0, whose spreads
are found, too (empirical Bayes): the less people differ and the fewer answers somebody gave, the
nearer their rates are to the common ones.

Rates, labels per item and biases of the model can stand for each other: people who miss half of
what applies say as many "yes" as careful people about labels half as frequent. So the profile of
labels per item tells whether rates are found: the likelihood for each number of labels per item,
with everything else as likely as it can be. Where it is flat, the fit takes balanced rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from complabel._parameters import Array, Floats
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.losses import check_mistakes
from complabel.methods._door import warn_assumed, warn_user
from complabel.methods.selection._known import OneSided
from complabel.methods.selection._likelihood import Likelihood

# The search starts from these rates of missed and of invented labels.
_FIRST = (0.2, 0.03)
# About each common rate, the prior acts like one mistake among ten more answers.
_PRIOR_MISTAKES, _PRIOR_RIGHT = 1.0, 9.0
# Effects of annotators start with this spread of log-odds. They are refined in so many rounds.
_FIRST_SPREAD, _LEAST_SPREAD, _ROUNDS = 1.0, 0.05, 8
_TOLERANCE_OF_SPREADS = 0.02
# Each label's logits may shift with the rates, and all be scaled: predictions were made with other
# rates. Else answers that contradict too confident predictions would look like mistakes. These are
# the standard deviations of the priors of shifts and of the scale's logarithm.
_SPREAD_OF_SHIFTS, _SPREAD_OF_SCALE = 1.0, 0.5
_TOLERANCE = 1e-8
_STEP, _PROBES = 1e-3, 8
# The answers determine the rates if the interval of labels per item, of 95 %, is short: its upper
# end at most so many times the lower one. With longer intervals, models with balanced rates were
# better (made data; the figures are in docs/evidence/mistakes.md).
_WIDEST = 2.5
# Half of the 95 % quantile of the chi-squared distribution with one degree of freedom.
_DROP = 1.92
# The profile is followed in steps of the logarithm of labels per item, each longer than the last. A
# penalty, like a spring, pulls the labels per item to those that a step aims at.
_FIRST_LEAP, _LONGER, _LONGEST_LEAP, _SPRING, _FARTHEST = 0.03, 1.5, 0.4, 0.02, 4.0
# Balanced rates. The prior of disagreements, as a share of those by chance, and how many
# disagreements by chance the prior counts for. The share found is at most the third number.
_DISAGREE, _DISAGREE_WEIGHT, _MOST_DISAGREE = 0.4, 3.0, 0.9

# To find the common rate of missed labels within about .05, two people must both have judged about
# this many pairs to which somebody said yes; for .1, a quarter of them.
_PAIRS_WITH_YES = 40
_LEAST_PAIRS_WITH_YES = 10
# Effects of labels are found if there are so many of these pairs for each label, on average.
_PAIRS_BY_LABEL = 40


@dataclass(frozen=True)
class Repeats:
    """Pairs of an item and a label that two or more people judged."""

    n_pairs: int
    n_with_yes: int
    needed: int  # pairs that would be needed

    @classmethod
    def of(cls, answers: Answers) -> Repeats:
        judging = answers.judges
        statements = answers.statements()
        statements = statements.only(judging[statements.answer])
        person = answers.annotator[statements.answer]
        # Nobody knows whether two unknown annotators are one person; they count as two.
        person = np.where(person < 0, len(answers.annotator_names) + statements.answer, person)
        unique = np.unique(np.stack([statements.pair, person]), axis=1)[0]
        pairs, people = np.unique(unique, return_counts=True)
        repeated = pairs[people > 1]
        with_yes = np.isin(repeated, statements.pair[statements.applies])
        share = max(float(statements.applies.mean()) if len(statements) else 0.0, 0.01)
        needed = math.ceil(_PAIRS_WITH_YES / share)
        return cls(n_pairs=len(repeated), n_with_yes=int(with_yes.sum()), needed=needed)

    @property
    def tell(self) -> bool:
        return self.n_with_yes >= _LEAST_PAIRS_WITH_YES


def given_mistakes(classifier: Any, answers: Answers) -> Array | str | None:
    """Return given rates (2, R + 1, 1 or K), "auto" if they shall be found, or None."""
    both: dict[str, Any] = {"missed": classifier.missed, "invented": classifier.invented}
    if all(type(value) in (int, float) and value == 0 for value in both.values()):
        return None
    words = [name for name, value in both.items() if isinstance(value, str)]
    if words and any(not isinstance(value, str) or value != "auto" for value in both.values()):
        raise InputError(
            f"missed is {both['missed']!r} and invented is {both['invented']!r}; give rates, or"
            " 'auto' for both"
        )
    rates: Array | str | None = "auto"
    if not words:
        each_rates = [check_mistakes(name, value, answers) for name, value in both.items()]
        n_labels = max(each.shape[1] for each in each_rates)
        rates = np.stack([np.broadcast_to(each, (len(each), n_labels)) for each in each_rates])
        if not rates.any():
            return None
    if isinstance(classifier.error_rate, str) or classifier.error_rate > 0:
        raise InputError(
            f"error_rate is {classifier.error_rate!r}, and labels are missed or invented; give"
            " only one sort of mistakes"
        )
    return rates


def first_rates(answers: Answers, repeats: Repeats) -> OneSided:
    """Return the rates to start from; with a column for each label if labels shall differ."""
    by_label = repeats.n_with_yes >= _PAIRS_BY_LABEL * answers.n_labels
    n_rates, n_labels = len(answers.annotator_names) + 1, answers.n_labels if by_label else 1
    return OneSided(np.tile(np.reshape(_FIRST, (2, 1, 1)), (1, n_rates, n_labels)))


def warn_of_unknown_mistakes(repeats: Repeats, interval: tuple[float, float] | None = None) -> None:
    """Warn that no mistakes are assumed; with an interval of labels per item, balanced ones."""
    what, needed = "The fit assumes no mistakes.", repeats.needed
    if interval is not None:
        low, high = interval
        what = (
            f"With rates that are about as likely, {low:.2g} to {high:.2g} labels apply to an item."
            " The fit assumes that people miss as many labels as they invent, so each label applies"
            " as often as they say."
        )
        longer = math.log(high / low) / math.log(_WIDEST)
        needed = max(needed, math.ceil(repeats.n_pairs * min(longer, _FARTHEST) ** 2))
    warn_assumed(
        "missed='auto' and invented='auto', but the answers do not tell how many labels people miss"
        f" and invent: two people judged the same label of the same item {repeats.n_pairs} times."
        f" {what} Ask other people again about some pairs of an item and a label, until there are"
        f" about {needed} of them; or give missed and invented"
    )


def warn_of_other_number(number: float, interval: tuple[float, float] | None) -> None:
    """Warn if the labels per item of a model are not among the numbers that answers tell."""
    if interval is not None and not interval[0] <= number <= interval[1]:
        warn_user(
            f"by the rates of people, {interval[0]:.3g} to {interval[1]:.3g} labels apply to an"
            f" item; by this model, {number:.3g}. Do not trust its probabilities; give missed and"
            " invented, or ask other people again about more pairs of an item and a label",
            UserWarning,
        )


def are_determined(interval: tuple[float, float]) -> bool:
    """Return whether an interval of labels per item is short enough to take the rates found."""
    return interval[1] <= _WIDEST * interval[0]


def balanced_rates(answers: Answers) -> OneSided:
    """Return rates with which each label applies as often as people say that it does.

    A label is said of a share q of the items. If kappa is how much less two people disagree than by
    chance, 1 - missed - invented = sqrt(kappa), and as many labels are missed as invented if
    missed = (1 - q) (1 - sqrt(kappa)) and invented = q (1 - sqrt(kappa)).
    """
    statements = answers.statements()
    statements = statements.only(answers.judges[statements.answer])
    yes = np.bincount(statements.label, weights=statements.applies, minlength=answers.n_labels)
    judged = np.bincount(statements.label, minlength=answers.n_labels)
    share = (yes + yes.sum() / max(judged.sum(), 1)) / (judged + 1)
    pairs, inverse, times = np.unique(statements.pair, return_inverse=True, return_counts=True)
    of_pair = np.bincount(inverse, weights=statements.applies, minlength=len(pairs))
    # Of t judgements of a pair, a share 2 y (t - y) / (t (t - 1)) of its pairs of people disagree.
    often = times > 1
    t, y = times[often], of_pair[often]
    disagree = (2 * y * (t - y) / (t * (t - 1))).sum()
    label = pairs[often] % answers.n_labels
    by_chance = (2 * share * (1 - share))[label].sum()
    less = (disagree + _DISAGREE * _DISAGREE_WEIGHT) / (by_chance + _DISAGREE_WEIGHT)
    lost = 1 - math.sqrt(1 - min(less, _MOST_DISAGREE))
    of_labels = np.clip(np.stack([(1 - share) * lost, share * lost]), 1e-4, None)
    n_rates = len(answers.annotator_names) + 1
    return OneSided(np.repeat(of_labels[:, np.newaxis], n_rates, axis=1))


class RateSearch:
    """The search for common log-odds, effects of annotators and labels, and shifts of logits."""

    # The prior of a common rate: mistakes and right answers.
    _prior = (_PRIOR_MISTAKES, _PRIOR_RIGHT)
    _loss_of_logits: Callable[[Floats], tuple[float, Floats]] | None = None

    def __init__(
        self, likelihood: Likelihood, logits: Floats, log_propensities: Array | None
    ) -> None:
        self._likelihood, self._logits, self._log_w = likelihood, logits, log_propensities
        self._n_labels = logits.shape[1]
        # Of both rates, of people and of labels.
        self._spreads = np.full((2, 2), _FIRST_SPREAD)

    def run(self, start: OneSided) -> OneSided:
        at = self._start(start)
        for _ in range(_ROUNDS):
            minimum = optimize.minimize(
                self._loss, at, jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}
            )
            at = minimum.x
            if not any(self._sizes):
                break
            before, self._spreads = self._spreads, self._likelier_spreads(at)
            if np.abs(self._spreads - before).max() < _TOLERANCE_OF_SPREADS:
                break
        return OneSided(special.expit(self._odds(at)))

    def _start(self, start: OneSided) -> Array:
        odds = special.logit(np.clip(start.rates, 1e-6, 1 - 1e-6))  # (2, R + 1, L)
        common = odds[:, -1].mean(axis=1)
        people = odds[:, :-1].mean(axis=2) - common[:, np.newaxis]
        labels = odds[:, -1] - common[:, np.newaxis] if odds.shape[2] > 1 else np.zeros((2, 0))
        self._sizes = (people.shape[1], labels.shape[1])
        unscaled = np.zeros(self._n_labels + 1)
        return np.concatenate([common, people.ravel(), labels.ravel(), unscaled])

    def _parts(self, at: Array) -> list[Array]:
        """Return common log-odds (2,), effects of people (2, R) and labels (2, K), and the rest."""
        # The rest, (K + 1,), are the shifts of logits and the logarithm of their scale.
        n_people, n_labels = self._sizes
        ends = np.cumsum([2, 2 * n_people, 2 * n_labels]).tolist()
        common, people, labels, rest = np.split(at, ends)
        return [common, people.reshape(2, n_people), labels.reshape(2, n_labels), rest]

    def _odds(self, at: Array) -> Array:
        common, people, labels, _ = self._parts(at)
        of_people = np.hstack([people, np.zeros((2, 1))]) + common[:, np.newaxis]
        if not labels.size:
            return of_people[:, :, np.newaxis]
        return of_people[:, :, np.newaxis] + labels[:, np.newaxis]

    def _loss(self, at: Array) -> tuple[float, Array]:
        common, *effects, rest = self._parts(at)
        shifts, log_scale = rest[:-1], rest[-1]
        scaled = self._logits * np.exp(log_scale, dtype=self._logits.dtype)
        logits = scaled + shifts.astype(self._logits.dtype)
        value, by_rates, by_logits = self._likelihood.likelihood_and_gradients(
            logits, self._log_w, special.expit(self._odds(at))
        )
        rates, (mistakes, right) = special.expit(common), self._prior
        prior = mistakes * np.log(rates) + right * np.log1p(-rates)
        drawn = self._drawn(shifts)
        loss = -value - prior.sum() + (drawn**2).sum() / (2 * _SPREAD_OF_SHIFTS**2)
        loss += log_scale**2 / (2 * _SPREAD_OF_SCALE**2)
        if self._loss_of_logits is not None:
            strain, pull = self._loss_of_logits(logits)
            loss, by_logits = loss + strain, by_logits - pull
        of_prior = (mistakes + right) * rates - mistakes
        slopes = [of_prior - by_rates.sum(axis=(1, 2))]
        by_effects = by_rates[:, :-1].sum(axis=2), by_rates.sum(axis=1)
        for effect, slope, spread in zip(effects, by_effects, self._spreads.T, strict=True):
            if effect.size:
                variance = spread[:, np.newaxis] ** 2
                loss += (effect**2 / variance).sum() / 2
                slopes.append((effect / variance - slope).ravel())
        by_shifts = drawn / _SPREAD_OF_SHIFTS**2 - by_logits.sum(axis=0, dtype=np.float64)
        by_scale = log_scale / _SPREAD_OF_SCALE**2 - np.vdot(by_logits, scaled)
        return float(loss), np.concatenate([*slopes, by_shifts, [by_scale]])

    def _drawn(self, shifts: Array) -> Array:
        """Return what of the shifts (K,) is drawn from their prior."""
        return shifts

    def _likelier_spreads(self, at: Array) -> Array:
        """Take a step of expectation and maximization, for a normal posterior of the effects."""
        spreads = self._spreads.copy()
        _, *effects, _ = self._parts(at)
        _, *curvatures, _ = self._parts(self._curvature(at))
        for number, (effect, curvature) in enumerate(zip(effects, curvatures, strict=True)):
            if effect.size:
                # Noise must not make the curvature less than that of the prior.
                least = 1 / spreads[:, number] ** 2
                variance = 1 / np.maximum(curvature, least[:, np.newaxis])
                likelier = np.sqrt((effect**2 + variance).mean(axis=1))
                spreads[:, number] = np.maximum(likelier, _LEAST_SPREAD)
        return spreads

    def _curvature(self, at: Array) -> Array:
        """Estimate the diagonal of the Hessian from random directions."""
        # Hutchinson's estimator; differences of gradients along random signs of the effects.
        rng = np.random.default_rng(0)
        effects = slice(2, len(at) - self._n_labels - 1)
        total = np.zeros(len(at))
        for _ in range(_PROBES):
            signs = np.zeros(len(at))
            signs[effects] = rng.choice([-1.0, 1.0], size=signs[effects].shape)
            (_, up), (_, down) = (self._loss(at + side * _STEP * signs) for side in (1, -1))
            total += (up - down) * signs / (2 * _STEP)
        return total / _PROBES


class RateProfile(RateSearch):
    """The loss at its least for each number of labels per item.

    The prior of rates is uniform here, and any shift that labels have in common is as likely as
    another: what the answers do not tell, no prior shall tell.
    """

    _prior = (1.0, 1.0)  # of log-odds
    _aim: float | None = None  # the logarithm of labels per item that a step aims at

    def __init__(
        self, likelihood: Likelihood, logits: Floats, log_propensities: Array | None
    ) -> None:
        super().__init__(likelihood, logits, log_propensities)
        self._loss_of_logits = self._strained

    def interval(self, rates: OneSided) -> tuple[float, float]:
        first = self._least(self._start(rates), None)
        points, best = [(first[1], first[2])], first[2]
        for side in (-1, 1):
            at, aim, leap, height = first[0], first[1], _FIRST_LEAP, 0.0
            while height < best + _DROP and abs(aim - first[1]) < _FARTHEST:
                aim, leap = aim + side * leap, min(leap * _LONGER, _LONGEST_LEAP)
                at, number, height = self._least(at, aim)
                if aim > math.log(0.9 * self._n_labels):
                    break
                points.append((number, height))
                best = min(best, height)
        log_numbers, heights = np.array(sorted(points)).T
        above = heights - best - _DROP
        inside = np.flatnonzero(above <= 0)[[0, -1]]
        ends = [
            _crossing(log_numbers, above, within, within + side)
            for within, side in zip(inside.tolist(), (-1, 1), strict=True)
        ]
        return math.exp(ends[0]), math.exp(ends[1])

    def _least(self, at: Array, aim: float | None) -> tuple[Array, float, float]:
        """Return the point nearest to the aim, the logarithm of its labels per item, its loss."""
        self._aim = aim
        minimum = optimize.minimize(
            self._loss, at, jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}
        )
        loss, _ = self._loss(minimum.x)
        return minimum.x, self._log_number, loss - self._strain

    def _drawn(self, shifts: Array) -> Array:
        return np.asarray(shifts - shifts.mean())

    def _strained(self, logits: Floats) -> tuple[float, Floats]:
        """Return the loss of the distance from the aim, and its slope by logits (n, K)."""
        # By logarithms: a long step can take all probabilities below the least number there is.
        log_p = special.log_expit(logits)
        most = float(log_p.max())
        shares = np.exp(log_p - most)
        total = float(shares.sum(dtype=np.float64))
        self._log_number = most + math.log(total / len(logits))
        off = 0.0 if self._aim is None else (self._log_number - self._aim) / _SPRING
        self._strain = off**2 / 2
        slope = off / (_SPRING * total)
        return self._strain, (slope * shares * special.expit(-logits)).astype(logits.dtype)


def _crossing(at: Array, above: Array, within: int, beyond: int) -> float:
    """Return where the profile crosses its level between two points; else the last point."""
    if not 0 <= beyond < len(at):
        return float(at[within])
    share = above[within] / (above[within] - above[beyond])
    return float(at[within] + share * (at[beyond] - at[within]))
