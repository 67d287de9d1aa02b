"""The supervised reference: the same linear model, trained on true labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from complabel import metrics
from complabel.annotations import pair_rows
from complabel.losses import BinaryCrossEntropy
from complabel.methods._documented import documented
from complabel.methods.gradient._base import TEXTS, GradientClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._arrays import Features


@documented(**TEXTS)
class SupervisedClassifier(GradientClassifier):
    """Linear model or network trained by binary cross-entropy on the *relevant* labels.

    It is a reference to compare with, not a method for complementary labels. Its ``fit`` takes the
    true labels as ``y``, which ``learns_from = "relevant"`` declares.

    {sections}

    See Also
    --------
    complabel.losses.BinaryCrossEntropy : The loss.

    References
    ----------
    Gao, Xu and Zhang, "Complementary to Multiple Labels", section 6: "fully supervised".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(50, axis=0)
    >>> relevant = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]]).repeat(50, axis=0)
    >>> classifier = SupervisedClassifier(learning_rate=0.1, random_state=0).fit(X, relevant)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "relevant"

    def _fit(
        self, X: Features, true_labels: NDArray[np.uint8], relevant: NDArray[np.uint8] | None, /
    ) -> None:
        del relevant
        labels = {"true_labels": true_labels}
        self.model_ = self._train(
            X, BinaryCrossEntropy(), labels, generator=self._generator(), stage="classifier"
        )

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the average precision on true labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples, K) or (n_samples,)
            The relevant labels, as in ``fit``.

        Returns
        -------
        float
        """
        decision = self._decision(self._validate_new(X))
        return metrics.average_precision(self._encode(pair_rows(X, y)), decision)
