"""Draw the answers of simulated annotators, for every kind of question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from complabel._parameters import check_integer, check_random_state, check_real
from complabel.answers import Answers, IndicatorLike, as_mask, label_names_of
from complabel.simulate._draw_questions import Asking, Streams, check_rates
from complabel.simulate._draws import Scheme


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
    """Draw the answers of simulated people who are asked a question about each item.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        1 where a label applies.
    question : str, default="free"
        - "free": name one of all labels that does not apply.
        - "menu-M", such as "menu-4": name one of M labels drawn at random that does not apply, or
          say that all M apply.
        - "asked": does this label, drawn at random, apply?
        - "ticked": tick all labels that do not apply.
        - "excluded": every label that does not apply is excluded with its exclusion rate.
    scheme : {"uniform", "biased"}, default="uniform"
        See :func:`draw_complementary`. "biased" is only allowed with the question "free".
    sharpness : float, default=1.0
        See :func:`draw_complementary`.
    n_per_row : int, default=1
        How many labels people are asked to name; only used with "free" and menus. If fewer do
        not apply, all of these are named.
    answers_per_item : int, default=1
        Number of independent answers about each item. They may be equal.
    items_share : float, default=1.0
        Share of the items that get answers, above 0 and at most 1. These items are drawn at
        random.
    mistakes : float or array-like of shape (n_annotators,), default=0.0
        Error rate, from 0 to 1: how often an answer is drawn at random from all answers that the
        question allows. For "free" and menus, that is any set of at most ``n_per_row`` offered
        labels ("free": at least one label). For "asked" it is yes or no; for "ticked" and
        "excluded", yes or no for each label separately. With an array, an annotator with one of
        these rates is drawn for each answer.
    propensities : array-like of shape (n_labels,) or None, default=None
        How easily each label comes to mind, above 0. Among the labels that do not apply, the next
        one is named with a probability proportional to its propensity. Only used with "free" and
        menus. By default all are equal.
    exclusion_rates : float, array-like of shape (n_labels,) or None, default=None
        How often a label that does not apply is excluded, from 0 to 1. Required for the question
        "excluded", and not allowed for others.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time. Items, menus, choices, mistakes and annotators are
        drawn from separate streams, so a change to one of them leaves the others as they are.

    Returns
    -------
    Answers
        Menus and "asked" have the ``probability`` of their question. A "free" draw has the same
        labels as :func:`draw_complementary` with the same ``random_state``, stored as
        :meth:`Answers.from_complementary` does. This holds without propensities, mistakes,
        repeated answers and unanswered items.

    Raises
    ------
    AnnotationError
        If ``Y`` is not 2-D or not 0/1. For "free" also if it has fewer than three labels, or a
        row in which all labels are relevant; for "biased" also a row in which none is.
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
        # All items get answers here, so that leaving some out does not change the others.
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
    if several:  # name all annotators, also those who were drawn for no answer
        answers = replace(answers, annotator_names=tuple(map(str, range(len(error_rates)))))
    return answers


def draw_propensities(
    n_labels: int, sd: float, random_state: int | np.random.Generator | None = None
) -> NDArray[np.float64]:
    """Draw how easily each label comes to mind: ``exp(sd * z)`` with standard normal z.

    Parameters
    ----------
    n_labels : int
        Number of labels, at least 1.
    sd : float
        Standard deviation of the logarithms, at least 0; 0 makes all propensities equal.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time.

    Returns
    -------
    ndarray of shape (n_labels,), dtype float64
        Propensities for :func:`draw_answers`, all above 0.

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
