"""The integrals of the selection likelihood over blocks of rows, with their gradients.

All arrays are label-major, (L, b), because the integrands are products over labels. A label is
*settled* if it is not in the product: it is named, known to be relevant, or not on offer. Its p
counts as 1, so that its factor is 1.

Without propensities, the integrand over t in [0, 1] for m named labels behaves like
t^S (1 - t)^(m - 1). S is the expected number of further labels that do not apply. For up to 24
labels, Gauss-Legendre quadrature is exact. For more, the substitution t = u^(1 / a) makes the
integrand a polynomial of low degree in u; a is proportional to S and differs between rows.

Propensities bring powers t^(w - 1), and repeated namings (-log t)^(r - 1); both are singular. The
substitutions t = exp(-tau) and tau = exp(y - exp(-y)) / scale remove the singularity. With equal
steps in y, the error then falls exponentially in the number of nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from scipy import special
from torch import Tensor
from torch.nn import functional

from complabel._parameters import Array
from complabel.losses._base import no_autocast

# The factors (labels x nodes x rows) in memory at once: 1 MiB on a CPU, about the cache of a core;
# 128 MiB on a GPU, a small part of its memory.
_BYTES_AT_ONCE = {"cpu": 2**20, "other": 2**27}
# For up to 6 labels, a sum over their 64 sets is faster than 40 nodes with powers.
_FEW_LABELS = 6
# For m > 1, the product of factors can be as small as exp(-K / e) where it matters. With more
# labels than these it could underflow, so the sum of logarithms is used.
_DIRECT_LABELS = {torch.float32: 128, torch.float64: 1024}
# Up to this many labels, at most twelve nodes integrate exactly.
_MOST_EXACT_LABELS = 24
# Rows of: the most labels named, the number of nodes, and S / a. Checked on random rows and a scan
# of the worst cases: for up to 1,000 labels the error is below 6e-10 of the integral.
_RISING = ((1, 12, 16.0), (5, 16, 24.0), (10, 20, 32.0))

# The integrand is negligible where it is below exp(-30) of its maximum. It also is below the least
# y: there the factor exp(-exp(-y)) alone is exp(-36).
LOG_OF_NOTHING = -30.0
LEAST_Y = -3.6
# SEARCH_NODES find the range in which the integrand matters; the others are summed. If propensities
# differ a thousandfold, the relative error is up to 4e-7 with 32 nodes, and 1e-9 with 40. With
# several named labels, the integrand has more steps and needs more nodes.
SEARCH_NODES = 12
_NODES, _NODES_OF_SETS = 40, 56
# If propensities differ by more than exp(6), the steps of the integrand lie far apart: take 6 more
# nodes for each further factor of e.
_USUAL_LOG_RATIO = 6.0
_NODES_PER_LOG = 6
# In float32, rounding hides the error of fewer nodes, as long as propensities differ by at most
# exp(4).
_NODES_IN_FLOAT32, _USUAL_IN_FLOAT32 = 24, 4.0


@dataclass(frozen=True)
class Namings:
    """The named labels of b rows with L labels each."""

    # A row is one naming of a set or, if ``repeated``, namings of one label each from one menu.

    named: Tensor  # (b, L): 1 if a label is named; if repeated, how many people named it
    settled: Tensor  # (b, L): 1 if a label is named, or for another reason not in the product
    repeated: bool = False


def log_likelihood_and_gradient(
    logits: Tensor, namings: Namings, log_propensities: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the log-probability (b,) of each row's namings, and its two gradients (b, L)."""
    # They are by logits and by log-propensities, (L,) or (b, L); the second is None without these.
    counts = namings.named.sum(dim=1)
    most_named = max(1, int(counts.max())) if len(counts) else 1
    rule = None
    if log_propensities is None and not namings.repeated:
        rule = rule_for(logits.shape[1], most_named)
    few = most_named == 1 and logits.shape[1] <= _FEW_LABELS
    n_nodes = len(rule.log_u) if rule else number_of_nodes(log_propensities, several=most_named > 1)
    values = torch.empty_like(logits[:, 0])
    gradient = torch.empty_like(logits)
    through_log_w = None if log_propensities is None else torch.empty_like(logits)
    for rows in _blocks_of_rows(logits, n_nodes):
        block, named, settled = (
            tensor[rows].t().contiguous() for tensor in (logits, namings.named, namings.settled)
        )
        if rule is not None:
            values[rows], of_block = _alike(block, named, settled, rule, several=most_named > 1)
        else:
            log_w = _of_rows(log_propensities, rows, block)
            if few:
                values[rows], of_block, of_weights = _enumerated(block, named, settled, log_w)
            else:
                values[rows], of_block, of_weights = _weighted(
                    block, named, settled, log_w, n_nodes=n_nodes, repeated=namings.repeated
                )
            if through_log_w is not None:
                through_log_w[rows] = of_weights.t()
        gradient[rows] = of_block.t()
    return values, gradient, through_log_w


