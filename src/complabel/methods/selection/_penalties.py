"""Penalties: the terms of the objective of a fit beside the likelihood.

To add one, write its class here, list its values in the plan (``Space.penalties`` in ``_plan.py``),
and give the classifier its parameter (``_model.py``). The search, the fits in memory and in blocks,
refits and ``cv_results_`` then have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from complabel._parameters import Array

# What a penalty depends on.
ROWS = "the probabilities of each item"  # (N, K)
MEAN_LOGITS = "the mean logits of each map"  # (B, K)
MEAN_PROBABILITIES = "the mean probabilities of each map"  # (B, K)
LOG_PROPENSITIES = "the fitted log-propensities of each map"  # (B, K)


class Penalty:
    """A term of the objective of B maps. Of penalties of values to choose, equal ones are equal.

    A subclass that is a frozen dataclass has its values as fields.
    """

    argument: ClassVar[str]

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        """Return the penalty, and its slope by ``at``, the argument, in a shape that fits it.

        The penalty is (N,) of rows, which is averaged, else (B,). One of log-propensities is
        divided by the number of items.
        """
        raise NotImplementedError

    def curvature(self, p: Tensor, weights: Tensor | None) -> Array | float:  # noqa: ARG002
        """Return about the mean Hessian (K, K) by an item's logits; it only scales the steps.

        ``p`` (n, K) are probabilities, ``weights`` (n,) those of items.
        """
        return 0.0


@dataclass(frozen=True)
class CardinalityPenalty(Penalty):
    """Pulls the number of labels of each item, sum_k p_k, to the cardinality."""

    argument = ROWS
    cardinality: float

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        excess = at.sum(dim=1) - self.cardinality
        return excess**2, 2 * excess.unsqueeze(1)

    def curvature(self, p: Tensor, weights: Tensor | None) -> Array | float:
        variance = p * (1 - p)
        if weights is not None:
            variance *= weights.unsqueeze(1)
        return 2 * information(variance, weights)


@dataclass(frozen=True)
class MeanCardinalityPenalty(Penalty):
    """Pulls the number of labels of the mean item to the cardinality; those of items may differ."""

    argument = MEAN_PROBABILITIES
    cardinality: float
    weight: float = 1.0

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        excess = at.sum(dim=1) - self.cardinality
        return self.weight * excess**2, (2 * self.weight * excess).unsqueeze(1).expand_as(at)


@dataclass(frozen=True, eq=False)
class FrequencyPenalty(Penalty):
    """Pulls the mean probability of each label to its frequency."""

    argument = MEAN_PROBABILITIES
    frequencies: Tensor  # (K,)
    weights: Tensor  # (K,)

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        excess = at - self.frequencies
        return (self.weights * excess**2).sum(dim=1), 2 * self.weights * excess


@dataclass(frozen=True, eq=False)
class BiasPrior(Penalty):
    """The normal prior of biases around their mean; its variances are in ``_prior.py``."""

    # The mean of a label's logits is its bias, if the features are centred.
    argument = MEAN_LOGITS
    widths: Tensor  # (B,), variances times numbers of items

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        biases = at - at.mean(dim=1, keepdim=True)
        slope = biases / self.widths.unsqueeze(1)
        return (slope * biases).sum(dim=1) / 2, slope


@dataclass(frozen=True)
class PropensityPrior(Penalty):
    """The normal prior of fitted log-propensities.

    The likelihood depends only on their differences; the prior keeps their mean at 0.
    """

    argument = LOG_PROPENSITIES
    spread: float

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        slope = at / self.spread**2
        return (slope * at).sum(dim=1) / 2, slope


class Penalties:
    """The penalties of an objective, added up for each argument."""

    def __init__(self, penalties: Sequence[Penalty]) -> None:
        self._penalties = penalties

    def __bool__(self) -> bool:
        return bool(self._penalties)

    def of(self, argument: str) -> list[Penalty]:
        return [each for each in self._penalties if each.argument == argument]

    def at(self, argument: str, at: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum of the penalties of an argument, at least one, and its slope."""
        values, slopes = zip(*(each(at) for each in self.of(argument)), strict=True)
        return sum(values[1:], values[0]), sum(slopes[1:], slopes[0])

    def curvature(self, p: Tensor, weights: Tensor | None) -> Array | float:
        return sum((each.curvature(p, weights) for each in self._penalties), 0.0)


def information(slope: Tensor, weights: Tensor | None) -> Array:
    """Return the weighted mean of g g^T (K, K), from gradients (n, K) that are weight times g."""
    if weights is None:
        return np.asarray((slope.t() @ slope).double().cpu().numpy() / len(slope))
    total = slope.t() @ (slope / weights.to(slope.dtype).unsqueeze(1))
    return np.asarray(total.double().cpu().numpy() / float(weights.sum()))
