"""Mini-batch training of any torch network through autograd."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse

from complabel._training._device import no_autocast
from complabel._training._optimizers import optimizer_of_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training._schedule import EpochCallback, Schedule
    from complabel.losses import LogitLoss

# Rows predicted at once: enough to keep a processor busy, few enough for wide layers.
PREDICTION_BATCH = 4096


def train_network(
    network: torch.nn.Module,
    X: NDArray[np.floating[Any]] | sparse.csr_array,
    loss: LogitLoss,
    labels: Mapping[str, NDArray[Any]],
    *,
    schedule: Schedule,
    generator: torch.Generator,
    device: torch.device,
    on_epoch: EpochCallback | None = None,
) -> None:
    """Train a network in place by mini-batch gradient descent, in float32.

    Parameters
    ----------
    network : torch.nn.Module
        Maps (b, n_features) to (b, K); moved to the device and left in evaluation mode.
    X, loss, labels, schedule, generator, device, on_epoch
        As for :func:`complabel._training.train_linear`. One batch of sparse rows at a time is
        made dense.
    """
    # Whatever mode the caller's program is in.
    with torch.inference_mode(False), torch.enable_grad(), no_autocast(device):
        network.to(device).train()
        loss = loss.to(device)
        tensors = {
            name: torch.from_numpy(np.asarray(matrix, dtype=np.float32)).to(device)
            for name, matrix in labels.items()
        }
        optimizer = optimizer_of_network(network, schedule)
        for epoch in range(1, schedule.epochs + 1):
            for group in optimizer.param_groups:
                group["lr"] = schedule.learning_rate_in(epoch)
            order = torch.randperm(X.shape[0], generator=generator, device="cpu")
            total = 0.0
            for rows in torch.split(order, schedule.batch_size):
                on_device = rows.to(device)
                named = {name: tensor[on_device] for name, tensor in tensors.items()}
                value = loss(network(_dense_rows(X, rows.numpy(), device)), **named)
                optimizer.zero_grad()
                value.backward()
                optimizer.step()
                if on_epoch is not None:
                    total += value.item() * len(rows)
            if on_epoch is not None:
                on_epoch(epoch, schedule.epochs, total / X.shape[0])
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
    with torch.inference_mode(), no_autocast(device):
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
