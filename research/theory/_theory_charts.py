"""Charts of the theory page: gaps of statements, excess risks, and matrices on real data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from research.theory import CRITERIA
from research.theory._drawing import Bar, bar_chart, heat_map
from research.theory._theory_text import (
    MATRIX_NAMES,
    Counted,
    quantity_of,
    ranking_errors,
    said_slope,
    short_world,
)

from complabel.reports import ACCENT, INK, SERIES, Chart, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from research.theory import Figure2, Finding, MatrixCost, RiskCurve

MARKERS: Final = (("o", "●"), ("s", "■"), ("^", "▲"), ("D", "◆"), ("v", "▼"), ("P", "✚"))
"""Markers of points, by the name in matplotlib and as a character."""

_SIZE = (4.4, 3.0)  # inches
_LINE = 0.24
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_CHOICE = ("label k applies", "label j is named")  # axes of a transition matrix


def gap_chart(rows: Sequence[Counted], *, title: str) -> Chart:
    """Return a chart of left - right: a line spans all cases, and points are medians of settings.

    A statement holds right of 0.
    """
    names = [row.short for row in rows]

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "left side - right side", names=names, bottom=0.42)
        for place, row in enumerate(rows):
            axes.plot([row.least, row.greatest], [place, place], color=INK, alpha=0.35)
            axes.plot(
                row.medians, [place] * len(row.medians), "o", color=ACCENT, markersize=4, alpha=0.6
            )
        axes.axvline(0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.locator_params(axis="x", nbins=5)

    said = "; ".join(
        f"{row.short}: from {row.least:.2f} to {row.greatest:.2f}, medians {row.median_range}"
        for row in rows
    )
    return Chart(title, f"{title}. {said}", (4.4, 0.8 + _LINE * len(rows)), draw)


def growth_chart(lines: Mapping[str, Mapping[int, float]], *, title: str, axis: str) -> Chart:
    """Return a chart with a line for each statement: the failing share against a whole number."""

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, axis)
        for at, points in enumerate(lines.values()):
            axes.plot(list(points), [100 * y for y in points.values()], **_look(at))
        axes.set_ylim(-4, 104)
        axes.locator_params(axis="x", integer=True)
        _grid(axes)

    said = "; ".join(
        f"{name}: " + ", ".join(f"{100 * y:.1f} % at {x}" for x, y in points.items())
        for name, points in lines.items()
    )
    return Chart(title, f"{title}. {said}", _SIZE, draw)


def ranking_charts(findings: Sequence[Finding]) -> list[Chart]:
    """Return a chart for each kind of p(Y|x): the share of pairs that minimizers rank wrongly."""
    errors = ranking_errors(findings)
    kinds = dict.fromkeys(kind for _, kind, _ in errors)
    most = max(n_labels for _, _, n_labels in errors)
    charts = []
    for kind in kinds:
        bars = [
            Bar(name, share, kind="reference" if name.startswith("MLCL") else "plain")
            for (name, of, n_labels), share in errors.items()
            if (of, n_labels) == (kind, most)
        ]
        said = "; ".join(f"{bar.name}: {bar.value:.3f}" for bar in bars)
        title = f"{kind}, K = {most}"
        charts.append(bar_chart(bars, title=title, description=f"{title}. {said}"))
    return charts


def figure_2_charts(example: Figure2) -> list[Chart]:
    """Return charts of S, C, T and the exact T of both distributions."""
    estimated = example.estimated
    charts = []
    for name, matrix, axes_names in (
        ("S, initial transition matrix", estimated.initial, _CHOICE),
        ("C, label correlation", estimated.correlation, ("label k", "label j")),
        ("T, transition matrix", estimated.corrected, _CHOICE),
        ("Exact T, if pairs apply", example.pairs_transition, _CHOICE),
        ("Exact T, if single labels apply", example.single_transition, _CHOICE),
    ):
        known = np.where(np.isnan(matrix), 0.5, matrix)
        symbol = "T" if name.startswith("Exact T") else name[0]
        numbers = ", ".join(f"{symbol}_1{j + 1} = {matrix[0, j]:.3f}" for j in (1, 2))
        charts.append(
            heat_map(
                known,
                title=name,
                description=f"{name}: {numbers}",
                centre=0.5,
                centre_name="= 1/2",
                reach=0.5,
                axes_names=axes_names,
            )
        )
    return charts


def risk_charts(curves: Sequence[RiskCurve]) -> list[Chart]:
    """Return a chart for each world and criterion: excess risks against the number of items."""
    places = dict.fromkeys((curve.world, curve.criterion) for curve in curves)
    methods = list(dict.fromkeys(curve.method for curve in curves))
    return [
        _risk_chart([c for c in curves if (c.world, c.criterion) == place], methods)
        for place in places
    ]


def _risk_chart(curves: Sequence[RiskCurve], methods: Sequence[str]) -> Chart:
    """Return the chart of one criterion in one world."""
    first = curves[0]
    title = f"{short_world(first.world)}: {CRITERIA[first.criterion]}"

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "items")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for curve in curves:
            look = _look(methods.index(curve.method))
            axes.plot(curve.sizes, curve.excess.mean(axis=0), **look)
        low, high = axes.get_ylim()
        for curve in curves:
            if curve.limit > low:
                colour = _look(methods.index(curve.method))["color"]
                axes.axhline(curve.limit, color=colour, linewidth=1, linestyle=(0, (2, 2)))
        axes.set_ylim(low, high)
        axes.minorticks_off()
        for line in (axes.xaxis, axes.yaxis):
            line.set_major_formatter(lambda value, _: power_of_ten(value))
        _grid(axes)

    said = "; ".join(
        f"{curve.method}: "
        + ", ".join(
            f"{mean:.1e} at {n:,}"
            for n, mean in zip(curve.sizes, curve.excess.mean(axis=0), strict=True)
        )
        + f", {said_slope(curve)}"
        for curve in curves
    )
    return Chart(title, f"{title}. {said}", _SIZE, draw)


def power_of_ten(value: float) -> str:
    """Write a power of ten with raised digits, because pages have no mathematical typesetting.

    Examples
    --------
    >>> power_of_ten(0.001)
    '10⁻³'
    """
    return "10" + str(round(math.log10(value))).translate(_RAISED)


def cost_charts(costs: Sequence[MatrixCost]) -> list[Chart]:
    """Return a chart for each dataset: average precision against the distance from the exact T."""
    charts = []
    for dataset in dict.fromkeys(cost.dataset for cost in costs):
        here = [cost for cost in costs if cost.dataset == dataset]
        charts.append(_cost_chart(dataset, here))
    return charts


def _cost_chart(dataset: str, costs: Sequence[MatrixCost]) -> Chart:
    """Return the chart of one dataset, with filled points for uniform draws, hollow for biased."""
    names = list(MATRIX_NAMES)

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, f"{dataset}: average precision", "distance from the exact T")
        for cost in costs:
            look = _look(names.index(cost.matrix)) | {"linestyle": "none", "markersize": 7}
            if cost.scheme == "biased":
                look["markerfacecolor"] = "none"
            x, y = cost.distortion.sum(axis=1).mean(), cost.average_precision.mean()
            spread = cost.average_precision.std(ddof=min(1, len(cost.average_precision) - 1))
            axes.errorbar(x, y, yerr=spread, elinewidth=1, zorder=3, **look)
        axes.margins(0.08)
        axes.locator_params(axis="both", nbins=5)
        _grid(axes)

    said = "; ".join(
        f"{cost.scheme} draw, {MATRIX_NAMES[cost.matrix]}: {quantity_of(cost)}" for cost in costs
    )
    return Chart(dataset, f"{dataset}: average precision against the distance. {said}", _SIZE, draw)


def label_charts(costs: Sequence[MatrixCost]) -> list[Chart]:
    """Return a chart for each dataset and draw: the distance of each matrix by label."""
    places = dict.fromkeys((cost.dataset, cost.scheme) for cost in costs)
    return [
        _label_chart([c for c in costs if (c.dataset, c.scheme) == place and c.matrix != "exact"])
        for place in places
    ]


def _label_chart(costs: Sequence[MatrixCost]) -> Chart:
    """Return the chart of l_j of one dataset and draw, with a row of points for each label."""
    first, names = costs[0], list(MATRIX_NAMES)
    labels = [name if len(name) <= 18 else name[:17] + "…" for name in first.label_names]
    title = f"{first.dataset}, {first.scheme} draw"

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "l_j, distance of column j", names=labels)
        for cost in costs:
            look = _look(names.index(cost.matrix)) | {"linestyle": "none", "markersize": 4.5}
            axes.plot(cost.distortion.mean(axis=0), range(len(labels)), alpha=0.85, **look)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.8)
        axes.locator_params(axis="x", nbins=5)

    said = "; ".join(
        f"{MATRIX_NAMES[cost.matrix]}: "
        + ", ".join(
            f"{name} {value:.3f}"
            for name, value in zip(labels, cost.distortion.mean(axis=0), strict=True)
        )
        for cost in costs
    )
    return Chart(title, f"{title}. {said}", (4.4, 0.8 + 0.19 * len(labels)), draw)


def _look(at: int) -> dict[str, Any]:
    """Return the colour and the marker of the line with this number."""
    return {
        "color": SERIES[at % len(SERIES)],
        "marker": MARKERS[at % len(MARKERS)][0],
        "linewidth": 1.5,
        "markersize": 5,
    }


def _grid(axes: Axes) -> None:
    """Draw faint lines that make values easy to read."""
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.8)
