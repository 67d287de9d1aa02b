"""The published losses of complementary labels that need no rates, and of true labels."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from complabel.losses import LogitLoss, labelled_rows

# Candidates with scaled scores up to this count as doubted; the value in CTL's released code.
DOUBTED_UP_TO = 0.3


class BinaryCrossEntropy(LogitLoss):
    """Binary cross-entropy against the relevant labels, summed over labels.

    It is the loss of the supervised reference: it needs the true labels of all instances. A row
    without a label says that none applies.

    Examples
    --------
    >>> loss = BinaryCrossEntropy()
    >>> round(float(loss(torch.zeros(1, 4), torch.ones(1, 4))), 4)  # 4 log 2
    2.7726
    """

    _likeness = LogitLoss._likeness

    def forward(self, logits: Tensor, true_labels: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        return _cross_entropy(logits, true_labels)

    def logit_gradient(self, logits: Tensor, true_labels: Tensor) -> Tensor:
        """Return sigmoid(logits) - true_labels, all of shape (b, K)."""
        return torch.sigmoid(logits).sub_(true_labels)


class GDFLoss(LogitLoss):
    """The gradient-descent-friendly loss (GDF): it treats every candidate label as relevant.

    It is the mean over instances of ::

        - sum over candidates j of log f_j - sum over complementary labels j of log(1 - f_j)

    The published loss is that of one complementary label per instance.

    References
    ----------
    Gao, Xu and Zhang, "Unbiased Risk Estimator to Multi-Labeled Complementary Label Learning",
    IJCAI 2023, the loss named GDF.

    Examples
    --------
    >>> loss = GDFLoss()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # 3 log 2
    2.0794
    """

    _likeness = LogitLoss._likeness

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        return _cross_entropy(logits, 1 - complementary, labelled_rows(complementary))

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return sigmoid(logits) - (1 - complementary), all of shape (b, K)."""
        found = torch.sigmoid(logits).add_(complementary).sub_(1)
        return found.mul_(labelled_rows(complementary))


