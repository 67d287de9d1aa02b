"""Label frequencies, and the mistakes of a machine, from people's answers by what the machine says.

A machine, such as a language model or a classifier, says of all pairs of an item and a label
whether the label applies. People answer some pairs. The pairs of one label are divided by what the
machine says (strata). Within a stratum, who is asked is random, so the chance of a question is not
needed. With the share q of pairs of which the machine says yes,

    frequency = q P(applies | machine says yes) + (1 - q) P(applies | machine says no).

The logits of P(applies | stratum) are exchangeable over labels: they come from a normal
distribution with heavy tails, three quarters with a standard deviation s and one quarter with 3 s.
Its mean may rise with log(q). The mean, the rise and s are unknown and are integrated over, and so
is each logit: by quadrature, one stratum after the other. Scores divide a stratum into bins; within
it, the logit rises with the log-odds of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from complabel.answers import Answers
from complabel.frequencies._counts import Array, Audit, Counts
from complabel.frequencies._posterior import HETEROGENEITY, Posterior, log_prior_of_heterogeneity

# What a machine says: that a label does not apply, that it does, or nothing.
_NO, _YES, _NOTHING = range(3)
# A quarter of all labels are unlike the others: with a standard deviation three times as large.
_TAILS, _WIDER = 0.25, 3.0
# By how much the logits of labels rise with the log of the machine's share, and the prior of that:
# of a label that is frequent a machine misses more, but if it says a label too often, less applies.
_RISES = {
    _NO: {-1.0: 0.1, 0.0: 0.2, 0.5: 0.3, 1.0: 0.4},
    _YES: {-2.0: 0.15, -1.0: 0.2, 0.0: 0.45, 0.5: 0.2},
}
# Log-odds of scores are divided at whole numbers, between these.
_LOWEST, _HIGHEST = -10, 6
# The prior of a stratum's mean logit, at a mean share.
_MEANS = {_NO: (-3.0, 3.0), _YES: (1.0, 2.0), _NOTHING: (-1.0, 3.0)}
# The same for scores, beside the machine's log-odds times the slope.
_OF_SCORES = (0.0, 2.0)
# The prior of the slope of logits over the machine's log-odds is normal.
_SLOPE, _SLOPE_SD = 1.0, 0.5
_NODES_OF_MEAN, _STEPS, _LONGEST, _CLOSE = 9, 30, 2.0, 1e-4
# Nodes of logits, how far from the mean of the prior, and below which share of the maximum of the
# likelihood a logit is neglected.
_N_NODES, _REACH = 192, 13.0
_N_DRAWS = 4000
_QUANTILES = (0.025, 0.975)
_ROUNDS_OF_UNSURE = 5
_TINY = 1e-12


@dataclass(frozen=True)
class Strata:
    """What a machine says of all pairs: C cells, each in one of three strata."""

    cell: NDArray[np.intp]  # (n, K)
    stratum: NDArray[np.intp]  # (C,): of each cell, one of _NO, _YES and _NOTHING
    shares: Array  # (C, K), of the items; those of a label add up to 1
    log_odds: Array | None  # (C, K), the machine's; None: it said yes or no

    @property
    def n_items(self) -> int:
        """The number of items, n."""
        return len(self.cell)

    @classmethod
    def of(cls, predictions: Array) -> Self:
        """Divide pairs by predictions (n, K): 0 and 1, or probabilities; NaN: nothing is said."""
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
            log_odds = special.logit(np.clip(mean, 1e-9, 1 - 1e-9))
            log_odds[(n == 0) | (stratum == _NOTHING)[:, np.newaxis]] = 0.0
        return cls(cell, stratum, n / len(p), log_odds)

    @property
    def of_pairs(self) -> NDArray[np.intp]:
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

    stratum: NDArray[np.intp]  # (C,)
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
        return cls(strata.stratum, strata.shares, strata.log_odds, asked, strata.n_items, unsure)

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
            chance = np.clip(found.by_cell(), _TINY, 1 - _TINY)
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
        slope = 0.0 if asked.log_odds is None else _slope(asked, counts)
        parts = []
        for stratum in np.unique(asked.stratum).tolist():
            cells = np.flatnonzero(asked.stratum == stratum)
            if asked.shares[cells].any():
                parts.append(_Stratum.of(stratum, asked, counts, slope))
        return cls(asked, parts, unsure)

    def posterior(self) -> Posterior:
        """Return the posterior of the label frequencies."""
        n_labels = self.asked.shares.shape[1]
        values, covariance = np.zeros(n_labels), np.zeros((n_labels, n_labels))
        for part in self.parts:
            mean, of_mean = part.moments
            values += part.share * mean
            covariance += part.share[:, np.newaxis] * of_mean * part.share
        low, high = np.quantile(self.draws.frequencies, _QUANTILES, axis=0)
        # A label applies to a whole number of items.
        n = self.asked.n_items
        low, high = np.floor(low * n) / n, np.minimum(np.ceil(high * n) / n, 1.0)
        intervals = np.stack([np.minimum(low, values), np.maximum(high, values)], axis=1)
        nothing = np.empty(0)
        return Posterior(values, covariance, intervals, nothing, nothing, 0.0)

    def as_counts(self, posterior: Posterior) -> Counts:
        """Return numbers of judgements by people who never err that tell as much."""
        values = np.clip(posterior.values, _TINY, 1 - _TINY)
        variance = np.maximum(np.diag(posterior.covariance), _TINY)
        judged = np.maximum(values * (1 - values) / variance - 1, _TINY)
        return Counts.of_one_group(values * judged, judged)

    def of_strata(self) -> tuple[Array, Array, Array]:
        """Return means and variances (3, K) of P(applies | stratum), and shares of the items."""
        mean, variance, share = np.zeros((3, 3, self.asked.shares.shape[1]))
        for part in self.parts:
            mean[part.stratum], covariance = part.moments
            variance[part.stratum], share[part.stratum] = np.diag(covariance), part.share
        return mean, variance, share

    def by_cell(self) -> Array:
        """Return the mean chance (C, K) that a label applies in each cell."""
        chances = np.zeros_like(self.asked.shares)
        for part in self.parts:
            chances[part.cells] = part.by_cell()
        return chances

    @cached_property
    def draws(self) -> Draws:
        """Draws from the posterior of P(applies | stratum), always the same."""
        rng = np.random.default_rng(0)
        shape = (3, _N_DRAWS, self.asked.shares.shape[1])
        chances, shares = np.zeros(shape), np.zeros((3, shape[2]))
        for part in self.parts:
            chances[part.stratum], shares[part.stratum] = part.draw(rng), part.share
        return Draws(chances, shares)


@dataclass(frozen=True)
class Draws:
    """Draws of P(applies | stratum), and the share of the pairs of each label in each stratum."""

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
class _Stratum:
    """The posterior of one stratum: a mixture over means and spreads of its labels' logits."""

    stratum: int
    cells: NDArray[np.intp]
    share: Array  # (K,), of the items
    offsets: Array  # (B, K): where the logit of a cell lies beside the logit of the label
    logits: Array  # (K, N), of the labels
    log_values: Array  # (K, N)
    frequencies: Array  # (K, N)
    beside: Array  # (K,): log of the machine's share, less the mean of labels
    hyper: Array  # (H, 3): the mean of the logits, their standard deviation, and their rise
    weight: Array  # (H,), of each of them

    @classmethod
    def of(cls, stratum: int, asked: Asked, counts: list[tuple[int, Counts]], slope: float) -> Self:
        cells = np.flatnonzero(asked.stratum == stratum)
        share = asked.shares[cells].sum(axis=0)
        within = asked.shares[cells] / np.maximum(share, _TINY)
        offsets, beside = np.zeros_like(within), np.zeros_like(share)
        prior, rises = _MEANS[stratum], _RISES[_YES if stratum == _YES else _NO]
        if asked.log_odds is None:
            # A label that the machine never says may still apply.
            rare = np.log(np.maximum(asked.shares[_YES], _least_share(asked.shares)))
            beside = rare - rare.mean()
        else:
            offsets, rises = slope * asked.log_odds[cells], {0.0: 1.0}
            prior = _OF_SCORES if stratum != _NOTHING else prior
        place = {int(cell): at for at, cell in enumerate(cells)}
        here = [(offsets[place[cell]], each) for cell, each in counts if cell in place]

        def log_likelihood(logits: Array) -> Array:
            found = np.zeros_like(logits)
            for offset, each in here:
                found += each.log_likelihood(logits + offset[:, np.newaxis])
            return found

        logits = _where_likely(log_likelihood, len(share), prior)
        step = np.log(logits[:, 1:2] - logits[:, :1])
        values = log_likelihood(logits) + step
        frequencies = np.zeros_like(logits)
        for offset, part in zip(offsets, within, strict=True):
            frequencies += part[:, np.newaxis] * special.expit(logits + offset[:, np.newaxis])
        # Labels about which nobody was asked say nothing about means and spreads.
        told = np.ptp(values, axis=1) > 0
        apart = beside[told, np.newaxis]
        places = {rise: (logits[told] - rise * apart, chance) for rise, chance in rises.items()}
        hyper, weight = _integrated(places, values[told], prior)
        return cls(
            stratum, cells, share, offsets, logits, values, frequencies, beside, hyper, weight
        )

    def given(self) -> Iterator[tuple[float, Array]]:
        """Yield the posterior over the nodes (K, N) for each of H, with the weight."""
        for weight, (mean, sd, rise) in zip(self.weight.tolist(), self.hyper, strict=True):
            logits = self.logits - rise * self.beside[:, np.newaxis]
            yield weight, _posterior(logits, self.log_values, mean, sd)[0]

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """The mean (K,) and the covariance (K, K) of P(applies | stratum)."""
        means, variances = [], []
        for _, posterior in self.given():
            means.append((posterior * self.frequencies).sum(axis=1))
            variances.append((posterior * self.frequencies**2).sum(axis=1) - means[-1] ** 2)
        by_hyper = np.stack(means)
        mean = self.weight @ by_hyper
        apart = by_hyper - mean
        covariance = (apart.T * self.weight) @ apart
        return mean, covariance + np.diag(np.maximum(self.weight @ np.stack(variances), 0))

    def by_cell(self) -> Array:
        """Return the mean chance (B, K) that a label applies, in each cell."""
        posterior = np.zeros_like(self.logits)
        for weight, given in self.given():
            posterior += weight * given
        return np.stack(
            [
                (posterior * special.expit(self.logits + offset[:, np.newaxis])).sum(axis=1)
                for offset in self.offsets
            ]
        )

    def draw(self, rng: np.random.Generator) -> Array:
        """Return draws (D, K) of P(applies | stratum); labels of one draw have one mean and sd."""
        n_labels, n_nodes = self.logits.shape
        found = np.empty((_N_DRAWS, n_labels))
        n_each = rng.multinomial(_N_DRAWS, self.weight)
        at, label = 0, np.arange(n_labels)
        for n, (_, posterior) in zip(n_each.tolist(), self.given(), strict=True):
            # Rows of sums, one after the other, rise from 0 to K, so one search finds all nodes.
            sums = np.cumsum(posterior, axis=1) / posterior.sum(axis=1, keepdims=True)
            rising = (sums + label[:, np.newaxis]).ravel()
            uniform = rng.random((n, n_labels))
            node = np.searchsorted(rising, uniform + label) - label * n_nodes
            node = np.clip(node, 0, n_nodes - 1)
            found[at : at + n] = self.frequencies[label, node]
            at += n
        return rng.permutation(found)  # strata are independent


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


