r"""What people would say together about a label, and how single answers and people differ.

People who judge the same pair of an item and a label do not err independently. Some pairs are
doubtful, and there a share of all people says "yes". So a pair lies somewhere on a scale, at x from
a normal distribution around s z - c, where z is the log-odds that a classifier gives the label from
the features; the slope s and the threshold c are of each label. Person r says "yes" to label k with
log-odds o = exp(a + l_k + v_r / 2) x + u_r: a person sees the scale more or less sharply, and says
"yes" more or less readily. These are Samejima's graded responses (1969); x is one of 16 points.

Where held-out judgements are no likelier with the scale, there are two states: the label applies
with chance sigmoid(s z - c), and o = b_state + l_state,k + u_r,state. That is the model of Dawid
and Skene (1979) with rates by person and label.

Where some are unsure, people say yes with chance sigmoid(o - w / 2), no with sigmoid(-o - w / 2),
and are unsure else. log(w) is a number that all share and one of each person, by state if there are
two.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
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
        1 where more people would say so than deny it; if nobody is unsure, ``share`` is above .5.
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
        "this person does". If some were unsure, ``unsure_applies`` and ``unsure_not`` are how often
        each is, where a label applies and where it does not; the other rates leave these pairs out.
    n_repeated : int
        How many pairs of an item and a label were judged more than once. These tell most about
        people.
    n_states : int
        16, the points of a scale, if repeated judgements tell that people differ about some pairs
        of an item and a label, whoever they are; 2 if they may just err.
    unsure : ndarray of shape (n_items, K), dtype float64
        The expected share of people who would be unsure. All others, ``1 - share - unsure``, would
        say that the label does not apply.
    """

    share: NDArray[np.float64]
    applies: NDArray[np.float64]
    doubtful: dict[str, NDArray[Any]]
    people: dict[str, NDArray[Any]]
    n_repeated: int
    n_states: int
    unsure: NDArray[np.float64]

    @property
    def relevant(self) -> NDArray[np.uint8]:
        """1 where more people would say that the label applies than deny it, (n_items, K)."""
        return (self.share + self.unsure / 2 > 0.5).astype(np.uint8)


