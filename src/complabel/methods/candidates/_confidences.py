"""Confidences of candidate labels: the set they live in, and quadratic programs over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Keeps a step finite where the quadratic term vanishes.
_CURVATURE_FLOOR = 1e-9


@dataclass(frozen=True)
class Quadratic:
    """A function of the confidences: constant + <linear, P> + <P matrix, P> / 2.

    Parameters
    ----------
    matrix : ndarray of shape (K, K), float64
        Symmetric, positive semidefinite.
    linear : ndarray of shape (n_samples, K), float64, or 0.0
    constant : float
    """

    matrix: NDArray[np.float64]
    linear: NDArray[np.float64] | float = 0.0
    constant: float = 0.0

    def value(self, confidences: NDArray[np.float64]) -> float:
        """Return the value at confidences (n, K)."""
        slope = self.linear + 0.5 * (confidences @ self.matrix)
        return self.constant + float(np.vdot(slope, confidences))

    def plus(self, linear: NDArray[np.float64]) -> Quadratic:
        """Return the sum with a linear function."""
        return Quadratic(self.matrix, self.linear + linear, self.constant)

    def minimize(
        self,
        start: NDArray[np.float64],
        candidates: NDArray[np.bool_],
        *,
        steps: int,
        tolerance: float = 1e-9,
    ) -> NDArray[np.float64]:
        """Minimize over the confidences by projected gradient steps, which never increase it.

        ``start`` (n, K) satisfies the constraints. At most ``steps`` are made, and none once no
        confidence changes by more than ``tolerance``.
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


def project_confidences(
    values: NDArray[np.float64], candidates: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Project each row on {p : 0 <= p <= 1, p = 0 off the candidates, sum p >= 1}."""
    projected = np.where(candidates, np.clip(values, 0.0, 1.0), 0.0)
    short = np.flatnonzero(projected.sum(axis=1) < 1)
    if short.size:
        # The sum binds: the nearest point is that of the simplex, where no entry exceeds 1.
        projected[short] = _project_simplex(values[short], candidates[short])
    return projected


def _project_simplex(
    values: NDArray[np.float64], candidates: NDArray[np.bool_]
) -> NDArray[np.float64]:
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
