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

    def forward(self, logits: torch.Tensor, true_labels: torch.Tensor) -> torch.Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        total = functional.binary_cross_entropy_with_logits(logits, true_labels, reduction="sum")
        return total / len(logits)

    def logit_gradient(self, logits: torch.Tensor, true_labels: torch.Tensor) -> torch.Tensor:
        """Return sigmoid(logits) - true_labels, all of shape (b, K)."""
        return torch.sigmoid(logits).sub_(true_labels)
