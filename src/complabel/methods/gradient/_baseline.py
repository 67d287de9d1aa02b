"""What the gradient-trained baselines share: SGD with milestones, and a cut of each row's range."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from complabel._training import Schedule
from complabel.errors import InputError
from complabel.methods.gradient._base import GradientClassifier, NetworkFactory, ProgressCallback

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.losses import LogitLoss
    from complabel.methods._base import Features


class GradientBaseline(GradientClassifier):
    """Base of one-step methods: a loss of logits and complementary labels, minimized by SGD.

    A subclass implements ``_loss``. Label sets are those whose score exceeds a point of the
    row's own range, and ``decision_function`` is measured from that point.
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
        minmax_cut: float = 0.5,
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
        self.minmax_cut = minmax_cut

    @abstractmethod
    def _loss(self) -> LogitLoss:
        """Return the loss to minimize, of logits and complementary labels."""

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the score f(x) of each label, whatever the rule of ``predict``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), float64
            Each in [0, 1]. After a fit on one class per row, rows sum to 1: the probabilities
            given that exactly one label is relevant.
        """
        validated = self._validate_new(X)
        logits = self._outputs(self.model_, validated)
        scores = special.softmax(logits, axis=1) if self._single else special.expit(logits)
        return np.asarray(scores)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K), int64
            Indicator of the predicted relevant labels. After a fit on one class per row, the
            most probable class, shape (n_samples,).
        """
        decision = self._decision(self._validate_new(X))
        if self._single:
            predicted: NDArray[Any] = self.classes_[decision.argmax(axis=1)]
            return predicted
        return (decision > 0).astype(np.int64)

    def _fit(self, X: Features, labels: NDArray[np.uint8], known: NDArray[np.uint8] | None) -> None:
        del known
        self.model_ = self._train(
            X, [labels], loss=self._loss(), generator=self._generator(), stage="classifier"
        )

    def _decision(self, X: Features) -> NDArray[np.float64]:
        logits = self._outputs(self.model_, X)
        return logits if self.threshold == "probability" else logits - self._cut(logits)

    def _cut(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logit (n, 1) of the point ``minmax_cut`` between a row's extreme scores."""
        lowest = logits.min(axis=1, keepdims=True)
        highest = logits.max(axis=1, keepdims=True)
        low, high = np.log1p(-self.minmax_cut), np.log(self.minmax_cut)
        # In logarithms of the point and of its complement, so that scores near 1 stay apart. What
        # is lost beside the greater term may underflow, whatever the caller has NumPy do then.
        with np.errstate(under="ignore"):
            log_point, log_complement = (
                np.logaddexp(
                    low + special.log_expit(sign * lowest),
                    high + special.log_expit(sign * highest),
                )
                for sign in (1, -1)
            )
        # A row of equal scores has no range and is held against minmax_cut as it is.
        flat = special.logit(self.minmax_cut)
        return np.where(lowest == highest, flat, log_point - log_complement)

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not 0 < self.minmax_cut < 1:
            raise InputError(f"minmax_cut must be between 0 and 1, got {self.minmax_cut!r}")
