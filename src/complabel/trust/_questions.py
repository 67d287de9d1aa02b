"""Draw questions that tell most about how good a model is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._parameters import check_choice, check_integer, check_random_state
from complabel.answers import Answers
from complabel.asking import as_table, names_of_labels
from complabel.errors import InputError
from complabel.frequencies import checked_probabilities
from complabel.trust._metrics import _FIGURES as FIGURES
from complabel.trust._pairs import Array, ScoredPairs, checked_thresholds

# So much of the chances is equal for all pairs, and so much of the rest is equal for all pairs with
# the same decision. Else a pair of which the model is wrongly sure would have a huge weight. The
# variance is at most 1 / 0.2 = 5 times that of random questions, whatever the probabilities are
# worth. If they are right, it is at most 1 / 0.8^2 = 1.6 times the least.
_EQUAL_SHARE = 0.2


def suggest_evaluation_questions(
    answers: Answers,
    probabilities: ArrayLike,
    n: int = 200,
    *,
    figure: str = "f1",
    threshold: ArrayLike = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """Draw yes/no questions whose answers tell most about how good a model's predictions are.

    Some pairs of an item and a label matter more than others for, say, precision. They are drawn
    with larger chances, which stand in the table, so that :func:`estimate_metrics` is right on
    average whatever the probabilities are worth. No pair is drawn twice.

    Parameters
    ----------
    answers : Answers
        What the model learned from, about all items that may be asked about. Only items *without*
        any answer are drawn, since a model knows the others too well.
    probabilities : array-like of shape (n_items, n_labels)
        The chances that labels apply, in [0, 1], by the model.
    n : int, default=200
        How many questions to ask.
    figure : {"f1", "precision", "recall", "average_precision"}, default="f1"
        What the answers shall tell about, over all pairs.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted if its probability is at least this.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    pandas.DataFrame, or dict of str to ndarray if pandas is not installed
        A table for :meth:`Answers.from_table` like that of
        :func:`complabel.asking.suggest_questions`, with n rows in random order. ``probability`` is
        the chance with which the pair would be drawn if one question were asked for each item that
        has no answer. Over all their pairs it sums to the number of these items.

    Raises
    ------
    InputError
        Also if fewer than ``n`` pairs are left.

    Notes
    -----
    Let a figure change by d if the label of a pair applies, and let p be the probability that it
    does. Chances in proportion to d sqrt(p (1 - p)) then give the least error of the figure. Here
    d is computed from the probabilities. Since these may be wrong, a fifth of the chances is equal
    for all pairs, and a fifth of the rest for all pairs with the same decision. Pairs with the
    same decision and about the same score are a stratum, from which one pair is drawn.

    References
    ----------
    Sawade, Landwehr and Scheffer, "Active estimation of F-measures", NeurIPS 2010: chances for F1,
    precision and recall.

    Bennett and Carvalho, "Online stratified sampling: evaluating classifiers at web-scale", CIKM
    2010: strata of scores.

    Examples
    --------
    >>> answers = Answers.from_complementary([[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])
    >>> probabilities = [[0.9, 0.1, 0.1], [0.2, 0.8, 0.1], [0.1, 0.2, 0.6], [0.5, 0.1, 0.2]]
    >>> table = suggest_evaluation_questions(answers, probabilities, 2, random_state=0)
    >>> print(table.to_string(index=False, na_rep=""))
     item label answer question  probability
        3     1   None    asked     0.199296
        2     2   None    asked     0.563096
    """
    p = checked_probabilities("probabilities", probabilities, answers.shape)
    predicted = p >= checked_thresholds(threshold, answers.n_labels)
    check_integer("n", n, at_least=1)
    check_choice("figure", figure, tuple(name for name in FIGURES if name != "share"))
    rng = check_random_state(random_state)
    items = np.flatnonzero(~answers.answered)
    if n > len(items) * answers.n_labels:
        raise InputError(
            f"n={n} questions are more than the {len(items) * answers.n_labels} pairs of a label"
            f" and one of the {len(items)} items without an answer; give a smaller n, or items"
            " that the model did not learn from"
        )
    score, is_predicted = p[items].ravel(), predicted[items].ravel()
    chance = _chances(score, is_predicted, figure, max(n, len(items)))
    drawn = rng.permutation(_drawn(chance * (n / chance.sum()), score, is_predicted, n, rng))
    item, label = np.divmod(drawn, answers.n_labels)
    return as_table(
        {
            "item": items[item] if answers.item_names is None else answers.item_names[items[item]],
            "label": np.array(names_of_labels(answers), dtype=object)[label],
            "answer": np.full(n, None),
            "question": np.full(n, "asked", dtype=object),
            "probability": np.minimum(chance[drawn] * (len(items) / chance.sum()), 1.0),
        }
    )


def _chances(p: Array, predicted: NDArray[np.bool_], figure: str, total: int) -> Array:
    """Return chances of pairs (n_pairs,), at most 1, which sum to ``total``."""
    none, nowhere = np.zeros(0), np.zeros(0, dtype=np.intp)
    pairs = ScoredPairs(
        score=p,
        predicted=predicted,
        item=nowhere,
        chance=p,
        place=nowhere,
        inverse=none,
        said=none,
        noise=none,
        n_said=nowhere,
    )
    size = np.zeros(len(p))
    if p.any():
        _, slope, _ = FIGURES[figure](pairs, p)
        size = np.abs(slope) * np.sqrt(p * (1 - p))
    size = size / size.sum() if size.any() else np.full(len(p), 1 / len(p))
    cell = predicted.astype(np.intp)
    alike = np.bincount(cell, weights=size) / np.maximum(np.bincount(cell), 1)
    for equal in (alike[cell], 1 / len(p)):
        size = (1 - _EQUAL_SHARE) * size + _EQUAL_SHARE * equal
    # The largest become 1. The others share what is left of the total.
    ordered = np.sort(size)[::-1]
    scale = (total - np.arange(len(size))) / np.cumsum(ordered[::-1])[::-1]
    first = np.argmax(ordered * scale <= 1 + 1e-9)
    return np.asarray(np.minimum(size * scale[first], 1.0))


def _drawn(
    chance: Array, score: Array, predicted: NDArray[np.bool_], n: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw n pairs with chances (n_pairs,) that sum to n: one from each of n strata."""
    order = np.lexsort((score, predicted))
    stratum = np.floor(np.cumsum(chance[order]))
    # Systematic sampling of strata in random order. In the order of scores, the sample would hang
    # on one random number alone, and its error on how labels happen to alternate.
    order = order[np.lexsort((rng.random(len(order)), stratum))]
    at = np.searchsorted(np.cumsum(chance[order]), np.arange(n) + rng.random(), side="right")
    return order[np.minimum(at, len(order) - 1)]
