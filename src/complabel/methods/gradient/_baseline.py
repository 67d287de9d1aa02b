"""What the gradient-trained baselines share: SGD with milestones, and a cut of each row's range."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from complabel._training import Schedule
from complabel.methods.gradient._base import GradientClassifier, NetworkFactory, ProgressCallback

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.losses import LogitLoss
    from complabel.methods._base import Features


class GradientBaseline(GradientClassifier):
    """Base of one-step methods: a loss of logits and complementary labels, minimized by SGD.

    A subclass implements ``_loss``.
    """

    def __init__(
        self,
        *,
        network: NetworkFactory | None = None,
        optimizer: str = "sgd",
        learning_rate: float = 0.01,
        weight_decay: float = 1e-3,
        momentum: float = 0.9,
        milestones: Sequence[int] = (100, 150),
        batch_size: int = 256,
        epochs: int = 200,
        threshold: str = "minmax",
        cut: float = 0.5,
        device: str = "auto",
        random_state: int | np.random.Generator | None = None,
        callback: ProgressCallback | None = None,
    ) -> None:
        super().__init__(
            network=network,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            epochs=epochs,
            threshold=threshold,
            device=device,
            random_state=random_state,
            callback=callback,
        )
        self.optimizer = optimizer
        self.momentum = momentum
        self.milestones = milestones
        self.cut = cut

    @abstractmethod
    def _loss(self) -> LogitLoss:
        """Return the loss to minimize, of logits and complementary labels."""

    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        del relevant
        self.model_ = self._train(
            X,
            self._loss(),
            {"complementary": complementary},
            generator=self._generator(),
            stage="classifier",
        )

    def _schedule(self) -> Schedule:
        return Schedule(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            optimizer=self.optimizer,
            momentum=self.momentum,
            milestones=self.milestones,
        )
