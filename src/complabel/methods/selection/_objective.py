"""The objective of a fit: minus the mean log-likelihood of answers, plus penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from complabel._parameters import Array, Floats
from complabel._training import LogitObjective
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._penalties import (
    LOG_PROPENSITIES,
    MEAN_LOGITS,
    MEAN_PROBABILITIES,
    ROWS,
    BiasPrior,
    CardinalityPenalty,
    FrequencyPenalty,
    MeanCardinalityPenalty,
    Penalties,
    Penalty,
    PropensityPrior,
    information,
)
from complabel.methods.selection._prior import variances_of_biases

# Weights of known and of estimated frequencies in the objective. The second hardly matters: from
# .05 to 5, average precision changed by at most .005 (scene and yeast, with unequal propensities).
# Only the sum of estimated frequencies is uncertain, and it is searched.
_KNOWN, _ESTIMATED = 5.0, 0.5
# The weight of the labels per item that judgements tell beside labels named because they apply.
# With 1, labels that exclude each other were 10 % too many (made data); the order hardly changes.
_JUDGED_NUMBER = 10.0
# Added to pi (1 - pi) in the penalty, so that rare labels do not get a huge weight.
_LEAST_VARIANCE = 0.01

RowObjective = Callable[[Tensor, "Tensor | None"], "tuple[Tensor, Tensor, Tensor | None]"]


@dataclass(frozen=True, eq=False)
class Objective:
    """The likelihood and the penalties under a setting.

    It is minus the mean log-likelihood, plus the mean of (sum_k p_k - c)^2 for a cardinality c,
    or the square of the mean where labels that apply were named, plus a multiple of
    sum_k (mean p_k - pi_k)^2 / (pi_k (1 - pi_k) + .01) for frequencies pi, plus the priors of
    biases and of propensities divided by the number of items, plus further penalties of the
    setting. Items count by their weights; their number is the sum of weights.
    """

    likelihood: Likelihood
    setting: Setting

    def penalties(
        self, prior: Penalty | None = None, device: torch.device | None = None
    ) -> Penalties:
        """Return the penalties, with this prior of biases if there is one.

        Means over items are on this device, by default the likelihood's.
        """
        setting, known = self.setting, self.likelihood.known
        penalties = [] if prior is None else [prior]
        if known.frequencies is not None:
            values = known.frequencies_at(setting.cardinality).values
            pi = torch.from_numpy(values).to(device or self.likelihood.device)
            weight = _ESTIMATED if known.frequencies.cardinality_error else _KNOWN
            penalties.append(FrequencyPenalty(pi, weight / (pi * (1 - pi) + _LEAST_VARIANCE)))
        if setting.spread is not None:
            penalties.append(PropensityPrior(setting.spread))
        if setting.cardinality is not None and setting.of_each:
            penalties.append(CardinalityPenalty(setting.cardinality))
        elif setting.cardinality is not None:
            weight = 1.0 if known.frequencies is None else _JUDGED_NUMBER
            penalties.append(MeanCardinalityPenalty(setting.cardinality, weight))
        return Penalties([*penalties, *setting.penalties])

    def prior(self, counts: Sequence[int], sizes: Tensor, near: Floats | None) -> BiasPrior | None:
        """Return the prior of biases of B maps with so many items, and sums of weights (B,).

        ``near`` are logits (N, K) near those of the minimum, if any are known.
        """
        variances = variances_of_biases(self.likelihood, self.setting, counts, near)
        return None if variances is None else BiasPrior(variances * sizes)

    @property
    def separates(self) -> bool:
        """Whether only the likelihood and the prior of biases depend on logits."""
        return not self.penalties()

    def of_logits(self, counts: Sequence[int], near: Floats | None = None) -> LogitObjective:
        """Return the objective for ``minimize_linear`` of B maps with ``counts`` (B,) items each.

        ``near`` are logits (N, K) near those of the minimum, if any are known.
        """
        likelihood, of_rows = self.likelihood, self.of_rows()
        shares = _Shares(counts, likelihood.item_weights, likelihood.device)
        penalties = self.penalties(self.prior(counts, shares.sizes, near))
        fits_propensities = self.setting.spread is not None

        def means_and_gradients(logits: Tensor, others: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            log_w = shares.to_items(others) if fits_propensities else None
            losses, gradient, through_log_w = of_rows(logits, log_w)
            values, through_others = shares.means(losses), others
            if penalties.of(MEAN_LOGITS):
                means = shares.means(likelihood.weighted(logits))
                value, slope = penalties.at(MEAN_LOGITS, means)
                values += value
                gradient += shares.weighted_to_items(slope.to(gradient.dtype))
            if penalties.of(MEAN_PROBABILITIES):
                p = torch.sigmoid(logits)
                means = shares.means(likelihood.weighted(p))
                value, slope = penalties.at(MEAN_PROBABILITIES, means)
                values += value
                gradient.addcmul_(p.mul_(1 - p), shares.weighted_to_items(slope.to(p.dtype)))
            if through_log_w is not None:
                value, slope = penalties.at(LOG_PROPENSITIES, others)
                values += value / shares.sizes
                through_others = slope - shares.sums(through_log_w)
                through_others = through_others / shares.sizes.unsqueeze(1)
            return values, shares.divide(gradient), through_others.to(others.dtype)

        return means_and_gradients

    def of_rows(self) -> RowObjective:
        """Return the part of the objective that is a sum over items, as a function of logits.

        It takes logits (N, K), and log-propensities if they are fitted. It returns the losses (N,)
        and their gradient by the logits. If propensities are fitted, it also returns the gradient
        of the log-likelihood by their logarithms.
        """
        likelihood, penalties = self.likelihood, self.penalties()
        rates = likelihood.rates_at(self.setting)
        known_log_w = likelihood.log_propensities_at(self.setting)

        def losses_and_gradients(
            logits: Tensor, log_w: Tensor | None
        ) -> tuple[Tensor, Tensor, Tensor | None]:
            fitted = log_w is not None
            evaluation = likelihood.evaluate(logits, log_w if fitted else known_log_w, rates)
            losses, gradient = evaluation.values.neg_(), evaluation.through_logits.neg_()
            if penalties.of(ROWS):
                p = torch.sigmoid(logits)
                value, slope = penalties.at(ROWS, p)
                losses += likelihood.weighted(value)
                gradient.addcmul_(p * (1 - p), likelihood.weighted(slope))
            return losses, gradient, evaluation.through_log_propensities if fitted else None

        return losses_and_gradients

    def curvature(self, logits: Floats) -> Array:
        """Return an approximate mean Hessian (K, K) of an item's loss, at given logits (n, K)."""
        # Products of gradients have the same expectation as the Hessian, if the model is right.
        likelihood = self.likelihood
        weights = likelihood.item_weights
        with torch.inference_mode():
            at = torch.from_numpy(np.ascontiguousarray(logits)).to(likelihood.device)
            total = information(likelihood.slope_at(self.setting, at), weights)
            return np.asarray(total + self.penalties().curvature(torch.sigmoid(at), weights))

    def by_cell(self, dtype: torch.dtype) -> tuple[RowObjective, Tensor, Tensor] | None:
        """Return ``of_rows`` of each judged pair by its own logit, its item and label.

        None if the loss also depends on other logits, but for the prior of biases.
        """
        if not self.separates or self.likelihood.rates_at(self.setting) is not None:
            return None
        cells = self.likelihood.by_cell(self.setting, dtype)
        if cells is None:
            return None
        likelihood, item, label = cells
        return Objective(likelihood, self.setting).of_rows(), item, label

    def start_of_others(self, n_maps: int, others: Array | None = None) -> Array:
        """Return the log-propensities (B, E) to start from; E is 0 if they are not fitted."""
        fitted = self.setting.spread is not None
        shape = (n_maps, self.likelihood.answers.n_labels if fitted else 0)
        return np.zeros(shape) if others is None or others.shape != shape else others


