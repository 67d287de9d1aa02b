"""The posterior of logits that are exchangeable over labels, by matrix products.

The logits of all labels come from one distribution around a common mean: normal, and for a share of
the labels, which are unlike the others, a wider normal distribution. The mean, the standard
deviation and that share are unknown. Each has a prior, and all of them are integrated over, and so
is each logit, on one grid: with the likelihood (K, G) of each label and the prior densities (H, G)
of all means and spreads, the chances of what was said are one product, (K, H).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from scipy import special

from complabel._parameters import Array, Bools

Function: TypeAlias = Callable[[Array], Array]  # of logits (K, N)

# All logits: frequencies below 1 in 9 million, or above 1 less 6 in a million, are not told apart.
_STEP = 0.05
GRID = np.arange(-16.0, 12.0 + _STEP / 2, _STEP)
# Standard deviations of the logits. At .1 labels are nearly equally frequent; at 3 one label in
# six is twenty times as frequent, or as rare, as a usual one.
HETEROGENEITY = tuple(np.geomspace(0.1, 3.0, 10).tolist())
# Shares of labels that are unlike the others; their logits have this standard deviation more.
UNLIKE, _FURTHER = (0.0, 0.1, 0.3, 0.6), 1.5
# The mean has so many nodes. Each zoom narrows their range to where the mean is likely.
_MEANS, _ZOOMS, _ENOUGH = 25, 4, 12
_REACH = 4.0  # standard deviations of the prior of the mean
# What is below these shares of the largest, in logarithms, is neglected.
_NEGLIGIBLE, _UNLIKELY = 10.0, 30.0
# A likelihood over fewer nodes of the grid than these is computed at closer ones.
_NARROW, _NODES = 10.0, 192
# So many draws share one mean and one spread, but there are at least so many different pairs.
_ALIKE, _DIFFERENT = 10, 200
_TOO_LITTLE = 1e-14  # of a weight, over the largest
_TINY = float(np.finfo(np.float64).tiny)
_ROOT = float(np.sqrt(2 * np.pi))


def log_prior_of_heterogeneity(sd: float) -> float:
    """Return the log prior probability of a standard deviation of logits, up to a constant."""
    # A half-Cauchy distribution of scale 1. HETEROGENEITY has equal steps in the logarithm.
    return float(np.log(sd) - np.log1p(sd**2))


@dataclass(frozen=True)
class Likelihood:
    """What was said about each label, if its logit is one of GRID; arrays are (K, G)."""

    values: Array  # over the largest of each label
    log_highest: Array  # (K,)
    frequencies: Array
    squares: Array  # of frequencies
    log_prior: float = 0.0  # of this likelihood among several

    @classmethod
    def of(
        cls, log_likelihood: Function, frequency: Function, n_labels: int, log_prior: float = 0.0
    ) -> Self:
        """Compute a likelihood; both functions are of logits of all labels."""
        grid = np.tile(GRID, (n_labels, 1))
        logs, frequencies = log_likelihood(grid), frequency(grid)
        squares = frequencies**2
        highest = logs.max(axis=1)
        values = np.exp(logs - highest[:, np.newaxis])
        narrow = np.flatnonzero(values.sum(axis=1) < _NARROW)
        if len(narrow):
            close = _where_likely(log_likelihood, n_labels)
            logs, of_close = log_likelihood(close)[narrow], frequency(close)[narrow]
            highest[narrow] = logs.max(axis=1)
            step = (close[narrow, 1:2] - close[narrow, :1]) / _STEP
            chances = np.exp(logs - highest[narrow, np.newaxis]) * step
            # The chance of a node is divided between the neighbours in the grid.
            place = np.clip((close[narrow] - GRID[0]) / _STEP, 0, len(GRID) - 1.001)
            left = place.astype(np.intp)
            sums_of_powers = np.zeros((3, *values.shape))
            rows = np.broadcast_to(narrow[:, np.newaxis], left.shape)
            for at, part in ((left, left + 1 - place), (left + 1, place - left)):
                for power in range(3):
                    np.add.at(sums_of_powers[power], (rows, at), chances * part * of_close**power)
            values[narrow] = sums_of_powers[0, narrow]
            sums = np.maximum(values[narrow], _TINY)
            frequencies[narrow], squares[narrow] = sums_of_powers[1:, narrow] / sums
        return cls(values, highest, frequencies, squares, log_prior)


def _where_likely(log_likelihood: Function, n_labels: int) -> Array:
    """Return equally spaced logits (K, N) where what was said is not all but impossible."""
    low, high = np.full(n_labels, GRID[0]), np.full(n_labels, GRID[-1])
    for _ in range(_ZOOMS):
        logits = np.linspace(low, high, _NODES, axis=1)
        values = log_likelihood(logits)
        likely = values >= values.max(axis=1, keepdims=True) - _UNLIKELY
        step = (high - low) / (_NODES - 1)
        first, last = likely.argmax(axis=1), _NODES - 1 - likely[:, ::-1].argmax(axis=1)
        high = low + np.minimum(last + 1, _NODES - 1) * step
        low = low + np.maximum(first - 1, 0) * step
    return np.linspace(low, high, _NODES, axis=1)


@dataclass(frozen=True)
class _AtOneSpread:
    """H means of the logits at one standard deviation, with U shares of labels unlike others."""

    likelihood: Likelihood
    sd: float
    shares: Array  # (U,)
    mean: Array  # (H,), of the logits
    priors: Array  # (2, H, G): densities of labels that are like the others, and of those unlike
    chances: Array  # (H, U, K): of what was said, over the largest
    log_weights: Array  # (H, U), from the prior and from what was said about all labels

    @classmethod
    def of(
        cls,
        likelihood: Likelihood,
        sd: float,
        prior: tuple[float, float],
        informed: Bools,
        shares: Array,
    ) -> Self:
        center, width = prior
        low, high = center - _REACH * width, center + _REACH * width
        for _ in range(_ZOOMS):
            mean, priors = _priors(sd, float(low), float(high))
            chances = _mixed(priors, likelihood.values, shares)
            logs = np.log(np.maximum(chances[..., informed], _TINY)).sum(axis=2)
            logs -= ((mean - center) / width)[:, np.newaxis] ** 2 / 2
            kept = np.flatnonzero(logs.max(axis=1) >= logs.max() - _NEGLIGIBLE)
            low, high = mean[max(kept[0] - 1, 0)], mean[min(kept[-1] + 1, _MEANS - 1)]
            if len(kept) >= _ENOUGH:
                break
        logs += likelihood.log_prior + log_prior_of_heterogeneity(sd) + np.log(mean[1] - mean[0])
        logs += likelihood.log_highest[informed].sum()
        return cls(likelihood, sd, shares, mean, priors, chances, logs)

    def posteriors(self, weights: Array) -> Array:
        """Return the sum of the posteriors (K, G) of all labels, with weights (H, U)."""
        of_each = weights[..., np.newaxis] / np.maximum(self.chances, _TINY)
        like, unlike = (
            (part[:, np.newaxis] * of_each).sum(axis=1) for part in (1 - self.shares, self.shares)
        )
        both = np.concatenate([like, unlike]).T
        return np.asarray(self.likelihood.values * (both @ self.priors.reshape(-1, len(GRID))))

    def posterior(self, at: int, share: int) -> Array:
        """Return the posterior (K, G) for one mean and one share, up to a factor of each label."""
        part = self.shares[share]
        prior = (1 - part) * self.priors[0, at] + part * self.priors[1, at]
        return np.asarray(self.likelihood.values * prior)

    def means(self) -> Array:
        """Return the mean frequencies (H, U, K)."""
        weighted = self.likelihood.values * self.likelihood.frequencies
        return _mixed(self.priors, weighted, self.shares) / np.maximum(self.chances, _TINY)


@functools.lru_cache(maxsize=64)  # several likelihoods start with the same ones
def _priors(sd: float, low: float, high: float) -> tuple[Array, Array]:
    """Return means (H,) in a range, and the densities (2, H, G) around them."""
    mean = np.linspace(low, high, _MEANS)
    apart = (GRID - mean[:, np.newaxis]) ** 2 / 2
    each_of = (sd, np.hypot(sd, _FURTHER))
    return mean, np.stack([np.exp(-apart / each**2) / each for each in each_of])


def _mixed(priors: Array, values: Array, shares: Array) -> Array:
    """Return integrals (H, U, K) of values (K, G) over both priors (2, H, G), with these shares."""
    products = priors.reshape(-1, priors.shape[2]) @ values.T
    like, unlike = products.reshape(2, -1, 1, len(values))
    part = shares[:, np.newaxis]
    return np.asarray((1 - part) * like + part * unlike)


@dataclass(frozen=True)
class Exchangeable:
    """The posterior of the logits of K labels: a mixture over means, spreads and likelihoods."""

    by_spread: list[_AtOneSpread]
    weights: list[Array]  # (H, U) of each; all together they add up to 1
    log_evidence: float  # the log-probability of what was said

    @classmethod
    def of(
        cls,
        likelihoods: Sequence[Likelihood],
        prior: tuple[float, float],
        informed: Bools | None = None,
        shares: Sequence[float] = UNLIKE,
    ) -> Self:
        """Integrate over means, with a normal prior (mean, standard deviation), and over spreads.

        Labels (K,) that are not ``informed`` say nothing about the others. ``shares`` are those of
        labels unlike the others; each is as likely.
        """
        if informed is None:
            informed = np.ones(len(likelihoods[0].values), dtype=np.bool_)
        groups = [
            _AtOneSpread.of(each, sd, prior, informed, np.array(shares))
            for each in likelihoods
            for sd in HETEROGENEITY
        ]
        highest = max(each.log_weights.max() for each in groups)
        kept = [each for each in groups if each.log_weights.max() >= highest - _UNLIKELY]
        weights = [np.exp(each.log_weights - highest) for each in kept]
        total = sum(float(each.sum()) for each in weights)
        spreads = sum(np.exp(log_prior_of_heterogeneity(sd)) for sd in HETEROGENEITY)
        evidence = highest + np.log(total / (spreads * len(shares) * prior[1] * _ROOT))
        evidence += int(informed.sum()) * np.log(_STEP / _ROOT)
        return cls(kept, [each / total for each in weights], float(evidence))

    def share_of(self, likelihoods: Sequence[Likelihood]) -> float:
        """Return the posterior probability of some of the likelihoods."""
        return sum(
            float(weights.sum())
            for each, weights in zip(self.by_spread, self.weights, strict=True)
            if any(each.likelihood is likelihood for likelihood in likelihoods)
        )

    def log_chances(self) -> Array:
        """Return the log-probability (K,) of what was said about a label, by the other labels."""
        logs = [
            np.log(np.maximum(weights[..., np.newaxis], _TINY))
            - np.log(np.maximum(each.chances, _TINY))
            - each.likelihood.log_highest
            for each, weights in zip(self.by_spread, self.weights, strict=True)
        ]
        n_labels = logs[0].shape[2]
        together = np.concatenate([each.reshape(-1, n_labels) for each in logs])
        return np.asarray(np.log(_STEP / _ROOT) - special.logsumexp(together, axis=0))

    @cached_property
    def marginals(self) -> list[tuple[Likelihood, Array]]:
        """Each likelihood, and the posterior (K, G) of the logits with its weight."""
        marginals = []
        for likelihood in {
            id(each.likelihood): each.likelihood for each in self.by_spread
        }.values():
            marginal = np.zeros_like(likelihood.values)
            for each, weights in zip(self.by_spread, self.weights, strict=True):
                if each.likelihood is likelihood:
                    marginal += each.posteriors(weights)
            marginals.append((likelihood, marginal))
        return marginals

    def moments(self) -> tuple[Array, Array]:
        """Return the mean (K,) and the covariance (K, K) of the frequencies."""
        square = sum(
            (posterior * likelihood.squares).sum(axis=1) for likelihood, posterior in self.marginals
        )
        n_labels = len(np.atleast_1d(square))
        means = np.concatenate([each.means().reshape(-1, n_labels) for each in self.by_spread])
        weights = np.concatenate([each.ravel() for each in self.weights])
        some = weights > _TOO_LITTLE * weights.max()
        means, weights = means[some], weights[some]
        mean = weights @ means
        apart = (means - mean) * np.sqrt(weights)[:, np.newaxis]
        covariance = apart.T @ apart
        variance = np.maximum(square - mean**2, np.diag(covariance))
        np.fill_diagonal(covariance, variance)
        return mean, covariance

    def from_others(self) -> tuple[Array, Array]:
        """Return the mean and the variance (K,) of each logit by what the other labels tell."""
        n_labels = self.by_spread[0].chances.shape[2]
        logs = np.concatenate([each.log_weights.ravel() for each in self.by_spread])
        chances = np.concatenate([each.chances.reshape(-1, n_labels) for each in self.by_spread])
        logs = logs[:, np.newaxis] - np.log(np.maximum(chances, _TINY))
        others = special.softmax(logs, axis=0)
        mean = np.concatenate([np.repeat(each.mean, len(each.shares)) for each in self.by_spread])
        variance = np.concatenate(
            [
                np.tile(each.sd**2 + each.shares * _FURTHER**2, len(each.mean))
                for each in self.by_spread
            ]
        )
        center = mean @ others
        return center, (variance + mean**2) @ others - center**2

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """Return draws (n, K) of frequencies; labels of one draw have one mean and one spread."""
        places = [
            (each, *at) for each in self.by_spread for at in np.ndindex(each.log_weights.shape)
        ]
        sums = np.cumsum(np.concatenate([each.ravel() for each in self.weights]))
        different = max(n // _ALIKE, _DIFFERENT)
        chosen = np.searchsorted(sums / sums[-1], (np.arange(different) + 0.5) / different)
        n_labels = self.by_spread[0].chances.shape[2]
        label, draws = np.arange(n_labels), []
        for place, times in zip(*np.unique(chosen, return_counts=True), strict=True):
            group, at, share = places[place]
            # Rows of sums, one after the other, rise from 0 to K, so one search finds all nodes.
            sums = np.cumsum(group.posterior(at, share), axis=1)
            rising = (sums / sums[:, -1:] + label[:, np.newaxis]).ravel()
            uniform = rng.random((-(-n * times // different), n_labels))
            # Label by label: neighbours in the grid are neighbours in memory.
            at_label = label[:, np.newaxis]
            node = np.searchsorted(rising, uniform.T + at_label) - at_label * len(GRID)
            node = np.clip(node, 0, len(GRID) - 1)
            draws.append(group.likelihood.frequencies[at_label, node].T)
        return rng.permutation(np.concatenate(draws))[:n]
