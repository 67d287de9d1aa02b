"""What people would say together about a label, and how single answers and people differ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import KFold

from complabel._parameters import AnyArray, Array, check_integer, check_random_state
from complabel.answers import Answers, about_positives, pair_rows
from complabel.errors import AnnotationError, InputError
from complabel.methods import ComplementaryClassifier, SelectionLikelihoodClassifier
from complabel.people._states import UNSURE, Judgements, States, choose_states, fit_states

# Below this, rates of people rest on the prior and on the features alone.
_LEAST_REPEATED = 30
# What single people say is no contradiction here. The classifier that looks at the features is told
# that one answer in twenty is given at random; rates from .02 to .1 made no difference.
_ERROR_RATE = 0.05
_LEVEL = 0.95
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

    share: Array
    applies: Array
    doubtful: dict[str, AnyArray]
    people: dict[str, AnyArray]
    n_repeated: int
    n_states: int
    unsure: Array

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
    held-out judgements are not clearly likelier with the scale.

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
        If the answers have no judgement, or if all judgements say yes, or all say no: then nobody
        could disagree.
    InputError
        If there are fewer items than ``cv``, or X or ``unsure`` does not fit the answers.

    Warns
    -----
    UserWarning
        If fewer than 30 pairs of an item and a label were judged twice. Then nothing tells who
        errs. Also if nobody ever says no about a label.

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
    if not (judgements.yes != UNSURE).any():
        raise AnnotationError(
            f"no answer judges a label, so people cannot be compared{about_positives(answers)};"
            " give answers to yes/no questions, or ticked labels"
        )
    _refuse_one_sided(judgements, answers)
    n_repeated = int(judgements.repeated.sum())
    if n_repeated < _LEAST_REPEATED:
        warnings.warn(
            f"{n_repeated} pairs of an item and a label were judged twice; with fewer than"
            f" {_LEAST_REPEATED}, nothing tells who errs: ask several people about the same pairs",
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


def _refuse_one_sided(judgements: Judgements, answers: Answers) -> None:
    """Refuse judgements that all say the same, and warn of labels about which all say yes."""
    label = judgements.label[judgements.pair]
    n_yes = np.bincount(label[judgements.yes == 1], minlength=answers.n_labels)
    n_no = np.bincount(label[judgements.yes == 0], minlength=answers.n_labels)
    if not n_yes.any() or not n_no.any():
        word, advice = ("yes", "apply") if n_yes.any() else ("no", "do not apply")
        raise AnnotationError(
            f"all {int(n_yes.sum() + n_no.sum()):,} judgements say {word}, so nobody could"
            f" disagree, and nothing tells who errs. If people ticked all labels that {advice},"
            " import the file that the answers came from again, with complabel import"
            " --read-as ticked"
        )
    names = answers.label_names or range(answers.n_labels)
    if some := [str(names[at]) for at in np.flatnonzero((n_no == 0) & (n_yes >= _LEAST_REPEATED))]:
        warnings.warn(
            f"nobody ever says no about {', '.join(some)}: if nobody could, what is found about"
            " these labels says nothing",
            UserWarning,
            stacklevel=3,
        )


def _held_out_log_odds(
    X: Any,
    answers: Answers,
    classifier: ComplementaryClassifier | None,
    cv: int,
    random_state: int | np.random.Generator | None,
) -> Array:
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
    log_odds = np.empty(answers.shape)
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(log_odds):
        train = train[answers.answered[train]]
        model = clone(classifier).fit(rows[train], answers[train])
        log_odds[test] = as_log_odds(model.predict_proba(rows[test]))
    return log_odds


def _doubtful(
    judgements: Judgements, answers: Answers, states: States, applies: Array
) -> dict[str, AnyArray]:
    item, label = judgements.item[judgements.pair], judgements.label[judgements.pair]
    by_others = np.exp(states.without_each(judgements)) * states.chance_of_yes.T[label]
    people = np.array([*answers.annotator_names, None], dtype=object)
    columns: dict[str, AnyArray] = {
        "item": item if answers.item_names is None else answers.item_names[item],
        "label": label if answers.label_names is None else np.array(answers.label_names)[label],
        "annotator": people[judgements.person],
        "said": judgements.yes == 1,
        "wrong": np.where(judgements.yes == 1, 1 - applies, applies),
        "others": by_others.sum(axis=1),
    }
    sure = np.flatnonzero(judgements.yes != UNSURE)
    order = sure[np.argsort(-columns["wrong"][sure], kind="stable")]
    return {name: column[order] for name, column in columns.items()}


def _people(
    judgements: Judgements, answers: Answers, applies: Array, states: States
) -> dict[str, AnyArray]:
    """Count each person's mistakes by how probably a label applies, given all answers (J,).

    An interval is a mixture: draws of the parameters say which labels may apply, draws of these say
    who was wrong, and each draw has Jeffreys' posterior of a share.
    """
    # A person's own answer belongs to what is given: P(applies, says no) is what is counted.
    # Without it, the rates of missed labels came out .1 too high.
    known, n = judgements.person >= 0, judgements.n_people
    is_unsure = judgements.yes == UNSURE

    def count(weights: Array) -> Array:
        return np.asarray(np.bincount(judgements.person[known], weights[known], n) + 0.0)

    def share(some: Array, of_all: Array) -> Array:
        return np.asarray(np.divide(some, of_all, out=np.full(n, np.nan), where=of_all > 0))

    alone = judgements.only(~is_unsure)
    identifiable = alone.are_identifiable()
    table: dict[str, AnyArray] = {
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
        disagreed, compared = alone.disagreement(truth == 1)
        most = stats.beta(disagreed + 0.5, compared - disagreed + 0.5).ppf(1 - tail)
        low, high = np.where(identifiable, low, 0.0), np.where(identifiable, high, most)
        table |= {
            name: value,
            f"{name}_low": np.fmin(low, value),
            f"{name}_high": np.fmax(high, value),
        }
    order = ["annotator", "judged", *(f"{m}{end}" for m in ("missed", "invented") for end in _ENDS)]
    order += ["unsure_applies", "unsure_not"] if is_unsure.any() else []
    return {name: table[name] for name in order} | {"told_apart": identifiable}


def as_log_odds(probabilities: AnyArray) -> Array:
    """Return finite log-odds; probabilities of 0 and 1 are known to float32 only."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-7, 1 - 1e-7)
    return np.asarray(np.log(p) - np.log1p(-p))
