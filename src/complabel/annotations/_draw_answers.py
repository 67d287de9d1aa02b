"""Simulated people who are asked about labels, in whichever way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from complabel._parameters import check_integer, check_random_state, check_real
from complabel.annotations._answers import Answers
from complabel.annotations._answers_masks import as_mask
from complabel.annotations._draw_questions import Asking, Streams, check_rates
from complabel.annotations._draws import Scheme
from complabel.annotations._indicator import IndicatorLike
from complabel.annotations._names import label_names_of


def draw_answers(
    Y: IndicatorLike,
    *,
    question: str = "free",
    scheme: Scheme = "uniform",
    sharpness: float = 1.0,
    n_per_row: int = 1,
    answers_per_item: int = 1,
    items_share: float = 1.0,
    mistakes: float | ArrayLike = 0.0,
    propensities: ArrayLike | None = None,
    exclusion_rates: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Answers:
    """Draw what people answer who are asked a question about each item.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Relevant labels.
    question : str, default="free"
        "free": name a label, of all, that does not apply. "menu-M", such as "menu-4": name one of
        M labels drawn at random, or say that all of them apply. "asked": does this label, drawn
        at random, apply? "ticked": tick all labels that do not apply. "excluded": every label
        that does not apply is ruled out with its rate.
    scheme : {"uniform", "biased"}, default="uniform"
        See :func:`draw_complementary`; "biased" only with "free".
    sharpness : float, default=1.0
        See :func:`draw_complementary`.
    n_per_row : int, default=1
        How many labels people are asked to name, for "free" and menus. Where fewer do not apply,
        they name all of those.
    answers_per_item : int, default=1
        Independent answers about each item, which may repeat each other.
    items_share : float, default=1.0
        Share of the items, drawn at random, that are answered at all.
    mistakes : float or array-like of shape (n_annotators,), default=0.0
        How often an answer is drawn from all that the question allows: a set of at most
        ``n_per_row`` labels on offer (of "free": one at least), yes or no; "ticked" and
        "excluded": yes or no label by label. With several rates, annotators are drawn at random
        for each answer.
    propensities : array-like of shape (n_labels,) or None, default=None
        How easily each label comes to mind, above 0: where several do not apply, the next one
        named is drawn with a probability proportional to it. They only play a part where labels
        are named. By default all are equal.
    exclusion_rates : float, array-like of shape (n_labels,) or None, default=None
        For "excluded", which needs them: how often a label that does not apply is ruled out.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time. Items, menus, choices, mistakes and annotators have
        streams of their own, so that one does not change another.

    Returns
    -------
    Answers
        Menus and "asked" have the ``probability`` of their question. "free" without propensities,
        mistakes, several answers and unanswered items has the labels of
        :func:`draw_complementary` for the same ``random_state``, as
        :meth:`Answers.from_complementary` stores them.

    Raises
    ------
    AnnotationError
        If ``Y`` is not 2-D or not 0/1; for "free" also if it has fewer than three labels, or a
        row in which all labels are relevant (for "biased": or none).
    InputError
        If another parameter is out of its range, or plays no part for this question.

    Examples
    --------
    >>> draw_answers([[1, 0, 1], [1, 1, 0]], random_state=0).complementary
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    >>> draw_answers([[1, 0, 1], [1, 1, 1]], question="menu-2", random_state=0)
    Answers(2 items, 3 labels, 2 answers: 2 named)
    """
    names = label_names_of(Y)
    asking = Asking.of(
        Y,
        question=question,
        scheme=scheme,
        sharpness=sharpness,
        n_per_row=n_per_row,
        propensities=propensities,
        exclusion_rates=exclusion_rates,
    )
    check_integer("answers_per_item", answers_per_item, at_least=1)
    check_real("items_share", items_share, above=0, at_most=1)
    error_rates = check_rates("mistakes", mistakes)
    streams = Streams.of(random_state)
    n_items = len(asking.relevant)
    n_answered = max(1, round(items_share * n_items))
    answered = np.sort(np.argsort(streams.items.random(n_items))[:n_answered])
    rounds, people = [], []
    for _ in range(answers_per_item):
        # Of all items, so that leaving some out does not change the others' answers.
        person = streams.people.integers(len(error_rates), size=n_items)
        drawn = asking.answer(error_rates[person], streams)
        rounds.append({name: as_mask(mask[answered]) for name, mask in drawn.items()})
        people.append(person[answered])

    is_plain = asking.kind == "free" and propensities is None and not error_rates.any()
    if is_plain and answers_per_item == 1 and n_answered == n_items:
        answers = Answers.from_complementary(rounds[0]["named"])
        return replace(answers, label_names=None if names is None else tuple(names))
    several = np.ndim(mistakes) > 0
    answers = Answers.from_arrays(
        **{name: sparse.vstack([drawn[name] for drawn in rounds]) for name in rounds[0]},
        question=asking.stored_as,
        item=np.tile(answered, answers_per_item),
        annotator=np.concatenate(people) if several else None,
        asked_for=asking.asked_for,
        probability=asking.probability,
        all_apply="never" if asking.kind == "free" else "answer",
        n_items=n_items,
        label_names=names,
    )
    if several:  # whom nobody was drawn as has a rate all the same
        answers = replace(answers, annotator_names=tuple(map(str, range(len(error_rates)))))
    return answers


def draw_propensities(
    n_labels: int, sd: float, random_state: int | np.random.Generator | None = None
) -> NDArray[np.float64]:
    """Draw how easily each label comes to mind: ``exp(sd * normal)``.

    Parameters
    ----------
    n_labels : int
    sd : float
        At least 0, which makes all of them equal.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time.

    Returns
    -------
    ndarray of shape (n_labels,), dtype float64
        For :func:`draw_answers`; all above 0.

    Raises
    ------
    InputError
        If a parameter is out of its range.

    Examples
    --------
    >>> draw_propensities(3, 0.0)
    array([1., 1., 1.])
    """
    check_integer("n_labels", n_labels, at_least=1)
    check_real("sd", sd, at_least=0)
    drawn: NDArray[np.float64] = np.exp(
        sd * check_random_state(random_state).standard_normal(n_labels)
    )
    return drawn
