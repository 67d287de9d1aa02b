"""The kinds of charts of studies. A chart is drawn only when a page needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.experiments.reports._summary import Point, Ranking
from complabel.experiments.reports._templates import MATRICES
from complabel.reports import ACCENT, INK, WHISKER, WIDTH, Chart, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Inches.
_LINE = 0.19
_SMALL = (WIDTH, 2.0)

_LOG_FROM = 30.0  # from this ratio of its values, a parameter has a logarithmic axis
_DECADES_ONLY_FROM = 100.0  # below this ratio, powers of ten alone are too few ticks
_LEAST_REACH = 0.0005  # a colour scale needs a length; closer entries print the same digits
_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"color": INK, "alpha": 0.35},
    "reference": {"color": ACCENT, "alpha": 0.75},
    "outside": {"color": "none", "edgecolor": INK, "linewidth": 0.8},
}
_DIAMOND: Mapping[str, Any] = {"color": INK, "markersize": 3.6, "markerfacecolor": "none"}


@dataclass(frozen=True)
class Bar:
    """A bar, half its error bar and a diamond (``published``); without a value, it stays empty."""

    name: str
    value: float | None
    error: float | None = None
    published: float | None = None
    kind: str = "plain"


def bar_chart(
    bars: Sequence[Bar], *, title: str, description: str, axis: str = "", logarithmic: bool = False
) -> Chart:
    """Return a chart of horizontal bars; a logarithmic axis needs values above 0."""
    names = [bar.name for bar in bars]

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, axis, names=names, bottom=0.38)
        ends = []
        for place, bar in enumerate(bars):
            if bar.value is not None:
                axes.barh(place, bar.value, height=0.66, **_LOOKS[bar.kind])
                ends.append(bar.value + (bar.error or 0.0))
            if bar.value is not None and bar.error is not None:
                axes.errorbar(bar.value, place, xerr=bar.error, **WHISKER)
            if bar.published is not None:
                axes.plot(bar.published, place, "D", **_DIAMOND)
                ends.append(bar.published)
        axes.set_ylim(len(names) - 0.4, -0.6)
        if logarithmic:
            with_logarithmic_axis(axes, min(ends) / 2, max(ends) * 1.3)
        else:
            axes.set_xlim(0, 1.04 * max(ends) or 1.0)
            axes.locator_params(axis="x", nbins=4)

    return Chart(title, description, (WIDTH, 0.7 + _LINE * len(bars)), draw)


def loss_chart(losses: Sequence[float | None], *, title: str, description: str) -> Chart:
    """Return a chart of the mean loss after each epoch; None (not finite) leaves a gap."""

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "epoch")
        values = np.array([np.nan if loss is None else loss for loss in losses])
        epochs = np.arange(1, len(values) + 1)
        marker = "." if len(values) < 3 else ""
        axes.plot(epochs, values, color=ACCENT, linewidth=1.5, marker=marker)
        axes.locator_params(axis="both", nbins=4)

    return Chart(title, description, _SMALL, draw)


def parameter_chart(
    points: Sequence[Point], *, title: str, description: str, parameter: str
) -> Chart:
    """Return a chart of a criterion over a parameter, with the paper's figures if it has some."""
    values = [point.value for point in points]

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, parameter)
        means = [point.mean for point in points]
        spreads = [point.std or 0.0 for point in points]
        line: Mapping[str, Any] = {"color": ACCENT, "linewidth": 1.5, "marker": "o"}
        axes.errorbar(values, means, yerr=spreads, elinewidth=1, markersize=3.5, **line)
        printed = [(p.value, p.published) for p in points if p.published is not None]
        if printed:
            axes.plot(*zip(*printed, strict=True), "D:", linewidth=1, alpha=0.8, **_DIAMOND)
        if values[0] > 0 and values[-1] / values[0] >= _LOG_FROM:
            with_logarithmic_axis(axes, values[0] / 1.3, values[-1] * 1.3)
        else:
            whole = all(float(value).is_integer() for value in values)
            axes.locator_params(axis="x", nbins=5, integer=whole)
        axes.locator_params(axis="y", nbins=4)

    return Chart(title, description, _SMALL, draw)


