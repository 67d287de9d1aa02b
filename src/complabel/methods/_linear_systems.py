"""Ridge systems of one feature matrix, solved by a Cholesky factor or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from complabel._parameters import Array, Features
from complabel.errors import InputError

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

    matrix: Any  # an ndarray, or a LinearOperator if an ndarray would be too large
    diagonal: Array

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
        return isinstance(self.matrix, np.ndarray)

    def leading(self, size: int) -> Gram:
        """Return the block of the first ``size`` rows and columns."""
        rest = (0, len(self.diagonal) - size)

        def times(weights: Array) -> Any:
            return (self @ np.pad(weights, [rest, *[(0, 0)] * (weights.ndim - 1)]))[:size]

        matrix = self.matrix[:size, :size] if self.formed else _operator(size, times)
        return Gram(matrix, self.diagonal[:size])

    def __add__(self, other: Gram) -> Gram:
        return Gram(self.matrix + other.matrix, self.diagonal + other.diagonal)

    def __matmul__(self, weights: Array) -> Array:
        return np.asarray(self.matrix @ weights)


def _operator(size: int, times: Callable[[Array], Any]) -> Any:
    return LinearOperator((size, size), matvec=times, matmat=times, dtype=np.float64)


class RidgeSystem:
    """Solve (scale A + ridge I) W = R for several R: by one Cholesky factor if A is an array.

    The ridge, a number or (p,), is positive, except for a constant first column of X.
    """

    def __init__(self, gram: Gram, *, scale: float = 1.0, ridge: float | Array) -> None:
        self._gram = gram
        self._scale = scale
        self._ridge: Array = np.broadcast_to(ridge, gram.diagonal.shape)

    def solve(self, right: Array, *, start: Array | None = None) -> Array:
        """Return W (p, q) for R (p, q); ``start`` is a guess of W."""
        if self._gram.formed:
            return np.asarray(linalg.cho_solve(self._factor, right, check_finite=False))
        return self._solve_iteratively(right, start)

    @cached_property
    def _factor(self) -> tuple[Array, bool]:
        matrix = self._scale * self._gram.matrix
        matrix.flat[:: matrix.shape[0] + 1] += self._ridge
        try:
            factor: tuple[Array, bool] = linalg.cho_factor(
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

    def _solve_iteratively(self, right: Array, start: Array | None) -> Array:
        """Run conjugate gradients on all columns of R at once, as one long vector."""

        def times(flat: Array) -> Array:
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
