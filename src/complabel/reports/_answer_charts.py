"""Curves of a study of how to ask: average precision against answers, and against minutes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from complabel.metrics import METRIC_TITLES
from complabel.reports._answers import CRITERION
from complabel.reports._charts import Chart, new_axes, with_logarithmic_axis
from complabel.reports._svg import INK, SERIES
from complabel.reports._words import number, quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from complabel.reports._summary import AnswerPoint, Summary
    from complabel.studies import Draw

_FEWEST = 3  # draws; fewer points make no curve
_TOGETHER = 8  # most lines of one chart; with more, each row has its own charts
_MARKERS: Final = (("o", "●"), ("s", "■"), ("^", "▲"), ("D", "◆"), ("v", "▼"), ("P", "✚"))
_SIZE = (4.4, 2.9)  # inches
_AXES: Final = {
    "n_answers": "answers about a training part",
    "minutes": "annotators’ minutes",  # noqa: RUF001
}


@dataclass(frozen=True)
class Line:
    """A line of a chart: one row and one way of asking, with a point for each amount asked.

    ``series`` is the number of its colour, or 0 for the text colour of the page. ``marker`` is its
    marker as matplotlib's code and as a character.
    """

    name: str
    row: str
    draws: Sequence[str]
    series: int
    marker: tuple[str, str]


@dataclass(frozen=True)
class AnswerCharts:
    """Charts that share one key for their lines."""

    title: str
    lines: Sequence[Line]
    outside: Sequence[str]
    charts: Sequence[Chart]


def answer_charts(summary: Summary) -> list[AnswerCharts]:
    """Choose the charts: one group for all rows, or one for each row if there are many lines."""
    rows = list(dict.fromkeys(point.row for point in summary.answers))
    found = _families(summary)
    if not rows or len({point.draw for point in summary.answers}) < _FEWEST:
        return []
    outside = [row.title for row in summary.rows if row.learns_from == "relevant"]
    groups = [(row, [row]) for row in rows]
    if len(rows) * len(found) <= _TOGETHER:
        groups = [("", rows)]
    else:  # the reference row comes first, as readers look for it
        groups.sort(key=lambda group: group[0] != summary.study.reference)
    charts = []
    for title, shown in groups:
        lines = _lines(shown, found)
        drawn = [
            _chart(summary, lines, outside, dataset=dataset, across=across)
            for across in _AXES
            for dataset in summary.datasets
            if any(point.dataset == dataset for point in summary.answers)
        ]
        charts.append(AnswerCharts(title, lines, outside, drawn))
    return charts


def _families(summary: Summary) -> Mapping[str, list[str]]:
    """Group draws that ask the same question, in different amounts, by their way of asking.

    A single draw is left out if a line has the same question, because a chart has little room.
    """
    asked = {point.draw for point in summary.answers}
    draws = {draw.name: draw for draw in summary.study.draws if draw.name in asked}
    found: dict[str, list[str]] = {}
    for draw in draws.values():
        found.setdefault(way_of_asking(draw), []).append(draw.name)
    for draw in draws.values():
        if draw.audit and draw.question != "none":  # its line starts at the draw without an audit
            without = draw.model_copy(update={"audit": 0}).what_counts()
            for other in draws.values():
                if other.what_counts() == without and other.name not in found[way_of_asking(draw)]:
                    found[way_of_asking(draw)].insert(0, other.name)
    on_lines = {
        draws[name].question for names in found.values() if len(names) > 1 for name in names
    }
    return {
        way: names
        for way, names in found.items()
        if len(names) > 1 or draws[names[0]].question not in on_lines
    }


def way_of_asking(draw: Draw) -> str:
    """Return in few words what a draw asks, without the amounts."""
    words = {
        "free": "named freely",
        "asked": "asked yes/no",
        "ticked": "all labels ticked",
        "none": "audit alone",
    }
    said = [words.get(draw.question, f"named from menus of {draw.menu_size}")]
    if draw.labels == "released":
        said.append(f"{draw.scheme}, as released")
    elif draw.scheme == "biased":
        said.append(f"by correlation (sharpness {draw.sharpness:g})")
    if draw.propensity_sd and draw.question not in ("asked", "ticked"):
        said.append(f"unequally (sd {draw.propensity_sd:g})")
    if draw.error_rate:
        said.append(f"{100 * draw.error_rate:.3g} % mistakes")
    if draw.audit and draw.question != "none":
        said.append("and an audit")
    return ", ".join(said)


def _lines(rows: Sequence[str], found: Mapping[str, list[str]]) -> list[Line]:
    """Give each line a colour and a marker; single points have the text colour."""
    colours, inks = itertools.count(), itertools.count()
    lines = []
    for row, (way, draws) in itertools.product(rows, found.items()):
        alone = len(draws) == 1
        at = next(inks if alone else colours)
        name = " · ".join(part for part in (row if len(rows) > 1 else "", way) if part)
        series = 0 if alone else 1 + at % len(SERIES)
        lines.append(Line(name, row, draws, series, _MARKERS[at % len(_MARKERS)]))
    return sorted(lines, key=lambda line: line.series == 0)


def _chart(
    summary: Summary, lines: Sequence[Line], outside: Sequence[str], *, dataset: str, across: str
) -> Chart:
    """Return the chart of a dataset; ``across`` names the field on the horizontal axis."""
    points = {point.place: point for point in summary.answers if point.dataset == dataset}
    drawn = [(line, _points(line, points, dataset, across)) for line in lines]
    bars = {
        cell.row: cell.mean
        for cell in summary.cells
        if (cell.dataset, cell.metric) == (dataset, CRITERION) and cell.row in outside
    }

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, f"{dataset}: average precision", _AXES[across])
        ends = []
        for line, at in drawn:
            colour = INK if line.series == 0 else SERIES[line.series - 1]
            xs, means = [getattr(p, across) for p in at], [p.mean for p in at]
            ends.extend(xs)
            filled = colour if line.series else "none"
            look: dict[str, Any] = {
                "color": colour,
                "marker": line.marker[0],
                "markerfacecolor": filled,
            }
            axes.plot(xs, means, markersize=5, linewidth=1.5, **look)
        for mean in bars.values():
            axes.axhline(mean, color=INK, alpha=0.5, linewidth=1, linestyle=(0, (4, 3)))
        if ends:
            with_logarithmic_axis(axes, min(ends) / 1.3, max(ends) * 1.3)
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.8)
        axes.locator_params(axis="y", nbins=6)

    said = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{number(p.mean)} at {quantity(getattr(p, across))}" for p in at)
        for line, at in drawn
        if at
    )
    title = METRIC_TITLES[CRITERION]
    return Chart(dataset, f"{title} on {dataset} against {_AXES[across]}. {said}", _SIZE, draw)


def _points(
    line: Line, points: Mapping[tuple[str, str, str], AnswerPoint], dataset: str, across: str
) -> list[AnswerPoint]:
    """Return the known points of a line, in order."""
    places = [(draw, dataset, line.row) for draw in line.draws]
    known = [points[place] for place in places if place in points]
    return sorted(known, key=lambda point: float(getattr(point, across)))
