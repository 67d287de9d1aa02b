"""How long may ticking take? Yes/no answers and ticked labels compared at equal time.

Time is measured in units of one yes or no for each item. Then only a ratio matters: how many times
as long as one yes or no a form with labels to tick takes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from complabel.reports import _summary as data
from complabel.reports._summary import CRITERION, Cell, Place
from complabel.studies import Draw, Plan, amount_of

RATIOS: Final = (1.0, 1.5, 3.0, 6.0, 10.0)
"""Ratios of the times that tables compare: ticking all labels of an item, to one yes or no."""

Points: TypeAlias = Sequence[tuple[float, float]]
"""Amounts asked, ascending, each with the average precision that it reaches."""

Bound: TypeAlias = Literal["", "above", "below"]
"""Whether a break-even is only known to lie above or below a number."""


def break_even(one_each: float, ticked: Points) -> tuple[float, Bound]:
    """Return how many times as long as one yes or no a form may take to be as good.

    One yes or no for each item reaches an average precision of ``one_each``. ``ticked`` are
    ascending shares of the items about which a form is ticked, with the average precision. The
    result is one over the least share that reaches ``one_each``, interpolated in the logarithm of
    the share; or a bound, if the least share is better already, or the greatest is not as good.

    >>> times, bound = break_even(0.7, [(0.1, 0.6), (0.4, 0.8)])
    >>> round(times, 6), bound  # halfway between them: a share of .2
    (5.0, '')
    >>> break_even(0.9, [(0.1, 0.6), (0.4, 0.8)])
    (2.5, 'below')
    """
    least, at_least = ticked[0]
    if at_least >= one_each:
        return 1 / least, "above" if at_least > one_each else ""
    for (share, low), (next_share, high) in itertools.pairwise(ticked):
        if high >= one_each:
            along = (one_each - low) / (high - low)
            return 1 / (share * (next_share / share) ** along), ""
    return 1 / ticked[-1][0], "below"


def reached(points: Points, amount: float) -> float | None:
    """Return the average precision at an amount, interpolated in its logarithm.

    Below the least amount nothing is known: None. Above the greatest, nobody asks more.
    """
    if amount < points[0][0] * (1 - 1e-9):
        return None
    for (before, low), (after, high) in itertools.pairwise(points):
        if amount <= after:
            along = math.log(amount / before) / math.log(after / before)
            return low + min(max(along, 0.0), 1.0) * (high - low)
    return points[-1][1]


def times_of_form(ratio: float, n_ticked: int, n_labels: int) -> float:
    """Return how many times as long as one yes or no a form of ``n_ticked`` labels takes.

    ``ratio`` is that of all labels. Each further label takes equally long.
    """
    return 1 + (ratio - 1) * (n_ticked - 1) / max(n_labels - 1, 1)


def compare(asked: Points, ticked: Points, times: float) -> tuple[float | None, ...]:
    """Return by how much ticking is ahead at the times of the yes/no answers; None if unknown.

    A form takes ``times`` as long as one yes or no. If the time is enough for all items, ticking
    stops there.
    """
    found = []
    for time, mean in asked:
        other = reached(ticked, time / times)
        found.append(None if other is None else other - mean)
    return tuple(found)


def tickings(
    plan: Plan, cells: Sequence[Cell], n_labels: Mapping[str, int]
) -> Iterator[data.Ticking]:
    """Compare yes/no answers with each form of ticked labels, for each dataset and row.

    ``cells`` are those with all folds; ``n_labels`` are the numbers of labels of the datasets.
    """
    means = {cell.place: cell.mean for cell in cells if cell.metric == CRITERION}
    rows = [row.title for row in plan.expanded_rows() if row.learns_from != "relevant"]
    for dataset, row, (asked, forms) in itertools.product(n_labels, rows, _families(plan.draws)):
        by_question = _points(asked, means, dataset, row)
        one_each = dict(by_question).get(1.0)
        name = next((draw.name for draw in asked if amount_of(draw) == 1), "")
        for question, draws in forms.items():
            ticked = _points(draws, means, dataset, row)
            if one_each is None or len(ticked) < 2:
                continue
            labels = n_labels[dataset]
            n_ticked = draws[0].n_judged(labels)
            times, bound = break_even(one_each, ticked)
            own = plan.seconds.to_judge(labels) / plan.seconds.asked
            ratios = [(ratio, False) for ratio in RATIOS] + [(own, True)]
            yield data.Ticking(
                name,
                dataset,
                row,
                question=question,
                n_ticked=n_ticked,
                asked=by_question,
                ticked=ticked,
                break_even=times,
                bound=bound,
                equal_time=tuple(
                    data.EqualTime(
                        ratio,
                        compare(by_question, ticked, times_of_form(ratio, n_ticked, labels)),
                        own=is_own,
                    )
                    for ratio, is_own in ratios
                ),
            )


def _families(draws: Sequence[Draw]) -> list[tuple[list[Draw], dict[str, list[Draw]]]]:
    """Return yes/no draws, with draws of ticked labels by question; they differ in amounts only."""
    found: dict[str, tuple[list[Draw], dict[str, list[Draw]]]] = {}
    for draw in draws:
        # Two answers about half of the items are another curve than one answer about each.
        if not draw.judges or (draw.items_share < 1 and draw.answers_per_item > 1):
            continue
        alike = f"{draw.error_rate} {draw.missed} {draw.invented} {draw.audit}"
        asked, forms = found.setdefault(alike, ([], {}))
        same = asked if draw.question == "asked" else forms.setdefault(draw.question, [])
        same.append(draw)
    return list(found.values())


def _points(
    draws: Sequence[Draw], means: Mapping[Place, float], dataset: str, row: str
) -> tuple[tuple[float, float], ...]:
    """Return the amounts and means of the draws that are complete, from little to much."""
    known = {
        amount_of(draw): means[draw.name, dataset, row]
        for draw in draws
        if (draw.name, dataset, row) in means
    }
    return tuple(sorted(known.items()))
