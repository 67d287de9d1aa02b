"""Batches of rows, and the two products of a training step, for each kind of feature matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batch = TypeVar("Batch")

# Rows are gathered for this many steps at a time: often enough to keep the copy small, seldom
# enough that the gathering takes a small part of a step.
GATHERED_STEPS = 8


class RowSource(Protocol[Batch]):
    """A feature matrix with a constant last column, handed out in batches of rows."""

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        """Lay out weights as this source multiplies fastest, or lay them back."""

    def batches(self, order: torch.Tensor, size: int) -> Iterator[Batch]:
        """Yield the rows in this order, so many at a time; the last batch may be smaller."""

    def logits(self, batch: Batch, weights: torch.Tensor) -> torch.Tensor:
        """Return the batch's logits (b, K)."""

    def weight_gradient(
        self,
        batch: Batch,
        logit_gradient: torch.Tensor,
        weights: torch.Tensor,
        weight_decay: float,
        *,
        out: torch.Tensor,
    ) -> None:
        """Write the mean gradient of the weights, weight decay included, to ``out``."""


class _DenseRows:
    """Rows of a dense matrix on any device; weights are (K, d + 1)."""

    def __init__(self, X: NDArray[np.floating[Any]], device: torch.device) -> None:
        n_samples, n_features = X.shape
        augmented = np.ones((n_samples, n_features + 1), dtype=np.float32)
        augmented[:, :-1] = X
        self._rows = torch.from_numpy(augmented).to(device)

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        return weights

    def batches(self, order: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
        for several in torch.split(order, size * GATHERED_STEPS):
            yield from torch.split(self._rows.index_select(0, several), size)  # (b, d + 1)

    def logits(self, batch: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return torch.mm(weights, batch.t()).t()  # of (K, d + 1) @ (d + 1, b)

    def weight_gradient(
        self,
        batch: torch.Tensor,
        logit_gradient: torch.Tensor,
        weights: torch.Tensor,
        weight_decay: float,
        *,
        out: torch.Tensor,
    ) -> None:
        torch.addmm(
            weights,
            logit_gradient.t(),  # (K, b) @ (b, d + 1)
            batch,
            beta=weight_decay,
            alpha=1 / batch.shape[0],
            out=out,
        )


class _SparseRows:
    """Rows of a CSR matrix on the CPU, multiplied by SciPy; weights are (d + 1, K)."""

    def __init__(self, X: sparse.csr_array) -> None:
        self._rows: sparse.csr_array = X.astype(np.float32, copy=False)

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        return weights.t().contiguous()

    def batches(self, order: torch.Tensor, size: int) -> Iterator[sparse.csr_array]:
        for several in torch.split(order, size * GATHERED_STEPS):
            gathered = self._rows[several.numpy()]
            for start in range(0, gathered.shape[0], size):
                yield gathered[start : start + size]

    def logits(self, batch: sparse.csr_array, weights: torch.Tensor) -> torch.Tensor:
        array = weights.numpy()
        return torch.from_numpy(batch @ array[:-1] + array[-1])

    def weight_gradient(
        self,
        batch: sparse.csr_array,
        logit_gradient: torch.Tensor,
        weights: torch.Tensor,
        weight_decay: float,
        *,
        out: torch.Tensor,
    ) -> None:
        mean = (logit_gradient / len(logit_gradient)).contiguous()  # (b, K)
        product = torch.from_numpy(batch.T @ mean.numpy())
        torch.add(product, weights[:-1], alpha=weight_decay, out=out[:-1])
        torch.add(mean.sum(dim=0), weights[-1], alpha=weight_decay, out=out[-1])


class _DensifiedRows(_DenseRows):
    """Rows of a CSR matrix for a device other than the CPU, made dense a batch at a time."""

    def __init__(self, X: sparse.csr_array, device: torch.device) -> None:
        self._csr = X
        self._device = device

    def batches(self, order: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
        for rows in torch.split(order.cpu(), size):
            batch = np.ones((len(rows), self._csr.shape[1] + 1), dtype=np.float32)
            batch[:, :-1] = self._csr[rows.numpy()].toarray()
            yield torch.from_numpy(batch).to(self._device)


def row_source(
    X: NDArray[np.floating[Any]] | sparse.csr_array, device: torch.device
) -> RowSource[Any]:
    """Choose how batches of ``X`` are multiplied on a device."""
    if not sparse.issparse(X):
        return _DenseRows(X, device)
    return _SparseRows(X) if device.type == "cpu" else _DensifiedRows(X, device)
