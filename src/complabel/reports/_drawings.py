"""Which charts a report has, drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from complabel.metrics import METRIC_TITLES
from complabel.reports import _figures
from complabel.reports._charts import (
    Bar,
    bar_chart,
    loss_chart,
    parameter_chart,
    rank_chart,
)
from complabel.reports._tables import cost_tables, criterion_tables
from complabel.reports._terms import Record, number, quantity

if TYPE_CHECKING:
    from markupsafe import Markup

_COSTS = {
    "fit_seconds": "Seconds to fit a fold",
    "peak_memory_mb": "Peak memory, MB",
}
_MATRICES = {
    "initial_transition_": ("S", "transition, as first estimated"),
    "label_correlation_": ("C", "correlation of labels"),
    "transition_": ("T", "transition, corrected"),
}
# A colour scale needs a length; entries this close print alike.
_LEAST_REACH = 0.0005


def study_drawings(summary: Record) -> Record:
    """Draw the charts of a study.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    dict
        ``criteria``, ``ranks``, ``curves``, ``sensitivity``, ``costs`` and ``matrices``: lists of
        groups, each with ``draw``, ``title`` and ``figures`` (SVG elements, marked as safe);
        those of ``matrices`` with ``label_names`` too.
    """
    idents = (f"figure-{n}" for n in itertools.count(1))
    return {
        "criteria": _criteria(summary, idents),
        "ranks": _ranks(summary, idents),
        "curves": _curves(summary, idents),
        "sensitivity": _sensitivity(summary, idents),
        "costs": _costs(summary, idents),
        "matrices": _matrices(summary, idents),
    }


def _criteria(summary: Record, idents: Iterator[str]) -> list[Record]:
    """Draw each criterion on each dataset."""
    groups = []
    for table in criterion_tables(summary):
        figures = []
        for column, dataset in enumerate(table["datasets"]):
            cells = [row["cells"][column] for row in table["rows"]]
            if not any(cells):
                continue
            bars = [
                Bar(
                    row["title"],
                    cell and cell["mean"],
                    error=cell and cell["std"],
                    published=cell and cell["published"] and cell["published"]["mean"],
                    kind=_kind(row),
                )
                for row, cell in zip(table["rows"], cells, strict=True)
            ]
            figures.append(
                _safe(
                    bar_chart(
                        bars,
                        ident=next(idents),
                        description=f"{table['title']} on {dataset}. {_told(bars, number)}",
                        title=dataset,
                    )
                )
            )
        groups.append({"draw": table["draw"], "title": table["title"], "figures": figures})
    return groups


def _kind(row: Record) -> str:
    """Return how a row's bars look."""
    if row["learns_from"] == "relevant":
        return "outside"
    return "reference" if row["reference"] else "plain"


def _told(bars: Sequence[Bar], write: Callable[[float], str]) -> str:
    """Return a chart's values as text."""
    return "; ".join(f"{bar.name} {write(bar.value)}" for bar in bars if bar.value is not None)


def _ranks(summary: Record, idents: Iterator[str]) -> list[Record]:
    """Draw average ranks where there are enough for a test."""
    groups = []
    for draw in summary["study"]["draws"]:
        tested = [
            ranking
            for ranking in summary["rankings"]
            if ranking["draw"] == draw["name"] and ranking["groups"] is not None
        ]
        figures = [
            _safe(
                rank_chart(
                    ranking["rows"],
                    ranking["ranks"],
                    groups=ranking["groups"],
                    difference=ranking["critical_difference"],
                    ident=next(idents),
                    description=f"Average ranks by {METRIC_TITLES[ranking['metric']]}: "
                    + "; ".join(
                        f"{row} {rank:.2f}"
                        for row, rank in zip(ranking["rows"], ranking["ranks"], strict=True)
                    ),
                    title=METRIC_TITLES[ranking["metric"]],
                )
            )
            for ranking in tested
        ]
        if figures:
            groups.append({"draw": draw["name"], "title": "", "figures": figures})
    return groups


def _curves(summary: Record, idents: Iterator[str]) -> list[Record]:
    """Draw the losses of first folds, dataset by dataset."""
    groups: dict[tuple[str, str], list[Markup]] = {}
    for record in summary["curves"]:
        several = len(record["stages"]) > 1
        for stage, losses in record["stages"].items():
            title = f"{record['row']}: {stage}" if several else record["row"]
            known = [loss for loss in losses if loss is not None]
            ends = f", from {known[0]:.4g} to {known[-1]:.4g}" if known else ""
            svg = loss_chart(
                losses,
                ident=next(idents),
                description=f"{title} on {record['dataset']}: mean loss over {len(losses)}"
                f" epochs{ends}.",
                title=title,
            )
            groups.setdefault((record["draw"], record["dataset"]), []).append(_safe(svg))
    return [
        {"draw": draw, "title": dataset, "figures": figures}
        for (draw, dataset), figures in groups.items()
    ]


