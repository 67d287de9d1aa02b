"""Functions for torch's autograd that compute their values and their gradients together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def differentiable(evaluate: Callable[..., tuple[Tensor, ...]], *inputs: Tensor) -> Tensor:
    """Return the values (n,) of a function of matrices (n, K), connected to autograd.

    ``evaluate`` returns the values and their gradient (n, K) by each matrix in one call. Value i
    depends on row i only.
    """
    found: Tensor = _ByHand.apply(evaluate, *inputs)  # type: ignore[no-untyped-call]
    return found


class _ByHand(torch.autograd.Function):
    """A function with one value per row; its gradients are computed with the value."""

    @staticmethod
    def forward(ctx: Any, evaluate: Callable[..., tuple[Tensor, ...]], *inputs: Tensor) -> Tensor:
        """Compute the values (n,), and keep the gradients (n, K)."""
        values, *gradients = evaluate(*inputs)
        ctx.save_for_backward(*gradients)
        return values

    @staticmethod
    @once_differentiable  # second derivatives are refused
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """Multiply the kept gradients by that of the result."""
        of_result = grad_outputs[0].unsqueeze(1)
        return None, *(gradient * of_result for gradient in ctx.saved_tensors)
