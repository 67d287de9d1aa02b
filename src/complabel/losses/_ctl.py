"""The loss of CTL, which doubts the candidates that an instance's own scores rank low."""

from __future__ import annotations

import torch
from torch.nn import functional

from complabel.losses._base import LogitLoss

DOUBTED_BELOW = 0.3


class CTLLoss(LogitLoss):
    """A weighted binary cross-entropy in which low-ranked candidates also count as irrelevant.

    For an instance with s complementary labels and z, its scores f scaled to [0, 1] by their own
    minimum and maximum and held constant under differentiation:

    minimize mean over instances of
    exp(-0.5^s) [- sum over candidates j of log f_j - sum over doubted j of log(1 - f_j)]
    - exp(0.5^(s-1)) sum over complementary labels j of log(1 - f_j)

    where the doubted labels are the candidates with 0 < z_j <= 0.3. A row of equal scores is
    not scaled.

    Parameters
    ----------
    strict_code : bool, default=True
        Do as the released code, which never doubts the label with the lowest score (its z is 0);
        ``False`` doubts candidates with 0 <= z_j <= 0.3.

    References
    ----------
    Gao, Zhu, Xu and Zhang, "Multi-Label Learning With Multiple Complementary Labels", IEEE TPAMI
    2025, as in its released code.

    Examples
    --------
    >>> loss = CTLLoss()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # (2 exp(-0.5) + e) log 2
    2.725
    """

    def __init__(self, *, strict_code: bool = True) -> None:
        super().__init__()
        self.strict_code = strict_code

    def forward(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Compute the loss from logits and complementary labels, both of shape (b, K)."""
        (complementary,) = targets
        relevant, irrelevant = self._weights(torch.sigmoid(logits.detach()), complementary, dim=1)
        losses = relevant * functional.softplus(-logits) + irrelevant * functional.softplus(logits)
        return losses.sum(dim=1).mean()

    def logit_gradient(self, logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        """Differentiate the loss, summed over instances; all tensors of shape (K, b)."""
        (complementary,) = targets
        scores = torch.sigmoid(logits)
        relevant, irrelevant = self._weights(scores, complementary, dim=0)
        return irrelevant.add_(relevant).mul_(scores).sub_(relevant)

    def _weights(
        self, scores: torch.Tensor, complementary: torch.Tensor, *, dim: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weights of -log f and of -log(1 - f); labels lie along ``dim``."""
        n_complementary = complementary.sum(dim=dim, keepdim=True)
        on_candidates = torch.exp(-torch.exp2(-n_complementary))
        on_complementary = torch.exp(torch.exp2(1 - n_complementary))
        relevant = on_candidates * (1 - complementary)
        irrelevant = relevant * self._doubted(scores, dim=dim)
        return relevant, irrelevant.addcmul_(on_complementary, complementary)

    def _doubted(self, scores: torch.Tensor, *, dim: int) -> torch.Tensor:
        """Tell which labels are scored low within their instance."""
        lowest = scores.amin(dim=dim, keepdim=True)
        spread = scores.amax(dim=dim, keepdim=True) - lowest
        scaled = torch.where(spread > 0, (scores - lowest) / spread, scores)
        doubted = scaled <= DOUBTED_BELOW
        return doubted & (scaled > 0) if self.strict_code else doubted
