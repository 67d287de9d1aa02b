"""From scores to predicted labels: the meaning of ``threshold``, ``cut`` and thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from complabel._parameters import AnyArray, Array, check_array
from complabel.errors import InputError

THRESHOLDS = ("probability", "minmax")


def labels_above(log_odds: Array, *, threshold: str, cut: float) -> NDArray[np.int64]:
    """Return an indicator (n, K) of the labels whose probability f exceeds the cut.

    Log-odds (n, K) still tell probabilities near 1 apart, which f itself cannot. ``"minmax"``
    scales f in each row to [0, 1] first, unless all are equal.

    >>> log_odds = np.array([[-3.0, -2.5, -1.0]])
    >>> labels_above(log_odds, threshold="probability", cut=0.5)
    array([[0, 0, 0]])
    >>> labels_above(log_odds, threshold="minmax", cut=0.5)
    array([[0, 0, 1]])
    """
    flat = float(special.logit(cut))
    if threshold == "probability":
        return (log_odds > flat).astype(np.int64)
    return (log_odds > _row_cuts(log_odds, cut, flat)).astype(np.int64)


def _row_cuts(log_odds: Array, cut: float, flat: float) -> Array:
    """Return the log-odds (n, 1) of the point at share ``cut`` from a row's least f to its most."""
    lowest = log_odds.min(axis=1, keepdims=True)
    highest = log_odds.max(axis=1, keepdims=True)
    low, high = np.log1p(-cut), np.log(cut)
    # Computed as log p and log(1 - p): a float64 score near 1 has no digits left. The smaller
    # term of a sum may underflow, which does not change the sum.
    with np.errstate(under="ignore", invalid="ignore"):
        log_point, log_complement = (
            np.logaddexp(
                low + special.log_expit(sign * lowest), high + special.log_expit(sign * highest)
            )
            for sign in (1, -1)
        )
        return np.where(lowest == highest, flat, log_point - log_complement)


def check_thresholds(
    values: Mapping[Any, float] | ArrayLike, labels: AnyArray, now: ArrayLike
) -> Array:
    """Return a threshold for each of the labels (K,), or refuse values; ``now`` is (K,) or one."""
    names = labels.tolist()
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in names]
        if unknown:
            raise InputError(f"there is no label {unknown[0]!r}; the labels are {names!s:.200}")
        known = zip(names, np.broadcast_to(now, len(names)), strict=True)
        values = [values.get(name, kept) for name, kept in known]
    axes = ("label",) if np.ndim(values) else ()
    thresholds = check_array("thresholds", values, *axes)
    if axes and len(thresholds) != len(names):
        raise InputError(
            f"there are {len(thresholds)} thresholds for {len(names)} labels; give as many"
        )
    thresholds = np.array(np.broadcast_to(thresholds, len(names)))
    wrong = (thresholds <= 0) | (thresholds >= 1)
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(
            f"the threshold of label {names[at]!r} is {thresholds[at]:g}; give one between 0 and 1"
        )
    return thresholds


class ScoresAroundHalf:
    """For classifiers whose scores are f - 1/2."""

    def _log_odds(self, decision: Array) -> Array:
        with np.errstate(divide="ignore"):  # exact in sign near 0
            return np.asarray(2 * np.arctanh(2 * decision))

    def _relevance(self, decision: Array) -> Array:
        return decision + 0.5


class RegressionScores:
    """For classifiers whose scores are those of a regression, and 0 at the cut."""

    def _log_odds(self, decision: Array) -> Array:
        # The slope of f is 1 at the cut. Clipping scores + 0.5 would lose the order outside.
        return 4 * decision
