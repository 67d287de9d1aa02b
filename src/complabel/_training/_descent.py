"""Mini-batch gradient descent of networks, and the schedule and optimizers of linear maps, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches
from torch import Tensor

from complabel._parameters import (
    AnyArray,
    Array,
    Constraints,
    Integer,
    Real,
    check_integer,
    check_parameters,
)
from complabel._training._map import Features
from complabel.errors import InputError
from complabel.losses import LogitLoss, no_autocast

EpochCallback = Callable[[int, int, float], None]
"""Called after every epoch with the epoch (from 1), the number of epochs and the mean loss."""

Objective = Callable[[Tensor, Tensor], Tensor]
"""Takes the outputs (b, K) for a batch and its rows (b,), and returns the mean loss of a row."""

Rate: TypeAlias = float | Tensor
"""A learning rate; for stacked parameters (B, ...), also rates (B, 1, 1) in double precision."""

# A milestone multiplies the learning rate by this factor, as in all the papers.
MILESTONE_FACTOR = 0.1
# Defaults of torch.optim.Adam.
_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8
# Rows predicted at once. Fewer would leave the processor idle between batches; more would need
# much memory for wide layers.
PREDICTION_BATCH = 4096


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Checked settings of mini-batch gradient descent, named like the parameters of classifiers."""

    epochs: int = 200
    batch_size: int = 256
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    optimizer: str = "adam"
    momentum: float = 0.9
    milestones: Sequence[int] = ()

    _constraints: ClassVar[Constraints] = {
        "epochs": Integer(at_least=1),
        "batch_size": Integer(at_least=1),
        "learning_rate": Real(above=0),
        "weight_decay": Real(at_least=0),
        "optimizer": ("adam", "sgd"),
        "momentum": Real(at_least=0, below=1),
    }

    def __post_init__(self) -> None:
        check_parameters(self)
        if not isinstance(self.milestones, Sequence):
            raise InputError(f"milestones must be a sequence of epochs, got {self.milestones!r}")
        for milestone in self.milestones:
            check_integer("milestones", milestone, at_least=1)

    def learning_rate_in(self, epoch: int) -> float:
        passed = sum(milestone < epoch for milestone in self.milestones)
        return self.learning_rate * MILESTONE_FACTOR**passed


class Adam:
    """Update one tensor in place as ``torch.optim.Adam`` does with its default moments.

    With the bookkeeping of torch's optimizers, training on few labels takes 1.4 to 2 times as long
    (docs/evidence/training-speed.md). The caller adds the weight decay to the gradient: it costs
    nothing in the matrix product. Source: Kingma and Ba, "Adam: A Method for Stochastic
    Optimization", Algorithm 1, in the efficient order of its section 2.
    """

    def __init__(self, parameter: Tensor, *, learning_rate: Rate) -> None:
        self.parameter = parameter
        self.learning_rate = learning_rate
        self._first = torch.zeros_like(parameter)
        self._second = torch.zeros_like(parameter)
        self._scale = torch.empty_like(parameter)
        self._step = 0

    def step(self, gradient: Tensor) -> None:
        self._step += 1
        self._first.lerp_(gradient, 1 - _FIRST_DECAY)
        self._second.mul_(_SECOND_DECAY)
        self._second.addcmul_(gradient, gradient, value=1 - _SECOND_DECAY)
        first_bias = 1 - _FIRST_DECAY**self._step
        second_bias = (1 - _SECOND_DECAY**self._step) ** 0.5
        torch.sqrt(self._second, out=self._scale).add_(_EPSILON * second_bias)
        rate = self.learning_rate * second_bias / first_bias
        if isinstance(rate, Tensor):
            self.parameter.addcdiv_(self._first * -rate.float(), self._scale)
        else:
            self.parameter.addcdiv_(self._first, self._scale, value=-rate)


class SGD:
    """Update one tensor in place as ``torch.optim.SGD`` does with momentum."""

    # Sutskever, Martens, Dahl and Hinton, "On the Importance of Initialization and Momentum in Deep
    # Learning", eq. 1, with the learning rate applied to the whole step as torch does.

    def __init__(self, parameter: Tensor, *, learning_rate: Rate, momentum: float) -> None:
        self.parameter = parameter
        self.learning_rate = learning_rate
        self._momentum = momentum
        self._direction = torch.zeros_like(parameter)

    def step(self, gradient: Tensor) -> None:
        torch.add(gradient, self._direction, alpha=self._momentum, out=self._direction)
        if isinstance(self.learning_rate, Tensor):
            self.parameter.addcmul_(self._direction, -self.learning_rate.float())
        else:
            self.parameter.add_(self._direction, alpha=-self.learning_rate)


