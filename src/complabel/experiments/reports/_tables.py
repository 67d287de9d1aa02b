"""The tables of a report as data, for all forms; and the sentence with the main result."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from complabel.experiments.reports._summary import (
    CRITERION,
    Cell,
    Cost,
    Metric,
    Place,
    Ranking,
    Row,
    Summary,
    Ticking,
)
from complabel.experiments.reports._templates import FAR
from complabel.experiments.studies import Draw
from complabel.reports import number

_NAMED = 3  # most datasets that a sentence names


class Entry(NamedTuple):
    """A criterion in a table, and whether it is the best among those that compete."""

    cell: Cell
    best: bool


@dataclass(frozen=True)
class StudyTable:
    """A table of a draw or, of many draws, of a dataset.

    Each line pairs a row with one value, or None, for each dataset; of many draws, a draw with one
    for each of ``rows``.
    """

    lines: Sequence[tuple[Any, Any]]
    draw: str = ""
    dataset: str = ""
    metric: Any = None
    rows: Sequence[Row] = ()


@dataclass(frozen=True)
class Tables:
    """All tables of a report, each kind in the order of draws; ``ranks`` also by criterion.

    ``asked`` has the answers and minutes that each of many draws costs on each dataset.
    """

    criteria: Sequence[StudyTable] = ()
    standing: Sequence[Any] = ()
    costs: Sequence[Any] = ()
    ranks: Sequence[Sequence[Ranking]] = ()
    standing_rows: Sequence[Row] = ()
    asked: Sequence[tuple[Draw, Sequence[Any]]] = ()


def study_tables(summary: Summary) -> Tables:
    """Return the tables of a summary, laid out as in the paper; none if there are many draws."""
    if summary.study.has_many_draws:
        return Tables()
    rows = {row.title: row for row in summary.rows}
    ranked = [ranking for ranking in summary.rankings if ranking.groups is not None]
    by_draw = attrgetter("draw")
    criteria = []
    for draw, metric in itertools.product(summary.study.draws, summary.metrics):
        entries = _entries(summary, metric, draw)
        if entries:
            lines = _lines(summary, draw.name, entries)
            criteria.append(StudyTable(lines, draw=draw.name, metric=metric))
    return Tables(
        criteria=criteria,
        standing=[
            StudyTable([(rows[counted.row], counted) for counted in comparison], draw=draw)
            for draw, comparison in itertools.groupby(summary.comparison, by_draw)
        ],
        costs=[
            StudyTable(_lines(summary, draw, {cost.place: cost for cost in costs}), draw=draw)
            for draw, costs in itertools.groupby(summary.costs, by_draw)
        ],
        ranks=[list(rankings) for _, rankings in itertools.groupby(ranked, by_draw)],
    )


def _lines(
    summary: Summary, draw: str, found: Mapping[Place, Any]
) -> list[tuple[Row, list[Any | None]]]:
    lines = [
        (row, [found.get((draw, dataset, row.title)) for dataset in summary.datasets])
        for row in summary.rows
    ]
    return [(row, entries) for row, entries in lines if any(entries)]


def _entries(summary: Summary, metric: Metric, draw: Draw) -> dict[Place, Entry]:
    cells = [c for c in summary.cells if (c.draw, c.metric) == (draw.name, metric.name)]
    best = set(_best_places(summary, metric, cells))
    return {cell.place: Entry(cell, best=cell.place in best) for cell in cells}


def _best_places(summary: Summary, metric: Metric, cells: Sequence[Cell]) -> Iterator[Place]:
    """Yield the places of the best figures, as printed, among complete competing rows."""
    competing = {row.title for row in summary.rows if row.competes}
    for dataset in summary.datasets:
        rivals = {
            cell.place: float(number(cell.mean))
            for cell in cells
            if cell.dataset == dataset
            and cell.folds == summary.study.folds
            and cell.row in competing
        }
        best = (max if metric.higher else min)(rivals.values(), default=None)
        if len(rivals) > 1:
            yield from (place for place, mean in rivals.items() if mean == best)


def factor_tables(summary: Summary) -> Tables:
    """Return the tables of a study with many draws, without empty lines and columns."""
    draws, datasets = summary.study.draws, summary.datasets
    compared = {(counted.draw, counted.row): counted for counted in summary.comparison}
    points = {(point.draw, point.dataset): point for point in summary.answers}
    rows = [row for row in summary.rows if any(row.title == of for _, of in compared)]
    return Tables(
        criteria=list(_by_draw(summary)),
        standing=[
            (draw, [compared.get((draw.name, row.title)) for row in rows])
            for draw in draws
            if any(draw.name == of for of, _ in compared)
        ],
        standing_rows=rows,
        asked=[
            (draw, [points.get((draw.name, dataset)) for dataset in datasets])
            for draw in (draws if points else ())
        ],
        costs=[
            (row, [_mean_cost(summary, row.title, dataset) for dataset in datasets])
            for row in (summary.rows if summary.costs else ())
        ],
    )


def _by_draw(summary: Summary) -> Iterator[StudyTable]:
    """Yield a table for each criterion and dataset; average precision comes first."""
    for metric in sorted(summary.metrics, key=lambda metric: metric.name != CRITERION):
        entries: dict[Place, Entry] = {}
        for draw in summary.study.draws:
            entries |= _entries(summary, metric, draw)
        for dataset in summary.datasets:
            here = [place for place in entries if place[1] == dataset]
            rows = [row for row in summary.rows if row.title in {row for *_, row in here}]
            lines = [
                (draw, [entries.get((draw.name, dataset, row.title)) for row in rows])
                for draw in summary.study.draws
                if draw.name in {draw for draw, *_ in here}
            ]
            if here:
                yield StudyTable(lines, dataset=dataset, metric=metric, rows=rows)


def _mean_cost(summary: Summary, row: str, dataset: str) -> Cost | None:
    """Return the mean times over draws, and the peak memory; None if nothing was measured."""
    costs = [cost for cost in summary.costs if (cost.row, cost.dataset) == (row, dataset)]
    if not costs:
        return None

    def mean(name: str) -> float | None:
        known = [(getattr(c, name), c.folds) for c in costs if getattr(c, name) is not None]
        n_folds = sum(n for _, n in known)
        return math.fsum(value * n for value, n in known) / n_folds if n_folds else None

    memory = max((c.peak_memory_mb for c in costs if c.peak_memory_mb is not None), default=None)
    folds = sum(cost.folds for cost in costs)
    return Cost("", dataset, row, folds, mean("fit_seconds"), mean("predict_seconds"), memory)


@dataclass(frozen=True)
class TickingTables:
    """How long ticking may take: lines of a method and a form; and comparisons at equal time."""

    lines: Sequence[tuple[str, Sequence[Ticking | None]]]
    compared: Sequence[tuple[str, Ticking]]


def ticking_tables(summary: Summary) -> TickingTables | None:
    """Return the tables, None if nothing was ticked; of the reference row only at equal time."""
    found: dict[str, dict[str, Ticking]] = {}
    compared = []
    draws = {ticking.draw for ticking in summary.ticking}
    for ticking in summary.ticking:
        which = "all" if ticking.question == "ticked" else f"{ticking.n_ticked} random"
        form = f"{which} labels ticked" + f", beside {ticking.draw}" * (len(draws) > 1)
        found.setdefault(f"{ticking.row}: {form}", {})[ticking.dataset] = ticking
        if ticking.row == summary.study.reference:
            compared.append((form, ticking))
    lines = [
        (line, [by_dataset.get(dataset) for dataset in summary.datasets])
        for line, by_dataset in found.items()
    ]
    return TickingTables(lines, compared) if lines else None


def headline(summary: Summary) -> str:
    """Return the main result of a study in a sentence or two: beside the paper, or the best row."""
    if any(cell.published for cell in summary.cells):
        return _beside_published(summary)
    said = list(_over_draws(summary) if summary.study.has_many_draws else _best_rows(summary))
    return " ".join(said) or _without_rivals(summary)


def _beside_published(summary: Summary) -> str:
    found = [cell.advantage for cell in summary.cells if cell.advantage is not None]
    near = sum(abs(advantage) <= FAR for advantage in found)
    better = sum(advantage > FAR for advantage in found)
    return (
        f"The paper printed {len(found)} of these figures. {near} of ours are within {FAR:g} of its"
        f" standard deviations; {better} are better than that, and {len(found) - near - better}"
        " are worse."
    )


def _without_rivals(summary: Summary) -> str:
    """Say which rows are complete, if there is nothing to compare them with."""
    complete = {cell.row for cell in _complete(summary)}
    rows = [row.title for row in summary.rows if row.title in complete]
    if not rows:
        return "No method is complete yet."
    return (
        f"Complete so far: {_listed(rows)}. A comparison needs two methods without † that are"
        " complete on the same dataset."
    )


def _complete(summary: Summary) -> list[Cell]:
    folds = summary.study.folds
    return [cell for cell in summary.cells if cell.metric == CRITERION and cell.folds == folds]


def _best_rows(summary: Summary) -> Iterator[str]:
    """Yield sentences with the best rows; draws with the same best rows share a sentence."""
    (metric,) = (metric for metric in summary.metrics if metric.name == CRITERION)
    said: dict[str, list[str]] = {}
    for draw in summary.study.draws:
        cells = [cell for cell in _complete(summary) if cell.draw == draw.name]
        winners: dict[str, list[str]] = {}
        for _, dataset, row in _best_places(summary, metric, cells):
            winners.setdefault(dataset, []).append(row)
        if winners:
            said.setdefault(_winning(winners), []).append(draw.name)
    for sentence, draws in said.items():
        several = len(summary.study.draws) > 1
        yield sentence + (f" (draw{'s' * (len(draws) > 1)} {_listed(draws)})" * several) + "."


def _winning(winners: Mapping[str, Sequence[str]]) -> str:
    names = {tuple(rows) for rows in winners.values()}
    if len(names) == 1:
        (rows,) = names
        where = f"all {len(winners)} datasets" if len(winners) > _NAMED else _listed([*winners])
        return f"{_have(rows)} the highest average precision on {where}"
    if len(winners) <= _NAMED:
        each = [f"{_listed(rows)} on {dataset}" for dataset, rows in winners.items()]
        return f"The best by average precision: {'; '.join(each)}"
    wins = Counter(row for rows in winners.values() for row in rows)
    most = max(wins.values())
    leaders = [row for row, count in wins.items() if count == most]
    each_of = " each" if len(leaders) > 1 else ""
    return (
        f"{_have(leaders)} the highest average precision on {most} of {len(winners)}"
        f" datasets{each_of}"
    )


def _over_draws(summary: Summary) -> Iterator[str]:
    reference = summary.study.reference
    spans = []
    for dataset in summary.datasets:
        cells = [c for c in _complete(summary) if (c.dataset, c.row) == (dataset, reference)]
        if len(cells) > 1:
            low, high = (pick(cells, key=lambda cell: cell.mean) for pick in (min, max))
            spans.append(
                f"on {dataset} from {number(low.mean)} ({low.draw}) to {number(high.mean)}"
                f" ({high.draw})"
            )
    if spans:
        yield (
            f"The average precision of {reference} depends on how people are asked:"
            f" {'; '.join(spans)}."
        )


def _have(rows: Sequence[str]) -> str:
    return f"{_listed(rows)} {'have' if len(rows) > 1 else 'has'}"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
