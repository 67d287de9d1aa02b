"""Draw the pairs or the items to ask people about, of a machine's answers to all pairs.

Each question is about a random item of a label and of a stratum: of the pairs of which the machine
says yes, of which it says no, and of which it says nothing; with scores, of a cell of pairs with
about the same score. So the answers need no chance: how many pairs are in the stratum says what
each stands for. The first questions are half about "yes" and half about "no". Later ones follow
what was answered: they go where they reduce the variance of a label's frequency most, and some stay
spread as the first. Only the latter are a sample for who does not know the machine: where others
led to more answers, labels that seemed frequent by chance were corrected, and those that seemed
rare were not.

Forms are about all labels of an item, or some. Their items are drawn one by one, with chances that
go by what the machine says of all labels of the item, whatever people answered. So forms of several
rounds are one sample, and so is its beginning, if people stop early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from complabel._drawn import ByMachine
from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel._settings import setting
from complabel.answers import Answers, check_positions
from complabel.errors import InputError
from complabel.frequencies import (
    NOTHING,
    Strata,
    by_machine,
    checked_machines,
    draws_of,
    forms_by_machine,
    months_of,
    what_is_left,
)

# Of later questions, this share is spread as the first ones, so that no stratum goes unseen.
SPREAD = 0.2
# Of the first ones after other months, whose answers tell where to ask.
_SPREAD_AFTER = 0.5
# Before that many questions about a stratum and a label, on average, there is nothing to follow.
_FIRST = 1.0
# This is added to the variance of each item, whose mean is 1, so that no item has a tiny chance.
_MIXED = 0.2
_TINY = 1e-12


def draw_against(
    answers: Answers,
    machine: ArrayLike,
    unsure: Any,
    n: int,
    rng: np.random.Generator,
    before: Sequence[Any] = (),
) -> tuple[Ints, Ints, list[str]]:
    """Return the items and the labels of n questions, (n,), in random order, and how each is drawn.

    Pairs about which somebody was ``unsure`` are not asked again; they are no answer to follow.
    Answers of months ``before`` are followed, too.
    """
    strata = Strata.of(checked_machines("against", machine, answers.shape), answers)
    known = (answers.complementary > 0) | (answers.known_relevant > 0)
    n_known = np.count_nonzero(known)
    done = np.zeros_like(known)
    for item, label, _ in _of_machine(answers, strata):
        done[item, label] = True
    if unsure is not None:
        done[tuple(check_positions(unsure, answers))] = True
    n_labels = answers.n_labels
    place = strata.cell * n_labels + np.arange(n_labels)
    known, pool = known | done, ~known | done  # the pool: what could be drawn now, or before
    free, pairs = (
        np.bincount(place[each], minlength=strata.shares.size).reshape(strata.shares.shape)
        for each in (~known, pool)
    )
    if n > free.sum():
        raise InputError(
            f"{setting('n', n)} questions are more than the {free.sum()} pairs of item and label"
            f" that nobody answered; give a smaller {setting('n')}",
            parameter="n",
        )
    n_parts = sum(
        np.count_nonzero(strata.shares[strata.says == word].any(axis=0))
        for word in np.unique(strata.says)
    )
    first = n_known < _FIRST * n_parts
    share = 1.0 if not before else _SPREAD_AFTER  # whether the old answers hold must show, too
    n_spread = int(np.ceil((share if first else SPREAD) * n))
    spread, planned = spread_questions(strata, free, n_spread, rng)
    more = spread
    if n_spread < n:
        left = what_is_left(answers, strata, months_of(before, answers, strata))
        more = spread + _where_variance_falls(
            strata.shares, *left, free - spread, n - n_spread, spread
        )
    planned = np.minimum(planned + _planned_before(answers, strata, pairs), pairs)
    draws: list[tuple[AnyArray, ...]] = []
    for part in np.flatnonzero(more):
        cell, label = divmod(int(part), n_labels)
        items = np.flatnonzero((strata.cell[:, label] == cell) & ~known[:, label])
        items, size = rng.choice(items, more.flat[part], replace=False), int(pairs.flat[part])
        draw = ByMachine(strata.digests[0], strata.words[cell], float(planned.flat[part]), size)
        drawn = np.full(len(items), str(draw), dtype=object)
        drawn[spread.flat[part] :] = str(draw._replace(planned=0.0))  # earlier answers led there
        draws.append((items, np.full(len(items), label), drawn))
    order = rng.permutation(n)
    items, labels, drawn = (np.concatenate(each)[order] for each in zip(*draws, strict=True))
    return items.astype(np.intp), labels.astype(np.intp), drawn.tolist()


def order_against(
    answers: Answers, machine: ArrayLike, unsure: Any, n_labels: int, rng: np.random.Generator
) -> tuple[Ints, Bools, list[str]]:
    """Return in which order items (N,) have forms, which pairs are open (n, K), and all draws (n,).

    Items that had such a form before are left out. So are those about all labels of which somebody
    was unsure, or that are known.
    """
    strata = Strata.of(checked_machines("against", machine, answers.shape), answers)
    is_open = (answers.complementary > 0) == (answers.known_relevant > 0)  # both: a contradiction
    left = np.ones(answers.n_items, dtype=np.bool_)
    rows = np.flatnonzero(forms_by_machine(answers))
    draws, _ = draws_of(answers, rows)
    left[answers.item[rows[[each.digest == strata.digests[0] for each in draws]]]] = False
    if unsure is not None:
        items, labels = check_positions(unsure, answers)
        is_open[items, labels] = False
        left[items] &= is_open[items].any(axis=1)
    sizes = sizes_of(strata)
    # Who has the least waiting time is drawn next.
    waiting = rng.exponential(size=answers.n_items) / sizes
    order = np.argsort(waiting, kind="stable")
    drawn = [
        str(ByMachine.of_form(strata.digests[0], n_labels, size, answers.n_items))
        for size in sizes.tolist()
    ]
    return order[left[order]].astype(np.intp), is_open, drawn


def sizes_of(strata: Strata) -> Array:
    """Return the size of each item (n,), whose mean is 1: where forms tell most.

    The error of all frequencies together is least with the root of the sum of variances of what
    is not known about an item's labels. The pairs of which the machine says yes have half of all
    variance, and those of which it says no the other half, as first questions do.
    """
    of_pair = strata.guess * (1 - strata.guess)
    parts = [strata.says == word for word in np.unique(strata.says)]
    unsaid = strata.shares[strata.says == NOTHING].sum() / strata.shares.sum()
    n_said = len(parts) - (unsaid > 0)
    variance = np.zeros(strata.n_items)
    for part in parts:
        weight = (of_pair * part[:, np.newaxis])[strata.cell, np.arange(strata.cell.shape[1])]
        share = unsaid if strata.says[part][0] == NOTHING else (1 - unsaid) / max(n_said, 1)
        variance += share * weight.sum(axis=1) / max(weight.sum(), _TINY)
    sizes = np.sqrt(variance / max(variance.mean(), _TINY) + _MIXED)
    return np.asarray(sizes / sizes.mean())


def _of_machine(answers: Answers, strata: Strata) -> Iterator[tuple[int, int, ByMachine]]:
    """Yield item, label and draw of each answer about one pair that the same machine drew."""
    statements = answers.statements()
    statements = statements.only(by_machine(answers)[statements.answer])
    drawn = answers.drawn[statements.answer]
    rows = zip(statements.item.tolist(), statements.label.tolist(), drawn, strict=True)
    for item, label, text in rows:
        draw = ByMachine.of(str(text))
        if draw is not None and not draw.labels and draw.digest == strata.digests[0]:
            yield item, label, draw


def _planned_before(answers: Answers, strata: Strata, pairs: Ints) -> Array:
    """Return how many questions were planned before, whatever people answered, (C, K).

    Where none of these was drawn, answers do not tell that; it is as for so many first questions.
    """
    planned, n_before = np.zeros_like(strata.shares), 0
    for item, label, draw in _of_machine(answers, strata):
        at, n_before = strata.cell[item, label], n_before + (draw.planned > 0)
        planned[at, label] = max(planned[at, label], draw.planned)
    if not n_before:
        return planned
    n = min(n_before, int(pairs.sum()))
    expected = spread_questions(strata, pairs, n, np.random.default_rng(0))[1]
    return np.where(planned > 0, planned, expected)


def spread_questions(
    strata: Strata, free: Ints, n: int, rng: np.random.Generator
) -> tuple[Ints, Array]:
    """Give yes and no equal numbers of n questions, as far as pairs last; return what is expected.

    Pairs of which the machine says nothing have their share of the questions.

    Within a stratum, a label has a number in proportion to the root of its share of the items. That
    lies between equal numbers, which are best for its precision, and numbers in proportion to the
    share, which are best for frequencies. Of the cells of a label, those have more that the machine
    is less sure of (Neyman).
    """
    weights = strata.shares * np.sqrt(strata.guess * (1 - strata.guess))
    for word in np.unique(strata.says):
        rows = (strata.says == word)[:, np.newaxis]
        share, total = ((rows * each).sum(axis=0) for each in (strata.shares, weights))
        weights = np.where(rows, weights * np.sqrt(share) / np.maximum(total, _TINY), weights)
    unsaid = strata.shares[strata.says == NOTHING].sum() / strata.shares.sum()
    more, expected = np.zeros_like(free), np.zeros(free.shape)
    while (rest := n - int(more.sum())) > 0:
        open_ = weights * (free > more)
        parts = np.unique(strata.says[open_.any(axis=1)])
        silent = parts == NOTHING
        part = np.where(silent, unsaid, (1 - unsaid) / max(np.count_nonzero(~silent), 1))
        for word, number in zip(parts, _divided(part[:, np.newaxis], rest, rng), strict=True):
            here = open_ * (strata.says == word)[:, np.newaxis]
            more += np.minimum(_divided(here, int(number[0]), rng), free - more)
            expected = np.minimum(expected + int(number[0]) * here / here.sum(), free)
    return more, expected


def _divided(weights: Array, n: int, rng: np.random.Generator) -> Any:
    """Divide n in proportion to weights (C, K); each part is rounded up or down."""
    sums = np.cumsum(weights.T)  # cells of one label are neighbours
    at = (rng.random() + np.arange(n)) * sums[-1] / max(n, 1)
    place = np.minimum(np.searchsorted(sums, at, side="right"), weights.size - 1)
    return np.bincount(place, minlength=weights.size).reshape(weights.T.shape).T


def _where_variance_falls(
    shares: Array, mean: Array, variance: Array, free: Ints, n: int, planned: Ints
) -> Ints:
    """Give n questions, one by one, to where the variance of a frequency falls most (Neyman)."""
    # Where first answers mislead, others must follow: chances are taken one error closer to .5.
    error = np.sqrt(variance)
    chance = mean + np.clip(0.5 - mean, -error, error)
    of_one = np.maximum(chance * (1 - chance), _TINY)
    known = of_one / np.maximum(variance, _TINY) + planned  # as after so many answers
    more = np.zeros_like(free)
    for _ in range(n):
        so_far = known + more
        gain = shares**2 * of_one / (so_far * (so_far + 1))
        best = int(np.where(more < free, gain, -1.0).argmax())
        more.flat[best] += 1
    return more