def optimizer_of_tensor(weights: Tensor, schedule: Schedule) -> Adam | SGD:
    if schedule.optimizer == "sgd":
        return SGD(weights, learning_rate=schedule.learning_rate, momentum=schedule.momentum)
    return Adam(weights, learning_rate=schedule.learning_rate)


class Optimizers:
    """Update parameters in place by their gradients, each by its own optimizer.

    Those of ``torch.optim`` load torch's compiler when the first one is made, which takes seconds.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._parts: list[tuple[Adam | SGD, float]] = []

    def add(self, parameters: Iterable[torch.nn.Parameter], *, decay: float = 0.0) -> None:
        self._parts += [(optimizer_of_tensor(each, self._schedule), decay) for each in parameters]

    def begin(self, epoch: int) -> None:
        for optimizer, _ in self._parts:
            optimizer.learning_rate = self._schedule.learning_rate_in(epoch)

    def step(self) -> None:
        with torch.no_grad():
            for optimizer, decay in self._parts:
                gradient = optimizer.parameter.grad
                if gradient is not None:  # else no output depends on it
                    optimizer.step(gradient.add(optimizer.parameter, alpha=decay))
                    optimizer.parameter.grad = None


def train_network(
    network: torch.nn.Module,
    X: Features,
    loss: LogitLoss,
    labels: Mapping[str, AnyArray],
    *,
    device: torch.device,
    **settings: Any,
) -> None:
    """Train a network in place by a loss of labels; parameters are those of ``train_linear``."""
    with torch.inference_mode(False):
        loss = loss.to(device)
        tensors = {
            name: torch.from_numpy(np.asarray(matrix, dtype=np.float32)).to(device)
            for name, matrix in labels.items()
        }

    def objective(outputs: Tensor, rows: Tensor) -> Tensor:
        of_rows = {name: tensor[rows] for name, tensor in tensors.items()}
        value: Tensor = loss(outputs, **of_rows)
        return value

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
    """Train a network in place; its inputs are (b, ...) as the rows of X, its outputs (b, K)."""
    # Afterwards it is on the device and in evaluation mode. ``others`` are further parameters of
    # the objective, on the device; they are trained without weight decay.
    # The caller's program may have set another mode.
    with torch.inference_mode(False), torch.enable_grad(), no_autocast(device):
        network.to(device).train()
        optimizers = Optimizers(schedule)
        optimizers.add(network.parameters(), decay=schedule.weight_decay)
        optimizers.add(others)
        for epoch in range(1, schedule.epochs + 1):
            optimizers.begin(epoch)
            order = torch.randperm(X.shape[0], generator=generator, device="cpu")
            total = 0.0
            for rows in torch.split(order, schedule.batch_size):
                outputs = network(_dense_rows(X, rows.numpy(), device))
                value = objective(outputs, rows.to(device))
                value.backward()  # type: ignore[no-untyped-call]
                optimizers.step()
                if on_epoch is not None:
                    total += value.item() * len(rows)
            if on_epoch is not None:
                on_epoch(epoch, schedule.epochs, total / X.shape[0])
        network.eval()


def set_output_bias(network: torch.nn.Module, n_labels: int, value: float) -> bool:
    """Set the K biases of a network's last layer in place; return whether it has them."""
    last = [layer for layer in network.modules() if any(True for _ in layer.parameters(False))][-1:]
    bias = getattr(last[0], "bias", None) if last else None
    if not isinstance(bias, Tensor) or tuple(bias.shape) != (n_labels,):
        return False
    with torch.no_grad():
        bias.fill_(value)
    return True


def network_outputs(network: torch.nn.Module, X: Features, *, device: torch.device) -> Array:
    """Return the outputs (n, K) of a network in evaluation mode, computed in batches."""
    network.to(device)
    with torch.inference_mode(), no_autocast(device):
        blocks = [
            network(_dense_rows(X, rows, device)).cpu().numpy()
            for rows in gen_batches(X.shape[0], PREDICTION_BATCH)
        ]
    return np.concatenate(blocks).astype(np.float64)


def _dense_rows(X: Features, rows: NDArray[np.int64] | slice, device: torch.device) -> Tensor:
    block = X[rows]
    dense = block.toarray() if sparse.issparse(block) else block
    return torch.from_numpy(np.ascontiguousarray(dense, dtype=np.float32)).to(device)
