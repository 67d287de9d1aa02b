"""Where the likelihood of answers is evaluated, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# What an annotator without mistakes may still do by mistake, so that logs stay finite: in float32,
# too, halved and in logarithms.
_LEAST_RATE = 1e-30


def by_label(values: Tensor) -> Tensor:
    """View (n, K) that lie label by label as one row: label k of item i at k n + i."""
    return values.t().view(-1)


@dataclass(frozen=True)
class Point:
    """All that a likelihood of answers depends on.

    ``log_propensities`` (K,) or (n, K) are None where all labels come to mind alike, and
    ``error_rates`` (R + 1,), of each annotator and of the unknown one, where nobody makes mistakes.
    """

    logits: Tensor  # (n, K)
    log_propensities: Tensor | None
    error_rates: Tensor | None

    @classmethod
    def at(
        cls, logits: Tensor, log_propensities: Tensor | None, error_rates: Tensor | None
    ) -> Point:
        """Return a point with rates above 0; logits lie label by label, as integrals go."""
        if error_rates is not None:
            error_rates = error_rates.clamp(min=_LEAST_RATE)
        if log_propensities is not None and log_propensities.ndim == 2:
            log_propensities = log_propensities.t().contiguous().t()
        return cls(logits.t().contiguous().t(), log_propensities, error_rates)

    def rates_of(self, annotator: Tensor) -> Tensor:
        """Return how often each annotator (A,) answers at random; -1 is the unknown, the last."""
        if self.error_rates is None:
            return torch.zeros_like(annotator, dtype=self.logits.dtype)
        return self.error_rates[annotator]


@dataclass(frozen=True)
class Evaluation:
    """Log-likelihoods of items (n,), and the gradients of their sum, added up part by part.

    ``through_logits`` is (n, K), ``through_log_propensities`` as they are, and ``through_log_odds``
    (R + 1,) belongs to the log-odds of mistakes of each annotator, the unknown one last. The last
    two are None where the point has nothing of the kind.
    """

    values: Tensor
    through_logits: Tensor
    through_log_propensities: Tensor | None
    through_log_odds: Tensor | None

    @classmethod
    def empty(cls, point: Point) -> Evaluation:
        """Return the likelihood of no answers."""
        rest = (
            None if given is None else torch.zeros_like(given)
            for given in (point.log_propensities, point.error_rates)
        )
        return cls(torch.zeros_like(point.logits[:, 0]), torch.zeros_like(point.logits), *rest)

    def add_through_log_odds(self, annotator: Tensor, slope: Tensor) -> None:
        """Add derivatives (A,) by the log-odds that these annotators (A,) make a mistake."""
        if self.through_log_odds is not None:
            place = annotator.remainder(len(self.through_log_odds))  # -1 is the last
            self.through_log_odds.index_add_(0, place, slope)
