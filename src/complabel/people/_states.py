r"""The model of what people say about a label: a scale that all see, or two states.

People who judge the same pair of an item and a label do not err independently. Some pairs are
doubtful, and there a share of all people says "yes". So a pair lies somewhere on a scale, at x from
a normal distribution around s z - c, where z is the log-odds that a classifier gives the label from
the features; the slope s and the threshold c are of each label. Person r says "yes" to label k with
log-odds o = exp(a + l_k + v_r / 2) x + u_r: a person sees the scale more or less sharply, and says
"yes" more or less readily. These are Samejima's graded responses (1969); x is one of 16 points.

Where held-out judgements are not clearly likelier with it, there are two states: the label applies
with chance sigmoid(s z - c), and o = b_state + l_state,k + u_r,state. That is the model of Dawid
and Skene (1979) with rates by person and label.

Where some are unsure, people say yes with chance sigmoid(o - w / 2), no with sigmoid(-o - w / 2),
and are unsure else. log(w) is a number that all share and one of each person, by state if there are
two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import optimize, sparse
from scipy.sparse import csgraph
from torch import Tensor
from torch.nn import functional

from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel.answers import Answers, check_positions

UNSURE = 0.5  # between no, 0, and yes, 1
_POINTS, _REACH = 16, 6.0  # of the scale, and how far it goes to both sides
_SPREAD = 2.0  # the standard deviation of pairs on the scale, given the features
# Log-odds of a "yes" in each of two states, or the logarithm of the scale's slope: means of normal
# priors with a standard deviation of 1, and where the search starts. They keep the states' order.
_START = {2: (-4.0, 1.0), _POINTS: (0.6,)}
# Standard deviations of normal priors, in log-odds. The thresholds differ by label as much as label
# frequencies do. Labels and people differ from the common rates by less.
_PRIOR = {"slope": 0.3, "threshold": 2.0, "of_label": 0.5, "of_person": 1.0}
_PRIOR |= {"unsure": 1.0, "of_unsure": 0.5}  # logarithms of widths
_LEAST_CURVED = 0.05  # of the posterior density: less would be a flat direction
_MOST_CURVED = 700  # parameters whose second derivatives are all computed; with more,
_MANY = 100  # that many people, or labels, count as independent of each other
_COMMON = 3.0  # of the common slope and threshold, which little should hold
_MAX_ITER = 200
_TAIL = 4  # degrees of freedom of draws of parameters


@dataclass(frozen=True, eq=False)
class Judgements:
    """J judgements by R people about P pairs of an item and one of K labels."""

    item: Ints  # (P,)
    label: Ints  # (P,)
    pair: Ints  # (J,)
    yes: AnyArray  # (J,), 1 or 0, or .5 where somebody was unsure
    person: Ints  # (J,), -1 where unknown
    n_labels: int
    n_people: int
    with_unsure: bool = False  # also where these are a part in which nobody is

    @classmethod
    def of(cls, answers: Answers, unsure: tuple[ArrayLike, ...] | None = None) -> Judgements:
        """Collect the labels that people judged, asked about, or ticked or left; or were unsure."""
        statements = answers.statements()
        statements = statements.only(answers.judges[statements.answer])
        annotator = answers.annotator[statements.answer]
        columns: Iterable[AnyArray] = (statements.pair, statements.applies + 0.0, annotator)
        if unsure is not None:
            item, label, person = check_positions(unsure, answers, people=True)
            more = item * answers.n_labels + label, np.full(len(item), UNSURE), person
            columns = map(np.concatenate, zip(columns, more, strict=True))
        of_pair, yes, person = columns
        pairs, pair = np.unique(of_pair, return_inverse=True)
        item, label = np.divmod(pairs, answers.n_labels)
        return cls(
            item=item.astype(np.intp),
            label=label.astype(np.intp),
            pair=pair,
            yes=yes,
            person=person,
            n_labels=answers.n_labels,
            n_people=len(answers.annotator_names),
            with_unsure=bool((yes == UNSURE).any()),
        )

    @property
    def repeated(self) -> Bools:
        """Whether a pair was judged more than once, (P,)."""
        return np.bincount(self.pair, minlength=len(self.item)) > 1

    def are_identifiable(self) -> Bools:
        """Return whose rates, (R,), the answers can tell from those of the others.

        If a and b judged the same, it may be either who errs. With c, who judged the same as both,
        three agreements tell three rates. So people must form an odd circle: where they fall into
        two sides that judged the same only as people of the other side, all of one side may err.
        """
        person, pair = self.person[self.person >= 0], self.pair[self.person >= 0]
        size = (len(self.item), self.n_people)
        judged: Any = sparse.csr_array((np.ones(len(pair)), (pair, person)), shape=size)
        graph = (judged.T @ judged).tocsr()
        graph.setdiag(0)
        graph.eliminate_zeros()
        # In the graph with two copies of each person, both are connected if there is an odd circle.
        twice = sparse.block_array([[None, graph], [graph, None]], format="csr")
        _, part = csgraph.connected_components(twice, directed=False)
        return np.asarray(part[: self.n_people] == part[self.n_people :])

    def disagreement(self, applies: bool) -> tuple[AnyArray, AnyArray]:
        """Return how often each person contradicts others who say so of a pair, (R,), of how many.

        The judgements of a pair by several others count as one, by the share of those who say so.
        """
        same = np.bincount(self.pair, self.yes == applies, minlength=len(self.item))[self.pair]
        others = np.bincount(self.pair, minlength=len(self.item))[self.pair] - 1
        by_others = (same - (self.yes == applies)) / np.maximum(others, 1)
        known = self.person >= 0
        return tuple(  # type: ignore[return-value]
            np.bincount(self.person[known], weight[known], minlength=self.n_people)
            for weight in (by_others * (self.yes != applies), by_others)
        )

    def only(self, which: Bools) -> Judgements:
        """Return some of the judgements, (J,), and the pairs that they are about."""
        pairs, pair = np.unique(self.pair[which], return_inverse=True)
        arrays: dict[str, Any] = {"yes": self.yes[which], "person": self.person[which]}
        return replace(self, item=self.item[pairs], label=self.label[pairs], pair=pair, **arrays)


@dataclass(frozen=True, eq=False)
class States:
    """The fitted model; the last axis of log-probabilities is the state, of S states."""

    given_answers: Array  # (P, S)
    of_judgement: Array  # (J, S), of each judgement in each state
    chance_of_yes: Array  # (S, K), by people as they are on average
    chance_of_no: Array
    model: _Model
    values: Tensor  # of the model's parameters

    @property
    def applies(self) -> Bools:
        """In which states a label applies, (K, S)."""
        applies = self.chance_of_yes.T > self.chance_of_no.T
        applies[:, -1] = True  # also a label that most people miss
        return applies

    def of_all(self, judgements: Judgements, log_odds: Array) -> tuple[Array, Array, Array]:
        """Return which shares of people say yes and are unsure, and how probably a label applies.

        All have shape (n, K), and follow from the features and, where there are any, the answers.
        """
        with torch.no_grad():
            states = self.model.of_features(self.values, torch.from_numpy(log_odds)).exp().numpy()
        states[judgements.item, judgements.label] = np.exp(self.given_answers)
        yes, sure = self.chance_of_yes.T, self.chance_of_yes.T + self.chance_of_no.T
        yes, sure, applies = ((states * each).sum(axis=-1) for each in (yes, sure, self.applies))
        return yes, np.maximum(1 - sure, 0.0), applies

    def drawn(self, n: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield how probably each pair's label applies, (P,), at draws of the parameters.

        They are drawn around the posterior mode with the tails of Student's t: the normal
        distribution (Laplace) takes too little account of people who may all be wrong.
        """
        values, vectors = np.linalg.eigh(self.model.curvature(self.values))
        spread = vectors / np.sqrt(np.maximum(values, _LEAST_CURVED))
        for _ in range(n):
            drawn = rng.standard_normal(len(values)) * np.sqrt(_TAIL / rng.chisquare(_TAIL))
            moved = self.values + torch.from_numpy(spread @ drawn)
            with torch.no_grad():
                states = self.model.states(moved)
            yield (np.exp(states.given_answers) * states.applies[self.model.label]).sum(axis=1)

    def of_each(self, judgements: Judgements) -> Array:
        """Return the log-probability (J,) of each judgement given all others and the features."""
        chances = self.without_each(judgements) + self.of_judgement
        return np.asarray(np.logaddexp.reduce(chances, axis=1))

    def without_each(self, judgements: Judgements) -> Array:
        """Return the states' log-probabilities (J, S) given all answers but this one."""
        left = self.given_answers[judgements.pair] - self.of_judgement
        return np.asarray(left - np.logaddexp.reduce(left, axis=1, keepdims=True))


