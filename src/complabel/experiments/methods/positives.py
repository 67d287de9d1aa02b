"""The field's methods for single positive labels: of each item, one label is known to apply."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from scipy import sparse
from sklearn.preprocessing import StandardScaler
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

# By name: the class of the loss, the parameters that it takes, and what the name settles.
_LOSSES: Mapping[str, tuple[Any, Sequence[str], dict[str, Any]]] = {
    "an": (AssumedNegativeLoss, (), {}),
    "an-ls": (AssumedNegativeLoss, ("smoothing",), {}),
    "wan": (AssumedNegativeLoss, (), {"weak": True}),
    "em-apl": (EntropyMaximizationLoss, ("entropy", "pseudo", "share"), {}),
    "role": (ROLELoss, ("cardinality",), {}),
    "large-loss": (LargeLoss, ("rejected",), {}),
    "large-loss-ct": (LargeLoss, ("rejected",), {"corrects": True}),
    "hill": (HillLoss, (), {}),
    "splc": (SPLCLoss, ("above",), {}),
}
_MOST = 2000  # items that choose settings
_LEARNT = {"model_", "_item_shape"}


@dataclass(kw_only=True, eq=False, repr=False)
class SinglePositiveClassifier(GradientClassifier):
    """Learn from one label of each item that somebody named because it applies.

    ``fit`` takes :class:`complabel.answers.Answers` to the question ``positive``. It refuses any
    others, also an indicator, since that would be of labels that do not apply. A label that was not
    named is not known, whether it was on offer or not.

    Parameters
    ----------
    loss : str, default="an"
        ``"an"``: labels that were not named count as "no" [1]_. ``"an-ls"``: the same with label
        smoothing. ``"wan"``: with the weight 1 / (K - 1) for each assumed "no". ``"role"``: labels
        are estimated online beside the classifier [1]_. ``"em-apl"``: the entropy of unknown labels
        is maximized, and the lowest become soft "no" [2]_. ``"large-loss"``: the assumed "no" with
        the largest losses count nothing (LL-R), or as "yes" (``"large-loss-ct"``) [3]_.
        ``"hill"``: an assumed "no" of high score pulls little; ``"splc"``: it counts as "yes" [4]_.
    smoothing : float, default=0.1
        Of "an-ls": how far targets are from 0 and 1, below 0.5.
    entropy, pseudo : float, default=0.1 and 0.2
        Of "em-apl": the weights of entropy and of pseudo labels, alpha and beta in the paper.
    share : float, default=0.9
        Of "em-apl": the share of unknown labels that have a pseudo label in the end, theta.
    cardinality : float or None, default=None
        Of "role", which needs it: how many labels apply to an item on average.
    rejected : float, default=0.02
        Of "large-loss": the share of the labels of a batch that is not believed in the last epoch.
    above : float, default=0.6
        Of "splc": the score above which an assumed "no" counts as "yes".
    scaled : bool, default=False
        Learn from features of standard deviation 1 (and of mean 0, if they are dense). The map is
        that of the features as they were given; not with ``network``.
    choose : dict of str to sequence, or None, default=None
        Values of other parameters to try: of the first two together, then of one after the other,
        from the first values of all. Chosen are those for which held-out positives rank highest
        (mean reciprocal rank): a third of the items, of at most 2,000.
    network, batch_size, threshold, device, random_state, callback
        As in :class:`complabel.methods.MLCLClassifier`; Adam; what is trained is ``"classifier"``.
    learning_rate : float, default=0.1
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
    chosen_ : dict of str to object
        The parameters that ``choose`` names, as they were chosen. Not in a file of the model.

    Notes
    -----
    The papers train networks for images, for 10 epochs. What grows with the epochs there grows over
    all epochs here. The other constants are those of the released codes.

    References
    ----------
    .. [1] E. Cole, O. Mac Aodha, T. Lorieul, P. Perona, D. Morris and N. Jojic, "Multi-Label
       Learning from Single Positive Labels", CVPR 2021.
    .. [2] D. Zhou, P. Chen, Q. Wang, G. Chen and P.-A. Heng, "Acknowledging the Unknown for
       Multi-Label Learning with Single Positive Labels", ECCV 2022.
    .. [3] Y. Kim, J. M. Kim, Z. Akata and J. Lee, "Large Loss Matters in Weakly Supervised
       Multi-Label Classification", CVPR 2022.
    .. [4] Y. Zhang, Y. Cheng, X. Huang, F. Wen, R. Feng, Y. Li and Y. Guo, "Simple and Robust Loss
       Design for Multi-Label Learning with Missing Labels", arXiv 2021.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> X = np.eye(3).repeat(30, axis=0)
    >>> answers = draw_answers(X.astype(int), question="positive", random_state=0)
    >>> classifier = SinglePositiveClassifier(loss="hill", random_state=0).fit(X, answers)
    >>> classifier.predict_proba(X[::30]).argmax(axis=1)
    array([0, 1, 2])
    """

    understands_answers = True
    _constraints: ClassVar[Constraints] = {
        "loss": tuple(_LOSSES),
        "smoothing": Real(at_least=0, below=0.5),
        "entropy": Real(at_least=0),
        "pseudo": Real(at_least=0),
        "share": Real(at_least=0, at_most=1),
        "cardinality": (None, Real(above=0)),
        "rejected": Real(at_least=0, at_most=1),
        "above": Real(above=0, below=1),
        "scaled": (True, False),
        "choose": (None, dict),
    }

    loss: str = "an"
    smoothing: float = 0.1
    entropy: float = 0.1
    pseudo: float = 0.2
    share: float = 0.9
    cardinality: float | None = None
    rejected: float = 0.02
    above: float = 0.6
    learning_rate: float = 0.1
    weight_decay: float = 0.03
    epochs: int = 50
    milestones: Sequence[int] = (30, 40)
    scaled: bool = False
    choose: Mapping[str, Sequence[Any]] | None = None

    def _check_parameters(self) -> None:
        if self.choose:
            for name, values in self.choose.items():
                if name == "choose" or name not in self.get_params() or not len(values):
                    raise InputError(
                        f"choose has {name!r} with {len(values)} values; give at least one value"
                        " for each, and names of other parameters",
                        parameter="choose",
                    )
                for value in values:
                    self._with({**self._first(), name: value})._check_parameters()
            return
        super()._check_parameters()
        if self.scaled and self.network is not None:
            text = "scaled is True, and a network keeps no scale; leave it out, and scale X before"
            raise InputError(text, parameter="scaled")
        if self.loss == "role" and self.cardinality is None:
            raise InputError(
                "cardinality is None, and the loss role needs to know how many labels apply to an"
                " item on average; give cardinality"
            )

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        X, positive = self._positives(X, answers)
        if not self.choose:
            self._learn(X, positive)
            return
        self.chosen_ = self._best(X, positive)
        best = self._with(self.chosen_)
        best._learn(X, positive)
        self.__dict__.update((k, v) for k, v in vars(best).items() if k in _LEARNT)

    def _first(self) -> dict[str, Any]:
        return {name: values[0] for name, values in (self.choose or {}).items()}

    def _with(self, settings: dict[str, Any]) -> Self:
        """Return a copy with these settings, which chooses none."""
        made = copy.copy(self)
        made.__dict__.update(settings, choose=None)
        return made

    def _best(self, X: Features, positive: Any) -> dict[str, Any]:
        """Return the settings for which held-out positives rank highest."""
        order = np.random.default_rng(0).permutation(len(positive))[:_MOST]
        held, rest = np.split(order, [len(order) // 3])
        if not len(held):
            raise InputError(f"choose needs 3 items with a named label, and y has {len(order)}")
        (*names,) = choices = self.choose or {}
        pairs = itertools.product(*(choices[name] for name in names[:2]))
        steps = [dict(zip(names, pair, strict=False)) for pair in pairs]
        steps += [{name: value} for name in names[2:] for value in choices[name]]
        best, top = self._first(), 0.0
        for step in steps:
            tried = {**best, **step}
            if top and tried == best:
                continue
            classifier = self._with(tried)
            classifier._learn(X[rest], positive[rest])
            rank = _reciprocal_rank(positive[held], classifier._decision(X[held]))
            if rank > top:
                best, top = tried, rank
        return best

    def _learn(self, X: Features, positive: Any) -> None:
        if not self.scaled:
            self._descend(X, positive)
            return
        scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        self._descend(scaler.transform(X), positive)
        coef = self.coef_ / scaler.scale_
        shift = coef @ scaler.mean_ if scaler.with_mean else 0.0
        self.model_ = LinearMap(coef, self.intercept_ - shift)

    def _descend(self, X: Features, positive: Any) -> None:
        generator = self._generator()
        settings = self._settings(X, generator, "classifier")
        told, device = settings.pop("on_epoch"), settings["device"]
        centre = self._centre(X)
        rows = X if centre is None else X - centre
        with self._new_network(X, positive.shape[1], generator) as network:
            kind, names, settled = _LOSSES[self.loss]
            given = {name: getattr(self, name) for name in names} | settled
            marks = torch.from_numpy(positive.astype(np.float32)).to(device)
            loss: PositiveLoss = kind(marks, **given)

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
        self._keep(network, X, centre)

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


def _reciprocal_rank(named: Any, scores: Any) -> float:
    """Return the mean of one over the rank of each label that was named, among all labels."""
    item, label = np.nonzero(named)
    own = scores[item, label]
    return float((1 / (scores[item] >= own[:, np.newaxis]).sum(axis=1)).mean())
