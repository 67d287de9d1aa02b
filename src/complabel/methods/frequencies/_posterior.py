"""What counts say of frequencies and propensities: the mode, and what is uncertain about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, optimize, special

from complabel.methods.frequencies._naming import NamingLikelihood

if TYPE_CHECKING:
    from complabel.methods._arrays import Array

# Standard deviations of log-propensities to choose from: labels nearly alike, up to one in twenty
# that comes to mind ten times as readily as usual.
SPREADS = (0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
# Answers that the pooled frequency counts as much as, for each label.
PRIOR_ANSWERS = 2.0


@dataclass(frozen=True)
class Counts:
    """How often labels were said to apply: ``yes`` of ``judged`` (K,), and of all labels."""

    yes: Array
    judged: Array
    pooled: float
    n_pooled: float


@dataclass(frozen=True)
class Posterior:
    """Normal approximation of what is known, given the spread of propensities."""

    values: Array  # (K,)
    covariance: Array  # (K, K), of values
    log_propensities: Array | None  # (K,)
    log_evidence: float


def of_audit(counts: Counts) -> Posterior:
    """Return what judgements alone say: the mode of the logits in closed form."""
    total = counts.judged + PRIOR_ANSWERS
    pi = (counts.yes + PRIOR_ANSWERS * counts.pooled) / total
    through_pooled = PRIOR_ANSWERS / total
    spread = _variance_of_pooled(counts) * np.outer(through_pooled, through_pooled)
    return Posterior(pi, np.diag(pi * (1 - pi) / total) + spread, None, 0.0)


def of_audit_and_named(counts: Counts, namings: NamingLikelihood) -> list[Posterior]:
    """Return what judgements and namings say, for each of :data:`SPREADS`."""
    start = special.logit(of_audit(counts).values)
    at = np.concatenate([start, np.zeros_like(start)])
    found = []
    information = namings.information(at)
    for spread in SPREADS:
        target = _Target(counts, namings, spread)
        at = target.maximize(at, information)
        information = namings.information(at)
        found.append(target.approximate(at, information))
    return found


@dataclass(frozen=True)
class _Target:
    """The log-posterior of parameters (logits, log-propensities), (2K,)."""

    counts: Counts
    namings: NamingLikelihood
    spread: float

    def value_and_gradient(self, at: Array) -> tuple[float, Array]:
        """Return the log-posterior, but for a constant, and its gradient (2K,)."""
        value, gradient = self.namings.value_and_gradient(at)
        logits, log_w = np.split(at, 2)
        yes = self.counts.yes + PRIOR_ANSWERS * self.counts.pooled
        total = self.counts.judged + PRIOR_ANSWERS
        value += float(yes @ special.log_expit(logits) + (total - yes) @ special.log_expit(-logits))
        value -= float(log_w @ log_w) / (2 * self.spread**2) + len(log_w) * np.log(self.spread)
        slope = np.concatenate([yes - total * special.expit(logits), -log_w / self.spread**2])
        return value, gradient + slope

    def precision(self, at: Array, information: Array) -> Array:
        """Return the information (2K, 2K) in all counts and in what is known before."""
        pi = special.expit(at[: len(at) // 2])
        of_pi = (self.counts.judged + PRIOR_ANSWERS) * pi * (1 - pi)
        of_w = np.full_like(pi, self.spread**-2)
        return information + np.diag(np.concatenate([of_pi, of_w]))

    def maximize(self, start: Array, information: Array) -> Array:
        """Return the mode, from a start with its information: its scale makes steps good."""
        root = linalg.cholesky(self.precision(start, information), lower=True)

        def loss(scaled: Array) -> tuple[float, Array]:
            at = start + linalg.solve_triangular(root, scaled, trans="T", lower=True)
            value, gradient = self.value_and_gradient(at)
            return -value, -linalg.solve_triangular(root, gradient, lower=True)

        found = optimize.minimize(
            loss,
            np.zeros_like(start),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 200, "ftol": 1e-10, "gtol": 1e-4},
        )
        return start + linalg.solve_triangular(root, found.x, trans="T", lower=True)

    def approximate(self, mode: Array, information: Array) -> Posterior:
        """Return Laplace's approximation at the mode."""
        logits, log_w = np.split(mode, 2)
        n_labels, pi = len(logits), special.expit(logits)
        factor = linalg.cho_factor(self.precision(mode, information), lower=True)
        log_determinant = 2 * np.log(np.diag(factor[0])).sum()
        covariance = linalg.cho_solve(factor, np.eye(2 * n_labels)[:, :n_labels])[:n_labels]
        # The mode moves with the pooled frequency, which is not known for certain either.
        moved = PRIOR_ANSWERS * covariance.sum(axis=1)
        covariance += _variance_of_pooled(self.counts) * np.outer(moved, moved)
        slope = pi * (1 - pi)
        return Posterior(
            values=pi,
            covariance=slope[:, np.newaxis] * covariance * slope,
            log_propensities=log_w - log_w.mean(),
            log_evidence=self.value_and_gradient(mode)[0] - log_determinant / 2,
        )


def _variance_of_pooled(counts: Counts) -> float:
    """Return the variance of the pooled frequency."""
    return counts.pooled * (1 - counts.pooled) / (counts.n_pooled + 3)


def average(found: list[Posterior]) -> tuple[Posterior, float]:
    """Average over spreads by their evidence; also return the spread of the largest."""
    evidence = np.array([each.log_evidence for each in found])
    weight = special.softmax(evidence)
    values = weight @ np.stack([each.values for each in found])
    covariance = np.zeros_like(found[0].covariance)
    for share, each in zip(weight, found, strict=True):
        apart = each.values - values
        covariance += share * (each.covariance + np.outer(apart, apart))
    log_w = weight @ np.stack(
        [np.zeros_like(values) if f.log_propensities is None else f.log_propensities for f in found]
    )
    best = int(np.argmax(evidence))
    return Posterior(values, covariance, log_w, float(evidence[best])), SPREADS[best]
