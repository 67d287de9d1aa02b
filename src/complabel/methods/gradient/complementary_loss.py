"""Methods that minimize a loss of logits and complementary labels by gradient descent."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch

from complabel.errors import InputError
from complabel.losses import (
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LogitLoss,
    LUWLoss,
    UnbiasedBCELoss,
    loss_of,
    loss_parts,
)
from complabel.methods._documented import documented
from complabel.methods.gradient._base import TEXTS, GradientClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Features


LOSS_TEXTS = {
    "sections": TEXTS["sections"]
    + """

See Also
--------
complabel.losses.{loss} : The formula of the loss.
ComplementaryLossClassifier : The base class, which minimizes any loss.""",
    "attributes": TEXTS["attributes"],
    "examples": """Examples
--------
>>> import numpy as np
>>> X = np.eye(3).repeat(50, axis=0)
>>> complementary = np.eye(3, dtype=int).repeat(50, axis=0)
>>> classifier = {name}(learning_rate=0.1, random_state=0).fit(X, complementary)
>>> classifier.predict(np.eye(3))
array([[0, 1, 1],
       [1, 0, 1],
       [1, 1, 0]])""",
}


@documented(**TEXTS)
@dataclass(kw_only=True, eq=False, repr=False)
class ComplementaryLossClassifier(GradientClassifier):
    """Multi-label classifier that minimizes a given loss of complementary labels.

    The scores f(x) are the sigmoid of a linear map or network. Give your own loss as a parameter,
    or set the class attribute ``loss`` in a subclass. Such a subclass has no parameter ``loss``.
    Other class attributes set the defaults of its other parameters in the same way.

    Parameters
    ----------
    loss : LogitLoss or subclass of LogitLoss, default=None
        It takes ``complementary`` after the logits, and ``relevant`` if it uses known relevant
        labels. A class is called without arguments. ``fit`` refuses None.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    complabel.losses.LogitLoss : What a loss must offer.

    Notes
    -----
    The derived methods (GDF, CTL and others) check known relevant labels but do not use them.

    Training takes O(epochs n d K) time, where d is the mean number of non-zeros per row, and
    memory for one copy of the features. The model of the last epoch is kept. The released code of
    the derived methods keeps the epoch that is best on the test fold, which needs true labels.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.losses import MLCLLoss
    >>> X = np.eye(3).repeat(50, axis=0)
    >>> complementary = np.eye(3, dtype=int).repeat(50, axis=0)
    >>> loss = MLCLLoss((1 - torch.eye(3)) / 2)
    >>> classifier = ComplementaryLossClassifier(loss=loss, learning_rate=0.1, random_state=0)
    >>> classifier.fit(X, complementary).predict(np.eye(3))
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """

    loss: LogitLoss | type[LogitLoss] | None = None
    optimizer: str = "sgd"
    weight_decay: float = 1e-3
    momentum: float = 0.9
    milestones: Sequence[int] = (100, 150)
    threshold: str = "minmax"
    cut: float = 0.5

    def __init_subclass__(cls, **settings: Any) -> None:
        """Use the class attributes as the defaults of the constructor's parameters."""
        super().__init_subclass__(**settings)
        if "__init__" not in vars(cls):
            cls.__init__ = _with_defaults(cls.__init__, vars(cls))  # type: ignore[method-assign]

    @property
    def models_the_choice(self) -> bool:  # type: ignore[override]
        """Whether the loss models which labels are chosen as complementary."""
        return self.loss is not None and self.loss.models_the_choice

    def _check_parameters(self) -> None:
        super()._check_parameters()
        kind = self.loss if isinstance(self.loss, type) else type(self.loss)
        if not issubclass(kind, LogitLoss):
            raise InputError(
                f"loss must be a complabel.losses.LogitLoss or a subclass of it, got {self.loss!r}"
            )
        if kind.label_names[:1] != ("complementary",):
            raise InputError(
                f"loss must take complementary after the logits, but {kind.__name__} takes"
                f" {', '.join(kind.label_names) or 'nothing'}"
            )

    def _plain_parameters(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        parameters = super()._plain_parameters(sizes)
        return {**parameters, **({"loss": loss_parts(self.loss)} if "loss" in parameters else {})}

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        loss = {"loss": loss_of(parameters["loss"])} if "loss" in parameters else {}
        return super()._from_plain({**parameters, **loss})

    def _fit(
        self, X: Features, complementary: NDArray[np.uint8], relevant: NDArray[np.uint8] | None, /
    ) -> None:
        loss = self._own_loss().to(torch.float32)
        labels = {"complementary": complementary}
        if relevant is not None and "relevant" in loss.label_names:
            labels["relevant"] = relevant
        self.model_ = self._train(X, loss, labels, generator=self._generator(), stage="classifier")

    def _log_likelihood(self, X: Features, complementary: NDArray[np.uint8]) -> NDArray[np.float64]:
        labels = torch.from_numpy(complementary.astype(np.float64))
        log_likelihood = (
            self._own_loss()
            .to(torch.float64)
            .log_likelihood(torch.from_numpy(self._decision(X)), labels)
        )
        return np.asarray(log_likelihood.numpy())

    def _own_loss(self) -> Any:
        """Return a copy of the loss, so that training does not change the caller's."""
        # The caller may be in inference mode. Autograd does not accept tensors made in it.
        with torch.inference_mode(False):
            return self.loss() if isinstance(self.loss, type) else copy.deepcopy(self.loss)


def _with_defaults(init: Callable[..., None], attributes: Any) -> Callable[..., None]:
    """Return a constructor whose defaults are the class attributes.

    If ``loss`` is a class attribute, the constructor has no such parameter. scikit-learn, ``help``
    and the printed form of an estimator read the defaults from the constructor's signature.
    """
    signature = inspect.signature(init)
    own = {name: attributes[name] for name in signature.parameters if name in attributes}
    kept = [
        parameter.replace(default=own.get(name, parameter.default))
        for name, parameter in signature.parameters.items()
        if not (name == "loss" and name in own)
    ]
    narrowed = signature.replace(parameters=kept)

    @functools.wraps(init)
    def constructor(self: Any, **settings: Any) -> None:
        narrowed.bind(self, **settings)  # raises a TypeError for unknown parameters
        init(self, **{**own, **settings})

    constructor.__signature__ = narrowed  # type: ignore[attr-defined]
    return constructor


@documented(**LOSS_TEXTS, loss="GDFLoss")
class GDFClassifier(ComplementaryLossClassifier):
    """Minimize the gradient-descent-friendly loss of complementary labels.

    It is binary cross-entropy on the candidate labels. The paper derives it from the unbiased risk
    estimator, by giving more weight to the terms that pull candidates towards 1. The cut is that
    of the released code.

    {sections}
    UnbiasedBCEClassifier : The estimator that it is derived from.

    Notes
    -----
    The published numbers agree with those of the epoch that is best on the test fold. Choosing
    this epoch needs true labels, and gains about 0.02 in average precision on scene.

    References
    ----------
    Y. Gao, M. Xu and M.-L. Zhang, "Unbiased Risk Estimator to Multi-Labeled Complementary Label
    Learning", IJCAI 2023.

    {examples}
    """

    loss = GDFLoss
    cut = 0.8


@documented(**LOSS_TEXTS, loss="UnbiasedBCELoss")
class UnbiasedBCEClassifier(ComplementaryLossClassifier):
    """Minimize an unbiased estimate of the supervised binary cross-entropy.

    It is unbiased if all non-empty label sets without the instance's complementary labels are
    equally likely. With many labels, the method learns only from the complementary ones. The cut
    is that of the released code.

    {sections}
    GDFClassifier : A form that learns more if there are many labels.

    References
    ----------
    The paper of :class:`GDFClassifier`.

    {examples}
    """

    loss = UnbiasedBCELoss
    cut = 0.8


@documented(**LOSS_TEXTS, loss="CTLLoss")
class CTLClassifier(ComplementaryLossClassifier):
    """Minimize a weighted loss in which low-ranked candidates also count as irrelevant.

    It is made for several complementary labels per instance, which have the greatest weight. A
    candidate whose current score is low within its row counts as relevant and as irrelevant. The
    constants and the cut are those of the released code.

    {sections}

    References
    ----------
    Y. Gao, J.-Y. Zhu, M. Xu and M.-L. Zhang, "Multi-Label Learning With Multiple Complementary
    Labels", IEEE TPAMI 2025.

    {examples}
    """

    loss = CTLLoss


@documented(**LOSS_TEXTS, loss="ExponentialRankingLoss")
class ComRankClassifier(ComplementaryLossClassifier):
    """Rank every candidate label above every complementary label.

    The minimizer orders labels by how unlikely they are to be chosen as complementary. This holds
    for any way to choose them: no transition matrix is assumed or estimated. The settings are
    those of the released code.

    {sections}

    References
    ----------
    "ComRank: Ranking Loss for Multi-Label Complementary Label Learning", NeurIPS 2025.

    {examples}
    """

    loss = ExponentialRankingLoss


@documented(**LOSS_TEXTS, loss="LUWLoss")
class LUWClassifier(ComplementaryLossClassifier):
    """Model the complementary label as Q = sigmoid(1 - f(x)), where f(x) is the label's score.

    The papers that use L-UW for several labels say that sigmoid and binary cross-entropy replace
    softmax and cross-entropy. No released code shows how. Of the forms that fit this description,
    only this one keeps both nested functions and comes near the numbers of the GDF paper. Without
    the outer sigmoid, the method would be :class:`GDFClassifier` again.

    {sections}

    Notes
    -----
    The defaults are the settings of the MLCL paper. Those of the GDF paper are
    ``optimizer="sgd", weight_decay=1e-3, milestones=(100, 150)``.

    The loss pulls all scores towards 1. So the method learns only the order of scores within a
    row, and is weak by construction. ``score`` is the log-likelihood of Q after each row is divided
    by its sum.

    References
    ----------
    Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss",
    ICML 2021. The paper of :class:`GDFClassifier` uses it as a baseline for several labels.

    {examples}
    """

    loss = LUWLoss
    optimizer = "adam"
    weight_decay = 1e-4
    milestones = ()