def rank_chart(ranking: Ranking, *, title: str, description: str) -> Chart:
    """Return a chart of average ranks, with a bar beside rows that do not differ.

    After J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7, 2006, Figure 1; turned by 90 degrees, so that names are readable.
    """
    ranks, difference = ranking.ranks or (), ranking.critical_difference or 0.0
    n_rows = len(ranks)
    order = np.argsort(ranks, kind="stable")
    place = np.argsort(order)
    names = [ranking.rows[index] for index in order]

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "average rank (1 is best)", names=names)
        axes.hlines(place, 1, ranks, color=INK, alpha=0.2, linewidth=1)
        axes.plot(ranks, place, "o", color=ACCENT, markersize=5, clip_on=False)
        for column, group in enumerate(ranking.groups or ()):
            x = n_rows + 0.5 + 0.035 * n_rows * column
            ends = place[list(group)][[0, -1]] + [-0.3, 0.3]
            axes.plot([x, x], ends, color=INK, linewidth=2.5)
        axes.plot([1, 1 + difference], [-1.1, -1.1], "|-", color=INK, linewidth=1.5)
        axes.text(1, -1.55, f"critical difference {difference:.2f}")
        axes.set_ylim(n_rows - 0.4, -2.1)
        axes.set_xlim(left=1 - 0.03 * n_rows)  # else the axis cuts the dot at rank 1
        axes.spines["left"].set_visible(False)

    return Chart(title, description, (WIDTH, 1.1 + _LINE * n_rows), draw)


def heat_map(
    matrix: NDArray[np.float64],
    *,
    title: str,
    description: str,
    centre: float,
    centre_name: str,
    reach: float,
    axes_names: tuple[str, str],
) -> Chart:
    """Return a heat map of a K x K matrix, coloured by distances up to ``reach`` from a centre.

    The diagonal is known by definition, so it is hatched. Labels have numbers, because names would
    be too long. The page shows ``title``; it is not drawn.
    """
    n_labels = len(matrix)
    low, high = centre - reach, centre + reach

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        image = axes.pcolormesh(
            np.ma.masked_array(matrix, mask=np.eye(n_labels, dtype=bool)),
            cmap="PuOr_r",
            vmin=low,
            vmax=high,
            edgecolors="face",  # else the page shines through between the cells
            linewidth=0.3,
        )
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.spines[:].set_visible(False)
        for k in range(n_labels):  # a slash, which differs from all colours of values
            slash = [k + 0.25, k + 0.75], [k + 0.75, k + 0.25]
            axes.plot(*slash, color=INK, alpha=0.4, linewidth=1)
        ticks, numbers = np.arange(n_labels) + 0.5, list(map(str, range(1, n_labels + 1)))
        axes.set_xticks(ticks, numbers)
        axes.set_yticks(ticks, numbers)
        axes.tick_params(length=0)
        axes.set_ylabel(axes_names[0])
        axes.set_xlabel(axes_names[1])
        bar = figure.colorbar(image, shrink=0.8)
        bar.outline.set_visible(False)
        names = (f"{low:.3f}", f"{centre:.3f}\n{centre_name}", f"{high:.3f}")
        bar.set_ticks([low, centre, high], labels=names)
        bar.ax.axhline(centre, color=INK, linewidth=1.5)

    return Chart(title, description, (3.9, 3.4), draw)


def matrix_charts(matrices: Mapping[str, Any], whose: str) -> Iterator[Chart]:
    """Yield heat maps of those of S, C and T that exist, by attribute of the classifier.

    S and T share one scale around a uniform choice, and its reach; C has its own around its mean.
    """
    known = {name: np.array(matrices[name], float) for name in MATRICES if name in matrices}
    beside = {name: matrix[~np.eye(len(matrix), dtype=bool)] for name, matrix in known.items()}
    for name, matrix in known.items():
        symbol, caption = MATRICES[name]
        K, entries, alike = len(matrix), beside[name], [beside[name]]
        if symbol == "C":
            centre, centre_name, axes = float(entries.mean()), "mean", ("label", "label")
        else:
            centre, centre_name = 1 / (K - 1), f"= 1/{K - 1}"
            axes = ("relevant label", "complementary label")
            alike = [beside[other] for other in beside if MATRICES[other][0] != "C"]
        yield heat_map(
            matrix,
            title=f"{symbol}, {caption}",
            description=f"Heat map of {symbol} of {whose}, {K} by {K} labels; beside the diagonal"
            f" from {entries.min():.3f} to {entries.max():.3f}, coloured by the distance from"
            f" {centre:.3f}.",
            centre=centre,
            centre_name=centre_name,
            reach=max(float(np.abs(np.array(alike) - centre).max()), _LEAST_REACH),
            axes_names=axes,
        )


def with_logarithmic_axis(axes: Axes, low: float, high: float) -> None:
    """Make the horizontal axis logarithmic, with plain numbers as labels."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_xlim(low, high)
    steps = (1.0, 2.0, 5.0) if high / low < _DECADES_ONLY_FROM else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=5))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
