"""Adam for one parameter tensor whose gradient is at hand."""

from __future__ import annotations

import torch


class Adam:
    """Update one tensor in place as ``torch.optim.Adam`` does with its default moments.

    A linear model's step is a few dozen microseconds; ``torch.optim.Adam``'s bookkeeping per
    step, which serves many parameters and options, would cost several times that. Weight decay
    is left to the caller, who can fuse it into the product that makes the gradient.

    Parameters
    ----------
    parameter : tensor
        Updated in place.
    learning_rate : float

    References
    ----------
    Kingma and Ba, "Adam: A Method for Stochastic Optimization", Algorithm 1, in the efficient
    order of its section 2.
    """

    FIRST_DECAY = 0.9
    SECOND_DECAY = 0.999
    EPSILON = 1e-8

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
        self._first.lerp_(gradient, 1 - self.FIRST_DECAY)
        self._second.mul_(self.SECOND_DECAY)
        self._second.addcmul_(gradient, gradient, value=1 - self.SECOND_DECAY)
        first_bias = 1 - self.FIRST_DECAY**self._step
        second_bias = (1 - self.SECOND_DECAY**self._step) ** 0.5
        torch.sqrt(self._second, out=self._scale).add_(self.EPSILON * second_bias)
        rate = self.learning_rate * second_bias / first_bias
        self.parameter.addcdiv_(self._first, self._scale, value=-rate)
