r"""The likelihood of any mix of answers about items.

Labels are independent given x, with p_k = sigmoid(z_k). *Facts* are answers that judge one label,
rules that exclude it, and lists of tags. They multiply the probabilities of its two cases (it
applies, or not), so they shift its logit. *Namings* pick some of the labels on offer. Their
probability, given the facts, is one integral for one naming, and also for several namings of one
label from one menu.
Further namings of an item are multiplied, each given the facts. This composite likelihood is
consistent, but it ignores what several answers say together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from complabel._parameters import Array
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.losses._base import (
    FirstOutputs,
    check_mistakes,
    check_propensities,
    check_rates,
    differentiable,
    usable,
)
from complabel.losses._evaluation import Evaluation, Point
from complabel.losses._facts import Facts, lay_out_facts
from complabel.losses._namings import Group, add_namings, add_skips, lay_out_namings

# Beyond these log-odds, probabilities are 0 or 1 but for rounding.
_MOST_LOG_ODDS = 30.0


class AnswersLikelihood(torch.nn.Module):
    """The likelihood of some answers, laid out once and computed for many logits.

    In a training loop of your own, ``likelihood.batch(rows)`` is the likelihood of the answers
    about some items, and its ``log_likelihood`` is what a network maximizes. It moves with ``to``,
    also as a part of a network. It adds nothing to the ``state_dict``: answers are data.

    Parameters
    ----------
    answers : Answers
        Answers about n items and K labels. Their weights are exponents of probabilities, see
        :meth:`complabel.answers.Answers.with_weight`.
    exclusion_rates : ndarray of shape (K,) or None, default=None
        How often a label that does not apply is excluded.
    exposure : ndarray of shape (K,) or None, default=None
        How often a label that applies is tagged.
    with_error_rates : bool, default=False
        Whether annotators make mistakes. If so, each call takes their ``error_rates``, or the rates
        of labels that they ``missed`` and ``invented``.
    dtype : torch.dtype, default=torch.float64
        Type of the computation: float64 or float32. A network that becomes half precision leaves
        it as it is.
    device : torch.device or str, default="cpu"

    Attributes
    ----------
    shape : tuple of int
        Number of items and of labels.
    dtype : torch.dtype
    with_error_rates : bool

    Raises
    ------
    AnnotationError
        If the answers contradict each other and ``with_error_rates`` is False.
    InputError
        If labels were excluded and ``exclusion_rates`` is None, or tagged without ``exposure``.

    See Also
    --------
    answers_log_likelihood : The same in one call, for all items.
    complabel.methods.NetworkLikelihoodClassifier : A training loop that is ready.

    Examples
    --------
    Take a step of gradient descent on two of three pictures:

    >>> from complabel.answers import Answers
    >>> answers = Answers.from_arrays(absent=[[1, 0], [1, 0], [0, 1]])
    >>> likelihood = AnswersLikelihood(answers)
    >>> network, rows = torch.nn.Linear(4, 2), torch.tensor([2, 0])
    >>> logits = network(torch.zeros(3, 4)[rows])
    >>> loss = -likelihood.batch(rows).log_likelihood(logits).mean()
    >>> loss.backward()
    """

    __call__: Callable[..., Evaluation]

    def __init__(
        self,
        answers: Answers,
        *,
        exclusion_rates: Array | None = None,
        exposure: Array | None = None,
        with_error_rates: bool = False,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        where: Any = {"dtype": dtype, "device": torch.device(device)}
        where["with_error_rates"] = with_error_rates
        listed: Any = {"exclusion_rates": exclusion_rates, "exposure": exposure}
        self.shape = answers.shape
        self.dtype = dtype
        self.with_error_rates = with_error_rates
        self._device = torch.device(device)
        self._first_outputs = FirstOutputs()  # shared with all batches
        self._n_rates = len(answers.annotator_names) + 1
        # The caller may be in inference mode. Autograd does not accept tensors made in it.
        with torch.inference_mode(False):
            self._layers = [
                _Layer(
                    lay_out_facts(part, **listed, **where),
                    lay_out_namings(part, **where),
                    None if weights is None else self._tensor(torch.from_numpy(weights)),
                )
                for part, weights in _layers_of(answers)
            ]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        # ``to``, ``float`` and ``cuda`` of any module call this. The tensors are no buffers: DDP
        # would overwrite them with the answers that the first process has.
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]

        def moved(tensor: Tensor) -> Tensor:
            changed = fn(tensor)
            half = tensor.is_floating_point() and torch.finfo(changed.dtype).bits < 32
            return changed.to(tensor.dtype) if half else changed

        with torch.inference_mode(False):
            self._layers = _with_tensors(moved, self._layers)
            at = moved(torch.empty(0, dtype=self.dtype, device=self._device))
        self.dtype, self._device = at.dtype, at.device
        return self

    def batch(self, rows: ArrayLike | Tensor) -> AnswersLikelihood:
        """Return the likelihood of the answers about some items, in time and memory for these.

        Parameters
        ----------
        rows : tensor or array-like of shape (b,) of int
            Numbers of the items, in any order. An item may occur more than once.

        Returns
        -------
        AnswersLikelihood
            Row i of its logits is the item ``rows[i]``.
        """
        rows = self._read_rows(rows)
        return self._but(
            (len(rows), self.shape[1]), [layer.of_rows(rows) for layer in self._layers]
        )

    def by_cell(self) -> tuple[AnswersLikelihood, Tensor, Tensor] | None:
        """Return the likelihood as one of F items with one label, and the item and label of each.

        These are the pairs that answers judge. None if answers do more, or if some may be mistakes.
        """
        if len(self._layers) != 1 or self._layers[0].groups:
            return None
        layer, facts = self._layers[0], self._layers[0].facts
        if facts is None or len(facts.judged):
            return None
        item, n = facts.item, len(facts.item)
        weights = None if layer.weights is None else layer.weights.index_select(0, item)
        alone = replace(facts, n_items=n, item=torch.arange(n), label=torch.zeros_like(item))
        return self._but((n, 1), [_Layer(alone, [], weights)]), item, facts.label

    def _but(self, shape: tuple[int, int], layers: list[_Layer]) -> AnswersLikelihood:
        other = type(self).__new__(type(self))  # copy.copy of a module would show in the time
        vars(other).update(vars(self), shape=shape, _layers=layers)
        return other

    def log_likelihood(
        self,
        logits: Tensor,
        *,
        log_propensities: Tensor | None = None,
        error_rates: Tensor | float | None = None,
        missed: Tensor | float | None = None,
        invented: Tensor | float | None = None,
    ) -> Tensor:
        """Compute log-likelihoods that torch can differentiate.

        Parameters
        ----------
        logits : tensor of shape (n, K)
            Of any float type; they are converted to ``dtype``.
        log_propensities : tensor of shape (K,) or (n, K) or None, default=None
            Logarithms of how readily labels come to mind. None: all alike. They may be a parameter
            to train.
        error_rates : float, tensor of shape (R + 1,) or None, default=None
            Rates in [0, 1] of the R annotators; the last is that of unknown ones.
        missed, invented : float, tensor of shape (R + 1,) or (R + 1, K) or None, default=None
            Instead of error rates, how often the annotators say that a label does not apply if it
            does, and that it applies if it does not. If one is None, it is 0. Rates must be given
            if ``with_error_rates`` is True, and only then. No gradient passes through them.

        Returns
        -------
        tensor of shape (n,)
            Log-probabilities in nats, times the weights, in the type of the logits, but at least in
            single precision; 0 for an item without an answer. First derivatives by ``logits`` and
            ``log_propensities`` are available.

        Warns
        -----
        UserWarning
            Once, if the first logits to be trained lie between 0 and 1, as after a sigmoid.
        """
        precise, log_w = usable(logits.to(self.dtype)), log_propensities
        rates = self._rates(error_rates, missed, invented)
        self._check(precise, rates)
        self._first_outputs.look(precise)
        trained = [precise]
        if log_w is not None:
            log_w = log_w.to(self.dtype)
            if log_w.requires_grad:  # a copy for each item, so that gradients are told apart
                trained.append(log_w.expand(self.shape))

        def evaluate(logits: Tensor, of_items: Tensor | None = log_w) -> tuple[Tensor, ...]:
            evaluation = self._evaluate(logits, of_items, rates)
            slopes = (evaluation.through_logits, evaluation.through_log_propensities)
            return evaluation.values, *(
                slope for slope in slopes[: len(trained)] if slope is not None
            )

        kind = torch.promote_types(logits.dtype, torch.float32)  # sums overflow in half precision
        return differentiable(evaluate, *trained).to(kind)

    @torch.no_grad()
    def forward(
        self,
        logits: Tensor,
        *,
        log_propensities: Tensor | None = None,
        error_rates: Tensor | None = None,
        missed: Tensor | None = None,
        invented: Tensor | None = None,
    ) -> Evaluation:
        """Compute log-likelihoods and gradients without autograd, from tensors of the dtype."""
        rates = self._rates(error_rates, missed, invented)
        self._check(logits, rates)
        return self._evaluate(logits, log_propensities, rates)

    @torch.no_grad()
    def log_odds(
        self,
        logits: Tensor,
        *,
        log_propensities: Tensor | None = None,
        error_rates: Tensor | float | None = None,
        missed: Tensor | float | None = None,
        invented: Tensor | float | None = None,
    ) -> Tensor:
        """Compute the log-odds that labels apply, given their logits and the answers.

        Parameters
        ----------
        logits : tensor of shape (n, K), of the dtype
        log_propensities, error_rates, missed, invented
            As of :meth:`log_likelihood`.

        Returns
        -------
        tensor of shape (n, K)
            Exact where the likelihood is. Where it is composite, the log-odds are approximate, and
            labels that become certain beyond rounding have log-odds of the facts alone.

        Raises
        ------
        InputError
            If answers have other weights than 1: these say what a fit learns, not what is true.
        """
        # The gradient of a log-likelihood by a logit is P(label applies | answers) - sigmoid(logit)
        # because answers depend on the logits only through the labels that apply.
        rates = self._rates(error_rates, missed, invented)
        self._check(logits, rates)
        if len(self._layers) != 1 or self._layers[0].weights is not None:
            raise InputError(
                "some answers have another weight than 1, with which what people said cannot be"
                " turned into a probability; give answers.with_weight(1), or a table without the"
                " column weight"
            )
        (layer,), point = self._layers, Point.at(logits, log_propensities, rates)
        given_facts = layer.given_facts(point)
        if not layer.groups:
            return given_facts
        through = torch.zeros_like(given_facts)
        for group in layer.groups:
            add_namings(group, point, given_facts, Evaluation.empty(point), through)
        p, q = torch.sigmoid(given_facts) + through, torch.sigmoid(-given_facts) - through
        by_namings = (through != 0) & (given_facts.abs() < _MOST_LOG_ODDS)
        least = torch.finfo(self.dtype).eps
        return torch.where(by_namings, p.clamp(least).log() - q.clamp(least).log(), given_facts)

    def _rates(
        self,
        error_rates: Tensor | float | None,
        missed: Tensor | float | None,
        invented: Tensor | float | None,
    ) -> Tensor | None:
        """Return error rates (R + 1,), or missed and invented (2, R + 1, 1 or K), or None."""
        if error_rates is None and missed is None and invented is None:
            return None
        if error_rates is not None:
            if missed is not None or invented is not None:
                raise InputError("give error_rates, or missed and invented, not both")
            return self._tensor(error_rates).expand(self._n_rates)
        both = [self._tensor(0.0 if rate is None else rate) for rate in (missed, invented)]
        both = [rate.unsqueeze(-1) if rate.ndim == 1 else rate for rate in both]
        n_labels = max(rate.shape[-1] if rate.ndim else 1 for rate in both)
        return torch.stack([rate.expand(self._n_rates, n_labels) for rate in both])

    def _tensor(self, values: Tensor | float) -> Tensor:
        return torch.as_tensor(values, dtype=self.dtype, device=self._device).detach()

    def _evaluate(
        self, logits: Tensor, log_propensities: Tensor | None, rates: Tensor | None
    ) -> Evaluation:
        point = Point.at(logits, log_propensities, rates)
        evaluation = Evaluation.empty(point)
        for layer in self._layers:
            layer.add_to(evaluation, replace(point, weights=layer.weights))
        return evaluation

    def _read_rows(self, rows: ArrayLike | Tensor) -> Tensor:
        numbers = torch.as_tensor(rows)
        kind = numbers.dtype
        is_other = kind == torch.bool or kind.is_floating_point or kind.is_complex
        if numbers.ndim != 1 or (len(numbers) and is_other):
            raise InputError(
                f"rows are {numbers.dtype} of shape {tuple(numbers.shape)}; give the numbers of"
                " some items as integers of shape (b,)"
            )
        if len(numbers):
            least, most = (int(end) for end in torch.aminmax(numbers))
            if least < 0 or most >= self.shape[0]:
                raise InputError(
                    f"rows hold {least if least < 0 else most}, but the answers are about"
                    f" {self.shape[0]} items; give numbers from 0 to {self.shape[0] - 1}"
                )
        return numbers.to(self._device, torch.int64)

    def _check(self, logits: Tensor, rates: Tensor | None) -> None:
        if tuple(logits.shape) != self.shape:
            raise InputError(
                f"logits have shape {tuple(logits.shape)}, but the answers are about"
                f" {self.shape[0]} items and {self.shape[1]} labels; give one row per item and one"
                " column per label"
            )
        if logits.dtype != self.dtype:
            raise InputError(
                f"logits are {logits.dtype}, but this likelihood was made for {self.dtype}; give"
                f" logits of {self.dtype}"
            )
        if self.with_error_rates != (rates is not None):
            advice = "give" if self.with_error_rates else "leave out"
            raise InputError(
                f"this likelihood was made with_error_rates={self.with_error_rates}; {advice}"
                " error_rates, or missed and invented"
            )


def _with_tensors(change: Callable[[Tensor], Tensor], part: Any) -> Any:
    if isinstance(part, Tensor):
        return change(part)
    if isinstance(part, list):
        return [_with_tensors(change, each) for each in part]
    if not is_dataclass(part) or isinstance(part, type):
        return part
    held = {field.name: getattr(part, field.name) for field in fields(part)}
    return replace(part, **{name: _with_tensors(change, each) for name, each in held.items()})


@dataclass(frozen=True)
class _Layer:
    """Some answers, laid out, with one weight for all answers about an item."""

    facts: Facts | None
    groups: list[Group]
    weights: Tensor | None  # (n,); None if all are 1

    def of_rows(self, rows: Tensor) -> _Layer:
        groups = (group.of_rows(rows) for group in self.groups)
        return _Layer(
            None if self.facts is None else self.facts.of_rows(rows),
            [group for group in groups if group is not None],
            None if self.weights is None else self.weights.index_select(0, rows),
        )

    def given_facts(self, point: Point) -> Tensor:
        return point.logits if self.facts is None else self.facts.shifted(point)

    def add_to(self, evaluation: Evaluation, point: Point) -> None:
        if self.facts is not None:
            self.facts.add_evidence(point, evaluation)
        if not self.groups:
            return
        given_facts = self.given_facts(point)
        through_given = torch.zeros_like(given_facts)
        for group in self.groups:
            add_namings(group, point, given_facts, evaluation, through_given)
            add_skips(group, point, evaluation)
        # The shifts do not depend on the logits, so this gradient passes through unchanged.
        evaluation.through_logits.add_(through_given)
        if self.facts is not None:
            self.facts.add_through_shift(point, through_given, evaluation)


def _layers_of(answers: Answers) -> Iterator[tuple[Answers, Array | None]]:
    """Divide answers into layers, in each of which the answers about an item have one weight (n,).

    Answers are usually independent only given which labels apply, so that one answer alone has no
    factor to raise to its weight. So all answers about an item count together with the least of
    their weights, those with a greater one once more with the difference to the next, and so on
    (Choquet's integral of the log-likelihood by the weights).
    """
    if not answers.weighted:
        yield answers, None
        return
    left = answers.weight
    while (left > 0).any():
        answers, left = answers.only(left > 0), left[left > 0]
        least = np.full(answers.n_items, np.inf)
        np.minimum.at(least, answers.item, left)
        least[np.isinf(least)] = 0
        yield answers, least
        left = left - least[answers.item]


def answers_log_likelihood(
    logits: Tensor,
    answers: Answers,
    *,
    propensities: ArrayLike | None = None,
    error_rates: ArrayLike = 0.0,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
    exclusion_rates: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Tensor:
    """Compute the log-probability of all that people answered about each item.

    Parameters
    ----------
    logits : tensor of shape (n, K)
        The logits z: a label applies with probability p = sigmoid(z).
    answers : Answers
        Answers about the n items: any mix of namings, judged labels and exclusions. Their weights
        are exponents of probabilities, see :meth:`complabel.answers.Answers.with_weight`.
    propensities : array-like of shape (K,) or None, default=None
        How readily each label comes to mind, relative to the others. None: all alike.
    error_rates : float or array-like of shape (R,), default=0.0
        Probability, in [0, 1], that an answer (or each judgement of several labels) is a mistake:
        drawn at random from all answers that the question allows. One number for all, or one for
        each annotator code; unknown annotators have the mean rate.
    missed, invented : float or array-like of shape (R,) or (R, K), default=0.0
        One-sided mistakes, instead of error rates: the probability, in [0, 1], that an annotator
        says that a label does not apply if it does (missed), and that it applies if it does not
        (invented). One number for all, one for each annotator, or one for each annotator and label;
        unknown annotators have the mean. Who names labels chooses among those that they perceive.
        Rules that exclude labels, and tags, have their own rates, and no mistakes.
    exclusion_rates : float, array-like of shape (K,) or None, default=None
        Probability, in [0, 1], that a label that does not apply is excluded; needed if some are.
    exposure : float, array-like of shape (K,) or None, default=None
        Probability, in [0, 1], that a label that applies is tagged; needed if some are.

    Returns
    -------
    tensor of shape (n,)
        Log-probabilities in nats; 0 for an item without an answer. First derivatives are
        available, second derivatives are not.

    Raises
    ------
    AnnotationError
        If answers contradict each other and no mistakes are allowed.
    InputError
        If a rate is not between 0 and 1, or if there are error rates besides one-sided mistakes.

    See Also
    --------
    AnswersLikelihood : The same, laid out once for many logits and for batches.
    selection_log_likelihood : The case of labels that were named freely.

    Notes
    -----
    Judged labels, exclusions and tags are treated exactly, as are, in addition, namings of one
    label each from the same menu, or one naming of several labels. All other namings of an item are
    multiplied, each given the facts; so are several namings if there are mistakes. That is a
    composite likelihood. Integrals are exact to rounding up to 24 labels, and have a relative error
    below 1e-8 beyond.

    Examples
    --------
    >>> from complabel.answers import Answers
    >>> asked = Answers.from_arrays(relevant=[[1, 0, 0]], offered=[[1, 0, 0]])  # "is it 0?": yes
    >>> float(answers_log_likelihood(torch.zeros(1, 3), asked).exp())
    0.5

    Each label applies with a chance of .5, and is tagged with .8 if it does; one is, two are not:

    >>> tags = Answers.from_arrays(tagged=[[1, 0, 0]])
    >>> chance = answers_log_likelihood(torch.zeros(1, 3), tags, exposure=0.8).exp()
    >>> f"{float(chance):.3f} = {0.5 * 0.8 * (1 - 0.5 * 0.8) ** 2:.3f}"
    '0.144 = 0.144'
    """
    rates = _rates_of_mistakes(answers, error_rates, missed, invented)
    listed: Any = {
        name: None if values is None else check_rates(name, values, answers.n_labels, "label")
        for name, values in (("exclusion_rates", exclusion_rates), ("exposure", exposure))
    }
    if not logits.is_floating_point():
        raise InputError(f"logits are {logits.dtype}; give floats, the values before a sigmoid")
    # In half precision, the log-odds of settled labels (1e30) and small probabilities overflow.
    precise = logits if logits.dtype == torch.float64 else logits.float()
    likelihood = AnswersLikelihood(
        answers,
        **listed,
        with_error_rates=bool(rates),
        dtype=precise.dtype,
        device=precise.device,
    )

    def tensor(values: Array) -> Tensor:
        return torch.as_tensor(values, dtype=precise.dtype, device=precise.device)

    log_w = None
    if propensities is not None:
        log_w = tensor(np.log(check_propensities(propensities, answers.n_labels)))
    return likelihood.log_likelihood(
        precise, log_propensities=log_w, **{name: tensor(values) for name, values in rates.items()}
    )


def _rates_of_mistakes(
    answers: Answers, error_rates: ArrayLike, missed: ArrayLike, invented: ArrayLike
) -> dict[str, Array]:
    """Return the rates that a call takes, by name, those of unknown annotators last."""
    n_annotators = len(answers.annotator_names)
    rates = check_rates("error_rates", error_rates, n_annotators, "annotator")
    unknown = rates.mean() if len(rates) else float(np.asarray(error_rates))
    both = {"missed": missed, "invented": invented}
    one_sided = {name: check_mistakes(name, each, answers) for name, each in both.items()}
    if not any(values.any() for values in one_sided.values()):
        return {"error_rates": np.append(rates, unknown)} if unknown > 0 else {}
    if unknown > 0:
        raise InputError(
            "there are error_rates, and labels that are missed or invented; give only one sort of"
            " mistakes"
        )
    return one_sided
