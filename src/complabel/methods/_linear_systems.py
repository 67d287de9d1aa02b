"""Ridge systems of one feature matrix, solved by a Cholesky factor or by conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from complabel.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from complabel.methods._arrays import Features

# Up to this many columns the Gram matrix is formed and factorized: 512 MB for each matrix.
MAX_DIRECT_COLUMNS = 8000
# Largest residual relative to the right-hand side. The methods' own iterations stop at relative
# changes of 1e-5, so they cannot notice errors of this size.
_CG_TOLERANCE = 1e-8
# An ill-conditioned system may need more iterations. Stopping here has the effect of a slightly
# stronger ridge.
_CG_MAX_ITERATIONS = 2000


def side_by_side(*blocks: Features) -> Features:
    """Join matrices (n, p1), (n, p2), ... side by side; the result is sparse if one of them is."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.hstack(blocks)
    return sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")


@dataclass(frozen=True)
class Gram:
    """A symmetric matrix (p, p) without negative eigenvalues, such as X^T X."""

    matrix: Any
    """An ndarray, or a LinearOperator if an ndarray would be too large."""
    diagonal: NDArray[np.float64]

    @classmethod
    def of(cls, X: Features, *, max_columns: int) -> Gram:
        """Return X^T X for a matrix X (n, p); it is an operator if p exceeds ``max_columns``."""
        dense = isinstance(X, np.ndarray)
        squares = np.einsum("ij,ij->j", X, X) if dense else X.multiply(X).sum(axis=0)
        matrix: Any
        if X.shape[1] > max_columns:
            matrix = _operator(X.shape[1], lambda weights: X.T @ (X @ weights))
        else:
            matrix = X.T @ X if dense else (X.T @ X).toarray()
        return cls(matrix, np.asarray(squares).ravel())

    @property
    def formed(self) -> bool:
        """Whether the matrix is stored as an array, not as an operator."""
        return isinstance(self.matrix, np.ndarray)

    def leading(self, size: int) -> Gram:
        """Return the block of the first ``size`` rows and columns."""
        rest = (0, len(self.diagonal) - size)

        def times(weights: NDArray[np.float64]) -> Any:
            return (self @ np.pad(weights, [rest, *[(0, 0)] * (weights.ndim - 1)]))[:size]

        matrix = self.matrix[:size, :size] if self.formed else _operator(size, times)
        return Gram(matrix, self.diagonal[:size])

    def __add__(self, other: Gram) -> Gram:
        return Gram(self.matrix + other.matrix, self.diagonal + other.diagonal)

    def __matmul__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.matrix @ weights)


def _operator(size: int, times: Callable[[NDArray[np.float64]], Any]) -> Any:
    """Return a symmetric operator from its products with arrays (size,) and (size, q)."""
    return LinearOperator((size, size), matvec=times, matmat=times, dtype=np.float64)


class RidgeSystem:
    """Solve (scale A + ridge I) W = R for several right-hand sides, one after the other.

    If A is an array, one Cholesky factorization serves all right-hand sides. If it is an operator,
    conjugate gradients are used, which need only products. The ridge must be positive. It can be
    an array (p,) with one value per row. If the first column of X is constant, its ridge may be 0.
    """

    def __init__(
        self, gram: Gram, *, scale: float = 1.0, ridge: float | NDArray[np.float64]
    ) -> None:
        self._gram = gram
        self._scale = scale
        self._ridge: NDArray[np.float64] = np.broadcast_to(ridge, gram.diagonal.shape)

    def solve(
        self, right: NDArray[np.float64], *, start: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return W (p, q) for R (p, q); ``start`` is a guess of W.

        Raises an InputError if A is so large that rounding hides the ridge.
        """
        if self._gram.formed:
            return np.asarray(linalg.cho_solve(self._factor, right, check_finite=False))
        return self._solve_iteratively(right, start)

    @cached_property
    def _factor(self) -> tuple[NDArray[np.float64], bool]:
        matrix = self._scale * self._gram.matrix
        matrix.flat[:: matrix.shape[0] + 1] += self._ridge
        try:
            factor: tuple[NDArray[np.float64], bool] = linalg.cho_factor(
                matrix.T, lower=True, overwrite_a=True, check_finite=False
            )
        except linalg.LinAlgError as error:
            largest = self._gram.diagonal.max() ** 0.5
            raise InputError(
                f"X^T X is singular up to rounding: the largest norm of a column of X"
                f" is {largest:.3g}. Scale the features to a standard deviation near 1, or raise"
                " the weight of the ridge."
            ) from error
        return factor

    def _solve_iteratively(
        self, right: NDArray[np.float64], start: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Run conjugate gradients on all columns of R at once, as one long vector."""

        def times(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = flat.reshape(right.shape)
            product = self._scale * (self._gram @ weights)
            return (product + self._ridge[:, np.newaxis] * weights).ravel()

        diagonal = np.repeat(self._scale * self._gram.diagonal + self._ridge, right.shape[1])
        solution, _ = cg(
            _operator(right.size, times),
            right.ravel(),
            x0=None if start is None else start.ravel(),
            rtol=_CG_TOLERANCE,
            maxiter=_CG_MAX_ITERATIONS,
            M=_operator(right.size, lambda flat: flat / diagonal),
        )
        return np.asarray(solution).reshape(right.shape)
