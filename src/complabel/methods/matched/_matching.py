"""The searches for shifts of scores, one per label, and for one scale of all labels' scores.

The shifts give probabilities known means. They are unique (for classes, up to a constant), and both
searches find them up to rounding. The scale makes the answers likeliest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, special

from complabel.answers import Answers
from complabel.methods._arrays import Array, Indicator

# The means must match the frequencies up to this relative error.
_TOLERANCE = 1e-12
# Mostly five to eight steps are needed. Bisection alone takes about sixty.
_MOST_STEPS = 200
# The parts of Newton's step that are tried in turn.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)
# The prior of the scale's logarithm is normal with this standard deviation. Its mean is the scale
# that makes the standard deviation of scores 1.
_SPREAD = 1.0
# The scale's logarithm is searched in [-4, 4] around that mean, to an error of 0.01: a change of
# the scale by 1 %, which hardly matters.
_RANGE = 4.0
_EXACTLY = 0.01
# One number is estimated, so the likelihood of this many items is enough.
_MANY_ITEMS = 10_000
# Deviations below this share of the largest score are rounding.
_CONSTANT = 1e-12

LogLikelihood = Callable[[Array], float]
"""Returns the log-likelihood of all answers, given the logits (n, K)."""


def label_shifts(scores: Array, frequencies: Array) -> Array:
    """Return the shifts b (K,) for which sigmoid(scores + b) has the given means over the rows.

    Newton's method is applied to the log-odds of the means, because these are linear in b if
    scores are constant. If a step leaves the bracket or gains little, the bracket is halved.

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


def unit_scale(scores: Array) -> float:
    """Return one over the deviation of scores (n, K) around their labels' means; 1 if that is 0."""
    largest = float(np.abs(scores).max())
    if largest == 0:
        return 1.0
    deviation = float(np.sqrt((scores / largest).var(axis=0).mean()))
    return 1.0 if deviation < _CONSTANT else 1 / deviation / largest


def likeliest_scale(
    scores: Array, shifts_of: Callable[[Array], Array], log_likelihood: LogLikelihood | None
) -> float:
    """Return the scale a of scores (n, K) that makes the answers likeliest.

    The logits are ``a * scores + shifts_of(a * scores)``; a has a prior around ``unit_scale``.
    """
    unit = unit_scale(scores)
    if log_likelihood is None:
        return unit

    def loss(log_ratio: float) -> float:
        scaled = unit * np.exp(log_ratio) * scores
        return log_ratio**2 / (2 * _SPREAD**2) - log_likelihood(scaled + shifts_of(scaled))

    found: Any = optimize.minimize_scalar(
        loss, bounds=(-_RANGE, _RANGE), method="bounded", options={"xatol": _EXACTLY}
    )
    return float(unit * np.exp(found.x))


def evidence_of(answers: Answers, log_propensities: Array | None) -> LogLikelihood | None:
    """Return the log-likelihood of answers with independent labels; None if no answer is left."""
    # Features can predict the rules of exclusions even where they do not predict the labels. Items
    # with contradictions are mistakes in part.
    kept = _without_exclusions(answers)
    if kept is None:
        return None
    clear = kept.answered
    clear[kept.contradictions()[:, 0]] = False
    items = np.flatnonzero(clear)
    if not len(items):
        return None
    items = items[np.linspace(0, len(items) - 1, min(len(items), _MANY_ITEMS)).astype(np.intp)]
    likelihood = log_likelihood_of(kept[items], log_propensities)
    return lambda logits: float(likelihood(logits[items]).sum())


def log_likelihood_of(
    answers: Answers, log_propensities: Array | None, *, exclusion_rates: Array | None = None
) -> Callable[[Array], Array]:
    """Return the log-likelihood of the answers about each item (n,), given logits (n, K)."""
    import torch  # predictions do without it

    from complabel.losses import AnswersLikelihood

    likelihood = AnswersLikelihood(answers, exclusion_rates=exclusion_rates)
    log_w = None if log_propensities is None else torch.from_numpy(log_propensities)

    def of_items(logits: Array) -> Array:
        found = likelihood(torch.from_numpy(logits), log_propensities=log_w)
        return np.asarray(found.values.numpy())

    return of_items


def log_chances_of_classes(logits: Array, marks: Indicator, *, applies: bool) -> Array:
    """Return the log-probability (n,) that a row's marked class applies, or does not apply."""
    impossible = (marks == 0) if applies else (marks != 0)
    log_p = np.where(impossible, -np.inf, special.log_softmax(logits, axis=1))
    return np.asarray(special.logsumexp(log_p, axis=1))


def _without_exclusions(answers: Answers) -> Answers | None:
    rows = np.flatnonzero(answers.question != "excluded")
    if len(rows) in (0, answers.n_answers):
        return answers if len(rows) else None
    masks = ("named", "absent", "relevant", "offered")
    columns = ("question", "item", "asked_for", "all_apply")
    parts: dict[str, Any] = {name: getattr(answers, name)[rows] for name in (*masks, *columns)}
    return Answers.from_arrays(**parts, n_items=answers.n_items)
