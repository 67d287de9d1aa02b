"""Features in blocks for the selection likelihood: some rows are in memory, for the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from complabel._parameters import Array, Features, Ints
from complabel._training import Blocks, LinearMap, Moments
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel._training import Scaling, Spread

Transform = Callable[[Features], Features]
"""Turns rows into the features that the linear map is fitted to."""


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Features in blocks, of which some rows are in memory; these can be taken as from an array."""

    blocks: Blocks
    rows: Ints  # ascending
    X: Features  # those rows
    moments: Moments  # of all rows

    @classmethod
    def of(cls, blocks: Blocks, rows: Ints) -> SomeRows:
        """Check the values of all rows, and read some of them."""
        moments, (n, d) = blocks.moments(), blocks.shape
        if moments.largest > (float(np.finfo(blocks.dtype).max) / n / d) ** 0.5:
            raise InputError(
                f"X holds values up to {moments.largest:.3g}, whose squares overflow; scale the"
                " features first"
            )
        rows = np.unique(rows)
        return cls(blocks, rows, blocks.gather(rows), moments)

    @property
    def shape(self) -> tuple[int, int]:
        return self.blocks.shape

    def __getitem__(self, rows: Ints) -> Features:
        return self.X[np.searchsorted(self.rows, rows)]


@dataclass(frozen=True, eq=False)
class PreparedBlocks:
    """Rows in blocks after a feature map, with the scaling for the penalty."""

    some: SomeRows
    transform: Transform | None
    moments: Moments  # of the features after the transform
    scaling: Scaling
    model: Callable[[LinearMap], Any]  # makes a map of the features before the transform

    @cached_property
    def spread(self) -> Spread:
        from complabel._training import Spread  # imports torch

        about, factor = self.moments.about / self.moments.n, self.scaling.factor
        if about.ndim == 1:
            return Spread(about * factor**2)
        return Spread.of_covariance(about * np.outer(factor, factor))

    def probabilities(self, linear: LinearMap) -> Array:
        """Return the probabilities (n, K) of labels."""
        return np.concatenate(self.some.blocks.map(_probabilities, self.model(linear)))

    def mean_cardinality(self, linear: LinearMap, weights: Array | None) -> float:
        """Return the mean of how many labels apply to a row, by the ``weights`` (n,) of rows."""
        blocks = self.some.blocks
        sums = blocks.map(_cardinality, self.model(linear), each=blocks.split(weights))
        return float(sum(sums)) / self.moments.n


def _cardinality(X: Features, weights: Any, model: Callable[[Features], Array]) -> float:
    probabilities = _probabilities(X, None, model)
    return float(probabilities.sum() if weights is None else weights @ probabilities.sum(axis=1))


def _probabilities(X: Features, _: None, model: Callable[[Features], Array]) -> Array:
    logits = model(X)
    return np.asarray(special.expit(logits, out=logits))
