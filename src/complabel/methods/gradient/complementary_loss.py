"""Methods that minimize one loss of logits and complementary labels, by SGD."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from complabel.errors import InputError
from complabel.losses import (
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LogitLoss,
    LossKind,
    LUWLoss,
    UnbiasedBCELoss,
)
from complabel.methods._documented import documented
from complabel.methods.gradient._base import TEXTS, GradientClassifier
from complabel.persistence import Kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Features


_METHOD = {
    "sections": TEXTS["sections"]
    + """

See Also
--------
complabel.losses.{loss} : The formula.
ComplementaryLossClassifier : What the methods of one loss share.""",
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

    The scores f(x) are the sigmoid of a linear map or network. Bring a loss of your own, or set
    the class attribute ``loss`` of a subclass, which then is a method of that loss: it has no
    parameter ``loss``. A subclass sets other defaults of its constructor in the same way.

    Parameters
    ----------
    loss : LogitLoss or class of them, default=None
        It takes ``complementary`` after the logits, and ``relevant`` if it has a use for known
        relevant labels. A class is called without arguments. There is no default.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    complabel.losses.LogitLoss : What a loss must offer.

    Notes
    -----
    The methods of one loss below it check known relevant labels and do not use them.

    Training takes O(epochs n d K) time with d the mean number of non-zeros per row, and memory
    for one copy of the features. The model is that of the last epoch; the released code of the
    methods below keeps the epoch that is best on the test fold, which needs true labels.

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

    _unusual: ClassVar[Kinds] = {"loss": LossKind()}

    loss: LogitLoss | type[LogitLoss] | None = None
    optimizer: str = "sgd"
    weight_decay: float = 1e-3
    momentum: float = 0.9
    milestones: Sequence[int] = (100, 150)
    threshold: str = "minmax"
    cut: float = 0.5

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let class attributes be the defaults of the constructor's parameters."""
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
                f"loss must be a complabel.losses.LogitLoss or a class of them, got {self.loss!r}"
            )
        if kind.label_names[:1] != ("complementary",):
            raise InputError(
                f"loss must take complementary after the logits, but {kind.__name__} takes"
                f" {', '.join(kind.label_names) or 'nothing'}"
            )

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
        """Return a loss that may be changed; the caller's stays as it is."""
        # Autograd takes no tensor made in inference mode, which the caller may be in.
        with torch.inference_mode(False):
            return self.loss() if isinstance(self.loss, type) else copy.deepcopy(self.loss)


def _with_defaults(init: Callable[..., None], attributes: Any) -> Callable[..., None]:
    """Return a constructor whose defaults are a class's attributes, without ``loss`` if it is one.

    scikit-learn, ``help`` and the printed form of an estimator read them from the signature.
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
        narrowed.bind(self, **settings)  # refuses what is no parameter
        init(self, **{**own, **settings})

    constructor.__signature__ = narrowed  # type: ignore[attr-defined]
    return constructor


@documented(**_METHOD, loss="GDFLoss")
class GDFClassifier(ComplementaryLossClassifier):
    """Minimize the gradient-descent-friendly loss of complementary labels.

    It is binary cross-entropy on the candidate labels. The paper reaches it from the unbiased
    risk estimator by strengthening what draws candidates towards 1. The cut is that of the
    released code.

    {sections}
    UnbiasedBCEClassifier : The estimator that it comes from.

    Notes
    -----
    The published numbers agree with those of the epoch that is best on the test fold, which needs
    true labels and is about 0.02 better in average precision on scene.

    References
    ----------
    Y. Gao, M. Xu and M.-L. Zhang, "Unbiased Risk Estimator to Multi-Labeled Complementary Label
    Learning", IJCAI 2023.

    {examples}
    """

    loss = GDFLoss
    cut = 0.8


@documented(**_METHOD, loss="UnbiasedBCELoss")
class UnbiasedBCEClassifier(ComplementaryLossClassifier):
    """Minimize an unbiased estimate of the supervised binary cross-entropy.

    It is unbiased if every non-empty label set that avoids an instance's complementary labels is
    equally likely to be the relevant one. With many labels, only the complementary ones teach
    anything. The cut is that of the released code.

    {sections}
    GDFClassifier : The form that learns more from many labels.

    References
    ----------
    The paper of :class:`GDFClassifier`.

    {examples}
    """

    loss = UnbiasedBCELoss
    cut = 0.8


@documented(**_METHOD, loss="CTLLoss")
class CTLClassifier(ComplementaryLossClassifier):
    """Minimize a weighted loss of several complementary labels that doubts low-ranked candidates.

    Complementary labels count most. Candidates whose current score is low within its row count as
    relevant and as irrelevant. Constants and the cut are those of the released code.

    {sections}

    References
    ----------
    Y. Gao, J.-Y. Zhu, M. Xu and M.-L. Zhang, "Multi-Label Learning With Multiple Complementary
    Labels", IEEE TPAMI 2025.

    {examples}
    """

    loss = CTLLoss


@documented(**_METHOD, loss="ExponentialRankingLoss")
class ComRankClassifier(ComplementaryLossClassifier):
    """Rank every label that may be relevant above the labels that are not.

    The minimizer orders labels by how unlikely they are to be chosen as complementary, whatever
    way these are drawn: no transition matrix is assumed or estimated. Settings are those of the
    released code.

    {sections}

    References
    ----------
    "ComRank: Ranking Loss for Multi-Label Complementary Label Learning", NeurIPS 2025.

    {examples}
    """

    loss = ExponentialRankingLoss


@documented(**_METHOD, loss="LUWLoss")
class LUWClassifier(ComplementaryLossClassifier):
    """Model the complementary label as Q = sigmoid(1 - f(x)), where f(x) is the label's score.

    The papers that use it for several labels say that sigmoid and binary cross-entropy replace
    softmax and cross-entropy, and no code shows how. Of the forms that fit that sentence, this
    one alone both keeps the two nested functions and comes near the numbers of the GDF paper; the
    form without the outer sigmoid is :class:`GDFClassifier` again.

    {sections}

    Notes
    -----
    The defaults are the settings of the MLCL paper. Those of the GDF paper are
    ``optimizer="sgd", weight_decay=1e-3, milestones=(100, 150)``.

    All scores are drawn towards 1, and their order within a row is all that is learned: the method
    is weak by construction. ``score`` is the log-likelihood of Q, each row divided by its sum.

    References
    ----------
    Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss",
    ICML 2021. As a baseline for several labels: the paper of :class:`GDFClassifier`.

    {examples}
    """

    loss = LUWLoss
    optimizer = "adam"
    weight_decay = 1e-4
    milestones = ()
