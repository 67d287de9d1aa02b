"""L-UW: a discriminative model of the complementary label, carried over to label sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from complabel import metrics
from complabel.losses import LUWLoss
from complabel.methods.gradient._baseline import GradientBaseline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.losses import LogitLoss
    from complabel.methods._base import Features
    from complabel.methods.gradient._base import NetworkFactory, ProgressCallback


class LUWClassifier(GradientBaseline):
    """Model the complementary label as sigmoid(1 - f(x)), where f(x) is the score of the label.

    minimize mean over instances and labels of
    - [ybar_k log Q_k + (1 - ybar_k) log(1 - Q_k)]  with  Q = sigmoid(1 - f(x))

    The multi-class method has softmax(1 - softmax(.)) and cross-entropy here. The papers that use
    it for several labels say that sigmoid and binary cross-entropy replace them, and no code
    shows how. Of the forms that fit that sentence, this one alone both keeps the two nested
    functions and comes near the numbers of the GDF paper; the form without the outer sigmoid is
    :class:`GDFClassifier` again.

    Parameters
    ----------
    network : callable or None, default=None
        ``network(n_features, n_labels)`` returns a ``torch.nn.Module`` with K outputs; ``None``
        trains a linear map.
    optimizer : {"adam", "sgd"}, default="adam"
        The defaults are the settings of the MLCL paper. Those of the GDF paper are
        ``optimizer="sgd", weight_decay=1e-3, milestones=(100, 150)``.
    learning_rate : float, default=0.01
        Both papers select from 1e-1, 1e-2, 1e-3; see
        :func:`complabel.methods.make_classifier`.
    weight_decay : float, default=1e-4
        Coupled: added to the gradient of weights and biases.
    momentum : float, default=0.9
        Of ``optimizer="sgd"``.
    milestones : sequence of int, default=()
        The learning rate is multiplied by 0.1 after each of these numbers of epochs.
    batch_size : int, default=256
    epochs : int, default=200
    threshold : {"minmax", "probability"}, default="minmax"
        Rule of ``predict``: f exceeds ``cut`` after scaling each row of f to [0, 1], or
        f > 0.5.
    cut : float, default=0.5
    device : str, default="auto"
        ``"auto"`` takes CUDA where there is some; else a name torch knows.
    random_state : int, numpy.random.Generator or None, default=None
        Initial weights and order of the instances.
    callback : callable or None, default=None
        Called after every epoch with ("classifier", epoch, epochs, mean loss).

    Attributes
    ----------
    model_ : LinearMap or torch.nn.Module
        f before the sigmoid.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Of the linear map; only without ``network``.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Notes
    -----
    Q cannot fall below one half, so all scores are drawn towards 1 and their order within a row
    is all that is learned: the method is weak by construction.

    ``score`` is the log-likelihood of Q, each row divided by its sum.

    O(epochs n d K) time with d the mean number of non-zeros per row; memory for one copy of the
    features. Known relevant labels given to ``fit`` are checked but not used.

    References
    ----------
    Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss",
    ICML 2021, eq. 7. As a baseline with sigmoid and binary cross-entropy: Y. Gao, M. Xu and
    M.-L. Zhang, "Unbiased Risk Estimator to Multi-Labeled Complementary Label Learning",
    IJCAI 2023.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(50, axis=0)
    >>> complementary = np.eye(3, dtype=int).repeat(50, axis=0)
    >>> classifier = LUWClassifier(learning_rate=0.1, random_state=0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """

    models_the_choice = True

    def __init__(
        self,
        *,
        network: NetworkFactory | None = None,
        optimizer: str = "adam",
        learning_rate: float = 0.01,
        weight_decay: float = 1e-4,
        momentum: float = 0.9,
        milestones: Sequence[int] = (),
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
            optimizer=optimizer,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            momentum=momentum,
            milestones=milestones,
            batch_size=batch_size,
            epochs=epochs,
            threshold=threshold,
            cut=cut,
            device=device,
            random_state=random_state,
            callback=callback,
        )

    def _loss(self) -> LogitLoss:
        return LUWLoss()

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        implied = special.expit(1 - special.expit(self._decision(X)))
        return metrics.complementary_log_likelihood_of_rows(complementary, implied)
