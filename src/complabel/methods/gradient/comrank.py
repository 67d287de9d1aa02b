"""ComRank: rank every candidate above the complementary label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from complabel.losses import ExponentialRankingLoss
from complabel.methods.gradient._baseline import GradientBaseline

if TYPE_CHECKING:
    import numpy as np

    from complabel.losses import LogitLoss
    from complabel.methods.gradient._base import NetworkFactory, ProgressCallback


class ComRankClassifier(GradientBaseline):
    """Rank every label that may be relevant above the labels that are not.

    minimize mean over instances of
    sum over candidates j of exp(f_k - f_j),  k the complementary label

    where f(x) is the sigmoid of a linear map or network. Its minimizer orders labels by how
    unlikely they are to be chosen as complementary, whatever way these are drawn: no transition
    matrix is assumed or estimated. With several complementary labels the term is averaged over
    them.

    Parameters
    ----------
    network : callable or None, default=None
        ``network(n_features, n_labels)`` returns a ``torch.nn.Module`` with K outputs; ``None``
        trains a linear map, as the paper does on tabular data.
    optimizer : {"sgd", "adam"}, default="sgd"
    learning_rate : float, default=0.01
        The paper selects from 1e-1, 1e-2, 1e-3; see :func:`complabel.methods.make_classifier`.
    weight_decay : float, default=1e-3
        Coupled: added to the gradient of weights and biases.
    momentum : float, default=0.9
        Of ``optimizer="sgd"``.
    milestones : sequence of int, default=(100, 150)
        The learning rate is multiplied by 0.1 after each of these numbers of epochs.
    batch_size : int, default=256
    epochs : int, default=200
    threshold : {"minmax", "probability"}, default="minmax"
        Rule of ``predict``: f exceeds ``cut`` after scaling each row of f to [0, 1], or
        f > 0.5.
    cut : float, default=0.5
        As in the released code.
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
    The model is that of the last epoch; the released code keeps the epoch that is best on the
    test fold.

    O(epochs n d K) time with d the mean number of non-zeros per row; memory for one copy of the
    features. Known relevant labels given to ``fit`` are checked but not used.

    References
    ----------
    "ComRank: Ranking Loss for Multi-Label Complementary Label Learning", NeurIPS 2025; settings
    as in its released code.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(50, axis=0)
    >>> complementary = np.eye(3, dtype=int).repeat(50, axis=0)
    >>> classifier = ComRankClassifier(learning_rate=0.1, random_state=0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
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
        return ExponentialRankingLoss()
