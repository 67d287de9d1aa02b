"""Mini-batch training of any torch network through autograd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.losses import LogitLoss
    from complabel.training._schedule import EpochCallback, Schedule

PREDICTION_BATCH = 4096


def train_network(
    network: torch.nn.Module,
    X: NDArray[np.floating[Any]] | sparse.csr_array,
    targets: Sequence[NDArray[Any]],
    *,
    loss: LogitLoss,
    schedule: Schedule,
    generator: torch.Generator,
    device: torch.device,
    on_epoch: EpochCallback | None = None,
) -> None:
    """Train a network in place by mini-batch Adam, in float32.

    Parameters
    ----------
    network : torch.nn.Module
        Maps (b, n_features) to (b, K); moved to the device and left in evaluation mode.
    X, targets, loss, schedule, generator, device, on_epoch
        As for :func:`complabel.training.train_linear`. One batch of sparse rows at a time is
        made dense.
    """
    network.to(device).train()
    loss = loss.to(device)
    indicators = [torch.from_numpy(np.asarray(t, dtype=np.float32)).to(device) for t in targets]
    n_samples = X.shape[0]
    optimizer = torch.optim.Adam(
        network.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay
    )
    for epoch in range(schedule.epochs):
        order = torch.randperm(n_samples, generator=generator)
        total = 0.0
        for batch in torch.split(order, schedule.batch_size):
            on_device = batch.to(device)
            value = loss(
                network(_dense_rows(X, batch.numpy(), device)),
                *(indicator[on_device] for indicator in indicators),
            )
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            total += float(value) * len(batch) if on_epoch is not None else 0.0
        if on_epoch is not None:
            on_epoch(epoch + 1, schedule.epochs, total / n_samples)
    network.eval()


def network_outputs(
    network: torch.nn.Module,
    X: NDArray[np.floating[Any]] | sparse.csr_array,
    *,
    device: torch.device,
) -> NDArray[np.float64]:
    """Return a network's outputs for every row, computed in batches.

    Parameters
    ----------
    network : torch.nn.Module
        In evaluation mode.
    X : ndarray or CSR array of shape (n_samples, n_features)
    device : torch.device

    Returns
    -------
    ndarray of shape (n_samples, K), float64
    """
    network.to(device)
    with torch.inference_mode():
        blocks = [
            network(_dense_rows(X, slice(start, start + PREDICTION_BATCH), device)).cpu().numpy()
            for start in range(0, X.shape[0], PREDICTION_BATCH)
        ]
    return np.concatenate(blocks).astype(np.float64)


def _dense_rows(
    X: NDArray[np.floating[Any]] | sparse.csr_array,
    rows: NDArray[np.int64] | slice,
    device: torch.device,
) -> torch.Tensor:
    """Copy some rows to a dense float32 tensor on the device."""
    block = X[rows]
    dense = block.toarray() if sparse.issparse(block) else block
    return torch.from_numpy(np.ascontiguousarray(dense, dtype=np.float32)).to(device)
