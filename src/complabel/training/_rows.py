"""Batches of rows, and the two products of a training step, for each kind of feature matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RowSource(Protocol):
    """A feature matrix with a constant last column, of which one batch is held at a time."""

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        """Lay out weights as this source multiplies fastest, or lay them back."""

    def take(self, batch: torch.Tensor) -> None:
        """Make the given rows the batch."""

    def logits(self, weights: torch.Tensor) -> torch.Tensor:
        """Return the batch's logits, label-major: (K, b)."""

    def weight_gradient(
        self,
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
        self._batch = self._rows[:0]

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        return weights

    def take(self, batch: torch.Tensor) -> None:
        self._batch = self._rows.index_select(0, batch)  # (b, d + 1)

    def logits(self, weights: torch.Tensor) -> torch.Tensor:
        return torch.mm(weights, self._batch.t())  # (K, d + 1) @ (d + 1, b)

    def weight_gradient(
        self,
        logit_gradient: torch.Tensor,
        weights: torch.Tensor,
        weight_decay: float,
        *,
        out: torch.Tensor,
    ) -> None:
        torch.addmm(
            weights,
            logit_gradient,  # (K, b) @ (b, d + 1)
            self._batch,
            beta=weight_decay,
            alpha=1 / self._batch.shape[0],
            out=out,
        )


class _SparseRows:
    """Rows of a CSR matrix on the CPU, multiplied by SciPy; weights are (d + 1, K)."""

    def __init__(self, X: sparse.csr_array) -> None:
        self._rows: sparse.csr_array = X.astype(np.float32, copy=False)
        self._batch = self._rows[:0]

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        return weights.t().contiguous()

    def take(self, batch: torch.Tensor) -> None:
        self._batch = self._rows[batch.numpy()]

    def logits(self, weights: torch.Tensor) -> torch.Tensor:
        array = weights.numpy()
        return torch.from_numpy(self._batch @ array[:-1] + array[-1]).t()

    def weight_gradient(
        self,
        logit_gradient: torch.Tensor,
        weights: torch.Tensor,
        weight_decay: float,
        *,
        out: torch.Tensor,
    ) -> None:
        mean = (logit_gradient.t() / logit_gradient.shape[1]).contiguous()  # (b, K)
        product = torch.from_numpy(self._batch.T @ mean.numpy())
        torch.add(product, weights[:-1], alpha=weight_decay, out=out[:-1])
        torch.add(mean.sum(dim=0), weights[-1], alpha=weight_decay, out=out[-1])


class _DensifiedRows(_DenseRows):
    """Rows of a CSR matrix for a device other than the CPU, made dense a batch at a time."""

    def __init__(self, X: sparse.csr_array, device: torch.device) -> None:
        self._csr = X
        self._device = device
        self._batch = torch.empty(0, device=device)

    def take(self, batch: torch.Tensor) -> None:
        dense = torch.from_numpy(self._csr[batch.cpu().numpy()].toarray())
        self._batch = torch.ones((len(batch), self._csr.shape[1] + 1), device=self._device)
        self._batch[:, :-1] = dense


def row_source(X: NDArray[np.floating[Any]] | sparse.csr_array, device: torch.device) -> RowSource:
    """Choose how batches of ``X`` are multiplied on a device."""
    if not sparse.issparse(X):
        return _DenseRows(X, device)
    return _SparseRows(X) if device.type == "cpu" else _DensifiedRows(X, device)
