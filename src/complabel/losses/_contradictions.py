"""The check for contradictions: one answer says that a label applies, another that it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from complabel.errors import AnnotationError
from complabel.losses._answer_marks import is_complete, marks_of, name_of, on_offer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers


def refuse_contradictions(
    answers: Answers,
    position: NDArray[np.int64],
    log_chances: NDArray[np.float64],
    *,
    mistakes: bool,
) -> None:
    """Refuse answers after which a label can neither apply nor not apply.

    Parameters
    ----------
    answers : Answers
    position : ndarray of shape (F,), int64
        Places that the facts are about: item times K plus label.
    log_chances : ndarray of shape (2, F), float64
        Log-probabilities of the facts if the label applies, and if it does not.
    mistakes : bool
        Whether answers may be mistakes. Then namings prove nothing.

    Raises
    ------
    AnnotationError
        If a label is left without a possible case; the message names the first such place.
    """
    absent, applies = np.isneginf(log_chances)
    impossible = absent & applies
    if not mistakes:
        # A naming says that the named labels do not apply ...
        answer, label = marks_of(answers, "named")
        picked = answers.all_apply[answer] == "pick"
        if picked.any():  # if all labels on offer apply, any one may have been picked
            picked[picked] = ~_any_absent(answers, answer[picked], position[absent])
        named = (answers.item[answer] * answers.n_labels + label)[~picked]
        impossible |= applies & np.isin(position, named)
        # ... and a complete naming says that all other labels on offer apply.
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
        f"the answers about item {item} contradict each other: some say that label"
        f" {name_of(answers, which)} applies, others that it does not (one of {len(wrong)} such"
        f" places); correct the answers{advice}"
    )


def _any_absent(
    answers: Answers, rows: NDArray[np.intp], absent: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which of b answers offer a label that is known not to apply (positions ``absent``)."""
    item, label = np.divmod(absent, answers.n_labels)
    known = sparse.csr_array((np.ones(len(item)), (item, label)), shape=answers.shape)
    found = known[answers.item[rows]].multiply(on_offer(answers, rows))
    return np.asarray(found.sum(axis=1) > 0)
