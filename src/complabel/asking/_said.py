"""What answers say, how it adds up, and how far annotators agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.answers import STATEMENT_KINDS, Answers, Statements, find_contradictions
from complabel.asking._inspection import Agreement

# An annotator's rate is pulled towards the common rate as if by this many comparisons.
_PRIOR = 20.0
# An annotator with fewer comparisons gets no rate (NaN): they say too little.
_LEAST_COMPARED = 30
# Iterations of the least squares fit; each step is halved, so that it does not oscillate.
_SWEEPS = 100


@dataclass(frozen=True, eq=False)
class Said(Statements):
    """The statements of answers, arrays (S,), and what they add up to."""

    answers: Answers

    @classmethod
    def by(cls, answers: Answers) -> Self:
        return cls(**vars(answers.statements()), answers=answers)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Whether the label was judged by itself, (S,)."""
        return np.asarray(np.isin(self.answers.question, ("asked", "ticked"))[self.answer])

    @cached_property
    def affirmed(self) -> NDArray[np.int64]:
        """Pairs that a statement affirms, in ascending order."""
        return distinct(self.pair[self.applies])

    @cached_property
    def denied(self) -> NDArray[np.int64]:
        """Pairs that a statement denies, in ascending order."""
        return distinct(self.pair[~self.applies])

    @cached_property
    def contradicted(self) -> NDArray[np.int64]:
        """Pairs that one statement affirms and another denies, in ascending order."""
        return find_contradictions(self)

    def is_kind(self, *kinds: str) -> NDArray[np.bool_]:
        """Return which statements are of some of ``STATEMENT_KINDS``, (S,)."""
        return np.isin(self.kind, [STATEMENT_KINDS.index(kind) for kind in kinds])

    def counts(self, which: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Count the statements marked in ``which``, (S,), for each label, (K,)."""
        return np.bincount(self.label[which], minlength=self.n_labels)

    def n_repeated(self) -> int:
        """Count how often a known annotator said the same about a pair again."""
        people = self.answers.annotator[self.answer]
        who = (people * len(STATEMENT_KINDS) + self.kind)[people >= 0]
        said = np.stack([self.pair[people >= 0], who])
        ordered = said[:, np.lexsort(said)]
        return int((np.diff(ordered, axis=1) == 0).all(axis=0).sum())


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return distinct values in ascending order; sorting is faster here than NumPy's hashing."""
    ordered = np.sort(values)
    return np.asarray(ordered[np.diff(ordered, prepend=-1) != 0])


def names_of_labels(answers: Answers) -> tuple[str, ...]:
    return answers.label_names or tuple(map(str, range(answers.n_labels)))


@dataclass(frozen=True)
class Shared:
    """Judgements, (J,), of item-label pairs that at least two known annotators judged."""

    pair: NDArray[np.intp]  # numbered from 0
    person: NDArray[np.intp]
    yes: NDArray[np.bool_]
    n_people: int

    @classmethod
    def of(cls, said: Said, among: NDArray[np.bool_] | None = None) -> Self:
        """Collect the judgements; if somebody judged a pair twice, the first one counts.

        ``among`` (A,) marks the answers to take them from; by default all.
        """
        people = len(said.answers.annotator_names)
        person = said.answers.annotator[said.answer]
        taken = True if among is None else among[said.answer]
        at = np.flatnonzero(said.judged & (person >= 0) & taken)
        at = at[np.argsort(said.answer[at], kind="stable")]  # they are sorted by kind
        _, first = np.unique(said.pair[at] * max(people, 1) + person[at], return_index=True)
        at = at[first]
        _, place, count = np.unique(said.pair[at], return_inverse=True, return_counts=True)
        kept = count[place] > 1
        _, pair = np.unique(place[kept], return_inverse=True)
        return cls(pair, person[at][kept], said.applies[at][kept], people)

    def agreement(self) -> Agreement | None:
        """Return how far all annotators agree; None if no pair was judged by two of them.

        Krippendorff's alpha for binary data with gaps (Content Analysis, 2004, section 11.3) is
        1 - (n - 1) o / (N_yes N_no) for n = N_yes + N_no shared judgements. A pair with m of them,
        n_yes "yes", adds n_yes (m - n_yes) / (m - 1) to o.

        Two people who answer at random with chance e, and are right otherwise, disagree with chance
        D = 2 (e / 2) (1 - e / 2), however often labels apply, so (1 - e)^2 = 1 - 2 D gives e.
        """
        if not len(self.pair):
            return None
        m = np.bincount(self.pair)
        n_yes = np.bincount(self.pair, weights=self.yes)
        disagreeing = n_yes * (m - n_yes)  # couples of judgements, out of m (m - 1) / 2
        n, total_yes = len(self.pair), int(self.yes.sum())
        of_pairs = disagreeing / (m - 1)
        o = float(of_pairs.sum())
        variety = total_yes * (n - total_yes)
        # What each pair adds to alpha, by the delta method.
        adds = of_pairs + o * (
            m / n - (n_yes * (n - total_yes) + (m - n_yes) * total_yes) / max(variety, 1)
        )
        couples = m * (m - 1) / 2
        share = float(disagreeing.sum() / couples.sum())
        rate = error = None
        if share < 0.5:
            rate = 1 - np.sqrt(1 - 2 * share)
            # Couples within one pair depend on each other, so the variance is taken over pairs.
            residual = disagreeing - share * couples
            of_share = np.sqrt((residual**2).sum()) / couples.sum()
            error = float(of_share / np.sqrt(1 - 2 * share))
        return Agreement(
            n_pairs=len(m),
            n_judgements=n,
            observed=1 - 2 * o / n,
            alpha=1 - (n - 1) * o / variety if variety else None,
            alpha_error=float((n - 1) / variety * np.sqrt(adds @ adds)) if variety else None,
            error_rate=None if rate is None else float(rate),
            error=error,
        )

    def by_person(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return each annotator's shared judgements and mean share of others who agree, (P,)."""
        m = np.bincount(self.pair)
        n_yes = np.bincount(self.pair, weights=self.yes)
        same = np.where(self.yes, n_yes[self.pair], (m - n_yes)[self.pair]) - 1
        agreed = np.bincount(self.person, same / (m[self.pair] - 1), minlength=self.n_people)
        count = np.bincount(self.person, minlength=self.n_people)
        return count, agreed / np.maximum(count, 1)

    def error_rates(self, common: float) -> NDArray[np.float64]:
        """Estimate how often each annotator answers at random, (P,); NaN with too few comparisons.

        With answers coded as +1 and -1, the mean product of the answers of a and b is
        (1 - e_a) (1 - e_b). This matrix of rank one, with gaps, is fitted by weighted least squares
        (Ghosh, Kale and McAfee, Who moderates the moderators?, EC 2011), with rates pulled towards
        the ``common`` one. With a single other annotator, two rates cannot be separated: NaN.
        """
        shape = (int(self.pair.max()) + 1, self.n_people)
        signs: Any = sparse.csr_array((2.0 * self.yes - 1, (self.pair, self.person)), shape=shape)
        judged = abs(signs)
        both = (each.T @ each for each in (signs, judged))  # (P, P), and without the diagonal:
        product, count = ((m - sparse.diags_array(m.diagonal())).tocsr() for m in both)
        usual = 1 - common
        right = np.full(self.n_people, usual)
        for _ in range(_SWEEPS):
            top = product @ right + _PRIOR * usual * usual**2
            bottom = count @ right**2 + _PRIOR * usual**2
            moved = np.clip(top / np.maximum(bottom, np.finfo(float).tiny), 0, 1)
            right = (right + moved) / 2
        compared = np.asarray(count.sum(axis=1)).ravel()
        partners = np.diff((count > 0).tocsr().indptr)
        known = (compared >= _LEAST_COMPARED) & (partners >= 2)
        return np.where(known, 1 - right, np.nan)
