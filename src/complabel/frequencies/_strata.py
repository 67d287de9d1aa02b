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

Frequencies and rates are about these items: of each stratum, what people said of some pairs counts
as it is, and the other pairs are drawn with P(applies | stratum).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import special

from complabel._parameters import Array, Bools, Ints
from complabel.answers import Answers, text_of
from complabel.frequencies._counts import Audit, Counts
from complabel.frequencies._exchangeable import GRID, Exchangeable, Function, Likelihood
from complabel.frequencies._posterior import Posterior

# What a machine says: that a label does not apply, that it does, or nothing.
_NO, _YES, _NOTHING = range(3)
# By how much the logits of labels rise with the log of the machine's share, and the prior of that:
# of a label that is frequent a machine misses more, but if it says a label too often, less applies.
_RISES = {
    _NO: {-1.0: 0.1, 0.0: 0.2, 0.5: 0.3, 1.0: 0.4},
    _YES: {-2.0: 0.15, -1.0: 0.2, 0.0: 0.45, 0.5: 0.2},
}
# By how much logits rise with the machine's log-odds: models are often too sure, rarely too unsure.
_SLOPES = {0.25: 0.15, 0.5: 0.2, 0.75: 0.25, 1.0: 0.25, 1.4: 0.15}
# Log-odds of scores are divided at whole numbers, between these.
_LOWEST, _HIGHEST = -10, 6
# The prior of a stratum's mean logit, at a mean share.
_MEANS = {_NO: (-3.0, 3.0), _YES: (1.0, 2.0), _NOTHING: (-1.0, 3.0)}
# The same for scores, beside the machine's log-odds times the slope.
_OF_SCORES = (0.0, 2.0)
# So many draws, and of many labels a quarter: an end of an interval of 95 % is then that of a tail
# of .025, with an error of .0025 or .005.
_N_DRAWS, _MOST_DRAWN = 4000, 1_000_000
_QUANTILES = (0.025, 0.975)
_ROUNDS_OF_UNSURE = 5
_ROUNDING = 1e-6  # of a number of items
_TINY = 1e-12


@dataclass(frozen=True)
class Strata:
    """What a machine says of all pairs: C cells, each in one of three strata."""

    cell: Ints  # (n, K)
    stratum: Ints  # (C,): of each cell, one of _NO, _YES and _NOTHING
    shares: Array  # (C, K), of the items; those of a label add up to 1
    log_odds: Array | None  # (C, K), the machine's; None: it said yes or no
    digest: str = ""  # of the machine, if it is known what it is about

    @property
    def n_items(self) -> int:
        """The number of items, n."""
        return len(self.cell)

    @classmethod
    def of(cls, predictions: Array, about: Answers | None = None) -> Self:
        """Divide pairs by predictions (n, K): 0 and 1, or probabilities; NaN: nothing is said.

        ``about`` has the names of the items and of the labels, which belong into the digest.
        """
        nothing = np.isnan(predictions)
        p = np.where(nothing, 0.5, predictions)
        words = bool(np.isin(predictions[~nothing], (0.0, 1.0)).all())
        if words:
            cell = np.where(nothing, _NOTHING, p >= 1).astype(np.intp)
            stratum = np.arange(3)
        else:
            least = special.expit(_LOWEST - 1.0)
            bins = np.floor(special.logit(np.clip(p, least, 1 - least))).astype(np.intp)
            cell = np.clip(bins, _LOWEST, _HIGHEST - 1) - _LOWEST
            cell[nothing] = _HIGHEST - _LOWEST
            stratum = (np.arange(_LOWEST, _HIGHEST + 1) >= 0).astype(np.intp)
            stratum[-1] = _NOTHING
        place = cell * p.shape[1] + np.arange(p.shape[1])
        size = len(stratum) * p.shape[1]
        n, total = (
            np.bincount(place.ravel(), weights=weights, minlength=size).reshape(len(stratum), -1)
            for weights in (None, p.ravel())
        )
        log_odds = None
        if not words:
            mean = total / np.maximum(n, 1)
            ends = special.expit([_LOWEST - 0.5, _HIGHEST + 0.5])
            log_odds = special.logit(np.clip(mean, *ends))  # no machine is surer than that
            log_odds[(n == 0) | (stratum == _NOTHING)[:, np.newaxis]] = 0.0
        digest = "" if about is None else _digest(predictions, about)
        return cls(cell, stratum, n / len(p), log_odds, digest)

    @property
    def nothing(self) -> Bools:
        """Whether a cell has the pairs of which the machine says nothing, (C,)."""
        return np.asarray(self.stratum == _NOTHING)

    @property
    def words(self) -> list[str]:
        """What the machine says in each cell, (C,), as in ``drawn``: "yes", or "yes.3"."""
        said = [("no", "yes", "nothing")[stratum] for stratum in self.stratum.tolist()]
        if self.log_odds is None:
            return said
        numbers = np.abs(np.arange(_LOWEST, _HIGHEST)).tolist()
        return [*(f"{word}.{n}" for word, n in zip(said, numbers, strict=False)), said[-1]]

    @property
    def of_pairs(self) -> Ints:
        """The stratum of each pair, (n, K)."""
        return np.asarray(self.stratum[self.cell])

    def asked(
        self, audit: Audit, missed: Array | None, invented: Array | None
    ) -> list[tuple[int, Counts]]:
        """Return the answers in each cell in which somebody was asked."""
        cell = self.cell[audit.item, audit.label]
        found = []
        for each in np.unique(cell):
            counts = audit.counts(missed, invented, only=cell == each)
            found.append((int(each), counts))
        return found


