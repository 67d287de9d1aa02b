"""The reference of the paper's Table 6: a linear model with fixed settings, on true labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from complabel import metrics
from complabel.answers import pair_rows
from complabel.losses import BinaryCrossEntropy
from complabel.methods.gradient._base import GradientClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from complabel.methods._arrays import Features, Indicator


class SupervisedBCEClassifier(GradientClassifier):
    """Linear model or network trained by binary cross-entropy on the *relevant* labels.

    It is a reference of the paper, not a method for complementary labels. Its ``fit`` takes the
    true labels as ``y``, which ``learns_from = "relevant"`` declares. Nobody chose its settings
    for true labels, so true labels can teach more than it learns.

    Parameters
    ----------
    network, learning_rate, weight_decay, batch_size, epochs
        As in :class:`ComplementaryLossClassifier`; here with Adam.
    threshold, device, random_state, callback
        As in :class:`ComplementaryLossClassifier`.

    Attributes
    ----------
    model_, coef_, intercept_
        As in :class:`ComplementaryLossClassifier`.

    See Also
    --------
    SupervisedClassifier : The stronger reference, whose settings are chosen.
    complabel.losses.BinaryCrossEntropy : The loss.

    References
    ----------
    Gao, Xu and Zhang, "Complementary to Multiple Labels", section 6: "fully supervised".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(50, axis=0)
    >>> relevant = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]]).repeat(50, axis=0)
    >>> classifier = SupervisedBCEClassifier(learning_rate=0.1, random_state=0).fit(X, relevant)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "relevant"

    def _fit(self, X: Features, true_labels: Indicator, relevant: Indicator | None, /) -> None:
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
