"""Draw the answers of simulated people, for every kind of question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from complabel._drawn import RANDOM, RULE
from complabel._parameters import (
    Array,
    Indicator,
    Ints,
    check_array,
    check_choice,
    check_integer,
    check_random_state,
    check_real,
)
from complabel._questions import LISTING, RATES_OF_LISTS, QuestionKind
from complabel._settings import setting
from complabel.answers import (
    Answers,
    IndicatorLike,
    as_mask,
    check_complementary,
    check_indicator,
    label_names_of,
)
from complabel.errors import InputError
from complabel.simulate._draws import SCHEMES, Scheme, first_arrivals, log_dissimilarity


def draw_answers(
    Y: IndicatorLike,
    *,
    question: str = "named",
    scheme: Scheme = "uniform",
    sharpness: float = 1.0,
    asked_for: int = 1,
    answers_per_item: int = 1,
    items_share: float = 1.0,
    error_rate: float | ArrayLike = 0.0,
    missed: float | ArrayLike = 0.0,
    invented: float | ArrayLike = 0.0,
    propensities: ArrayLike | None = None,
    exclusion_rates: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Answers:
    """Draw the answers of simulated people who are asked a question about each item.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        1 where a label applies.
    question : str, default="named"
        - "named": name one of all labels that does not apply.
        - "menu-M", such as "menu-4": name one of M labels drawn at random that does not apply, or
          say that all M apply. These answers are "named", too.
        - "asked": does this label, drawn at random, apply?
        - "ticked": tick all labels that apply.
        - "ticked-M", such as "ticked-5": the same, on a form with M labels drawn at random.
        - "excluded": every label that does not apply is excluded with its exclusion rate.
        - "tagged": every label that applies is tagged with its exposure.
        - "positive": name one of all labels that applies, or say that none does.
        - "positive-menu-M": the same of M labels drawn at random.
    scheme, sharpness
        See :func:`draw_complementary`. "biased" is only allowed with the question "named".
    asked_for : int, default=1
        How many labels people are asked to name, alone or from menus. If there are fewer to name,
        all of these are named.
    answers_per_item : int, default=1
        Number of independent answers about each item. They may be equal.
    items_share : float, default=1.0
        Share of the items that get answers, drawn at random; above 0 and at most 1.
    error_rate : float or array-like of shape (n_annotators,), default=0.0
        How often an answer is drawn at random from all answers that the question allows, from 0
        to 1. Where labels are named, that is any set of at most ``asked_for`` offered labels (at
        least one label without a menu). For "asked" it is yes or no; for "ticked", "excluded"
        and "tagged", yes or no for each label separately. With an array, an annotator with one of
        these rates is drawn for each answer.
    missed, invented : float or array-like of shape (n_annotators,) or (n_annotators, n_labels), \
            default=0.0
        One-sided mistakes: how often a person does not see that a label applies, and how often
        they think that one applies which does not, from 0 to 1; each label separately. People
        answer truthfully about the labels that they see. If they name any label and think that
        all apply, they say so. With arrays, an annotator with these rates is drawn for each
        answer. Not together with ``error_rate``, and not for "excluded" and "tagged".
    propensities : array-like of shape (n_labels,) or None, default=None
        How easily each label comes to mind, above 0. Among the labels that can be named, the next
        one is named with a probability proportional to its propensity. By default all are equal.
    exclusion_rates : float, array-like of shape (n_labels,) or None, default=None
        How often a label that does not apply is excluded, from 0 to 1. Required for the question
        "excluded", and not allowed for others.
    exposure : float, array-like of shape (n_labels,) or None, default=None
        The same of labels that apply, and of the question "tagged".
    random_state : int, numpy.random.Generator or None, default=None
        Items, menus, choices, mistakes and annotators are drawn from separate streams, so a
        change to one of them leaves the others as they are.

    Returns
    -------
    Answers
        Random labels on offer have the ``probability`` of their question. A "named" draw has the
        same labels as :func:`draw_complementary` with the same ``random_state``, stored as
        :meth:`Answers.from_complementary` does. This holds without propensities, mistakes,
        repeated answers and unanswered items.

    Raises
    ------
    AnnotationError
        If ``Y`` is not 0/1. For "named" also if it has fewer than three labels, or a row in which
        all labels are relevant; for "biased" also a row in which none is.
    InputError
        If another parameter is out of its range, or does not belong to this question.

    Examples
    --------
    >>> draw_answers([[1, 0, 1], [1, 1, 0]], random_state=0).complementary
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    >>> draw_answers([[1, 0, 1], [1, 1, 1]], question="menu-2", random_state=0)
    Answers(2 items, 3 labels, 2 answers: 2 named)
    """
    names = label_names_of(Y)
    rates = {"excluded": exclusion_rates, "tagged": exposure}
    asking = _Asking.of(Y, question, scheme, sharpness, asked_for, propensities, rates)
    check_integer("answers_per_item", answers_per_item, at_least=1)
    check_real("items_share", items_share, above=0, at_most=1)
    mistakes = _Mistakes.of(error_rate, missed, invented, asking)
    rng = check_random_state(random_state)
    items, menus, errors, annotators = rng.spawn(1)[0].spawn(4)
    streams = _Streams(menus, errors, rng)
    n_items = len(asking.relevant)
    n_answered = max(1, round(items_share * n_items))
    answered = np.sort(np.argsort(items.random(n_items))[:n_answered])
    rounds, people = [], []
    for _ in range(answers_per_item):
        # All items get answers here, so that leaving some out does not change the others.
        person = annotators.integers(mistakes.n_annotators, size=n_items)
        drawn = asking.answered_by(mistakes.only(person), streams)
        rounds.append({name: as_mask(mask[answered]) for name, mask in drawn.items()})
        people.append(person[answered])

    free = asking.kind.name == "named"
    is_plain = free and propensities is None and not mistakes.any
    if is_plain and answers_per_item == 1 and n_answered == n_items:
        answers = Answers.from_complementary(rounds[0]["named"])
        return replace(answers, label_names=None if names is None else tuple(names))
    several = mistakes.of_annotators
    masks: dict[str, Any] = {n: sparse.vstack([drawn[n] for drawn in rounds]) for n in rounds[0]}
    answers = Answers.from_arrays(
        **masks,
        question=asking.kind.held_as,
        item=np.tile(answered, answers_per_item),
        annotator=np.concatenate(people) if several else None,
        asked_for=asking.asked_for if asking.kind.chooses else 0,
        probability=asking.probability,
        drawn=asking.drawn,
        all_apply="never" if free and not mistakes.one_sided else asking.kind.all_apply,
        n_items=n_items,
        label_names=names,
    )
    if several:  # name all annotators, also those who were drawn for no answer
        answers = replace(answers, annotator_names=tuple(map(str, range(mistakes.n_annotators))))
    return answers


def draw_propensities(
    n_labels: int, sd: float, random_state: int | np.random.Generator | None = None
) -> Array:
    """Draw how easily each label comes to mind: ``exp(sd * z)`` with standard normal z.

    Parameters
    ----------
    n_labels : int
    sd : float
        Standard deviation of the logarithms, at least 0; 0 makes all propensities equal.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    ndarray of shape (n_labels,), dtype float64
        Propensities for :func:`draw_answers`, all above 0.

    Examples
    --------
    >>> draw_propensities(3, 0.0)
    array([1., 1., 1.])
    """
    check_integer("n_labels", n_labels, at_least=1)
    check_real("sd", sd, at_least=0)
    rng = check_random_state(random_state)
    return np.asarray(np.exp(sd * rng.standard_normal(n_labels)))


class _Streams(NamedTuple):
    """Random generators."""

    menus: np.random.Generator
    errors: np.random.Generator
    choices: np.random.Generator  # the given state itself, as in draw_complementary


@dataclass(frozen=True)
class _Mistakes:
    """Rates of the mistakes of A annotators, or of those who give A answers."""

    error_rates: Array  # (A,)
    missed: Array  # (A, 1 or K)
    invented: Array  # (A, 1 or K)
    of_annotators: bool  # whether annotators are told apart

    @classmethod
    def of(cls, error_rate: Any, missed: Any, invented: Any, asking: _Asking) -> Self:
        n_labels = asking.relevant.shape[1]
        rates = [
            _check_rates("error_rate", error_rate)[:, np.newaxis],
            _check_rates_by_label("missed", missed, n_labels),
            _check_rates_by_label("invented", invented, n_labels),
        ]
        several = any(np.ndim(rate) > 0 for rate in (error_rate, missed, invented))
        numbers = {len(each) for each in rates if len(each) > 1}
        if len(numbers) > 1:
            raise InputError(
                f"missed has {len(rates[1])} rows and invented {len(rates[2])} for error_rate of"
                f" {len(rates[0])}; give as many annotators, or one number"
            )
        has_kinds = any(map(np.any, rates[1:]))
        if has_kinds and asking.kind.name in LISTING:
            raise InputError(
                "missed and invented are for questions to people; lists of labels have"
                f" {RATES_OF_LISTS[asking.kind.name]}"
            )
        if has_kinds and rates[0].any():
            raise InputError(
                f"{setting('error_rate')} is given beside {setting('missed')} or"
                f" {setting('invented')}: both say how people err; leave one of them out"
            )
        n_annotators = max(numbers, default=1)
        error, missed, invented = (np.broadcast_to(r, (n_annotators, r.shape[1])) for r in rates)
        return cls(error[:, 0], missed, invented, several)

    @property
    def n_annotators(self) -> int:
        return len(self.error_rates)

    @property
    def one_sided(self) -> bool:
        return bool(self.missed.any() or self.invented.any())

    @property
    def any(self) -> bool:
        return self.one_sided or bool(self.error_rates.any())

    def only(self, person: Ints) -> Self:
        """Return the rates of those who give some answers, (n,)."""
        rates = {name: getattr(self, name)[person] for name in ("missed", "invented")}
        return replace(self, error_rates=self.error_rates[person], **rates)

    def perceive(self, relevant: Indicator, stream: np.random.Generator) -> Indicator:
        """Draw the labels (n, K) that seem to apply to those who give the answers."""
        if not self.one_sided:
            return relevant
        wrong = stream.random(relevant.shape) < np.where(relevant, self.missed, self.invented)
        return relevant ^ wrong


@dataclass(frozen=True)
class _Asking:
    """A question that is asked about every item; masks are (n, K)."""

    kind: QuestionKind
    relevant: Indicator
    log_weights: Any
    asked_for: int  # at most the number of labels on offer
    rates: Array  # of labels to be listed

    @classmethod
    def of(
        cls,
        Y: IndicatorLike,
        question: str,
        scheme: Scheme,
        sharpness: float,
        asked_for: int,
        propensities: ArrayLike | None,
        rates_of_lists: Mapping[str, ArrayLike | None],
    ) -> Self:
        relevant = check_indicator(Y, name="relevant")
        n_labels = relevant.shape[1]
        kind = QuestionKind.parse(question, n_labels, others=("free", *LISTING))
        free = kind.name == "named"
        check_choice("scheme", scheme, SCHEMES)
        check_integer("asked_for", asked_for, at_least=1)
        check_real("sharpness", sharpness, at_least=0)
        if scheme != "uniform" and not free:
            raise InputError(
                f"{setting('scheme', scheme)} is about labels that people name, with"
                f" {setting('question', 'named')}, but the question is {question!r}: give"
                f" {setting('scheme', 'uniform')}"
            )
        if asked_for > 1 and not kind.names:
            raise InputError(
                f"asked_for must be 1 for the question {question!r}: it names no labels"
            )
        for word, values in rates_of_lists.items():
            if (kind.name == word) != (values is not None):
                name = RATES_OF_LISTS[word]
                raise InputError(
                    f"{name} is for the question {word!r}, which needs one rate, or one for each"
                    f" label; the question is {question!r}",
                    parameter=name,
                )
        if free:  # every row must have a label that can be named
            every = scheme == "biased"
            relevant = check_complementary(relevant, allow_unanswered=not every, name="relevant")
        log_weights: Any = 0.0
        if propensities is not None:
            log_weights = _log_propensities(propensities, n_labels)
        if scheme == "biased":
            log_weights = log_weights + sharpness * log_dissimilarity(relevant)
        rates = rates_of_lists.get(kind.name)
        return cls(
            kind,
            relevant,
            log_weights,
            min(asked_for, kind.n_offered(n_labels)),
            np.zeros(1)
            if rates is None
            else _check_rates(RATES_OF_LISTS[kind.name], rates, n_labels),
        )

    @property
    def drawn(self) -> str:
        if self.kind.name == "excluded":
            return RULE  # tags are given by people
        return "" if math.isnan(self.probability) else RANDOM

    @property
    def probability(self) -> float:
        """Probability with which a question is drawn; NaN if it is not drawn at random."""
        return self.kind.probability(self.relevant.shape[1]) if self.kind.size else math.nan

    def answered_by(self, mistakes: _Mistakes, streams: _Streams) -> dict[str, Indicator]:
        """Draw one answer about every item, given the rates of each answer's mistakes, (n,)."""
        seen = mistakes.perceive(self.relevant, streams.errors)
        return replace(self, relevant=seen)._answer(mistakes.error_rates, streams)

    def _answer(self, error_rates: Array, streams: _Streams) -> dict[str, Indicator]:
        if self.kind.chooses:
            return self._name(error_rates, streams)
        if self.kind.name == "asked":
            return self._judge(error_rates, streams)
        by_label = error_rates[:, np.newaxis]
        if self.kind.judges:
            offered = self._offer(streams.menus)
            applies = _mistaken(self.relevant, by_label, streams.errors)
            return {"offered": offered, "relevant": offered & applies, "absent": offered & ~applies}
        hit = streams.choices.random(self.relevant.shape) < self.rates
        side = self.relevant == (LISTING[self.kind.name] == "yes")
        listed = (hit & side).astype(np.uint8)
        return {self.kind.name: _mistaken(listed, by_label, streams.errors)}

    def _offer(self, stream: np.random.Generator) -> Indicator:
        """Draw the labels (n, K) on offer: a random menu for each item, or all labels."""
        every = np.ones_like(self.relevant)
        return _random_subsets(stream, every, self.kind.size) if self.kind.size else every

    def _name(self, error_rates: Array, streams: _Streams) -> dict[str, Indicator]:
        """Draw named labels from a random menu, or from all labels."""
        offered = self._offer(streams.menus)
        eligible = (offered == 1) & (self.relevant == self.kind.names_positive)
        if not self.kind.names:  # people choose one even if all apply
            eligible |= (offered == 1) & ~eligible.any(axis=1, keepdims=True)
        named = first_arrivals(eligible, self.asked_for, streams.choices, self.log_weights)
        if error_rates.any():
            wrong = streams.errors.random(len(named)) < error_rates
            sizes = self._random_sizes(streams.errors)
            anything = _random_subsets(streams.errors, offered, sizes)
            named = np.where(wrong[:, np.newaxis], anything, named)
        marks = {self.kind.held_as: named}
        return marks | {"offered": offered} if self.kind.size else marks

    def _random_sizes(self, stream: np.random.Generator) -> Ints:
        """Draw the size of a random label set, (n,), if all allowed sets are equally likely."""
        most = self.kind.n_offered(self.relevant.shape[1])
        may_be_none = self.kind.names and (self.kind.size > 0 or self.kind.names_positive)
        sizes = np.arange(0 if may_be_none else 1, self.asked_for + 1)
        # log C(most, size) plus a constant, which softmax removes
        log_counts = -special.betaln(most - sizes + 1, sizes + 1)
        bounds = np.cumsum(special.softmax(log_counts))[:-1]
        chosen: Ints = sizes[np.searchsorted(bounds, stream.random(len(self.relevant)))]
        return chosen

    def _judge(self, error_rates: Array, streams: _Streams) -> dict[str, Indicator]:
        """Ask whether one random label applies, and draw the answers."""
        rows = np.arange(len(self.relevant))
        label = streams.menus.integers(self.relevant.shape[1], size=len(rows))
        asked = np.zeros_like(self.relevant)
        asked[rows, label] = 1
        applies = _mistaken(self.relevant[rows, label], error_rates, streams.errors)[:, np.newaxis]
        return {"offered": asked, "relevant": asked & applies, "absent": asked & (1 - applies)}


