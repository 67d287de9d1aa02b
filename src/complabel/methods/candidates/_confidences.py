"""Confidences of candidate labels: the set they live in, and quadratic programs over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Array

# Keeps a step finite where the quadratic term vanishes.
_CURVATURE_FLOOR = 1e-9


@dataclass(frozen=True)
class Quadratic:
    """A convex function of the confidences P (n, K): constant + <linear, P> + <P matrix, P> / 2.

    The matrix is (K, K) and symmetric; linear is (n, K) or 0.
    """

    matrix: Array
    linear: Array | float = 0.0
    constant: float = 0.0

    def value(self, confidences: Array) -> float:
        """Return the value at confidences (n, K)."""
        slope = self.linear + 0.5 * (confidences @ self.matrix)
        return self.constant + float(np.vdot(slope, confidences))

    def plus(self, linear: Array) -> Quadratic:
        """Return the sum with a linear function."""
        return Quadratic(self.matrix, self.linear + linear, self.constant)

    def minimize(
        self, start: Array, candidates: NDArray[np.bool_], *, steps: int, tolerance: float = 1e-9
    ) -> Array:
        """Minimize by projected gradient steps from feasible confidences (n, K), never rising.

        Steps end when no confidence changes by more than ``tolerance``.
        """
        curvature = float(np.linalg.eigvalsh(self.matrix)[-1]) + _CURVATURE_FLOOR
        confidences = start
        for _ in range(steps):
            gradient = confidences @ self.matrix + self.linear
            moved = project_confidences(confidences - gradient / curvature, candidates)
            change = float(np.abs(moved - confidences).max())
            confidences = moved
            if change <= tolerance:
                break
        return confidences


def project_confidences(values: Array, candidates: NDArray[np.bool_]) -> Array:
    """Project each row on {p : 0 <= p <= 1, p = 0 off the candidates, sum p >= 1}."""
    projected = np.where(candidates, np.clip(values, 0.0, 1.0), 0.0)
    short = np.flatnonzero(projected.sum(axis=1) < 1)
    if short.size:
        # The sum binds: the nearest point is that of the simplex, where no entry exceeds 1.
        projected[short] = _project_simplex(values[short], candidates[short])
    return projected


def _project_simplex(values: Array, candidates: NDArray[np.bool_]) -> Array:
    """Project each row on the simplex of its candidates."""
    largest = np.where(candidates, values, -np.inf).max(axis=1, keepdims=True)
    # Subtracting the same from a whole row changes nothing; entries more than 1 below the
    # largest end at 0, so that -2 keeps the other labels out.
    lowered = np.where(candidates, np.maximum(values - largest, -2.0), -2.0)
    descending = -np.sort(-lowered, axis=1)
    excess = np.cumsum(descending, axis=1) - 1
    count = np.arange(1, values.shape[1] + 1)
    support = (descending * count > excess).sum(axis=1, keepdims=True)
    offset = np.take_along_axis(excess, support - 1, axis=1) / support
    return np.asarray(np.maximum(lowered - offset, 0.0))
