"""Losses that rank every candidate above every complementary label."""

from __future__ import annotations

import torch

from complabel.losses._base import LogitLoss


class ExponentialRankingLoss(LogitLoss):
    r"""The loss of ComRank: exponential in the differences of scores.

    The mean over instances of the sum over candidates j, and the mean over complementary labels
    k, of :math:`\exp(f_k - f_j)`, where f is the sigmoid of the logits. The paper has one
    complementary label per instance; with several, their mean lets all instances weigh the same.
    As exp(f_k - f_j) is a product, no pair is formed.

    References
    ----------
    "ComRank: Ranking Loss for Multi-Label Complementary Label Learning", NeurIPS 2025.

    Examples
    --------
    >>> loss = ExponentialRankingLoss()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> float(loss(torch.zeros(1, 3), complementary))  # two candidates, both tied with it
    2.0
    """

    def forward(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Compute the loss from logits and complementary labels, both of shape (b, K)."""
        (complementary,) = targets
        scores = torch.sigmoid(logits)
        above = ((1 - complementary) * torch.exp(-scores)).sum(dim=1)
        below = (complementary * torch.exp(scores)).sum(dim=1) / complementary.sum(dim=1)
        return (above * below).mean()

    def logit_gradient(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Differentiate the loss, summed over instances; all tensors of shape (K, b)."""
        (complementary,) = targets
        scores = torch.sigmoid(logits)
        candidates = 1 - complementary
        above = torch.exp(-scores).mul_(candidates)
        below = torch.exp(scores).mul_(complementary).div_(complementary.sum(dim=0))
        through_scores = below * above.sum(dim=0) - above * below.sum(dim=0)
        return through_scores.mul_(scores).mul_(1 - scores)


class SquaredHingeRankingLoss(LogitLoss):
    r"""Squared hinge of the differences of logits, averaged over an instance's pairs.

    The mean over instances, and over their pairs of a candidate j and a complementary label k,
    of :math:`\max(0, 1 - f_j + f_k)^2`, where f are the logits.

    No pair is formed: with the candidates' logits lowered by 1, u, a pair costs
    max(0, u_k - u_j)^2, and once u is sorted the sums over one side are cumulative sums.

    References
    ----------
    The rank loss of M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018, at
    full confidence in every candidate.

    Examples
    --------
    >>> loss = SquaredHingeRankingLoss()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> float(loss(torch.tensor([[0.0, 3.0, -1.0]]), complementary))  # (0 + 2^2) / 2
    2.0
    """

    def forward(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Compute the loss from logits and complementary labels, both of shape (b, K)."""
        (complementary,) = targets
        shifted = logits - (1 - complementary)
        u, order = torch.sort(shifted, dim=1)
        below = torch.gather(1 - complementary, 1, order)
        difference_squares = (
            u.square() * below.cumsum(dim=1)
            - 2 * u * (below * u).cumsum(dim=1)
            + (below * u.square()).cumsum(dim=1)
        )
        total = ((1 - below) * difference_squares).sum(dim=1)
        return (total / _pair_counts(complementary, dim=1)).mean()

    def logit_gradient(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Differentiate the loss, summed over instances; all tensors of shape (K, b)."""
        (complementary,) = targets
        u, order = torch.sort(logits - (1 - complementary), dim=0)
        below = torch.gather(1 - complementary, 0, order)
        above = 1 - below
        push_down = above * (u * below.cumsum(dim=0) - (below * u).cumsum(dim=0))
        # Sums over what comes later in a column: its total less what came up to here, which no
        # candidate is part of.
        n_later = above.sum(dim=0) - above.cumsum(dim=0)
        u_later = (above * u).sum(dim=0) - (above * u).cumsum(dim=0)
        pull_up = below * (u_later - u * n_later)
        gradient = (push_down - pull_up).mul_(2 / _pair_counts(complementary, dim=0))
        return torch.empty_like(gradient).scatter_(0, order, gradient)


def _pair_counts(complementary: torch.Tensor, *, dim: int) -> torch.Tensor:
    """Return each instance's number of pairs; labels lie along ``dim``."""
    n_complementary = complementary.sum(dim=dim)
    return n_complementary * (complementary.shape[dim] - n_complementary)
