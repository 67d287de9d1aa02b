"""Conversion of exclusions to namings, for fits that do not know the exclusion rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.answers import Answers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def named_where_excluded(answers: Answers) -> Answers:
    """Return answers in which excluded labels are treated as named from those looked at.

    Labels that exclusions also mark as absent or relevant become judgements. So does an excluded
    label if the rule looked at no other label.
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
    """Return a copy of a mask (A, K) that keeps the marks of some rows only."""
    only = mask.copy()
    only.data *= np.repeat(rows, np.diff(mask.indptr))
    only.eliminate_zeros()
    return only
