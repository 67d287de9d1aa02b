"""Answers as single statements, each about one label of one item, and counts of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from complabel.asking._inspection import Contradiction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers

KINDS = ("named", "absent", "excluded", "relevant", "implied")
_SAYS_YES = np.array([False, False, False, True, True])  # for each of KINDS
_SHOWN = 100  # contradictions that are listed


@dataclass(frozen=True)
class Statements:
    """The marks of all answers as S statements; arrays are (S,).

    ``kind`` is a position in :data:`KINDS`. An "implied" label applies because it was offered and
    not named, although more labels were asked for.
    """

    answers: Answers
    answer: NDArray[np.intp]
    label: NDArray[np.intp]
    kind: NDArray[np.int8]

    @classmethod
    def of(cls, answers: Answers) -> Self:
        """Collect the marks of all answers."""
        masks: list[Any] = [getattr(answers, name) for name in KINDS[:-1]]
        masks.append(_implied(answers))
        rows = [np.repeat(np.arange(mask.shape[0]), np.diff(mask.indptr)) for mask in masks]
        return cls(
            answers=answers,
            answer=np.concatenate(rows),
            label=np.concatenate([mask.indices for mask in masks]).astype(np.intp),
            kind=np.repeat(np.arange(len(masks), dtype=np.int8), [mask.nnz for mask in masks]),
        )

    @cached_property
    def pair(self) -> NDArray[np.intp]:
        """The pair of item and label as one number, item * K + label, (S,)."""
        return np.asarray(self.answers.item[self.answer] * self.answers.n_labels + self.label)

    @cached_property
    def yes(self) -> NDArray[np.bool_]:
        """Whether the statement says that the label applies, (S,)."""
        return np.asarray(_SAYS_YES[self.kind])

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Whether the label was judged by itself, (S,)."""
        question = self.answers.question
        one_by_one = (question == "asked") | (question == "ticked")
        return np.asarray(one_by_one[self.answer])

    @cached_property
    def affirmed(self) -> NDArray[np.intp]:
        """Pairs that a statement affirms, in ascending order."""
        return distinct(self.pair[self.yes])

    @cached_property
    def denied(self) -> NDArray[np.intp]:
        """Pairs that a statement denies, in ascending order."""
        return distinct(self.pair[~self.yes])

    @cached_property
    def contradicted(self) -> NDArray[np.intp]:
        """Pairs that one statement affirms and another denies, in ascending order."""
        return np.asarray(np.intersect1d(self.affirmed, self.denied, assume_unique=True))

    def counts(self, which: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Count the statements marked in ``which``, (S,), for each label, (K,)."""
        return np.bincount(self.label[which], minlength=self.answers.n_labels)

    def n_repeated(self) -> int:
        """Count how often a known annotator said the same about a pair again."""
        known = self.answers.annotator[self.answer] >= 0
        said = np.stack(
            [
                self.pair[known],
                self.answers.annotator[self.answer][known] * len(KINDS) + self.kind[known],
            ]
        )
        order = np.lexsort(said)
        return int((np.diff(said[:, order], axis=1) == 0).all(axis=0).sum())

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return who says what about the first contradicted pairs."""
        pair, yes, pairs = self.pair, self.yes, self.contradicted
        labels, items = names_of_labels(self.answers), names_of_items(self.answers)
        people = np.array([*self.answers.annotator_names, ""], dtype=object)  # code -1: last entry
        who = people[self.answers.annotator[self.answer]]
        shown = np.flatnonzero(np.isin(pair, pairs[:_SHOWN]))
        found = []
        for at in pairs[:_SHOWN].tolist():
            here = shown[pair[shown] == at]
            item, label = divmod(at, self.answers.n_labels)
            for_it, against = who[here[yes[here]]], who[here[~yes[here]]]
            found.append(
                Contradiction(
                    item=items(item),
                    label=labels[label],
                    yes=len(for_it),
                    no=len(against),
                    says_yes=tuple(sorted({name for name in for_it if name})),
                    says_no=tuple(sorted({name for name in against if name})),
                )
            )
        return tuple(found)


def distinct(values: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return distinct values in ascending order; sorting is faster here than NumPy's hashing."""
    ordered = np.sort(values)
    return np.asarray(ordered[np.diff(ordered, prepend=-1) != 0])


def n_offered_by_label(answers: Answers) -> NDArray[np.intp]:
    """Count the answers that are about each label, (K,)."""
    listed: Any = answers.offered
    about_all = int((np.diff(listed.indptr) == 0).sum())
    return np.bincount(listed.indices, minlength=answers.n_labels) + about_all


def exhausted(answers: Answers) -> NDArray[np.bool_]:
    """Return which answers name fewer labels than asked for, (A,)."""
    n_named = np.diff(answers.named.indptr)
    return np.asarray((answers.question == "named") & (n_named < answers.asked_for))


def names_of_labels(answers: Answers) -> tuple[str, ...]:
    """Return the names of the labels; their numbers as text if they have no names."""
    return answers.label_names or tuple(map(str, range(answers.n_labels)))


def names_of_items(answers: Answers) -> Any:
    """Return a function that gives the name of an item, given its number."""
    names = answers.item_names
    return str if names is None else lambda item: str(names[item])


def _implied(answers: Answers) -> Any:
    """Return the labels that apply because too few labels were named, sparse (A, K)."""
    from scipy import sparse

    rows = np.flatnonzero(exhausted(answers))
    listed: Any = answers.offered[rows]
    about_all = np.flatnonzero(np.diff(listed.indptr) == 0)
    every = sparse.csr_array(
        (
            np.ones(len(about_all) * answers.n_labels, dtype=np.uint8),
            (
                np.repeat(about_all, answers.n_labels),
                np.tile(np.arange(answers.n_labels), len(about_all)),
            ),
        ),
        shape=listed.shape,
    )
    named: Any = answers.named[rows]
    marked: Any = answers.relevant[rows]
    left: Any = listed + every
    for taken in (named, marked):  # labels marked relevant are counted as "relevant"
        left = left - left.multiply(taken)
    left = left.tocoo()
    kept = left.data > 0
    return sparse.csr_array(
        (left.data[kept], (rows[left.row[kept]], left.col[kept])), shape=answers.named.shape
    )