def fit_states(judgements: Judgements, log_odds: Array, n_states: int = _POINTS) -> States:
    """Fit the model by the largest posterior density; ``log_odds`` z (n, K) are held out."""
    model = _Model(judgements, log_odds, n_states)
    optimum = optimize.minimize(
        model.loss_and_gradient,
        model.start(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITER},
    )
    with torch.no_grad():
        return model.states(torch.from_numpy(optimum.x))


def choose_states(judgements: Judgements, log_odds: Array, rng: np.random.Generator) -> int:
    """Return 16 if repeated judgements tell that people differ about some pairs, else 2.

    Models of one half of the items say how likely each judgement about the other half is, given
    the others of its pair and the features. The scale has to gain more than a standard error (the
    rule of Breiman and others, 1984): where people only err, it finds mistakes that nobody made.
    """
    halves = rng.integers(2, size=len(log_odds))[judgements.item[judgements.pair]]
    gain = np.zeros(len(log_odds))  # of items, because judgements of one item are alike
    for half in (0, 1):
        learned = judgements.only(halves != half)
        tested = judgements.only((halves == half) & judgements.repeated[judgements.pair])
        if not (len(learned.pair) and len(tested.pair)):
            return 2
        for n_states, sign in ((2, -1), (_POINTS, 1)):
            values = fit_states(learned, log_odds, n_states).values
            chances = _Model(tested, log_odds, n_states).states(values).of_each(tested)
            gain += sign * np.bincount(tested.item[tested.pair], chances, len(gain))
    return _POINTS if gain.sum() > np.sqrt(len(gain)) * gain.std() else 2


