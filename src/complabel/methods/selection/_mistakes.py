"""Labels that annotators miss and invent: whether answers tell the rates, and the likeliest rates.

A rate's log-odds are a common value, plus an effect of the annotator and, where enough labels were
judged twice, one of the label. Effects are drawn from normal distributions around 0, whose spreads
are found, too (empirical Bayes): the less people differ and the fewer answers somebody gave, the
nearer their rates are to the common ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from complabel._parameters import Array, Floats
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.losses import check_mistakes
from complabel.methods._door import warn_assumed
from complabel.methods.selection._choices import Choices, OneSided

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
        said = answers.statements()
        said = said.only(judging[said.answer])
        person = answers.annotator[said.answer]
        # Nobody knows whether two unknown annotators are one person; they count as two.
        person = np.where(person < 0, len(answers.annotator_names) + said.answer, person)
        unique = np.unique(np.stack([said.pair, person]), axis=1)[0]
        pairs, people = np.unique(unique, return_counts=True)
        repeated = pairs[people > 1]
        with_yes = np.isin(repeated, said.pair[said.applies])
        share = max(float(said.applies.mean()) if len(said) else 0.0, 0.01)
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
    found: Array | str | None = "auto"
    if not words:
        rates = [check_mistakes(name, value, answers) for name, value in both.items()]
        n_labels = max(each.shape[1] for each in rates)
        found = np.stack([np.broadcast_to(each, (len(each), n_labels)) for each in rates])
        if not found.any():
            return None
    if isinstance(classifier.error_rate, str) or classifier.error_rate > 0:
        raise InputError(
            f"error_rate is {classifier.error_rate!r}, and labels are missed or invented; give"
            " only one sort of mistakes"
        )
    return found


def first_rates(answers: Answers, repeats: Repeats) -> OneSided:
    """Return the rates to start from; with a column for each label if labels shall differ."""
    by_label = repeats.n_with_yes >= _PAIRS_BY_LABEL * answers.n_labels
    n_rates, n_labels = len(answers.annotator_names) + 1, answers.n_labels if by_label else 1
    return OneSided(np.tile(np.reshape(_FIRST, (2, 1, 1)), (1, n_rates, n_labels)))


def warn_of_unknown_mistakes(repeats: Repeats, *, contradictory: bool) -> None:
    what = "The fit assumes no mistakes."
    if contradictory:
        what = "Answers contradict each other, so the fit finds rates, but they are uncertain."
    warn_assumed(
        "missed='auto' and invented='auto', but the answers do not tell how many labels people miss"
        f" and invent: two people judged the same label of the same item {repeats.n_pairs} times."
        f" {what} Ask other people again about some pairs of an item and a label, about"
        f" {repeats.needed} of them; or give missed and invented"
    )


def likeliest_mistakes(
    choices: Choices, logits: Floats, log_propensities: Array | None, start: OneSided
) -> OneSided:
    """Return the likeliest rates, those of unknown annotators last."""
    # ``choices`` are held-out answers, ``logits`` (n, K) predictions; log-propensities are (K,) or
    # (n, K).
    return _Search(choices, logits, log_propensities).run(start)


class _Search:
    """The search for common log-odds, effects of annotators and labels, and shifts of logits."""

    def __init__(self, choices: Choices, logits: Floats, log_propensities: Array | None) -> None:
        self._choices, self._logits, self._log_w = choices, logits, log_propensities
        self._n_labels = logits.shape[1]

    def run(self, start: OneSided) -> OneSided:
        odds = special.logit(np.clip(start.rates, 1e-6, 1 - 1e-6))  # (2, R + 1, L)
        common = odds[:, -1].mean(axis=1)
        people = odds[:, :-1].mean(axis=2) - common[:, np.newaxis]
        labels = odds[:, -1] - common[:, np.newaxis] if odds.shape[2] > 1 else np.zeros((2, 0))
        self._sizes = (people.shape[1], labels.shape[1])
        self._spreads = np.full((2, 2), _FIRST_SPREAD)  # of both rates, of people and of labels
        unscaled = np.zeros(self._n_labels + 1)
        at = np.concatenate([common, people.ravel(), labels.ravel(), unscaled])
        for _ in range(_ROUNDS):
            found = optimize.minimize(
                self._loss, at, jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}
            )
            at = found.x
            if not any(self._sizes):
                break
            before, self._spreads = self._spreads, self._likelier_spreads(at)
            if np.abs(self._spreads - before).max() < _TOLERANCE_OF_SPREADS:
                break
        return OneSided(special.expit(self._odds(at)))

    def _parts(self, at: Array) -> list[Array]:
        """Return common log-odds (2,), effects of people (2, R) and labels (2, K), and the rest."""
        # The rest, (K + 1,), are the shifts of logits and the logarithm of their scale.
        n_people, n_labels = self._sizes
        ends = np.cumsum([2, 2 * n_people, 2 * n_labels]).tolist()
        common, people, labels, rest = np.split(at, ends)
        return [common, people.reshape(2, n_people), labels.reshape(2, n_labels), rest]

    def _odds(self, at: Array) -> Array:
        """Return the log-odds of all rates, (2, R + 1, L)."""
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
        value, by_rates, by_logits = self._choices.likelihood_and_gradients(
            logits, self._log_w, special.expit(self._odds(at))
        )
        rates = special.expit(common)
        prior = _PRIOR_MISTAKES * np.log(rates) + _PRIOR_RIGHT * np.log1p(-rates)
        loss = -value - prior.sum() + (shifts**2).sum() / (2 * _SPREAD_OF_SHIFTS**2)
        loss += log_scale**2 / (2 * _SPREAD_OF_SCALE**2)
        of_prior = (_PRIOR_MISTAKES + _PRIOR_RIGHT) * rates - _PRIOR_MISTAKES
        slopes = [of_prior - by_rates.sum(axis=(1, 2))]
        by_effects = by_rates[:, :-1].sum(axis=2), by_rates.sum(axis=1)
        for effect, slope, spread in zip(effects, by_effects, self._spreads.T, strict=True):
            if effect.size:
                variance = spread[:, np.newaxis] ** 2
                loss += (effect**2 / variance).sum() / 2
                slopes.append((effect / variance - slope).ravel())
        by_shifts = shifts / _SPREAD_OF_SHIFTS**2 - by_logits.sum(axis=0, dtype=np.float64)
        by_scale = log_scale / _SPREAD_OF_SCALE**2 - np.vdot(by_logits, scaled)
        return float(loss), np.concatenate([*slopes, by_shifts, [by_scale]])

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
                found = np.sqrt((effect**2 + variance).mean(axis=1))
                spreads[:, number] = np.maximum(found, _LEAST_SPREAD)
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
