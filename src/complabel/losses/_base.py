"""What a loss must offer to be trained through any network, and through a linear map fast."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch


class LogitLoss(torch.nn.Module, ABC):
    """A loss of a network's K outputs, averaged over instances.

    ``forward`` is all that a training loop needs. ``logit_gradient`` is the same loss
    differentiated by hand, which lets a linear model train without autograd. It works on
    *label-major* tensors, one row per label, because on CPU both matrix products of a step are
    fastest on that layout.
    """

    @abstractmethod
    def forward(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Compute the loss.

        Parameters
        ----------
        logits : tensor of shape (b, K)
            Network outputs before any sigmoid or softmax.
        *targets : tensors of shape (b, K)
            Indicator matrices of the logits' dtype; which ones, the loss says.

        Returns
        -------
        tensor of shape ()
        """

    @abstractmethod
    def logit_gradient(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Differentiate the loss, summed over instances, with respect to the logits.

        Parameters
        ----------
        logits : tensor of shape (K, b)
        *targets : tensors of shape (K, b)

        Returns
        -------
        tensor of shape (K, b)
        """
