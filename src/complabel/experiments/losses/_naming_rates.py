"""The losses of CCMN and COMES, for labels that are named with known probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from complabel._parameters import check_array
from complabel.errors import InputError
from complabel.losses import LogitLoss, differentiable

# The largest number of score differences in memory at once: 16 MiB in single precision.
_MOST_DIFFERENCES = 2**22


class NamingRateLoss(LogitLoss):
    """Base of losses for labels that are named with rates (K,) where they do not apply."""

    naming_rates: Tensor

    def __init__(self, naming_rates: ArrayLike) -> None:
        super().__init__()
        rates = check_array("naming_rates", naming_rates, "label")
        if (wrong := (rates <= 0) | (rates > 1)).any():
            at = int(wrong.argmax())
            raise InputError(
                f"naming_rates must be chances above 0, at most 1, got {rates[at]} at label {at}"
            )
        self.register_buffer("naming_rates", torch.from_numpy(rates.copy()))

    def weighted(self, complementary: Tensor) -> Tensor:
        """Return complementary labels (b, K), each divided by its naming rate."""
        return complementary / self.naming_rates.to(complementary)


class CCMNLoss(NamingRateLoss):
    r"""The unbiased estimator of the supervised binary cross-entropy under class-conditional noise.

    Candidates are noisy labels. Label j, if it does not apply, is a candidate with probability
    1 - p_j, the noise rate. For a loss l, the paper's estimator is l(f, 1) for a candidate and
    (l(f, 0) - (1 - p_j) l(f, 1)) / p_j for a complementary label. The cross-entropy is linear in
    its target, so its estimator is the cross-entropy with the target :math:`1 - \bar y_j / p_j`,
    summed over labels and averaged over instances. If all p_j are 1, it is :class:`GDFLoss`, which
    leaves out rows without a label.

    Parameters
    ----------
    naming_rates : array-like of shape (K,)
        p_j in (0, 1]: the probability that label j is named for an instance to which it does
        not apply.

    Notes
    -----
    If p_j < 1, the loss falls without end with the logit of a complementary label. So a flexible
    model overfits; :class:`COMESHammingLoss` corrects this. The estimator is unbiased only if each
    label is named with *one* probability. A person who names one random label that does not apply
    does so with probability 1 / (K - c), where c labels apply: c must be the same for all. It also
    needs the rows of which no label was named: each label was named or not by itself.

    References
    ----------
    Xie and Huang, "CCMN: A General Framework for Learning with Class-Conditional Multi-Label
    Noise", IEEE TPAMI 2023, the first estimator. It extends Natarajan, Dhillon, Ravikumar and
    Tewari, "Learning with Noisy Labels", 2013.

    Examples
    --------
    >>> loss = CCMNLoss([0.5, 0.5, 0.5])
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # 3 log 2
    2.0794
    >>> round(float(loss(torch.tensor([[-1.0, 0.0, 0.0]]), complementary)), 4)
    0.6996
    """

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        losses = functional.softplus(-logits) + self.weighted(complementary) * logits
        return losses.sum(dim=1).mean()

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return sigmoid(logits) - (1 - complementary / p), all of shape (b, K)."""
        return torch.sigmoid(logits).add_(self.weighted(complementary)).sub_(1)

    def _likeness(self) -> Hashable:
        return type(self)

    def _stack(self, losses: Sequence[Any]) -> LogitLoss:
        stack = CCMNLoss(self.naming_rates.cpu().numpy())
        stack.naming_rates = torch.stack([each.naming_rates for each in losses]).unsqueeze(1)
        return stack