def _alike(
    logits: Tensor, named: Tensor, settled: Tensor, rule: Rule, *, several: bool
) -> tuple[Tensor, Tensor]:
    """Return values (b,) and gradient (L, b) if all labels come to mind alike."""
    p = torch.sigmoid(logits)
    inside = torch.maximum(p, settled)
    log_t, log_weight = rule.of_rows((1 - inside).sum(dim=0))
    # t must not be 0, because factors are divided by later.
    t = log_t.exp().clamp_(min=torch.finfo(logits.dtype).tiny)
    one_minus_t = -torch.expm1(log_t)
    # a_k(t) = p_k + (1 - p_k) t
    factors = torch.mul(inside.unsqueeze(1), one_minus_t).add_(t)  # (L, n_nodes, b)
    log_terms = log_weight + _log_product(factors, several=several)  # (n_nodes, b)
    if several:
        counts = named.sum(dim=0)
        log_terms = log_terms + counts.log() + (counts - 1) * torch.log(one_minus_t)
    log_integral = torch.logsumexp(log_terms, dim=0)  # (b,)
    # d log integral / d p_k is the mean of (1 - t) / a_k(t) over the posterior of the node.
    posterior = log_terms.sub_(log_integral).exp_()
    shares = (one_minus_t * posterior).div(factors).sum(dim=1)  # (L, b)
    gradient = shares.mul_(inside).mul_(1 - inside).addcmul_(p, named, value=-1)
    return log_integral.add_(_log_absent(logits, named, several=several)), gradient


