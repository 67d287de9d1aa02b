"""Features of an RBF kernel: what some rows, the landmarks, span of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import rbf_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Features

# What is added to the kernel of each landmark with itself, which is 1: directions that vary less
# than that are rounding.
_JITTER = 1e-8


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """The features k(x, Z) L^-T of rows x, for landmarks Z (m, d) with k(Z, Z) = L L^T.

    Their products are Nystroem's approximation of the kernel exp(-gamma ||x - x'||^2), as are those
    of ``sklearn.kernel_approximation.Nystroem``: both differ by a rotation, which no penalty on the
    length of weights notices. A Cholesky factor takes a twentieth of the time of a singular value
    decomposition.

    References
    ----------
    Williams and Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000.
    """

    landmarks: Features
    gamma: float
    factor: NDArray[np.float64]  # (m, m), lower

    @classmethod
    def of(cls, X: Features, *, gamma: float, n_landmarks: int, seed: int) -> LandmarkKernel:
        """Draw landmarks from rows (n, d)."""
        rows = np.random.default_rng(seed).permutation(X.shape[0])[:n_landmarks]
        landmarks = X[np.sort(rows)]
        kernel = rbf_kernel(landmarks, gamma=gamma).astype(np.float64, copy=False)
        kernel[np.diag_indices_from(kernel)] += _JITTER
        return cls(landmarks, gamma, np.linalg.cholesky(kernel))

    @property
    def n_landmarks(self) -> int:
        """How many features there are."""
        return len(self.factor)

    def transform(self, X: Features) -> NDArray[np.floating[Any]]:
        """Return the features (b, m) of rows (b, d)."""
        kernel = rbf_kernel(X, self.landmarks, gamma=self.gamma)
        found: NDArray[np.floating[Any]] = linalg.solve_triangular(
            self.factor.astype(kernel.dtype, copy=False), kernel.T, lower=True, overwrite_b=True
        ).T
        return found
