"""Draw the pairs to ask people about, of a machine's answers to all pairs.

Each question is about a random item of a label and of a stratum: of the pairs of which the machine
says yes, of which it says no, and of which it says nothing. So the answers need no chance. The
first questions are half about "yes" and half about "no". Later ones follow what was answered: they
go where they reduce the variance of a label's frequency most, and some stay spread as the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._settings import setting
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import checked_probabilities, what_is_left

# Of later questions, this share is spread as the first ones, so that no stratum goes unseen.
_SPREAD = 0.2
# Before that many questions about a stratum and a label, on average, there is nothing to follow.
_FIRST = 1.0
_TINY = 1e-12


def draw_against(
    answers: Answers, machine: ArrayLike, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the items and the labels of n questions, (n,), in random order."""
    predictions = checked_probabilities("against", machine, answers.shape, gaps=True)
    of_pairs, mean, variance, share = what_is_left(answers, predictions)
    known = (answers.complementary > 0) | (answers.known_relevant > 0)
    n_labels = predictions.shape[1]
    place = of_pairs * n_labels + np.arange(n_labels)
    free = np.bincount(place[~known], minlength=mean.size).reshape(mean.shape)
    if n > free.sum():
        raise InputError(
            f"{setting('n', n)} questions are more than the {free.sum()} pairs of item and label"
            f" that are not known; give a smaller {setting('n')}",
            parameter="n",
        )
    asked = np.bincount(place[known], minlength=mean.size).reshape(mean.shape)
    n_spread = n
    if asked.sum() >= _FIRST * np.count_nonzero(share):
        n_spread = int(np.ceil(_SPREAD * n))
    more = _spread(free, n_spread, rng)
    more += _where_variance_falls(mean, variance, share, free - more, n - n_spread, more)
    drawn = []
    for cell in np.flatnonzero(more):
        label, stratum = cell % n_labels, cell // n_labels
        items = np.flatnonzero((of_pairs[:, label] == stratum) & ~known[:, label])
        drawn.append((rng.choice(items, more.flat[cell], replace=False), label))
    items = np.concatenate([items for items, _ in drawn])
    labels = np.concatenate([np.full(len(items), label) for items, label in drawn])
    order = rng.permutation(n)
    return items[order].astype(np.intp), labels[order].astype(np.intp)


def _spread(free: NDArray[np.intp], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Give strata equal numbers of n questions, and the labels in them, as far as pairs last."""
    more = np.zeros_like(free)
    while (left := n - int(more.sum())) > 0:
        open_ = free > more
        strata = np.flatnonzero(open_.any(axis=1))
        each, rest = divmod(left, len(strata))
        for at, stratum in enumerate(rng.permutation(strata)):
            labels = np.flatnonzero(open_[stratum])
            of_each, some = divmod(each + (at < rest), len(labels))
            extra = np.zeros_like(free[stratum])
            extra[labels] = of_each
            extra[rng.choice(labels, some, replace=False)] += 1
            more[stratum] += np.minimum(extra, free[stratum] - more[stratum])
    return more


def _where_variance_falls(
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    share: NDArray[np.float64],
    free: NDArray[np.intp],
    n: int,
    planned: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Give n questions, one by one, to where the variance of a frequency falls most (Neyman)."""
    of_one = np.maximum(mean * (1 - mean), _TINY)
    known = of_one / np.maximum(variance, _TINY) + planned  # as after so many answers
    more = np.zeros_like(free)
    for _ in range(n):
        so_far = known + more
        gain = share**2 * of_one / (so_far * (so_far + 1))
        best = int(np.where(more < free, gain, -1.0).argmax())
        more.flat[best] += 1
    return more