class COMESHammingLoss(NamingRateLoss):
    r"""COMES-HL: the corrected cross-entropy of unlabelled and negative instances.

    All instances are unlabelled. The instances for which label j was named are a sample of those
    to which it does not apply. If l is the cross-entropy, the risk under full supervision is the
    sum over labels of

    .. math:: A_j + B_j,\quad A_j = E[l(f_j, 1)] - (1 - \pi_j) E[l(f_j, 1) | \bar y_j = 1],\quad
        B_j = (1 - \pi_j) E[l(f_j, 0) | \bar y_j = 1].

    A_j, the loss of the relevant labels, cannot be negative, but its estimate can, and training
    would make it smaller. So the loss is the sum of :math:`|A_j| + B_j`.

    Parameters
    ----------
    naming_rates : array-like of shape (K,)
        p_j, as for :class:`CCMNLoss`. Label j is named for a share p_j (1 - pi_j) of the
        instances, so division of complementary labels by p_j gives the two conditional means.
    corrected : bool, default=True
        Whether to take the absolute value of A_j. If not, the loss equals :class:`CCMNLoss`.

    Notes
    -----
    A_j is a mean over a batch, so the corrected loss of a batch is not a mean over its instances.
    The risk and the correction are from the paper. The form is ours: the loss is a sum over labels
    (the paper divides by K), and p_j is the same for all batches.

    References
    ----------
    Wang, Ma, Xie, Niu and Sugiyama, "Rethinking Consistent Multi-Label Classification under
    Inexact Supervision", ICLR 2026, Theorem 1 and the corrected estimator of section 3.

    Examples
    --------
    >>> loss = COMESHammingLoss([0.5, 0.5, 0.5])
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # 5 log 2
    3.4657
    """

    def __init__(self, naming_rates: ArrayLike, *, corrected: bool = True) -> None:
        super().__init__(naming_rates)
        self.corrected = corrected

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        negative = self.weighted(complementary)
        of_relevant = (functional.softplus(-logits) * (1 - negative)).mean(dim=0)
        of_others = (functional.softplus(logits) * negative).mean(dim=0)
        if self.corrected:
            of_relevant = of_relevant.abs()
        return (of_relevant + of_others).sum()

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Differentiate the loss, times the number of instances, by hand; all are (b, K)."""
        negative = self.weighted(complementary)
        scores = torch.sigmoid(logits)
        positive = 1 - negative
        through_relevant = (scores - 1).mul_(positive)
        if self.corrected:
            of_relevant = (functional.softplus(-logits) * positive).sum(dim=0)
            through_relevant.mul_(torch.sign(of_relevant))
        return through_relevant.addcmul_(negative, scores)


class COMESRankingLoss(NamingRateLoss):
    r"""COMES-RL: a symmetric loss that ranks the other labels above the complementary ones.

    For a complementary label j and another label k, the loss is
    :math:`\sigma(f_j - f_k) / p_j`, where f are logits. It is averaged over k, summed over j, and
    averaged over instances. A pair of an irrelevant j and a relevant k counts as in the ranking
    loss. A pair of two irrelevant labels counts
    :math:`\sigma(f_j - f_k) + \sigma(f_k - f_j) = 1` for any logits. So the expected loss is the
    supervised one plus a constant, and nothing has to be subtracted.

    Parameters
    ----------
    naming_rates : array-like of shape (K,)
        p_j, as for :class:`CCMNLoss`; division gives the paper's (1 - pi_j) E[. | j named].
    flooding : float, default=0.0
        beta, the flood level. If L is the mean over a batch, the loss is \|L - beta\| + beta.

    Notes
    -----
    The risk, the sigmoid loss and the flooding are from the paper, which tunes the flood level. The
    division of the sum over pairs by K - 1 is ours. For s complementary labels per instance, the
    loss takes O(n s K) time.

    References
    ----------
    The paper of :class:`COMESHammingLoss`, the second-order strategy of section 3.

    Examples
    --------
    >>> loss = COMESRankingLoss([0.5, 0.5, 0.5])
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> float(loss(torch.zeros(1, 3), complementary))  # ties count 1/2, twice as p is 1/2
    1.0
    """

    def __init__(self, naming_rates: ArrayLike, *, flooding: float = 0.0) -> None:
        super().__init__(naming_rates)
        if not flooding >= 0:
            raise InputError(f"flooding is {flooding!r}; give a number from 0")
        self.flooding = flooding

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        mean = differentiable(lambda at: self._evaluate(at, complementary), logits).mean()
        return (mean - self.flooding).abs() + self.flooding if self.flooding else mean

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Differentiate the loss, times the number of instances, by hand; all are (b, K)."""
        values, gradient = self._evaluate(logits, complementary)
        if self.flooding:
            gradient.mul_(torch.sign(values.mean() - self.flooding))
        return gradient

    def _evaluate(self, logits: Tensor, complementary: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of each instance (b,), and its gradient (b, K)."""
        n_labels = logits.shape[1]
        values = logits.new_zeros(len(logits))
        gradient = torch.zeros_like(logits)
        rows, labels = torch.nonzero(complementary, as_tuple=True)  # (P,) and (P,)
        weights = self.weighted(complementary)[rows, labels] / max(1, n_labels - 1)
        size = max(1, _MOST_DIFFERENCES // n_labels)
        for part in (slice(start, start + size) for start in range(0, len(rows), size)):
            row, label = rows[part], labels[part]
            of_named = logits[row, label].unsqueeze(1)
            above = torch.sigmoid(of_named - logits[row])  # (P, K)
            # The sum has the pair of the label with itself, sigmoid(0) = 1/2, which is no pair.
            values.index_add_(0, row, weights[part] * (above.sum(dim=1) - 0.5))
            slope = above.mul_(1 - above).mul_(weights[part].unsqueeze(1))
            gradient.index_add_(0, row, slope, alpha=-1)
            gradient.index_put_((row, label), slope.sum(dim=1), accumulate=True)
        return values, gradient
