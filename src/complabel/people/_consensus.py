"""What people would say together about a label, and how single answers and people differ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import KFold

from complabel._parameters import check_integer, check_random_state
from complabel.answers import Answers, find_contradictions, pair_rows
from complabel.errors import AnnotationError, InputError
from complabel.methods import ComplementaryClassifier, SelectionLikelihoodClassifier
from complabel.people._states import Judgements, States, as_log_odds, choose_states, fit_states

# Below this, rates of people rest on the prior and on the features alone.
_LEAST_REPEATED = 30
# What single people say is no contradiction here. The classifier that looks at the features is told
# that one answer in twenty is given at random; rates from .02 to .1 made no difference.
_ERROR_RATE = 0.05
_LEVEL = 0.95


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
        ``invented_high``, with 95 % intervals.
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
        people=_people(judgements, answers, of_each),
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
        several = len(find_contradictions(answers.statements())) > 0
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
    judgements: Judgements, answers: Answers, applies: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Count each person's mistakes by how probably a label applies, given all answers (J,)."""
    # A person's own answer belongs to what is given: P(applies, says no) is what is counted.
    # Without it, the rates of missed labels came out .1 too high.
    known = judgements.person >= 0

    def count(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.zeros(judgements.n_people)
        np.add.at(sums, judgements.person[known], weights[known])
        return sums

    table: dict[str, NDArray[Any]] = {
        "annotator": np.array(answers.annotator_names, dtype=object),
        "judged": count(np.ones(len(applies))).astype(np.intp),
    }
    for name, weights, wrong in (
        ("missed", applies, ~judgements.yes),
        ("invented", 1 - applies, judgements.yes),
    ):
        of_all, of_wrong = count(weights), count(weights * wrong)
        # Jeffreys' interval, with the expected numbers in place of the counts
        chances = stats.beta(of_wrong + 0.5, of_all - of_wrong + 0.5)
        tail = (1 - _LEVEL) / 2
        table |= {
            name: np.divide(of_wrong, of_all, out=np.full(len(of_all), np.nan), where=of_all > 0),
            f"{name}_low": np.asarray(chances.ppf(tail)),
            f"{name}_high": np.asarray(chances.ppf(1 - tail)),
        }
    return table