def find_consensus(
    X: Any,
    answers: Answers,
    *,
    unsure: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    classifier: ComplementaryClassifier | None = None,
    cv: int = 5,
    random_state: int | np.random.Generator | None = None,
) -> Consensus:
    """Find what people would say together about items that some of them judged.

    The classifier learns from the answers about other items, and says how likely each label is from
    the features. A model then weighs this against all judgements of the item. Each person has their
    own rates, and so has each label. Pairs of an item and a label lie on a scale, from those that
    all deny to those that all affirm. There are only two states, a label applies or does not, if
    held-out judgements are no likelier with the scale.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_items, n_features), or None
        Features. With None, only the answers are used.
    answers : Answers
        Answers about the rows of X. Labels that were asked about or ticked are judgements; the
        classifier learns from all answers.
    unsure : tuple of three array-likes of shape (U,), or None, default=None
        Positions of the items, of the labels, and of the people in ``answers.annotator_names`` (-1
        for others), where somebody was asked and was unsure. How often each person is unsure may
        differ between labels that apply and labels that do not, so these answers tell something.
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
        If there are fewer items than ``cv``, or X or ``unsure`` does not fit the answers.

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
    judgements = Judgements.of(answers, unsure)
    if not (judgements.yes != _UNSURE).any():
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
        names = answers.item_names
        answers = pair_rows(X, answers, names=("X", "answers"))
        if unsure is not None and names is not None and answers.item_names is not None:
            at = {name: row for row, name in enumerate(answers.item_names)}
            unsure = (
                [at[name] for name in names[np.asarray(unsure[0], dtype=np.intp)]],
                *unsure[1:],
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != answers.n_items:
            raise InputError(
                f"X has {n_rows} rows, but the answers are about {answers.n_items} items; give one"
                " row of features for each item"
            )
        judgements = Judgements.of(answers, unsure)
        log_odds = _held_out_log_odds(X, answers, classifier, cv, random_state)
    # The halves are the same in each run: without features, nothing else is drawn.
    n_states = choose_states(judgements, log_odds, np.random.default_rng(0))
    states = fit_states(judgements, log_odds, n_states)
    share, of_unsure, applies = states.of_all(judgements, log_odds)
    of_each = applies[judgements.item, judgements.label][judgements.pair]
    return Consensus(
        share=share,
        applies=applies,
        doubtful=_doubtful(judgements, answers, states, of_each),
        people=_people(judgements, answers, of_each, states),
        n_repeated=n_repeated,
        n_states=n_states,
        unsure=of_unsure,
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
        "said": judgements.yes == 1,
        "wrong": np.where(judgements.yes == 1, 1 - applies, applies),
        "others": by_others.sum(axis=1),
    }
    sure = np.flatnonzero(judgements.yes != _UNSURE)
    order = sure[np.argsort(-columns["wrong"][sure], kind="stable")]
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
    known, n = judgements.person >= 0, judgements.n_people
    is_unsure = judgements.yes == _UNSURE

    def count(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(judgements.person[known], weights[known], n) + 0.0)

    def share(some: NDArray[np.float64], of_all: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.divide(some, of_all, out=np.full(n, np.nan), where=of_all > 0))

    alone = judgements.only(~is_unsure)
    told = alone.told_apart()
    table: dict[str, NDArray[Any]] = {
        "annotator": np.array(answers.annotator_names, dtype=object),
        "judged": count(1.0 * ~is_unsure).astype(np.intp),
    }
    rng, tail = np.random.default_rng(0), (1 - _LEVEL) / 2
    counts = np.empty((_DRAWS, 2, 2, n))  # by draw, does not apply and applies, right and wrong
    for at, drawn in enumerate(states.drawn(_DRAWS, rng)):
        is_there = (rng.random(len(drawn)) < drawn)[judgements.pair]
        for truth in (0, 1):
            for wrong in (0, 1):
                counts[at, truth, wrong] = count(
                    1.0 * ((is_there == truth) & (judgements.yes == (truth != wrong)))
                )
    for truth, (name, weights) in enumerate((("invented", 1 - applies), ("missed", applies))):
        of_unsure = count(weights * is_unsure)
        value = share(count(weights * (judgements.yes == 1 - truth)), count(weights * ~is_unsure))
        table[("unsure_not", "unsure_applies")[truth]] = share(of_unsure, count(weights))
        rates = rng.beta(counts[:, truth, 1] + 0.5, counts[:, truth, 0] + 0.5)
        low, high = np.quantile(rates, [tail, 1 - tail], axis=0)
        # If the others are right, this is the rate; if they err, the rate is less.
        disagreed, said = alone.beside_others(truth == 1)
        most = stats.beta(disagreed + 0.5, said - disagreed + 0.5).ppf(1 - tail)
        low, high = np.where(told, low, 0.0), np.where(told, high, most)
        table |= {
            name: value,
            f"{name}_low": np.fmin(low, value),
            f"{name}_high": np.fmax(high, value),
        }
    order = ["annotator", "judged", *(f"{m}{end}" for m in ("missed", "invented") for end in _ENDS)]
    order += ["unsure_applies", "unsure_not"] if is_unsure.any() else []
    return {name: table[name] for name in order} | {"told_apart": told}


_UNSURE = 0.5  # between no, 0, and yes, 1
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


@dataclass(frozen=True, eq=False)
class Judgements:
    """J judgements by R people about P pairs of an item and one of K labels."""

    item: NDArray[np.intp]  # (P,)
    label: NDArray[np.intp]  # (P,)
    pair: NDArray[np.intp]  # (J,)
    yes: NDArray[Any]  # (J,), 1 or 0, or .5 where somebody was unsure
    person: NDArray[np.intp]  # (J,), -1 where unknown
    n_labels: int
    n_people: int
    with_unsure: bool = False  # also where these are a part in which nobody is

    @classmethod
    def of(cls, answers: Answers, unsure: tuple[ArrayLike, ...] | None = None) -> Judgements:
        """Collect the labels that people judged, asked about, or ticked or left; or were unsure."""
        said = answers.statements()
        said = said.only(answers.judges[said.answer])
        given: Any = said.pair, said.applies + 0.0, answers.annotator[said.answer]
        if unsure is not None:
            item, label, person = _positions(unsure, answers)
            more = item * answers.n_labels + label, np.full(len(item), _UNSURE), person
            given = map(np.concatenate, zip(given, more, strict=True))
        of_pair, yes, person = given
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
            with_unsure=bool((yes == _UNSURE).any()),
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
    """The fitted model; the last axis of log-probabilities is the state, of S states."""

    given_answers: NDArray[np.float64]  # (P, S)
    of_judgement: NDArray[np.float64]  # (J, S), of each judgement in each state
    chance_of_yes: NDArray[np.float64]  # (S, K), by people as they are on average
    chance_of_no: NDArray[np.float64]
    model: _Model
    values: Tensor  # of the model's parameters

    @property
    def applies(self) -> NDArray[np.bool_]:
        """In which states a label applies, (K, S)."""
        found = self.chance_of_yes.T > self.chance_of_no.T
        found[:, -1] = True  # also a label that most people miss
        return found

    def of_all(
        self, judgements: Judgements, log_odds: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return which shares of people say yes and are unsure, and how probably a label applies.

        All have shape (n, K), and follow from the features and, where there are any, the answers.
        """
        with torch.no_grad():
            states = self.model.of_features(self.values, torch.from_numpy(log_odds)).exp().numpy()
        states[judgements.item, judgements.label] = np.exp(self.given_answers)
        yes, sure = self.chance_of_yes.T, self.chance_of_yes.T + self.chance_of_no.T
        yes, sure, applies = ((states * each).sum(axis=-1) for each in (yes, sure, self.applies))
        return yes, np.maximum(1 - sure, 0.0), applies

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
                found = self.model.states(moved)
            yield (np.exp(found.given_answers) * found.applies[self.model.label]).sum(axis=1)

    def of_each(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return the log-probability (J,) of each judgement given all others and the features."""
        chances = self.without_each(judgements) + self.of_judgement
        return np.asarray(np.logaddexp.reduce(chances, axis=1))

    def without_each(self, judgements: Judgements) -> NDArray[np.float64]:
        """Return the states' log-probabilities (J, S) given all answers but this one."""
        left = self.given_answers[judgements.pair] - self.of_judgement
        return np.asarray(left - np.logaddexp.reduce(left, axis=1, keepdims=True))


def fit_states(
    judgements: Judgements, log_odds: NDArray[np.float64], n_states: int = _POINTS
) -> States:
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
    """Return 16 if repeated judgements tell that people differ about some pairs, else 2.

    Models of one half of the items say how likely each judgement about the other half is, given
    the others of its pair and the features.
    """
    halves = rng.integers(2, size=len(log_odds))[judgements.item[judgements.pair]]
    gain = 0.0
    for half in (0, 1):
        learned = judgements.only(halves != half)
        tested = judgements.only((halves == half) & judgements.repeated[judgements.pair])
        if not (len(learned.pair) and len(tested.pair)):
            return 2
        for n_states, sign in ((2, -1), (_POINTS, 1)):
            values = fit_states(learned, log_odds, n_states).values
            gain += sign * _Model(tested, log_odds, n_states).states(values).of_each(tested).sum()
    return _POINTS if gain > 0 else 2


class _Model:
    """The posterior density as a function of one vector of all parameters."""

    def __init__(
        self, judgements: Judgements, log_odds: NDArray[np.float64], n_states: int = _POINTS
    ) -> None:
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
        self._unsure = torch.from_numpy(judgements.yes == _UNSURE).unsqueeze(1)
        if judgements.with_unsure:
            self._sizes |= {"unsure": (n,), "of_unsure": (n, R)}
        z = log_odds[judgements.item, judgements.label]
        self._z = torch.from_numpy(np.asarray(z, dtype=np.float64))
        self.label = judgements.label
        self._label = torch.from_numpy(judgements.label)
        self._pair = torch.from_numpy(judgements.pair)
        self._person = torch.from_numpy(judgements.person)
        self._sign = torch.from_numpy(2.0 * judgements.yes - 1).unsqueeze(1)

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
        """Return the second derivatives (D, D) of the loss; of many people only sums of rows."""
        at = values.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(self._loss(at), at, create_graph=True)
        found = torch.eye(len(at), dtype=torch.float64)
        parts, many = self._parts(torch.arange(len(at))), []
        if len(at) > _MOST_CURVED:
            rows = (
                (name, row) for name in parts for row in parts[name].view(-1, parts[name].shape[-1])
            )
            many = [(name, row[:-1]) for name, row in rows if len(row) > _MANY]
        few = sorted({*range(len(at))}.difference(*(row.tolist() for _, row in many)))
        for row in few:
            (found[row],) = torch.autograd.grad(gradient[row], at, retain_graph=True)
        found[:, few] = found[few].T
        for name, each in many:
            (sums,) = torch.autograd.grad(gradient[each].sum(), at, retain_graph=True)
            found[each, each] = sums[each].clamp(min=_PRIOR[name] ** -2)
        return found.numpy()

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
        given = torch.log_softmax(of_pair + self._by_pair(of_judgement), dim=1)
        typical = {name: each.mean(dim=1, keepdim=True) for name, each in self._people(parts)}
        odds = self._odds(parts, parts["of_label"], typical["of_person"])
        width = torch.zeros(1)
        if "unsure" in parts:
            width = (parts["unsure"] + typical["of_unsure"].t()).exp() / 2
        yes, no = (torch.sigmoid(sign * odds - width).t().numpy() for sign in (1, -1))
        return States(given.numpy(), of_judgement.numpy(), yes, no, self, values)

    def of_features(self, values: Tensor, z: Tensor) -> Tensor:
        """Return log-probabilities of the states (n, K, S), given log-odds z (n, K)."""
        return self._of_states(self._parts(values), slice(None), z)

    def _chances(self, values: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Return log-probabilities of the states (P, S) and of judgements (J, S)."""
        parts = self._parts(values)
        of_pair = self._of_states(parts, self._label, self._z)
        people = dict(self._people(parts))
        odds = self._odds(parts, parts["of_label"][:, self._label[self._pair]], people["of_person"])
        said = self._sign * odds
        if "of_unsure" not in people:
            return of_pair, functional.logsigmoid(said), parts
        width = (parts["unsure"] + people["of_unsure"].t()).exp()
        between = _log_between(odds + width / 2, width)
        said = torch.where(self._unsure, between, functional.logsigmoid(said - width / 2))
        return of_pair, said, parts

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


def _positions(unsure: Any, answers: Answers) -> list[NDArray[np.intp]]:
    """Check the positions of items, labels and people."""
    found = [np.asarray(each, dtype=np.intp) for each in unsure]
    sizes = (*answers.shape, len(answers.annotator_names))
    if (
        len(found) != 3
        or len({each.shape for each in found}) > 1
        or any(
            ((each < least) | (each >= size)).any()
            for each, least, size in zip(found, (0, 0, -1), sizes, strict=False)
        )
    ):
        raise InputError(
            "unsure must be three lists of one length: positions of items, of labels, and of"
            " annotator_names (-1 for others)"
        )
    return found


def as_log_odds(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """Return finite log-odds; probabilities of 0 and 1 are known to float32 only."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-7, 1 - 1e-7)
    return np.asarray(np.log(p) - np.log1p(-p))
