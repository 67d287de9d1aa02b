"""How far annotators agree on what several of them judged, and how often they answer at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from complabel.asking._inspection import Agreement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.asking._statements import Statements

# A rate of one annotator is drawn towards that of all as much as by so many comparisons.
_PRIOR = 20.0
# Fewer comparisons with others say nothing of one annotator.
_LEAST_COMPARED = 30
_SWEEPS = 100


@dataclass(frozen=True)
class Shared:
    """Judgements of pairs that at least two known annotators judged; arrays are (J,)."""

    pair: NDArray[np.intp]  # numbered from 0
    person: NDArray[np.intp]
    yes: NDArray[np.bool_]
    n_people: int

    @classmethod
    def of(cls, statements: Statements) -> Self:
        """Collect them; of somebody who judged a pair twice, the first judgement counts."""
        people = len(statements.answers.annotator_names)
        person = statements.answers.annotator[statements.answer]
        at = np.flatnonzero(statements.judged & (person >= 0))
        at = at[np.argsort(statements.answer[at], kind="stable")]  # statements go by kind
        _, first = np.unique(statements.pair[at] * max(people, 1) + person[at], return_index=True)
        at = at[first]
        _, place, count = np.unique(statements.pair[at], return_inverse=True, return_counts=True)
        kept = count[place] > 1
        _, pair = np.unique(place[kept], return_inverse=True)
        return cls(pair, person[at][kept], statements.yes[at][kept], people)

    def agreement(self) -> Agreement | None:
        """Return how far all agree; None if nothing is shared.

        Alpha for binary data with gaps is 1 - (n - 1) o / (n_yes n_no), where n judgements are
        shared and o sums n_yes n_no / (m - 1) over pairs, of m judgements each (Krippendorff,
        Content Analysis, 2004, section 11.3).

        Two people who answer at random with chance e, and are right otherwise, disagree with
        chance e / 2 (1 - e / 2) 2, however often labels apply: (1 - e)^2 = 1 - 2 D.
        """
        if not len(self.pair):
            return None
        m = np.bincount(self.pair)
        n_yes = np.bincount(self.pair, weights=self.yes)
        disagreeing = n_yes * (m - n_yes)  # couples of judgements, of m (m - 1) / 2
        n, total_yes = len(self.pair), int(self.yes.sum())
        o = float((disagreeing / (m - 1)).sum())
        variety = total_yes * (n - total_yes)
        couples = m * (m - 1) / 2
        share = float(disagreeing.sum() / couples.sum())
        rate = error = None
        if share < 0.5:
            rate = 1 - np.sqrt(1 - 2 * share)
            # Couples of one pair are not independent; pairs are.
            residual = disagreeing - share * couples
            of_share = np.sqrt((residual**2).sum()) / couples.sum()
            error = float(of_share / np.sqrt(1 - 2 * share))
        return Agreement(
            n_pairs=len(m),
            n_judgements=n,
            observed=1 - 2 * o / n,
            alpha=1 - (n - 1) * o / variety if variety else None,
            error_rate=None if rate is None else float(rate),
            error=error,
        )

    def by_person(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return judgements shared by each, (P,), and the mean share of others who agree, (P,)."""
        m = np.bincount(self.pair)
        n_yes = np.bincount(self.pair, weights=self.yes)
        same = np.where(self.yes, n_yes[self.pair], (m - n_yes)[self.pair]) - 1
        agreed = np.bincount(self.person, same / (m[self.pair] - 1), minlength=self.n_people)
        count = np.bincount(self.person, minlength=self.n_people)
        return count, agreed / np.maximum(count, 1)

    def error_rates(self, common: float) -> NDArray[np.float64]:
        """Estimate how often each answers at random, (P,), NaN where too little is compared.

        Answers of a and b, as +1 and -1, multiply to (1 - e_a) (1 - e_b) on average: a matrix of
        rank one with gaps, fitted by weighted least squares (Ghosh, Kale and McAfee, Who
        moderates the moderators?, EC 2011), and drawn towards the rate that all have in common.
        Two people alone cannot be told apart.
        """
        shape = (int(self.pair.max()) + 1, self.n_people)
        signs: Any = sparse.csr_array((2.0 * self.yes - 1, (self.pair, self.person)), shape=shape)
        judged = abs(signs)
        product, count = (_of_others(each.T @ each) for each in (signs, judged))
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


def _of_others(matrix: Any) -> Any:
    """Return a square matrix in CSR without its diagonal."""
    return (matrix - sparse.diags_array(matrix.diagonal())).tocsr()
