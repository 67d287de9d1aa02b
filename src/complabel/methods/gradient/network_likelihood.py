"""The method that trains any network by the exact likelihood of answers, in mini-batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike

from complabel._parameters import Array, Constraints, Features, Real
from complabel._questions import RATES_OF_LISTS
from complabel._training import descend
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.losses import AnswersLikelihood, answers_log_likelihood, check_rates
from complabel.methods._consensus import Answered, ConsensusMixin
from complabel.methods._kinds import (
    AnswerKinds,
    given_propensities,
    refuse_shared_propensities,
    refuse_undetermined_propensities,
    warn_of_free_namings,
)
from complabel.methods._saving import MISSING, Numbers
from complabel.methods.gradient._base import GradientClassifier

# Standard deviation of the prior of log-propensities: at 1, one label in twenty comes to mind five
# times as readily as a usual one. It matters only where answers say little.
_SPREAD = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkLikelihoodClassifier(ConsensusMixin, GradientClassifier):
    """Multi-label classifier that trains any torch network by the exact likelihood of answers.

    X may have any number of axes: with pictures of shape (n, 1, 28, 28), the network gets batches
    (b, 1, 28, 28). The likelihood is that of :class:`SelectionLikelihoodClassifier`.

    Parameters
    ----------
    propensities : None, "auto", "equal" or array-like of shape (K,), default=None
        How readily each label comes to mind when a person names one, relative to the others.
        ``"auto"`` trains them with the network, and is refused if the answers do not determine
        them (see :class:`SelectionLikelihoodClassifier`); then None treats all labels as alike,
        with a warning if labels were named freely. ``"equal"`` always treats them as alike.
    error_rate : float, default=0.0
        The probability, in [0, 1), that an answer is a mistake: drawn at random from all answers
        that the question allows. It must be above 0 if answers contradict each other.
    missed, invented : float, default=0.0
        One-sided mistakes, instead of ``error_rate``: the probabilities, in [0, 1), that a person
        does not see that a label applies, and that a person thinks that one applies which does not.
    exclusion_rates : None, float or array-like of shape (K,), default=None
        The probability, in [0, 1], that a rule or report excludes a label that does not apply. It
        must be given if the answers hold exclusions.
    exposure : None, float or array-like of shape (K,), default=None
        The same of labels that apply, and of tags.
    cardinality : float or None, default=None
        c, the expected number of relevant labels per row: the mean of (sum_k p_k - c)^2 is added to
        the loss. None leaves this out, but is 1 for one class per row. If all labels were named
        freely, take ``cardinality_`` of a :class:`SelectionLikelihoodClassifier`.
    network, learning_rate, weight_decay, batch_size, epochs, threshold, device, random_state
        As in :class:`MLCLClassifier`; ``learning_rate`` is a number.
    callback
        As in :class:`MLCLClassifier`.

    Attributes
    ----------
    propensities_ : ndarray of shape (K,)
        Propensities, given or trained (with a geometric mean of 1). Only if there are some.
    model_, coef_, intercept_
        As in :class:`MLCLClassifier`.

    Warns
    -----
    AssumedUniformWarning
        If labels were named freely, and the fit assumes that all come to mind equally.

    Notes
    -----
    Choose ``epochs``, ``learning_rate`` and ``weight_decay`` by held-out answers, with
    :func:`held_out_score` or a search of scikit-learn. X is copied in double precision unless its
    type is float32; the network gets float32.

    ``save`` writes networks of usual layers. If yours has others, such as convolutions, keep its
    code, and save ``model_.state_dict()`` with ``torch.save``.

    Examples
    --------
    >>> import numpy as np
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> pictures = rng.normal(size=(400, 1, 4, 4)).astype(np.float32)
    >>> relevant = (pictures.mean(axis=(1, 3)) > 0).astype(int)  # which of its rows are bright
    >>> answers = draw_answers(relevant, question="asked", random_state=0)
    >>> def network(shape, n_labels):
    ...     layers = torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten()
    ...     return torch.nn.Sequential(*layers, torch.nn.Linear(8 * 2 * 2, n_labels))
    >>> classifier = NetworkLikelihoodClassifier(network=network, random_state=0)
    >>> predicted = classifier.fit(pictures, answers).predict(pictures)
    >>> float((predicted == relevant).mean().round(1))
    0.8
    """

    models_the_choice = True
    understands_answers = True
    _constraints: ClassVar[Constraints] = {
        "error_rate": Real(at_least=0, below=1),
        "missed": Real(at_least=0, below=1),
        "invented": Real(at_least=0, below=1),
        "cardinality": (None, Real(above=0)),
    }
    _fitted: ClassVar[Constraints] = {"propensities_": (MISSING, Numbers("K"))}

    propensities: str | ArrayLike | None = None
    error_rate: float = 0.0
    missed: float = 0.0
    invented: float = 0.0
    exclusion_rates: ArrayLike | None = None
    exposure: ArrayLike | None = None
    cardinality: float | None = None
    learning_rate: float = 0.001
    batch_size: int = 64
    epochs: int = 50

    def _fit_answers(self, X: Features, answers: Answers, /) -> None:
        self._forget("propensities_")
        mistakes = self._mistakes()
        log_w, trains = self._start_of_propensities(answers)
        listed = self._rates_of_lists(answers.n_labels)
        generator = self._generator()
        settings = self._settings(X, generator, "classifier")
        centre = self._centre(X)
        rows = X if centre is None else X - centre
        where: Any = {"dtype": torch.float32, "device": settings["device"]}
        with self._new_network(X, answers.n_labels, generator) as network:
            start = (
                None if log_w is None else torch.nn.Parameter(torch.tensor(log_w, **where), trains)
            )
            objective = _Objective(
                AnswersLikelihood(answers, **listed, with_error_rates=bool(mistakes), **where),
                log_propensities=start,
                mistakes=mistakes,
                cardinality=1.0 if self.cardinality is None and self._single else self.cardinality,
                weights=torch.tensor(answers.item_weight, **where),
                of_mean_item=AnswerKinds.of(answers).tell_numbers,
            )
            descend(network, rows, objective, others=objective.trained, **settings)
        for trained in objective.trained:
            log_propensities = trained.detach().double().cpu().numpy()
            log_w = log_propensities - log_propensities.mean()
        if log_w is not None:
            self.propensities_ = np.exp(log_w)
        self._keep(network, X, centre)

    def _rates_of_lists(self, n_labels: int) -> dict[str, Any]:
        """Return the rates of lists, checked, by the names that the likelihood gives them."""
        given = {name: getattr(self, name) for name in RATES_OF_LISTS.values()}
        return {
            name: None if rates is None else check_rates(name, rates, n_labels, "label")
            for name, rates in given.items()
        }

    def _mistakes(self) -> dict[str, float]:
        """Return the rates of mistakes by the names that the likelihood gives them."""
        one_sided = {"missed": self.missed, "invented": self.invented}
        if not any(one_sided.values()):
            return {"error_rates": self.error_rate} if self.error_rate else {}
        if self.error_rate:
            raise InputError(
                f"error_rate is {self.error_rate!r}, and labels are missed or invented; give only"
                " one sort of mistakes"
            )
        return one_sided

    def _start_of_propensities(self, answers: Answers) -> tuple[Array | None, bool]:
        """Return log-propensities (K,), or None if all are alike; and whether to train them."""
        propensities = given_propensities(self.propensities, answers.n_labels)
        kinds = AnswerKinds.of(answers)
        refuse_shared_propensities(kinds, self.propensities)
        if propensities is not None:
            return np.log(propensities), False
        if self.propensities == "auto":
            refuse_undetermined_propensities(kinds)
        if self.propensities != "equal" and kinds.determine_propensities and not kinds.of_both:
            return np.zeros(answers.n_labels), True
        if self.propensities is None and kinds.free:
            warn_of_free_namings(kinds)
        return None, False

    def _answers_log_likelihood(self, decision: Array, answers: Answers, /) -> Array:
        log_likelihood = answers_log_likelihood(
            torch.from_numpy(decision),
            answers,
            propensities=getattr(self, "propensities_", None),
            **self._mistakes(),
            **self._rates_of_lists(answers.n_labels),
        )
        return np.asarray(log_likelihood.numpy())

    def _answered(self, answers: Answers, /) -> Answered:
        mistakes, listed = self._mistakes(), self._rates_of_lists(answers.n_labels)
        rates = None
        if mistakes:
            # The same for everybody: an error rate, or rates of missed and of invented labels.
            n_rates = len(answers.annotator_names) + 1
            rates = np.outer([*mistakes.values()], np.ones(n_rates))
            rates = rates[0] if len(rates) == 1 else rates[:, :, np.newaxis]
        return Answered(answers, getattr(self, "propensities_", None), rates, **listed)


@dataclass(frozen=True)
class _Objective:
    """Minus the mean log-likelihood of a batch, plus penalties."""

    likelihood: AnswersLikelihood
    log_propensities: torch.nn.Parameter | None
    mistakes: dict[str, float]  # rates by their names; empty if there are none
    cardinality: float | None
    weights: torch.Tensor  # (n,), of items
    of_mean_item: bool  # whether the cardinality is one of the mean item, not of each

    @cached_property
    def mean_weight(self) -> float:
        return float(self.weights.mean())

    @property
    def trained(self) -> list[torch.nn.Parameter]:
        log_w = self.log_propensities
        return [] if log_w is None or not log_w.requires_grad else [log_w]

    def __call__(self, logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Return the loss of the items ``rows`` (b,) for logits (b, K)."""
        # Divided by the mean weight of all items, not of the batch: the mean of batches is exact.
        size = self.mean_weight
        log_likelihood = self.likelihood.batch(rows).log_likelihood(
            logits, log_propensities=self.log_propensities, **self.mistakes
        )
        loss = -log_likelihood.mean() / size
        if self.cardinality is not None:
            excess = torch.sigmoid(logits).sum(dim=1) - self.cardinality
            mean = (self.weights[rows] * excess).mean() / size
            of_each = (self.weights[rows] * excess.square()).mean() / size
            loss = loss + (mean.square() if self.of_mean_item else of_each)
        for log_w in self.trained:
            n = self.likelihood.shape[0] * size
            loss = loss + log_w.square().sum() / (2 * _SPREAD**2 * n)
        return loss
