"""The posterior of frequencies and propensities given the counts: its mode and its covariance.

The prior of label frequencies is a beta distribution around their mean. The prior of logarithms of
propensities is a normal distribution around 0. The strength of the first and the spread of the
second are not fixed: the result is an average over a grid of both, weighted by the evidence that
the counts give (empirical Bayes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg, optimize, special

from complabel.frequencies._counts import Array
from complabel.frequencies._naming import NamingLikelihood

# Standard deviations of log-propensities. At .03 all labels are nearly alike; at 1.4 one label in
# twenty comes to mind ten times as readily as a usual one.
SPREADS = (0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
# For each label the pooled frequency counts as much as this number of answers. At 2, frequencies
# may lie anywhere; at 32, their standard deviation is a sixth of sqrt(pi (1 - pi)).
STRENGTHS = (2.0, 8.0, 32.0)
# A grid point is left out if its log-evidence is this much below the best: its weight is e^-10.
_NEGLIGIBLE = 10.0
_FAST: Any = {"lower": True, "check_finite": False}


@dataclass(frozen=True)
class Counts:
    """Effective numbers of "yes" and of judgements for each label, both (K,)."""

    yes: Array
    judged: Array
    pooled: float  # the frequency over all labels together
    n_pooled: float  # the number of judgements that it comes from

    @property
    def variance_of_pooled(self) -> float:
        return self.pooled * (1 - self.pooled) / (self.n_pooled + 3)


@dataclass(frozen=True)
class Posterior:
    """A normal approximation of the posterior for one strength and one spread."""

    values: Array  # (K,)
    covariance: Array  # (K, K), of values
    log_propensities: Array  # (K,), or (0,) if nothing was named
    with_cardinality: Array  # covariance of log_propensities with the sum of values
    spread: float
    log_evidence: float


def from_audit(counts: Counts) -> Posterior:
    """Return the posterior from judgements alone, averaged over strengths in closed form."""
    return _average([_Beta(counts, strength).posterior() for strength in STRENGTHS])


def from_audit_and_named(counts: Counts, namings: NamingLikelihood) -> Posterior:
    start = special.logit(from_audit(counts).values)
    at = np.concatenate([start, np.zeros_like(start)])
    information = namings.information(at)
    spreads: Sequence[float] = SPREADS
    modes: dict[float, Array] = {}
    found: list[_Found] = []
    for strength in STRENGTHS:
        for spread in spreads:
            target = _Target(_Beta(counts, strength), namings, spread)
            at = modes[spread] = target.maximize(modes.get(spread, at), information)
            information = namings.information(at)
            found.append((target.log_evidence(at, information), target, at))
        # A spread that is negligible at one strength is not tried at the next strengths.
        spreads = [each.spread for _, each, _ in _not_negligible(found[-len(spreads) :])]
    return _average([target.posterior(at) for _, target, at in _not_negligible(found)])


def _not_negligible(
    found: list[tuple[float, _Target, Array]],
) -> list[tuple[float, _Target, Array]]:
    least = max(evidence for evidence, *_ in found) - _NEGLIGIBLE
    return [each for each in found if each[0] >= least]


@dataclass(frozen=True)
class _Beta:
    """The beta distribution of each label's frequency, given the judgements alone."""

    counts: Counts
    strength: float

    @property
    def yes(self) -> Array:  # first parameter (K,): counts of "yes" plus the prior
        return self.counts.yes + self.strength * self.counts.pooled

    @property
    def total(self) -> Array:  # the sum of both parameters (K,)
        return self.counts.judged + self.strength

    def posterior(self) -> Posterior:
        pi = self.yes / self.total
        # How far pi moves with the pooled frequency, which has an error itself.
        moved = self.strength / self.total
        covariance = self.counts.variance_of_pooled * np.outer(moved, moved)
        covariance += np.diag(pi * (1 - pi) / self.total)
        evidence = special.betaln(self.yes, self.total - self.yes).sum() - self.log_constant
        nothing = np.empty(0)
        return Posterior(pi, covariance, nothing, nothing, 0.0, float(evidence) + self.log_prior)

    @property
    def log_prior(self) -> float:
        """Log of the prior probability of the strength, up to a constant."""
        # The share of the variance of answers that lies between labels, 1 / (strength + 1), has a
        # uniform prior. The grid has equal steps in the logarithm of the strength.
        return float(np.log(self.strength) - 2 * np.log1p(self.strength))

    @property
    def log_constant(self) -> float:
        a = self.strength * self.counts.pooled
        return len(self.counts.yes) * float(special.betaln(a, self.strength - a))

    def log_ratio_to_laplace(self) -> float:
        """Return the exact log-evidence of the judgements alone minus Laplace's approximation."""
        # It is poor for labels that nobody said "yes" to: their logits are far from normal.
        pi, no = self.yes / self.total, self.total - self.yes
        at_mode = self.yes * np.log(pi) + no * np.log1p(-pi)
        normal = at_mode + (np.log(2 * np.pi) - np.log(self.total * pi * (1 - pi))) / 2
        return float((special.betaln(self.yes, no) - normal).sum())


