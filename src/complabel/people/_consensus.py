r"""What people would say together about a label, and how single answers and people differ.

People who judge the same pair of an item and a label do not err independently. Some pairs are
doubtful, and there a share of all people says "yes". So a pair has one of three states, in order::

    P(no) = sigmoid(c - s z),   P(yes) = sigmoid(s z - c - g),   P(doubtful) = the rest

where z is the log-odds that a classifier gives the label from the features; the slope s, the
threshold c and the gap g > 0 are of each label. Given the state, person r says "yes" to label k
with log-odds b_state + l_state,k + u_r, where u_r is one number for pairs that do not apply, and
another for the rest. The ordered states are those of Samejima's graded responses (1969). Without
the doubtful state this is the model of Dawid and Skene (1979) with rates by person and label. It is
taken where repeated judgements do not tell that people differ: a third state could be anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import optimize, sparse, stats
from scipy.sparse import csgraph
from sklearn.base import clone
from sklearn.model_selection import KFold
from torch import Tensor
from torch.nn import functional

from complabel._parameters import check_integer, check_random_state
from complabel.answers import Answers, pair_rows
from complabel.errors import AnnotationError, InputError
from complabel.methods import ComplementaryClassifier, SelectionLikelihoodClassifier

# Below this, rates of people rest on the prior and on the features alone.
_LEAST_REPEATED = 30
# What single people say is no contradiction here. The classifier that looks at the features is told
# that one answer in twenty is given at random; rates from .02 to .1 made no difference.
_ERROR_RATE = 0.05
_LEVEL = 0.95
_TAIL = 4  # degrees of freedom of draws of parameters
_DRAWS = 400  # of the parameters and of who is right, for intervals of people's rates
_ENDS = ("", "_low", "_high")


@dataclass(frozen=True, eq=False)
class Consensus:
    """What people would say together; :func:`find_consensus` makes it.

    Attributes
    ----------
    share : ndarray of shape (n_items, K), dtype float64
        The expected share of people who would say that the label applies, given the features and
        all answers. Above one half, most people would say so.
    applies : ndarray of shape (n_items, K), dtype float64
        The probability that the label applies, if people err: it may be high although most people
        miss the label, and ``share`` is low.
    relevant : ndarray of shape (n_items, K), dtype uint8
        1 where ``share`` is above one half.
    doubtful : dict of str to ndarray of shape (J,)
        A table of all judgements, those that are most probably wrong first: ``item``, ``label`` and
        ``annotator`` (names, or numbers of items and labels without names; None for unknown
        annotators), ``said`` (True for "applies"), ``wrong``: the probability that this
        is wrong, given the features and all answers, and ``others``: the share of people
        who would say "applies", given the features and all *other* answers.
    people : dict of str to ndarray of shape (R,)
        A table of people in the order of ``annotator_names``: ``annotator``, ``judged`` (how many
        labels), and how often each misses a label that applies, and invents one that does not:
        ``missed``, ``missed_low``, ``missed_high``, ``invented``, ``invented_low`` and
        ``invented_high``, with 95 % intervals; and ``told_apart``: False if nothing tells whether
        this person errs or those who judged the same. Then intervals go from "all others err" to
        "this person does".
    n_repeated : int
        How many pairs of an item and a label were judged more than once. These tell most about
        people.
    n_states : int
        3 if repeated judgements tell that people differ about some pairs of an item and a label,
        whoever they are; 2 if they may just err.
    """

    share: NDArray[np.float64]
    applies: NDArray[np.float64]
    doubtful: dict[str, NDArray[Any]]
    people: dict[str, NDArray[Any]]
    n_repeated: int
    n_states: int

    @property
    def relevant(self) -> NDArray[np.uint8]:
        """1 where most people would say that the label applies, (n_items, K)."""
        return (self.share > 0.5).astype(np.uint8)


def find_consensus(
    X: Any,
    answers: Answers,
    *,
    classifier: ComplementaryClassifier | None = None,
    cv: int = 5,
    random_state: int | np.random.Generator | None = None,
) -> Consensus:
    """Find what people would say together about items that some of them judged.

    The classifier learns from the answers about other items, and says how likely each label is from
    the features. A model of three ordered states (a label does not apply, people differ about it,
    it applies) then weighs this against all judgements of the item. Each person has their own
    rates, and so has each label. The middle state is left out unless held-out judgements are
    clearly likelier with it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_items, n_features), or None
        Features. With None, only the answers are used.
    answers : Answers
        Answers about the rows of X. Labels that were asked about or ticked are judgements; the
        classifier learns from all answers.
    classifier : ComplementaryClassifier or None, default=None
        It is cloned. None takes :class:`complabel.methods.SelectionLikelihoodClassifier`, which is
        told of an error rate of .05 if answers contradict each other.
    cv : int, default=5
        Number of parts of the items. The classifier that looks at a part has not learned from it.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the parts and of the classifier.

    Returns
    -------
    Consensus

    Raises
    ------
    AnnotationError
        If the answers have no judgement.
    InputError
        If there are fewer items than ``cv``, or X does not fit the answers.

    Warns
    -----
    UserWarning
        If fewer than 30 pairs of an item and a label were judged twice. Then nothing tells who
        errs.

    References
    ----------
    A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28, 1979; F. Samejima, "Estimation of latent ability using a
    response pattern of graded scores", Psychometrika Monograph 17, 1969.

    Examples
    --------
    Three of four people tick the first label of each item; one ticks what he likes:

    >>> relevant = np.tile([[1, 0]], (40, 1))
    >>> ticks = [relevant, relevant, relevant, np.tile([[0, 1], [1, 0]], (20, 1))]
    >>> answers = Answers.from_arrays(
    ...     absent=1 - np.vstack(ticks),
    ...     relevant=np.vstack(ticks),
    ...     question="ticked",
    ...     item=np.tile(np.arange(40), 4),
    ...     annotator=np.repeat(["ann", "bob", "cy", "dan"], 40),
    ... )
    >>> found = find_consensus(None, answers)
    >>> found.relevant[:2]
    array([[1, 0],
           [1, 0]], dtype=uint8)
    >>> found.doubtful["annotator"][0]
    'dan'
    """
    judgements = Judgements.of(answers)
    if not len(judgements.pair):
        raise AnnotationError(
            "no answer judges a label, so people cannot be compared; give answers to yes/no"
            " questions, or ticked labels"
        )
    n_repeated = int(judgements.repeated.sum())
    if n_repeated < _LEAST_REPEATED:
        warnings.warn(
            f"{n_repeated} pairs of an item and a label were judged twice; with fewer"
            f" than {_LEAST_REPEATED}, nothing tells who errs: ask several people about the same"
            " pairs",
            UserWarning,
            stacklevel=2,
        )
    log_odds = np.zeros(answers.shape)
    if X is not None:
        answers = pair_rows(X, answers, names=("X", "answers"))
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != answers.n_items:
            raise InputError(
                f"X has {n_rows} rows, but the answers are about {answers.n_items} items; give one"
                " row of features for each item"
            )
        judgements = Judgements.of(answers)
        log_odds = _held_out_log_odds(X, answers, classifier, cv, random_state)
    # The halves are the same in each run: without features, nothing else is drawn.
    n_states = choose_states(judgements, log_odds, np.random.default_rng(0))
    states = fit_states(judgements, log_odds, n_states)
    share, applies = states.of_all(judgements, log_odds)
    of_each = applies[judgements.item, judgements.label][judgements.pair]
    return Consensus(
        share=share,
        applies=applies,
        doubtful=_doubtful(judgements, answers, states, of_each),
        people=_people(judgements, answers, of_each, states),
        n_repeated=n_repeated,
        n_states=n_states,
    )


def _held_out_log_odds(
    X: Any,
    answers: Answers,
    classifier: ComplementaryClassifier | None,
    cv: int,
    random_state: int | np.random.Generator | None,
) -> NDArray[np.float64]:
    """Return the log-odds (n, K) that classifiers give to items that they did not learn from."""
    check_integer("cv", cv, at_least=2)
    if answers.n_items < cv:
        raise InputError(f"there are {answers.n_items} items for cv={cv} parts; give a smaller cv")
    seed = int(check_random_state(random_state).integers(2**31))
    if classifier is None:
        several = len(answers.statements().contradicted) > 0
        classifier = SelectionLikelihoodClassifier(
            error_rate=_ERROR_RATE if several else 0.0, random_state=seed
        )
    rows = X.tocsr() if hasattr(X, "tocsr") else X if hasattr(X, "shape") else np.asarray(X)
    rows = getattr(rows, "iloc", rows)
    found = np.empty(answers.shape)
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(found):
        train = train[answers.answered[train]]
        model = clone(classifier).fit(rows[train], answers[train])
        found[test] = as_log_odds(model.predict_proba(rows[test]))
    return found


def _doubtful(
    judgements: Judgements, answers: Answers, states: States, applies: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    item, label = judgements.item[judgements.pair], judgements.label[judgements.pair]
    by_others = np.exp(states.without_each(judgements)) * states.chance_of_yes.T[label]
    people = np.array([*answers.annotator_names, None], dtype=object)
    columns: dict[str, NDArray[Any]] = {
        "item": item if answers.item_names is None else answers.item_names[item],
        "label": label if answers.label_names is None else np.array(answers.label_names)[label],
        "annotator": people[judgements.person],
        "said": judgements.yes,
        "wrong": np.where(judgements.yes, 1 - applies, applies),
        "others": by_others.sum(axis=1),
    }
    order = np.argsort(-columns["wrong"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _people(
    judgements: Judgements,
    answers: Answers,
    applies: NDArray[np.float64],
    states: States,
) -> dict[str, NDArray[Any]]:
    """Count each person's mistakes by how probably a label applies, given all answers (J,).

    An interval is a mixture: draws of the parameters say which labels may apply, draws of these say
    who was wrong, and each draw has Jeffreys' posterior of a share.
    """
    # A person's own answer belongs to what is given: P(applies, says no) is what is counted.
    # Without it, the rates of missed labels came out .1 too high.
    known = judgements.person >= 0
    person, n = judgements.person[known], judgements.n_people

    def count(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(person, weights[known], minlength=n).astype(np.float64)

    told = judgements.told_apart()
    table: dict[str, NDArray[Any]] = {
        "annotator": np.array(answers.annotator_names, dtype=object),
        "judged": np.bincount(person, minlength=n),
    }
    rng, tail = np.random.default_rng(0), (1 - _LEVEL) / 2
    counts = np.empty((_DRAWS, 2, 2, n))  # by draw, does not apply and applies, right and wrong
    for at, drawn in enumerate(states.drawn(_DRAWS, rng)):
        is_there = (rng.random(len(drawn)) < drawn)[judgements.pair]
        for truth in (0, 1):
            for wrong in (0, 1):
                counts[at, truth, wrong] = count(
                    1.0 * ((is_there == truth) & ((judgements.yes != truth) == wrong))
                )
    for truth, (name, weights) in enumerate((("invented", 1 - applies), ("missed", applies))):
        wrong = judgements.yes != truth
        of_all, of_wrong = count(weights), count(weights * wrong)
        value = np.divide(of_wrong, of_all, out=np.full(n, np.nan), where=of_all > 0)
        rates = rng.beta(counts[:, truth, 1] + 0.5, counts[:, truth, 0] + 0.5)
        low, high = np.quantile(rates, [tail, 1 - tail], axis=0)
        # If the others are right, this is the rate; if they err, the rate is less.
        disagreed, said = judgements.beside_others(truth == 1)
        most = stats.beta(disagreed + 0.5, said - disagreed + 0.5).ppf(1 - tail)
        low, high = np.where(told, low, 0.0), np.where(told, high, most)
        table |= {
            name: value,
            f"{name}_low": np.fmin(low, value),
            f"{name}_high": np.fmax(high, value),
        }
    order = ("annotator", "judged", *(f"{m}{end}" for m in ("missed", "invented") for end in _ENDS))
    return {name: table[name] for name in order} | {"told_apart": told}


# Log-odds of a "yes" in each of two or three states: the means of normal priors with a standard
# deviation of 1, and where the search starts. They keep the order of the states.
_START = {2: (-4.0, 1.0), 3: (-4.5, -1.2, 1.3)}
# Standard deviations of normal priors, in log-odds. The thresholds differ by label as much as label
# frequencies do. Labels and people differ from the common rates by less.
_PRIOR = {"slope": 0.3, "threshold": 2.0, "gap": 0.5, "of_label": 0.5, "of_person": 1.0}
_LEAST_CURVED = 0.05  # of the posterior density: less would be a flat direction
_MOST_CURVED = 1500  # parameters whose second derivatives are all computed
_COMMON = 3.0  # of the common slope, threshold and gap, which little should hold
_MAX_ITER = 200
_STANDARD_ERRORS = 2  # by which three states have to be likelier than two


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
        said = said.only(answers.judges[said.answer])
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
    def repeated(self) -> NDArray[np.bool_]:
        """Whether a pair was judged more than once, (P,)."""
        return np.bincount(self.pair, minlength=len(self.item)) > 1

    def told_apart(self) -> NDArray[np.bool_]:
        """Return whose rates, (R,), the answers can tell from those of the others.

        If a and b judged the same, it may be either who errs. With c, who judged the same as both,
        three agreements tell three rates. So people must form an odd circle: where they fall into
        two sides that judged the same only as people of the other side, all of one side may err.
        """
        person, pair = self.person[self.person >= 0], self.pair[self.person >= 0]
        size = (len(self.item), self.n_people)
        judged: Any = sparse.csr_array((np.ones(len(pair)), (pair, person)), shape=size)
        beside = (judged.T @ judged).tocsr()
        beside.setdiag(0)
        beside.eliminate_zeros()
        # In the graph with two copies of each person, both are connected if there is an odd circle.
        twice = sparse.block_array([[None, beside], [beside, None]], format="csr")
        _, part = csgraph.connected_components(twice, directed=False)
        return np.asarray(part[: self.n_people] == part[self.n_people :])

    def beside_others(self, applies: bool) -> tuple[NDArray[Any], NDArray[Any]]:
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

    def only(self, which: NDArray[np.bool_]) -> Judgements:
        """Return some of the judgements, (J,), and the pairs that they are about."""
        pairs, pair = np.unique(self.pair[which], return_inverse=True)
        kept: dict[str, Any] = {"yes": self.yes[which], "person": self.person[which]}
        return replace(self, item=self.item[pairs], label=self.label[pairs], pair=pair, **kept)


@dataclass(frozen=True, eq=False)
class States:
    """The fitted model; the last axis of log-probabilities is the state, of S = 2 or 3 states."""

    given_answers: NDArray[np.float64]  # (P, S)
    of_judgement: NDArray[np.float64]  # (J, S), of each judgement in each state
    chance_of_yes: NDArray[np.float64]  # (S, K), by people as they are on average
    model: _Model
    values: Tensor  # of the model's parameters

    def of_all(
        self, judgements: Judgements, log_odds: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the expected share of people who say "yes", and how probably a label applies.

        Both have shape (n, K), and follow from the features and, where there are any, the answers.
        """
        with torch.no_grad():
            states = self.model.of_features(self.values, torch.from_numpy(log_odds)).exp().numpy()
        states[judgements.item, judgements.label] = np.exp(self.given_answers)
        applies = self.chance_of_yes.T > 0.5
        applies[:, -1] = True  # also a label that most people miss
        return (states * self.chance_of_yes.T).sum(axis=-1), (states * applies).sum(axis=-1)

    def drawn(self, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
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
                yield np.exp(self.model.states(moved).given_answers)[:, 1:].sum(axis=1)

    def of_each(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return the log-probability (J,) of each judgement given all others and the features."""
        chances = self.without_each(judgements) + self.of_judgement
        return np.asarray(np.logaddexp.reduce(chances, axis=1))

    def without_each(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return the states' log-probabilities (J, S) given all answers but this one."""
        left = self.given_answers[judgements.pair] - self.of_judgement
        return np.asarray(left - np.logaddexp.reduce(left, axis=1, keepdims=True))


def fit_states(judgements: Judgements, log_odds: NDArray[np.float64], n_states: int = 3) -> States:
    """Fit the model by the largest posterior density; ``log_odds`` z (n, K) are held out."""
    model = _Model(judgements, log_odds, n_states)
    found = optimize.minimize(
        model.loss_and_gradient,
        model.start(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITER},
    )
    with torch.no_grad():
        return model.states(torch.from_numpy(found.x))


def choose_states(
    judgements: Judgements, log_odds: NDArray[np.float64], rng: np.random.Generator
) -> int:
    """Return 3 if repeated judgements tell that people differ about some pairs, else 2.

    Models of one half of the items say how likely each judgement about the other half is, given
    the others of its pair and the features.
    """
    halves = rng.integers(2, size=len(log_odds))[judgements.item[judgements.pair]]
    gain = np.zeros(len(log_odds))  # of items, because judgements of one item are alike
    for half in (0, 1):
        learned = judgements.only(halves != half)
        tested = judgements.only((halves == half) & judgements.repeated[judgements.pair])
        if not (len(learned.pair) and len(tested.pair)):
            return 2
        item = tested.item[tested.pair]
        for n_states, sign in ((2, -1), (3, 1)):
            values = fit_states(learned, log_odds, n_states).values
            states = _Model(tested, log_odds, n_states).states(values)
            gain += sign * np.bincount(item, states.of_each(tested), minlength=len(gain))
    error = np.sqrt(len(gain)) * gain.std()
    return 3 if gain.sum() > _STANDARD_ERRORS * error else 2


class _Model:
    """The posterior density as a function of one vector of all parameters."""

    def __init__(
        self, judgements: Judgements, log_odds: NDArray[np.float64], n_states: int = 3
    ) -> None:
        K, R = judgements.n_labels, judgements.n_people
        self._sizes: dict[str, tuple[int, ...]] = {
            "slope": (K + 1,),  # logarithms, the common one last
            "threshold": (K + 1,),
            "gap": (K + 1,),  # logarithms
            "state": (n_states,),
            "of_label": (n_states, K),
            "of_person": (2, R),  # for pairs that do not apply, and for all others
        }
        if n_states == 2:
            del self._sizes["gap"]
        # of the states that do not apply, and of all others
        self._of_state = [0] + [1] * (n_states - 1)
        self._start = torch.tensor(_START[n_states], dtype=torch.float64)
        z = log_odds[judgements.item, judgements.label]
        self._z = torch.from_numpy(np.asarray(z, dtype=np.float64))
        self._label = torch.from_numpy(judgements.label)
        self._pair = torch.from_numpy(judgements.pair)
        self._person = torch.from_numpy(judgements.person)
        self._sign = torch.from_numpy(np.where(judgements.yes, 1.0, -1.0))

    def start(self) -> NDArray[np.float64]:
        parts = {name: np.zeros(shape) for name, shape in self._sizes.items()}
        parts["state"][:] = self._start.numpy()
        return np.concatenate([part.ravel() for part in parts.values()])

    def loss_and_gradient(self, values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        at = torch.from_numpy(values.copy()).requires_grad_()
        loss = self._loss(at)
        (gradient,) = torch.autograd.grad(loss, at)
        return float(loss.detach()), gradient.numpy()

    def curvature(self, values: Tensor) -> NDArray[np.float64]:
        """Return the second derivatives (D, D) of the loss.

        Many people count as independent of each other: only sums of their rows are computed.
        """
        at = values.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(self._loss(at), at, create_graph=True)
        people = 2 * self._sizes["of_person"][1]
        few = len(at) if len(at) <= _MOST_CURVED else len(at) - people
        found = torch.eye(len(at), dtype=torch.float64)
        for row in range(few):
            (found[row],) = torch.autograd.grad(gradient[row], at, retain_graph=True)
        if few < len(at):
            found[:, :few] = found[:few].T
            for half in (slice(few, few + people // 2), slice(few + people // 2, len(at))):
                (sums,) = torch.autograd.grad(gradient[half].sum(), at, retain_graph=True)
                found.diagonal()[half] = sums[half].clamp(min=_PRIOR["of_person"] ** -2)
        return found.numpy()

    def _loss(self, at: Tensor) -> Tensor:
        of_pair, of_judgement, parts = self._chances(at)
        evidence = torch.logsumexp(of_pair + self._by_pair(of_judgement), dim=1).sum()
        loss = (parts["state"] - self._start).square().sum() / 2 - evidence
        for name in parts.keys() & _PRIOR.keys():
            spreads = torch.full(self._sizes[name], _PRIOR[name], dtype=torch.float64)
            if len(self._sizes[name]) == 1:  # the last entry is what all labels share
                spreads[-1] = _COMMON
            loss = loss + (parts[name] / spreads).square().sum() / 2
        return loss

    def states(self, values: Tensor) -> States:
        of_pair, of_judgement, parts = self._chances(values)
        given = torch.log_softmax(of_pair + self._by_pair(of_judgement), dim=1)
        chance = torch.sigmoid(parts["state"].unsqueeze(1) + parts["of_label"])
        return States(given.numpy(), of_judgement.numpy(), chance.numpy(), self, values)

    def of_features(self, values: Tensor, z: Tensor) -> Tensor:
        """Return log-probabilities of the states (n, K, S), given log-odds z (n, K)."""
        return _of_states(self._lines(self._parts(values)), z)

    def _chances(self, values: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Return log-probabilities of the states (P, S) and of judgements (J, S)."""
        parts = self._parts(values)
        lines = [each[self._label] for each in self._lines(parts)]
        effects = functional.pad(parts["of_person"], (0, 1))  # code -1, an unknown person, has 0
        person = effects[:, self._person]
        of_label = parts["of_label"][:, self._label[self._pair]]
        odds = parts["state"].unsqueeze(1) + of_label + person[self._of_state]
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
        """Return the slope, threshold and, of three states, gap of each label, (K,) each."""
        of_label = {
            name: parts[name][:-1] + parts[name][-1]
            for name in ("slope", "threshold", "gap")
            if name in parts
        }
        gap = (of_label["gap"].exp(),) if "gap" in of_label else ()
        return of_label["slope"].exp(), of_label["threshold"], *gap

    def _by_pair(self, of_judgement: Tensor) -> Tensor:
        sums = torch.zeros((len(self._label), of_judgement.shape[1]), dtype=of_judgement.dtype)
        return sums.index_add(0, self._pair, of_judgement)


def _of_states(lines: Sequence[Tensor], z: Tensor) -> Tensor:
    """Return log-probabilities of no, doubtful (if there is a gap) and yes, on a last axis."""
    slope, threshold, *gaps = lines
    low = slope * z - threshold
    if not gaps:
        return torch.stack([functional.logsigmoid(-low), functional.logsigmoid(low)], -1)
    (gap,) = gaps
    high = low - gap
    # sigmoid(low) - sigmoid(high), in a form that is precise where both are near 0 or 1
    doubtful = functional.logsigmoid(low) + functional.logsigmoid(-high)
    doubtful = doubtful + torch.log(-torch.expm1(-gap))
    return torch.stack([functional.logsigmoid(-low), doubtful, functional.logsigmoid(high)], -1)


def as_log_odds(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """Return finite log-odds; probabilities of 0 and 1 are known to float32 only."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-7, 1 - 1e-7)
    return np.asarray(np.log(p) - np.log1p(-p))
