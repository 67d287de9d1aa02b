"""Counts of the answers that tell how often labels apply: random judgements, and named labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.answers import Answers

Array: TypeAlias = NDArray[np.float64]


def judged_at_random(answers: Answers) -> NDArray[np.bool_]:
    """Tell which answers (A,) judge random labels: of a known probability, or "ticked" on all."""
    judged = np.isin(answers.question, ("asked", "ticked"))
    # A question about all labels does not select labels, so it needs no probability.
    everything = (answers.question == "ticked") & (answers.n_offered == answers.n_labels)
    return np.asarray(judged & (everything | ~np.isnan(answers.probability)))


def named_at_random(answers: Answers) -> NDArray[np.bool_]:
    """Return a mask (A,) of the answers that name labels of all, or of a menu drawn at random."""
    everything = answers.n_offered == answers.n_labels
    return np.asarray((answers.question == "named") & (everything | ~np.isnan(answers.probability)))


@dataclass(frozen=True)
class Audit:
    """J random judgements, each of one label of one item; arrays are (J,)."""

    # The weights are one over the probability of the question, scaled for each label and form of
    # question to sum to Kish's effective number of judgements.

    item: NDArray[np.intp]
    label: NDArray[np.intp]
    applies: NDArray[np.bool_]
    weight: Array
    pooled: float  # the share of "yes" among the judgements of all labels
    n_pooled: float  # the effective number of all judgements
    n_labels: int

    @classmethod
    def of(cls, answers: Answers) -> Self:
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
        """Return the effective numbers of "yes" and of judgements of each label, both (K,)."""
        return self.sum(self.weight * self.applies), self.sum(self.weight)

    def sum(self, values: Array) -> Array:
        return np.asarray(
            np.bincount(self.label, weights=values, minlength=self.n_labels), dtype=np.float64
        )


@dataclass(frozen=True)
class Named:
    """Counts of named labels, regardless of the item they are about."""

    first: Array  # (K,): how often each label was the single one named of all labels
    answers: Answers | None  # the D distinct other namings: of a menu, or of several labels
    counts: Array  # (D,): how often each of them was given

    @property
    def says_all_apply(self) -> bool:
        if self.answers is None:
            return False
        menus = self.answers.n_offered < self.answers.n_labels
        return bool((menus & (self.answers.all_apply == "answer")).any())

    @classmethod
    def of(cls, answers: Answers) -> Self | None:
        """Collect the named labels; return None if no label was named."""
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
    """Return one over the probability of each question (A,); 1 where no probability is known."""
    return 1 / np.where(np.isnan(answers.probability), 1.0, answers.probability)


def _form_of(answers: Answers) -> NDArray[np.intp]:
    """Return a number (A,) for the form of each question: its kind and number of labels."""
    # Probabilities are compared only within one form, because each form is drawn in its own way.
    return np.asarray(2 * answers.n_offered + (answers.question == "ticked"), dtype=np.intp)


def _scaled(inverse: Array, group: NDArray[np.intp]) -> Array:
    """Scale the weights of each group to sum to Kish's effective number, (sum w)^2 / sum w^2."""
    _, place = np.unique(group, return_inverse=True)
    total = np.bincount(place, weights=inverse)
    squares = np.bincount(place, weights=inverse**2)
    return np.asarray(inverse * (total / np.maximum(squares, np.finfo(float).tiny))[place])


def _distinct(
    answers: Answers, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Group equal answers: return the first row of each group, and the group of each row."""
    marks: Any = sparse.hstack([answers.named[rows], answers.offered[rows]]).tocsr()
    # Hash each mask as a sum of random numbers: equal masks have equal sums, others differ.
    numbers = np.random.default_rng(0).integers(2**40, size=marks.shape[1])
    _, word = np.unique(answers.all_apply[rows], return_inverse=True)
    keys: Any = np.stack([marks.astype(np.int64) @ numbers, answers.asked_for[rows], word.ravel()])
    _, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    return first, place.ravel()
