"""Conversion of answers for methods that only understand labels that were named freely."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from complabel.answers import IgnoredAnswersWarning, check_complementary
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers
    from complabel.methods._arrays import Indicator


def complementary_part(
    answers: Answers, learner: str, *, stacklevel: int
) -> tuple[Indicator, Indicator | None, NDArray[np.bool_]]:
    """Return the complementary labels of items, and warn of answers that are ignored or changed.

    Items are left out if no label is complementary, or if all labels are.

    Parameters
    ----------
    answers : Answers
    learner : str
        Name of the method, for messages.
    stacklevel : int
        As for ``warnings.warn``.

    Returns
    -------
    complementary : ndarray of shape (n_rows, K), uint8
    relevant : ndarray of shape (n_rows, K), uint8, or None
        Known relevant labels; None if there are none.
    rows : ndarray of shape (n_items,), bool
        The items that are kept.

    Raises
    ------
    AnnotationError
        If no item is left.
    """
    complementary = answers.complementary
    relevant = answers.known_relevant * (1 - complementary)
    full: NDArray[np.bool_] = np.asarray(complementary.all(axis=1))
    rows: NDArray[np.bool_] = np.asarray(complementary.any(axis=1) & ~full)
    if not rows.any():
        raise AnnotationError(
            f"{learner} learns from labels that do not apply, but y has no item for which answers"
            " rule out some labels and not all; SelectionLikelihoodClassifier learns from other"
            " answers"
        )
    check_complementary(complementary[rows], name="y")
    told: NDArray[np.bool_] = np.asarray(relevant.any(axis=1) & rows)
    ignored = _ignored(answers, full, told) + _misread(answers, rows)
    if ignored:
        warnings.warn(
            f"{learner} learns from labels that do not apply: {'; '.join(ignored)}."
            " SelectionLikelihoodClassifier understands every answer.",
            IgnoredAnswersWarning,
            stacklevel=stacklevel,
        )
    return complementary[rows], relevant[rows] if told.any() else None, rows


def _ignored(answers: Answers, full: NDArray[np.bool_], told: NDArray[np.bool_]) -> list[str]:
    """Describe, with counts, the answers about items that keep all labels or no label."""
    silent, full = ~_rules_out(answers), full[answers.item]
    told = told[answers.item]
    counts = (
        (silent & ~told & ~full, "rule out no label and are ignored"),
        (silent & told, "say only which labels apply, which are used as known relevant labels"),
        (full, "are about items for which all labels are ruled out, and are ignored"),
    )
    return [
        f"{np.sum(which):,} of {answers.n_answers:,} answers {what}"
        for which, what in counts
        if which.any()
    ]


def _misread(answers: Answers, rows: NDArray[np.bool_]) -> list[str]:
    """Describe, with counts, the answers that are treated as another kind than they are."""
    used = _rules_out(answers) & rows[answers.item]
    menu = (answers.question == "named") & (answers.n_offered < answers.n_labels)
    told_no = np.isin(answers.question, ("asked", "ticked"))
    several = np.bincount(answers.item[used], minlength=answers.n_items) > 1
    counts = (
        (used & told_no, "a label judged 'no' is treated as named freely of all labels"),
        (used & menu, "a label named from a menu is treated as named freely of all labels"),
        (used & (answers.question == "excluded"), "an excluded label is treated as named freely"),
        (several, "several answers about an item are treated as one"),
    )
    return [
        f"{(n := int(which.sum())):,} time{'s' * (n > 1)} {what}"
        for which, what in counts
        if which.any()
    ]


def _rules_out(answers: Answers) -> NDArray[np.bool_]:
    """Tell which answers (A,) say that some label does not apply."""
    masks = (answers.named, answers.absent, answers.excluded)
    return np.asarray(np.logical_or.reduce([np.diff(mask.indptr) > 0 for mask in masks]))
