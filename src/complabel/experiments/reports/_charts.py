"""The charts of a study's report, for inline SVG; a chart is drawn only when a page needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.experiments.reports._libraries import posthocs
from complabel.experiments.reports._summary import Ranking
from complabel.metrics import METRICS
from complabel.reports import ACCENT, INK, SERIES, WHISKER, WIDTH, Chart, new_axes, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from complabel.experiments.reports._libraries import DataFrame

_LINE = 0.19  # inches
_MARKERS = "os^DvP"


def bar_chart(cells: DataFrame, reference: str, title: str) -> Chart:
    """Return a chart of a criterion by row: its mean, deviation and published mean (a diamond)."""
    means, names = cells["mean"], [*cells["row"]]

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "", names=names, bottom=0.38)
        places = np.arange(len(names))
        for at in places:
            own = names[at] == reference
            look: dict[str, Any] = {"color": ACCENT if own else INK, "alpha": 0.75 if own else 0.35}
            axes.barh(at, means.iloc[at], height=0.66, **look)
        axes.errorbar(means, places, xerr=cells["std"].fillna(0), **WHISKER)
        axes.plot(cells["published"], places, "D", color=INK, markersize=3.6, fillstyle="none")
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(left=0)

    values = zip(names, means, strict=True)
    told = "; ".join(f"{name} {number(mean)}" for name, mean in values)
    return Chart(title, f"{title}. {told}", (WIDTH, 0.7 + _LINE * len(names)), draw)


def rank_chart(ranking: Ranking) -> Chart:
    """Return a critical difference diagram: a bar connects rows whose ranks do not differ."""
    title = METRICS[ranking.metric].title

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        posthocs().critical_difference_diagram(
            ranking.ranks,
            ranking.nemenyi,
            ax=axes,
            label_props={"fontsize": 8},
            marker_props={"color": ACCENT, "zorder": 3},
            elbow_props={"color": INK, "linewidth": 0.8},
            crossbar_props={"color": INK, "marker": "", "linewidth": 2.5},
        )
        axes.set_title(title)

    told = "; ".join(f"{row} {rank:.2f}" for row, rank in ranking.ranks.items())
    size = (1.4 * WIDTH, 1.1 + 0.12 * len(ranking.ranks))
    return Chart(title, f"Average ranks by {title}: {told}", size, draw)


def line_chart(
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    title: str,
    axis: str,
    *,
    logarithmic: bool = False,
) -> Chart:
    """Return a chart of lines, each with its values along the axis and above it, and their key."""

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, axis)
        for at, (name, (x, y)) in enumerate(lines.items()):
            look: dict[str, Any] = {"color": SERIES[at % len(SERIES)], "label": name}
            marker = _MARKERS[at % len(_MARKERS)] if len(np.asarray(x)) < 20 else ""
            axes.plot(x, y, marker=marker, markersize=4, linewidth=1.5, **look)
        if logarithmic:
            axes.set_xscale("log")
        if len(lines) > 1:
            axes.legend(fontsize=7, frameon=False)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{number(b)} at {a:g}" for a, b in _few(x, y))
        for name, (x, y) in lines.items()
    )
    return Chart(title, f"{title} over {axis}. {told}", (1.3 * WIDTH, 2.6), draw)


def _few(x: ArrayLike, y: ArrayLike) -> list[tuple[float, float]]:
    """Return the points of a line that its description names: all, or the two ends of many."""
    points = [*zip(np.asarray(x), np.asarray(y, dtype=float), strict=True)]
    return points if len(points) < 20 else [points[0], points[-1]]


def heat_map(matrix: ArrayLike, title: str, axes_names: Sequence[str]) -> Chart:
    """Return a heat map of a K x K matrix without its diagonal, which is known by definition."""
    values = np.array(matrix, dtype=float)
    hidden = np.ma.masked_array(values, mask=np.eye(len(values), dtype=bool))

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        image = axes.pcolormesh(hidden, cmap="viridis", edgecolors="face", linewidth=0.3)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        ticks = np.arange(len(values)) + 0.5
        numbers = [str(at) for at in range(1, len(values) + 1)]
        axes.set_xticks(ticks, numbers)
        axes.set_yticks(ticks, numbers)
        axes.set_ylabel(axes_names[0])
        axes.set_xlabel(axes_names[1])
        axes.set_title(title)
        figure.colorbar(image, shrink=0.8).outline.set_visible(False)

    reach = f"{len(values)} by {len(values)} labels, from {hidden.min():.3f} to {hidden.max():.3f}"
    return Chart(title, f"Heat map of {title}: {reach}", (3.9, 3.4), draw)
