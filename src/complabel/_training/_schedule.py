"""What a run of gradient descent consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from complabel._parameters import Constraints, Integer, Real, check_integer, check_parameters
from complabel.errors import InputError

EpochCallback = Callable[[int, int, float], None]
"""Called after every epoch with the epoch (from 1), the number of epochs and the mean loss."""

# What a milestone multiplies the learning rate by, in all the papers.
MILESTONE_FACTOR = 0.1


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Settings of mini-batch gradient descent.

    Parameters
    ----------
    epochs : int, default=200
        Passes over the data.
    batch_size : int, default=256
        Instances per step.
    learning_rate : float, default=0.01
    weight_decay : float, default=1e-4
        Coupled, as in ``torch.optim.Adam``: added to the gradient of every parameter.
    optimizer : {"adam", "sgd"}, default="adam"
    momentum : float, default=0.9
        In [0, 1). Only used with ``optimizer="sgd"``; ``"adam"`` has its own.
    milestones : sequence of int, default=()
        The learning rate is multiplied by 0.1 after each of these numbers of epochs.

    Raises
    ------
    InputError
        If a value is out of range.

    Examples
    --------
    >>> schedule = Schedule(learning_rate=0.5, milestones=(100, 150))
    >>> [schedule.learning_rate_in(epoch) for epoch in (1, 100, 101)]
    [0.5, 0.5, 0.05]
    """

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
        """Return the learning rate used in an epoch, counted from 1."""
        passed = sum(milestone < epoch for milestone in self.milestones)
        return self.learning_rate * MILESTONE_FACTOR**passed
