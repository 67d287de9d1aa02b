"""Linear maps; this needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import gen_batches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training._rows import Features

# Logits are computed for this many rows at a time: 80 MB for 1,000 features in float64.
_BATCH = 10_000


@dataclass(frozen=True)
class LinearMap:
    """Weights and biases of K linear functions."""

    coef: NDArray[np.float64]  # (K, d)
    intercept: NDArray[np.float64]  # (K,)

    def __call__(self, X: Features) -> NDArray[np.float64]:
        """Return the logits (n, K) of the rows of ``X``, without a copy of X in another type."""
        logits = np.empty((X.shape[0], len(self.intercept)))
        for batch in gen_batches(X.shape[0], _BATCH):
            logits[batch] = X[batch] @ self.coef.T
        logits += self.intercept
        return logits
