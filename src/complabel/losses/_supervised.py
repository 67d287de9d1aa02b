"""The loss of full supervision."""

from __future__ import annotations

import torch
from torch.nn import functional

from complabel.losses._base import LogitLoss


class BinaryCrossEntropy(LogitLoss):
    """Binary cross-entropy against the relevant labels, summed over labels.

    The upper reference: it needs the true labels of every training instance.

    Examples
    --------
    >>> loss = BinaryCrossEntropy()
    >>> round(float(loss(torch.zeros(1, 4), torch.ones(1, 4))), 4)  # 4 log 2
    2.7726
    """

    def forward(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Compute the loss from logits and relevant labels, both of shape (b, K)."""
        (relevant,) = targets
        total = functional.binary_cross_entropy_with_logits(logits, relevant, reduction="sum")
        return total / len(logits)

    def logit_gradient(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Return sigmoid(logits) - relevant, all of shape (K, b)."""
        (relevant,) = targets
        return torch.sigmoid(logits).sub_(relevant)
