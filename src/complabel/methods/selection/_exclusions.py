"""Labels that were excluded, by a rule, a report, or people who do not judge everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.annotations import Answers
from complabel.methods.frequencies._counts import judged_at_random

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["exclusion_rates_from", "judged_at_random", "named_where_excluded"]

# Answers that the pooled share of "yes" counts as much as, and rates that no sample can exclude.
_PRIOR_ANSWERS = 2.0
_RATES = (1e-3, 1 - 1e-3)


def exclusion_rates_from(answers: Answers) -> NDArray[np.float64]:
    """Return how often labels that do not apply are excluded (K,), by what random answers say.

    The share of items for which a label is excluded is e_k (1 - pi_k). How often it applies, pi_k,
    is its share of "yes", drawn towards that of all labels with the weight of two answers.
    """
    rules, judged = answers.question == "excluded", judged_at_random(answers)
    excluded, yes, no = (
        np.asarray(mask[rows].sum(axis=0), dtype=np.float64)
        for mask, rows in (
            (answers.excluded, rules),
            (answers.relevant, judged),
            (answers.absent, judged),
        )
    )
    pooled = (yes.sum() + 1) / (yes.sum() + no.sum() + 2)
    frequency = (yes + _PRIOR_ANSWERS * pooled) / (yes + no + _PRIOR_ANSWERS)
    listed = answers.offered[rules]
    everything = int((np.diff(listed.indptr) == 0).sum())
    looked_at = np.asarray(listed.sum(axis=0), dtype=np.float64) + everything
    share = excluded / np.maximum(looked_at, 1)
    return np.asarray(np.clip(share / (1 - frequency), *_RATES))


def named_where_excluded(answers: Answers) -> Answers:
    """Return answers with labels that were excluded taken as named of those looked at.

    What is known besides is taken as judged, and so is a label that a rule looks at alone.
    """
    rules = answers.question == "excluded"
    if not rules.any():
        return answers
    marked = np.diff(answers.excluded.indptr)
    named = rules & (marked > 0) & (answers.n_offered > 1)
    kept = ~rules | named
    names = np.array([*answers.annotator_names, None], dtype=object)
    about: dict[str, Any] = {"n_items": answers.n_items, "label_names": answers.label_names}
    taken = Answers.from_arrays(
        named=(answers.named + _only(named, answers.excluded))[kept],
        absent=_only(~rules, answers.absent)[kept],
        relevant=_only(~rules, answers.relevant)[kept],
        offered=answers.offered[kept],
        question=np.where(rules, "named", answers.question)[kept],
        item=answers.item[kept],
        annotator=names[answers.annotator[kept]],
        asked_for=np.where(rules, marked, answers.asked_for)[kept],
        probability=answers.probability[kept],
        all_apply=np.where(rules, "never", answers.all_apply)[kept],
        **about,
    )
    absent = _only(rules, answers.absent).maximum(_only(rules & ~named, answers.excluded))
    relevant = _only(rules, answers.relevant)
    facts = np.flatnonzero(np.diff((absent + relevant).indptr))
    if not len(facts):
        return taken
    judged = Answers.from_arrays(
        absent=absent[facts],
        relevant=relevant[facts],
        question="asked",
        item=answers.item[facts],
        annotator=names[answers.annotator[facts]],
        **about,
    )
    return Answers.concatenate([taken, judged])


def _only(rows: NDArray[np.bool_], mask: Any) -> Any:
    """Return a mask (A, K) with the marks of some rows alone."""
    only = mask.copy()
    only.data *= np.repeat(rows, np.diff(mask.indptr))
    only.eliminate_zeros()
    return only
