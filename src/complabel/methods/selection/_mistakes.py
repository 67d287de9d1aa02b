"""Labels that annotators miss and invent: whether answers tell the rates, and the likeliest rates.

A rate's log-odds are a common value, plus an effect of the annotator, drawn from a normal
distribution around 0. Its spread is found, too (empirical Bayes): the less people differ and the
fewer answers somebody gave, the nearer their rates are to the common ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

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
# Each label's logits may shift with the rates: predictions were made with other rates. This is the
# standard deviation of the prior of shifts.
_SPREAD_OF_SHIFTS = 1.0
_TOLERANCE = 1e-8
_STEP, _PROBES = 1e-3, 8
# To find the common rate of missed labels within about .05, two people must both have judged about
# this many pairs to which somebody said yes; for .1, a quarter of them.
_PAIRS_WITH_YES = 40
_LEAST_PAIRS_WITH_YES = 10


@dataclass(frozen=True)
class Repeats:
    """Pairs of an item and a label that two or more people judged."""

    n_pairs: int
    n_disputed: int
    n_with_yes: int
    needed: int  # pairs that would be needed

    @classmethod
    def of(cls, answers: Answers) -> Repeats:
        judging = np.isin(answers.question, ("asked", "ticked"))
        said = answers.statements()
        said = said.only(judging[said.answer])
        person = answers.annotator[said.answer]
        # Nobody knows whether two unknown annotators are one person; they count as two.
        person = np.where(person < 0, len(answers.annotator_names) + said.answer, person)
        unique = np.unique(np.stack([said.pair, person]), axis=1)[0]
        pairs, people = np.unique(unique, return_counts=True)
        repeated = pairs[people > 1]
        yes, no = (np.unique(said.pair[said.applies == side]) for side in (True, False))
        with_yes = np.isin(repeated, yes)
        share = max(float(said.applies.mean()) if len(said) else 0.0, 0.01)
        return cls(
            n_pairs=len(repeated),
            n_disputed=int((with_yes & np.isin(repeated, no)).sum()),
            n_with_yes=int(with_yes.sum()),
            needed=math.ceil(_PAIRS_WITH_YES / share),
        )

    @property
    def tell(self) -> bool:
        return self.n_with_yes >= _LEAST_PAIRS_WITH_YES


def given_mistakes(classifier: Any, answers: Answers) -> NDArray[np.float64] | str | None:
    """Return given rates (2, R + 1, 1 or K), "auto" if they shall be found, or None."""
    both: dict[str, str | ArrayLike] = {
        "missed": classifier.missed,
        "invented": classifier.invented,
    }
    words = [name for name, value in both.items() if isinstance(value, str)]
    if words and any(not isinstance(value, str) or value != "auto" for value in both.values()):
        raise InputError(
            f"missed is {both['missed']!r} and invented is {both['invented']!r}; give rates, or"
            " 'auto' for both"
        )
    found: NDArray[np.float64] | str | None = "auto"
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


def first_rates(n_annotators: int) -> OneSided:
    return OneSided(np.tile(np.reshape(_FIRST, (2, 1, 1)), (1, n_annotators + 1, 1)))


def warn_of_unknown_mistakes(repeats: Repeats) -> None:
    warn_assumed(
        "missed='auto' and invented='auto', but the answers do not tell how many labels people miss"
        f" and invent: two people judged the same label of the same item {repeats.n_pairs} times."
        " The fit assumes no mistakes. Ask other people again about some pairs of an item and a"
        f" label, about {repeats.needed} of them; or give missed and invented"
    )


def likeliest_mistakes(
    choices: Choices,
    logits: NDArray[np.floating[Any]],
    log_propensities: NDArray[np.float64] | None,
    start: OneSided,
) -> OneSided:
    """Return the likeliest rates, those of unknown annotators last."""
    # ``choices`` are held-out answers, ``logits`` (n, K) predictions; log-propensities are (K,) or
    # (n, K).
    return _Search(choices, logits, log_propensities).run(start)


class _Search:
    """The search for common log-odds, effects of annotators, and shifts of the labels' logits."""

    def __init__(
        self,
        choices: Choices,
        logits: NDArray[np.floating[Any]],
        log_propensities: NDArray[np.float64] | None,
    ) -> None:
        self._choices, self._logits, self._log_w = choices, logits, log_propensities
        self._n_people = len(choices.answers.annotator_names)
        self._n_labels = logits.shape[1]
        self._spreads = np.full(2, _FIRST_SPREAD)

    def run(self, start: OneSided) -> OneSided:
        odds = special.logit(np.clip(start.rates.mean(axis=2), 1e-6, 1 - 1e-6))  # (2, R + 1)
        common, effects = odds[:, -1], odds[:, :-1] - odds[:, -1:]
        at = np.concatenate([common, effects.ravel(), np.zeros(self._n_labels)])
        for _ in range(_ROUNDS):
            found = optimize.minimize(
                self._loss, at, jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}
            )
            at = found.x
            if not self._n_people:
                break
            # A step of expectation and maximization, for a normal posterior of the effects.
            _, effects, _ = self._parts(at)
            variance = 1 / np.maximum(self._curvature(at), 1 / self._spreads[:, np.newaxis] ** 2)
            spreads = np.sqrt((effects**2 + variance).mean(axis=1))
            spreads = np.maximum(spreads, _LEAST_SPREAD)
            moved = np.abs(spreads - self._spreads).max()
            self._spreads = spreads
            if moved < _TOLERANCE_OF_SPREADS:
                break
        return OneSided(self._rates(at))

    def _parts(
        self, at: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return common log-odds (2,), effects of annotators (2, R) and shifts (K,)."""
        common, effects, shifts = np.split(at, [2, 2 + 2 * self._n_people])
        return common, effects.reshape(2, self._n_people), shifts

    def _rates(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        common, effects, _ = self._parts(at)
        of_all = np.hstack([effects, np.zeros((2, 1))]) + common[:, np.newaxis]
        return np.asarray(special.expit(of_all)[:, :, np.newaxis])

    def _loss(self, at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        common, effects, shifts = self._parts(at)
        logits = self._logits + shifts.astype(self._logits.dtype)
        value, through_rates, through_logits = self._choices.likelihood_and_gradients(
            logits, self._log_w, self._rates(at)
        )
        rates = special.expit(common)
        variances = self._spreads[:, np.newaxis] ** 2
        prior = _PRIOR_MISTAKES * np.log(rates) + _PRIOR_RIGHT * np.log1p(-rates)
        loss = -value - prior.sum() + (effects**2 / variances).sum() / 2
        loss += (shifts**2).sum() / (2 * _SPREAD_OF_SHIFTS**2)
        by_rates = through_rates.sum(axis=2)
        of_prior = (_PRIOR_MISTAKES + _PRIOR_RIGHT) * rates - _PRIOR_MISTAKES
        slopes = (
            of_prior - by_rates.sum(axis=1),
            (effects / variances - by_rates[:, :-1]).ravel(),
            shifts / _SPREAD_OF_SHIFTS**2 - through_logits.sum(axis=0, dtype=np.float64),
        )
        return float(loss), np.concatenate(slopes)

    def _curvature(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate the diagonal of the Hessian by the effects (2, R) from random directions."""
        # Hutchinson's estimator; differences of gradients along random signs.
        rng = np.random.default_rng(0)
        total = np.zeros(2 * self._n_people)
        effects = slice(2, 2 + 2 * self._n_people)
        for _ in range(_PROBES):
            signs = np.zeros(len(at))
            signs[effects] = rng.choice([-1.0, 1.0], size=2 * self._n_people)
            (_, up), (_, down) = (self._loss(at + side * _STEP * signs) for side in (1, -1))
            total += ((up - down) * signs)[effects] / (2 * _STEP)
        return (total / _PROBES).reshape(2, self._n_people)
