"""The field's methods for single positive labels: of each item, one label is known to apply."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from complabel._parameters import Constraints, Features, Real
from complabel._training import LinearMap, descend, network_outputs
from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.errors import InputError
from complabel.experiments.losses import (
    AssumedNegativeLoss,
    EntropyMaximizationLoss,
    HillLoss,
    LargeLoss,
    PositiveLoss,
    ROLELoss,
    SPLCLoss,
)
from complabel.methods import GradientClassifier, warn_user


@dataclass(kw_only=True, eq=False, repr=False)
class SinglePositiveClassifier(GradientClassifier):
    """Base of methods that learn from one label that somebody named because it applies.

    ``fit`` takes :class:`complabel.answers.Answers` to the question ``positive``. It refuses any
    others, also an indicator, since that would be of labels that do not apply. A label that was not
    named is not known, whether it was on offer or not.

    Parameters
    ----------
    learning_rate : float, default=0.1
    network, batch_size, threshold, device, random_state, callback
        As in :class:`complabel.methods.MLCLClassifier`; Adam, and what is trained is
        ``"classifier"``.
    weight_decay : float, default=0.03
        Half of this multiple of the sum of squared weights is added to the loss. Biases do not
        count: few labels are named, and a strong penalty would raise the scores of all others.
    epochs : int, default=50
    milestones : sequence of int, default=(30, 40)
        The learning rate is multiplied by 0.1 after each of these numbers of epochs.

    Attributes
    ----------
    model_, coef_, intercept_
        As in :class:`complabel.methods.MLCLClassifier`.

    Notes
    -----
    The losses are those of papers on networks for images, which are trained for 10 epochs. What
    grows with the epochs there grows over all epochs here.
    """

    understands_answers = True

    learning_rate: float = 0.1
    weight_decay: float = 0.03
    epochs: int = 50
    milestones: Sequence[int] = (30, 40)

    @abstractmethod
    def _loss(self, positive: Tensor, _generator: torch.Generator, /) -> PositiveLoss:
        """Return the loss for positives (n, K), 0 or 1."""

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        X, positive = self._positives(X, answers)
        generator = self._generator()
        settings = self._settings(X, generator, "classifier")
        told, device = settings.pop("on_epoch"), settings["device"]
        centre = self._centre(X)
        rows = X if centre is None else X - centre
        with self._new_network(X, positive.shape[1], generator) as network:
            loss = self._loss(torch.from_numpy(positive.astype(np.float32)).to(device), generator)

            def logits() -> Tensor:
                network.eval()
                found = network_outputs(network, rows, device=device)
                network.train()
                return torch.from_numpy(found.astype(np.float32)).to(device)

            def on_epoch(epoch: int, epochs: int, mean: float) -> None:
                loss.end(epoch, epochs, logits)
                if told is not None:
                    told(epoch, epochs, mean)

            decayed = [each for each in network.parameters() if each.ndim > 1]

            def objective(outputs: Tensor, batch: Tensor) -> Tensor:
                penalty = sum((each.square().sum() for each in decayed), outputs.new_zeros(()))
                return loss(outputs, batch) + 0.5 * self.weight_decay * penalty

            settings["schedule"] = replace(settings["schedule"], weight_decay=0.0)
            descend(network, rows, objective, others=loss.trained(), on_epoch=on_epoch, **settings)
        self.model_ = network
        if self.network is None:
            coef, intercept = (x.detach().double().cpu().numpy() for x in network.parameters())
            if centre is not None:
                intercept = intercept - coef @ centre
            self.model_ = LinearMap(coef, intercept)
        self._refuse_divergence(self.model_, X, "classifier")

    def _positives(self, X: Features, answers: Answers) -> tuple[Features, Any]:
        """Return the rows for which a label was named, and what was named (n, K)."""
        others = sorted({*answers.question.tolist()} - {"positive"})
        if others:
            raise InputError(
                f"{type(self).__name__} learns from labels that somebody named because they apply,"
                f" the question positive, and y has answers to the question {', '.join(others)}."
                " SelectionLikelihoodClassifier learns from all of them"
            )
        positive = answers.known_relevant
        named = positive.any(axis=1)
        if not named.any():
            raise InputError(
                f"{type(self).__name__} learns from labels that somebody named because they apply,"
                " and no answer of y names one"
            )
        if not named.all():
            warn_user(
                f"{(~named).sum()} items are left out: {type(self).__name__} cannot use the answer"
                " that no label applies",
                IgnoredAnswersWarning,
            )
        return X[named], positive[named]


@dataclass(kw_only=True, eq=False, repr=False)
class AssumedNegativeClassifier(SinglePositiveClassifier):
    """Minimize cross-entropy, with all labels that nobody named as "no" (AN, AN-LS, WAN).

    The other parameters and the attributes are those of :class:`SinglePositiveClassifier`.

    Parameters
    ----------
    smoothing : float, default=0.0
        How far targets are from 0 and 1, below 0.5; 0.1 in the released code of AN-LS.
    weak : bool, default=False
        Whether the assumed "no" of a row weigh 1 / (K - 1) each (WAN).

    References
    ----------
    E. Cole, O. Mac Aodha, T. Lorieul, P. Perona, D. Morris and N. Jojic, "Multi-Label Learning from
    Single Positive Labels", CVPR 2021.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> X = np.eye(3).repeat(30, axis=0)
    >>> answers = draw_answers(X.astype(int), question="positive", random_state=0)
    >>> classifier = AssumedNegativeClassifier(learning_rate=0.1, random_state=0)
    >>> classifier.fit(X, answers).predict(X[::30])
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """

    _constraints: ClassVar[Constraints] = {
        "smoothing": Real(at_least=0, below=0.5),
        "weak": (True, False),
    }

    smoothing: float = 0.0
    weak: bool = False

    def _loss(self, positive: Tensor, _generator: torch.Generator, /) -> PositiveLoss:
        return AssumedNegativeLoss(positive, smoothing=self.smoothing, weak=self.weak)


@dataclass(kw_only=True, eq=False, repr=False)
class EntropyMaximizationClassifier(SinglePositiveClassifier):
    """Maximize the entropy of unknown labels, and take the lowest for soft "no" (EM with APL).

    The other parameters and the attributes are those of :class:`SinglePositiveClassifier`.

    Parameters
    ----------
    entropy : float, default=0.1
        Weight of the entropy of unknown labels, alpha in the paper.
    pseudo : float, default=0.2
        Weight of pseudo labels, beta in the paper.
    share : float, default=0.9
        Share of unknown labels that have a pseudo label in the end, theta in the paper. They get it
        in the second half of the epochs.

    References
    ----------
    D. Zhou, P. Chen, Q. Wang, G. Chen and P.-A. Heng, "Acknowledging the Unknown for Multi-Label
    Learning with Single Positive Labels", ECCV 2022.
    """

    _constraints: ClassVar[Constraints] = {
        "entropy": Real(at_least=0),
        "pseudo": Real(at_least=0),
        "share": Real(at_least=0, at_most=1),
    }

    entropy: float = 0.1
    pseudo: float = 0.2
    share: float = 0.9

    def _loss(self, positive: Tensor, _generator: torch.Generator, /) -> PositiveLoss:
        settings = {"entropy": self.entropy, "pseudo": self.pseudo, "share": self.share}
        return EntropyMaximizationLoss(positive, **settings)


@dataclass(kw_only=True, eq=False, repr=False)
class ROLEClassifier(SinglePositiveClassifier):
    """Train label estimates of all items beside the classifier, given the number of labels (ROLE).

    The other parameters and the attributes are those of :class:`SinglePositiveClassifier`.

    Parameters
    ----------
    cardinality : float, default=1.5
        How many labels apply to an item on average. The method needs to know it, and answers
        hardly tell it.

    References
    ----------
    The paper of :class:`AssumedNegativeClassifier`: "Regularized Online Label Estimation".
    """

    _constraints: ClassVar[Constraints] = {"cardinality": Real(above=0)}

    cardinality: float = 1.5

    def _loss(self, positive: Tensor, generator: torch.Generator, /) -> PositiveLoss:
        return ROLELoss(positive, cardinality=self.cardinality, generator=generator)


@dataclass(kw_only=True, eq=False, repr=False)
class LargeLossClassifier(SinglePositiveClassifier):
    """Do not believe the assumed "no" that have the largest losses (LL-R, LL-Ct).

    The other parameters and the attributes are those of :class:`SinglePositiveClassifier`.

    Parameters
    ----------
    rejected : float, default=0.02
        Share of the labels of a batch that are not believed in the last epoch. It grows from 0 in
        the first epoch by the same number each.
    corrects : bool, default=False
        Whether they count as "yes" (LL-Ct). If not, they count nothing (LL-R).

    References
    ----------
    Y. Kim, J. M. Kim, Z. Akata and J. Lee, "Large Loss Matters in Weakly Supervised Multi-Label
    Classification", CVPR 2022.
    """

    _constraints: ClassVar[Constraints] = {
        "rejected": Real(at_least=0, at_most=1),
        "corrects": (True, False),
    }

    rejected: float = 0.02
    corrects: bool = False

    def _loss(self, positive: Tensor, _generator: torch.Generator, /) -> PositiveLoss:
        return LargeLoss(positive, rejected=self.rejected, corrects=self.corrects)


@dataclass(kw_only=True, eq=False, repr=False)
class HillClassifier(SinglePositiveClassifier):
    """Minimize a loss that pulls little at an assumed "no" of high score (Hill).

    Parameters and attributes are those of :class:`SinglePositiveClassifier`. The margin, 1, the
    exponent, 2, and the top, 1.5, are the paper's.

    References
    ----------
    Y. Zhang, Y. Cheng, X. Huang, F. Wen, R. Feng, Y. Li and Y. Guo, "Simple and Robust Loss Design
    for Multi-Label Learning with Missing Labels", arXiv 2021.
    """

    def _loss(self, positive: Tensor, _generator: torch.Generator, /) -> PositiveLoss:
        return HillLoss(positive)


@dataclass(kw_only=True, eq=False, repr=False)
class SPLCClassifier(SinglePositiveClassifier):
    """Take an assumed "no" for "yes" if its score is high after the first epoch (SPLC).

    The other parameters and the attributes are those of :class:`SinglePositiveClassifier`. The
    margin, 1, and the exponent, 2, are the paper's.

    Parameters
    ----------
    above : float, default=0.6
        The score above which a label counts as "yes"; in (0, 1).

    References
    ----------
    The paper of :class:`HillClassifier`: "Self-Paced Loss Correction".
    """

    _constraints: ClassVar[Constraints] = {"above": Real(above=0, below=1)}

    above: float = 0.6

    def _loss(self, positive: Tensor, _generator: torch.Generator, /) -> PositiveLoss:
        return SPLCLoss(positive, above=self.above)
