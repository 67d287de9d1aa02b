"""What a loss must offer to be trained through any network, and through a linear map fast."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch

from complabel.errors import InputError


class LogitLoss(torch.nn.Module, ABC):
    """A loss of a network's K outputs, averaged over instances.

    ``forward`` is all that a loss needs, in any training loop and in the methods here: what a
    call is given is checked first. ``logit_gradient`` is the same loss differentiated, for
    linear models; it works by autograd unless a loss differentiates by hand, which is faster.
    It takes *label-major* tensors, one row per label, because on CPU both matrix products of a
    step are fastest on that layout.

    Examples
    --------
    >>> class Hinge(LogitLoss):
    ...     def forward(self, logits, *targets):
    ...         (complementary,) = targets
    ...         return (complementary * torch.relu(1 + logits)).sum(dim=1).mean()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> float(Hinge()(torch.zeros(1, 3), complementary))
    1.0
    """

    def __call__(self, logits: torch.Tensor, *targets: torch.Tensor) -> Any:
        """Compute the loss as ``forward`` does, after checking what it is given."""
        return super().__call__(logits, *check_targets(logits, *targets))

    @abstractmethod
    def forward(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Compute the loss.

        Parameters
        ----------
        logits : tensor of shape (b, K)
            Network outputs before any sigmoid or softmax.
        *targets : tensors of shape (b, K)
            Indicator matrices; which ones, the loss says. A call of the loss brings them to the
            logits' dtype.

        Returns
        -------
        tensor of shape ()
        """

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
        # Copies made outside inference mode, in which linear models train, can be recorded.
        with torch.inference_mode(False), torch.enable_grad():
            leaf = logits.t().clone().requires_grad_()  # (b, K)
            mean = self.forward(leaf, *(target.t().clone() for target in targets))
            (gradient,) = torch.autograd.grad(mean * len(leaf), leaf)
        return gradient.t().contiguous()


def check_targets(logits: torch.Tensor, *targets: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return a loss's targets in the logits' dtype, after checking everybody's shape.

    Parameters
    ----------
    logits : tensor of shape (b, K)
    *targets : tensors of shape (b, K)
        Any real dtype will do.

    Returns
    -------
    tuple of tensors of shape (b, K)

    Raises
    ------
    InputError
        If something is no tensor, or has another shape.
    """
    for name, tensor in [("logits", logits), *(("the labels", target) for target in targets)]:
        if not isinstance(tensor, torch.Tensor):
            raise InputError(
                f"{name} of a loss must be a tensor, got {type(tensor).__name__}; torch.as_tensor"
                " makes one of an array"
            )
    if logits.ndim != 2 or not logits.is_floating_point():
        raise InputError(
            f"logits of a loss must be floats of shape (b, K), one column per label, got"
            f" {logits.dtype} of shape {tuple(logits.shape)}"
        )
    if not targets:
        raise InputError("a loss needs labels beside the logits: an indicator of shape (b, K)")
    for target in targets:
        if target.shape != logits.shape or target.is_complex():
            raise InputError(_wrong_target(target, tuple(logits.shape)))
    return tuple(target.to(logits.dtype) for target in targets)


def _wrong_target(target: torch.Tensor, expected: tuple[int, ...]) -> str:
    """Say what a loss was given for labels, what it needs, and how to come by it."""
    found = f"got {target.dtype} of shape {tuple(target.shape)} for logits of shape {expected}"
    needed = "labels of a loss must be an indicator of the logits' shape (b, K)"
    if not target.is_floating_point() and (target.ndim == 1 or target.shape[1:] == (1,)):
        return (
            f"{needed}, {found}: of class numbers,"
            f" complabel.annotations.indicator_from_indices(numbers, {expected[1]}) makes one"
        )
    if tuple(target.shape) == expected[::-1]:
        return f"{needed}, {found}: it looks transposed"
    return f"{needed}, {found}: give one row per instance and one column per label"
