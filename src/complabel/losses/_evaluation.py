"""What all parts of a likelihood of answers share: arguments, values with gradients, places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from complabel.answers import Answers
from complabel.losses._mistakes import Mistakes


def by_label(values: Tensor) -> Tensor:
    """View a label-major matrix (n, K) as a vector: label k of item i is at place k n + i."""
    return values.t().view(-1)


def on_offer(answers: Answers, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return an indicator (b, K) of the labels on offer in b answers."""
    offered = answers.offered[rows].toarray()
    offered[np.diff(answers.offered.indptr)[rows] == 0] = 1  # an empty row means all labels
    return np.asarray(offered)


@dataclass(frozen=True)
class Point:
    """Arguments of a likelihood of answers; ``None`` are equal propensities and no mistakes."""

    logits: Tensor  # (n, K)
    log_propensities: Tensor | None  # (K,) or (n, K)
    mistakes: Mistakes | None

    @classmethod
    def at(cls, logits: Tensor, log_propensities: Tensor | None, rates: Tensor | None) -> Point:
        """Return a point with rates above 0 and label-major logits, as the integrals need them."""
        if log_propensities is not None and log_propensities.ndim == 2:
            log_propensities = log_propensities.t().contiguous().t()
        return cls(logits.t().contiguous().t(), log_propensities, Mistakes.of(rates))

    def error_rates_of(self, annotator: Tensor) -> Tensor:
        """Return how often annotators (A,), given by code, answer at random."""
        if self.mistakes is None:
            return torch.zeros_like(annotator, dtype=self.logits.dtype)
        return self.mistakes.error_rates_of(annotator)


@dataclass(frozen=True)
class Evaluation:
    """Log-likelihoods of items and gradients of their sum; each kind of answer adds its part."""

    values: Tensor  # (n,)
    through_logits: Tensor  # (n, K)
    through_log_propensities: Tensor | None  # in their shape; None if there are none
    # By the log-odds of rates, in their shape (see Mistakes); None if there are none.
    through_log_odds: Tensor | None

    @classmethod
    def empty(cls, point: Point) -> Evaluation:
        rates = None if point.mistakes is None else point.mistakes.rates
        rest = (
            None if given is None else torch.zeros_like(given)
            for given in (point.log_propensities, rates)
        )
        return cls(torch.zeros_like(point.logits[:, 0]), torch.zeros_like(point.logits), *rest)

    def add_through_error_rates(self, annotator: Tensor, slope: Tensor) -> None:
        if self.through_log_odds is not None and self.through_log_odds.ndim == 1:
            place = annotator.remainder(len(self.through_log_odds))  # -1 becomes the last place
            self.through_log_odds.index_add_(0, place, slope)


@dataclass(frozen=True)
class Ragged:
    """Where the entries of n owners lie in a tensor that is sorted by owner."""

    start: Tensor  # (n,)
    count: Tensor  # (n,)
    same: int | None  # the number of entries of each owner; None if it differs

    @classmethod
    def of(cls, owner: Tensor, n: int) -> Ragged:
        """Find the entries of owners 0 to n - 1; ``owner`` is in ascending order."""
        count = torch.bincount(owner, minlength=n)
        alike = n > 0 and bool((count == count[0]).all())
        return cls(count.cumsum(0) - count, count, int(count[0]) if alike else None)

    def of_rows(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places of the entries of owners (b,), and each entry's row in ``rows``."""
        row = torch.arange(len(rows), device=rows.device)
        if self.same == 1:
            return rows, row
        if self.same is not None:
            within = torch.arange(self.same, device=rows.device)
            places = (rows.unsqueeze(1) * self.same + within).flatten()
            return places, row.repeat_interleave(self.same)
        count = self.count.index_select(0, rows)
        row = row.repeat_interleave(count)
        shift = self.start.index_select(0, rows) - (count.cumsum(0) - count)
        return torch.arange(len(row), device=rows.device) + shift.index_select(0, row), row