def what_is_left(
    answers: Answers, predictions: Array
) -> tuple[NDArray[np.intp], Array, Array, Array]:
    """Return what answers leave unknown: strata of pairs (n, K), and what is known about each.

    These are the mean and the variance of P(applies | stratum), (3, K), and the stratum's share of
    the items of a label, (3, K).
    """
    strata = Strata.of(predictions)
    asked = Asked.of(strata, Audit.of(answers, strata.of_pairs))
    return strata.of_pairs, *asked.frequencies().of_strata()


def _least_share(shares: Array) -> float:
    """Return a share below those of labels that a machine says of one item."""
    some = shares[shares > 0]
    return float(some.min()) / 2 if some.size else 0.5


def _where_likely(
    log_likelihood: Callable[[Array], Array], n_labels: int, prior: tuple[float, float]
) -> Array:
    """Return equally spaced logits (K, N) where what was said is not all but impossible."""
    low = np.full(n_labels, prior[0] - _REACH)
    high = np.full(n_labels, prior[0] + _REACH)
    for _ in range(2):
        logits = np.linspace(low, high, _N_NODES // 2, axis=1)
        values = log_likelihood(logits)
        likely = values >= values.max(axis=1, keepdims=True) - 30.0
        step = (high - low) / (_N_NODES // 2 - 1)
        last = logits.shape[1] - 1
        first, end = likely.argmax(axis=1), last - likely[:, ::-1].argmax(axis=1)
        high = low + np.minimum(end + 1, last) * step
        low = low + np.maximum(first - 1, 0) * step
    return np.linspace(low, high, _N_NODES, axis=1)


def _log_prior(logits: Array, mean: float, sd: float) -> tuple[Array, Array]:
    """Return the log-density of logits under the prior with tails, and odds that they are near."""
    squared = ((logits - mean) / sd) ** 2
    # Both parts have the factor of the wider one in common, so one exponential is enough.
    odds = (1 - _TAILS) * _WIDER / _TAILS * np.exp(squared * (1 / _WIDER**2 - 1) / 2)
    log_density = np.log1p(odds) - squared / (2 * _WIDER**2) + np.log(_TAILS / _WIDER / sd)
    return log_density, odds


def _posterior(
    logits: Array, log_values: Array, mean: float, sd: float
) -> tuple[Array, Array, Array]:
    """Return the posterior over the nodes (K, N), and log-probabilities of answers (K,).

    The last are the odds (K, N) that a logit belongs to the labels that are like the others.
    """
    log_density, odds = _log_prior(logits, mean, sd)
    log_density += log_values
    highest = log_density.max(axis=1, keepdims=True)
    density = np.exp(log_density - highest)
    total = density.sum(axis=1, keepdims=True)
    return density / total, (highest + np.log(total)).ravel(), odds


def _integrated(
    places: dict[float, tuple[Array, float]], log_values: Array, prior: tuple[float, float]
) -> tuple[Array, Array]:
    """Return means, standard deviations and rises of all logits (H, 3), and their weights (H,).

    ``places`` are, for each rise, the nodes beside the prior's mean (K, N) and its prior.
    """
    x, w = np.polynomial.hermite.hermgauss(_NODES_OF_MEAN)
    hyper, total = [], []
    for rise, (logits, chance) in places.items():
        at, highest = prior[0], -np.inf
        for sd in reversed(HETEROGENEITY):
            at, width = _likeliest_mean(logits, log_values, sd, prior, at)
            for node, weight in zip(x, w, strict=True):
                mean = at + np.sqrt(2) * width * node
                log_prior = log_prior_of_heterogeneity(sd) + np.log(chance)
                log_prior -= ((mean - prior[0]) / prior[1]) ** 2 / 2
                log_chances = _posterior(logits, log_values, mean, sd)[1].sum()
                hyper.append((mean, sd, rise))
                total.append(log_chances + log_prior + np.log(weight) + node**2 + np.log(width))
            highest = max(highest, total[-_NODES_OF_MEAN // 2])
            if total[-_NODES_OF_MEAN // 2] < highest - 20:  # smaller spreads are less likely still
                break
    weights = special.softmax(total)
    kept = weights > 1e-5
    return np.array(hyper)[kept], weights[kept] / weights[kept].sum()


def _likeliest_mean(
    logits: Array, log_values: Array, sd: float, prior: tuple[float, float], at: float
) -> tuple[float, float]:
    """Return the mode of the mean of all logits, and about the width of its posterior."""
    precision = prior[1] ** -2
    for _ in range(_STEPS):
        posterior, _, odds = _posterior(logits, log_values, at, sd)
        pull = (odds + _WIDER**-2) / (1 + odds) / sd**2
        score = pull * (logits - at)
        of_each = (posterior * score).sum(axis=1)
        variance = (posterior * score**2).sum(axis=1) - of_each**2
        slope = of_each.sum() - (at - prior[0]) / prior[1] ** 2
        curvature = np.maximum((posterior * pull).sum(axis=1) - variance, 0).sum()
        precision = float(curvature + prior[1] ** -2)
        step = float(np.clip(slope / precision, -_LONGEST, _LONGEST))
        at += step
        if abs(step) < _CLOSE:
            break
    return at, precision**-0.5


def _slope(asked: Asked, counts: Sequence[tuple[int, Counts]]) -> float:
    """Return the likeliest slope of logits over the machine's log-odds, one for all labels."""
    from scipy import optimize  # takes a third of a second

    assert asked.log_odds is not None
    log_odds: Any = asked.log_odds

    def loss(at: Array) -> float:
        value = ((at[0] - _SLOPE) / _SLOPE_SD) ** 2 / 2 + (at[1:] ** 2).sum() / 2 / _OF_SCORES[1]
        for cell, each in counts:
            logits = at[0] * log_odds[cell] + at[1 + asked.stratum[cell]]
            value -= float(each.log_likelihood(logits[:, np.newaxis]).sum())
        return float(value)

    start = np.array([_SLOPE, 0.0, 0.0, 0.0])
    return float(np.clip(optimize.minimize(loss, start, method="L-BFGS-B").x[0], 0.0, 3.0))
