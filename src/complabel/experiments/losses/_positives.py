"""The published losses of single positive labels: what applies is known, and nothing else is.

A loss holds what is known of all rows. Training calls it with the logits of a batch and the rows
of the batch, and calls ``end`` after each epoch. Losses are sums over labels and means over rows;
the papers divide by K, too. Gradients are those of autograd.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

# How sure the label estimator of ROLE is at the start, as in the released code.
_SURE = 0.995
# Of Hill and SPLC: how much lower the logits of positives count, the exponent of the focal loss,
# and lambda of Hill; all as in the paper.
_MARGIN, _GAMMA, _TOP = 1.0, 2.0, 1.5
# The estimator learns so many times faster than the classifier, as in the released code.
_FASTER = 10.0


class PositiveLoss(ABC):
    """A loss of known positives (n, K), called with logits (b, K) and their rows (b,)."""

    def __init__(self, positive: Tensor) -> None:
        self.positive = positive

    def trained(self) -> list[torch.nn.Parameter]:
        """Return the parameters of the loss itself."""
        return []

    def end(self, _epoch: int, _epochs: int, _logits: Callable[[], Tensor], /) -> None:
        """Take note that an epoch (from 1) is over; the logits are of all rows, (n, K)."""
        return

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """Return the mean over rows of the sum over labels."""
        return self.cells(logits, rows).sum(dim=1).mean()

    @abstractmethod
    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        """Return the loss of each label, (b, K)."""


class AssumedNegativeLoss(PositiveLoss):
    """Cross-entropy where labels that are not known to apply count as "no".

    Targets are moved by ``smoothing`` from 0 and 1. ``weak`` divides the weight of the assumed
    "no" by K - 1, so that all of a row together weigh as much as one positive.
    """

    def __init__(self, positive: Tensor, *, smoothing: float = 0.0, weak: bool = False) -> None:
        super().__init__(positive)
        self.smoothing = smoothing
        self.weight = 1 / max(1, positive.shape[1] - 1) if weak else 1.0

    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        positive = self.positive[rows]
        targets = positive * (1 - 2 * self.smoothing) + self.smoothing
        return _cross_entropy(logits, targets) * torch.where(positive > 0, 1.0, self.weight)


class EntropyMaximizationLoss(PositiveLoss):
    """EM with APL: the entropy of unknown labels is maximized; the lowest become soft "no".

    After the first half of the epochs, each epoch gives some more of the unknown labels a pseudo
    label: of each label, the rows with the lowest scores, at last a share ``share`` of all. Their
    target is the score, and stays as it is.
    """

    def __init__(
        self, positive: Tensor, *, entropy: float = 0.1, pseudo: float = 0.2, share: float = 0.9
    ) -> None:
        super().__init__(positive)
        self.entropy, self.pseudo, self.share = entropy, pseudo, share
        self.targets = torch.full_like(positive, torch.nan)  # NaN: no pseudo label

    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        positive = self.positive[rows]
        targets = self.targets[rows]
        unknown = -self.entropy * _cross_entropy(logits, torch.sigmoid(logits))
        soft = self.pseudo * _cross_entropy(logits, targets.nan_to_num())
        found = torch.where(targets.isnan(), unknown, soft)
        return torch.where(positive > 0, functional.softplus(-logits), found)

    def end(self, epoch: int, epochs: int, logits: Callable[[], Tensor], /) -> None:
        warm = epochs // 2
        if not warm <= epoch < epochs:
            return
        scores = torch.sigmoid(logits())
        free = self.targets.isnan() & (self.positive == 0)
        order = torch.where(free, scores, torch.inf).argsort(dim=0, stable=True).argsort(dim=0)
        chosen = order < ((self.positive == 0).sum(dim=0) * self.share / (epochs - warm)).floor()
        self.targets = torch.where(chosen & free, scores, self.targets)


class ROLELoss(PositiveLoss):
    """ROLE: a table of label estimates (n, K) and the classifier learn from each other.

    Both also learn from the positives, and both are drawn to ``cardinality`` labels per row on
    average, which must be known.
    """

    def __init__(self, positive: Tensor, *, cardinality: float) -> None:
        super().__init__(positive)
        self.cardinality = cardinality
        start = torch.where(positive > 0, _SURE, 0.4 + 0.2 * torch.rand_like(positive))
        self.estimates = torch.nn.Parameter(torch.logit(start) / _FASTER)

    def trained(self) -> list[torch.nn.Parameter]:
        return [self.estimates]

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """Return the mean over rows, with the penalty of the number of labels in the batch."""
        found, n_labels = super().__call__(logits, rows), logits.shape[1]
        for each in (logits, self._of(rows)):
            excess = torch.sigmoid(each).sum(dim=1).mean() - self.cardinality
            found = found + 0.5 * excess.square() / n_labels
        return found

    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        positive = self.positive[rows]
        estimates = self._of(rows)
        found = torch.zeros_like(logits)
        for one, other in ((logits, estimates), (estimates, logits)):
            known = positive * functional.softplus(-one)
            found = found + 0.5 * (known + _cross_entropy(one, torch.sigmoid(other.detach())))
        return found

    def _of(self, rows: Tensor) -> Tensor:
        return self.estimates[rows] * _FASTER


class LargeLoss(PositiveLoss):
    """LL: of the assumed "no", those with the largest losses in a batch are not believed.

    They count nothing (LL-R), or count as "yes" (``corrects``, LL-Ct). They are none in the first
    epoch, and the share ``rejected`` of all labels of a batch in the last.
    """

    def __init__(self, positive: Tensor, *, rejected: float = 0.02, corrects: bool = False) -> None:
        super().__init__(positive)
        self.rejected, self.corrects = rejected, corrects
        self.share = 0.0

    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        positive = self.positive[rows]
        found = _cross_entropy(logits, positive)
        doubted = math.ceil(found.numel() * self.share)
        if not doubted:
            return found
        assumed = torch.where(positive > 0, 0.0, found.detach())
        least = assumed.flatten().topk(doubted).values[-1]
        instead = functional.softplus(-logits) if self.corrects else torch.zeros_like(found)
        return torch.where((assumed >= least) & (positive == 0), instead, found)

    def end(self, epoch: int, epochs: int, _logits: Callable[[], Tensor], /) -> None:
        self.share = self.rejected * epoch / max(1, epochs - 1)


class HillLoss(PositiveLoss):
    """Hill: the slope of an assumed "no" falls again where the score is high.

    Positives have the focal loss of a logit that is lowered by a margin.
    """

    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        scores = torch.sigmoid(logits)
        hill = (_TOP - scores) * scores.square()
        return torch.where(self.positive[rows] > 0, _focal(logits - _MARGIN), hill)


class SPLCLoss(PositiveLoss):
    """SPLC: after the first epoch, an assumed "no" with a score above a threshold counts as "yes".

    Losses are focal; logits of positives are lowered by a margin before.
    """

    def __init__(self, positive: Tensor, *, above: float = 0.6) -> None:
        super().__init__(positive)
        self.above, self.corrects = above, False

    def cells(self, logits: Tensor, rows: Tensor) -> Tensor:
        positive = self.positive[rows]
        lowered = logits - _MARGIN * positive
        applies = positive > 0
        if self.corrects:
            applies = applies | (torch.sigmoid(lowered) > self.above)
        return _focal(torch.where(applies, lowered, -lowered))

    def end(self, _epoch: int, _epochs: int, _logits: Callable[[], Tensor], /) -> None:
        self.corrects = True


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")


def _focal(logits: Tensor) -> Tensor:
    """Return the focal loss of labels that apply: -(1 - p)^2 log p."""
    return torch.sigmoid(-logits).pow(_GAMMA) * functional.softplus(-logits)
