"""What all parts of a likelihood of answers share: arguments, mistakes, values with gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from complabel._parameters import Indicator, Ints
from complabel.answers import Answers

# Rates are at least this, so that their logarithms are finite. Half of it is still a normal number
# in float32.
_LEAST_RATE = 1e-30


@dataclass(frozen=True)
class Judged:
    """Log-chances of J judgements if their label applies, and if not; and what decides them."""

    log_if_applies: Tensor
    log_if_not: Tensor
    slope_if_applies: Tensor  # by the log-odds of the rate that decides this case
    slope_if_not: Tensor
    place_if_applies: Tensor  # of that rate, among all
    place_if_not: Tensor

    def add_slopes(self, slopes: Tensor, if_applies: Tensor, if_not: Tensor) -> None:
        """Add the rates' gradient to ``slopes``, from that by both log-chances, (J,)."""
        every = slopes.view(-1)
        every.index_add_(0, self.place_if_applies, if_applies * self.slope_if_applies)
        every.index_add_(0, self.place_if_not, if_not * self.slope_if_not)


@dataclass(frozen=True)
class Perceived:
    """Logits of the labels that annotators perceive as applying, all (b, L), and their slopes."""

    logits: Tensor
    by_logits: Tensor
    by_missed: Tensor  # by the log-odds of the rates
    by_invented: Tensor


