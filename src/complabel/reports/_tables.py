"""The tables of a report, before they are written in any form."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from complabel.metrics import METRIC_TITLES
from complabel.reports._summary import Cell, Comparison, Cost, Metric, Ranking, Row, Summary, Where
from complabel.reports._words import number

CellT = TypeVar("CellT")


@dataclass(frozen=True)
class Line(Generic[CellT]):
    """A row of a table."""

    row: Row
    cells: tuple[CellT, ...]


@dataclass(frozen=True)
class Table(Generic[CellT]):
    """A table under one draw: a line for each row, a cell in it for each column."""

    draw: str
    columns: tuple[str, ...]
    lines: tuple[Line[CellT], ...]


@dataclass(frozen=True)
class Entry:
    """A criterion in a table: ``complete`` with all folds, ``best`` of its column."""

    cell: Cell
    complete: bool
    best: bool


@dataclass(frozen=True)
class CriterionTable(Table[Entry | None]):
    """One criterion: a column for each dataset."""

    metric: Metric


@dataclass(frozen=True)
class Rank:
    """An average rank in a table: ``best`` of its column."""

    value: float
    best: bool


@dataclass(frozen=True)
class RankTable(Table[Rank]):
    """Average ranks: a column for each criterion, and Friedman's p-value below it."""

    friedman: tuple[float | None, ...]
    ranking: Ranking


@dataclass(frozen=True)
class Tables:
    """All tables of a report, each kind in the order of draws."""

    criteria: tuple[CriterionTable, ...]
    standing: tuple[Table[Comparison], ...]
    ranks: tuple[RankTable, ...]
    costs: tuple[Table[Cost | None], ...]


def study_tables(summary: Summary) -> Tables:
    """Lay out a summary as the paper does; tables without any result are left out."""
    return Tables(
        criteria=tuple(_criteria(summary)),
        standing=tuple(_standing(summary)),
        ranks=tuple(_ranks(summary)),
        costs=tuple(_costs(summary)),
    )


def _criteria(summary: Summary) -> Iterator[CriterionTable]:
    """Yield a table for each draw and criterion."""
    cells = {(cell.where, cell.metric): cell for cell in summary.cells}
    for draw, metric in itertools.product(summary.study.draws, summary.metrics):
        columns = [
            _column(
                summary,
                metric,
                [cells.get((Where(draw.name, data, r.title), metric.name)) for r in summary.rows],
            )
            for data in summary.datasets
        ]
        if any(entry for column in columns for entry in column):
            across = zip(*columns, strict=True)
            lines = tuple(itertools.starmap(Line, zip(summary.rows, across, strict=True)))
            yield CriterionTable(draw.name, summary.datasets, lines, metric)


def _column(summary: Summary, metric: Metric, cells: Sequence[Cell | None]) -> list[Entry | None]:
    """Mark the best printed figures of a dataset among complete rows in competition."""
    folds = summary.study.folds
    rivals = {
        row.title: float(number(cell.mean))
        for row, cell in zip(summary.rows, cells, strict=True)
        if cell is not None and cell.folds == folds and row.competes
    }
    best = (max if metric.higher else min)(rivals.values()) if len(rivals) > 1 else None
    return [
        None
        if cell is None
        else Entry(
            cell,
            complete=cell.folds == folds,
            best=best is not None and rivals.get(cell.row) == best,
        )
        for cell in cells
    ]


def _standing(summary: Summary) -> Iterator[Table[Comparison]]:
    """Yield, per draw, how the reference row stands against each other row."""
    rows = {row.title: row for row in summary.rows}
    for draw in summary.study.draws:
        lines = tuple(
            Line(rows[counted.row], (counted,))
            for counted in summary.comparison
            if counted.draw == draw.name
        )
        if lines:
            yield Table(draw.name, ("paired t-test", "corrected t-test", "cells"), lines)


def _ranks(summary: Summary) -> Iterator[RankTable]:
    """Yield, per draw, the average ranks by each criterion."""
    rows = {row.title: row for row in summary.rows}
    for draw in summary.study.draws:
        ranked = [r for r in summary.rankings if r.draw == draw.name and r.ranks]
        columns = [
            [Rank(rank, best=rank == min(ranking.ranks)) for rank in ranking.ranks]
            for ranking in ranked
            if ranking.ranks
        ]
        if ranked:
            across = zip(*columns, strict=True)
            yield RankTable(
                draw.name,
                tuple(METRIC_TITLES[ranking.metric] for ranking in ranked),
                tuple(
                    Line(rows[title], ranks)
                    for title, ranks in zip(ranked[0].rows, across, strict=True)
                ),
                tuple(r.friedman.p_value if r.friedman else None for r in ranked),
                ranked[0],
            )


def _costs(summary: Summary) -> Iterator[Table[Cost | None]]:
    """Yield, per draw, the time and memory on each dataset."""
    costs = {cost.where: cost for cost in summary.costs}
    for draw in summary.study.draws:
        lines = tuple(
            Line(row, tuple(costs.get(Where(draw.name, d, row.title)) for d in summary.datasets))
            for row in summary.rows
        )
        if any(cost for line in lines for cost in line.cells):
            yield Table(draw.name, summary.datasets, lines)
