"""Full supervision: the same linear model, trained on true labels, as the upper reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from complabel import metrics
from complabel.losses import BinaryCrossEntropy
from complabel.methods.gradient._base import GradientClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.methods._base import Features


class SupervisedClassifier(GradientClassifier):
    """Linear model or network trained by binary cross-entropy on the *relevant* labels.

    A reference, not a method of this setting: its ``fit`` takes the true labels where the others
    take complementary ones, and says so by ``learns_from = "relevant"``.

    minimize mean over instances of  - sum_k [y_k log f_k + (1 - y_k) log(1 - f_k)]

    Parameters
    ----------
    network : callable or None, default=None
        ``network(n_features, n_labels)`` returns a ``torch.nn.Module`` with K outputs; ``None``
        trains a linear map.
    learning_rate : float, default=0.01
    weight_decay : float, default=1e-4
        Coupled, as in ``torch.optim.Adam``.
    batch_size : int, default=256
    epochs : int, default=200
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: f > 0.5, or the same after scaling each row of f to [0, 1].
    device : str, default="auto"
        ``"auto"`` takes CUDA where there is some; else a name torch knows.
    random_state : int, numpy.random.Generator or None, default=None
        Initial weights and order of the instances.
    callback : callable or None, default=None
        Called after every epoch with ("classifier", epoch, epochs, mean loss).

    Attributes
    ----------
    model_ : LinearMap or torch.nn.Module
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Of the linear map; only without ``network``.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

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
        self,
        X: Features,
        true_labels: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        del relevant
        self.model_ = self._train(
            X,
            BinaryCrossEntropy(),
            {"true_labels": true_labels},
            generator=self._generator(),
            stage="classifier",
        )

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the average precision on relevant labels ``y``, as ``fit`` was given."""
        decision = self._decision(self._validate_new(X))
        return metrics.average_precision(self._encode(y), decision)
