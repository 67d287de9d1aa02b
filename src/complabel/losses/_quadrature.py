"""Nodes and weights for the integrals over t in [0, 1] of the selection likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Beyond this many labels the double-exponential rule needs fewer nodes than Gauss-Legendre.
MAX_LABELS_OF_GAUSS = 96
# From this number on, nodes are saved. With fewer labels a fit takes no minutes, and what is
# lost to rounding would still change the last digits of figures that are published.
MANY_LABELS = 512
# Steps of a quarter are exact to rounding; steps of a third would be wrong by 8e-12.
_STEP = 0.25
# With finer steps there are more nodes than Gauss and Legendre take.
_FINEST_PER_UNIT = 64
_LOG_ERROR_OF_STEP = float(np.log(1e-14))
# Nodes of less weight are lost to rounding: the integral is at least 1 in this unit.
_NEGLIGIBLE_WEIGHT = 1e-17
# So are nodes at which the slowest power is exp(-60) = 1e-26; exp(-30) was wrong by 2e-13.
_NEGLIGIBLE_EXPONENT = 60.0
# Where nodes are looked for: at -4 their weight is negligible, and at 4 + log(most / least) the
# slowest power, so that 60 serves every ratio up to 1e24.
_LOWEST, _HIGHEST = -6.0, 60.0


@dataclass(frozen=True)
class Quadrature:
    """A rule: the integral of h over [0, 1] is about sum_i exp(log_weight_i) h(exp(log_t_i))."""

    log_t: NDArray[np.float64]  # (n_nodes,)
    log_weight: NDArray[np.float64]  # (n_nodes,)


@lru_cache(maxsize=32)
def gauss_rule(n_labels: int) -> Quadrature:
    """Return the Gauss-Legendre rule that is exact for polynomials of degree K - 1.

    The integrand of m complementary labels has degree K - m from the labels left over and m - 1
    from (1 - t)^(m - 1): K - 1 for every m.
    """
    nodes, weights = special.roots_legendre((n_labels + 1) // 2)
    return Quadrature(np.log((1 + nodes) / 2), np.log(weights / 2))


@lru_cache(maxsize=256)
def uniform_rule(n_labels: int, most_named: int = 1) -> Quadrature:
    """Return a rule for 1 to m complementary labels, drawn uniformly: exact to rounding."""
    if n_labels <= (MAX_LABELS_OF_GAUSS if most_named == 1 else MANY_LABELS):
        return gauss_rule(n_labels)
    step = _step(most_named)
    rule = None if step is None else exponential_rule(1.0, float(n_labels), step)
    # The nodes that the steps for many labels need can exceed those of Gauss and Legendre.
    if rule is None or 2 * len(rule.log_t) >= n_labels:
        return gauss_rule(n_labels)
    return rule


def _step(most_named: int) -> float | None:
    """Return the step that m complementary labels need; None if it would be too small.

    With N much greater than m the integrand in u is that of the gamma function, u^m exp(-N u) as
    a function of log u. The error of equal steps h there is |Gamma(m + 2 pi i / h)| / Gamma(m).
    """
    for per_unit in range(round(1 / _STEP), _FINEST_PER_UNIT):
        log_error = special.loggamma(most_named + 2j * np.pi * per_unit).real
        if log_error - special.gammaln(most_named) < _LOG_ERROR_OF_STEP:
            return 1 / per_unit
    return None


@lru_cache(maxsize=256)
def exponential_rule(least: float, most: float, step_in_x: float = _STEP) -> Quadrature:
    """Return a rule for which the integral of t^(W - 1) is 1 / W for all W in [least, most].

    With t = exp(-u), u = exp(x - exp(-x)) / most, and equal steps in x; the relative error is
    below 1e-13, and the number of nodes grows with the logarithm of most / least. An integrand
    that is a positive mixture of such powers inherits the relative error.
    """
    x = np.arange(_LOWEST, _HIGHEST, step_in_x)
    u = np.exp(x - np.exp(-x)) / most
    step = u * (1 + np.exp(-x)) * step_in_x
    kept = (step * most > _NEGLIGIBLE_WEIGHT) & (u * least < _NEGLIGIBLE_EXPONENT)
    return Quadrature(-u[kept], np.log(step[kept]) - u[kept])