@dataclass(frozen=True)
class Asked:
    """What people said in the cells of one machine, as the posterior needs it."""

    stratum: Ints  # (C,)
    shares: Array  # (C, K)
    log_odds: Array | None  # (C, K)
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
            strata.shares,
            strata.log_odds,
            asked,
            strata.n_items,
            unsure,
        )

    def frequencies(self) -> StrataPosterior:
        """Return the posterior of P(applies | stratum) of each label, and of what follows."""
        if self.unsure is None or not self.unsure.any():
            return StrataPosterior.of(self, self.counts)
        # How often people are unsure where a label applies, and where it does not: by expectation
        # and maximization, from equal rates on.
        yes = sum(float(counts.yes.sum()) for _, counts in self.counts)
        no = sum(float((counts.judged - counts.yes).sum()) for _, counts in self.counts)
        n_unsure = float(self.unsure.sum())
        overall = n_unsure / (yes + no + n_unsure)
        rates = (overall, overall)
        for _ in range(_ROUNDS_OF_UNSURE):
            found = StrataPosterior.of(self, self._with_unsure(*rates))
            chance = np.clip(found.by_cell()[0], _TINY, 1 - _TINY)
            odds = rates[0] * chance / (rates[0] * chance + rates[1] * (1 - chance))
            applies = float((self.unsure * odds).sum())
            rates = (
                (applies + overall) / (yes + applies + 1),
                (n_unsure - applies + overall) / (no + n_unsure - applies + 1),
            )
        return StrataPosterior.of(self, self._with_unsure(*rates), unsure=rates)

    def _with_unsure(self, of_yes: float, of_no: float) -> list[tuple[int, Counts]]:
        """Return counts of three answers, each with its chance where labels apply and do not."""
        found = []
        for cell, counts in self.counts:
            no = counts.judged - counts.yes
            said_yes = Counts(
                counts.yes,
                counts.yes,
                1 - (1 - of_yes) * (1 - counts.missed),
                (1 - of_no) * counts.invented,
            )
            said_no = Counts(
                np.zeros_like(no),
                no,
                (1 - of_yes) * counts.missed,
                1 - (1 - of_no) * (1 - counts.invented),
            )
            found += [(cell, said_yes), (cell, said_no)]
        assert self.unsure is not None
        for cell in np.flatnonzero(self.unsure.any(axis=1)).tolist():
            n = self.unsure[cell]
            found.append((cell, Counts.of_one_group(n, n, 1 - of_yes, of_no)))
        return found


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
    ) -> Self:
        parts = []
        for stratum in np.unique(asked.stratum).tolist():
            cells = np.flatnonzero(asked.stratum == stratum)
            if asked.shares[cells].any():
                parts.append(_Stratum.of(stratum, asked, counts))
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
        intervals = np.stack([np.minimum(low, values), np.maximum(high, values)], axis=1)
        nothing = np.empty(0)
        return Posterior(values, covariance, intervals, nothing, nothing, 0.0)

    def as_counts(self, posterior: Posterior) -> Counts:
        """Return numbers of judgements by people who never err that tell as much."""
        values = np.clip(posterior.values, _TINY, 1 - _TINY)
        variance = np.maximum(np.diag(posterior.covariance), _TINY)
        judged = np.maximum(values * (1 - values) / variance - 1, _TINY)
        return Counts.of_one_group(values * judged, judged)

    def by_cell(self) -> tuple[Array, Array]:
        """Return the mean and the variance (C, K) of the chance that a label applies."""
        found = np.zeros((2, *self.asked.shares.shape))
        for part in self.parts:
            found[:, part.cells] = part.by_cell
        return found[0], np.maximum(found[1] - found[0] ** 2, 0)

    @cached_property
    def draws(self) -> Draws:
        """Draws of the share of each stratum's pairs that apply, always the same."""
        rng = np.random.default_rng(0)
        n_labels = self.asked.shares.shape[1]
        shape = (3, max(_N_DRAWS // 4, min(_N_DRAWS, _MOST_DRAWN // n_labels)), n_labels)
        chances, shares = np.zeros(shape), np.zeros((3, shape[2]))
        for part in self.parts:
            chances[part.stratum] = part.left.draw(part.posterior.draw(shape[1], rng), rng)
            shares[part.stratum] = part.share
        return Draws(chances, shares)


@dataclass(frozen=True)
class Draws:
    """Draws of the share of pairs that apply, and each stratum's share of a label's pairs."""

    chances: Array  # (3, D, K)
    shares: Array  # (3, K)

    @property
    def frequencies(self) -> Array:
        """Draws (D, K) of the label frequencies."""
        return np.asarray((self.chances * self.shares[:, np.newaxis]).sum(axis=0))

    def rates(self) -> dict[str, Array]:
        """Return draws (D, K + 1) of the machine's rates; the last column is about all pairs."""
        said = (self.chances * self.shares[:, np.newaxis])[[_NO, _YES]]  # joint with "applies"
        share = np.broadcast_to(self.shares[[_NO, _YES], np.newaxis], said.shape)
        applies, share = (
            np.concatenate([each, each.sum(axis=2, keepdims=True)], axis=2)
            for each in (said, share)
        )
        right, wrong = applies[1], share[1] - applies[1]
        missed, rest = applies[0], share[0] - applies[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "precision": right / share[1],
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

    @classmethod
    def of(cls, stratum: int, asked: Asked, counts: list[tuple[int, Counts]]) -> Self:
        cells = np.flatnonzero(asked.stratum == stratum)
        share = asked.shares[cells].sum(axis=0)
        within = asked.shares[cells] / np.maximum(share, _TINY)
        prior = _MEANS[stratum]
        if asked.log_odds is None:
            # A label that the machine never says may still apply.
            rare = np.log(np.maximum(asked.shares[_YES], _least_share(asked.shares)))
            beside, rises = (rare - rare.mean())[np.newaxis], _RISES.get(stratum, _RISES[_NO])
        else:
            beside, rises = asked.log_odds[cells], _SLOPES
            prior = _OF_SCORES if stratum != _NOTHING else prior
        if not beside.any():
            rises = {0.0: 1.0}
        place = {int(cell): at for at, cell in enumerate(cells)}
        here = [(place[cell], each) for cell, each in counts if cell in place]
        offsets = [rise * beside for rise in rises]
        likelihoods = [
            _likelihood(offset, here, within, np.log(chance))
            for offset, chance in zip(offsets, rises.values(), strict=True)
        ]
        told = np.zeros(len(share), dtype=np.bool_)
        for _, each in here:
            told |= each.judged.any(axis=0)
        found = Exchangeable.of(likelihoods, prior, told)
        return cls(
            stratum,
            cells,
            share,
            offsets,
            likelihoods,
            found,
            counts=here,
            pairs=asked.shares[cells] * asked.n_items,
        )

    @cached_property
    def left(self) -> _Left:
        return _Left.of(self.pairs, self.by_cell[0], self.counts)

    @cached_property
    def by_cell(self) -> Array:
        """Return the means (B, K) of the chances that a label applies, and of their squares."""
        found = np.zeros((2, len(self.cells), len(self.share)))
        for likelihood, posterior in self.posterior.marginals:
            at = next(at for at, each in enumerate(self.likelihoods) if each is likelihood)
            for cell, offset in enumerate(self.offsets[at]):
                chances = special.expit(GRID + offset[:, np.newaxis])
                found[0, cell] += (posterior * chances).sum(axis=1)
                found[1, cell] += (posterior * chances**2).sum(axis=1)
        return found


def _likelihood(
    offsets: Array, here: list[tuple[int, Counts]], within: Array, log_prior: float
) -> Likelihood:
    """Return the likelihood of answers in some cells, at these offsets of all cells (B, K)."""

    def beside(cell: int, of: Callable[[Array], Array]) -> Function:
        return lambda logits: of(logits + offsets[cell][:, np.newaxis])

    def log_likelihood(logits: Array) -> Array:
        return sum(
            (beside(cell, each.log_likelihood)(logits) for cell, each in here),
            np.zeros_like(logits),
        )

    def frequency(logits: Array) -> Array:
        parts = (
            part[:, np.newaxis] * beside(cell, special.expit)(logits)
            for cell, part in enumerate(within)
        )
        return sum(parts, np.zeros_like(logits))

    return Likelihood.of(log_likelihood, frequency, within.shape[1], log_prior)


def what_is_left(answers: Answers, strata: Strata) -> tuple[Array, Array]:
    """Return the mean and the variance (C, K) of the chance that a label applies in each cell."""
    asked = Asked.of(strata, Audit.of(answers, strata.of_pairs, strata.digest))
    return asked.frequencies().by_cell()


def _digest(predictions: Array, about: Answers) -> str:
    """Return a digest of what a machine says (n, K), whatever the order of items and labels."""
    names: list[Any] = [about.item_names, about.label_names]
    said = ~np.isnan(predictions)
    found, orders = hashlib.sha256(), []
    for axis, each in enumerate(names):
        texts = [*map(text_of, range(predictions.shape[axis]) if each is None else each)]
        kept = np.flatnonzero(said.any(axis=1 - axis)).tolist()
        orders.append(sorted(kept, key=texts.__getitem__))
        found.update("\n".join(texts[at] for at in orders[-1]).encode() + b"\0")
    values = np.where(said, predictions, -1.0)[np.ix_(*orders)] + 0.0  # without a sign of 0
    found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:8]


def said_by(machine: Answers, confidence: Array | None = None) -> Array:
    """Return a machine's answers as predictions (n, K): 1, 0, and NaN where it says nothing.

    With the ``confidence`` (n, K) of each answer they are probabilities; those of yes are at least
    .5, and those of no below.
    """
    yes, no = machine.known_relevant > 0, machine.complementary > 0
    found = np.full(machine.shape, np.nan)
    sure = np.ones(machine.shape) if confidence is None else confidence
    found[yes & ~no] = np.maximum(sure, 0.5)[yes & ~no]
    found[no & ~yes] = np.minimum(1 - sure, np.nextafter(0.5, 0))[no & ~yes]
    return found


def _least_share(shares: Array) -> float:
    """Return a share below those of labels that a machine says of one item."""
    some = shares[shares > 0]
    return float(some.min()) / 2 if some.size else 0.5