def _check_rates(name: str, values: Any, n_labels: int | None = None) -> Array:
    """Return rates from 0 to 1 as an array: one rate, or one per annotator or label."""
    scalar = np.ndim(values) == 0
    rates = check_array(name, [values] if scalar else values, "entry")
    if n_labels is not None and not scalar and len(rates) != n_labels:
        raise InputError(f"{name} has {len(rates)} entries for {n_labels} labels; give as many")
    wrong = np.flatnonzero((rates < 0) | (rates > 1))
    if len(wrong):
        place = "" if scalar else f" at entry {wrong[0]}"
        raise InputError(f"{name} must be from 0 to 1, got {rates[wrong[0]]}{place}")
    return rates


def _check_rates_by_label(name: str, values: Any, n_labels: int) -> Array:
    """Return rates from 0 to 1 of annotators, (A, 1), or of annotators and labels, (A, K)."""
    if np.ndim(values) < 2:
        return _check_rates(name, values)[:, np.newaxis]
    rates = check_array(name, values, "annotator", "label")
    if rates.shape[1] != n_labels:
        raise InputError(f"{name} has {rates.shape[1]} columns for {n_labels} labels; give as many")
    return _check_rates(name, rates.ravel()).reshape(rates.shape)


def _mistaken(values: Indicator, rates: Array, stream: np.random.Generator) -> Indicator:
    """Replace each value by a random 0 or 1 with probability ``rates``."""
    if not rates.any():
        return values
    wrong = stream.random(values.shape) < rates
    return np.where(wrong, stream.integers(2, size=values.shape, dtype=np.uint8), values)


def _random_subsets(stream: np.random.Generator, of: Indicator, size: int | Ints) -> Indicator:
    """Draw a random subset of each row's labels, (n, K); ``size`` may be an array (n,)."""
    times = np.where(of == 1, stream.random(of.shape), np.inf)
    most = int(np.max(size, initial=0))
    subsets = np.zeros_like(of)
    if most:
        first = np.argpartition(times, range(most), axis=1)[:, :most]  # in the order of arrival
        within = np.arange(most) < np.broadcast_to(size, len(of))[:, np.newaxis]
        np.put_along_axis(subsets, first, within.astype(np.uint8), axis=1)
    return subsets


def _log_propensities(values: ArrayLike, n_labels: int) -> Array:
    propensities = check_array("propensities", values, "label")
    if len(propensities) != n_labels:
        raise InputError(
            f"propensities has {len(propensities)} entries for {n_labels} labels; give one for each"
        )
    if propensities.min() <= 0:
        at = int(np.argmin(propensities))
        raise InputError(f"propensities must be above 0, got {propensities[at]} at label {at}")
    return np.asarray(np.log(propensities))
