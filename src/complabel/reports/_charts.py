"""The kinds of charts: each is data first, and draws itself as inline SVG when a page asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.reports._summary import Point
from complabel.reports._svg import ACCENT, INK, inline_svg, new_figure
from complabel.reports._words import MATRICES

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Inches.
_WIDTH = 3.5
_LINE = 0.19
_LETTER = 0.066
_SMALL = (_WIDTH, 2.0)

_LOG_FROM = 30.0  # a parameter that spans this factor is shown on a logarithmic axis
_DECADES_ONLY_FROM = 100.0  # spans less than this have too few powers of ten to read
_LEAST_REACH = 0.0005  # a colour scale needs a length; entries this close print alike
_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"color": INK, "alpha": 0.35},
    "reference": {"color": ACCENT, "alpha": 0.75},
    "outside": {"color": "none", "edgecolor": INK, "linewidth": 0.8},
}
_DIAMOND: Mapping[str, Any] = {"color": INK, "markersize": 3.6, "markerfacecolor": "none"}


@dataclass(frozen=True, kw_only=True)
class Chart(ABC):
    """A chart of a page.

    Parameters
    ----------
    title : str
    description : str
        What a reader who cannot see the chart is told.
    axis : str, default=""
        What the horizontal axis shows.
    """

    title: str
    description: str
    axis: str = ""

    def svg(self, ident: str) -> Markup:
        """Return the chart as an ``<svg>`` element with an id that is unique on the page."""
        with new_figure(*self._size()) as figure:
            self._draw(figure)
            return inline_svg(figure, ident=ident, description=self.description)

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Return width and height in inches."""

    @abstractmethod
    def _draw(self, figure: Figure) -> None:
        """Draw into an empty figure."""

    def _axes(self, figure: Figure, *, left: float, bottom: float = 0.42) -> Axes:
        """Return axes with margins in inches: to lay out many charts by search takes minutes."""
        figure.set_layout_engine("none")
        width, height = figure.get_size_inches()
        above = 0.28 if self.title else 0.08
        axes = figure.add_axes(
            (
                left / width,
                bottom / height,
                1 - (left + 0.15) / width,
                1 - (bottom + above) / height,
            )
        )
        axes.set_title(self.title)
        axes.set_xlabel(self.axis)
        return axes


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


