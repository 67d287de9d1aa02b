"""Log-likelihoods whose gradient is found along the way, as functions that torch differentiates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def differentiable(evaluate: Callable[[Tensor], tuple[Tensor, Tensor]], logits: Tensor) -> Tensor:
    """Return values (n,) that know their gradient, from a function of logits (n, K) to both."""
    found: Tensor = _ByHand.apply(logits, evaluate)  # type: ignore[no-untyped-call]
    return found


class _ByHand(torch.autograd.Function):
    """A value per row of the logits; the gradient comes with it."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, evaluate: Callable[[Tensor], tuple[Tensor, Tensor]]
    ) -> Tensor:
        """Compute (n,) values and keep the (n, K) gradient."""
        values, gradient = evaluate(logits)
        ctx.save_for_backward(gradient)
        return values

    @staticmethod
    @once_differentiable  # second derivatives are refused
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the kept gradient."""
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0].unsqueeze(1), None
