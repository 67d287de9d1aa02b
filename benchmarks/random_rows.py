"""Random CSR matrices, made in little more memory than they take."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def random_rows(
    n_samples: int, n_features: int, *, density: float, rng: np.random.Generator
) -> sparse.csr_array:
    """Return uniform entries in as many columns of every row, sorted and without duplicates."""
    per_row = int(density * n_features)
    width = n_features // per_row  # one column from each of per_row equal ranges
    offsets = rng.integers(width, size=(n_samples, per_row), dtype=np.int32)
    columns = offsets + np.arange(0, n_features, width, dtype=np.int32)
    starts = np.arange(0, columns.size + 1, per_row, dtype=np.int32)
    values = rng.random(columns.size, dtype=np.float32)
    return sparse.csr_array((values, columns.ravel(), starts), shape=(n_samples, n_features))
