"""How often a statement holds, and by how much it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_TOLERANCE = 1e-9
"""The rounding error of a sum of up to 2**16 terms of at most 1 is smaller than this."""


@dataclass(frozen=True)
class Tally:
    """Counts of how often left >= right holds over many cases.

    Parameters
    ----------
    above, equal, below : int
        Numbers of cases with left > right, left = right, and left < right. The statement fails
        in the cases with left < right.
    undefined : int
        Number of cases where a side is not defined, such as a conditional probability given an
        event that never happens.
    least, median, mean, greatest : float
        Statistics of left - right over the defined cases; NaN if there are none.
    """

    above: int
    equal: int
    below: int
    undefined: int
    least: float
    median: float
    mean: float
    greatest: float

    @classmethod
    def of(cls, left: ArrayLike, right: ArrayLike, *, tolerance: float = _TOLERANCE) -> Tally:
        """Count the cases of two arrays.

        Parameters
        ----------
        left, right : array-like
            The two sides. Their shapes are broadcast. NaN is an undefined case.
        tolerance : float, default=1e-9
            Sides are equal if they differ by no more than this.

        Returns
        -------
        Tally
        """
        gap = np.asarray(np.subtract(left, right), dtype=np.float64)
        defined = gap[~np.isnan(gap)]
        above, below = int((defined > tolerance).sum()), int((defined < -tolerance).sum())
        least, median, greatest = (
            np.quantile(defined, [0, 0.5, 1]) if defined.size else np.full(3, np.nan)
        )
        return cls(
            above,
            defined.size - above - below,
            below,
            gap.size - defined.size,
            float(least),
            float(median),
            float(defined.mean()) if defined.size else float("nan"),
            float(greatest),
        )

    @property
    def n_cases(self) -> int:
        """The number of defined cases."""
        return self.above + self.equal + self.below

    @property
    def share_below(self) -> float:
        """The share of the defined cases that fail; NaN if there are none."""
        return self.below / self.n_cases if self.n_cases else float("nan")
