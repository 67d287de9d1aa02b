"""Stochastic gradient descent for one parameter tensor whose gradient is at hand."""

from __future__ import annotations

import torch


class SGD:
    """Update one tensor in place as ``torch.optim.SGD`` does with momentum.

    Made for the reason that :class:`complabel._training._adam.Adam` is: a linear model's step is
    too short for bookkeeping. Weight decay is left to the caller.

    Parameters
    ----------
    parameter : tensor
        Updated in place.
    learning_rate : float
    momentum : float
        Share of the last step's direction kept; 0 is plain gradient descent.

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
