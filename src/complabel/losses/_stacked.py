"""Losses of several models side by side, whose logits are stacked as (B, b, K)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from complabel.losses._base import LogitLoss
from complabel.losses._complementary import (
    BinaryCrossEntropy,
    ComplementaryCrossEntropy,
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LUWLoss,
    MLCLLoss,
    UnbiasedBCELoss,
)
from complabel.losses._naming_rates import CCMNLoss

# The ``logit_gradient`` of these looks at each instance alone, and takes stacked tensors, too. This
# holds for exactly these classes: a subclass may compute what it likes.
_WITHOUT_SETTINGS = (
    *(BinaryCrossEntropy, ComplementaryCrossEntropy, CTLLoss, ExponentialRankingLoss),
    *(GDFLoss, LUWLoss, UnbiasedBCELoss),
)
_ALIGNED = 16  # matrices of a product start together at a multiple of 64 bytes: 16 numbers


def likeness_of(loss: LogitLoss) -> Hashable:
    """Return what must be equal for losses that are stacked; losses of another kind are alike."""
    kind = type(loss)
    if isinstance(loss, MLCLLoss) and kind is MLCLLoss:
        return kind, loss.beta, loss.transition.dtype
    return kind if kind is CCMNLoss or kind in _WITHOUT_SETTINGS else None


def stacked(losses: Sequence[Any]) -> LogitLoss | None:
    """Return a loss for stacked logits, whose gradient is that of each; None if there is none.

    All losses must have the same likeness.
    """
    first = losses[0]
    if likeness_of(first) is None:
        return None
    with torch.inference_mode(False):
        if type(first) is MLCLLoss:
            return MLCLLoss(_aligned([each.transition for each in losses]), beta=first.beta)
        if type(first) is CCMNLoss:
            found = CCMNLoss(first.naming_rates.cpu().numpy())
            found.naming_rates = torch.stack([each.naming_rates for each in losses]).unsqueeze(1)
            return found
    return losses[0]  # type: ignore[no-any-return]


def _aligned(matrices: Sequence[Tensor]) -> Tensor:
    """Stack matrices (K, K) so that each starts at a multiple of 64 bytes."""
    size = matrices[0].numel()
    room = matrices[0].new_zeros((len(matrices), -(-size // _ALIGNED) * _ALIGNED))
    stack = room[:, :size].view(-1, *matrices[0].shape)
    return stack.copy_(torch.stack(list(matrices)))