def _enumerated(
    logits: Tensor, named: Tensor, settled: Tensor, log_w: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return values (b,) and gradients (L, b) by a sum over sets T of others that do not apply."""
    # Given T, label j is named with probability w_j / (w_j + w_T); w_T is the sum of w over T.
    p = torch.sigmoid(logits)
    inside, w = torch.maximum(p, settled), log_w.exp().expand_as(logits)
    of_named = (w * named).sum(dim=0)
    chance, total = torch.ones_like(logits[:1]), of_named.unsqueeze(0)  # (n_sets, b)
    for k in range(len(logits)):
        chance = torch.cat([chance * inside[k], chance * (1 - inside[k])])
        total = torch.cat([total, total + w[k]])
    number = torch.arange(len(chance), device=logits.device)
    bits = torch.arange(len(logits), device=logits.device).unsqueeze(1)
    member = ((number >> bits) & 1).to(logits.dtype)  # (L, n_sets)
    terms = chance * (of_named / total)
    mean = terms.sum(dim=0)
    posterior = terms / mean
    share = posterior / total
    with no_autocast(logits.device):
        of_members, shares = member @ posterior, member @ share
    gradient = 1 - inside - of_members - p * named
    through_log_w = named - w * shares - named * of_named * share.sum(dim=0)
    return mean.log() + _log_absent(logits, named, several=False), gradient, through_log_w


def _weighted(
    logits: Tensor, named: Tensor, settled: Tensor, log_w: Tensor, *, n_nodes: int, repeated: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return values (b,) and both gradients (L, b), for log-propensities (L, b) or (L, 1)."""
    # With t = exp(-tau), the integrand is g(tau) times the product of p_k + (1 - p_k) exp(-w_k tau)
    # over labels not settled; g is the density of the time when the last named one comes to mind.
    p = torch.sigmoid(logits)
    inside, w = torch.maximum(p, settled), log_w.exp()
    outside = 1 - inside
    marks = named > 0
    several = bool((named.sum(dim=0) > 1).any())
    as_one = repeated or not several  # then named labels act as one label with their total weight
    of_named = (w * marks).sum(dim=0)
    least = of_named if as_one else torch.where(marks, w, torch.inf).min(dim=0).values
    scale = least + (w * outside).sum(dim=0)

    def terms(y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logs of the terms and tau, both (n_nodes, b), and the factors (L, ..., b)."""
        log_tau = y - torch.exp(-y)
        log_rate = log_tau + torch.log1p(torch.exp(-y))
        log_tau = log_tau - scale.log()
        tau = log_tau.exp()
        power = (w.unsqueeze(1) * tau).neg_().exp_()
        # exp(-x) must not be 0, because factors are divided by later.
        power.clamp_(min=torch.finfo(logits.dtype).tiny)
        arrivals = None if as_one else _log_arrivals(w.unsqueeze(1) * tau, log_w, marks)[0]
        factors = torch.addcmul(inside.unsqueeze(1), outside.unsqueeze(1), power)
        log_terms = _log_product(factors, several=several) + log_rate - scale.log()
        log_terms = log_terms - of_named * tau if arrivals is None else log_terms + arrivals
        if repeated:
            r = named.sum(dim=0)
            log_terms = log_terms + (r - 1) * log_tau - torch.lgamma(r)
        return log_terms, tau, factors

    most = float(named.sum(dim=0).max()) if several else 1.0
    furthest = torch.log((10 - LOG_OF_NOTHING + 3 * most) * scale / least)
    start, end = _where_it_matters(terms, torch.full_like(furthest, LEAST_Y), furthest)
    y, step = equal_steps(start, end, n_nodes)
    log_terms, tau, factors = terms(y)
    log_sum = torch.logsumexp(log_terms, dim=0)
    posterior = (log_terms - log_sum).exp()
    # With a = p + q exp(-x), q d log a / d p = 1 / a - 1 and d log a / d log w = x (p / a - 1).
    ratio = posterior / factors  # (L, n_nodes, b)
    gradient = inside * (ratio.sum(dim=1) - 1) - p * marks
    mean_tau = (posterior * tau).sum(dim=0)
    through_log_w = w * (inside * ratio.mul_(tau).sum(dim=1) - mean_tau)
    log_integral = log_sum + step.log()
    if as_one:
        log_integral = log_integral + (named * log_w).sum(dim=0)
        through_log_w += torch.where(marks, named - w * mean_tau, 0.0)
    else:
        slope = _log_arrivals(w.unsqueeze(1) * tau, log_w, marks)[1]
        through_log_w += (slope * posterior).sum(dim=1)
    absent = _log_absent(logits, marks.to(logits.dtype), several=several)
    return log_integral + absent, gradient, through_log_w


def _log_arrivals(x: Tensor, log_w: Tensor, marks: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-density of the time tau at which the last named label comes to mind."""
    # With x = w tau, it is sum_i w_i exp(-x_i) prod_{j != i} (1 - exp(-x_j)). Also returns its
    # gradient (L, n_nodes, b) by the log-propensities.
    mask = marks.unsqueeze(1)
    x = torch.where(mask, x, 1.0)
    log_rest = torch.log(-torch.expm1(-x))
    log_ratio = torch.where(mask, log_w.unsqueeze(1) - x - log_rest, -torch.inf)
    value = torch.where(mask, log_rest, 0.0).sum(dim=0) + torch.logsumexp(log_ratio, dim=0)
    share = torch.softmax(log_ratio, dim=0)
    slope = x * torch.exp(-x - log_rest)  # x / (exp(x) - 1), of log(1 - exp(-x))
    return value, torch.where(mask, slope + share * (1 - slope - x), 0.0)


def _where_it_matters(
    terms: Callable[[Tensor], tuple[Tensor, ...]], start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor]:
    """Return both ends (b,) of the range of y outside of which the terms are negligible."""
    y, _ = equal_steps(start, end, SEARCH_NODES)
    log_terms = terms(y)[0]
    matters = log_terms > log_terms.max(dim=0).values + LOG_OF_NOTHING
    number = torch.arange(len(y), device=y.device).unsqueeze(1)
    first = torch.where(matters, number, len(y)).min(dim=0).values - 1
    last = torch.where(matters, number, -1).max(dim=0).values + 1
    ends = torch.stack([first.clamp_(min=0), last.clamp_(max=len(y) - 1)])
    first_y, last_y = torch.gather(y, 0, ends)
    return first_y, last_y


def _log_absent(logits: Tensor, named: Tensor, *, several: bool) -> Tensor:
    if several:
        # By default torch takes softplus(z) = z from z = 20 on, which is wrong by 2e-9.
        return -(functional.softplus(logits, threshold=40) * named).sum(dim=0)
    # With one named label per row, its logit is picked first, because softplus is slow.
    return functional.logsigmoid(-(logits * named).sum(dim=0))


def _log_product(factors: Tensor, *, several: bool) -> Tensor:
    """Return the log of the product over labels, as a sum of logs only if it could underflow."""
    # With one named label per row that does no harm: the integral is at least 1 / K.
    if several and len(factors) > _DIRECT_LABELS.get(factors.dtype, 0):
        return factors.log().sum(dim=0)
    return factors.prod(dim=0).log_()


def _of_rows(log_propensities: Tensor | None, rows: slice, block: Tensor) -> Tensor:
    """Return the log-propensities (L, 1) or (L, b) of a block; zeros if there are none."""
    if log_propensities is None:
        return torch.zeros_like(block[:, :1])
    if log_propensities.ndim == 1:
        return log_propensities.unsqueeze(1)
    return log_propensities[rows].t()


def _blocks_of_rows(logits: Tensor, n_nodes: int) -> Iterator[slice]:
    n_rows, n_labels = logits.shape
    budget = _BYTES_AT_ONCE["cpu" if logits.device.type == "cpu" else "other"]
    budget //= logits.element_size()
    size = max(1, math.ceil(budget / (max(1, n_labels) * n_nodes)))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


@dataclass(frozen=True)
class Rule:
    """Nodes and weights for integrals over u in [0, 1]; ``divisor`` is S / a, or None if t = u."""

    log_u: Array  # (n_nodes,)
    log_weight: Array  # (n_nodes,)
    divisor: float | None = None

    def of_rows(self, expected: Tensor) -> tuple[Tensor, Tensor]:
        """Return log t and log-weights for S (b,), both (n_nodes, b) or (n_nodes, 1)."""
        # The weights contain dt / du = t / (a u), which follows from t = u^(1 / a).
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
    """Return the rule for 1 to m named labels without propensities; None if m is too large."""
    if n_labels <= _MOST_EXACT_LABELS:
        # The degree is K - 1: K - m from the other labels, and m - 1 from (1 - t)^(m - 1).
        return _gauss((n_labels + 1) // 2)
    for most, n_nodes, divisor in _RISING:
        if most_named <= most:
            return _gauss(n_nodes, divisor)
    return None


def _gauss(n_nodes: int, divisor: float | None = None) -> Rule:
    nodes, weights = special.roots_legendre(n_nodes)
    return Rule(np.log((1 + nodes) / 2), np.log(weights / 2), divisor)


def number_of_nodes(log_propensities: Tensor | None, *, several: bool) -> int:
    usual, most_usual = (_NODES_OF_SETS if several else _NODES), _USUAL_LOG_RATIO
    if log_propensities is None or log_propensities.numel() == 0:
        return usual
    if log_propensities.dtype == torch.float32 and not several:
        usual, most_usual = _NODES_IN_FLOAT32, _USUAL_IN_FLOAT32
    spread = float(log_propensities.max() - log_propensities.min())
    return usual + math.ceil(_NODES_PER_LOG * max(0.0, spread - most_usual))


def equal_steps(start: Tensor, end: Tensor, n_nodes: int) -> tuple[Tensor, Tensor]:
    share = torch.linspace(0, 1, n_nodes, dtype=start.dtype, device=start.device).unsqueeze(1)
    return start + (end - start) * share, (end - start) / (n_nodes - 1)
