"""Thresholds that keep a named precision or recall: learn, then test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Array: TypeAlias = NDArray[np.float64]

# Each threshold that is tested predicts at least this many times as many pairs as the one before.
_STEP = 1.1
# A label is tested alone if this is the chance of a promise, should its probabilities be right.
_LIKELY = 0.5
# A threshold lies this far below the least score that it must hold, in case scores are rounded.
_BELOW = 1 - 1e-6
LOWEST, HIGHEST = np.nextafter(0, 1), np.nextafter(1, 0)
"""Thresholds at which all labels are predicted, and none (unless a probability is 0 or 1)."""


@dataclass(frozen=True)
class Judged:
    """J judgements of pairs with a score, from the highest score to the lowest; arrays are (J,)."""

    score: Array
    applies: Array  # 0 or 1
    weight: Array
    group: NDArray[np.intp]  # judgements of one group may err together

    @classmethod
    def sorted(cls, score: Array, applies: Array, weight: Array, group: NDArray[np.intp]) -> Judged:
        order = np.argsort(-score, kind="stable")
        return cls(score[order], applies[order], weight[order], group[order])

    def __len__(self) -> int:
        return len(self.score)

    def only(self, which: NDArray[np.bool_]) -> Judged:
        return Judged(self.score[which], self.applies[which], self.weight[which], self.group[which])


def ends_of(scores: Array) -> NDArray[np.intp]:
    """Return after how many of scores (J,), which descend, a lower one comes, or none."""
    return np.flatnonzero(np.diff(scores, append=-1.0)) + 1


def threshold_after(scores: Array, number: int) -> float:
    """Return the threshold between the first ``number`` of scores and the next; they descend."""
    before = scores[number - 1] if number else 1.0
    after = scores[number] if number < len(scores) else 0.0
    return float(np.clip((before + after) / 2, LOWEST, HIGHEST))


def for_precision(judged: Judged, least: float, error: float) -> float | None:
    """Return the lowest threshold found whose precision is at least ``least``, or None.

    Thresholds are tested one after the other, from a high one down to the first one that fails, so
    each may have the full chance of an ``error`` (fixed-sequence testing). If the probabilities
    are right, the first one is the one that is most likely to pass. It is chosen by scores alone.
    """
    tested, power = _expected_power(judged, least, error)
    if not len(tested):
        return None
    weight, residual = judged.weight, judged.applies - least
    total = np.cumsum(weight)
    share = np.cumsum(weight * judged.applies) / total
    spread = np.cumsum(weight * residual**2)
    clustered = _squared_sums(weight * residual, judged.group)
    at_most = total / np.maximum.accumulate(weight)
    passed = _chances(share, np.minimum(spread * total / clustered, at_most), least) <= error
    last = _last_of_first(passed[tested - 1], start=int(np.argmax(power)))
    return None if last is None else threshold_after(judged.score, int(tested[last]))


def is_within_reach(judged: Judged, of: str, least: float, error: float) -> bool:
    """Tell whether so many judgements can be enough, without a look at whether a test passes."""
    if of == "recall":
        return bool(judged.applies.sum() >= smallest_number(least, error))
    return bool(_expected_power(judged, least, error)[1].max(initial=0) >= _LIKELY)


def _expected_power(judged: Judged, least: float, error: float) -> tuple[NDArray[np.intp], Array]:
    """Return numbers of judgements to test, and how likely they pass if scores are chances."""
    ends = ends_of(judged.score)
    tested = ends[list(_steps(ends, smallest_number(least, error)))]
    expected = (np.cumsum(judged.score) / np.arange(1, len(judged) + 1))[tested - 1]
    needed = stats.binom.isf(error, tested, least) + 1
    return tested, np.asarray(stats.binom.sf(needed - 1, tested, expected))


def for_recall(judged: Judged, least: float, error: float) -> float | None:
    """Return the highest threshold whose recall is at least ``least``, or None.

    Recall falls as the threshold rises. So thresholds are tested from the lowest one up to the
    first one that fails.
    """
    largest = judged.weight.max(initial=0)
    judged = judged.only(judged.applies > 0)
    if not len(judged):
        return None
    weight = judged.weight
    inside, total, of_group = np.cumsum(weight), weight.sum(), _sums(weight, judged.group)
    spread = (1 - least) ** 2 * inside + least**2 * (total - inside)
    # The sum over groups of squares, of their part above the threshold minus least times the whole.
    clustered = (
        _squared_sums(weight, judged.group)
        - 2 * least * np.cumsum(weight * of_group)
        + least**2 * (weight * of_group).sum()
    )
    number = np.minimum(spread * total / clustered, total / largest)
    passed = _chances(inside / total, number, least) <= error
    ends = ends_of(judged.score)[::-1]
    last = _last_of_first(passed[ends - 1], start=0)
    return None if last is None else max(LOWEST, float(judged.score[ends[last] - 1]) * _BELOW)


def smallest_number(least: float, error: float) -> int:
    """Return from how many judgements on a share of ``least`` can be shown, if all say yes."""
    return int(np.ceil(np.log(error) / np.log(least) - 1e-9))


def _steps(ends: NDArray[np.intp], smallest: int) -> Iterator[int]:
    """Yield places in ``ends`` from the smallest number on, in steps."""
    wanted = float(smallest)
    for place, number in enumerate(ends):
        if number >= wanted:
            yield place
            wanted = number * _STEP


def _last_of_first(passed: NDArray[np.bool_], *, start: int) -> int | None:
    """Return the last place from ``start`` on before the first that did not pass."""
    failed = np.flatnonzero(~passed[start:])
    length = failed[0] if len(failed) else len(passed) - start
    return start + int(length) - 1 if length else None


def _chances(share: Array, number: Array, least: float) -> Array:
    """Return the chance of such a share or a higher one, if the true one is at most ``least``.

    It is that of the binomial distribution, for numbers that need not be whole. With equal weights
    and one judgement in each group it is exact. Else the effective number of judgements is that
    with the same variance of the weighted share under the hypothesis (Korn and Graubard 1998). It
    is at most what is left if each judgement is kept with a chance in proportion to its weight,
    since a single judgement of large weight tells little.
    """
    yes = share * number
    with np.errstate(invalid="ignore"):
        found = special.betainc(yes, np.maximum(number - yes, 0) + 1, least)
    return np.asarray(np.where(yes > 0, found, 1.0))


def _sums(values: Array, group: NDArray[np.intp]) -> Array:
    """Return for each value (J,) the sum of its group."""
    _, place = np.unique(group, return_inverse=True)
    return np.asarray(np.bincount(place, weights=values)[place], dtype=np.float64)


def _squared_sums(values: Array, group: NDArray[np.intp]) -> Array:
    """Return at each place (J,) the sum over groups of the squared sum of their values so far."""
    order = np.argsort(group, kind="stable")
    sums = np.cumsum(values[order])
    new = np.diff(group[order], prepend=-1) != 0
    before = np.where(new, sums - values[order], 0.0)
    first = np.maximum.accumulate(np.where(new, np.arange(len(sums)), 0))
    running = sums - before[first]
    gained = np.empty_like(values)
    gained[order] = running**2 - (running - values[order]) ** 2
    return np.cumsum(gained)
