"""Charts of a study as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from complabel.reports._figures import ACCENT, INK, inline_svg, new_figure

_BAR_WIDTH = 3.5
_BAR_INCHES = 0.19
_MARGIN_INCHES = 0.7
_LETTER_INCHES = 0.066
_SMALL = (3.5, 2.0)
_LOG_FROM = 30.0  # a parameter that spans this factor is shown on a logarithmic axis
_DECADES_ONLY_FROM = 100.0  # spans less than this have too few powers of ten to read
_LOOKS: dict[str, dict[str, Any]] = {
    "plain": {"color": INK, "alpha": 0.35},
    "reference": {"color": ACCENT, "alpha": 0.75},
    "outside": {"color": "none", "edgecolor": INK, "linewidth": 0.8},
}
_PUBLISHED: dict[str, Any] = {"color": INK, "markersize": 3.6, "markerfacecolor": "none"}


@dataclass(frozen=True)
class Bar:
    """A bar of a chart.

    Parameters
    ----------
    name : str
    value : float or None
        None leaves the place empty.
    error : float or None, default=None
        Half the length of the error bar.
    published : float or None, default=None
        Marked with a diamond.
    kind : {"plain", "reference", "outside"}, default="plain"
        The reference row is coloured; what is out of competition is hollow.
    """

    name: str
    value: float | None
    error: float | None = None
    published: float | None = None
    kind: str = "plain"


def bar_chart(
    bars: Sequence[Bar],
    *,
    ident: str,
    description: str,
    title: str = "",
    axis: str = "",
    logarithmic: bool = False,
) -> str:
    """Draw horizontal bars, one below the other.

    Parameters
    ----------
    bars : sequence of Bar
        From the top.
    ident : str
        Unique on the page.
    description : str
        What a reader who cannot see the figure is told.
    title, axis : str, default=""
    logarithmic : bool, default=False
        For values that are all above 0.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    with new_figure(_BAR_WIDTH, _MARGIN_INCHES + _BAR_INCHES * len(bars)) as figure:
        names = [bar.name for bar in bars]
        plot = _fixed_plot(
            figure, left=0.15 + _LETTER_INCHES * max(map(len, names)), top=bool(title)
        )
        drawn = [(place, bar) for place, bar in enumerate(bars) if bar.value is not None]
        _draw_bars(plot, drawn)
        printed = [(bar.published, n) for n, bar in enumerate(bars) if bar.published is not None]
        if printed:
            plot.plot(*zip(*printed, strict=True), "D", **_PUBLISHED)
        plot.set_yticks(range(len(bars)), names)
        plot.set_ylim(len(bars) - 0.4, -0.6)
        ends = [*(_end(bar) for _, bar in drawn), *(value for value, _ in printed)]
        if logarithmic:
            _logarithmic(plot, min(ends) / 2, max(ends) * 1.3)
        else:
            plot.set_xlim(0, 1.04 * max(ends) or 1.0)
            plot.locator_params(axis="x", nbins=4)
        plot.tick_params(axis="y", length=0)
        plot.set_title(title)
        plot.set_xlabel(axis)
        return inline_svg(figure, ident=ident, description=description)


def _draw_bars(plot: Any, drawn: Sequence[tuple[int, Bar]]) -> None:
    """Draw bars of each kind, and their error bars."""
    for kind, look in _LOOKS.items():
        chosen = [(place, bar.value) for place, bar in drawn if bar.kind == kind]
        if chosen:
            places, widths = zip(*chosen, strict=True)
            plot.barh(places, widths, height=0.66, **look)
    errors = [(bar.value, place, bar.error) for place, bar in drawn if bar.error is not None]
    if errors:
        values, places, lengths = zip(*errors, strict=True)
        plot.errorbar(values, places, xerr=lengths, fmt="none", ecolor=INK, elinewidth=1)


def _end(bar: Bar) -> float:
    """Return how far a bar reaches, with its error bar."""
    return (bar.value or 0.0) + (bar.error or 0.0)


def _logarithmic(plot: Any, low: float, high: float) -> None:
    """Make the axis logarithmic, with plain numbers on it."""
    from matplotlib.ticker import LogLocator, NullFormatter

    plot.set_xscale("log")
    plot.set_xlim(low, high)
    steps = (1.0, 2.0, 5.0) if high / low < _DECADES_ONLY_FROM else (1.0,)
    plot.xaxis.set_major_locator(LogLocator(subs=steps, numticks=5))
    plot.xaxis.set_major_formatter("{x:g}")
    plot.xaxis.set_minor_formatter(NullFormatter())


