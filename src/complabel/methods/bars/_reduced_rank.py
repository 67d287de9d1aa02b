"""Ridge regression with an intercept, for one penalty after the other and for every rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from complabel.methods._linear_systems import Gram, RidgeSystem, with_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from complabel.methods._base import Features

# Up to this many features the moments are formed: those of all parts of the data at once, and
# every penalty costs each of them a factorization.
MAX_FORMED_FEATURES = 3000


def moments_of_parts(
    X: Features, Y: NDArray[np.float64], parts: Sequence[NDArray[np.intp]]
) -> list[Gram]:
    """Return for each set of rows the sum of z z^T, where z holds features, a 1 and targets.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d), float64
    Y : ndarray of shape (n, K)
    parts : sequence of integer ndarrays
    """
    with_one = with_constant(X)
    if isinstance(X, np.ndarray):
        Z: Any = np.hstack([with_one, Y])
    else:
        Z = sparse.hstack([with_one, sparse.csr_array(Y)], format="csr")
    max_columns = MAX_FORMED_FEATURES + 1 + Y.shape[1]
    return [Gram.of(Z[part], max_columns=max_columns) for part in parts]


class ReducedRankRidge:
    r"""Minimize ||Y - 1 b^T - X W||^2 / n + alpha s^2 ||W||^2 over W (d, K) and b (K,).

    s^2 is the mean variance of a feature, so that alpha has no unit: X is as if it were centred
    and divided by s. With C the covariance of the features and D that of features and targets,
    W = (C + alpha s^2 I)^-1 D, and of rank r the minimizer is W Q Q^T, where Q (K, r) holds the
    leading eigenvectors of D^T W (Mukherjee and Zhu, "Reduced rank ridge regression and its
    kernel extensions", 2011).

    Conjugate gradients for one penalty start from the solution for the one before: go from strong
    to weak penalties.

    Parameters
    ----------
    parts : sequence of Gram of shape (d + 1 + K, d + 1 + K)
        The moments of the rows to learn from, as from :func:`moments_of_parts`.
    n_labels : int
        K.

    Attributes
    ----------
    target_mean : ndarray of shape (K,)
    """

    def __init__(self, parts: Sequence[Gram], *, n_labels: int) -> None:
        moments = sum(parts[1:], start=parts[0])
        size = len(moments.diagonal)
        d = size - 1 - n_labels
        # The sums of z and z y^T.
        sums = moments @ np.eye(size, 1 + n_labels, -d)
        count = sums[d, 0]
        mean, self.target_mean = np.split(np.delete(sums[:, 0], d) / count, [d])
        self._cross = sums[:d, 1:] / count - np.outer(mean, self.target_mean)  # D
        squares = moments.diagonal[:d] / count
        variances = (squares - mean**2).clip(min=0)
        # What rounding leaves of constant features is no spread.
        constant = variances.mean() <= np.finfo(np.float64).eps * squares.mean()
        self._spread = float((squares.mean() or 1.0) if constant else variances.mean())
        self._mean = mean
        self._covariance = Gram(_covariance(moments, mean, count), variances)
        self._last: NDArray[np.float64] = np.zeros_like(self._cross)

    def weights(self, alpha: float, *, rank: int | None = None) -> NDArray[np.float64]:
        """Return W (d, K) of a rank; None is full rank."""
        system = RidgeSystem(self._covariance, ridge=alpha * self._spread)
        self._last = system.solve(self._cross, start=self._last)
        if rank is None or rank == self._last.shape[1]:
            return self._last
        leading = self._directions(self._last)[:, :rank]
        return np.asarray(self._last @ leading @ leading.T)

    def intercept(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return b (K,), with which predictions are right on average."""
        return np.asarray(self.target_mean - self._mean @ weights)

    def squared_errors(self, held_out: Gram, *, alpha: float) -> NDArray[np.float64]:
        """Return the sum of ||y - prediction||^2 over other rows for each rank from 1 to K.

        In the coordinates Q, rank r predicts the first r columns, and the means of the others.
        """
        weights = self.weights(alpha)
        directions = self._directions(weights)
        of_targets = np.eye(len(directions))
        # The residuals are Z times these.
        predicted = np.vstack([-weights, -self.intercept(weights), of_targets]) @ directions
        at_mean = np.vstack([np.zeros_like(weights), -self.target_mean, of_targets]) @ directions
        left, of_means = (np.sum(map_ * (held_out @ map_), axis=0) for map_ in (predicted, at_mean))
        return np.asarray(of_means.sum() + np.cumsum(left - of_means))

    def _directions(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Q (K, K) for W of full rank, its leading columns first."""
        explained = self._cross.T @ weights
        return np.asarray(np.linalg.eigh(explained + explained.T)[1][:, ::-1])


def _covariance(moments: Gram, mean: NDArray[np.float64], count: float) -> Any:
    """Return C (d, d) as a matrix, or as an operator if the moments are one."""
    d = len(mean)
    if isinstance(moments.matrix, np.ndarray):
        return moments.matrix[:d, :d] / count - np.outer(mean, mean)

    def times(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = weights.reshape(d, -1)
        of_targets = np.zeros((len(moments.diagonal) - d - 1, weights.shape[1]))
        outputs = np.vstack([weights, -mean @ weights, of_targets])
        return (moments @ outputs)[:d] / count

    return LinearOperator((d, d), matvec=times, matmat=times, dtype=np.float64)