@dataclass(frozen=True)
class Mistakes:
    """The rates of R annotators; those of unknown ones are last.

    There are two sorts. An answer *at random*, with the annotator's error rate, is drawn from all
    that the question allows; a judgement is then wrong in one of two cases. *Missed and invented*
    are apart: a label that applies is missed with one rate, one that does not apply is invented
    with another, each label independently. Then people answer truthfully about the labels that they
    perceive. Both judge a label with ::

        P(says no | applies) = s m,    P(says yes | does not apply) = s v

    For error rates, m and v are the same rate and s is 1/2. For missed m and invented v, s is 1.
    """

    # Error rates (R + 1,); or missed and invented (2, R + 1, L), where L is 1, or K for rates that
    # differ by label.
    rates: Tensor

    @classmethod
    def of(cls, rates: Tensor | None) -> Mistakes | None:
        return None if rates is None else cls(rates.clamp(min=_LEAST_RATE))

    @property
    def are_at_random(self) -> bool:
        return self.rates.ndim == 1

    def error_rates_of(self, annotator: Tensor) -> Tensor:
        """Return the error rates (A,) of annotators by code; -1 is the unknown annotator."""
        if self.are_at_random:
            return self.rates[annotator]
        return torch.zeros_like(annotator, dtype=self.rates.dtype)

    def of_judgements(self, annotator: Tensor, label: Tensor, yes: Tensor) -> Judged:
        """Return the chances of what annotators (J,) said about labels (J,)."""
        if_applies, if_not = self._places(annotator, label)
        n = self.rates.numel()
        # First all judgements that are right, then those that are wrong.
        of_missed, of_invented = if_applies + n * ~yes, if_not + n * yes
        logs, slopes = (each.flatten() for each in self._log_chances)
        return Judged(
            logs.index_select(0, of_missed),
            logs.index_select(0, of_invented),
            slopes.index_select(0, of_missed),
            slopes.index_select(0, of_invented),
            if_applies,
            if_not,
        )

    def perceived(self, z: Tensor, annotator: Tensor, labels: Tensor | None) -> Perceived:
        """Return the logits with which annotators (b,) perceive labels, from logits z (b, L).

        ``labels`` (b, L) are their numbers; None if each row holds all labels.
        """

        # With p = sigmoid(z) and q = 1 - p, a label is perceived with p' = p (1 - m) + q v, and not
        # perceived with q' = p m + q (1 - v).
        def rows(rates: Tensor) -> Tensor:
            """Pick the rates of these annotators and labels, (b, 1) or (b, L)."""
            of_annotators = rates[annotator]
            if labels is None or of_annotators.shape[1] == 1:
                return of_annotators
            return of_annotators.gather(1, labels)

        missed, invented = map(rows, self.rates)
        (log_seen, log_right), (log_m, log_v) = (map(rows, each) for each in self._log_chances[0])
        log_p, log_q = functional.logsigmoid(z), functional.logsigmoid(-z)
        log_yes = torch.logaddexp(log_p + log_seen, log_q + log_v)
        log_no = torch.logaddexp(log_p + log_m, log_q + log_right)
        either = log_yes + log_no
        return Perceived(
            log_yes - log_no,
            torch.exp(log_p + log_q - either) * (1 - missed - invented),
            -torch.exp(log_m + log_seen + log_p - either),
            torch.exp(log_v + log_right + log_q - either),
        )

    def add_of_perceived(
        self,
        totals: Tensor,
        annotator: Tensor,
        labels: Tensor | None,
        slopes: tuple[Tensor, Tensor],
    ) -> None:
        """Add slopes (b, L) by the log-odds of perceived labels' rates to those of all rates."""
        n_rates, n_labels = totals.shape[1:]
        row = annotator.remainder(n_rates)  # -1 becomes the last place
        for total, slope in zip(totals, slopes, strict=True):
            if n_labels == 1:
                total.index_add_(0, row, slope.sum(dim=1, keepdim=True))
            elif labels is None:
                total.index_add_(0, row, slope)
            else:
                place = row.unsqueeze(1) * n_labels + labels
                total.view(-1).index_add_(0, place.flatten(), slope.flatten())

    def _places(self, annotator: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places (J,) among all rates: of the case that a label applies, and of not."""
        if self.are_at_random:
            place = annotator.remainder(len(self.rates))
            return place, place
        _, n_rates, n_labels = self.rates.shape
        place = annotator.remainder(n_rates) * n_labels
        if n_labels > 1:
            place = place + label
        return place, place + n_rates * n_labels

    @cached_property
    def _log_chances(self) -> tuple[Tensor, Tensor]:
        """The log-chances of right and of wrong judgements, (2, *rates), and their slopes."""
        # Slopes are by the log-odds: the derivative of a rate r is r (1 - r).
        wrong = (0.5 if self.are_at_random else 1.0) * self.rates
        right = (1 - wrong).clamp(min=_LEAST_RATE)
        log_right = torch.log1p(-wrong).clamp(min=math.log(_LEAST_RATE))
        return (
            torch.stack([log_right, wrong.log()]),
            torch.stack([-wrong * (1 - self.rates) / right, 1 - self.rates]),
        )


def by_label(values: Tensor) -> Tensor:
    """View a label-major matrix (n, K) as a vector: label k of item i is at place k n + i."""
    return values.t().view(-1)


def on_offer(answers: Answers, rows: Ints) -> Indicator:
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
    weights: Tensor | None = None  # (n,), the exponents of the items' probabilities; None: all 1

    @classmethod
    def at(cls, logits: Tensor, log_propensities: Tensor | None, rates: Tensor | None) -> Point:
        """Return a point with rates above 0 and label-major logits, as the integrals need them."""
        if log_propensities is not None and log_propensities.ndim == 2:
            log_propensities = log_propensities.t().contiguous().t()
        return cls(logits.t().contiguous().t(), log_propensities, Mistakes.of(rates))

    def weighted(self, values: Tensor, item: Tensor | None) -> Tensor:
        """Multiply values (b,) or (b, L) by the weights of items (b,); None are all, in order."""
        if self.weights is None:
            return values
        weights = self.weights if item is None else self.weights.index_select(0, item)
        return values * (weights if values.ndim == 1 else weights.unsqueeze(1))

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
        parameters = point.log_propensities, rates
        rest = (None if each is None else torch.zeros_like(each) for each in parameters)
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
