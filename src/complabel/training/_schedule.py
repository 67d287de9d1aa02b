"""What a run of gradient descent consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from complabel.errors import InputError

EpochCallback = Callable[[int, int, float], None]
"""Called after every epoch with the epoch (from 1), the number of epochs and the mean loss."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Settings of mini-batch Adam.

    Parameters
    ----------
    epochs : int, default=200
        Passes over the data.
    batch_size : int, default=256
        Instances per step.
    learning_rate : float, default=0.01
    weight_decay : float, default=1e-4
        Coupled, as in ``torch.optim.Adam``: added to the gradient of every parameter.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    epochs: int = 200
    batch_size: int = 256
    learning_rate: float = 0.01
    weight_decay: float = 1e-4

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise InputError(f"{name} must be an integer of at least 1, got {value!r}")
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate must be positive, got {self.learning_rate!r}")
        if not self.weight_decay >= 0:
            raise InputError(f"weight_decay must not be negative, got {self.weight_decay!r}")
