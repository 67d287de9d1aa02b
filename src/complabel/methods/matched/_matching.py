"""Shifts of scores by which probabilities have given means: one per label, found for all at once.

Both searches end within rounding of the solution, which is unique (of classes, up to a constant).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from complabel.methods._arrays import Array

# Of the frequencies, relatively. Steps are mostly five to eight; bisection takes some sixty.
_TOLERANCE = 1e-12
_MOST_STEPS = 200
# Of Newton's step, to try in turn.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)


def label_shifts(scores: Array, frequencies: Array, *, tolerance: float = _TOLERANCE) -> Array:
    """Return b (K,) such that sigmoid(scores + b) has these means over the rows of scores (n, K).

    Newton's method on the log-odds of the means, which are linear in b where scores are constant.
    Where a step leaves the bracket or gains little, the bracket is halved instead.

    Examples
    --------
    >>> scores = np.array([[0.0, 5.0], [2.0, 5.0]])
    >>> b = label_shifts(scores, np.array([0.5, 0.2]))
    >>> b
    array([-1.        , -6.38629436])
    >>> special.expit(scores + b).mean(axis=0)
    array([0.5, 0.2])
    """
    target = special.logit(frequencies)
    low, high = target - scores.max(axis=0), target - scores.min(axis=0)
    shifts = np.clip(target - scores.mean(axis=0), low, high)
    before = np.full(len(target), np.inf)
    for _ in range(_MOST_STEPS):
        p = special.expit(scores + shifts)
        mean = p.mean(axis=0)
        excess = mean - frequencies
        if np.all(np.abs(excess) <= tolerance * frequencies):
            break
        low, high = np.where(excess < 0, shifts, low), np.where(excess > 0, shifts, high)
        # Far scores leave means and slopes of 0, and no step to take.
        with np.errstate(all="ignore"):
            slope = (p * (1 - p)).mean(axis=0) / (mean * (1 - mean))
            newton = shifts - (special.logit(mean) - target) / slope
        useful = (low < newton) & (newton < high) & (np.abs(excess) < before / 2)
        moved = np.where(useful, newton, low + (high - low) / 2)
        shifts = np.where(np.abs(excess) <= tolerance * frequencies, shifts, moved)
        before = np.abs(excess)
    return np.asarray(shifts)


def class_shifts(scores: Array, frequencies: Array, *, tolerance: float = _TOLERANCE) -> Array:
    """Return b (K,) of mean 0 such that softmax(scores + b) has these means over rows (n, K).

    b minimizes the mean of logsumexp(scores + b) minus frequencies @ b, which is convex: Newton's
    method with halved steps. Where these lead nowhere, one class after the other is matched, as a
    label is.
    """
    shifts = np.log(frequencies) - scores.mean(axis=0)
    p, value = _softmax(scores, frequencies, shifts)
    for _ in range(_MOST_STEPS):
        gap = frequencies - p.mean(axis=0)
        if np.all(np.abs(gap) <= tolerance * frequencies):
            break
        # All shifts alike change nothing: the last term makes that direction regular.
        hessian = np.diag(p.mean(axis=0)) - p.T @ p / len(p) + 1 / len(gap) ** 2
        step = np.linalg.lstsq(hessian, gap, rcond=None)[0]
        for part in _PARTS:
            there = shifts + part * step
            p_there, value_there = _softmax(scores, frequencies, there)
            if value_there < value - 0.1 * part * (gap @ step):
                break
        else:
            there = _each_matched(scores, frequencies, shifts, tolerance=tolerance)
            p_there, value_there = _softmax(scores, frequencies, there)
        shifts, p, value = there, p_there, value_there
    return np.asarray(shifts - shifts.mean())


def _each_matched(scores: Array, frequencies: Array, shifts: Array, *, tolerance: float) -> Array:
    """Return shifts after a round in which each class is matched while the others stay."""
    shifts = shifts.copy()
    for k in range(len(shifts)):
        others = np.delete(np.arange(len(shifts)), k)
        rest = special.logsumexp(scores[:, others] + shifts[others], axis=1)
        against = (scores[:, k] - rest)[:, np.newaxis]
        shifts[k] = label_shifts(against, frequencies[[k]], tolerance=tolerance)[0]
    return shifts


def _softmax(scores: Array, frequencies: Array, shifts: Array) -> tuple[Array, float]:
    """Return the probabilities (n, K) and what they minimize."""
    logits = scores + shifts
    total = special.logsumexp(logits, axis=1, keepdims=True)
    return np.exp(logits - total), float(total.mean() - frequencies @ shifts)
