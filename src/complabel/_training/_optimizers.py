"""Adam and SGD: our own for one tensor whose gradient is at hand, torch's for a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from complabel._training._schedule import Schedule

# Defaults of torch.optim.Adam.
_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Update one tensor in place as ``torch.optim.Adam`` does with its default moments.

    A linear model's step takes a few dozen microseconds. The bookkeeping of ``torch.optim.Adam``
    makes a training with few labels 1.4 to 1.8 times as long, fused or not, as
    ``benchmarks/optimizers.py`` shows. Weight decay is left to the caller, who can fuse it into
    the product that makes the gradient.

    References
    ----------
    Kingma and Ba, "Adam: A Method for Stochastic Optimization", Algorithm 1, in the efficient
    order of its section 2.
    """

    def __init__(self, parameter: torch.Tensor, *, learning_rate: float) -> None:
        self.parameter = parameter
        self.learning_rate = learning_rate
        self._first = torch.zeros_like(parameter)
        self._second = torch.zeros_like(parameter)
        self._scale = torch.empty_like(parameter)
        self._step = 0

    def step(self, gradient: torch.Tensor) -> None:
        """Take one step along a gradient of the parameter's shape."""
        self._step += 1
        self._first.lerp_(gradient, 1 - _FIRST_DECAY)
        self._second.mul_(_SECOND_DECAY)
        self._second.addcmul_(gradient, gradient, value=1 - _SECOND_DECAY)
        first_bias = 1 - _FIRST_DECAY**self._step
        second_bias = (1 - _SECOND_DECAY**self._step) ** 0.5
        torch.sqrt(self._second, out=self._scale).add_(_EPSILON * second_bias)
        rate = self.learning_rate * second_bias / first_bias
        self.parameter.addcdiv_(self._first, self._scale, value=-rate)


class SGD:
    """Update one tensor in place as ``torch.optim.SGD`` does with momentum.

    It is here for the same reason as :class:`Adam`; ``torch.optim.SGD`` takes 1.4 to 2 times as
    long.

    References
    ----------
    Sutskever, Martens, Dahl and Hinton, "On the Importance of Initialization and Momentum in
    Deep Learning", eq. 1, with the learning rate applied to the whole step as torch does.
    """

    def __init__(self, parameter: torch.Tensor, *, learning_rate: float, momentum: float) -> None:
        self.parameter = parameter
        self.learning_rate = learning_rate
        self._momentum = momentum
        self._direction = torch.zeros_like(parameter)

    def step(self, gradient: torch.Tensor) -> None:
        """Take one step along a gradient of the parameter's shape."""
        torch.add(gradient, self._direction, alpha=self._momentum, out=self._direction)
        self.parameter.add_(self._direction, alpha=-self.learning_rate)


def optimizer_of_tensor(weights: torch.Tensor, schedule: Schedule) -> Adam | SGD:
    """Return what updates one tensor; its weight decay is the caller's."""
    if schedule.optimizer == "sgd":
        return SGD(weights, learning_rate=schedule.learning_rate, momentum=schedule.momentum)
    return Adam(weights, learning_rate=schedule.learning_rate)


def optimizer_of_network(network: torch.nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    """Return torch's optimizer for all parameters of a network."""
    rate, decay = schedule.learning_rate, schedule.weight_decay
    parameters = network.parameters()
    if schedule.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=rate, weight_decay=decay, momentum=schedule.momentum)
    return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)
