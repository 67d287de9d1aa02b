"""The likelihood of answers by enumeration: what the fast one is held against.

Every one of the 2^K label sets is looked at, with nothing but the chance that a person who sees
this set gives this answer. There is no integral, no logarithm before the end, no torch. Logits may
be complex, so that a step into the imaginary direction gives derivatives that are exact.
"""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Answer:
    """One answer about one item, as the oracle reads it; masks have shape (K,) and are boolean."""

    question: str
    offered: np.ndarray
    named: np.ndarray  # of the question "positive", they apply
    absent: np.ndarray
    relevant: np.ndarray
    excluded: np.ndarray
    asked_for: int = 0
    tagged: np.ndarray | None = None
    all_apply: str = "answer"  # of the question "positive": if none applies
    mistakes: float = 0.0
    missed: np.ndarray | float = 0.0
    invented: np.ndarray | float = 0.0
    menu: frozenset = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "menu", frozenset(np.flatnonzero(self.offered)))

    @property
    def tells_all(self):
        """Whether fewer were named than asked for: all on offer that do not apply."""
        return int(self.named.sum()) < self.asked_for

    @property
    def n_possible(self):
        """How many answers the question allows."""
        n_offered, said = len(self.menu), self.all_apply == "answer"
        if self.asked_for == 1:
            return n_offered + said
        return sum(math.comb(n_offered, s) for s in range(0 if said else 1, self.asked_for + 1))


def answers_log_likelihood_reference(
    logits,
    answers,
    *,
    propensities=None,
    error_rates=0.0,
    exclusion_rates=None,
    exposure=None,
    missed=0.0,
    invented=0.0,
):
    """Compute the log-likelihood (n,) of each item's answers, from logits of shape (n, K)."""
    by_item = read_answers(answers, error_rates, missed=missed, invented=invented)
    rates = (error_rates, missed, invented)
    mistakes = any(bool(np.any(np.asarray(each) > 0)) for each in rates)
    listed = {"exclusion_rates": exclusion_rates, "exposure": exposure}
    return np.array(
        [
            item_log_likelihood(z, of_item, propensities, listed, mistakes=mistakes)
            for z, of_item in zip(logits, by_item, strict=True)
        ]
    )


def answers_gradient_reference(logits, answers, **settings):
    """Differentiate each item's log-likelihood by its own logits, (n, K), by complex steps."""
    logits = np.asarray(logits, dtype=np.complex128)
    gradient = np.empty(logits.shape)
    for k in range(logits.shape[1]):
        step = np.zeros(logits.shape[1])
        step[k] = 1e-40
        moved = answers_log_likelihood_reference(logits + 1j * step, answers, **settings)
        gradient[:, k] = moved.imag / 1e-40
    return gradient


def read_answers(answers, error_rates=0.0, *, missed=0.0, invented=0.0, unknown_last=False):
    """Return a list of `Answer` for each of the container's items.

    The rate of unknown annotators is the mean, or the last where that is said.
    """
    masks = {
        name: getattr(answers, name).toarray() > 0
        for name in ("offered", "named", "absent", "relevant", "excluded", "tagged")
    }
    positive = answers.question == "positive"
    masks["named"][positive] = answers.positive.toarray()[positive] > 0
    masks["offered"] |= ~masks["offered"].any(axis=1, keepdims=True)  # a row of none offers all
    by_item = [[] for _ in range(answers.n_items)]
    for row, item in enumerate(answers.item):
        answer = Answer(
            str(answers.question[row]),
            **{name: mask[row] for name, mask in masks.items()},
            asked_for=int(answers.asked_for[row]),
            all_apply=str((answers.none_applies if positive[row] else answers.all_apply)[row]),
            mistakes=float(rate_of(answers.annotator[row], error_rates, unknown_last)),
            missed=rate_of(answers.annotator[row], missed, unknown_last),
            invented=rate_of(answers.annotator[row], invented, unknown_last),
        )
        by_item[item].append(answer)
    return by_item


def rate_of(annotator, error_rates, unknown_last=False):
    """Return this annotator's rate, or rates by label: the mean where it is unknown."""
    if np.ndim(error_rates) == 0:
        return error_rates
    if annotator < 0 and not unknown_last:
        return np.mean(error_rates, axis=0)
    return error_rates[annotator]


def rates_of_lists(settings, n_labels):
    """Return the rates of both kinds of lists by label; NaN where a setting lacks them."""
    names = ("exclusion_rates", "exposure")
    return {name: np.ones(n_labels) * settings.get(name, np.nan) for name in names}


