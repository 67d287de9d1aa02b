"""The losses of MLCL: of its first step, and with its transition matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from complabel._parameters import check_real
from complabel.errors import TransitionError
from complabel.losses._base import LogitLoss, aligned, labelled_rows, no_autocast
from complabel.transition import check_transition

# Implied probabilities keep at least this distance from 0 and 1, so that their logarithms are
# finite. 1 - 1e-6 differs from 1 in float32.
PROBABILITY_MARGIN = 1e-6

# The kernel that autograd calls: one call does the work of three written-out operations.
_sigmoid_backward: Callable[..., Tensor] = torch.ops.aten.sigmoid_backward.default


def implied_complementary(scores: Tensor, transition: Tensor) -> Tensor:
    """Return ``T^T f(x)``: how likely each label (b, K) is the complementary one, eq. 8 of MLCL.

    Values are kept inside [1e-6, 1 - 1e-6]. Gradients pass through the bound, so that a score
    near 0 or 1 can move away again.
    """
    implied = scores @ transition  # (b, K) @ (K, K)
    bounded = implied.clamp(PROBABILITY_MARGIN, 1 - PROBABILITY_MARGIN)
    return implied + (bounded - implied).detach()


class ComplementaryCrossEntropy(LogitLoss):
    """Cross-entropy of a softmax over labels against the complementary label.

    This is the loss of MLCL's first step (section 4.2 of its paper). An instance's complementary
    labels share the probability equally: each counts 1 / s if there are s of them. The logits are
    of *which label is named*, so they are high for labels that do not apply.

    Examples
    --------
    >>> loss = ComplementaryCrossEntropy()
    >>> named = torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 4), named)), 4)  # log 4, as for one label
    1.3863
    """

    _likeness = LogitLoss._likeness

    def forward(self, logits: Tensor, named: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        shares = named / named.sum(dim=-1, keepdim=True).clamp(min=1)
        return functional.cross_entropy(logits, shares)

    def logit_gradient(self, logits: Tensor, named: Tensor) -> Tensor:
        """Return softmax(logits) minus the shares of labels, all of shape (b, K)."""
        count = named.sum(dim=-1, keepdim=True)
        # Training passes transposed views. A softmax over dimension 1 would copy them.
        gradient = torch.softmax(logits.mT, dim=-2).mT.mul_(count.clamp(max=1))
        return gradient.sub_(named / count.clamp(min=1))


class MLCLLoss(LogitLoss):
    r"""The loss of MLCL, with or without known relevant labels.

    The loss of an instance without known relevant labels is eq. 12,
    :math:`\bar L + \beta \bar L_{mse}`: the binary cross-entropy of eq. 10 between the implied
    probabilities and the complementary labels, and their squared error, eq. 11. With known
    relevant labels it is eq. 13, :math:`\bar L + ||\tilde y - f(x)||_2^2`. An instance without a
    complementary label counts by the known relevant labels alone.

    Parameters
    ----------
    transition : tensor or array-like of shape (K, K)
        T; rows sum to 1, the diagonal is 0. It is used in the dtype and on the device of logits.
    beta : float, default=1.0
        Weight of the MSE regularizer, at least 0.

    Raises
    ------
    TransitionError
        If ``transition`` is no such matrix, or of another number of labels than the logits.

    References
    ----------
    Gao, Xu and Zhang, "Complementary to Multiple Labels: A Correlation-Aware Correction
    Approach", eq. 8 to 13.

    Examples
    --------
    >>> transition = (1 - torch.eye(3)) / 2
    >>> loss = MLCLLoss(transition, beta=0.0)
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # 3 log 2
    2.0794
    """

    transition: Tensor

    def __init__(self, transition: Tensor | ArrayLike, *, beta: float = 1.0) -> None:
        super().__init__()
        if not isinstance(transition, Tensor):  # of no dtype that depends on torch's default
            transition = torch.from_numpy(np.array(transition, dtype=np.float64))
        n_labels = max(transition.shape, default=0)
        check_transition(transition.detach().cpu().double().numpy(), n_labels=n_labels)
        check_real("beta", beta, at_least=0)
        self.register_buffer("transition", transition)
        self.beta = beta

    def forward(
        self, logits: Tensor, complementary: Tensor, relevant: Tensor | None = None
    ) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        if len(self.transition) != logits.shape[1]:
            raise TransitionError(
                f"the logits have {logits.shape[1]} columns, but the transition matrix is of"
                f" {len(self.transition)} labels; give the one of these labels"
            )
        scores = torch.sigmoid(logits)
        has_labels = labelled_rows(complementary).squeeze(1)
        implied = implied_complementary(scores, self.transition.to(scores))
        squared = self.beta * has_labels * (complementary - implied).square().sum(dim=1)  # (b,)
        if relevant is not None:
            to_relevant = (relevant - scores).square().sum(dim=1)
            squared = torch.where(relevant.any(dim=1), to_relevant, squared)
        log_likelihood = complementary * implied.log() + (1 - complementary) * torch.log1p(-implied)
        return -(has_labels * log_likelihood.sum(dim=1)).mean() + squared.mean()

    def logit_gradient(
        self, logits: Tensor, complementary: Tensor, relevant: Tensor | None = None
    ) -> Tensor:
        """Return the gradient of the loss summed over instances; all tensors are (b, K)."""
        with no_autocast(logits.device):
            scores = torch.sigmoid(logits)
            transition = self.transition.to(scores)
            # Training passes transposed views of (K, b): these products read them in memory order.
            implied = torch.matmul(transition.mT, scores.mT).mT
            implied.clamp_(PROBABILITY_MARGIN, 1 - PROBABILITY_MARGIN)
            error = (implied - complementary).mul_(labelled_rows(complementary))
            # d BCE / d implied = error / (implied (1 - implied)).
            # Written out, this is three times as fast on large tensors as the kernel of autograd.
            through_implied = error / (1 - implied).mul_(implied)
            if relevant is None:
                through_implied.add_(error, alpha=2 * self.beta)
                return _sigmoid_backward(torch.matmul(transition, through_implied.mT).mT, scores)
            known = relevant.any(dim=-1, keepdim=True)  # (b, 1)
            through_implied.addcmul_(error, (~known).to(error.dtype), value=2 * self.beta)
            through_scores = torch.matmul(transition, through_implied.mT).mT
            through_scores.addcmul_(scores - relevant, known.to(error.dtype), value=2)
            return _sigmoid_backward(through_scores, scores)

    def _likeness(self) -> Hashable:
        return type(self), self.beta, self.transition.dtype

    def _stack(self, losses: Sequence[Any]) -> LogitLoss:
        stack = MLCLLoss(self.transition, beta=self.beta)
        stack.transition = aligned([each.transition for each in losses])
        return stack
