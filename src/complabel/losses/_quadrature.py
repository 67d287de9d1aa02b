"""Nodes and weights for the integrals over t in [0, 1] of the selection likelihood.

Without propensities the integrand of m labels named behaves like t^S (1 - t)^(m - 1) with S the
expected number of further labels that do not apply. Up to 24 labels Gauss and Legendre are exact.
Beyond, t = u^(1 / a) with a in proportion to S, row by row, leaves a polynomial of low degree in u.

Powers t^(w - 1) of propensities, and (-log t)^(r - 1) of repeated namings, are singular: with
t = exp(-tau) and tau = exp(y - exp(-y)) / scale, equal steps in y converge exponentially.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

MOST_EXACT_LABELS = 24
"""Up to so many labels twelve nodes or fewer integrate exactly."""

# Most labels named, nodes, and S / a: verified by random rows and a scan of the worst cases to be
# within 6e-10 of the integral for up to 1,000 labels.
_RISING = ((1, 12, 16.0), (5, 16, 24.0), (10, 20, 32.0))

# The integrand is negligible where it is exp(-30) of its greatest value, and below the least y,
# where the factor exp(-exp(-y)) of the step alone is exp(-36).
LOG_OF_NOTHING = -30.0
LEAST_Y = -3.6
# Nodes of the first look at where the integrand is, and of the sum. With 32 instead of 40 a row of
# labels whose propensities differ a thousandfold is wrong by up to 4e-7, with 40 by 1e-9. The last
# of several labels named comes to mind in steps, too, and needs more.
SEARCH_NODES = 12
_NODES, _NODES_OF_SETS = 40, 56
# Where propensities differ by more than exp(6), the integrand has steps far apart.
_USUAL_LOG_RATIO = 6.0
_NODES_PER_LOG = 6
# In float32 rounding hides the error of fewer nodes, where propensities are nearer to each other.
_NODES_IN_FLOAT32, _USUAL_IN_FLOAT32 = 24, 4.0


@dataclass(frozen=True)
class Rule:
    """Nodes and weights for integrals over u in [0, 1]; ``divisor`` is None where t is u."""

    log_u: NDArray[np.float64]  # (n_nodes,)
    log_weight: NDArray[np.float64]  # (n_nodes,)
    divisor: float | None = None

    def of_rows(self, expected: Tensor) -> tuple[Tensor, Tensor]:
        """Return log t and the log-weight, both (n_nodes, b) or (n_nodes, 1), for S of shape (b,).

        With t = u^(1 / a), dt = t / (a u) du.
        """
        log_u, log_weight = (
            torch.tensor(values[:, None], dtype=expected.dtype, device=expected.device)
            for values in (self.log_u, self.log_weight)
        )
        if self.divisor is None:
            return log_u, log_weight
        a = (expected / self.divisor).clamp_(min=1)
        log_t = log_u / a
        return log_t, log_weight + log_t - log_u - a.log()


@lru_cache(maxsize=64)
def rule_for(n_labels: int, most_named: int) -> Rule | None:
    """Return the rule for 1 to m labels named of K, all alike; None if none has few nodes."""
    if n_labels <= MOST_EXACT_LABELS:
        # For m labels named the degree is K - m from those left and m - 1 from (1 - t)^(m - 1).
        return _gauss((n_labels + 1) // 2)
    for most, n_nodes, divisor in _RISING:
        if most_named <= most:
            return _gauss(n_nodes, divisor)
    return None


def _gauss(n_nodes: int, divisor: float | None = None) -> Rule:
    """Return the rule of Gauss and Legendre on [0, 1]."""
    nodes, weights = special.roots_legendre(n_nodes)
    return Rule(np.log((1 + nodes) / 2), np.log(weights / 2), divisor)


def number_of_nodes(log_propensities: Tensor | None, *, several: bool) -> int:
    """Return how many equal steps in y are taken for labels of these propensities."""
    usual, most_usual = (_NODES_OF_SETS if several else _NODES), _USUAL_LOG_RATIO
    if log_propensities is None or log_propensities.numel() == 0:
        return usual
    if log_propensities.dtype == torch.float32 and not several:
        usual, most_usual = _NODES_IN_FLOAT32, _USUAL_IN_FLOAT32
    spread = float(log_propensities.max() - log_propensities.min())
    return usual + math.ceil(_NODES_PER_LOG * max(0.0, spread - most_usual))


def equal_steps(start: Tensor, end: Tensor, n_nodes: int) -> tuple[Tensor, Tensor]:
    """Return nodes (n_nodes, b) from start to end of each row (b,), and the steps (b,)."""
    share = torch.linspace(0, 1, n_nodes, dtype=start.dtype, device=start.device).unsqueeze(1)
    return start + (end - start) * share, (end - start) / (n_nodes - 1)


def log_tau_and_rate(y: Tensor) -> tuple[Tensor, Tensor]:
    """Return log tau, up to the scale, and the log of d tau / dy, for nodes y."""
    log_tau = y - torch.exp(-y)
    return log_tau, log_tau + torch.log1p(torch.exp(-y))
