"""The posterior of frequencies and propensities given the counts.

The prior of logits of frequencies is a normal distribution, whose mean and standard deviation are
unknown themselves: few and equal labels are drawn together, rare ones among others are not. The
prior of logarithms of propensities is a normal distribution around 0. The result is an average
over all means and over a grid of both standard deviations, weighted by the evidence that the counts
give (hierarchical Bayes). Without named labels it is exact up to rounding; with them it is
Laplace's approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg, special

from complabel._parameters import Array, Bools
from complabel.frequencies._counts import Counts
from complabel.frequencies._exchangeable import Exchangeable, Likelihood, log_prior_of_heterogeneity
from complabel.frequencies._naming import NamingLikelihood

# Standard deviations of log-propensities. At .03 all labels are nearly alike; at 1.4 one label in
# twenty comes to mind ten times as readily as a usual one.
SPREADS = (0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
# Standard deviations of the logits of frequencies where labels were named: each takes a search for
# the mode. The largest comes first: under it frequencies may lie anywhere, so it shows which
# spreads of propensities are possible.
_FEWER = (2.4, 1.1, 0.5, 0.2)
# The prior of the mean of the logits is normal. Nearly any mean frequency is possible.
PRIOR_MEAN, PRIOR_SD = -1.0, 3.0
# A grid point is left out if its log-evidence is this much below the best: its weight is e^-10.
_NEGLIGIBLE = 10.0
_NORMAL_95 = 1.96
_FAST: Any = {"lower": True, "check_finite": False}
# Gauss-Hermite nodes and weights for the mean over a standard normal distribution.
_HERMITE_X, _HERMITE_W = np.polynomial.hermite_e.hermegauss(20)
_HERMITE_W = _HERMITE_W / _HERMITE_W.sum()


@dataclass(frozen=True)
class Posterior:
    """Moments of the posterior, and an interval of 95 % for each label."""

    values: Array  # (K,)
    covariance: Array  # (K, K), of values
    intervals: Array  # (K, 2)
    log_propensities: Array  # (K,), or (0,) if nothing was named
    with_cardinality: Array  # covariance of log_propensities with the sum of values
    spread: float

    def with_values_of(self, other: Posterior) -> Posterior:
        """Return the values of another posterior with the log-propensities of this one."""
        ratio = other.covariance.sum() / self.covariance.sum()
        return replace(
            other,
            log_propensities=self.log_propensities,
            with_cardinality=ratio * self.with_cardinality,
            spread=self.spread,
        )


def from_audit(counts: Counts) -> Posterior:
    """Return the posterior from judgements alone, by numerical integration."""
    n_labels = counts.yes.shape[1]
    likelihood = Likelihood.of(counts.log_likelihood, special.expit, n_labels)
    exchangeable = Exchangeable.of([likelihood], (PRIOR_MEAN, PRIOR_SD), shares=(0.0,))
    values, covariance = exchangeable.moments()
    intervals = holding(values, *assisted_intervals(counts, *exchangeable.from_others()).T)
    nothing = np.empty(0)
    return Posterior(values, covariance, intervals, nothing, nothing, 0.0)


def holding(values: Array, low: Array, high: Array) -> Array:
    """Return intervals (K, 2) that hold the values which are reported beside them."""
    return np.stack([np.minimum(low, values), np.maximum(high, values)], axis=1)


def from_audit_and_named(
    counts: Counts, namings: NamingLikelihood, *with_mistakes: NamingLikelihood
) -> Posterior:
    """Return the posterior if nobody errs, with errors that allow for other rates of mistakes."""
    start = special.logit(from_audit(counts).values)
    errorless = _modes(counts, namings, np.concatenate([start, np.zeros_like(start)]), SPREADS)
    # To save time, mistakes are tried only with the likeliest spread. The other spreads are taken
    # to add the same factor to their evidence as without mistakes.
    spread = max(errorless, key=lambda each: each[0])[1].spread
    alike = [each for each in errorless if each[1].spread == spread]
    by_others = _log_total(errorless) - _log_total(alike)
    at, modes_with_others = alike[0][2], list(errorless)
    for mistaken in with_mistakes:
        modes = _modes(counts, mistaken, at, [spread])
        at = modes[0][2]
        modes_with_others += [
            (evidence + by_others, target, mode) for evidence, target, mode in modes
        ]
    sure = _average(*_posteriors(errorless))
    return _average(*_posteriors(modes_with_others), around=sure) if with_mistakes else sure


def _posteriors(modes: list[_Mode]) -> tuple[list[float], list[_Normal]]:
    kept = _not_negligible(modes)
    return [each[0] for each in kept], [target.posterior(mode) for _, target, mode in kept]


def _log_total(modes: list[_Mode]) -> float:
    return float(special.logsumexp([evidence for evidence, *_ in modes]))


def _modes(
    counts: Counts, namings: NamingLikelihood, at: Array, spreads: Sequence[float]
) -> list[_Mode]:
    """Return the modes for each heterogeneity and spread, from the largest heterogeneity on."""
    information = namings.information(at)
    latest: dict[float, Array] = {}
    modes: list[_Mode] = []
    for sd in _FEWER:
        for spread in spreads:
            target = _Target(counts, namings, sd, spread)
            at = latest[spread] = target.maximize(latest.get(spread, at), information)
            information = namings.information(at)
            modes.append((target.log_evidence(at, information), target, at))
        # A spread that is negligible at one heterogeneity is not tried at the next ones.
        spreads = [each.spread for _, each, _ in _not_negligible(modes[-len(spreads) :])]
    return modes


def _not_negligible(modes: list[_Mode]) -> list[_Mode]:
    least = max(evidence for evidence, *_ in modes) - _NEGLIGIBLE
    return [each for each in modes if each[0] >= least]


@dataclass(frozen=True)
class _Normal:
    """A normal approximation of the posterior at one point of the grid."""

    spread: float
    values: Array  # (K,)
    covariance: Array  # (K, K), of values
    log_propensities: Array  # (K,)
    with_cardinality: Array  # (K,)


@dataclass(frozen=True)
class _Target:
    """The log-posterior of parameters (logits, log-propensities), (2K,)."""

    counts: Counts
    namings: NamingLikelihood
    sd: float  # of the logits around their common mean
    spread: float

    def prior_precision(self, n_labels: int) -> Array:
        """Return the precision (K, K) of the logits; their common mean is integrated out."""
        shared = PRIOR_SD**2 / (self.sd**2 + n_labels * PRIOR_SD**2)
        return (np.eye(n_labels) - shared) / self.sd**2

    def value_and_gradient(self, at: Array) -> tuple[float, Array]:
        value, gradient = self.namings.value_and_gradient(at)
        logits, log_w = np.split(at, 2)
        value += float(self.counts.log_likelihood(logits[:, np.newaxis]).sum())
        apart = logits - PRIOR_MEAN
        pull = self.prior_precision(len(logits)) @ apart
        value -= float(apart @ pull) / 2 + float(log_w @ log_w) / (2 * self.spread**2)
        slope = np.concatenate([self.counts.slope(logits) - pull, -log_w / self.spread**2])
        return value, gradient + slope

    def precision(self, at: Array, information: Array) -> Array:
        logits, log_w = np.split(at, 2)
        prior = self.prior_precision(len(logits))
        judged = np.diag(self.counts.information(logits))
        return information + linalg.block_diag(
            prior + judged, np.diag(np.full_like(log_w, self.spread**-2))
        )

    def maximize(self, start: Array, information: Array) -> Array:
        """Return the mode (2K,). The information at the start scales the steps of L-BFGS."""
        root = linalg.cholesky(self.precision(start, information), lower=True, check_finite=False)

        def loss(scaled: Array) -> tuple[float, Array]:
            at = start + linalg.solve_triangular(root, scaled, trans="T", **_FAST)
            value, gradient = self.value_and_gradient(at)
            return -value, -linalg.solve_triangular(root, gradient, **_FAST)

        from scipy import optimize  # takes a third of a second

        maximum = optimize.minimize(
            loss,
            np.zeros_like(start),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 200, "ftol": 1e-8, "gtol": 1e-3},
        )
        return start + linalg.solve_triangular(root, maximum.x, trans="T", **_FAST)

    def log_evidence(self, mode: Array, information: Array) -> float:
        root = linalg.cholesky(self.precision(mode, information), lower=True)
        value, _ = self.value_and_gradient(mode)
        n_labels = len(mode) // 2
        volume = float(np.log(np.diag(root)).sum())  # of the posterior, as one over it
        of_mean = float(np.log(self.sd**2 + n_labels * PRIOR_SD**2)) / 2
        of_prior = of_mean + (n_labels - 1) * np.log(self.sd) + n_labels * np.log(self.spread)
        prior = log_prior_of_heterogeneity(self.sd) + self.namings.log_prior
        return float(value - of_prior - volume + prior)

    def posterior(self, mode: Array) -> _Normal:
        information = self.namings.information(mode)
        logits, log_w = np.split(mode, 2)
        n_labels = len(logits)
        factor = linalg.cho_factor(self.precision(mode, information), lower=True)
        solved = linalg.cho_solve(factor, np.eye(2 * n_labels)[:, :n_labels])
        covariance, of_log_w = np.split(solved, 2)
        # (K, nodes): the mean over a normal distribution of logits, not the value at its mode
        errors = np.sqrt(np.diag(covariance))
        pi = special.expit(logits[:, np.newaxis] + errors[:, np.newaxis] * _HERMITE_X)
        slope = (pi * (1 - pi)) @ _HERMITE_W
        return _Normal(
            spread=self.spread,
            values=pi @ _HERMITE_W,
            covariance=slope[:, np.newaxis] * covariance * slope,
            log_propensities=log_w - log_w.mean(),
            with_cardinality=of_log_w @ slope,
        )


_Mode: TypeAlias = tuple[float, _Target, Array]  # log-evidence, target and mode (2K,)


def _average(
    evidence: Sequence[float], posteriors: list[_Normal], *, around: Posterior | None = None
) -> Posterior:
    """Average posteriors, weighted by their evidence; take the spread of the likeliest.

    With ``around``, only errors are averaged, and they are those of the values there.
    """
    weight = special.softmax(evidence)
    values = weight @ np.stack([each.values for each in posteriors])
    covariance = np.zeros_like(posteriors[0].covariance)
    log_w = weight @ np.stack([each.log_propensities for each in posteriors])
    if around is not None:
        values, log_w = around.values, around.log_propensities
    of_log_w = np.zeros_like(log_w)
    for share, each in zip(weight, posteriors, strict=True):
        apart, moved = each.values - values, each.log_propensities - log_w
        covariance += share * (each.covariance + np.outer(apart, apart))
        of_log_w += share * (each.with_cardinality + moved * apart.sum())
    # Intervals by quantiles of normal logits, or of a beta distribution with these moments, held
    # the frequency of yeast's rarest label less often.
    reach = _NORMAL_95 * np.sqrt(np.diag(covariance))
    intervals = np.clip(np.stack([values - reach, values + reach], axis=1), 0, 1)
    spread = posteriors[int(np.argmax(evidence))].spread if around is None else around.spread
    return Posterior(values, covariance, intervals, log_w, of_log_w, spread)


_LEVEL = 0.05
# A frequency beyond these logits is reported as 0 or 1.
_MOST_LOGIT = 40.0
_HALVINGS = 60
_TINY = 1e-12
# The best share of the level for the upper tail, of many "yes", by Yu and Hoff. It depends on the
# distance of a logit below the expected one, times twice its standard error, over the variance of
# the labels' logits.
_SHARES = special.expit(np.linspace(-50.0, 50.0, 2001))
_BELOW = special.ndtri(_LEVEL * _SHARES) - special.ndtri(_LEVEL * _SHARES[::-1])


def assisted_intervals(counts: Counts, mean: Array, variance: Array) -> Array:
    """Return intervals (K, 2) that hold the frequency of each label, however unlike others it is.

    An interval from a prior holds the truth of 95 % of all labels, but of rare labels among
    frequent ones, or frequent among rare ones, much less often. Those here are made by tests, as
    those of Clopper and Pearson: a frequency is in the interval unless the number of "yes" is
    improbable under it, at a level of 5 % in both tails together. What the *other* labels tell
    about its logit, a normal distribution, splits the level between the tails. So the interval
    holds the truth of each label at least 95 % of the time, whatever the others are, and is shorter
    if labels are alike (Yu and Hoff, "Adaptive multigroup confidence intervals with constant
    coverage", Biometrika 2018, with the tails of the binomial instead of the normal distribution).
    """
    merged = counts.merged()  # people with mistakes of their own answer as one with mean rates
    yes, judged = merged.yes[0], merged.judged[0]
    error = np.maximum(merged.information(mean), _TINY) ** -0.5

    def share(logits: Array) -> Array:
        """Return the share of the level that goes to the tail of many "yes"."""
        below = 2 * error * (mean - logits) / variance
        return np.asarray(np.interp(below, _BELOW, _SHARES))

    def too_small(logits: Array) -> Bools:
        chance = merged.chance_of_yes(logits[:, np.newaxis])[0, :, 0]
        as_many = special.betainc(np.maximum(yes, _TINY), judged - yes + 1, chance)
        return np.asarray(as_many <= _LEVEL * share(logits))

    def not_too_large(logits: Array) -> Bools:
        chance = merged.chance_of_yes(logits[:, np.newaxis])[0, :, 0]
        as_few = special.betainc(np.maximum(judged - yes, _TINY), yes + 1, 1 - chance)
        return np.asarray(as_few > _LEVEL * (1 - share(logits)))

    ends = np.stack([_first_not(too_small, yes), _first_not(not_too_large, yes)], axis=1)
    frequencies = np.where(ends <= -_MOST_LOGIT + 1, 0.0, special.expit(ends))
    return np.asarray(np.where(ends >= _MOST_LOGIT - 1, 1.0, frequencies))


def _first_not(holds: Callable[[Array], Bools], like: Array) -> Array:
    """Return the logit (K,) from which on something does not hold that holds below it."""
    low, high = np.full_like(like, -_MOST_LOGIT), np.full_like(like, _MOST_LOGIT)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = holds(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
