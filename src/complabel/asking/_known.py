"""Estimate how often labels apply, or say why the answers do not allow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from complabel.asking._inspection import Knowledge
from complabel.asking._statements import exhausted
from complabel.errors import InputError
from complabel.frequencies import (
    LabelFrequencies,
    estimate_label_frequencies,
    judged_at_random,
    rates_of_exclusion,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers
    from complabel.asking._statements import Statements

# An estimate from named labels takes minutes with more labels, or with more menu entries.
_MOST_LABELS = 200
_MOST_CELLS = 200_000
# Menus alone give frequencies only through answers that say that all labels of a menu apply.
_LEAST_ALL_APPLY = 50
# Relative standard error. A worse estimate from menus alone depends mostly on the prior.
_MOST_ERROR = 0.2


@dataclass(frozen=True)
class Known:
    """What is known about label frequencies; arrays are (K,)."""

    summary: Knowledge
    at_least: NDArray[np.float64]
    at_most: NDArray[np.float64]
    frequencies: LabelFrequencies | None  # from all answers that can be used
    audit: LabelFrequencies | None  # from random judgements only
    exclusion_rates: NDArray[np.float64] | None


def what_is_known(statements: Statements) -> Known:
    """Estimate how often labels apply, or say why this is not possible."""
    answers = statements.answers
    at_random = judged_at_random(answers)
    judged = np.isin(answers.question, ("asked", "ticked"))
    n_items = max(answers.n_items, 1)
    at_least, denied = (
        np.bincount(pairs % answers.n_labels, minlength=answers.n_labels) / n_items
        for pairs in (statements.affirmed, statements.denied)
    )
    audit = estimate_label_frequencies(answers.only(at_random)) if at_random.any() else None
    found, reason = _estimate(answers, audit)
    rates = None
    if found is not None:
        rates = rates_of_exclusion(answers, np.minimum(found.values, 1 - 1e-6))
    summary = Knowledge(
        known=found is not None,
        reason=reason,
        n_random=int(at_random.sum()),
        n_not_random=int((judged & ~at_random).sum()),
        at_least=float(at_least.sum()),
        at_most=float((1 - denied).sum()),
        cardinality=None if found is None else found.cardinality,
        error=None if found is None else found.cardinality_error,
        spread=None if found is None or found.propensities is None else found.spread,
    )
    return Known(summary, at_least, 1 - denied, found, audit, rates)


def _estimate(
    answers: Answers, audit: LabelFrequencies | None
) -> tuple[LabelFrequencies | None, str]:
    """Return the best estimate that takes only seconds, and what it is based on."""
    judged = "" if audit is None else f"{audit.n_audit:,} random judgements"
    named = answers.question == "named"
    if not named.any() and audit is not None:
        return audit, judged
    if not named.any():
        return None, "nothing was judged at random"
    if answers.n_labels > _MOST_LABELS:
        if audit is not None:
            return audit, f"{judged}; with {answers.n_labels:,} labels, named ones are not used"
        return None, "nothing was judged at random"
    used, sample = _sampled(answers)
    if audit is None and np.count_nonzero(exhausted(used)) < _LEAST_ALL_APPLY:
        return None, "nothing was judged at random, and few said that all labels of a menu apply"
    try:
        found = estimate_label_frequencies(used)
    except InputError:
        return None, "the answers to random questions do not tell"
    if audit is None and found.cardinality_error > _MOST_ERROR * found.cardinality:
        return None, f"nothing was judged at random, and the menus{sample} tell too little"
    if found.propensities is None:
        return found, judged
    return found, " and ".join(filter(None, [judged, f"labels named{sample}"]))


def _sampled(answers: Answers) -> tuple[Answers, str]:
    """Return answers with few enough menus for seconds of work, and words for the reduction."""
    n_named = np.diff(answers.named.indptr)
    slow = (answers.question == "named") & (
        (answers.n_offered < answers.n_labels) | (answers.asked_for != 1) | (n_named != 1)
    )
    rows, most = np.flatnonzero(slow), _MOST_CELLS // answers.n_labels
    if len(rows) <= most:
        return answers, ""
    drawn = np.random.default_rng(0).choice(rows, most, replace=False)
    slow[drawn] = False
    return answers.only(~slow), f" (a random {most:,} of {len(rows):,} menus)"
