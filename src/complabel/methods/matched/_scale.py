"""The search for one scale of all labels' scores: the scale that makes the answers likeliest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from complabel.answers import Answers

if TYPE_CHECKING:
    from complabel.methods._arrays import Array, Indicator

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

LogLikelihood = Callable[["Array"], float]
"""Returns the log-likelihood of all answers, given the logits (n, K)."""


def unit_scale(scores: Array) -> float:
    """Return one over the standard deviation of scores (n, K) around their labels' means.

    The result is 1 if the scores of each label are constant.
    """
    largest = float(np.abs(scores).max())
    if largest == 0:
        return 1.0
    deviation = float(np.sqrt((scores / largest).var(axis=0).mean()))
    return 1.0 if deviation < _CONSTANT else 1 / deviation / largest


def likeliest_scale(
    scores: Array, shifts_of: Callable[[Array], Array], log_likelihood: LogLikelihood | None
) -> float:
    """Return the scale a of scores (n, K) that makes the answers likeliest.

    It maximizes the log-likelihood of the logits ``a * scores + shifts_of(a * scores)`` plus the
    log of the prior. Without a likelihood, it is the scale of ``unit_scale``.
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
    """Return the log-likelihood of answers with independent labels; None if no answer is left.

    Two kinds of answers are left out. Exclusions follow rules, which features can predict even
    where they do not predict the labels. And answers about items with contradictions are mistakes
    in part.
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


def evidence_of_classes(marks: Indicator, *, applies: bool) -> LogLikelihood:
    """Return the log-likelihood of marks (n, K), if exactly one class applies to each row."""

    def log_likelihood(logits: Array) -> float:
        return float(log_chances_of_classes(logits, marks, applies=applies).sum())

    return log_likelihood


def log_chances_of_classes(logits: Array, marks: Indicator, *, applies: bool) -> Array:
    """Return the log-probability (n,) that a row's marked class applies, or does not apply."""
    impossible = (marks == 0) if applies else (marks != 0)
    log_p = np.where(impossible, -np.inf, special.log_softmax(logits, axis=1))
    return np.asarray(special.logsumexp(log_p, axis=1))


def _without_exclusions(answers: Answers) -> Answers | None:
    """Return the answers without exclusions; None if all are exclusions."""
    rows = np.flatnonzero(answers.question != "excluded")
    if len(rows) in (0, answers.n_answers):
        return answers if len(rows) else None
    masks = ("named", "absent", "relevant", "offered")
    columns = ("question", "item", "asked_for", "all_apply")
    parts: dict[str, Any] = {name: getattr(answers, name)[rows] for name in (*masks, *columns)}
    return Answers.from_arrays(**parts, n_items=answers.n_items)
