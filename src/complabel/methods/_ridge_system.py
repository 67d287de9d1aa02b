"""Feature matrices with a constant column, and ridge systems solved with them."""

from __future__ import annotations

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
_CG_TOLERANCE = 1e-9


class Design:
    """A feature matrix, with a constant last column or without, that is never copied or densified.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
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
        self._X = X.astype(np.float64, copy=False)
        self._sparse: bool = sparse.issparse(X)
        self._constant = fit_intercept
        self.n_columns: int = X.shape[1] + fit_intercept

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply weights (p, q) to outputs (n, q)."""
        if not self._constant:
            return np.asarray(self._X @ weights)
        outputs: NDArray[np.float64] = self._X @ weights[:-1]
        outputs += weights[-1]
        return outputs

    def transposed_times(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply outputs (n, q) to weights (p, q)."""
        product = np.asarray(self._X.T @ outputs)
        return np.vstack([product, outputs.sum(axis=0)]) if self._constant else product

    def gram_times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply weights (p, q) by X^T X."""
        if self.n_columns <= MAX_DIRECT_COLUMNS:
            product: NDArray[np.float64] = self.gram @ weights
            return product
        return self.transposed_times(self.times(weights))

    @cached_property
    def gram(self) -> NDArray[np.float64]:
        """X^T X of shape (p, p)."""
        n_features = self._X.shape[1]
        product: Any = self._X.T @ self._X
        gram = np.empty((self.n_columns, self.n_columns))
        gram[:n_features, :n_features] = product.toarray() if self._sparse else product
        if self._constant:
            gram[-1, :-1] = gram[:-1, -1] = np.asarray(self._X.sum(axis=0)).ravel()
            gram[-1, -1] = self._X.shape[0]
        return gram

    def squared_column_norms(self) -> NDArray[np.float64]:
        """Return the sum of squares of each column, shape (p,)."""
        X: Any = self._X
        squares = X.multiply(X).sum(axis=0) if self._sparse else np.einsum("ij,ij->j", X, X)
        norms = np.asarray(squares).ravel()
        return np.append(norms, X.shape[0]) if self._constant else norms


class RidgeSystem:
    """Solve (scale X^T X + ridge I) W = R for one right-hand side after the other.

    Up to :data:`MAX_DIRECT_COLUMNS` columns one Cholesky factorization serves all of them;
    beyond, conjugate gradients need nothing but products with X.

    Parameters
    ----------
    design : Design
        X with p columns.
    scale, ridge : float
        Not negative and positive.

    Raises
    ------
    InputError
        From ``solve``, if features are so large that the ridge is lost to rounding.
    """

    def __init__(self, design: Design, *, scale: float, ridge: float) -> None:
        self._design = design
        self._scale = scale
        self._ridge = ridge

    def solve(
        self, right: NDArray[np.float64], *, start: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return W of shape (p, q) for R of that shape; ``start`` is a guess of W."""
        if self._design.n_columns <= MAX_DIRECT_COLUMNS:
            return np.asarray(linalg.cho_solve(self._factor, right, check_finite=False))
        return self._solve_iteratively(right, start)

    @cached_property
    def _factor(self) -> tuple[NDArray[np.float64], bool]:
        """Factorize the system's matrix."""
        matrix = self._scale * self._design.gram
        matrix.flat[:: matrix.shape[0] + 1] += self._ridge
        try:
            factor: tuple[NDArray[np.float64], bool] = linalg.cho_factor(
                matrix.T, lower=True, overwrite_a=True, check_finite=False
            )
        except linalg.LinAlgError as error:
            largest = self._design.squared_column_norms().max() ** 0.5
            raise InputError(
                f"X^T X cannot be told from a singular matrix: the largest norm of a column of X"
                f" is {largest:.3g}. Scale the features to a standard deviation near 1."
            ) from error
        return factor

    def _solve_iteratively(
        self, right: NDArray[np.float64], start: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Run conjugate gradients on all columns of R at once, as one long vector."""
        diagonal = self._scale * self._design.squared_column_norms() + self._ridge

        def product(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = flat.reshape(right.shape)
            return (self._scale * self._design.gram_times(weights) + self._ridge * weights).ravel()

        def scaled(flat: NDArray[np.float64]) -> NDArray[np.float64]:
            return (flat.reshape(right.shape) / diagonal[:, None]).ravel()

        shape = (right.size, right.size)
        solution, _ = cg(
            LinearOperator(shape, matvec=product, dtype=np.float64),
            right.ravel(),
            x0=None if start is None else start.ravel(),
            rtol=_CG_TOLERANCE,
            M=LinearOperator(shape, matvec=scaled, dtype=np.float64),
        )
        return np.asarray(solution).reshape(right.shape)
