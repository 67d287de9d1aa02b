"""One scale for the scores of all labels: the one under which what was answered is likeliest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import optimize, special
from torch import Tensor

from complabel.annotations import Answers
from complabel.losses import AnswersLikelihood

if TYPE_CHECKING:
    from complabel.methods._arrays import Array, Indicator

# The logarithm of the scale is normal a priori, around that of scores with a standard deviation of
# one. It is searched within so many standard deviations, as exactly as it can matter.
_SPREAD = 1.0
_RANGE = 4.0
_EXACTLY = 0.01
# The likelihood of so many items is enough for one number.
_MANY_ITEMS = 10_000
# Relative to the largest score; smaller deviations are rounding.
_CONSTANT = 1e-12

LogLikelihood = Callable[["Array"], float]
"""Of all that was answered, given the logits (n, K)."""


def unit_scale(scores: Array) -> float:
    """Return one over the standard deviation of scores (n, K) around their labels' means, or 1.

    Shifts of labels do not change it. It is 1 where scores are constant.
    """
    largest = float(np.abs(scores).max())
    if largest == 0:
        return 1.0
    deviation = float(np.sqrt((scores / largest).var(axis=0).mean()))
    return 1.0 if deviation < _CONSTANT else 1 / deviation / largest


def likeliest_scale(
    scores: Array, shifts_of: Callable[[Array], Array], log_likelihood: LogLikelihood | None
) -> float:
    """Return the scale a of scores (n, K) for which ``a * scores + shifts_of(a * scores)`` is best.

    That has the largest log-likelihood, plus the prior's, which decides where nothing else does.
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


def evidence_of(answers: Answers, log_propensities: Tensor | None) -> LogLikelihood | None:
    """Return the log-likelihood of answers under independent labels, None if they say nothing.

    Left out is what depends on more than logits: exclusions, which features predict beside the
    labels, and answers about items on which people contradict each other.
    """
    kept = _without_exclusions(answers)
    if kept is None:
        return None
    clear = kept.answered
    clear[kept.contradictions()[:, 0]] = False
    items = np.flatnonzero(clear)
    if not len(items):
        return None
    items = items[np.linspace(0, len(items) - 1, min(len(items), _MANY_ITEMS)).astype(np.intp)]
    likelihood = AnswersLikelihood(kept[items])

    def log_likelihood(logits: Array) -> float:
        found = likelihood(torch.from_numpy(logits[items]), log_propensities=log_propensities)
        return float(found.values.sum())

    return log_likelihood


def evidence_of_classes(marks: Indicator, *, applies: bool) -> LogLikelihood:
    """Return the log-likelihood of one mark a row (n, K), where exactly one class applies."""

    def log_likelihood(logits: Array) -> float:
        return float(log_chances_of_classes(logits, marks, applies=applies).sum())

    return log_likelihood


def log_chances_of_classes(logits: Array, marks: Indicator, *, applies: bool) -> Array:
    """Return the log-probability (n,) that the class marked in a row applies, or does not."""
    impossible = (marks == 0) if applies else (marks != 0)
    log_p = np.where(impossible, -np.inf, special.log_softmax(logits, axis=1))
    return np.asarray(special.logsumexp(log_p, axis=1))


def _without_exclusions(answers: Answers) -> Answers | None:
    """Return the answers that are no exclusions, None if there are no others."""
    rows = np.flatnonzero(answers.question != "excluded")
    if len(rows) in (0, answers.n_answers):
        return answers if len(rows) else None
    masks = ("named", "absent", "relevant", "offered")
    columns = ("question", "item", "asked_for", "all_apply")
    parts: dict[str, Any] = {name: getattr(answers, name)[rows] for name in (*masks, *columns)}
    return Answers.from_arrays(**parts, n_items=answers.n_items)