def _fixed_plot(figure: Any, *, left: float, top: bool, bottom: float = 0.38) -> Any:
    """Return a plot with margins in inches: many charts would take minutes to lay out by search."""
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    above = 0.28 if top else 0.08
    return figure.add_axes(
        (
            left / width,
            bottom / height,
            1 - (left + 0.15) / width,
            1 - (bottom + above) / height,
        )
    )


def loss_chart(losses: Sequence[float | None], *, ident: str, description: str, title: str) -> str:
    """Draw the mean loss after each epoch.

    Parameters
    ----------
    losses : sequence of float or None
        None where the loss was not finite; leaves a gap.
    ident, description, title : str
        As in :func:`bar_chart`.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    with new_figure(*_SMALL) as figure:
        plot = _fixed_plot(figure, left=0.55, top=True, bottom=0.42)
        values = np.array([np.nan if loss is None else loss for loss in losses])
        epochs = np.arange(1, len(values) + 1)
        plot.plot(
            epochs, values, color=ACCENT, linewidth=1.5, marker="." if len(values) < 3 else ""
        )
        plot.locator_params(axis="both", nbins=4)
        plot.set_title(title)
        plot.set_xlabel("epoch")
        return inline_svg(figure, ident=ident, description=description)


def parameter_chart(
    points: Sequence[dict[str, Any]], *, ident: str, description: str, title: str, parameter: str
) -> str:
    """Draw a criterion over a parameter, with the paper's where it has one.

    Parameters
    ----------
    points : sequence of dict
        ``value``, ``mean``, ``std`` and ``published``, by value.
    ident, description, title : str
        As in :func:`bar_chart`.
    parameter : str
        What the axis is called.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    with new_figure(*_SMALL) as figure:
        plot = _fixed_plot(figure, left=0.55, top=True, bottom=0.42)
        values = [point["value"] for point in points]
        plot.errorbar(
            values,
            [point["mean"] for point in points],
            yerr=[point["std"] or 0.0 for point in points],
            color=ACCENT,
            linewidth=1.5,
            elinewidth=1,
            marker="o",
            markersize=3.5,
        )
        printed = [(p["value"], p["published"]) for p in points if p["published"] is not None]
        if printed:
            plot.plot(*zip(*printed, strict=True), "D:", linewidth=1, alpha=0.8, **_PUBLISHED)
        if values[0] > 0 and values[-1] / values[0] >= _LOG_FROM:
            _logarithmic(plot, values[0] / 1.3, values[-1] * 1.3)
        plot.locator_params(axis="y", nbins=4)
        plot.set_title(title)
        plot.set_xlabel(parameter)
        return inline_svg(figure, ident=ident, description=description)


def rank_chart(
    names: Sequence[str],
    ranks: ArrayLike,
    *,
    groups: Sequence[Sequence[int]],
    difference: float,
    ident: str,
    description: str,
    title: str,
) -> str:
    """Draw average ranks, with a bar beside rows that cannot be told apart.

    Parameters
    ----------
    names : sequence of str
    ranks : array_like of shape (n_rows,)
    groups : sequence of sequence of int
        Rows that do not differ, as from :func:`groups_not_different`.
    difference : float
        The critical difference, in ranks.
    ident, description, title : str
        As in :func:`bar_chart`.

    Returns
    -------
    str
        An ``<svg>`` element.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
    Learning Research 7, 2006, Figure 1; turned by a right angle, so that names stay readable.
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    order = np.argsort(ranks, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    with new_figure(_BAR_WIDTH, 1.1 + _BAR_INCHES * len(names)) as figure:
        left = 0.15 + _LETTER_INCHES * max(map(len, names))
        plot = _fixed_plot(figure, left=left, top=True, bottom=0.42)
        plot.hlines(place, 1, ranks, color=INK, alpha=0.2, linewidth=1)
        plot.plot(ranks, place, "o", color=ACCENT, markersize=5)
        for column, group in enumerate(groups):
            x = len(names) + 0.5 + 0.035 * len(names) * column
            plot.plot([x, x], place[list(group)][[0, -1]] + [-0.3, 0.3], color=INK, linewidth=2.5)
        plot.plot([1, 1 + difference], [-1.1, -1.1], "|-", color=INK, linewidth=1.5)
        plot.text(1, -1.55, f"critical difference {difference:.2f}")
        plot.set_yticks(range(len(names)), [names[index] for index in order])
        plot.set_ylim(len(names) - 0.4, -2.1)
        plot.set_xlim(left=1)
        plot.spines["left"].set_visible(False)
        plot.tick_params(axis="y", length=0)
        plot.set_title(title)
        plot.set_xlabel("average rank (1 is best)")
        return inline_svg(figure, ident=ident, description=description)
