"""Linear maps, and one thread for a fit; this needs no torch until a fit begins."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

Features: TypeAlias = NDArray[np.floating[Any]] | sparse.csr_array  # (n, d)

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


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and BLAS use one thread inside the block, so that several fits can run at once."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)
