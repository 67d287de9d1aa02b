"""Shifts of scores with which labels, or classes, have given frequencies on average."""

from __future__ import annotations

import numpy as np
from scipy import special

from complabel._parameters import Array

# The means must match the frequencies up to this relative error.
_TOLERANCE = 1e-12
# Mostly five to eight steps are needed. Bisection alone takes about sixty.
_MOST_STEPS = 200
# The parts of Newton's step that are tried in turn.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)


def label_shifts(scores: Array, frequencies: Array) -> Array:
    """Return the shifts b (K,) for which sigmoid(scores + b) has the given means over the rows.

    Newton's method is applied to the log-odds of the means, because these are linear in b if
    scores are constant. If a step leaves the bracket or gains little, the bracket is halved.
    """
    target = special.logit(frequencies)
    low, high = target - scores.max(axis=0), target - scores.min(axis=0)
    shifts = np.clip(target - scores.mean(axis=0), low, high)
    before = np.full(len(target), np.inf)
    for _ in range(_MOST_STEPS):
        p = special.expit(scores + shifts)
        mean = p.mean(axis=0)
        excess = mean - frequencies
        matched = np.abs(excess) <= _TOLERANCE * frequencies
        if matched.all():
            break
        low, high = np.where(excess < 0, shifts, low), np.where(excess > 0, shifts, high)
        # If means and slopes underflow to 0, newton is not finite, and the bracket is halved.
        with np.errstate(all="ignore"):
            slope = (p * (1 - p)).mean(axis=0) / (mean * (1 - mean))
            newton = shifts - (special.logit(mean) - target) / slope
        useful = (low < newton) & (newton < high) & (np.abs(excess) < before / 2)
        moved = np.where(useful, newton, low + (high - low) / 2)
        shifts = np.where(matched, shifts, moved)
        before = np.abs(excess)
    return np.asarray(shifts)


def class_shifts(scores: Array, frequencies: Array) -> Array:
    """Return the shifts b, of mean 0, for which softmax(scores + b) has the given means.

    They minimize a convex function, the mean of logsumexp(scores + b) minus frequencies @ b, by
    Newton's method. If no part of a step gains enough, each class is matched like a label.
    """
    shifts = np.log(frequencies) - scores.mean(axis=0)
    p, value = _softmax(scores, frequencies, shifts)
    for _ in range(_MOST_STEPS):
        gap = frequencies - p.mean(axis=0)
        if np.all(np.abs(gap) <= _TOLERANCE * frequencies):
            break
        # A constant added to all shifts changes nothing, so the Hessian is singular. The last term
        # makes it regular.
        hessian = np.diag(p.mean(axis=0)) - p.T @ p / len(p) + 1 / len(gap) ** 2
        step = np.linalg.lstsq(hessian, gap, rcond=None)[0]
        for part in _PARTS:
            there = shifts + part * step
            p_there, value_there = _softmax(scores, frequencies, there)
            if value_there < value - 0.1 * part * (gap @ step):
                break
        else:
            there = _each_matched(scores, frequencies, shifts)
            p_there, value_there = _softmax(scores, frequencies, there)
        shifts, p, value = there, p_there, value_there
    return np.asarray(shifts - shifts.mean())


def _each_matched(scores: Array, frequencies: Array, shifts: Array) -> Array:
    """Match each class once, while the others stay, and return the new shifts."""
    shifts = shifts.copy()
    for k in range(len(shifts)):
        others = np.delete(np.arange(len(shifts)), k)
        rest = special.logsumexp(scores[:, others] + shifts[others], axis=1)
        against = (scores[:, k] - rest)[:, np.newaxis]
        shifts[k] = label_shifts(against, frequencies[[k]])[0]
    return shifts


def _softmax(scores: Array, frequencies: Array, shifts: Array) -> tuple[Array, float]:
    logits = scores + shifts
    total = special.logsumexp(logits, axis=1, keepdims=True)
    return np.exp(logits - total), float(total.mean() - frequencies @ shifts)
