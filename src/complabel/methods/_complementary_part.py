"""What a method that only knows freely named labels makes of answers, and what it ignores."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from complabel.annotations import IgnoredAnswersWarning, check_complementary
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.annotations import Answers
    from complabel.methods._arrays import Indicator


def complementary_part(
    answers: Answers, learner: str, *, stacklevel: int
) -> tuple[Indicator, Indicator | None, NDArray[np.bool_]]:
    """Return complementary and known relevant labels of some items, and which items these are.

    Left out are items without a complementary label and, as they leave nothing, with all.
    """
    complementary = answers.complementary
    relevant = answers.known_relevant * (1 - complementary)
    full: NDArray[np.bool_] = np.asarray(complementary.all(axis=1))
    rows: NDArray[np.bool_] = np.asarray(complementary.any(axis=1) & ~full)
    if not rows.any():
        raise AnnotationError(
            f"{learner} learns from labels that do not apply, and no answer of y names one of an"
            " item that keeps another; SelectionLikelihoodClassifier learns from other answers"
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
    """Count the answers that say of no label that it does not apply, or of all."""
    silent, full = ~_rules_out(answers), full[answers.item]
    told = told[answers.item]
    counts = (
        (silent & ~told & ~full, "say none and are ignored"),
        (silent & told, "say only what applies, which is handed on as known relevant labels"),
        (full, "are about items that keep no label and are ignored"),
    )
    return [
        f"{np.sum(which):,} of {answers.n_answers:,} answers {what}"
        for which, what in counts
        if which.any()
    ]


def _misread(answers: Answers, rows: NDArray[np.bool_]) -> list[str]:
    """Count the answers that are taken for another kind than they are."""
    used = _rules_out(answers) & rows[answers.item]
    menu = (answers.question == "named") & (answers.n_offered < answers.n_labels)
    told_no = np.isin(answers.question, ("asked", "ticked"))
    several = np.bincount(answers.item[used], minlength=answers.n_items) > 1
    counts = (
        (used & told_no, "'no' is taken as if it had been named freely of all labels"),
        (used & menu, "what was named of a menu is taken as named freely of all labels"),
        (used & (answers.question == "excluded"), "what a rule ruled out is taken as named"),
        (several, "several answers about an item are taken as one"),
    )
    return [
        f"{(n := int(which.sum())):,} time{'s' * (n > 1)} {what}"
        for which, what in counts
        if which.any()
    ]


def _rules_out(answers: Answers) -> NDArray[np.bool_]:
    """Tell which answers say of some label that it does not apply."""
    masks = (answers.named, answers.absent, answers.excluded)
    return np.asarray(np.logical_or.reduce([np.diff(mask.indptr) > 0 for mask in masks]))
