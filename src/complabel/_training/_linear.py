"""Mini-batch training of a linear map by matrix products, without autograd."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from complabel._training._descent import optimizer_of_tensor
from complabel._training._device import denormals_as_zero, no_autocast
from complabel._training._map import LinearMap
from complabel._training._rows import row_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training._descent import EpochCallback, Schedule
    from complabel._training._rows import Features
    from complabel.losses import LogitLoss


def train_linear(
    X: Features,
    loss: LogitLoss,
    labels: Mapping[str, NDArray[Any]],
    *,
    schedule: Schedule,
    generator: torch.Generator,
    device: torch.device,
    on_epoch: EpochCallback | None = None,
    initial_bias: float | None = None,
) -> LinearMap:
    """Fit a linear map by mini-batch gradient descent, in float32.

    Up to rounding, the result equals that of ``torch.nn.Linear``, ``torch.optim.Adam`` or ``SGD``
    and ``MultiStepLR`` in a shuffled loop over the same batches. On the CPU, sparse features are
    never made dense; on other devices, one batch at a time is made dense.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
    loss : LogitLoss
    labels : mapping of str to ndarray of shape (n, K)
        Indicators under the names of the loss's arguments.
    schedule : Schedule
    generator : torch.Generator
        It draws the initial weights and the order of each epoch; it must be on the CPU.
    device : torch.device
    on_epoch : callable or None, default=None
        See ``EpochCallback``. The value of the loss is computed only if this is given.
    initial_bias : float or None, default=None
        Initial value of all biases; None leaves them random.

    Returns
    -------
    LinearMap
    """
    loss = loss.to(device)  # outside inference mode, because a loss may use autograd
    # In inference mode tensors skip version counting, which takes a third of a small step's time.
    with torch.inference_mode(), denormals_as_zero(), no_autocast(device):
        # Contiguous (K, n): on the CPU, both products of a step are fastest with this layout.
        by_label = [_label_major(matrix, device) for matrix in labels.values()]
        rows = row_source(X, device)
        weights = _initial_weights(X.shape[1], len(by_label[0]), generator).to(device)
        if initial_bias is not None:
            weights[:, -1] = initial_bias
        weights = rows.arrange(weights)
        gradient, decay = torch.empty_like(weights), schedule.weight_decay
        optimizer = optimizer_of_tensor(weights, schedule)
        for epoch in range(1, schedule.epochs + 1):
            optimizer.learning_rate = schedule.learning_rate_in(epoch)
            order = torch.randperm(X.shape[0], generator=generator, device="cpu").to(device)
            shuffled = (matrix.index_select(1, order).t() for matrix in by_label)  # (n, K) views
            split = zip(*(torch.split(view, schedule.batch_size) for view in shuffled), strict=True)
            total = 0.0
            for batch, parts in zip(rows.batches(order, schedule.batch_size), split, strict=True):
                named = dict(zip(labels, parts, strict=True))
                logits = rows.logits(batch, weights)  # (b, K)
                if on_epoch is not None:
                    total += float(loss(logits, **named)) * len(logits)
                through_logits = loss.logit_gradient(logits, **named)  # (b, K)
                rows.weight_gradient(batch, through_logits, weights, decay=decay, out=gradient)
                optimizer.step(gradient)
            if on_epoch is not None:
                on_epoch(epoch, schedule.epochs, total / X.shape[0])
        augmented = rows.arrange(weights).cpu().numpy().astype(np.float64)  # (K, d + 1)
    return LinearMap(coef=augmented[:, :-1].copy(), intercept=augmented[:, -1].copy())


def _label_major(matrix: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Copy an (n, K) indicator to a contiguous (K, n) float32 tensor."""
    return torch.from_numpy(np.ascontiguousarray(matrix.T, dtype=np.float32)).to(device)


def _initial_weights(n_features: int, n_labels: int, generator: torch.Generator) -> torch.Tensor:
    """Draw weights and biases, (K, d + 1), as torch.nn.Linear does: uniform in +-1/sqrt(d)."""
    bound = n_features**-0.5
    # Type and device are explicit, so the caller's defaults of torch do not matter.
    weights = torch.empty((n_labels, n_features + 1), dtype=torch.float32, device="cpu")
    return weights.uniform_(-bound, bound, generator=generator)
