"""Intervals that hold the frequency of each label, however unlike the others it is.

An interval from a prior holds the truth of 95 % of all labels, but of rare labels among frequent
ones, or frequent among rare ones, much less often. Those here are made by tests, as those of
Clopper and Pearson: a frequency is in the interval unless the number of "yes" is improbable under
it, at a level of 5 % in both tails together. The level is split between the tails by what the
*other* labels tell. So the interval holds the truth of each label at least 95 % of the time,
whatever the others are, and is shorter if labels are alike.

Source: Yu and Hoff, "Adaptive multigroup confidence intervals with constant coverage", Biometrika
2018, with the tails of the binomial instead of the normal distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from complabel.frequencies._counts import Array, Counts

_LEVEL = 0.05
# A frequency beyond these logits is reported as 0 or 1.
_MOST_LOGIT = 40.0
_HALVINGS = 60
_TINY = 1e-12
# The best share of the level for the tail of many "yes" (Yu and Hoff): it depends on how far a
# logit is below the expected one, times twice its standard error, over the variance of the labels.
_SHARES = special.expit(np.linspace(-50.0, 50.0, 2001))
_BELOW = special.ndtri(_LEVEL * _SHARES) - special.ndtri(_LEVEL * _SHARES[::-1])


@dataclass(frozen=True)
class Elsewhere:
    """What the other labels tell about the logit of each label: a normal distribution, (K,)."""

    mean: Array
    variance: Array


def assisted_intervals(counts: Counts, elsewhere: Elsewhere) -> Array:
    """Return an interval (K, 2) for the frequency of each label, of at least 95 %."""
    merged = counts.merged()  # people with mistakes of their own answer as one with mean rates
    yes, judged = merged.yes[0], merged.judged[0]
    error = np.maximum(merged.information(elsewhere.mean), _TINY) ** -0.5

    def share(logits: Array) -> Array:
        """Return the share of the level that goes to the tail of many "yes"."""
        below = 2 * error * (elsewhere.mean - logits) / elsewhere.variance
        return np.asarray(np.interp(below, _BELOW, _SHARES))

    def too_small(logits: Array) -> NDArray[np.bool_]:
        chance = merged.chance_of_yes(logits[:, np.newaxis])[0, :, 0]
        as_many = special.betainc(np.maximum(yes, _TINY), judged - yes + 1, chance)
        return np.asarray(as_many <= _LEVEL * share(logits))

    def not_too_large(logits: Array) -> NDArray[np.bool_]:
        chance = merged.chance_of_yes(logits[:, np.newaxis])[0, :, 0]
        as_few = special.betainc(np.maximum(judged - yes, _TINY), yes + 1, 1 - chance)
        return np.asarray(as_few > _LEVEL * (1 - share(logits)))

    ends = np.stack([_first_not(too_small, yes), _first_not(not_too_large, yes)], axis=1)
    frequencies = np.where(ends <= -_MOST_LOGIT + 1, 0.0, special.expit(ends))
    return np.asarray(np.where(ends >= _MOST_LOGIT - 1, 1.0, frequencies))


def _first_not(holds: Callable[[Array], NDArray[np.bool_]], like: Array) -> Array:
    """Return the logit (K,) from which on something does not hold that holds below it."""
    low, high = np.full_like(like, -_MOST_LOGIT), np.full_like(like, _MOST_LOGIT)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = holds(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