@dataclass(frozen=True)
class _Target:
    """The log-posterior of parameters (logits, log-propensities), (2K,)."""

    judged: _Beta
    namings: NamingLikelihood
    spread: float

    def value_and_gradient(self, at: Array) -> tuple[float, Array]:
        value, gradient = self.namings.value_and_gradient(at)
        logits, log_w = np.split(at, 2)
        yes, total = self.judged.yes, self.judged.total
        value += float(yes @ special.log_expit(logits) + (total - yes) @ special.log_expit(-logits))
        value -= float(log_w @ log_w) / (2 * self.spread**2) + len(log_w) * np.log(self.spread)
        slope = np.concatenate([yes - total * special.expit(logits), -log_w / self.spread**2])
        return value - self.judged.log_constant, gradient + slope

    def precision(self, at: Array, information: Array) -> Array:
        pi = special.expit(at[: len(at) // 2])
        of_w = np.full_like(pi, self.spread**-2)
        return information + np.diag(np.concatenate([self.judged.total * pi * (1 - pi), of_w]))

    def maximize(self, start: Array, information: Array) -> Array:
        """Return the mode (2K,). The information at the start scales the steps of L-BFGS."""
        root = linalg.cholesky(self.precision(start, information), lower=True, check_finite=False)

        def loss(scaled: Array) -> tuple[float, Array]:
            at = start + linalg.solve_triangular(root, scaled, trans="T", **_FAST)
            value, gradient = self.value_and_gradient(at)
            return -value, -linalg.solve_triangular(root, gradient, **_FAST)

        found = optimize.minimize(
            loss,
            np.zeros_like(start),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 200, "ftol": 1e-8, "gtol": 1e-3},
        )
        return start + linalg.solve_triangular(root, found.x, trans="T", **_FAST)

    def log_evidence(self, mode: Array, information: Array) -> float:
        root = linalg.cholesky(self.precision(mode, information), lower=True)
        value, _ = self.value_and_gradient(mode)
        judged = self.judged.log_ratio_to_laplace() + self.judged.log_prior
        return value - float(np.log(np.diag(root)).sum()) + judged

    def posterior(self, mode: Array) -> Posterior:
        information = self.namings.information(mode)
        logits, log_w = np.split(mode, 2)
        n_labels, pi = len(logits), special.expit(logits)
        factor = linalg.cho_factor(self.precision(mode, information), lower=True)
        solved = linalg.cho_solve(factor, np.eye(2 * n_labels)[:, :n_labels])
        covariance, of_log_w = np.split(solved, 2)
        # The mode moves with the pooled frequency, which has an error itself.
        moved = self.judged.strength * covariance.sum(axis=1)
        covariance += self.judged.counts.variance_of_pooled * np.outer(moved, moved)
        slope = pi * (1 - pi)
        return Posterior(
            values=pi,
            covariance=slope[:, np.newaxis] * covariance * slope,
            log_propensities=log_w - log_w.mean(),
            with_cardinality=of_log_w @ slope,
            spread=self.spread,
            log_evidence=self.log_evidence(mode, information),
        )


_Found: TypeAlias = tuple[float, _Target, Array]  # log-evidence, target and mode (2K,)


def _average(found: list[Posterior]) -> Posterior:
    """Average posteriors, weighted by their evidence; take the spread of the likeliest."""
    evidence = np.array([each.log_evidence for each in found])
    weight = special.softmax(evidence)
    values = weight @ np.stack([each.values for each in found])
    covariance = np.zeros_like(found[0].covariance)
    log_w = weight @ np.stack([each.log_propensities for each in found])
    of_log_w = np.zeros_like(log_w)
    for share, each in zip(weight, found, strict=True):
        apart, moved = each.values - values, each.log_propensities - log_w
        covariance += share * (each.covariance + np.outer(apart, apart))
        of_log_w += share * (each.with_cardinality + moved * apart.sum())
    best = int(np.argmax(evidence))
    return Posterior(values, covariance, log_w, of_log_w, found[best].spread, float(evidence[best]))
