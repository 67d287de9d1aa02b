"""The loss of L-UW, carried from one label per instance to several."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from complabel.losses._base import LogitLoss


class LUWLoss(LogitLoss):
    """The un-weighted loss of discriminative complementary-label learning, for label sets.

    In its multi-class form, with g = softmax(f) and Q = softmax(1 - g) as the model of the
    complementary label, the loss is -log Q at the complementary label. Here a sigmoid takes the
    place of both softmaxes and binary cross-entropy that of cross-entropy: g = sigmoid(f) and
    Q = sigmoid(1 - g), which the loss compares with the complementary indicator, averaged over
    labels and instances.

    Q lies in [0.5, 0.73], so its best value for any label chosen less than half the time is the
    floor, and every g is drawn towards 1.

    References
    ----------
    Gao and Zhang, "Discriminative Complementary-Label Learning with Weighted Loss", ICML 2021,
    eq. 7; the replacements by sigmoid and binary cross-entropy: Gao, Xu and Zhang, "Unbiased
    Risk Estimator to Multi-Labeled Complementary Label Learning", IJCAI 2023, section 4.

    Examples
    --------
    >>> loss = LUWLoss()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # log(1 + sqrt(e)) - 0.5 / 3
    0.8074
    """

    models_the_choice = True

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        return functional.binary_cross_entropy_with_logits(1 - torch.sigmoid(logits), complementary)

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return -(Q - complementary) g (1 - g) / K, all of shape (b, K)."""
        scores = torch.sigmoid(logits)
        through_scores = complementary - torch.sigmoid(1 - scores)
        return through_scores.mul_(scores).mul_(1 - scores).div_(logits.shape[1])

    def log_likelihood(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return the mean of log Q over each instance's labels, shape (b,); Q sums to 1."""
        q = torch.sigmoid(1 - torch.sigmoid(logits))
        log_q = torch.log(q / q.sum(dim=1, keepdim=True))
        return (complementary * log_q).sum(dim=1) / complementary.sum(dim=1)
