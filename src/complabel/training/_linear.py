"""Mini-batch training of a linear map without autograd: matrix products and little else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from scipy import sparse

from complabel.training._adam import Adam

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.losses import LogitLoss
    from complabel.training._schedule import EpochCallback, Schedule


@dataclass(frozen=True)
class LinearMap:
    """Weights and biases of K linear functions.

    Parameters
    ----------
    coef : ndarray of shape (K, n_features), float64
    intercept : ndarray of shape (K,), float64
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def __call__(self, X: NDArray[np.floating[Any]] | sparse.csr_array) -> NDArray[np.float64]:
        """Return the logits of each row of ``X``, shape (n_samples, K)."""
        logits: NDArray[np.float64] = X @ self.coef.T + self.intercept
        return logits


def train_linear(
    X: NDArray[np.floating[Any]] | sparse.csr_array,
    targets: Sequence[NDArray[Any]],
    *,
    loss: LogitLoss,
    schedule: Schedule,
    generator: torch.Generator,
    device: torch.device,
    on_epoch: EpochCallback | None = None,
) -> LinearMap:
    """Fit a linear map by mini-batch Adam, in float32.

    The result is what ``torch.nn.Linear``, ``torch.optim.Adam`` and a shuffled loop over the
    same batches give, up to rounding.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Sparse input is never made dense on CPU; on other devices one batch at a time is.
    targets : sequence of ndarrays of shape (n_samples, K)
        What the loss takes after the logits.
    loss : LogitLoss
    schedule : Schedule
    generator : torch.Generator
        Of the CPU: initial weights and the order of instances in each epoch.
    device : torch.device
    on_epoch : callable or None, default=None
        See :data:`EpochCallback`. The loss is only computed where it is given.

    Returns
    -------
    LinearMap
    """
    # Tensors made inside inference mode skip version counting, a third of a small step's time.
    with torch.inference_mode():
        n_samples, n_features = X.shape
        labels = [_label_major(target, device) for target in targets]  # each (K, n)
        rows = _row_source(X, device)
        weights = _initial_weights(n_features, labels[0].shape[0], generator).to(device)
        weights = rows.arrange(weights)
        gradient = torch.empty_like(weights)
        optimizer = Adam(weights, learning_rate=schedule.learning_rate)
        loss = loss.to(device)
        for epoch in range(schedule.epochs):
            order = torch.randperm(n_samples, generator=generator).to(device)
            batches = torch.split(order, schedule.batch_size)
            shuffled = zip(
                *(
                    torch.split(target.index_select(1, order), schedule.batch_size, dim=1)
                    for target in labels
                ),
                strict=True,
            )
            total = 0.0
            for batch, batch_targets in zip(batches, shuffled, strict=True):  # (b,), each (K, b)
                rows.take(batch)
                logits = rows.logits(weights)  # (K, b)
                if on_epoch is not None:
                    value = loss(logits.t(), *(target.t() for target in batch_targets))
                    total += float(value) * len(batch)
                rows.weight_gradient(
                    loss.logit_gradient(logits, *batch_targets),
                    weights,
                    schedule.weight_decay,
                    out=gradient,
                )
                optimizer.step(gradient)
            if on_epoch is not None:
                on_epoch(epoch + 1, schedule.epochs, total / n_samples)
        augmented = rows.arrange(weights).cpu().numpy().astype(np.float64)  # (K, d + 1)
    return LinearMap(coef=augmented[:, :-1].copy(), intercept=augmented[:, -1].copy())


class _RowSource(Protocol):
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
        self._rows = torch.empty((n_samples, n_features + 1), device=device)
        self._rows[:, :-1] = torch.from_numpy(np.ascontiguousarray(X))
        self._rows[:, -1] = 1.0
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
        ones = sparse.csr_array(np.ones((X.shape[0], 1), dtype=np.float32))
        self._rows: sparse.csr_array = sparse.hstack([X.astype(np.float32), ones], format="csr")
        self._batch = self._rows[:0]

    def arrange(self, weights: torch.Tensor) -> torch.Tensor:
        return weights.t().contiguous()

    def take(self, batch: torch.Tensor) -> None:
        self._batch = self._rows[batch.numpy()]

    def logits(self, weights: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self._batch @ weights.numpy()).t()

    def weight_gradient(
        self,
        logit_gradient: torch.Tensor,
        weights: torch.Tensor,
        weight_decay: float,
        *,
        out: torch.Tensor,
    ) -> None:
        mean = (logit_gradient.t() / logit_gradient.shape[1]).contiguous().numpy()  # (b, K)
        product = torch.from_numpy(self._batch.T @ mean)
        torch.add(product, weights, alpha=weight_decay, out=out)


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


def _row_source(
    X: NDArray[np.floating[Any]] | sparse.csr_array, device: torch.device
) -> _RowSource:
    """Choose how batches of ``X`` are multiplied on a device."""
    if not sparse.issparse(X):
        return _DenseRows(X, device)
    return _SparseRows(X) if device.type == "cpu" else _DensifiedRows(X, device)


def _label_major(target: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Copy an (n, K) indicator to a contiguous (K, n) float32 tensor."""
    return torch.from_numpy(np.ascontiguousarray(target.T, dtype=np.float32)).to(device)


def _initial_weights(n_features: int, n_labels: int, generator: torch.Generator) -> torch.Tensor:
    """Draw weights and biases, (K, d + 1), as torch.nn.Linear does: uniform in +-1/sqrt(d)."""
    bound = n_features**-0.5
    return torch.empty((n_labels, n_features + 1)).uniform_(-bound, bound, generator=generator)
