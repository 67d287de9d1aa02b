"""Mini-batch training of any torch network through autograd."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import gen_batches

from complabel._training._descent import optimizer_of_network
from complabel._training._device import no_autocast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training._descent import EpochCallback, Schedule
    from complabel._training._rows import Features
    from complabel.losses import LogitLoss

# Rows predicted at once. Fewer would leave the processor idle between batches; more would need
# much memory for wide layers.
PREDICTION_BATCH = 4096


Objective = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Takes the outputs (b, K) for a batch and its rows (b,), and returns the mean loss of a row."""


def train_network(
    network: torch.nn.Module,
    X: Features,
    loss: LogitLoss,
    labels: Mapping[str, NDArray[Any]],
    *,
    device: torch.device,
    **settings: Any,
) -> None:
    """Train a network by a loss of labels; the parameters are those of :func:`train_linear`.

    The network is trained in place by :func:`descend`.
    """
    with torch.inference_mode(False):
        loss = loss.to(device)
        tensors = {
            name: torch.from_numpy(np.asarray(matrix, dtype=np.float32)).to(device)
            for name, matrix in labels.items()
        }

    def objective(outputs: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = loss(
            outputs, **{name: tensor[rows] for name, tensor in tensors.items()}
        )
        return found

    descend(network, X, objective, device=device, **settings)


def descend(
    network: torch.nn.Module,
    X: Features,
    objective: Objective,
    *,
    schedule: Schedule,
    generator: torch.Generator,
    device: torch.device,
    on_epoch: EpochCallback | None = None,
    others: Sequence[torch.nn.Parameter] = (),
) -> None:
    """Train a network in place; its inputs are (b, ...) as the rows of X, its outputs (b, K).

    Afterwards the network is on the device and in evaluation mode. Sparse rows are made dense one
    batch at a time.

    Parameters
    ----------
    network : torch.nn.Module
    X : ndarray of shape (n, ...) or CSR array of shape (n, d)
    objective : callable
        See ``Objective``.
    schedule, generator, device, on_epoch
        As for :func:`train_linear`.
    others : sequence of torch.nn.Parameter, default=()
        Further parameters of the objective, on the device. They are trained without weight decay.
    """
    # The caller's program may have set another mode.
    with torch.inference_mode(False), torch.enable_grad(), no_autocast(device):
        network.to(device).train()
        optimizer = optimizer_of_network(network, schedule)
        if others:
            optimizer.add_param_group({"params": list(others), "weight_decay": 0.0})
        for epoch in range(1, schedule.epochs + 1):
            for group in optimizer.param_groups:
                group["lr"] = schedule.learning_rate_in(epoch)
            order = torch.randperm(X.shape[0], generator=generator, device="cpu")
            total = 0.0
            for rows in torch.split(order, schedule.batch_size):
                outputs = network(_dense_rows(X, rows.numpy(), device))
                value = objective(outputs, rows.to(device))
                optimizer.zero_grad()
                value.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                if on_epoch is not None:
                    total += value.item() * len(rows)
            if on_epoch is not None:
                on_epoch(epoch, schedule.epochs, total / X.shape[0])
        network.eval()


def set_output_bias(network: torch.nn.Module, n_labels: int, value: float) -> bool:
    """Set the K biases of a network's last layer in place; return whether it has them."""
    last = [layer for layer in network.modules() if any(True for _ in layer.parameters(False))][-1:]
    bias = getattr(last[0], "bias", None) if last else None
    if not isinstance(bias, torch.Tensor) or tuple(bias.shape) != (n_labels,):
        return False
    with torch.no_grad():
        bias.fill_(value)
    return True


def network_outputs(
    network: torch.nn.Module, X: Features, *, device: torch.device
) -> NDArray[np.float64]:
    """Return the outputs (n, K) of a network in evaluation mode, computed in batches."""
    network.to(device)
    with torch.inference_mode(), no_autocast(device):
        blocks = [
            network(_dense_rows(X, rows, device)).cpu().numpy()
            for rows in gen_batches(X.shape[0], PREDICTION_BATCH)
        ]
    return np.concatenate(blocks).astype(np.float64)


def _dense_rows(X: Features, rows: NDArray[np.int64] | slice, device: torch.device) -> torch.Tensor:
    """Copy some rows to a dense float32 tensor on the device."""
    block = X[rows]
    dense = block.toarray() if sparse.issparse(block) else block
    return torch.from_numpy(np.ascontiguousarray(dense, dtype=np.float32)).to(device)
