"""The integrals of the selection likelihood over blocks of rows, with gradients by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from complabel.errors import InputError
from complabel.losses._quadrature import MANY_LABELS, Quadrature, exponential_rule, uniform_rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Factors (labels x nodes x rows) held at once: in float64 1 MiB, about a core's cache, or 128 MiB.
_FACTORS_AT_ONCE = {"cpu": 2**17, "other": 2**24}
# For m > 1 the product of factors, where it matters, can be as small as exp(-K / e); with more
# labels than these it could underflow, and is taken in logarithms.
_DIRECT_LABELS = {torch.float32: 128, torch.float64: 1024}
# A node whose term is less than exp of this, relative to the integral, is lost to rounding.
_LOG_OF_NOTHING = -45.0


@dataclass(frozen=True)
class _Nodes:
    """A quadrature rule as tensors; C is 1, or K where propensities make labels differ."""

    t: Tensor  # (C, n_nodes, 1): t^(w_k)
    one_minus_t: Tensor  # (C, n_nodes, 1)
    log_weight: Tensor  # (n_nodes, 1)
    log_rest: Tensor  # (n_nodes, 1): log(1 - t)
    # (n_nodes, K): log of w_j t^(w_j - 1), if there are propensities
    log_chosen: Tensor | None


class LogLikelihood(torch.autograd.Function):
    """log q_S of each row; the gradient is found along the way."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        """Compute (b,) values and keep the (b, K) gradient."""
        values, gradient = log_likelihood_and_gradient(*inputs)
        ctx.save_for_backward(gradient)
        return values

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the kept gradient."""
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0].unsqueeze(1), None, None, None


def log_likelihood_and_gradient(
    logits: Tensor,
    complementary: Tensor,
    relevant: Tensor | None,
    propensities: NDArray[np.float64] | None,
) -> tuple[Tensor, Tensor]:
    """Return log q_S of each row (b,), and the gradient (b, K), for tensors of shape (b, K)."""
    counts = complementary.sum(dim=1)
    several = bool((counts > 1).any())
    if several and propensities is not None:
        row = int((counts > 1).nonzero()[0])
        raise InputError(
            f"row {row} has {int(counts[row])} complementary labels; with propensities give"
            " one per row"
        )
    # A label whose case is settled leaves the product: its p becomes 1, and so every power of it.
    settled = complementary if relevant is None else torch.maximum(complementary, relevant)
    nodes = _choose_nodes(logits, settled, propensities, most_named=max(1, int(counts.max())))
    values = torch.empty_like(logits[:, 0])
    gradient = torch.empty_like(logits)
    for rows in _blocks_of_rows(logits, nodes):
        block, named, inside = (
            tensor[rows].t().contiguous() for tensor in (logits, complementary, settled)
        )
        values[rows], through_logits = _of_block(block, named, inside, nodes, several=several)
        if relevant is not None:
            known = relevant[rows].t()
            through_logits.addcmul_(1 - torch.sigmoid(block), known)
            values[rows] += (functional.logsigmoid(block) * known).sum(dim=0)
        gradient[rows] = through_logits.t()
    return values, gradient


def _of_block(
    logits: Tensor, complementary: Tensor, settled: Tensor, nodes: _Nodes, *, several: bool
) -> tuple[Tensor, Tensor]:
    """Return values (b,) and gradient (K, b) for as many rows as are held at once.

    All tensors have shape (K, b): the integrals multiply over labels.
    """
    p = torch.sigmoid(logits)
    inside = torch.maximum(p, settled)
    # a_k(t) = p_k + (1 - p_k) t
    factors = torch.mul(inside.unsqueeze(1), nodes.one_minus_t).add_(nodes.t)  # (K, n_nodes, b)
    log_terms = nodes.log_weight + _log_product(factors, several=several)  # (n_nodes, b)
    if several:
        counts = complementary.sum(dim=0)
        log_terms += counts.log() + (counts - 1) * nodes.log_rest
    if nodes.log_chosen is not None:
        log_terms += nodes.log_chosen @ complementary
    log_integral = torch.logsumexp(log_terms, dim=0)  # (b,)
    # d log integral / d p_k is the mean of (1 - t) / a_k(t) over the posterior of the node.
    posterior = log_terms.sub_(log_integral).exp_()
    shares = (nodes.one_minus_t * posterior).div(factors).sum(dim=1)  # (K, b)
    gradient = shares.mul_(inside).mul_(1 - inside).addcmul_(p, complementary, value=-1)
    if several:
        log_rest = -(functional.softplus(logits) * complementary).sum(dim=0)
    else:  # one label per row is picked out first: softplus is slow
        log_rest = functional.logsigmoid(-(logits * complementary).sum(dim=0))
    return log_integral.add_(log_rest), gradient