@dataclass(frozen=True, kw_only=True)
class BarChart(Chart):
    """Horizontal bars, one below the other; on a logarithmic axis all values are above 0."""

    bars: Sequence[Bar]
    logarithmic: bool = False

    def _size(self) -> tuple[float, float]:
        return _WIDTH, 0.7 + _LINE * len(self.bars)

    def _draw(self, figure: Figure) -> None:
        names = [bar.name for bar in self.bars]
        axes = self._axes(figure, left=_beside(names), bottom=0.38)
        drawn = [
            (place, bar, bar.value) for place, bar in enumerate(self.bars) if bar.value is not None
        ]
        for place, bar, value in drawn:
            axes.barh(place, value, height=0.66, **_LOOKS[bar.kind])
            if bar.error is not None:
                axes.errorbar(value, place, xerr=bar.error, fmt="none", ecolor=INK, elinewidth=1)
        ends = [value + (bar.error or 0.0) for _, bar, value in drawn]
        for place, bar in enumerate(self.bars):
            if bar.published is not None:
                axes.plot(bar.published, place, "D", **_DIAMOND)
                ends.append(bar.published)
        _name_lines(axes, names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        if self.logarithmic:
            _make_logarithmic(axes, min(ends) / 2, max(ends) * 1.3)
        else:
            axes.set_xlim(0, 1.04 * max(ends) or 1.0)
            axes.locator_params(axis="x", nbins=4)


@dataclass(frozen=True, kw_only=True)
class LossChart(Chart):
    """The mean loss after each epoch; None, where it was not finite, leaves a gap."""

    losses: Sequence[float | None]
    axis: str = "epoch"

    def _size(self) -> tuple[float, float]:
        return _SMALL

    def _draw(self, figure: Figure) -> None:
        axes = self._axes(figure, left=0.55)
        values = np.array([np.nan if loss is None else loss for loss in self.losses])
        epochs = np.arange(1, len(values) + 1)
        marker = "." if len(values) < 3 else ""
        axes.plot(epochs, values, color=ACCENT, linewidth=1.5, marker=marker)
        axes.locator_params(axis="both", nbins=4)


@dataclass(frozen=True, kw_only=True)
class ParameterChart(Chart):
    """A criterion over a parameter, by value, with the paper's where it has one."""

    points: Sequence[Point]

    def _size(self) -> tuple[float, float]:
        return _SMALL

    def _draw(self, figure: Figure) -> None:
        axes = self._axes(figure, left=0.55)
        values = [point.value for point in self.points]
        axes.errorbar(
            values,
            [point.mean for point in self.points],
            yerr=[point.std or 0.0 for point in self.points],
            color=ACCENT,
            linewidth=1.5,
            elinewidth=1,
            marker="o",
            markersize=3.5,
        )
        printed = [(p.value, p.published) for p in self.points if p.published is not None]
        if printed:
            axes.plot(*zip(*printed, strict=True), "D:", linewidth=1, alpha=0.8, **_DIAMOND)
        if values[0] > 0 and values[-1] / values[0] >= _LOG_FROM:
            _make_logarithmic(axes, values[0] / 1.3, values[-1] * 1.3)
        else:
            whole = all(float(value).is_integer() for value in values)
            axes.locator_params(axis="x", nbins=5, integer=whole)
        axes.locator_params(axis="y", nbins=4)


@dataclass(frozen=True, kw_only=True)
class RankChart(Chart):
    """Average ranks, with a bar beside rows that cannot be told apart.

    Parameters
    ----------
    names : sequence of str
    ranks : sequence of float
        One for each name.
    groups : sequence of sequence of int
        Rows that do not differ, as from :func:`complabel.statistics.groups_not_different`.
    difference : float
        The critical difference, in ranks.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
    Learning Research 7, 2006, Figure 1; turned by a right angle, so that names stay readable.
    """

    names: Sequence[str]
    ranks: Sequence[float]
    groups: Sequence[Sequence[int]]
    difference: float
    axis: str = "average rank (1 is best)"

    def _size(self) -> tuple[float, float]:
        return _WIDTH, 1.1 + _LINE * len(self.names)

    def _draw(self, figure: Figure) -> None:
        n_rows = len(self.names)
        order = np.argsort(self.ranks, kind="stable")
        place = np.empty(n_rows, dtype=np.intp)
        place[order] = np.arange(n_rows)
        axes = self._axes(figure, left=_beside(self.names))
        axes.hlines(place, 1, self.ranks, color=INK, alpha=0.2, linewidth=1)
        axes.plot(self.ranks, place, "o", color=ACCENT, markersize=5, clip_on=False)
        for column, group in enumerate(self.groups):
            x = n_rows + 0.5 + 0.035 * n_rows * column
            ends = place[list(group)][[0, -1]] + [-0.3, 0.3]
            axes.plot([x, x], ends, color=INK, linewidth=2.5)
        axes.plot([1, 1 + self.difference], [-1.1, -1.1], "|-", color=INK, linewidth=1.5)
        axes.text(1, -1.55, f"critical difference {self.difference:.2f}")
        _name_lines(axes, [self.names[index] for index in order])
        axes.set_ylim(n_rows - 0.4, -2.1)
        axes.set_xlim(left=1)
        axes.spines["left"].set_visible(False)


@dataclass(frozen=True, kw_only=True)
class FoldStrip(Chart):
    """A criterion in [0, 1] on each fold as a dot, one line per method, and the mean as a bar."""

    folds: Mapping[str, Sequence[float]]

    def _size(self) -> tuple[float, float]:
        return 4.6, 0.6 + 0.36 * len(self.folds)

    def _draw(self, figure: Figure) -> None:
        axes = figure.add_subplot()
        for line, values in enumerate(self.folds.values()):
            mean = float(np.mean(values))
            axes.plot([0, 1], [line, line], color=INK, alpha=0.15, linewidth=1, zorder=0)
            axes.plot([mean, mean], [line - 0.3, line + 0.3], color=INK, linewidth=2)
            axes.plot(values, [line] * len(values), "o", color=ACCENT, markersize=5, alpha=0.7)
        _name_lines(axes, list(self.folds))
        axes.set_ylim(len(self.folds) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel(self.axis)
        axes.spines["left"].set_visible(False)


@dataclass(frozen=True)
class Scale:
    """How a heat map is coloured, and what its rows and columns stand for.

    Parameters
    ----------
    centre : float
        The value that gets the neutral colour.
    centre_name : str
        How the colour bar names it.
    axes : (str, str)
        Names of rows and columns.
    """

    centre: float
    centre_name: str
    axes: tuple[str, str]

    def reach(self, matrices: Sequence[NDArray[np.float64]]) -> float:
        """Return how far an entry beside a diagonal is from the centre at most."""
        return max(float(np.abs(beside_diagonal(m) - self.centre).max()) for m in matrices)


@dataclass(frozen=True, kw_only=True)
class HeatMap(Chart):
    """A matrix of label pairs, coloured by how far each entry is from a reference value.

    The diagonal, which is known by definition, is hatched and has no colour. The title is a
    caption for the page to show.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
    label_names : sequence of str, length K
    scale : Scale
    reach : float
        Greatest distance from the scale's centre that the colours tell apart; positive.
    """

    matrix: NDArray[np.float64]
    label_names: Sequence[str]
    scale: Scale
    reach: float

    def _size(self) -> tuple[float, float]:
        return 3.9, 3.4

    def _draw(self, figure: Figure) -> None:
        n_labels, centre = len(self.matrix), self.scale.centre
        ends = (centre - self.reach, centre + self.reach)
        axes = figure.add_subplot()
        image = axes.pcolormesh(
            np.ma.masked_array(self.matrix, mask=np.eye(n_labels, dtype=bool)),
            cmap="PuOr_r",
            vmin=ends[0],
            vmax=ends[1],
            edgecolors="face",  # else the page shows through between the cells
            linewidth=0.3,
        )
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.spines[:].set_visible(False)
        for k in range(n_labels):  # a slash, which no value looks like
            ends_of_slash = [k + 0.25, k + 0.75], [k + 0.75, k + 0.25]
            axes.plot(*ends_of_slash, color=INK, alpha=0.4, linewidth=1)
        ticks = np.arange(n_labels) + 0.5
        axes.set_xticks(ticks, self.label_names)
        axes.set_yticks(ticks, self.label_names)
        axes.tick_params(length=0)
        axes.set_ylabel(self.scale.axes[0])
        axes.set_xlabel(self.scale.axes[1])
        bar = figure.colorbar(image, shrink=0.8)
        bar.outline.set_visible(False)
        names = (f"{ends[0]:.3f}", f"{centre:.3f}\n{self.scale.centre_name}", f"{ends[1]:.3f}")
        bar.set_ticks([ends[0], centre, ends[1]], labels=names)
        bar.ax.axhline(centre, color=INK, linewidth=1.5)


def matrix_charts(
    matrices: Mapping[str, NDArray[np.float64]],
    label_names: Sequence[str],
    *,
    choice: Scale,
    together: Scale,
    whose: str = "",
) -> Iterator[HeatMap]:
    """Yield a heat map of each of S, C and T that there is.

    Parameters
    ----------
    matrices : mapping of str to ndarray of shape (K, K)
        By the attribute of the fitted classifier.
    label_names : sequence of str, length K
    choice : Scale
        For S and T, which then share the reach of the colours too.
    together : Scale
        For C.
    whose : str, default=""
        For the description, such as ``" of MLCL on scene"``.

    Yields
    ------
    HeatMap
    """
    scales = {"S": choice, "C": together, "T": choice}
    found = {name: symbol for name, (symbol, _) in MATRICES.items() if name in matrices}
    for name, symbol in found.items():
        scale, matrix = scales[symbol], matrices[name]
        beside = beside_diagonal(matrix)
        alike = [matrices[other] for other, s in found.items() if scales[s] is scale]
        yield HeatMap(
            title=f"{symbol}, {MATRICES[name][1]}",
            description=f"Heat map of {symbol}{whose}, {len(matrix)} by {len(matrix)} labels;"
            f" beside the diagonal from {beside.min():.3f} to {beside.max():.3f}, coloured by the"
            f" distance from {scale.centre:.3f}.",
            matrix=matrix,
            label_names=label_names,
            scale=scale,
            reach=max(scale.reach(alike), _LEAST_REACH),
        )


def beside_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the K (K - 1) entries of a K x K matrix that are not on its diagonal, row by row."""
    return matrix[~np.eye(len(matrix), dtype=bool)]


def _beside(names: Sequence[str]) -> float:
    """Return the room for names beside the lines of a chart, in inches."""
    return 0.15 + _LETTER * max(map(len, names))


def _name_lines(axes: Axes, names: Sequence[str]) -> None:
    """Name the lines of a chart, from the top."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)


def _make_logarithmic(axes: Axes, low: float, high: float) -> None:
    """Make the horizontal axis logarithmic, with plain numbers on it."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_xlim(low, high)
    steps = (1.0, 2.0, 5.0) if high / low < _DECADES_ONLY_FROM else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=5))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