def item_log_likelihood(logits, answers, propensities=None, listed=None, *, mistakes=None):
    """Return the log-likelihood of one item's answers, composite over groups of namings.

    ``listed`` are the rates of lists.

    ``mistakes`` says whether anybody may make some, be it about another item: it decides what is
    joint. Where nobody does, who names fewer labels than asked for tells a fact of each on offer.
    """
    n_labels = len(logits)
    sets = label_sets(n_labels)
    weights = np.ones(n_labels) if propensities is None else np.asarray(propensities, dtype=float)
    given = {name: rates for name, rates in (listed or {}).items() if rates is not None}
    rates = rates_of_lists(given, n_labels)
    if mistakes is None:
        mistakes = any(answer.mistakes > 0 or errs(answer) for answer in answers)
    before = prior(logits, sets)
    known = before.copy()
    for answer in answers:
        known *= chance_of_facts(answer, sets, rates)
        if is_fact(answer, mistakes):
            known *= chance_of_naming(answer, sets, weights)
    value = of_facts = np.log(known.sum()) if answers else 0.0
    for group in groups_of_namings(answers, mistakes=mistakes):
        named = known.copy()
        for answer in group:
            named *= chance_of_naming(answer, sets, weights)
        exist = before * np.min([chance_of_answering(a, sets) for a in group], axis=0)
        value = value + np.log(named.sum()) - np.log(exist.sum()) - of_facts
    return value


def is_fact(answer, mistakes):
    """Return whether a naming tells a fact of each label on offer, and nothing else."""
    return answer.tells_all and not mistakes and answer.all_apply != "skip"


def groups_of_namings(answers, *, mistakes):
    """Return the namings whose joint probability is taken, as lists."""
    groups = {}
    for place, answer in enumerate(answers):
        if answer.question in ("named", "positive") and not is_fact(answer, mistakes):
            joint = answer.asked_for == 1 and not mistakes
            key = (answer.question, answer.menu) if joint else place
            groups.setdefault(key, []).append(answer)
    return list(groups.values())


def label_sets(n_labels):
    """Return all sets of labels that may apply, (2^K, K)."""
    return np.array(list(itertools.product((False, True), repeat=n_labels)))


def prior(logits, sets):
    """Return the probability of each label set (2^K,), labels being independent."""
    p, q = 1 / (1 + np.exp(-np.asarray(logits))), 1 / (1 + np.exp(np.asarray(logits)))
    return np.where(sets, p, q).prod(axis=1)


def chance_of_facts(answer, sets, listed):
    """Return the chance (2^K,) of what an answer says of single labels, for each label set."""
    chance = np.ones(len(sets))
    judged = answer.question in ("asked", "ticked")
    e = answer.mistakes if judged else 0.0
    missed, invented = (
        np.broadcast_to(rate if judged else 0.0, sets.shape[1]) + e / 2
        for rate in (answer.missed, answer.invented)
    )
    for k in np.flatnonzero(answer.relevant):
        chance *= np.where(sets[:, k], 1 - missed[k], invented[k])
    for k in np.flatnonzero(answer.absent):
        chance *= np.where(sets[:, k], missed[k], 1 - invented[k])
    if answer.question == "excluded":
        for k in answer.menu:
            rate = listed["exclusion_rates"][k]
            applies, does_not = (0.0, rate) if answer.excluded[k] else (1.0, 1 - rate)
            chance *= np.where(sets[:, k], applies, does_not)
    if answer.question == "tagged":
        for k in answer.menu:
            rate = listed["exposure"][k]
            chance *= np.where(sets[:, k], rate, 0.0) if answer.tagged[k] else 1 - rate * sets[:, k]
    return chance


def chance_of_naming(answer, sets, weights):
    """Return the chance (2^K,) that these labels are named, by choice or by mistake."""
    e, at_random = answer.mistakes, 1 / answer.n_possible
    choice = chance_of_choice(answer, sets, weights)
    return (1 - e) * (perceiving(answer, sets) @ choice) + e * at_random


def chance_of_answering(answer, sets):
    """Return the chance (2^K,) that there is an answer, be it a mistake."""
    if answer.all_apply != "skip":
        return np.ones(len(sets))
    answers = np.where(can_be_named(answer, sets).any(axis=1), 1.0, answer.mistakes)
    return perceiving(answer, sets) @ answers


def can_be_named(answer, sets):
    """Return which labels on offer can be named truthfully, (2^K, K)."""
    return (sets if answer.question == "positive" else ~sets) & answer.offered


def errs(answer):
    """Return whether the annotator misses or invents labels."""
    return bool(np.any(answer.missed) or np.any(answer.invented))


def perceiving(answer, sets):
    """Return the chance that each label set (rows) is perceived as each other (columns)."""
    if not errs(answer):
        return np.eye(len(sets))
    missed, invented = np.ones(sets.shape[1]) * answer.missed, answer.invented
    as_applying = np.where(sets, 1 - missed, invented)[:, np.newaxis]
    return np.where(sets, as_applying, 1 - as_applying).prod(axis=2)


def chance_of_choice(answer, sets, weights):
    """Return the chance (2^K,) that one who makes no mistake names these labels of the offered."""
    free = can_be_named(answer, sets)
    labels = np.flatnonzero(answer.named)
    if answer.tells_all:
        return (free == answer.named).all(axis=1).astype(float)
    chance = np.zeros(len(sets))
    possible = free[:, labels].all(axis=1)
    for order in itertools.permutations(labels):
        left, of_order = free[possible].copy(), 1.0
        for label in order:
            of_order = of_order * weights[label] / (left * weights).sum(axis=1)
            left[:, label] = False
        chance[possible] += of_order
    if answer.all_apply == "pick":
        assert answer.asked_for == 1
        chance[~free.any(axis=1)] = 1 / len(answer.menu)
    return chance
