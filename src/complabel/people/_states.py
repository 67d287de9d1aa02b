r"""Three states of an item and a label: it does not apply, people differ, it applies.

People who judge the same pair of an item and a label do not err independently. Some pairs are
doubtful, and there a share of all people says "yes". So a pair has one of three states, in order::

    P(no) = sigmoid(c - s z),   P(yes) = sigmoid(s z - c - g),   P(doubtful) = the rest

where z is the log-odds that a classifier gives the label from the features; the slope s, the
threshold c and the gap g > 0 are of each label. Given the state, person r says "yes" to label k
with log-odds b_state + l_state,k + u_r, where u_r is one number for pairs that do not apply, and
another for the rest. With two states this would be the model of Dawid and Skene (1979) with rates
by person and label; the ordered states are those of Samejima's graded responses (1969).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import optimize
from torch import Tensor
from torch.nn import functional

from complabel.answers import Answers

# Log-odds of a "yes" in each state: the means of normal priors with a standard deviation of 1, and
# where the search starts. They keep the order of the states.
_START = (-4.5, -1.2, 1.3)
# Standard deviations of normal priors, in log-odds. The thresholds differ by label as much as label
# frequencies do. Labels and people differ from the common rates by less.
_PRIOR = {"slope": 0.3, "threshold": 2.0, "gap": 0.5, "of_label": 0.5, "of_person": 1.0}
_COMMON = 3.0  # of the common slope, threshold and gap, which little should hold
_MAX_ITER = 200


@dataclass(frozen=True, eq=False)
class Judgements:
    """J judgements by R people about P pairs of an item and one of K labels."""

    item: NDArray[np.intp]  # (P,)
    label: NDArray[np.intp]  # (P,)
    pair: NDArray[np.intp]  # (J,)
    yes: NDArray[np.bool_]  # (J,)
    person: NDArray[np.intp]  # (J,), -1 where unknown
    n_labels: int
    n_people: int

    @classmethod
    def of(cls, answers: Answers) -> Judgements:
        """Collect the labels that people judged: asked about, or ticked or left."""
        said = answers.statements()
        said = said.only(np.isin(answers.question, ("asked", "ticked"))[said.answer])
        pairs, pair = np.unique(said.pair, return_inverse=True)
        item, label = np.divmod(pairs, answers.n_labels)
        return cls(
            item=item.astype(np.intp),
            label=label.astype(np.intp),
            pair=pair,
            yes=said.applies,
            person=answers.annotator[said.answer],
            n_labels=answers.n_labels,
            n_people=len(answers.annotator_names),
        )

    @property
    def n_repeated(self) -> int:
        """How many pairs were judged more than once."""
        return int((np.bincount(self.pair, minlength=len(self.item)) > 1).sum())


@dataclass(frozen=True, eq=False)
class States:
    """The fitted model; the last axis of log-probabilities is the state: no, doubtful or yes."""

    given_answers: NDArray[np.float64]  # (P, 3)
    of_judgement: NDArray[np.float64]  # (J, 3), of each judgement in each state
    chance_of_yes: NDArray[np.float64]  # (3, K), by people as they are on average
    model: _Model
    values: Tensor  # of the model's parameters

    def share_of(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected share of people who say "yes", (n, K), from the features alone."""
        with torch.no_grad():
            states = self.model.of_features(self.values, torch.from_numpy(log_odds)).exp().numpy()
        return np.asarray((states * self.chance_of_yes.T).sum(axis=-1))

    def share_given_answers(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return this share for each judged pair, (P,), given its judgements, too."""
        chances = self.chance_of_yes.T[judgements.label]
        return np.asarray((np.exp(self.given_answers) * chances).sum(axis=1))

    def most_say_yes(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return the probability (J,) that most people say "yes" about the pair of a judgement."""
        most = self.chance_of_yes.T[judgements.label] > 0.5
        return np.asarray((np.exp(self.given_answers) * most).sum(axis=1)[judgements.pair])

    def without_each(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return the states' log-probabilities (J, 3) given all answers but this one."""
        left = self.given_answers[judgements.pair] - self.of_judgement
        return np.asarray(left - np.logaddexp.reduce(left, axis=1, keepdims=True))


def fit_states(judgements: Judgements, log_odds: NDArray[np.float64]) -> States:
    """Fit the model by the largest posterior density; ``log_odds`` z (n, K) are held out."""
    model = _Model(judgements, log_odds[judgements.item, judgements.label])
    found = optimize.minimize(
        model.loss_and_gradient,
        model.start(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITER},
    )
    with torch.no_grad():
        return model.states(torch.from_numpy(found.x))


class _Model:
    """The posterior density as a function of one vector of all parameters."""

    def __init__(self, judgements: Judgements, log_odds: NDArray[np.float64]) -> None:
        K, R = judgements.n_labels, judgements.n_people
        self._sizes: dict[str, tuple[int, ...]] = {
            "slope": (K + 1,),  # logarithms, the common one last
            "threshold": (K + 1,),
            "gap": (K + 1,),  # logarithms
            "state": (3,),
            "of_label": (3, K),
            "of_person": (2, R),  # for pairs that do not apply, and for all others
        }
        self._start = torch.tensor(_START, dtype=torch.float64)
        self._z = torch.from_numpy(np.asarray(log_odds, dtype=np.float64))
        self._label = torch.from_numpy(judgements.label)
        self._pair = torch.from_numpy(judgements.pair)
        self._person = torch.from_numpy(judgements.person)
        self._sign = torch.from_numpy(np.where(judgements.yes, 1.0, -1.0))

    def start(self) -> NDArray[np.float64]:
        parts = {name: np.zeros(shape) for name, shape in self._sizes.items()}
        parts["state"][:] = _START
        return np.concatenate([part.ravel() for part in parts.values()])

    def loss_and_gradient(self, values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        at = torch.from_numpy(values.copy()).requires_grad_()
        of_pair, of_judgement, parts = self._chances(at)
        evidence = torch.logsumexp(of_pair + self._by_pair(of_judgement), dim=1).sum()
        loss = (parts["state"] - self._start).square().sum() / 2 - evidence
        for name, spread in _PRIOR.items():
            loss = loss + (parts[name] / self._spreads(name, spread)).square().sum() / 2
        (gradient,) = torch.autograd.grad(loss, at)
        return float(loss.detach()), gradient.numpy()

    def states(self, values: Tensor) -> States:
        of_pair, of_judgement, parts = self._chances(values)
        given = torch.log_softmax(of_pair + self._by_pair(of_judgement), dim=1)
        chance = torch.sigmoid(parts["state"].unsqueeze(1) + parts["of_label"])
        return States(given.numpy(), of_judgement.numpy(), chance.numpy(), self, values)

    def of_features(self, values: Tensor, z: Tensor) -> Tensor:
        """Return log-probabilities of the states (n, K, 3), given log-odds z (n, K)."""
        return _of_states(self._lines(self._parts(values)), z)

    def _spreads(self, name: str, spread: float) -> Tensor:
        spreads = torch.full(self._sizes[name], spread, dtype=torch.float64)
        if len(self._sizes[name]) == 1:  # the last entry is what all labels share
            spreads[-1] = _COMMON
        return spreads

    def _chances(self, values: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Return log-probabilities of the states (P, 3) and of judgements (J, 3)."""
        parts = self._parts(values)
        lines = [each[self._label] for each in self._lines(parts)]
        effects = functional.pad(parts["of_person"], (0, 1))  # code -1, an unknown person, has 0
        person = effects[:, self._person]
        of_label = parts["of_label"][:, self._label[self._pair]]
        odds = parts["state"].unsqueeze(1) + of_label + person[[0, 1, 1]]
        of_judgement = functional.logsigmoid(self._sign * odds).t()
        return _of_states(lines, self._z), of_judgement, parts

    def _parts(self, values: Tensor) -> dict[str, Tensor]:
        ends = np.cumsum([int(np.prod(shape)) for shape in self._sizes.values()])
        cut = torch.tensor_split(values, ends[:-1].tolist())
        return {
            name: part.reshape(shape)
            for (name, shape), part in zip(self._sizes.items(), cut, strict=True)
        }

    def _lines(self, parts: dict[str, Tensor]) -> tuple[Tensor, ...]:
        """Return the slope, threshold and gap of each label, (K,) each."""
        slope, threshold, gap = (
            parts[name][:-1] + parts[name][-1] for name in ("slope", "threshold", "gap")
        )
        return slope.exp(), threshold, gap.exp()

    def _by_pair(self, of_judgement: Tensor) -> Tensor:
        sums = torch.zeros((len(self._label), 3), dtype=of_judgement.dtype)
        return sums.index_add(0, self._pair, of_judgement)


def _of_states(lines: Sequence[Tensor], z: Tensor) -> Tensor:
    """Return log-probabilities of no, doubtful and yes, on a last axis."""
    slope, threshold, gap = lines
    low = slope * z - threshold
    high = low - gap
    # sigmoid(low) - sigmoid(high), in a form that is precise where both are near 0 or 1
    doubtful = functional.logsigmoid(low) + functional.logsigmoid(-high)
    doubtful = doubtful + torch.log(-torch.expm1(-gap))
    return torch.stack([functional.logsigmoid(-low), doubtful, functional.logsigmoid(high)], -1)


def as_log_odds(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """Return finite log-odds; probabilities of 0 and 1 are known to float32 only."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-7, 1 - 1e-7)
    return np.asarray(np.log(p) - np.log1p(-p))
