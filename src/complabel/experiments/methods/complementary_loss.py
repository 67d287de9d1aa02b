"""Methods that minimize one loss of logits by gradient descent."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch

from complabel._parameters import Array, Features, Indicator
from complabel.errors import InputError
from complabel.experiments.losses import (
    BinaryCrossEntropy,
    CTLLoss,
    ExponentialRankingLoss,
    GDFLoss,
    LUWLoss,
    UnbiasedBCELoss,
    loss_of,
    loss_parts,
)
from complabel.losses import LogitLoss
from complabel.methods import GradientClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementaryLossClassifier(GradientClassifier):
    """Multi-label classifier that minimizes a given loss of complementary labels.

    The scores f(x) are the sigmoid of a linear map or network. Give your own loss as a parameter,
    or as the class attribute ``loss`` of a subclass. A subclass that changes other defaults is a
    dataclass, as the methods of this file are.

    Parameters
    ----------
    learning_rate : float, default=0.01
        The papers choose it per dataset from 0.1, 0.01 and 0.001;
        :func:`complabel.experiments.methods.make_paper_classifier` uses their choice.
    weight_decay : float, default=1e-3
        This multiple of weights and biases is added to their gradient, as in ``torch.optim.Adam``.
    threshold : {"probability", "minmax"}, default="minmax"
        What ``predict`` compares with the cut: f, or f scaled to [0, 1] within each row.
    network, batch_size, epochs, device, random_state, callback
        As in :class:`complabel.methods.MLCLClassifier`; what is trained is ``"classifier"``.
    loss : LogitLoss or subclass of LogitLoss, default=None
        It takes ``complementary`` after the logits, and ``relevant`` if it uses known relevant
        labels. A class is called without arguments. ``fit`` refuses None.
    optimizer : {"sgd", "adam"}, default="sgd"
    momentum : float, default=0.9
        Only used with ``optimizer="sgd"``.
    milestones : sequence of int, default=(100, 150)
        The learning rate is multiplied by 0.1 after each of these numbers of epochs.
    cut : float, default=0.5
        ``predict`` returns a label if its value is above the cut; in (0, 1). It is 0.5 for a class
        without this parameter.

    Attributes
    ----------
    model_, coef_, intercept_
        As in :class:`complabel.methods.MLCLClassifier`.

    Notes
    -----
    :class:`complabel.losses.LogitLoss` says what a loss must offer. The derived methods (GDF, CTL
    and others) check known relevant labels but do not use them.

    Training takes O(epochs n d K) time, for d non-zeros per row. The model of the last epoch is
    kept. The released code of the derived methods keeps the epoch that is best on the test fold,
    which needs true labels.

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

    @property
    def models_the_choice(self) -> bool:  # type: ignore[override]
        """Whether the loss models which labels are chosen as complementary."""
        loss = self._loss()
        return loss is not None and bool(loss.models_the_choice)

    def _loss(self) -> Any:
        return type(self).loss if self.loss is None else self.loss

    def _check_parameters(self) -> None:
        super()._check_parameters()
        loss = self._loss()
        kind = loss if isinstance(loss, type) else type(loss)
        if not issubclass(kind, LogitLoss):
            raise InputError(
                f"loss must be a complabel.losses.LogitLoss or a subclass of it, got {loss!r}"
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

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        loss = self._own_loss().to(torch.float32)
        labels = {"complementary": complementary}
        if relevant is not None and "relevant" in loss.label_names:
            labels["relevant"] = relevant
        self._fit_model(X, loss, labels)

    def _log_likelihood(self, X: Features, complementary: Indicator) -> Array:
        loss = self._own_loss().to(torch.float64)
        labels = torch.from_numpy(complementary.astype(np.float64))
        found = loss.log_likelihood(torch.from_numpy(self._decision(X)), labels)
        return np.asarray(found.numpy())

    def _own_loss(self) -> Any:
        """Return a copy of the loss, so that training does not change the caller's."""
        # The caller may be in inference mode. Autograd does not accept tensors made in it.
        with torch.inference_mode(False):
            loss = self._loss()
            return loss() if isinstance(loss, type) else copy.deepcopy(loss)


@dataclass(kw_only=True, eq=False, repr=False)
class GDFClassifier(ComplementaryLossClassifier):
    """Minimize the gradient-descent-friendly loss of complementary labels.

    It is binary cross-entropy on the candidate labels: the unbiased risk estimator with more weight
    on the terms that pull candidates towards 1. The cut is that of the released code.

    Parameters and attributes are those of :class:`ComplementaryLossClassifier`, without ``loss``.

    The published numbers agree with those of the epoch that is best on the test fold. Choosing
    this epoch needs true labels, and gains about 0.02 in average precision on scene.

    References
    ----------
    Y. Gao, M. Xu and M.-L. Zhang, "Unbiased Risk Estimator to Multi-Labeled Complementary Label
    Learning", IJCAI 2023.
    """

    loss: Any = field(init=False, default=GDFLoss)
    cut: float = 0.8


@dataclass(kw_only=True, eq=False, repr=False)
class BCEClassifier(ComplementaryLossClassifier):
    """Minimize binary cross-entropy with every candidate label taken as relevant.

    **The loss is that of** :class:`GDFClassifier`, except for the factor K of a mean over labels.
    The settings are usual ones for multi-label networks: Adam, no milestones, and a label is
    predicted if f > 0.5. With
    ``optimizer="sgd", weight_decay=1e-3, milestones=(100, 150), threshold="minmax", cut=0.8`` the
    result equals GDF bit for bit.

    Parameters and attributes are those of :class:`ComplementaryLossClassifier`, without ``loss``.

    Most labels are candidates, so most labels are predicted. This follows from the loss.

    References
    ----------
    The baseline "BCE" of: Wang, Ma, Xie, Niu and Sugiyama, "Rethinking Consistent Multi-Label
    Classification under Inexact Supervision", ICLR 2026. Its settings are not known here.
    """

    loss: Any = field(init=False, default=GDFLoss)
    optimizer: str = "adam"
    weight_decay: float = 1e-4
    milestones: Sequence[int] = ()
    threshold: str = "probability"


@dataclass(kw_only=True, eq=False, repr=False)
class UnbiasedBCEClassifier(ComplementaryLossClassifier):
    """Minimize an unbiased estimate of the supervised binary cross-entropy.

    It is unbiased if all non-empty label sets without the instance's complementary labels are
    equally likely. With many labels, the method learns only from the complementary ones. The cut
    is that of the released code.

    Parameters and attributes are those of :class:`ComplementaryLossClassifier`, without ``loss``.

    References
    ----------
    The paper of :class:`GDFClassifier`.
    """

    loss: Any = field(init=False, default=UnbiasedBCELoss)
    cut: float = 0.8


@dataclass(kw_only=True, eq=False, repr=False)
class CTLClassifier(ComplementaryLossClassifier):
    """Minimize a weighted loss in which low-ranked candidates also count as irrelevant.

    A candidate whose current score is low within its row counts as relevant and as irrelevant. The
    constants and the cut are those of the released code.

    Parameters and attributes are those of :class:`ComplementaryLossClassifier`, without ``loss``.

    References
    ----------
    Y. Gao, J.-Y. Zhu, M. Xu and M.-L. Zhang, "Multi-Label Learning With Multiple Complementary
    Labels", IEEE TPAMI 2025.
    """

    loss: Any = field(init=False, default=CTLLoss)


@dataclass(kw_only=True, eq=False, repr=False)
class ComRankClassifier(ComplementaryLossClassifier):
    """Rank every candidate label above every complementary label.

    The minimizer orders labels by how unlikely they are to be chosen as complementary. This holds
    for any way to choose them: no transition matrix is assumed or estimated. The settings are
    those of the released code.

    Parameters and attributes are those of :class:`ComplementaryLossClassifier`, without ``loss``.

    References
    ----------
    "ComRank: Ranking Loss for Multi-Label Complementary Label Learning", NeurIPS 2025.
    """

    loss: Any = field(init=False, default=ExponentialRankingLoss)


@dataclass(kw_only=True, eq=False, repr=False)
class LUWClassifier(ComplementaryLossClassifier):
    """Model the complementary label as Q = sigmoid(1 - f(x)), where f(x) is the label's score.

    The papers that use L-UW for several labels say that sigmoid and binary cross-entropy replace
    softmax and cross-entropy; no released code shows how. Of the forms that fit this, only this one
    keeps both nested functions and comes near the numbers of the GDF paper.

    Parameters and attributes are those of :class:`ComplementaryLossClassifier`, without ``loss``.

    The defaults are the settings of the MLCL paper. Those of the GDF paper are
    ``optimizer="sgd", weight_decay=1e-3, milestones=(100, 150)``.

    The loss pulls all scores towards 1, so the method is weak by construction. ``score`` is the
    log-likelihood of Q after each row is divided by its sum.

    References
    ----------
    Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss",
    ICML 2021. The paper of :class:`GDFClassifier` uses it as a baseline for several labels.
    """

    loss: Any = field(init=False, default=LUWLoss)
    optimizer: str = "adam"
    weight_decay: float = 1e-4
    milestones: Sequence[int] = ()


class SupervisedBCEClassifier(GradientClassifier):
    """Linear model or network trained by binary cross-entropy on the *relevant* labels.

    It is a reference of the paper, not a method for complementary labels: ``fit`` takes the true
    labels as ``y``. Nobody chose its settings for true labels.

    Parameters
    ----------
    network, learning_rate, weight_decay, batch_size, epochs, threshold, device, random_state
        As in :class:`ComplementaryLossClassifier`; here with Adam.
    callback
        As in :class:`ComplementaryLossClassifier`.

    Attributes
    ----------
    model_, coef_, intercept_
        As in :class:`ComplementaryLossClassifier`.

    References
    ----------
    Gao, Xu and Zhang, "Complementary to Multiple Labels", section 6: "fully supervised".
    """

    learns_from: ClassVar[Literal["complementary", "relevant"]] = "relevant"

    def _fit(self, X: Features, true_labels: Indicator, _: Indicator | None, /) -> None:
        self._fit_model(X, BinaryCrossEntropy(), {"true_labels": true_labels})
