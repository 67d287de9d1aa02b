"""Ridge regression with an intercept, for several penalties in turn and for all ranks at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from complabel.methods._linear_systems import RidgeSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from complabel.methods._arrays import Array
    from complabel.methods._linear_systems import Gram


class ReducedRankRidge:
    r"""Minimize ||Y - 1 b^T - X W||^2 / n + alpha s^2 ||W||^2 over W (d, K) and b (K,).

    s^2 is the mean variance of a feature, so that alpha has no unit. Let Q (K, K) hold the
    principal directions of the full-rank prediction of the centred targets. In these coordinates,
    the minimizer of rank r predicts the first r as at full rank, and the others by their means.

    Conjugate gradients for one penalty start from the solution for the penalty before. So callers
    should go from strong to weak penalties.

    Parameters
    ----------
    parts : sequence of Gram
        The matrices Z^T Z of disjoint sets of rows, with Z = [1, X, Y]. All these rows together
        are learned from.
    n_labels : int
        K.

    References
    ----------
    Mukherjee and Zhu, "Reduced rank ridge regression and its kernel extensions", 2011.
    """

    def __init__(self, parts: Sequence[Gram], *, n_labels: int) -> None:
        moments = sum(parts[1:], start=parts[0])
        end = len(moments.diagonal) - n_labels  # the targets begin here
        columns = np.zeros((len(moments.diagonal), 1 + n_labels))
        columns[0, 0], columns[end:, 1:] = 1, np.eye(n_labels)
        sums = moments @ columns  # the sums of z, and of z y^T
        self._count = sums[0, 0]
        means, squares = sums[:, 0] / self._count, moments.diagonal / self._count
        self.target_mean = means[end:]  # (K,)
        square = squares[1:end].mean()
        variance = (squares - means**2)[1:end].clip(min=0).mean()
        # The variance of constant features is only rounding error.
        if variance <= self._count * np.finfo(np.float64).eps * square:
            variance = square or 1.0
        self._penalties = np.full(end, self._count * variance)
        self._penalties[0] = 0  # the intercept is not penalized
        self._gram = moments.leading(end)
        self._right = sums[:end, 1:]
        self._last = np.zeros_like(self._right)

    def coefficients(self, alpha: float, *, rank: int) -> Array:
        """Return the coefficients (1 + d, K) for a rank from 1 to K: b in the first row, then W."""
        fitted, means, directions = self._rotated(alpha)
        return np.hstack([fitted[:, :rank], means[:, rank:]]) @ directions.T

    def squared_errors(self, held_out: Gram, *, alpha: float) -> Array:
        """Return the sum of ||y - prediction||^2 over held-out rows for each rank, (K,)."""
        fitted, means, directions = self._rotated(alpha)
        # The residuals are Z times these matrices.
        residuals = np.vstack([-fitted, directions]), np.vstack([-means, directions])
        of_fitted, of_means = (np.sum(each * (held_out @ each), axis=0) for each in residuals)
        # Rounding may make a small error negative.
        return np.asarray(np.maximum(of_means.sum() + np.cumsum(of_fitted - of_means), 0))

    def _rotated(self, alpha: float) -> tuple[Array, ...]:
        """Return the full-rank coefficients times Q, those that predict means times Q, and Q."""
        system = RidgeSystem(self._gram, ridge=alpha * self._penalties)
        self._last = system.solve(self._right, start=self._last)
        explained = self._right.T @ self._last / self._count
        explained -= np.outer(self.target_mean, self.target_mean)
        directions = np.linalg.eigh(explained + explained.T)[1][:, ::-1]
        means = np.zeros_like(self._last)
        means[0] = self.target_mean
        return self._last @ directions, means @ directions, directions
