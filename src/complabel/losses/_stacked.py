"""Losses of several models side by side, whose logits are stacked as (B, b, K)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from complabel.losses._base import LogitLoss

_ALIGNED = 16  # matrices of a product start together at a multiple of 64 bytes: 16 numbers


def likeness_of(loss: LogitLoss) -> Hashable:
    """Return what must be equal for losses that are stacked; None if the loss cannot be stacked."""
    return loss._likeness() if "_likeness" in vars(type(loss)) else None


def stacked(losses: Sequence[Any]) -> LogitLoss | None:
    """Return a loss for stacked logits, whose gradient is that of each; None if there is none.

    All losses must have the same likeness.
    """
    first: LogitLoss = losses[0]
    if likeness_of(first) is None:
        return None
    with torch.inference_mode(False):
        return first._stack(losses)


def aligned(matrices: Sequence[Tensor]) -> Tensor:
    """Stack matrices (K, K) so that each starts at a multiple of 64 bytes."""
    size = matrices[0].numel()
    room = matrices[0].new_zeros((len(matrices), -(-size // _ALIGNED) * _ALIGNED))
    stack = room[:, :size].view(-1, *matrices[0].shape)
    return stack.copy_(torch.stack(list(matrices)))