def _sensitivity(summary: Record, idents: Iterator[str]) -> list[Record]:
    """Draw criteria over the parameter that a row varies."""
    groups: dict[tuple[str, str], list[Markup]] = {}
    for record in summary["sensitivity"]:
        title = METRIC_TITLES[record["metric"]]
        svg = parameter_chart(
            record["points"],
            ident=next(idents),
            description=f"{title} on {record['dataset']} over {record['parameter']}: "
            + "; ".join(f"{p['value']:g}: {number(p['mean'])}" for p in record["points"]),
            title=record["dataset"],
            parameter=record["parameter"],
        )
        heading = f"{title} over {record['parameter']} of {record['method']}"
        groups.setdefault((record["draw"], heading), []).append(_safe(svg))
    return [
        {"draw": draw, "title": heading, "figures": figures}
        for (draw, heading), figures in groups.items()
    ]


def _costs(summary: Record, idents: Iterator[str]) -> list[Record]:
    """Draw time and memory of each dataset."""
    groups = []
    for table in cost_tables(summary):
        for name, axis in _COSTS.items():
            figures = []
            for column, dataset in enumerate(table["datasets"]):
                bars = [
                    Bar(row["title"], cell[name] or None if cell else None)
                    for row in table["rows"]
                    for cell in [row["cells"][column]]
                ]
                if any(bar.value for bar in bars):
                    svg = bar_chart(
                        bars,
                        ident=next(idents),
                        description=f"{axis} on {dataset}. {_told(bars, quantity)}",
                        title=dataset,
                        axis=axis,
                        logarithmic=name != "peak_memory_mb",
                    )
                    figures.append(_safe(svg))
            if figures:
                groups.append({"draw": table["draw"], "title": axis, "figures": figures})
    return groups


def _matrices(summary: Record, idents: Iterator[str]) -> list[Record]:
    """Draw S, C and T of the first row of each method that estimates them."""
    methods = {row["title"]: row["method"] for row in summary["rows"]}
    first: dict[tuple[str, str, str], Record] = {}
    for record in summary["matrices"]:
        first.setdefault((record["draw"], record["dataset"], methods[record["row"]]), record)
    groups = []
    for record in first.values():
        found = {
            name: np.array(record["matrices"][name], dtype=np.float64)
            for name in _MATRICES
            if name in record["matrices"]
        }
        figures = []
        for name, matrix in found.items():
            symbol, meaning = _MATRICES[name]
            together = [found[n] for n in found if (n == "label_correlation_") == (symbol == "C")]
            figures.append(
                {
                    "caption": f"{symbol}, {meaning}",
                    "svg": _heat_map(symbol, matrix, together, record, next(idents)),
                }
            )
        groups.append(
            {
                "draw": record["draw"],
                "title": f"{record['row']} on {record['dataset']}",
                "label_names": record["label_names"],
                "figures": figures,
            }
        )
    return groups


def _heat_map(
    symbol: str, matrix: np.ndarray, together: Sequence[np.ndarray], record: Record, ident: str
) -> Markup:
    """Draw one matrix, with labels by number: their names are too long for an axis."""
    n_labels = len(matrix)
    beside = _figures.off_diagonal(matrix)
    if symbol == "C":
        centre, centre_name, axes = float(beside.mean()), "mean", ("label", "label")
    else:
        centre, centre_name = 1 / (n_labels - 1), f"= 1/{n_labels - 1}"
        axes = ("relevant label", "complementary label")
    reach = max(float(np.abs(_figures.off_diagonal(other) - centre).max()) for other in together)
    svg = _figures.heat_map(
        matrix,
        [str(k + 1) for k in range(n_labels)],
        ident=ident,
        description=f"Heat map of {symbol} of {record['row']} on {record['dataset']},"
        f" {n_labels} by {n_labels} labels; beside the diagonal from {beside.min():.3f} to"
        f" {beside.max():.3f}.",
        centre=centre,
        centre_name=centre_name,
        reach=max(reach, _LEAST_REACH),
        axes=axes,
    )
    return _safe(svg)


def _safe(svg: str) -> Markup:
    """Mark what an XML serializer wrote as escaped already."""
    from markupsafe import Markup

    return Markup(svg)
