"""Which charts the report of a study has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from complabel.metrics import METRIC_TITLES
from complabel.reports._charts import (
    Bar,
    Chart,
    Scale,
    bar_chart,
    beside_diagonal,
    loss_chart,
    matrix_charts,
    parameter_chart,
    rank_chart,
)
from complabel.reports._summary import Cost, Matrices, Row, Summary
from complabel.reports._tables import Entry, Line, Tables
from complabel.reports._words import number, quantity, title_of

_COSTS = {
    "fit_seconds": "Seconds to fit a fold",
    "peak_memory_mb": "Peak memory, MB",
}


@dataclass(frozen=True)
class Group:
    """Charts that the page shows together; ``label_names`` of those of matrices."""

    draw: str
    title: str
    charts: tuple[Chart, ...]
    label_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyCharts:
    """All charts of a report, in groups."""

    criteria: tuple[Group, ...] = ()
    ranks: tuple[Group, ...] = ()
    curves: tuple[Group, ...] = ()
    sensitivity: tuple[Group, ...] = ()
    costs: tuple[Group, ...] = ()
    matrices: tuple[Group, ...] = ()


def study_charts(summary: Summary, tables: Tables) -> StudyCharts:
    """Choose the charts of a study; nothing is drawn yet."""
    return StudyCharts(
        criteria=_grouped(_criteria(summary, tables)),
        ranks=_grouped(_ranks(summary)),
        curves=_grouped(_curves(summary)),
        sensitivity=_grouped(_sensitivity(summary)),
        costs=_grouped(_costs(tables)),
        matrices=tuple(_matrices(summary)),
    )


def _grouped(charts: Iterable[tuple[str, str, Chart]]) -> tuple[Group, ...]:
    """Collect charts by draw and title of the group."""
    groups: dict[tuple[str, str], list[Chart]] = {}
    for draw, title, chart in charts:
        groups.setdefault((draw, title), []).append(chart)
    return tuple(Group(*where, tuple(together)) for where, together in groups.items())


def _criteria(summary: Summary, tables: Tables) -> Iterator[tuple[str, str, Chart]]:
    """Yield each criterion on each dataset."""
    for table in tables.criteria:
        for column, dataset in enumerate(table.columns):
            bars = [_bar(line, column, summary.study.reference) for line in table.lines]
            if any(bar.value is not None for bar in bars):
                description = f"{table.metric.title} on {dataset}. {_told(bars, number)}"
                chart = bar_chart(bars, title=dataset, description=description)
                yield table.draw, table.metric.title, chart


def _bar(line: Line[Entry | None], column: int, reference: str) -> Bar:
    """Return the bar of a row in a chart of a criterion."""
    name, kind, entry = title_of(line.row), _kind(line.row, reference), line.cells[column]
    if entry is None:
        return Bar(name, None, kind=kind)
    cell = entry.cell
    published = cell.published.mean if cell.published else None
    return Bar(name, cell.mean, error=cell.std, published=published, kind=kind)


def _kind(row: Row, reference: str) -> str:
    """Return how a row's bars look."""
    if not row.competes:
        return "outside"
    return "reference" if row.title == reference else "plain"


def _told(bars: Sequence[Bar], write: Callable[[float], str]) -> str:
    """Return a chart's values as text."""
    return "; ".join(f"{bar.name} {write(bar.value)}" for bar in bars if bar.value is not None)


def _ranks(summary: Summary) -> Iterator[tuple[str, str, Chart]]:
    """Yield the average ranks by each criterion for which they could be tested."""
    for ranking in summary.rankings:
        if ranking.ranks and ranking.groups is not None:
            title = METRIC_TITLES[ranking.metric]
            ranks = zip(ranking.rows, ranking.ranks, strict=True)
            said = "; ".join(f"{row} {rank:.2f}" for row, rank in ranks)
            description = f"Average ranks by {title}: {said}"
            yield ranking.draw, "", rank_chart(ranking, title=title, description=description)


def _curves(summary: Summary) -> Iterator[tuple[str, str, Chart]]:
    """Yield the losses of first folds, dataset by dataset."""
    for curves in summary.curves:
        for stage, losses in curves.stages.items():
            title = f"{curves.row}: {stage}" if len(curves.stages) > 1 else curves.row
            known = [loss for loss in losses if loss is not None]
            ends = f", from {known[0]:.4g} to {known[-1]:.4g}" if known else ""
            description = f"{title} on {curves.dataset}: mean loss over {len(losses)} epochs{ends}."
            chart = loss_chart(losses, title=title, description=description)
            yield curves.draw, curves.dataset, chart


def _sensitivity(summary: Summary) -> Iterator[tuple[str, str, Chart]]:
    """Yield criteria over the parameter that a row varies."""
    for varied in summary.sensitivity:
        title = METRIC_TITLES[varied.metric]
        said = "; ".join(f"{point.value:g}: {number(point.mean)}" for point in varied.points)
        chart = parameter_chart(
            varied.points,
            title=varied.dataset,
            description=f"{title} on {varied.dataset} over {varied.parameter}: {said}",
            parameter=varied.parameter,
        )
        yield varied.draw, f"{title} over {varied.parameter} of {varied.method}", chart


def _costs(tables: Tables) -> Iterator[tuple[str, str, Chart]]:
    """Yield time and memory on each dataset."""
    for table in tables.costs:
        for name, axis in _COSTS.items():
            for column, dataset in enumerate(table.columns):
                bars = [_cost_bar(line, column, name) for line in table.lines]
                if any(bar.value for bar in bars):
                    chart = bar_chart(
                        bars,
                        title=dataset,
                        description=f"{axis} on {dataset}. {_told(bars, quantity)}",
                        axis=axis,
                        logarithmic=name != "peak_memory_mb",
                    )
                    yield table.draw, axis, chart


def _cost_bar(line: Line[Cost | None], column: int, name: str) -> Bar:
    """Return the bar of a row in a chart of a cost; 0 has no place on a logarithmic axis."""
    cost = line.cells[column]
    return Bar(title_of(line.row), None if cost is None else getattr(cost, name) or None)


def _matrices(summary: Summary) -> Iterator[Group]:
    """Yield S, C and T of the first row of each method that estimates them."""
    methods = {row.title: row.method for row in summary.rows}
    first: dict[tuple[str, str, str], Matrices] = {}
    for record in summary.matrices:
        first.setdefault((record.draw, record.dataset, methods[record.row]), record)
    for record in first.values():
        found = {name: np.array(matrix, float) for name, matrix in record.matrices.items()}
        n_labels = len(record.label_names)
        whose = f"{record.row} on {record.dataset}"
        charts = matrix_charts(
            found,
            [str(k + 1) for k in range(n_labels)],  # the names are too long for an axis
            choice=Scale(
                1 / (n_labels - 1), f"= 1/{n_labels - 1}", ("relevant label", "complementary label")
            ),
            together=_around_its_mean(found.get("label_correlation_")),
            whose=f" of {whose}",
        )
        yield Group(record.draw, whose, tuple(charts), record.label_names)


def _around_its_mean(matrix: np.ndarray | None) -> Scale:
    """Return the scale of C."""
    mean = 0.0 if matrix is None else float(beside_diagonal(matrix).mean())
    return Scale(mean, "mean", ("label", "label"))
