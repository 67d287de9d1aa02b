"""Label frequencies, and the mistakes of a machine, from people's answers by what the machine says.

A machine, such as a language model or a classifier, says of all pairs of an item and a label
whether the label applies. People answer some pairs. The pairs of one label are divided by what the
machine says (strata). Within a stratum, who is asked is random, so the chance of a question is not
needed. With the share q of pairs of which the machine says yes,

    frequency = q P(applies | machine says yes) + (1 - q) P(applies | machine says no).

The logits of P(applies | stratum) are exchangeable over labels, beside a rise with log(q) that is
unknown and is integrated over. Scores divide a stratum into bins; within it, the logit rises with
the log-odds of the machine, at a slope that is integrated over, too. One stratum is independent of
the other.

Frequencies and rates are about these items. In each stratum, pairs that people answered count by
their answers; whether the label applies to the other pairs is drawn with P(applies | stratum).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy import special

from complabel._parameters import Array, Ints
from complabel.answers import Answers
from complabel.frequencies._counts import Audit, Counts
from complabel.frequencies._exchangeable import GRID, Exchangeable, Function, Likelihood
from complabel.frequencies._machine_strata import NO, YES, Kind, Strata
from complabel.frequencies._months import (
    DRIFTS,
    NOTHING_BEFORE,
    Member,
    StratumBefore,
    members,
    of_labels,
)
from complabel.frequencies._posterior import Posterior, holding

# The number of draws; of many labels a quarter. The tail beyond an end of an interval of 95 % is
# then .025 with an error of .0025, or .005.
_N_DRAWS, _MOST_DRAWN = 4000, 1_000_000
_QUANTILES = (0.025, 0.975)
_ROUNDS_OF_UNSURE = 5
_ROUNDING = 1e-6  # of a number of items
_TINY = 1e-12


@dataclass(frozen=True)
class Asked:
    """What people said in the cells of M machines, as the posterior needs it."""

    stratum: Ints  # (C,)
    kinds: tuple[Kind, ...]  # (S,)
    shares: Array  # (C, K)
    word_shares: Array  # (M, 2, C, K)
    log_odds: Array  # (C, K)
    counts: list[tuple[int, Counts]]  # the cell of each
    n_items: int
    unsure: Array | None = None  # (C, K): how often people were unsure

    @classmethod
    def of(
        cls,
        strata: Strata,
        audit: Audit,
        missed: Array | None = None,
        invented: Array | None = None,
        unsure: Array | None = None,
    ) -> Self:
        asked = strata.asked(audit, missed, invented)
        return cls(
            strata.stratum,
            strata.kinds,
            strata.shares,
            strata.word_shares,
            strata.log_odds,
            asked,
            strata.n_items,
            unsure,
        )

    @property
    def sizes(self) -> Array:
        """The share of all pairs in each stratum, (S,)."""
        of_cells = self.shares.sum(axis=1)
        return np.bincount(self.stratum, of_cells, len(self.kinds)).astype(np.float64)

    def frequencies(self, before: Sequence[Earlier] = ()) -> StrataPosterior:
        """Return the posterior of P(applies | stratum) of each label, and of what follows.

        ``before`` has earlier months, the oldest first.
        """
        if self.unsure is None or not self.unsure.any():
            return StrataPosterior.of(self, self.counts, before=before)
        # How often people are unsure where a label applies, and where it does not: by expectation
        # and maximization, from equal rates on.
        yes = sum(float(counts.yes.sum()) for _, counts in self.counts)
        no = sum(float((counts.judged - counts.yes).sum()) for _, counts in self.counts)
        n_unsure = float(self.unsure.sum())
        overall = n_unsure / (yes + no + n_unsure)
        rates = (overall, overall)
        for _ in range(_ROUNDS_OF_UNSURE):
            posterior = StrataPosterior.of(self, self._with_unsure(*rates))
            chance = np.clip(posterior.by_cell()[0], _TINY, 1 - _TINY)
            odds = rates[0] * chance / (rates[0] * chance + rates[1] * (1 - chance))
            applies = float((self.unsure * odds).sum())
            rates = (
                (applies + overall) / (yes + applies + 1),
                (n_unsure - applies + overall) / (no + n_unsure - applies + 1),
            )
        return StrataPosterior.of(self, self._with_unsure(*rates), rates, before)

    def _with_unsure(self, of_yes: float, of_no: float) -> list[tuple[int, Counts]]:
        """Return counts of three answers, each with its chance where labels apply and do not."""
        of_cells = []
        for cell, counts in self.counts:
            no = counts.judged - counts.yes
            yes_counts = Counts(
                counts.yes,
                counts.yes,
                1 - (1 - of_yes) * (1 - counts.missed),
                (1 - of_no) * counts.invented,
            )
            no_counts = Counts(
                np.zeros_like(no),
                no,
                (1 - of_yes) * counts.missed,
                1 - (1 - of_no) * (1 - counts.invented),
            )
            of_cells += [(cell, yes_counts), (cell, no_counts)]
        assert self.unsure is not None
        for cell in np.flatnonzero(self.unsure.any(axis=1)).tolist():
            n = self.unsure[cell]
            of_cells.append((cell, Counts.of_one_group(n, n, 1 - of_yes, of_no)))
        return of_cells


@dataclass(frozen=True)
class StrataPosterior:
    """The posterior of P(applies | stratum) of K labels in the S strata that a machine has."""

    asked: Asked
    parts: list[_Stratum]
    unsure: tuple[float, float] | None = None  # how often, where labels apply and do not

    @classmethod
    def of(
        cls,
        asked: Asked,
        counts: list[tuple[int, Counts]],
        unsure: tuple[float, float] | None = None,
        before: Sequence[Earlier] = (),
    ) -> Self:
        parts, sizes = [], asked.sizes
        for stratum in np.flatnonzero(sizes).tolist():
            earlier = [each.in_stratum(asked.kinds, sizes, stratum) for each in before]
            parts.append(_Stratum.of(stratum, asked, counts, earlier))
        return cls(asked, parts, unsure)

    def posterior(self) -> Posterior:
        """Return the posterior of the label frequencies."""
        n_labels = self.asked.shares.shape[1]
        values, covariance = np.zeros(n_labels), np.zeros((n_labels, n_labels))
        for part in self.parts:
            mean, of_mean = part.left.moments(*part.posterior.moments())
            values += part.share * mean
            covariance += part.share[:, np.newaxis] * of_mean * part.share
        low, high = np.quantile(self.draws.frequencies, _QUANTILES, axis=0)
        # A label applies to a whole number of items.
        n = self.asked.n_items
        low, high = np.floor(low * n + _ROUNDING) / n, np.ceil(high * n - _ROUNDING) / n
        nothing = np.empty(0)
        intervals = holding(values, low, high)
        return Posterior(values, covariance, intervals, nothing, nothing, 0.0)

    def as_counts(self, posterior: Posterior) -> Counts:
        """Return numbers of judgements by people who never err that tell as much."""
        values = np.clip(posterior.values, _TINY, 1 - _TINY)
        variance = np.maximum(np.diag(posterior.covariance), _TINY)
        judged = np.maximum(values * (1 - values) / variance - 1, _TINY)
        return Counts.of_one_group(values * judged, judged)

    def by_cell(self) -> tuple[Array, Array]:
        """Return the mean and the variance (C, K) of the chance that a label applies."""
        moments = np.zeros((2, *self.asked.shares.shape))
        for part in self.parts:
            moments[:, part.cells] = part.by_cell
        return moments[0], np.maximum(moments[1] - moments[0] ** 2, 0)

    @cached_property
    def draws(self) -> Draws:
        """Draws of the share of each stratum's pairs that apply, always the same."""
        rng = np.random.default_rng(0)
        n_labels = self.asked.shares.shape[1]
        n = max(_N_DRAWS // 4, min(_N_DRAWS, _MOST_DRAWN // n_labels))
        applies = [
            part.share * part.left.draw(part.posterior.draw(n, rng), rng) for part in self.parts
        ]
        of = [
            part.words_of_applying(self.asked.word_shares[:, :, part.cells]) for part in self.parts
        ]
        return Draws(np.array(applies), np.array(of), self.asked.word_shares.sum(axis=2))


@dataclass(frozen=True)
class Earlier:
    """An earlier month, and the places of the newest one's labels among its own; -1: not there."""

    month: StrataPosterior
    labels: Ints  # (K,)

    def in_stratum(self, kinds: Sequence[Kind], sizes: Array, stratum: int) -> StratumBefore:
        """Return what was said in a stratum of the newest month, by kinds and sizes of its strata.

        A stratum stands for one of the same kind; else for the largest where the same is said.
        """
        cells, drifts = [], np.array([each.chance for each in DRIFTS])
        for part in self.month.parts:
            kind = self.month.asked.kinds[part.stratum]
            some = np.flatnonzero(sizes).tolist()
            ranks = [(kind == kinds[at], kind.says == kinds[at].says, sizes[at]) for at in some]
            chosen = some[ranks.index(max(ranks))]
            if chosen != stratum or kind.says != kinds[stratum].says:
                continue
            drifts = part.drifts
            for cell, counts in part.counts:
                odds = self.month.asked.log_odds[part.cells[cell], self.labels]
                scored = kind.scored and kinds[stratum].scored
                cells.append((odds if scored else None, of_labels(counts, self.labels)))
        return StratumBefore(cells, drifts)


@dataclass(frozen=True)
class Draws:
    """Draws of the items of each stratum to which a label applies, and what machines say there."""

    applies: Array  # (S, D, K), as shares of all items
    of_applying: Array  # (S, M, 2, K): of these, the shares of which each machine says no, and yes
    shares: Array  # (M, 2, K): of all items

    @property
    def frequencies(self) -> Array:
        """Draws (D, K) of the label frequencies."""
        return np.asarray(self.applies.sum(axis=0))

    def rates(self, machine: int = 0) -> dict[str, Array]:
        """Return draws (D, K + 1) of a machine's rates; the last column is about all pairs."""
        of = self.of_applying[:, machine, :, np.newaxis]
        of_words = np.stack([(self.applies * of[:, word]).sum(axis=0) for word in (NO, YES)])
        share = np.broadcast_to(self.shares[machine][:, np.newaxis], of_words.shape)
        applies, share = (
            np.concatenate([each, each.sum(axis=2, keepdims=True)], axis=2)
            for each in (of_words, share)
        )
        right, missed = applies[YES], applies[NO]
        wrong, rest = np.maximum(share[YES] - right, 0.0), np.maximum(share[NO] - missed, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "precision": right / (right + wrong),
                "recall": right / (right + missed),
                "missed": missed / (right + missed),
                "invented": wrong / (wrong + rest),
            }


@dataclass(frozen=True)
class _Left:
    """What people's answers leave open of the pairs of one stratum; arrays are (K,)."""

    pairs: Array  # how many there are
    known: Array  # how many of those that are known apply
    open: Array  # how many are not known
    factor: Array  # of P(applies | stratum), for those

    @classmethod
    def of(cls, pairs: Array, chance: Array, counts: list[tuple[int, Counts]]) -> Self:
        """Take pairs and chances (B, K) of cells.

        Where people err, a pair is known in part: by how much the variance of "applies" is less.
        """
        known, still = np.zeros_like(pairs), pairs.copy()
        chance = np.clip(chance, _TINY, 1 - _TINY)
        for cell, each in counts:
            p = chance[cell]
            for n, if_yes, if_no in (
                (each.yes, 1 - each.missed, each.invented),
                (each.judged - each.yes, each.missed, 1 - each.invented),
            ):
                applies = p * if_yes / np.maximum(p * if_yes + (1 - p) * if_no, _TINY)
                part = np.minimum(applies * (1 - applies) / (p * (1 - p)), 1.0)
                known[cell] += (n * (applies - part * p)).sum(axis=0)
                still[cell] -= (n * (1 - part)).sum(axis=0)
        still = np.maximum(still, 0.0)
        all_pairs, rest = pairs.sum(axis=0), still.sum(axis=0)
        of_rest = (still * chance).sum(axis=0) / np.maximum(rest, _TINY)
        of_all = (pairs * chance).sum(axis=0) / np.maximum(all_pairs, _TINY)
        factor = np.where(rest > 0, of_rest / np.maximum(of_all, _TINY), 1.0)
        whole = np.round(rest)
        return cls(all_pairs, known.sum(axis=0) + (rest - whole) * of_rest, whole, factor)

    def share(self, applies: Array) -> Array:
        """Return the share of all pairs that apply, if so many of those apply that were open."""
        return np.asarray(np.clip((self.known + applies) / np.maximum(self.pairs, 1), 0.0, 1.0))

    def draw(self, chances: Array, rng: np.random.Generator) -> Array:
        """Return the share of pairs that apply, (D, K), at draws of P(applies | stratum)."""
        applies = rng.binomial(self.open.astype(np.intp), np.minimum(chances * self.factor, 1.0))
        return self.share(applies.astype(np.float64))

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Return the mean and the covariance of the share of pairs that apply."""
        scale = self.open * self.factor / np.maximum(self.pairs, 1)
        moved = scale[:, np.newaxis] * covariance * scale
        mean = np.minimum(mean * self.factor, 1.0)
        square = mean**2 + np.diag(covariance) * self.factor**2
        of_open = self.open * np.maximum(mean - square, 0.0) / np.maximum(self.pairs, 1) ** 2
        return self.share(self.open * mean), moved + np.diag(of_open)


@dataclass(frozen=True)
class _Stratum:
    """The posterior of one stratum."""

    stratum: int
    cells: Ints  # (B,)
    share: Array  # (K,), of the items
    offsets: list[Array]  # (B, K) of each likelihood: where logits lie beside those of the grid
    likelihoods: list[Likelihood]
    posterior: Exchangeable
    counts: list[tuple[int, Counts]]  # by the place of the cell
    pairs: Array  # (B, K)
    n_items: int
    drifts: Array  # (J,): the posterior of DRIFTS since the month before

    @classmethod
    def of(
        cls,
        stratum: int,
        asked: Asked,
        counts: list[tuple[int, Counts]],
        before: Sequence[StratumBefore] = (),
    ) -> Self:
        cells = np.flatnonzero(asked.stratum == stratum)
        share = asked.shares[cells].sum(axis=0)
        within = asked.shares[cells] / np.maximum(share, _TINY)
        kind = asked.kinds[stratum]
        shifts, rises = asked.log_odds[cells], kind.rises
        if not kind.scored:
            # A label that the machine never says may still apply.
            yes_shares = asked.word_shares[:, YES].sum(axis=1).mean(axis=0)
            rare = np.log(np.maximum(yes_shares, _least_share(yes_shares)))
            shifts = (rare - rare.mean())[np.newaxis]
        if not shifts.any():
            rises = {0.0: 1.0}
        place = {int(cell): at for at, cell in enumerate(cells)}
        here = [(place[cell], each) for cell, each in counts if cell in place]
        mean = (within * shifts).sum(axis=0) if kind.scored else shifts[0]
        months = [each for each in before if each.cells]
        carried = members(months, rises, mean, kind.prior) or [NOTHING_BEFORE]
        offsets = [rise * shifts for _ in carried for rise in rises]
        by_drift = [
            [
                _likelihood(rise * shifts, here, within, float(np.log(chance)), rise, each)
                for rise, chance in rises.items()
            ]
            for each in carried
        ]
        informed = np.zeros(len(share), dtype=np.bool_)
        for each in (*(each for _, each in here), *(c for m in months for _, c in m.cells)):
            informed |= each.judged.any(axis=0)
        likelihoods = [each for of_one in by_drift for each in of_one]
        exchangeable = Exchangeable.of(likelihoods, kind.prior, informed)
        drifts = np.array([each.chance for each in DRIFTS])
        if months:
            drifts = np.array([exchangeable.share_of(of_one) for of_one in by_drift])
        return cls(
            stratum,
            cells,
            share,
            offsets,
            likelihoods,
            exchangeable,
            counts=here,
            pairs=asked.shares[cells] * asked.n_items,
            n_items=asked.n_items,
            drifts=drifts,
        )

    def words_of_applying(self, word_shares: Array) -> Array:
        """Return what part of the pairs that apply machines say no and yes of, (M, 2, K).

        ``word_shares`` are the shares (M, 2, B, K) in the cells.
        """
        chance, share = self.by_cell[0], self.pairs / self.n_items
        return np.asarray(
            (word_shares * chance).sum(axis=2) / np.maximum((share * chance).sum(axis=0), _TINY)
        )

    @cached_property
    def left(self) -> _Left:
        return _Left.of(self.pairs, self.by_cell[0], self.counts)

    @cached_property
    def by_cell(self) -> Array:
        """Return the means (B, K) of the chances that a label applies, and of their squares."""
        moments = np.zeros((2, len(self.cells), len(self.share)))
        for likelihood, posterior in self.posterior.marginals:
            at = next(at for at, each in enumerate(self.likelihoods) if each is likelihood)
            for cell, offset in enumerate(self.offsets[at]):
                chances = special.expit(GRID + offset[:, np.newaxis])
                moments[0, cell] += (posterior * chances).sum(axis=1)
                moments[1, cell] += (posterior * chances**2).sum(axis=1)
        return moments


def _likelihood(
    offsets: Array,
    here: list[tuple[int, Counts]],
    within: Array,
    log_prior: float,
    rise: float,
    before: Member,
) -> Likelihood:
    """Return the likelihood of answers in some cells, at these offsets of all cells (B, K)."""

    def shifted(cell: int, of: Callable[[Array], Array]) -> Function:
        return lambda logits: of(logits + offsets[cell][:, np.newaxis])

    def log_likelihood(logits: Array) -> Array:
        earlier = before.log_likelihoods.get(rise, np.zeros_like)(logits)
        return sum((shifted(cell, each.log_likelihood)(logits) for cell, each in here), earlier)

    log_prior += before.log_chance

    def frequency(logits: Array) -> Array:
        parts = (
            part[:, np.newaxis] * shifted(cell, special.expit)(logits)
            for cell, part in enumerate(within)
        )
        return sum(parts, np.zeros_like(logits))

    return Likelihood.of(log_likelihood, frequency, within.shape[1], log_prior)


def what_is_left(
    answers: Answers, strata: Strata, before: Sequence[Earlier] = ()
) -> tuple[Array, Array]:
    """Return the mean and the variance (C, K) of the chance that a label applies in each cell."""
    return Asked.of(strata, strata.audit(answers)).frequencies(before).by_cell()


def drawn_chances(
    answers: Answers, strata: Strata, n: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return n draws (n, C, K) of the chance that a label applies in each cell, and what is known.

    What is known (C, K) is as much as so many answers tell.
    """
    posterior = Asked.of(strata, strata.audit(answers)).frequencies()
    mean, variance = (np.clip(each, _TINY, 1 - _TINY) for each in posterior.by_cell())
    draws = np.broadcast_to(mean, (n, *mean.shape)).copy()
    for part in posterior.parts:
        within = part.pairs / np.maximum(part.pairs.sum(axis=0), _TINY)
        of_stratum = np.clip((within * mean[part.cells]).sum(axis=0), _TINY, 1 - _TINY)
        drawn = np.clip(part.posterior.draw(n, rng), _TINY, 1 - _TINY)
        shift = (special.logit(drawn) - special.logit(of_stratum))[:, np.newaxis]
        draws[:, part.cells] = special.expit(special.logit(mean[part.cells]) + shift)
    return draws, np.maximum(mean * (1 - mean) / variance - 1, 0)


def _least_share(shares: Array) -> float:
    """Return a share below those of labels that a machine says of one item."""
    some = shares[shares > 0]
    return float(some.min()) / 2 if some.size else 0.5
