"""Answers of which one says that a label applies, and another that it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from complabel.errors import AnnotationError
from complabel.losses._answer_marks import is_complete, marks_of, name_of, on_offer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.annotations import Answers


def refuse_contradictions(
    answers: Answers,
    position: NDArray[np.int64],
    log_chances: NDArray[np.float64],
    *,
    mistakes: bool,
) -> None:
    """Refuse labels of which no case is possible, at positions (F,) with log-chances (2, F)."""
    absent, applies = np.isneginf(log_chances)
    impossible = absent & applies
    if not mistakes:
        # Namings are no facts, but say that the labels named do not apply...
        answer, label = marks_of(answers, "named")
        picked = answers.all_apply[answer] == "pick"
        if picked.any():  # any label is picked only where all on offer apply
            picked[picked] = ~_any_absent(answers, answer[picked], position[absent])
        named = (answers.item[answer] * answers.n_labels + label)[~picked]
        impossible |= applies & np.isin(position, named)
        # ... and complete ones that the others on offer do.
        rows = np.flatnonzero(is_complete(answers))
        row, label = np.nonzero(on_offer(answers, rows) - answers.named[rows].toarray())
        left = answers.item[rows[row]] * answers.n_labels + label
        impossible |= absent & np.isin(position, left)
    wrong = position[impossible]
    if len(wrong) == 0:
        return
    item, which = divmod(int(wrong[0]), answers.n_labels)
    advice = "" if mistakes else ", or allow for mistakes with an error rate above 0"
    raise AnnotationError(
        f"the answers about item {item} contradict each other: label {name_of(answers, which)}"
        f" both applies and does not (one of {len(wrong)} such places); correct them{advice}"
    )


def _any_absent(
    answers: Answers, rows: NDArray[np.intp], absent: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which answers (b,) offer a label at one of the positions known not to apply."""
    item, label = np.divmod(absent, answers.n_labels)
    known = sparse.csr_array((np.ones(len(item)), (item, label)), shape=answers.shape)
    found = known[answers.item[rows]].multiply(on_offer(answers, rows))
    return np.asarray(found.sum(axis=1) > 0)