class UnbiasedBCELoss(LogitLoss):
    """The expected binary cross-entropy over all label sets that the complementary labels allow.

    It is the mean over instances of ::

        - sum over candidates j of [a log f_j + b log(1 - f_j)]
        - sum over complementary labels j of log(1 - f_j)

    There are 2^(K-s) - 1 non-empty label sets that avoid an instance's s complementary labels; a is
    the share of these sets that hold a given candidate, and b = 1 - a. If all are equally likely,
    the mean of this loss is the risk under full supervision.

    Notes
    -----
    For one complementary label this is the published estimator. For several, the code of the
    authors' later paper (CTL) also gives an instance the weight 2^(K-s) - 1; here all weigh the
    same. As a approaches 1/2 exponentially fast in K, little is learned from many labels.

    References
    ----------
    The paper of :class:`GDFLoss`, the risk estimator with binary cross-entropy.

    Examples
    --------
    >>> loss = UnbiasedBCELoss()
    >>> logits = torch.tensor([[-100.0, 100.0, 100.0]])
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(logits, complementary)), 4)  # a third of 100 for each candidate
    66.6667
    """

    _likeness = LogitLoss._likeness

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        return _cross_entropy(
            logits, _expected_relevance(complementary), labelled_rows(complementary)
        )

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return sigmoid(logits) minus the expected relevance, all of shape (b, K)."""
        found = torch.sigmoid(logits).sub_(_expected_relevance(complementary))
        return found.mul_(labelled_rows(complementary))


def _cross_entropy(logits: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
    total = functional.binary_cross_entropy_with_logits(
        logits, target, weight=weight, reduction="sum"
    )
    return total / len(logits)


def _expected_relevance(complementary: Tensor) -> Tensor:
    n_candidates = complementary.shape[-1] - complementary.sum(dim=-1, keepdim=True)
    # a = 2^(m-1) / (2^m - 1) for m candidates, in a form that does not overflow for large m. Where
    # there are none, nothing has this share.
    share = 0.5 / (1 - torch.exp2(-n_candidates.clamp(min=1)))
    return share * (1 - complementary)


class LUWLoss(LogitLoss):
    """The un-weighted loss of discriminative complementary-label learning, for label sets.

    In the multi-class form g = softmax(f), Q = softmax(1 - g) models the complementary label. Here
    both softmaxes are sigmoids, and the binary cross-entropy compares Q with the complementary
    indicator. It is averaged over labels and instances. Q lies in [0.5, 0.73], and for a label that
    is chosen less than half the time, 0.5 is best. So the loss pulls every g towards 1.

    References
    ----------
    Gao and Zhang, "Discriminative Complementary-Label Learning with Weighted Loss", ICML 2021,
    eq. 7. The sigmoid and the binary cross-entropy come from Gao, Xu and Zhang, "Unbiased Risk
    Estimator to Multi-Labeled Complementary Label Learning", IJCAI 2023, section 4.

    Examples
    --------
    >>> loss = LUWLoss()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # log(1 + sqrt(e)) - 0.5 / 3
    0.8074
    """

    _likeness = LogitLoss._likeness

    models_the_choice = True

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        return functional.binary_cross_entropy_with_logits(
            1 - torch.sigmoid(logits), complementary, weight=labelled_rows(complementary)
        )

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return -(Q - complementary) g (1 - g) / K, all of shape (b, K)."""
        scores = torch.sigmoid(logits)
        through_scores = complementary - torch.sigmoid(1 - scores)
        through_scores.mul_(labelled_rows(complementary))
        return through_scores.mul_(scores).mul_(1 - scores).div_(logits.shape[-1])

    def log_likelihood(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return the mean log Q / sum(Q) of each instance's complementary labels, shape (b,).

        It is 0 for an instance without any.
        """
        q = torch.sigmoid(1 - torch.sigmoid(logits))
        log_q = torch.log(q / q.sum(dim=1, keepdim=True))
        return (complementary * log_q).sum(dim=1) / complementary.sum(dim=1).clamp(min=1)


class CTLLoss(LogitLoss):
    """A weighted binary cross-entropy in which low-ranked candidates also count as irrelevant.

    It is the mean over instances of ::

        - exp(-0.5^s) [sum over candidates j of log f_j + sum over doubted j of log(1 - f_j)]
        - exp(0.5^(s-1)) sum over complementary labels j of log(1 - f_j)

    where s is the number of the instance's complementary labels. The doubted labels are the
    candidates with 0 < z_j <= 0.3, where z are the instance's scores f, scaled to [0, 1] by their
    minimum and maximum. No gradient flows through z. A row of equal scores is not scaled.

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

    _likeness = LogitLoss._likeness

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        relevant, irrelevant = _weights(torch.sigmoid(logits.detach()), complementary)
        losses = relevant * functional.softplus(-logits) + irrelevant * functional.softplus(logits)
        return losses.sum(dim=1).mean()

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return the gradient of the loss summed over instances; all tensors are (b, K)."""
        scores = torch.sigmoid(logits)
        relevant, irrelevant = _weights(scores, complementary)
        return irrelevant.add_(relevant).mul_(scores).sub_(relevant)


def _weights(scores: Tensor, complementary: Tensor) -> tuple[Tensor, Tensor]:
    n_complementary = complementary.sum(dim=-1, keepdim=True)
    on_candidates = torch.exp(-torch.exp2(-n_complementary)) * labelled_rows(complementary)
    on_complementary = torch.exp(torch.exp2(1 - n_complementary))
    relevant = on_candidates * (1 - complementary)
    irrelevant = relevant * _doubted(scores)
    return relevant, irrelevant.addcmul_(on_complementary, complementary)


def _doubted(scores: Tensor) -> Tensor:
    """Tell which labels (b, K) have a low score within their instance, but not the lowest."""
    lowest = scores.amin(dim=-1, keepdim=True)
    spread = scores.amax(dim=-1, keepdim=True) - lowest
    scaled = torch.where(spread > 0, (scores - lowest) / spread, scores)
    return (scaled > 0) & (scaled <= DOUBTED_UP_TO)


class ExponentialRankingLoss(LogitLoss):
    r"""The loss of ComRank: exponential in the differences of scores.

    f is the sigmoid of the logits. The loss of an instance sums :math:`\exp(f_k - f_j)` over its
    candidates j, and takes the mean over its complementary labels k: the paper has only one.

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

    _likeness = LogitLoss._likeness

    def forward(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Compute the loss from tensors of shape (b, K)."""
        scores = torch.sigmoid(logits)
        above = ((1 - complementary) * torch.exp(-scores)).sum(dim=1)
        n_complementary = complementary.sum(dim=1).clamp(min=1)
        below = (complementary * torch.exp(scores)).sum(dim=1) / n_complementary
        return (above * below).mean()

    def logit_gradient(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return the gradient of the loss summed over instances; all tensors are (b, K)."""
        scores = torch.sigmoid(logits)
        candidates = 1 - complementary
        above = torch.exp(-scores).mul_(candidates)
        n_complementary = complementary.sum(dim=-1, keepdim=True).clamp(min=1)
        below = torch.exp(scores).mul_(complementary).div_(n_complementary)
        through_scores = below * above.sum(dim=-1, keepdim=True)
        through_scores -= above * below.sum(dim=-1, keepdim=True)
        return through_scores.mul_(scores).mul_(1 - scores)