def _log_product(factors: Tensor, *, several: bool) -> Tensor:
    """Multiply over labels, (K, n_nodes, b) to (n_nodes, b), in logarithms where it must be.

    For one label per row the integral is at least 1 / K: nodes that underflow do not matter.
    """
    if several and len(factors) > _DIRECT_LABELS.get(factors.dtype, 0):
        return factors.log().sum(dim=0)
    return factors.prod(dim=0).log_()


def _blocks_of_rows(logits: Tensor, nodes: _Nodes) -> Iterator[slice]:
    """Yield slices of so many rows that their factors fit."""
    n_rows, n_labels = logits.shape
    budget = _FACTORS_AT_ONCE["cpu" if logits.device.type == "cpu" else "other"]
    size = max(1, math.ceil(budget / (n_labels * len(nodes.log_weight))))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


def _choose_nodes(
    logits: Tensor,
    settled: Tensor,
    propensities: NDArray[np.float64] | None,
    *,
    most_named: int,
) -> _Nodes:
    """Choose a quadrature rule for up to so many complementary labels, and lay it out."""

    def tensor(values: NDArray[np.float64]) -> Tensor:
        return torch.tensor(values, dtype=logits.dtype, device=logits.device)

    log_chosen = None
    if propensities is None:
        rule = uniform_rule(logits.shape[1], most_named)
        if logits.shape[1] > MANY_LABELS:
            rule = _that_matter(rule, logits, settled, most_named=most_named)
        log_powers = rule.log_t[None, :]
    else:
        relative = propensities / propensities.min()
        rule = exponential_rule(1.0, float(relative.sum()))
        log_powers = relative[:, None] * rule.log_t
        log_chosen = tensor(np.log(relative) + np.outer(rule.log_t, relative - 1))
    return _Nodes(
        # Never 0, so that a factor can always be divided by.
        t=tensor(np.exp(log_powers)[:, :, None]).clamp_(min=torch.finfo(logits.dtype).tiny),
        one_minus_t=tensor(-np.expm1(log_powers)[:, :, None]),
        log_weight=tensor(rule.log_weight[:, None]),
        log_rest=tensor(np.log(-np.expm1(rule.log_t))[:, None]),
        log_chosen=log_chosen,
    )


def _that_matter(
    rule: Quadrature, logits: Tensor, settled: Tensor, *, most_named: int
) -> Quadrature:
    """Leave out the nodes that add less than rounding to the integral of every row.

    As log a_k(t) <= -(1 - p_k) (1 - t), the product of all factors is at most exp(-(1 - t) E) for
    E expected irrelevant labels. The integral is at least 1 / C(K, m), the chance to name m of K.
    """
    n_labels = logits.shape[1]
    least = -(math.lgamma(n_labels + 1) - math.lgamma(most_named + 1))
    least += math.lgamma(n_labels - most_named + 1) + _LOG_OF_NOTHING - math.log(most_named)
    expected = float((1 - torch.maximum(torch.sigmoid(logits), settled)).sum(dim=1).min())
    matters = rule.log_weight + np.expm1(rule.log_t) * expected > least
    return Quadrature(rule.log_t[matters], rule.log_weight[matters])
