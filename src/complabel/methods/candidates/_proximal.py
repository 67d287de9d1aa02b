"""Proximal operators of the trace norm and of the l1 norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# From this ratio of the sides on, the eigenvectors of the small Gram matrix cost less than an SVD.
_SLENDER = 2


def soft_threshold(values: NDArray[np.float64], amount: float) -> NDArray[np.float64]:
    """Shrink every entry towards zero by a fixed amount, which may be ``inf``.

    Minimizes ``amount * ||A||_1 + 0.5 * ||A - values||_F^2`` over A, for values of any shape.

    Examples
    --------
    >>> soft_threshold(np.array([-3.0, 0.5, 2.0]), 1.0)
    array([-2.,  0.,  1.])
    """
    return values - np.clip(values, -amount, amount)


def singular_value_threshold(matrix: NDArray[np.float64], amount: float) -> NDArray[np.float64]:
    """Shrink every singular value of a matrix (m, q) towards zero by a fixed amount.

    Minimizes ``amount * ||A||_* + 0.5 * ||A - matrix||_F^2`` over A, where ``||A||_*`` is the
    trace norm, the sum of the singular values (Cai, Candes and Shen, "A singular value
    thresholding algorithm for matrix completion", 2010, Theorem 2.1).

    It takes O(m q min(m, q)) time. A slender matrix is shrunk through the eigenvectors of its
    smaller Gram matrix, which needs no factor of the longer side. This costs half the digits of
    singular values far below the largest, and those are the ones that shrinking removes.

    Examples
    --------
    >>> singular_value_threshold(np.diag([3.0, 1.0]), 2.0)
    array([[1., 0.],
           [0., 0.]])
    """
    if amount == 0:
        return matrix
    rows, columns = matrix.shape
    if rows >= _SLENDER * columns:
        return matrix @ _right_shrinkage(matrix, amount)
    if columns >= _SLENDER * rows:
        return _right_shrinkage(matrix.T, amount) @ matrix
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values > amount
    shrunk: NDArray[np.float64] = (left[:, kept] * (values[kept] - amount)) @ right[kept]
    return shrunk


def _right_shrinkage(matrix: NDArray[np.float64], amount: float) -> NDArray[np.float64]:
    """Return V diag(max(1 - amount / s, 0)) V^T for the singular values s and right vectors V."""
    squares, vectors = np.linalg.eigh(matrix.T @ matrix)
    values = np.sqrt(np.maximum(squares, 0.0))
    kept = values > amount
    vectors = vectors[:, kept]
    shrinkage: NDArray[np.float64] = (vectors * (1 - amount / values[kept])) @ vectors.T
    return shrinkage