class _Model:
    """The posterior density as a function of one vector of all parameters."""

    def __init__(self, judgements: Judgements, log_odds: Array, n_states: int = _POINTS) -> None:
        K, R = judgements.n_labels, judgements.n_people
        self._start = torch.tensor(_START[n_states], dtype=torch.float64)
        n = len(self._start)  # of the rates: two states, or one scale
        self._sizes: dict[str, tuple[int, ...]] = {
            "slope": (K + 1,),  # logarithms, the common one last
            "threshold": (K + 1,),
            "state": (n,),
            "of_label": (n, K),
            "of_person": (2, R),  # in each state; or how sharply a person sees, and how readily
        }
        scale = torch.linspace(-_REACH, _REACH, n_states, dtype=torch.float64)
        self._points = None if n == 2 else scale
        self._unsure = torch.from_numpy(judgements.yes == UNSURE).unsqueeze(1)
        if judgements.with_unsure:
            self._sizes |= {"unsure": (n,), "of_unsure": (n, R)}
        z = log_odds[judgements.item, judgements.label]
        self._z = torch.from_numpy(np.asarray(z, dtype=np.float64))
        self.label = judgements.label
        self._label = torch.from_numpy(judgements.label)
        self._pair = torch.from_numpy(judgements.pair)
        self._person = torch.from_numpy(judgements.person)
        self._sign = torch.from_numpy(2.0 * judgements.yes - 1).unsqueeze(1)

    def start(self) -> Array:
        parts = {name: np.zeros(shape) for name, shape in self._sizes.items()}
        parts["state"][:] = self._start.numpy()
        return np.concatenate([part.ravel() for part in parts.values()])

    def loss_and_gradient(self, values: Array) -> tuple[float, Array]:
        at = torch.from_numpy(values.copy()).requires_grad_()
        loss = self._loss(at)
        (gradient,) = torch.autograd.grad(loss, at)
        return float(loss.detach()), gradient.numpy()

    def curvature(self, values: Tensor) -> Array:
        """Return the second derivatives (D, D) of the loss; of many people only sums of rows."""
        at = values.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(self._loss(at), at, create_graph=True)
        hessian = torch.eye(len(at), dtype=torch.float64)
        parts, many = self._parts(torch.arange(len(at))), []
        if len(at) > _MOST_CURVED:
            rows = (
                (name, row) for name in parts for row in parts[name].view(-1, parts[name].shape[-1])
            )
            many = [(name, row[:-1]) for name, row in rows if len(row) > _MANY]
        few = sorted({*range(len(at))}.difference(*(row.tolist() for _, row in many)))
        for row in few:
            (hessian[row],) = torch.autograd.grad(gradient[row], at, retain_graph=True)
        hessian[:, few] = hessian[few].T
        for name, each in many:
            (sums,) = torch.autograd.grad(gradient[each].sum(), at, retain_graph=True)
            hessian[each, each] = sums[each].clamp(min=_PRIOR[name] ** -2)
        return hessian.numpy()

    def _loss(self, at: Tensor) -> Tensor:
        of_pair, of_judgement, parts = self._chances(at)
        evidence = torch.logsumexp(of_pair + self._by_pair(of_judgement), dim=1).sum()
        loss = (parts["state"] - self._start).square().sum() / 2 - evidence
        for name in parts.keys() & _PRIOR.keys():
            spreads = torch.full(self._sizes[name], _PRIOR[name], dtype=torch.float64)
            if name in ("slope", "threshold"):  # the last entry is what all labels share
                spreads[-1] = _COMMON
            loss = loss + (parts[name] / spreads).square().sum() / 2
        return loss

    def states(self, values: Tensor) -> States:
        of_pair, of_judgement, parts = self._chances(values)
        posterior = torch.log_softmax(of_pair + self._by_pair(of_judgement), dim=1)
        typical = {name: each.mean(dim=1, keepdim=True) for name, each in self._people(parts)}
        odds = self._odds(parts, parts["of_label"], typical["of_person"])
        width = torch.zeros(1)
        if "unsure" in parts:
            width = (parts["unsure"] + typical["of_unsure"].t()).exp() / 2
        yes, no = (torch.sigmoid(sign * odds - width).t().numpy() for sign in (1, -1))
        return States(posterior.numpy(), of_judgement.numpy(), yes, no, self, values)

    def of_features(self, values: Tensor, z: Tensor) -> Tensor:
        """Return log-probabilities of the states (n, K, S), given log-odds z (n, K)."""
        return self._of_states(self._parts(values), slice(None), z)

    def _chances(self, values: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Return log-probabilities of the states (P, S) and of judgements (J, S)."""
        parts = self._parts(values)
        of_pair = self._of_states(parts, self._label, self._z)
        people = dict(self._people(parts))
        odds = self._odds(parts, parts["of_label"][:, self._label[self._pair]], people["of_person"])
        signed = self._sign * odds
        if "of_unsure" not in people:
            return of_pair, functional.logsigmoid(signed), parts
        width = (parts["unsure"] + people["of_unsure"].t()).exp()
        between = _log_between(odds + width / 2, width)
        of_judgement = torch.where(self._unsure, between, functional.logsigmoid(signed - width / 2))
        return of_pair, of_judgement, parts

    def _people(self, parts: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
        """Yield the effects of each judgement's person, on a last axis; 0 of an unknown one."""
        for name in ("of_person", "of_unsure"):
            if name in parts:
                yield name, functional.pad(parts[name], (0, 1))[:, self._person]

    def _odds(self, parts: dict[str, Tensor], of_label: Tensor, person: Tensor) -> Tensor:
        """Return the log-odds of yes against no, (J, S), given effects of labels and people."""
        rates = (parts["state"].unsqueeze(1) + of_label).t()
        if self._points is None:
            return rates + person.t()
        return (rates + person[0].unsqueeze(1) / 2).exp() * self._points + person[1].unsqueeze(1)

    def _parts(self, values: Tensor) -> dict[str, Tensor]:
        ends = np.cumsum([int(np.prod(shape)) for shape in self._sizes.values()])
        cut = torch.tensor_split(values, ends[:-1].tolist())
        return {
            name: part.reshape(shape)
            for (name, shape), part in zip(self._sizes.items(), cut, strict=True)
        }

    def _of_states(self, parts: dict[str, Tensor], label: Any, z: Tensor) -> Tensor:
        """Return log-probabilities of no and yes, or of the scale's points, on a last axis."""
        slope, threshold = (parts[name][:-1] + parts[name][-1] for name in ("slope", "threshold"))
        at = slope.exp()[label] * z - threshold[label]
        if self._points is None:
            return torch.stack([functional.logsigmoid(-at), functional.logsigmoid(at)], -1)
        apart = self._points - at.unsqueeze(-1)
        return torch.log_softmax(-apart.square() / (2 * _SPREAD**2), -1)

    def _by_pair(self, of_judgement: Tensor) -> Tensor:
        sums = torch.zeros((len(self._label), of_judgement.shape[1]), dtype=of_judgement.dtype)
        return sums.index_add(0, self._pair, of_judgement)


def _log_between(high: Tensor, width: Tensor) -> Tensor:
    """Return log(sigmoid(high) - sigmoid(high - width)), precise where both are near 0 or 1."""
    both = functional.logsigmoid(high) + functional.logsigmoid(width - high)
    return both + torch.log(-torch.expm1(-width))
