"""Draw questions to ask next, at random and with known probabilities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from complabel._drawn import RANDOM, sealed
from complabel._parameters import AnyArray, Array, Bools, Ints, check_integer, check_random_state
from complabel._questions import QuestionKind
from complabel._settings import setting
from complabel.answers import Answers, text_of
from complabel.asking._against import draw_against, order_against
from complabel.asking._statistics import names_of_labels
from complabel.errors import InputError


def suggest_questions(
    answers: Answers,
    n: int = 200,
    *,
    kind: str = "asked",
    against: ArrayLike | None = None,
    unsure: tuple[ArrayLike, ArrayLike] | None = None,
    before: Sequence[Any] = (),
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """Draw questions to ask next: about one label, or about all or some of them.

    The questions are drawn at random. All labels are asked about equally often, and all items are
    equally likely. No pair of item and label is drawn twice. If it is known whether the label
    applies, the pair is not asked. But known pairs count for how often labels apply. So they are
    drawn, too, with the same chance as the other pairs of their label, and stand in the table
    with their answer.

    Parameters
    ----------
    answers : Answers
        What is known so far; there may be no answer at all. Everything that is said about a pair
        is taken as right: give only what the person who is asked said, or what is certain. A pair
        about which answers contradict each other is not known.
    n : int, default=200
        How many questions to ask.
    kind : str, default="asked"
        - "asked": yes or no about one label.
        - "ticked": tick all labels that apply. Each question is about another item.
        - "ticked-M", such as "ticked-10": the same, for M labels drawn at random.
        - "named": name one label that does not apply. Each question is about another item.
        - "menu-M", such as "menu-5": the same, for M labels drawn at random.
    against : array-like of shape (n_items, n_labels) or None, default=None
        What a machine says: 1 where a label applies, 0 where it does not, or probabilities; NaN
        where it says nothing. Then questions are about random items of each label of which the
        machine says yes, and of which it says no, half of them each. If ``answers`` have answers to
        earlier questions of this kind, the next ones follow them: they go to labels and strata
        where they tell most about how often labels apply. Such questions have no ``probability``.
        Their column ``drawn`` says among which pairs they were drawn, and what each stands for.
        With the kind "ticked", or "ticked-M", the items of forms are drawn by what the machine says
        of all their labels: where most is not known, without regard to what people answered. Each
        item has one such form. Forms of several rounds are one sample, and so are the first ones of
        a table; ``drawn`` has what tells the chance of each item.
    unsure : tuple of two array-likes of shape (U,), or None, default=None
        With ``against``: positions of the items and of the labels about which people were asked and
        were unsure. These pairs are not asked again.
    before : sequence of tuples, default=()
        With ``against``: earlier months, as for :func:`complabel.frequencies.audit_machine`. Then
        half of the first questions go where these leave most open.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    pandas.DataFrame, or dict of str to ndarray if pandas is not installed
        A table for :meth:`Answers.from_table`, with rows in random order and these columns:

        - ``item``, ``label``: the names in ``answers``, or numbers if there are no names (label
          numbers as text);
        - ``answer``: empty in the n rows that ask a question; "yes" or "no" in known rows;
        - ``question``: "asked";
        - ``annotator``: in known rows, who said so; not there if ``answers`` name nobody;
        - ``probability``: the chance with which a pair of this label would be drawn if one
          question were asked for each item; 1/K if nothing is known;
        - ``drawn``: "random", or with ``against`` what the machine says of how many pairs. The
          latter is sealed, so that nobody who answers sees it; ``from_table`` opens it.

        Questions to tick have a row for each label on offer, ``answer_id``, which is the same in
        the rows of one question, and ``offered``, the labels on offer as a JSON list. Their
        ``probability`` is that of the menu. Namings have one row with ``answer_id``, ``offered``,
        ``asked_for`` and this ``probability``. Fill in its ``label``, or the answer "yes" if all
        labels on offer apply. They are drawn from all items, whatever is known about them.

        Fill each gap in ``answer`` with "yes", "no" or "unsure", or drop the row; drop questions
        to tick whole. ``from_table`` refuses a gap. In a question to tick, gaps beside an answer
        are labels that were not ticked: they do not apply. If you stop early, keep all rows up to
        the last one that was answered: they are a random sample, too.

    Raises
    ------
    InputError
        Also if fewer than ``n`` pairs, or forms to tick with a label that is not known, are left.

    Notes
    -----
    This one sample is enough: exclusion rates and propensities follow from label frequencies and
    from the labels that were excluded and named.

    Let u_k be the number of pairs of label k that are not known. On average m_k = n / K of them
    are drawn. If a label has fewer, all of them are drawn, and more of the other labels. Each pair
    of the label, known or not, is drawn with chance m_k / u_k. If all pairs of a label are known,
    it gets about as many rows as the other labels get questions.

    For N items, ``probability`` is (m_k / u_k) (N / n), but at most 1. It does not depend on n, so
    answers to several tables of different size, or about one random label of each item, have about
    the same weight. With the plain chances m_k / u_k, a small table would weigh as much as a large
    one.

    Examples
    --------
    >>> answers = Answers.from_complementary([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    >>> table = suggest_questions(answers, 3, random_state=0)
    >>> print(table.to_string(index=False, na_rep=""))
     item label answer question  probability  drawn
        3     0           asked     0.444444 random
        0     1     no    asked     0.666667 random
        2     2     no    asked     0.444444 random
        0     2           asked     0.444444 random
        2     1           asked     0.666667 random
    """
    if not isinstance(answers, Answers):
        raise InputError(
            f"answers must be Answers, got {type(answers).__name__}; "
            "Answers.from_complementary makes them from complementary labels"
        )
    check_integer("n", n, at_least=1)
    asked = QuestionKind.parse(kind, answers.n_labels, parameter="kind")
    rng = check_random_state(random_state)
    if against is not None and not asked.judges:
        raise InputError(
            f"{setting('kind', kind)} is given with {setting('against')}; questions about a"
            " machine's answers are yes or no about one label, or labels to tick",
            parameter="kind",
        )
    size = asked.n_offered(answers.n_labels)
    if against is not None and asked.name != "asked":
        if len(before):
            raise InputError(
                f"{setting('before')} is given with {setting('kind', kind)}; such questions do not"
                f" follow answers: leave {setting('before')} out",
                parameter="before",
            )
        order, is_open, draws = order_against(answers, against, unsure, size, rng)
        forms = _forms(is_open, int(n), size, rng, order)
        return _as_table(_of_forms(answers, *forms, asked, draws))
    if against is not None:
        items, labels, draws = draw_against(answers, against, unsure, int(n), rng, before)
        nothing = np.full(len(items), None)
        return table_of_pairs(answers, items, labels, nothing, np.full(len(items), np.nan), draws)
    if unsure is not None:
        raise InputError("unsure is given without against; leave it out", parameter="unsure")
    absent = answers.complementary.astype(np.bool_)
    known = absent ^ answers.known_relevant.astype(np.bool_)  # (n, K); both is a contradiction
    if asked.name != "asked":
        is_open = ~known if asked.judges else np.ones_like(known)
        return _as_table(_of_forms(answers, *_forms(is_open, int(n), size, rng), asked))
    n_open = answers.n_items - np.count_nonzero(known, axis=0)
    if n > n_open.sum():
        raise InputError(
            f"{setting('n', n)} questions are more than the {n_open.sum()} pairs of item and label"
            f" that are not known; give a smaller {setting('n')}",
            parameter="n",
        )
    shares = _Shares.of(n_open, answers.n_items, int(n), rng)
    drawn = [shares.draw(label, known[:, label], rng) for label in range(answers.n_labels)]
    labels = np.repeat(np.arange(answers.n_labels), [len(items) for items in drawn])
    order = rng.permutation(len(labels))
    items, labels = np.concatenate(drawn)[order], labels[order]
    words = np.where(absent[items, labels], "no", "yes").astype(object)
    words[~known[items, labels]] = None
    probability = (shares.chance * (answers.n_items / n))[labels]
    by = None
    if answers.annotator_names:
        by = _annotators_of(answers, items, labels)
        by[~known[items, labels]] = None
    return table_of_pairs(answers, items, labels, words, probability, RANDOM, by)


def _annotators_of(answers: Answers, items: Ints, labels: Ints) -> AnyArray:
    """Return who said what is said about these pairs, None if that is not known."""
    statements, who = answers.statements(), np.full(answers.shape, -1)
    who[statements.item, statements.label] = answers.annotator[statements.answer]
    names: AnyArray = np.array([*answers.annotator_names, None], dtype=object)
    return np.asarray(names[who[items, labels]])


def _forms(
    is_open: Bools, n: int, size: int, rng: np.random.Generator, order: Ints | None = None
) -> tuple[Ints, Ints, Bools]:
    """Draw n forms, each about another item and ``size`` random labels of it.

    Items come in the ``order`` in which they were drawn, or in random order. Forms without an open
    label come between them with their chance, as their answers count.
    Return the items (F,), the menus (F, size), and which forms have an open label (F,).
    """
    items = rng.permutation(len(is_open)) if order is None else order
    menus = np.empty((len(items), size), dtype=np.intp)
    to_ask = np.zeros(len(items), dtype=np.bool_)
    left = n
    for at, item in enumerate(items):
        menus[at] = np.sort(rng.choice(is_open.shape[1], size, replace=False))
        to_ask[at] = is_open[item, menus[at]].any()
        left -= int(to_ask[at])
        if not left:
            return items[: at + 1], menus[: at + 1], to_ask[: at + 1]
    raise InputError(
        f"{setting('n', n)} questions are more than the {n - left} items with a label that is not"
        f" known; give a smaller {setting('n')}",
        parameter="n",
    )


def _of_forms(
    answers: Answers,
    items: Ints,
    menus: Ints,
    to_ask: Bools,
    kind: QuestionKind,
    draws: Sequence[str] = (),
) -> dict[str, AnyArray]:
    """Return a table of forms; ``draws`` (n,) say how items were drawn, unless all were equal."""
    names = np.array(names_of_labels(answers), dtype=object)
    offered = [json.dumps(names[menu].tolist(), ensure_ascii=False) for menu in menus]
    if not kind.judges:
        labels = words = np.full((len(items), 1), None)
    else:
        labels = names[menus]
        denied = answers.complementary[items[:, None], menus] > 0
        words = np.where(denied, "no", "yes").astype(object)
        words[to_ask] = None

    def of_form(values: Any) -> AnyArray:
        return np.repeat(np.array(values), labels.shape[1])

    of_items = items if answers.item_names is None else answers.item_names[items]
    drawn = [RANDOM] * len(items)
    if draws:
        pairs = zip(items.tolist(), map(text_of, of_items.tolist()), strict=True)
        drawn = [sealed(draws[at], item, "") for at, item in pairs]
    by: dict[str, AnyArray] = {}
    if answers.annotator_names and kind.judges:
        who = _annotators_of(answers, items[:, None], menus)
        annotator = who[:, 0].copy()
        annotator[to_ask | (who != who[:, :1]).any(axis=1)] = None
        by["annotator"] = of_form(annotator)
    return {
        "answer_id": of_form([f"form {at}" for at in range(1, len(items) + 1)]),
        "item": of_form(of_items),
        "label": labels.ravel(),
        "answer": words.ravel(),
        "question": np.full(labels.size, kind.question, dtype=object),
        "offered": of_form(np.array(offered, dtype=object)),
        **({"asked_for": np.ones(labels.size, dtype=np.intp)} if kind.chooses else {}),
        **by,
        "probability": np.full(
            labels.size, np.nan if draws else kind.probability(answers.n_labels)
        ),
        "drawn": of_form(np.array(drawn, dtype=object)),
    }


def table_of_pairs(
    answers: Answers,
    items: Ints,
    labels: Ints,
    words: AnyArray,
    probability: Array,
    drawn: str | Sequence[str],
    annotator: AnyArray | None = None,
) -> Any:
    """Return a table of yes/no questions; annotators answered some, which ``words`` has."""
    of_items = items if answers.item_names is None else answers.item_names[items]
    of_labels = np.array(names_of_labels(answers), dtype=object)[labels]
    draws = [drawn] * len(items) if isinstance(drawn, str) else drawn
    pairs = zip(draws, map(text_of, of_items.tolist()), of_labels.tolist(), strict=True)
    return _as_table(
        {
            "item": of_items,
            "label": of_labels,
            "answer": words,
            "question": np.full(len(labels), "asked", dtype=object),
            **({} if annotator is None else {"annotator": annotator}),
            "probability": np.minimum(probability, 1.0),
            "drawn": np.array([sealed(*pair) for pair in pairs], dtype=object),
        }
    )


def _as_table(columns: dict[str, AnyArray]) -> Any:
    """Return a data frame, or the columns themselves if pandas is not installed."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError:
        return columns
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class _Shares:
    """How many questions each label gets, (K,); it is not known if it applies to open items."""

    n_asked: Ints  # questions; labels that get one more are drawn at random
    chance: Array  # of drawing an item, before labels are drawn to get one more
    share: Array  # the same, after that draw

    @classmethod
    def of(cls, n_open: Ints, n_items: int, n: int, rng: np.random.Generator) -> Self:
        """Divide n questions equally; if a label has too few open items, others get more."""
        ascending = np.sort(n_open)
        taken = np.cumsum(ascending) - ascending  # questions of the labels with fewer open items
        others = np.arange(len(n_open), 0, -1)
        # The first label that can take an equal part of the rest; all labels after it can, too.
        first = int(np.argmax(taken + ascending * others >= n))
        level, rest = divmod(n - int(taken[first]), int(others[first]))
        n_asked = np.minimum(n_open, level)
        n_asked[rng.choice(np.flatnonzero(n_open > level), rest, replace=False)] += 1
        equal_part = level + rest / others[first]
        # A label without open items gets as many known rows as other labels get questions.
        of_known = np.minimum(equal_part / n_items, 1.0)
        is_open, at_least_one = n_open > 0, np.maximum(n_open, 1)
        chance = np.where(is_open, np.minimum(equal_part / at_least_one, 1.0), of_known)
        return cls(n_asked, chance, np.where(is_open, n_asked / at_least_one, of_known))

    def draw(self, label: int, known: Bools, rng: np.random.Generator) -> Ints:
        """Draw open items to ask about, and the same share of the ``known`` items, (n_items,)."""
        asked = rng.choice(
            np.flatnonzero(~known), self.n_asked[label], replace=False, shuffle=False
        )
        items = np.flatnonzero(known)
        n_known = int(self.share[label] * len(items) + rng.random())  # rounded at random: unbiased
        return np.concatenate([asked, rng.choice(items, n_known, replace=False, shuffle=False)])
