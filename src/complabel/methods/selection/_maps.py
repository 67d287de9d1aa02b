"""What maps features to logits in a fitted model, linear or by a kernel; no scikit-learn here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from complabel._parameters import Array, Features, Floats
from complabel._training import LinearMap

SCALINGS = ("global", "standardize", "rows")
# Kernel features are computed for this many rows at a time: 40 MB for 500 features in float64.
BATCH = 10_000


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """The features k(x, Z) L^-T of rows x, for landmarks Z (m, d) with k(Z, Z) = L L^T.

    Their inner products are Nystroem's approximation of exp(-gamma ||x - x'||^2), as those of
    scikit-learn up to a rotation, which does not change the penalty. The Cholesky factor takes a
    twentieth of the time of a singular value decomposition. Source: Williams and Seeger, "Using the
    Nystroem method to speed up kernel machines", NIPS 2000.
    """

    landmarks: Features
    gamma: float
    factor: Array  # (m, m), lower

    def transform(self, X: Features) -> Floats:
        from scipy import linalg

        centre = centre_of(self.landmarks)
        kernel = _rbf_kernel(minus(X, centre), minus(self.landmarks, centre), self.gamma)
        features: Floats = linalg.solve_triangular(
            self.factor.astype(kernel.dtype, copy=False), kernel.T, lower=True, overwrite_b=True
        ).T
        return features


def _rbf_kernel(X: Features, landmarks: Features, gamma: float) -> Floats:
    """Return scikit-learn's kernel, which loads pandas; dense features in float64 need neither."""
    is_sparse = sparse.issparse(X) or sparse.issparse(landmarks)
    if is_sparse or X.dtype != np.float64 or landmarks.dtype != np.float64:
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(X, landmarks, gamma=gamma))
    squares = [np.einsum("ij,ij->i", rows, rows) for rows in (X, landmarks)]
    distances = -2 * (X @ landmarks.T)
    distances += squares[0][:, np.newaxis]
    distances += squares[1]
    np.maximum(distances, 0, out=distances)
    distances *= -gamma
    return np.asarray(np.exp(distances, out=distances))


class RowsToLengthOne:
    """Divides each row by its length, as scikit-learn's Normalizer."""

    def transform(self, X: Features) -> Features:
        if sparse.issparse(X):
            from sklearn.preprocessing import normalize

            return normalize(X)
        lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
        lengths[lengths == 0] = 1
        return X / lengths[:, np.newaxis]


@dataclass(frozen=True)
class MappedLinear:
    """A linear map of features after a fitted transformer."""

    transformer: RowsToLengthOne | LandmarkKernel
    linear: LinearMap

    def __call__(self, X: Features) -> Array:
        batches = (X[first : first + BATCH] for first in range(0, X.shape[0], BATCH))
        return np.vstack([self.linear(self.transformer.transform(batch)) for batch in batches])


def model_of(
    transformer: RowsToLengthOne | LandmarkKernel | None, linear: LinearMap
) -> LinearMap | MappedLinear:
    """Return a map of the features before the transformer."""
    return linear if transformer is None else MappedLinear(transformer, linear)


def centre_of(landmarks: Features) -> Any:
    """Return the mean of dense landmarks (d,), and 0 for sparse ones."""
    # The kernel depends only on differences. Far from 0, rounding hides them in its squares.
    return 0 if sparse.issparse(landmarks) else landmarks.mean(axis=0)


def minus(X: Features, centre: Any) -> Features:
    """Return rows less a centre; sparse rows stay so if the landmarks are sparse."""
    if not sparse.issparse(X):
        return X - centre
    if np.isscalar(centre):
        return X
    dense: Features = X.toarray() - centre  # type: ignore[attr-defined]
    return dense
