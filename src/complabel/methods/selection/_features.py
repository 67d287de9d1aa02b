"""What the linear map of the selection likelihood sees of the features: scaled, or a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import Normalizer
from sklearn.utils import gen_batches
from sklearn.utils.sparsefuncs import mean_variance_axis

from complabel._training import LinearMap, Scaling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features

SCALINGS = ("global", "standardize", "rows")
# Rows whose kernel features are in memory at once when a fitted model is applied.
_BATCH = 10_000


@dataclass(frozen=True)
class Kernel:
    """An RBF kernel, exp(-gamma ||x - x'||^2), by its values at some of the training rows.

    Parameters
    ----------
    gamma : float
    n_components : int
        The most rows, drawn at random.
    seed : int
        Of that draw.
    """

    gamma: float
    n_components: int
    seed: int


@dataclass(frozen=True)
class MappedLinear:
    """A linear map of transformed features.

    Parameters
    ----------
    transform : Normalizer or Nystroem
        Of scikit-learn, fitted.
    linear : LinearMap
    """

    transform: Normalizer | Nystroem
    linear: LinearMap

    def __call__(self, X: Features) -> NDArray[np.float64]:
        """Return the logits of each row of ``X``, shape (n_samples, K)."""
        batches = gen_batches(X.shape[0], _BATCH)
        return np.vstack([self.linear(self.transform.transform(X[batch])) for batch in batches])


def fit_transform(
    X: Features, scaling: str, kernel: Kernel | None
) -> tuple[Normalizer | Nystroem | None, Features]:
    """Return what comes before the linear map, None if nothing does, and what it makes of ``X``.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
    scaling : {"global", "standardize", "rows"}
        Of the linear map; only ``"rows"`` changes the features themselves.
    kernel : Kernel or None

    Returns
    -------
    transform : Normalizer or Nystroem or None
    transformed : ndarray or CSR array with n rows
    """
    transform: Normalizer | Nystroem
    if kernel is not None:
        transform = Nystroem(
            gamma=kernel.gamma,
            n_components=min(kernel.n_components, X.shape[0]),
            random_state=kernel.seed,
        )
    elif scaling == "rows":
        transform = Normalizer()
    else:
        return None, X
    return transform, transform.fit_transform(X)


def feature_scaling(X: Features, scaling: str) -> Scaling:
    """Return the scaling of a name, from the features alone.

    All centre, which costs sparse features nothing as no copy is made. ``"standardize"`` divides
    each feature by its standard deviation, the others divide all of them by one number, the root
    of their mean variance.
    """
    mean, variance = _moments(X)
    if scaling != "standardize":
        variance = np.full_like(variance, variance.mean())
    deviation = np.sqrt(variance)
    deviation[deviation < 1e-12 * max(1.0, np.abs(mean).max())] = 1.0
    return Scaling(shift=mean, factor=1 / deviation)


def middle_gamma(X: Features) -> float:
    """Return the gamma for which the kernel of two rows is exp(-1), taken at their mean distance.

    The mean squared distance is twice the sum of the features' variances.
    """
    _, variance = _moments(X)
    spread = 2 * float(variance.sum())
    return 1 / spread if spread > 0 else 1.0


def _moments(X: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of each feature."""
    mean: Any
    variance: Any
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean, variance = X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
    return np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)
