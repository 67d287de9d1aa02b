"""Yes/no questions to ask next, drawn at random with chances that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel._parameters import check_integer, check_random_state
from complabel.annotations import Answers
from complabel.asking._shares import Shares
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def suggest_questions(
    answers: Answers, n: int = 200, *, random_state: int | np.random.Generator | None = None
) -> Any:
    """Draw questions to ask next, whether a label applies to an item, and known chances with them.

    They are random, and balanced: all labels are asked about equally often, each time for another
    item, all items being equally likely. A pair of item and label is not asked about if it is
    known whether the label applies. But known pairs count in how often labels apply. So they take
    part in the draw, with the same chance as the others of their label, and those that are drawn
    stand in the table with their answer.

    Parameters
    ----------
    answers : Answers
        What is known so far; may hold no answer at all. What is said of a pair is taken as right,
        whoever said it. A pair that answers contradict each other about is not known.
    n : int, default=200
        How many questions to ask, at least 1.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time.

    Returns
    -------
    pandas.DataFrame, or dict of str to ndarray if pandas is not installed
        A table for :meth:`Answers.from_table`, its rows in random order, with the columns

        - ``item``, ``label``: the names that ``answers`` has, else numbers, of labels as text;
        - ``answer``: empty in the n rows that ask; "yes" or "no" where it is known;
        - ``question``: "asked";
        - ``probability``: the chance with which such a pair is drawn where one question is asked
          for each item: 1/K if nothing is known. It is the same for all pairs of a label.

        Fill each gap in ``answer`` with "yes", "no" or "unsure", or drop the row, before
        ``from_table`` reads it: there a gap means "no". Who stops early keeps the rows from the
        first to the last that was answered, which are a random sample, too.

    Raises
    ------
    InputError
        If fewer than ``n`` pairs are left to ask about, or a parameter is out of its range.

    Notes
    -----
    One sample serves all purposes: exclusion rates and propensities follow from label frequencies
    and from what was excluded and named, which needs no question. Without the known pairs,
    labels would seem to apply too often: what was named or excluded does not apply.

    Of the u_k pairs of label k that are not known, m_k = n / K are drawn on average; or all of them
    where there are no more, and so many more of other labels. Each pair of the label is then drawn
    with chance m_k / u_k, known or not. Of a label all of whose pairs are known, as many are drawn
    as of the others are asked. For N items, ``probability`` is (m_k / u_k) (N / n), at most 1. So
    it does not depend on n, and answers to several tables, to few questions and to many, can be
    put together, also with answers about one random label of each item: each answer weighs about
    as much as another. The chances themselves would give a small table the weight of a large one.

    Examples
    --------
    >>> answers = Answers.from_complementary([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    >>> table = suggest_questions(answers, 3, random_state=0)
    >>> print(table.to_string(index=False, na_rep=""))
     item label answer question  probability
        3     0           asked     0.444444
        0     1     no    asked     0.666667
        2     2     no    asked     0.444444
        0     2           asked     0.444444
        2     1           asked     0.666667
    """
    if not isinstance(answers, Answers):
        raise InputError(
            f"answers must be Answers, got {type(answers).__name__}; "
            "Answers.from_complementary makes them of complementary labels"
        )
    check_integer("n", n, at_least=1)
    rng = check_random_state(random_state)
    absent = answers.complementary.astype(np.bool_)
    known = absent ^ answers.known_relevant.astype(np.bool_)  # (n, K); both is a contradiction
    n_open = answers.n_items - np.count_nonzero(known, axis=0)
    if n > n_open.sum():
        raise InputError(
            f"n={n} questions are more than the {n_open.sum()} pairs of item and label that are"
            " not known; ask for fewer"
        )
    shares = Shares.of(n_open, answers.n_items, int(n), rng)
    drawn = [shares.draw(label, known[:, label], rng) for label in range(answers.n_labels)]
    labels = np.repeat(np.arange(answers.n_labels), [len(items) for items in drawn])
    order = rng.permutation(len(labels))
    items, labels = np.concatenate(drawn)[order], labels[order]
    told = np.where(absent[items, labels], "no", "yes").astype(object)
    told[~known[items, labels]] = None
    return _as_table(
        {
            "item": items if answers.item_names is None else answers.item_names[items],
            "label": _names(answers)[labels],
            "answer": told,
            "question": np.full(len(labels), "asked", dtype=object),
            "probability": np.minimum(shares.chance * (answers.n_items / n), 1.0)[labels],
        }
    )


def _names(answers: Answers) -> NDArray[np.object_]:
    """Return what the labels are called in a table (K,)."""
    names = answers.label_names or tuple(map(str, range(answers.n_labels)))
    return np.array(names, dtype=object)


def _as_table(columns: dict[str, NDArray[Any]]) -> Any:
    """Return a data frame if there is what makes one, else the columns."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError:
        return columns
    return pd.DataFrame(columns)
