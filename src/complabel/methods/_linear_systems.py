"""Ridge systems of one feature matrix, solved by Cholesky factors or by conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from complabel.errors import InputError
from complabel.methods._magnitude import refuse_overflow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features

# Up to this many columns the Gram matrix is formed and factorized: half a gigabyte each.
MAX_DIRECT_COLUMNS = 8000
# The residual's share of the right-hand side: far below what the methods' own iterations, which
# stop at changes of 1e-5, could notice.
_CG_TOLERANCE = 1e-9
# A system so ill-conditioned that these run out is solved as if its ridge were slightly stronger.
_CG_MAX_ITERATIONS = 2000


def with_constant(X: Features) -> Features:
    """Return features (n, d) with a last column of ones."""
    ones = np.ones((X.shape[0], 1))
    if isinstance(X, np.ndarray):
        return np.hstack([X, ones])
    return sparse.hstack([X, sparse.csr_array(ones)], format="csr")


@dataclass(frozen=True)
class Gram:
    """A symmetric matrix without negative eigenvalues, such as X^T X.

    Parameters
    ----------
    matrix : ndarray or LinearOperator of shape (p, p)
        An operator where the matrix would be too large.
    diagonal : ndarray of shape (p,)
    """

    matrix: Any
    diagonal: NDArray[np.float64]

    @classmethod
    def of(cls, X: Features, *, max_columns: int) -> Gram:
        """Return X^T X of a matrix (n, p); from p = ``max_columns`` on it is an operator."""

        def times(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            product: NDArray[np.float64] = X.T @ (X @ weights)
            return product

        dense = isinstance(X, np.ndarray)
        squares = np.einsum("ij,ij->j", X, X) if dense else X.multiply(X).sum(axis=0)
        matrix: Any
        if X.shape[1] > max_columns:
            shape = (X.shape[1], X.shape[1])
            matrix = LinearOperator(shape, matvec=times, matmat=times, dtype=np.float64)
        else:
            matrix = X.T @ X if dense else (X.T @ X).toarray()
        return cls(matrix, np.asarray(squares).ravel())

    def __add__(self, other: Gram) -> Gram:
        return Gram(self.matrix + other.matrix, self.diagonal + other.diagonal)

    def __matmul__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.matrix @ weights)


class Design:
    """A feature matrix, with a constant last column or without, and its products.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Never made dense.
    fit_intercept : bool
        Whether there is a last column of ones.

    Raises
    ------
    InputError
        If squares of features exceed the range of float64.

    Attributes
    ----------
    n_columns : int
        p; the number of features, plus one for the constant column.
    """

    def __init__(self, X: Features, *, fit_intercept: bool) -> None:
        refuse_overflow(X)
        X = X.astype(np.float64, copy=False)
        self._X = with_constant(X) if fit_intercept else X
        self.n_columns: int = self._X.shape[1]

    @cached_property
    def gram(self) -> Gram:
        """X^T X of shape (p, p)."""
        return Gram.of(self._X, max_columns=MAX_DIRECT_COLUMNS)

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply weights (p, q) to outputs (n, q)."""
        return np.asarray(self._X @ weights)

    def transposed_times(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply outputs (n, q) to weights (p, q)."""
        return np.asarray(self._X.T @ outputs)

    def gram_times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply weights (p, q) by X^T X."""
        return self.gram @ weights

    def squared_column_norms(self) -> NDArray[np.float64]:
        """Return the sum of squares of each column, shape (p,)."""
        return self.gram.diagonal


class RidgeSystem:
    """Solve (scale A + ridge I) W = R for one right-hand side after the other.

    If A is formed, one Cholesky factorization serves all of them. If it is an operator,
    conjugate gradients need nothing but products.

    Parameters
    ----------
    gram : Gram
        A of shape (p, p).
    scale : float, default=1.0
        Not negative.
    ridge : float
        Positive.

    Raises
    ------
    InputError
        From ``solve``, if A is so large that the ridge is lost to rounding.
    """

    def __init__(self, gram: Gram, *, scale: float = 1.0, ridge: float) -> None:
        self._gram = gram
        self._scale = scale
        self._ridge = ridge

    def solve(
        self, right: NDArray[np.float64], *, start: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return W of shape (p, q) for R of that shape; ``start`` is a guess of W."""
        if isinstance(self._gram.matrix, np.ndarray):
            return np.asarray(linalg.cho_solve(self._factor, right, check_finite=False))
        return self._solve_iteratively(right, start)

    @cached_property
    def _factor(self) -> tuple[NDArray[np.float64], bool]:
        """Factorize the system's matrix."""
        matrix = self._scale * self._gram.matrix
        matrix.flat[:: matrix.shape[0] + 1] += self._ridge
        try:
            factor: tuple[NDArray[np.float64], bool] = linalg.cho_factor(
                matrix.T, lower=True, overwrite_a=True, check_finite=False
            )
        except linalg.LinAlgError as error:
            largest = self._gram.diagonal.max() ** 0.5
            raise InputError(
                f"X^T X cannot be told from a singular matrix: the largest norm of a column of X"
                f" is {largest:.3g}. Scale the features to a standard deviation near 1, or"
                " raise the weight of the ridge."
            ) from error
        return factor

    def _solve_iteratively(
        self, right: NDArray[np.float64], start: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Run conjugate gradients on all columns of R at once, as one long vector."""
        diagonal = self._scale * self._gram.diagonal + self._ridge

        def product(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = flat.reshape(right.shape)
            return (self._scale * (self._gram @ weights) + self._ridge * weights).ravel()

        def scaled(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            return (flat.reshape(right.shape) / diagonal[:, None]).ravel()

        shape = (right.size, right.size)
        solution, _ = cg(
            LinearOperator(shape, matvec=product, dtype=np.float64),
            right.ravel(),
            x0=None if start is None else start.ravel(),
            rtol=_CG_TOLERANCE,
            maxiter=_CG_MAX_ITERATIONS,
            M=LinearOperator(shape, matvec=scaled, dtype=np.float64),
        )
        return np.asarray(solution).reshape(right.shape)
