"""What answers cost: numbers of answers, minutes, and how long ticking may take.

Yes/no answers and ticked labels are compared at equal time, in units of one yes or no for each
item. Then only a ratio matters: how many times as long as one yes or no a form with labels to tick
takes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from complabel.experiments.reports._libraries import pandas
from complabel.experiments.reports._summary import CRITERION, Summary
from complabel.experiments.studies import Draw, amount_of, answers_of, seconds_of

if TYPE_CHECKING:
    from complabel.experiments.reports._libraries import DataFrame

RATIOS: Final = (1.0, 1.5, 3.0, 6.0, 10.0)
"""Ratios of the times that tables compare: ticking all labels of an item, to one yes or no."""

Points: TypeAlias = Sequence[tuple[float, float]]
"""Amounts asked, ascending, each with the average precision that it reaches."""

Bound: TypeAlias = Literal["", "above", "below"]
"""Whether a break-even is only known to lie above or below a number."""


def asked_points(summary: Summary) -> DataFrame:
    """Return the answers and minutes of each place that is complete, with average precision.

    There are none if all draws ask the same, nor for rows that learn from true labels.
    """
    plan = summary.plan
    names = ("question", "asked_for", "answers_per_item", "items_share", "audit")
    ways = {(d.scheme == "own", *(getattr(d, name) for name in names)) for d in plan.draws}
    lines = []
    for cell in complete(summary).itertuples() if len(ways) > 1 else ():
        size, draw = sizes(summary).get(cell.dataset), summary.draws[cell.draw]
        if size is None or summary.rows[cell.row].learns_from == "relevant":
            continue
        n_items = size[0] * (plan.folds - 1) / plan.folds
        answers = answers_of(draw, n_items)
        seconds = seconds_of(draw, n_items, size[1], plan.seconds)
        if answers is not None and seconds is not None:
            place = cell.draw, cell.dataset, cell.row
            lines.append((*place, round(answers), seconds / 60, cell.mean))
    columns = ["draw", "dataset", "row", "answers", "minutes", "mean"]
    return pandas().DataFrame(lines, columns=columns)


def complete(summary: Summary) -> DataFrame:
    """Return the average precision of the places with all folds."""
    cells = summary.cells
    return cells[(cells["metric"] == CRITERION) & (cells["folds"] == summary.plan.folds)]


def sizes(summary: Summary) -> Mapping[str, tuple[int, int]]:
    """Return the number of instances and of labels of each dataset, as first folds tell them."""
    told = ((unit.dataset, unit.details) for unit in summary.units)
    return {name: (d["n_samples"], d["n_labels"]) for name, d in told if "n_samples" in d}


def way_of_asking(draw: Draw) -> str:
    """Return in few words what a draw asks, without the amounts."""
    without = {"items_share": 1.0, "answers_per_item": 1}
    if draw.question != "none":
        return draw.model_copy(update={**without, "audit": min(draw.audit, 1)}).short_title
    return "audit alone"


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
    amounts, means = np.array(points).T
    if amount < amounts[0] * (1 - 1e-9):
        return None
    return float(np.interp(math.log(amount), np.log(amounts), means))


@dataclass(frozen=True)
class Ticking:
    """Yes/no answers beside forms on which people tick labels: all, or some drawn at random.

    ``asked`` and ``ticked`` are curves: answers or forms for each item, with the average precision.
    A form may take ``break_even`` times as long as one yes or no. ``ahead`` maps a ratio of times,
    of all labels to one yes or no, to the gain by ticking in the time of each amount in ``asked``;
    the last ratio is the one of the plan's seconds.
    """

    draw: str
    dataset: str
    row: str
    question: str
    asked: Points
    ticked: Points
    break_even: tuple[float, Bound]
    ahead: Sequence[tuple[float, Sequence[float | None]]]


def tickings(summary: Summary) -> Iterator[Ticking]:
    """Compare yes/no answers with each form of ticked labels, for each dataset and row."""
    plan = summary.plan
    cells = complete(summary)
    means = cells.set_index(["draw", "dataset", "row"])["mean"].to_dict()
    rows = [title for title, row in summary.rows.items() if row.learns_from != "relevant"]
    for (dataset, (_, n_labels)), row, (asked, forms) in itertools.product(
        sizes(summary).items(), rows, _families(plan.draws)
    ):
        by_question = _points(asked, means, dataset, row)
        one_each = dict(by_question).get(1.0)
        for question, draws in forms.items():
            ticked = _points(draws, means, dataset, row)
            if one_each is None or len(ticked) < 2:
                continue
            share = (draws[0].n_judged(n_labels) - 1) / max(n_labels - 1, 1)
            own = plan.seconds.to_judge(n_labels) / plan.seconds.asked
            ahead = []
            for ratio in (*RATIOS, own):
                times = 1 + (ratio - 1) * share  # each further label takes equally long
                by_ticking = [(reached(ticked, time / times), mean) for time, mean in by_question]
                ahead.append((ratio, [None if t is None else t - mean for t, mean in by_ticking]))
            name = next(draw.name for draw in asked if amount_of(draw) == 1)
            even = break_even(one_each, ticked)
            yield Ticking(name, dataset, row, question, by_question, ticked, even, ahead)


def _families(draws: Sequence[Draw]) -> list[tuple[list[Draw], dict[str, list[Draw]]]]:
    """Return yes/no draws, with draws of ticked labels by question; they differ in amounts only."""
    families: dict[str, tuple[list[Draw], dict[str, list[Draw]]]] = {}
    for draw in draws:
        # Two answers about half of the items are another curve than one answer about each.
        if not draw.judges or (draw.items_share < 1 and draw.answers_per_item > 1):
            continue
        alike = f"{draw.error_rate} {draw.missed} {draw.invented} {draw.audit}"
        asked, forms = families.setdefault(alike, ([], {}))
        same = asked if draw.question == "asked" else forms.setdefault(draw.question, [])
        same.append(draw)
    return list(families.values())


def _points(
    draws: Sequence[Draw], means: Mapping[tuple[str, str, str], float], dataset: str, row: str
) -> Points:
    """Return the amounts and means of the draws that are complete, from little to much."""
    known = {
        amount_of(draw): means[draw.name, dataset, row]
        for draw in draws
        if (draw.name, dataset, row) in means
    }
    return sorted(known.items())