class _Shares:
    """The division of N items, stacked map by map, among B maps."""

    def __init__(self, counts: Sequence[int], weights: Tensor | None, device: torch.device) -> None:
        self._counts, self._weights = [*counts], weights
        # (B,), sums of weights
        self.sizes = torch.tensor(counts, dtype=torch.float64, device=device)
        self._mean_weights = torch.ones_like(self.sizes)
        if weights is not None:
            self._mean_weights = self.means(weights)
            self.sizes *= self._mean_weights
        self._divisors = self.sizes.tolist()

    def weighted_to_items(self, values: Tensor) -> Tensor:
        """Do as ``to_items``, and multiply by the weights of items."""
        of_items = self.to_items(values)
        if self._weights is None:
            return of_items
        return self._weights.to(of_items.dtype)[:, None] * of_items

    def to_items(self, values: Tensor) -> Tensor:
        """Repeat the values of each map (B, E) for its items: (N, E), or (E,) for one map."""
        if len(self._counts) == 1:
            return values[0]
        counts = torch.tensor(self._counts, device=values.device)
        return values.repeat_interleave(counts, dim=0, output_size=sum(self._counts))

    def sums(self, values: Tensor) -> Tensor:
        """Sum the values of each map's items: (B, E) from (N, E), or from a single sum (E,)."""
        if values.ndim == 1:
            return values.unsqueeze(0)
        return torch.stack([part.sum(dim=0) for part in torch.split(values, self._counts)])

    def means(self, values: Tensor) -> Tensor:
        """Return sums over each map's items divided by its size, (B,) or (B, K), in float64."""
        parts = torch.split(values, self._counts)
        means = torch.stack([part.mean(dim=0, dtype=torch.float64) for part in parts])
        return (means.t() / self._mean_weights).t()

    def divide(self, gradient: Tensor) -> Tensor:
        """Divide the rows (N, K) of each map by its size, in place."""
        for part, n in zip(torch.split(gradient, self._counts), self._divisors, strict=True):
            part /= n
        return gradient
