"""The linear machine with squared hinge losses: all rows, and all rows but those of a fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from complabel._parameters import Array

_MOST_STEPS = 200
# A step that lowers the objective by less than this share only moves rounding errors.
_LEAST_DECREASE = 1e-14
# Added to the constant's curvature, as a share of the largest one, in case no row has a loss.
_FLOOR = 1e-14


class Solution(NamedTuple):
    """Weights (M + 1,), the constant's last; the rows (n,) with a loss; and the Hessian."""

    weights: Array
    short: NDArray[np.bool_]
    hessian: Array


@dataclass(frozen=True, eq=False)
class SquaredHinge:
    """||w||^2 / 2 + C sum_i max(0, 1 - y_i (w . x_i + b))^2, for features (n, M) and y = 1 or -1.

    The function is quadratic while the same rows have a loss, so Newton steps end at its minimum.
    scikit-learn's ``LinearSVC`` uses LIBLINEAR, which also penalizes b.
    """

    extended: Array  # (n, M + 1), the last feature constant
    sign: Array  # (n,)
    C: float

    @classmethod
    def of(cls, features: Array, positive: NDArray[np.bool_], C: float) -> SquaredHinge:
        """Return the function for features (n, M) and classes (n,)."""
        extended = np.column_stack([features, np.ones(len(features))])
        return cls(extended, np.where(positive, 1.0, -1.0), C)

    def minimize(
        self, *, without: NDArray[np.intp] | None = None, start: Solution | None = None
    ) -> Solution:
        """Minimize over all rows, or ``without`` some; ``start`` is a solution for all rows."""
        used = np.ones(len(self.sign), dtype=np.bool_)
        used[[] if without is None else without] = False
        if start is None:
            weights = np.zeros(self.extended.shape[1])
            short, hessian = np.zeros_like(used), np.diag(self._penalized())
        else:
            weights, short, hessian = start
        margins = self.sign * (self.extended @ weights)
        value = self._value(weights, margins, used)
        for _ in range(_MOST_STEPS):
            was, short = short, used & (margins < 1)
            hessian = self._updated(hessian, was, short)
            target = self._newton(hessian, short)
            step, slope = target - weights, self.sign * (self.extended @ (target - weights))
            before, length = value, 1.0
            while True:
                value = self._value(weights + length * step, margins + length * slope, used)
                if value <= before or length < 1e-6:
                    break
                length /= 2
            weights, margins = weights + length * step, margins + length * slope
            same = np.array_equal(short, used & (margins < 1))
            if (same and length == 1) or before - value <= _LEAST_DECREASE * before:
                break
        return Solution(weights, short, hessian)

    def _penalized(self) -> Array:
        penalized = np.ones(self.extended.shape[1])
        penalized[-1] = 0
        return penalized

    def _value(self, weights: Array, margins: Array, used: NDArray[np.bool_]) -> float:
        shortfall = np.maximum(0, 1 - margins)[used]
        return float(0.5 * weights[:-1] @ weights[:-1] + self.C * shortfall @ shortfall)

    def _updated(self, hessian: Array, was: NDArray[np.bool_], now: NDArray[np.bool_]) -> Array:
        """Return the Hessian for other rows with a loss: few rows come and go in a step."""
        come, gone = (self.extended[rows] for rows in (now & ~was, was & ~now))
        if len(come) + len(gone) > now.sum():
            here = self.extended[now]
            return np.diag(self._penalized()) + 2 * self.C * here.T @ here
        return hessian + 2 * self.C * (come.T @ come - gone.T @ gone)

    def _newton(self, hessian: Array, short: NDArray[np.bool_]) -> Array:
        """Return the minimum of the quadratic function where just these rows have a loss."""
        right = 2 * self.C * (self.sign * short) @ self.extended
        regular = hessian.copy()
        regular[-1, -1] += _FLOOR * hessian.diagonal().max()
        found: Any = linalg.solve(regular, right, assume_a="sym", check_finite=False)
        return np.asarray(found)
