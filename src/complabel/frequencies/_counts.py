"""What answers count for how often labels apply: random judgements, and labels named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from complabel.annotations import Answers

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[np.float64]"
"""Numbers in double precision."""


def judged_at_random(answers: Answers) -> NDArray[np.bool_]:
    """Tell which answers judge labels that were drawn at random, (A,)."""
    judged = np.isin(answers.question, ("asked", "ticked"))
    # Who judges all labels leaves none out, and so chooses none.
    everything = (answers.question == "ticked") & (answers.n_offered == answers.n_labels)
    return np.asarray(judged & (everything | ~np.isnan(answers.probability)))


def named_at_random(answers: Answers) -> NDArray[np.bool_]:
    """Tell which answers name labels out of all, or out of a menu drawn at random, (A,)."""
    everything = answers.n_offered == answers.n_labels
    return np.asarray((answers.question == "named") & (everything | ~np.isnan(answers.probability)))


@dataclass(frozen=True)
class Audit:
    """Random judgements, each of one label of one item; arrays are (J,).

    ``weight`` is the inverse of the probability with which a label was asked about, scaled within
    questions of one form about one label so that weights sum to Kish's effective number: to the
    number of judgements where all are equally likely.
    """

    item: NDArray[np.intp]
    label: NDArray[np.intp]
    applies: NDArray[np.bool_]
    weight: Array
    pooled: float  # how often labels apply, of all judgements
    n_pooled: float  # how many judgements stand behind it, effectively
    n_labels: int

    @classmethod
    def of(cls, answers: Answers) -> Self:
        """Read the random judgements among some answers."""
        rows = np.flatnonzero(judged_at_random(answers))
        marks: Any = (2 * answers.relevant + answers.absent)[rows].tocoo()
        answer, label, yes = rows[marks.row], marks.col, marks.data > 1
        inverse = inverse_probability(answers)[answer]
        form = _form_of(answers)[answer]
        overall = _scaled(inverse, form)
        n = float(overall.sum())
        return cls(
            item=answers.item[answer],
            label=label.astype(np.intp),
            applies=yes,
            weight=_scaled(inverse, form * answers.n_labels + label),
            pooled=(float(overall @ yes) + 1) / (n + 2),
            n_pooled=n,
            n_labels=answers.n_labels,
        )

    def counts(self) -> tuple[Array, Array]:
        """Return effective numbers of "yes" and of judgements of each label, (K,) and (K,)."""
        return self.sum(self.weight * self.applies), self.sum(self.weight)

    def sum(self, values: Array) -> Array:
        """Add up values (J,) by label (K,)."""
        return np.asarray(
            np.bincount(self.label, weights=values, minlength=self.n_labels), dtype=np.float64
        )


@dataclass(frozen=True)
class Named:
    """What was named, without regard to which item it is about.

    ``first`` (K,) counts one label named out of all. Everything else, menus and several labels, is
    distinct ``answers``, one about each item, with ``counts`` of how often each was given.
    """

    first: Array
    answers: Answers | None
    counts: Array

    @property
    def says_all_apply(self) -> bool:
        """Whether there are menus on which "all of these apply" can be said."""
        if self.answers is None:
            return False
        menus = self.answers.n_offered < self.answers.n_labels
        return bool((menus & (self.answers.all_apply == "answer")).any())

    @classmethod
    def of(cls, answers: Answers) -> Self | None:
        """Collect what was named; None if nothing was."""
        rows = np.flatnonzero(named_at_random(answers))
        if not len(rows):
            return None
        inverse = inverse_probability(answers)
        inverse[answers.n_offered == answers.n_labels] = 1.0
        weight = _scaled(inverse[rows], answers.n_offered[rows])
        simple = (
            (answers.n_offered == answers.n_labels)
            & (answers.asked_for == 1)
            & (np.diff(answers.named.indptr) == 1)
            & np.isin(answers.all_apply, ("never", "answer"))
        )[rows]
        first = np.asarray(answers.named[rows[simple]].T @ weight[simple], dtype=np.float64)
        rest, weight = rows[~simple], weight[~simple]
        if not len(rest):
            return cls(first, None, np.empty(0))
        chosen, place = _distinct(answers, rest)
        about: dict[str, Any] = {
            name: getattr(answers, name)[rest[chosen]]
            for name in ("named", "offered", "asked_for", "all_apply", "question")
        }
        counts = np.asarray(np.bincount(place, weights=weight), dtype=np.float64)
        return cls(first, Answers.from_arrays(**about), counts)


def inverse_probability(answers: Answers) -> Array:
    """Return one over the chance with which each question was drawn, (A,); 1 if it was not."""
    return 1 / np.where(np.isnan(answers.probability), 1.0, answers.probability)


def _form_of(answers: Answers) -> NDArray[np.intp]:
    """Return numbers (A,) that differ where questions do, in kind or in how many are on offer.

    Such questions are drawn in ways of their own, so that their probabilities do not compare.
    """
    return np.asarray(2 * answers.n_offered + (answers.question == "ticked"), dtype=np.intp)


def _scaled(inverse: Array, group: NDArray[np.intp]) -> Array:
    """Scale weights so that they sum to Kish's effective number, (sum w)^2 / sum w^2, by group."""
    _, place = np.unique(group, return_inverse=True)
    total = np.bincount(place, weights=inverse)
    squares = np.bincount(place, weights=inverse**2)
    return np.asarray(inverse * (total / np.maximum(squares, np.finfo(float).tiny))[place])


def _distinct(
    answers: Answers, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of the rows are the first of their sort, and which sort each is of."""
    marks: Any = sparse.hstack([answers.named[rows], answers.offered[rows]]).tocsr()
    # Equal masks have equal sums of random numbers, and others differ.
    numbers = np.random.default_rng(0).integers(2**40, size=marks.shape[1])
    _, word = np.unique(answers.all_apply[rows], return_inverse=True)
    keys: Any = np.stack([marks.astype(np.int64) @ numbers, answers.asked_for[rows], word.ravel()])
    _, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    return first, place.ravel()
