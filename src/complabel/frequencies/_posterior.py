"""What counts say of frequencies and propensities: the mode, and what is uncertain about it.

Frequencies of labels are drawn from a beta distribution around their mean, and logarithms of
propensities from a normal one around 0. How far they are apart, the strength of the one and the
spread of the other, is what the counts make likely: empirical Bayes over a grid of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import linalg, optimize, special

from complabel.frequencies._naming import NamingLikelihood

if TYPE_CHECKING:
    from complabel.frequencies._counts import Array

# Standard deviations of log-propensities: labels nearly alike, up to one in twenty that comes to
# mind ten times as readily as usual.
SPREADS = (0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
# How many answers the pooled frequency counts as much as, for each label: at 2 frequencies may lie
# anywhere, at 32 their standard deviation is a sixth of sqrt(pi (1 - pi)).
STRENGTHS = (2.0, 8.0, 32.0)
# What is this much less likely than something else counts for nothing: in logarithms.
_NEGLIGIBLE = 10.0
_FAST: Any = {"lower": True, "check_finite": False}


@dataclass(frozen=True)
class Counts:
    """How often labels were said to apply: ``yes`` of ``judged`` (K,), and of all labels."""

    yes: Array
    judged: Array
    pooled: float
    n_pooled: float

    @property
    def variance_of_pooled(self) -> float:
        """The variance of the pooled frequency as an estimate."""
        return self.pooled * (1 - self.pooled) / (self.n_pooled + 3)


@dataclass(frozen=True)
class Posterior:
    """Normal approximation of what is known, given a strength and a spread."""

    values: Array  # (K,)
    covariance: Array  # (K, K), of values
    log_propensities: Array  # (K,), or (0,) if nothing was named
    with_cardinality: Array  # covariance of log_propensities with the sum of values
    spread: float
    log_evidence: float


def from_audit(counts: Counts) -> Posterior:
    """Return what judgements alone say: closed forms for each strength, averaged."""
    return _average([_Beta(counts, strength).posterior() for strength in STRENGTHS])


def from_audit_and_named(counts: Counts, namings: NamingLikelihood) -> Posterior:
    """Return what judgements and namings say, averaged over strengths and spreads."""
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
        # A spread that is out of the question is so at other strengths, too.
        spreads = [each.spread for _, each, _ in _not_negligible(found[-len(spreads) :])]
    return _average([target.posterior(at) for _, target, at in _not_negligible(found)])


def _not_negligible(
    found: list[tuple[float, _Target, Array]],
) -> list[tuple[float, _Target, Array]]:
    """Return those whose evidence comes near the largest."""
    least = max(evidence for evidence, *_ in found) - _NEGLIGIBLE
    return [each for each in found if each[0] >= least]


@dataclass(frozen=True)
class _Beta:
    """What judgements say of the logits: a beta distribution of each frequency."""

    counts: Counts
    strength: float

    @property
    def yes(self) -> Array:
        """Parameter of the beta distributions (K,): "yes", with what is known before."""
        return self.counts.yes + self.strength * self.counts.pooled

    @property
    def total(self) -> Array:
        """Sum of both parameters (K,)."""
        return self.counts.judged + self.strength

    def posterior(self) -> Posterior:
        """Return what the judgements alone say."""
        pi = self.yes / self.total
        moved = self.strength / self.total  # by the pooled frequency, which is uncertain, too
        covariance = self.counts.variance_of_pooled * np.outer(moved, moved)
        covariance += np.diag(pi * (1 - pi) / self.total)
        evidence = special.betaln(self.yes, self.total - self.yes).sum() - self.log_constant
        nothing = np.empty(0)
        return Posterior(pi, covariance, nothing, nothing, 0.0, float(evidence) + self.log_prior)

    @property
    def log_prior(self) -> float:
        """Log-probability of the strength itself, but for a constant.

        Uniform for the share 1 / (strength + 1) of the variance of answers that lies between
        labels, of which the grid has equal steps in logarithms.
        """
        return float(np.log(self.strength) - 2 * np.log1p(self.strength))

    @property
    def log_constant(self) -> float:
        """Log of the integral of the distribution that is assumed before, over all logits."""
        a = self.strength * self.counts.pooled
        return len(self.counts.yes) * float(special.betaln(a, self.strength - a))

    def log_ratio_to_laplace(self) -> float:
        """Return the log-evidence of the judgements alone less its Laplace approximation.

        Logits of labels for which nobody said "yes" are far from normal.
        """
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
        """Return the log-posterior and its gradient (2K,)."""
        value, gradient = self.namings.value_and_gradient(at)
        logits, log_w = np.split(at, 2)
        yes, total = self.judged.yes, self.judged.total
        value += float(yes @ special.log_expit(logits) + (total - yes) @ special.log_expit(-logits))
        value -= float(log_w @ log_w) / (2 * self.spread**2) + len(log_w) * np.log(self.spread)
        slope = np.concatenate([yes - total * special.expit(logits), -log_w / self.spread**2])
        return value - self.judged.log_constant, gradient + slope

    def precision(self, at: Array, information: Array) -> Array:
        """Return the information (2K, 2K) in all counts and in what is assumed before."""
        pi = special.expit(at[: len(at) // 2])
        of_w = np.full_like(pi, self.spread**-2)
        return information + np.diag(np.concatenate([self.judged.total * pi * (1 - pi), of_w]))

    def maximize(self, start: Array, information: Array) -> Array:
        """Return the mode, from a start; with the information there steps are well scaled."""
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
        """Return Laplace's approximation of the log-evidence, but for a constant."""
        root = linalg.cholesky(self.precision(mode, information), lower=True)
        value, _ = self.value_and_gradient(mode)
        judged = self.judged.log_ratio_to_laplace() + self.judged.log_prior
        return value - float(np.log(np.diag(root)).sum()) + judged

    def posterior(self, mode: Array) -> Posterior:
        """Return Laplace's approximation at the mode."""
        information = self.namings.information(mode)
        logits, log_w = np.split(mode, 2)
        n_labels, pi = len(logits), special.expit(logits)
        factor = linalg.cho_factor(self.precision(mode, information), lower=True)
        solved = linalg.cho_solve(factor, np.eye(2 * n_labels)[:, :n_labels])
        covariance, of_log_w = np.split(solved, 2)
        # The mode moves with the pooled frequency, which is not known for certain either.
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


_Found: TypeAlias = tuple[float, _Target, "Array"]  # log-evidence, and where the mode is


def _average(found: list[Posterior]) -> Posterior:
    """Average by evidence; the spread is that of the largest."""
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
