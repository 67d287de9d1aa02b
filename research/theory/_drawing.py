"""Bars and heat maps of the theory page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.reports import ACCENT, INK, WIDTH, Chart, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_LINE = 0.19  # inches
_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"color": INK, "alpha": 0.35},
    "reference": {"color": ACCENT, "alpha": 0.75},
}


@dataclass(frozen=True)
class Bar:
    """A bar of a chart."""

    name: str
    value: float
    kind: str = "plain"


def bar_chart(bars: Sequence[Bar], *, title: str, description: str) -> Chart:
    """Return a chart of horizontal bars."""
    names = [bar.name for bar in bars]

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "", names=names, bottom=0.38)
        for place, bar in enumerate(bars):
            axes.barh(place, bar.value, height=0.66, **_LOOKS[bar.kind])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 1.04 * max(bar.value for bar in bars) or 1.0)
        axes.locator_params(axis="x", nbins=4)

    return Chart(title, description, (WIDTH, 0.7 + _LINE * len(bars)), draw)


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
