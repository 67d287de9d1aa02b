"""Ridge regression on centred features, for one penalty after the other and for every rank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg

from complabel.methods._magnitude import refuse_overflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from complabel.methods._base import Features

# Up to this many columns the covariance is formed and decomposed: some seconds.
MAX_EIGEN_COLUMNS = 3000
_CG_TOLERANCE = 1e-7
_CG_MAX_ITERATIONS = 2000


@dataclass(frozen=True)
class Moments:
    """Sums over rows of features x (d,) and targets y (K,), which add up over sets of rows.

    Parameters
    ----------
    count : int
    feature_sum, target_sum : ndarrays of shape (d,) and (K,)
    feature_squares : ndarray of shape (d,)
    target_square : float
        Sum of ||y||^2.
    cross : ndarray of shape (d, K)
        Sum of x y^T.
    gram : ndarray or LinearOperator of shape (d, d)
        Sum of x x^T; an operator where the matrix would be too large.
    """

    count: int
    feature_sum: NDArray[np.float64]
    target_sum: NDArray[np.float64]
    feature_squares: NDArray[np.float64]
    target_square: float
    cross: NDArray[np.float64]
    gram: Any

    @classmethod
    def of(cls, X: Features, Y: NDArray[np.float64]) -> Moments:
        """Sum over the rows of features (n, d), never made dense, and targets (n, K)."""
        squared: Any = X * X if isinstance(X, np.ndarray) else X.multiply(X)
        return cls(
            count=X.shape[0],
            feature_sum=np.asarray(X.sum(axis=0)).ravel(),
            target_sum=Y.sum(axis=0),
            feature_squares=np.asarray(squared.sum(axis=0)).ravel(),
            target_square=float(np.vdot(Y, Y)),
            cross=np.asarray(X.T @ Y),
            gram=_gram(X),
        )

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count,
            self.feature_sum + other.feature_sum,
            self.target_sum + other.target_sum,
            self.feature_squares + other.feature_squares,
            self.target_square + other.target_square,
            self.cross + other.cross,
            self.gram + other.gram,
        )


def _gram(X: Features) -> Any:
    """Return X^T X, as an operator if it has too many columns."""
    if X.shape[1] > MAX_EIGEN_COLUMNS:
        operator = aslinearoperator(X)
        return operator.T @ operator
    gram = X.T @ X
    return gram if isinstance(gram, np.ndarray) else gram.toarray()


class CentredRidge(ABC):
    r"""Minimize ||Y - 1 b^T - X W||^2 / n + alpha s^2 ||W||^2 over W (d, K) and b (K,).

    s^2 is the mean variance of a feature, so that alpha has no unit: X is as if it were centred
    and divided by s. With C the covariance of the features and D that of features and targets,
    W = (C + alpha s^2 I)^-1 D, and of rank r the minimizer is W Q Q^T, where Q (K, r) holds the
    leading eigenvectors of D^T W (Mukherjee and Zhu, "Reduced rank ridge regression and its
    kernel extensions", 2011).

    Parameters
    ----------
    moments : Moments

    Attributes
    ----------
    feature_mean, target_mean : ndarrays of shape (d,) and (K,)
    """

    def __init__(self, moments: Moments) -> None:
        n_samples = moments.count
        self.feature_mean = moments.feature_sum / n_samples
        self.target_mean = moments.target_sum / n_samples
        self._covariance = moments.cross / n_samples - np.outer(self.feature_mean, self.target_mean)
        squares = moments.feature_squares / n_samples
        self._variances = (squares - self.feature_mean**2).clip(min=0)
        spread, size = float(self._variances.mean()), float(squares.mean())
        # What rounding leaves of constant features is no spread.
        constant = spread <= np.finfo(np.float64).eps * size
        self._spread = (size or 1.0) if constant else spread

    def weights(self, alpha: float) -> NDArray[np.float64]:
        """Return W (d, K) of full rank."""
        return self._solve(alpha * self._spread)

    def directions(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns Q (K, K) for W of full rank, the leading ones first."""
        explained = self._covariance.T @ weights
        return np.asarray(np.linalg.eigh(explained + explained.T)[1][:, ::-1])

    def squared_errors(self, held_out: Moments, *, alpha: float) -> NDArray[np.float64]:
        """Return the sum of ||y - prediction||^2 over other rows for each rank from 1 to K."""
        weights = self.weights(alpha)
        directions = self.directions(weights)
        # In the coordinates Q a smaller rank merely leaves out the last columns.
        weights = weights @ directions
        count, mean, target_mean = held_out.count, self.feature_mean, self.target_mean
        # Sums of x x^T W, y x^T and ||y||^2, where x and y are measured from the means here.
        at_mean = mean @ weights
        gram = held_out.gram @ weights - np.outer(held_out.feature_sum, at_mean)
        gram += np.outer(mean, count * at_mean - held_out.feature_sum @ weights)
        cross = held_out.cross - np.outer(held_out.feature_sum, target_mean)
        cross += np.outer(mean, count * target_mean - held_out.target_sum)
        square = held_out.target_square + target_mean @ (
            count * target_mean - 2 * held_out.target_sum
        )
        gains = np.sum(weights * (2 * cross @ directions - gram), axis=0)
        return np.asarray(square - np.cumsum(gains))

    @abstractmethod
    def _solve(self, ridge: float) -> NDArray[np.float64]:
        """Return (C + ridge I)^-1 D."""


class EigenRidge(CentredRidge):
    """By one eigendecomposition of the covariance for all penalties."""

    def __init__(self, moments: Moments) -> None:
        super().__init__(moments)
        matrix = moments.gram / moments.count - np.outer(self.feature_mean, self.feature_mean)
        values, self._vectors = np.linalg.eigh(matrix)
        self._values = values.clip(min=0)[:, np.newaxis]
        self._rotated = self._vectors.T @ self._covariance  # (d, K)

    def _solve(self, ridge: float) -> NDArray[np.float64]:
        return np.asarray(self._vectors @ (self._rotated / (self._values + ridge)))


class IterativeRidge(CentredRidge):
    """By conjugate gradients, which need nothing but products with X.

    Each solution starts the search for the next: go from strong to weak penalties. Where the
    penalty is so weak that the iterations run out, the last one is returned: stopped early, it
    is as good as a slightly stronger penalty.
    """

    def __init__(self, moments: Moments) -> None:
        super().__init__(moments)
        self._moments = moments
        self._last: NDArray[np.float64] = np.zeros_like(self._covariance)

    def _solve(self, ridge: float) -> NDArray[np.float64]:
        shape, size = self._covariance.shape, self._covariance.size
        diagonal = self._variances[:, np.newaxis] + ridge

        def product(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = flat.reshape(shape)
            mean = self.feature_mean
            gram: NDArray[np.float64] = self._moments.gram @ weights / self._moments.count
            return (gram - np.outer(mean, mean @ weights) + ridge * weights).ravel()

        def scaled(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            return (flat.reshape(shape) / diagonal).ravel()

        solution, _ = cg(
            LinearOperator((size, size), matvec=product, dtype=np.float64),
            self._covariance.ravel(),
            x0=self._last.ravel(),
            rtol=_CG_TOLERANCE,
            maxiter=_CG_MAX_ITERATIONS,
            M=LinearOperator((size, size), matvec=scaled, dtype=np.float64),
        )
        self._last = np.asarray(solution).reshape(shape)
        return self._last


def make_ridge(moments: Moments) -> CentredRidge:
    """Solve by the way that suits the number of features."""
    solver = EigenRidge if isinstance(moments.gram, np.ndarray) else IterativeRidge
    return solver(moments)


def moments_of_parts(
    X: Features, Y: NDArray[np.float64], parts: Sequence[NDArray[np.intp]]
) -> list[Moments]:
    """Return the moments of each set of rows.

    Raises
    ------
    InputError
        If squares of features exceed the range of float64.
    """
    refuse_overflow(X)
    return [Moments.of(X[part], Y[part]) for part in parts]


def total(moments: Sequence[Moments]) -> Moments:
    """Add up moments of disjoint rows."""
    first, *others = moments
    for other in others:
        first = first + other
    return first
