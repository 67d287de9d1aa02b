"""The forms of a study's report, as texts of files, and which charts they show."""

from __future__ import annotations

import contextlib
import csv
import errno
import functools
import io
import itertools
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from complabel._writing import explained, replacing
from complabel.experiments.reports import _charts
from complabel.experiments.reports import _summary as data
from complabel.experiments.reports._charts import Bar
from complabel.experiments.reports._summarize import RATIOS, Points, last_line, summarize_study
from complabel.experiments.reports._summary import CRITERION, Row, Summary
from complabel.experiments.reports._tables import (
    Entry,
    Tables,
    factor_tables,
    headline,
    study_tables,
    ticking_tables,
)
from complabel.experiments.reports._templates import get_template, quantity, title_of
from complabel.experiments.studies import Draw, StudyResults
from complabel.metrics import METRICS
from complabel.reports import INK, SERIES, Chart, new_axes, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = (
    *("study", "draw", "dataset", "row", "method", "fold", "status"),
    *METRICS,
    *("fit_seconds", "predict_seconds", "peak_memory_mb"),
    *("parameters", "fitted", "error", "key"),
)


def results_csv(results: StudyResults) -> str:
    """Return a CSV text with a line for every unit.

    ``fold`` counts from 0; ``parameters`` and ``fitted`` are JSON objects; ``error`` is the last
    line.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for unit in results.units:
        own = {"study": results.plan.name, "error": last_line(unit.error)}
        values = {**vars(unit), **unit.metrics, **own}
        writer.writerow([_written(values.get(name, "")) for name in _COLUMNS])
    return text.getvalue()


def _written(value: object) -> object:
    """Return a value for CSV: numbers with all digits, mappings as JSON, NaN as empty text."""
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else ""
    if isinstance(value, Mapping):
        return json.dumps(dict(value), sort_keys=True, default=repr)
    return value


Renderer: TypeAlias = Callable[[Summary, StudyResults], str]
"""Returns the text of one form, from the summary and the results."""


def render_tables(template: str, summary: Summary, _: StudyResults) -> str:
    tables = study_tables(summary)
    text = get_template(template).render(
        summary=summary,
        study=summary.study,
        tables=tables,
        factors=factor_tables(summary) if summary.study.has_many_draws else None,
        headline=headline(summary),
        complabel=summary.complabel,
        answer_charts=answer_charts(summary),
        ticking=ticking_tables(summary),
        time_charts=time_charts(summary),
        charts=study_charts(summary, tables),
    )
    return text if template.endswith(".html.j2") else text.rstrip("\n") + "\n"


def _as_json(summary: Summary, _: StudyResults) -> str:
    return json.dumps(summary, indent=1, allow_nan=False, default=vars) + "\n"


FORMATS: Final[Mapping[str, Renderer]] = MappingProxyType(
    {
        "report.html": functools.partial(render_tables, "report.html.j2"),
        "tables.md": functools.partial(render_tables, "tables.md.j2"),
        "tables.tex": functools.partial(render_tables, "tables.tex.j2"),
        "results.csv": lambda _, results: results_csv(results),
        "summary.json": _as_json,
    }
)
"""The forms of a report: the name of each file, and the function that returns its text."""


def write_report(
    results: StudyResults, folder: str | Path, *, formats: Mapping[str, Renderer] = FORMATS
) -> list[Path]:
    """Write the report of a study in all its forms.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the report lists what is missing.
    folder : path
        Made if it does not exist. An older report in it is replaced after the new one is written.
    formats : mapping of str to callable, default=FORMATS
        Maps the name of each file to a function of the summary and the results that returns its
        text.

    Returns
    -------
    list of Path
        ``report.html``, ``tables.md``, ``tables.tex``, ``results.csv`` (every unit) and
        ``summary.json``, or what ``formats`` names.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed; then nothing is written.
    OutputError
        If a file cannot be written; then an older report is unchanged.
    """
    summary = summarize_study(results)
    texts = {name: render(summary, results) for name, render in formats.items()}
    write_texts(Path(folder), texts)
    return [Path(folder) / name for name in texts]


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write UTF-8 text files into a folder, from a mapping of names to texts: all of them, or none.

    A missing folder is made. If a file cannot be written, everything stays unchanged. All files get
    the same time, which tells later that none was changed.
    """
    now = time.time_ns()
    with explained(folder):
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as files:
                for name, text in texts.items():
                    if (folder / name).is_dir():  # must fail before the first file is replaced
                        raise IsADirectoryError(errno.EISDIR, f"{name} is a folder")
                    partial = files.enter_context(replacing(folder / name))
                    partial.write_text(text, encoding="utf-8")
                    os.utime(partial, ns=(now, now))
        except BaseException:
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise


def render_report(results: StudyResults) -> str:
    """Render a study as one HTML page without external files.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the page lists what is missing.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    """
    return FORMATS["report.html"](summarize_study(results), results)


_COSTS = {"fit_seconds": "Seconds to fit a fold", "peak_memory_mb": "Peak memory, MB"}

_P = TypeVar("_P", data.Curves, data.Matrices, data.Sensitivity)
_Placed: TypeAlias = Iterator[tuple[str, str, Chart]]  # draw, title of the group, chart


@dataclass(frozen=True)
class Group:
    """Charts that the page shows together; charts of matrices have ``label_names``."""

    draw: str
    title: str
    charts: Sequence[Chart]
    label_names: Sequence[str] = ()


def study_charts(summary: Summary, tables: Tables) -> Mapping[str, Sequence[Group]]:
    """Choose the charts for each section of the page; they are drawn later."""
    return {
        "criteria": _grouped(_criteria(summary, tables)),
        "ranks": _grouped(_ranks(summary)),
        "curves": _grouped(_curves(summary)),
        "sensitivity": _grouped(_sensitivity(summary)),
        "costs": _grouped(_costs(summary, tables)),
        "matrices": list(_matrices(summary)),
    }


def _charted(summary: Summary, placed: Sequence[_P]) -> Sequence[_P]:
    """Return what gets charts: all of it, or only the first draw's if there are many draws."""
    if not (summary.study.has_many_draws and placed):
        return placed
    return [one for one in placed if one.draw == placed[0].draw]


def _grouped(charts: _Placed) -> list[Group]:
    groups: dict[tuple[str, str], list[Chart]] = {}
    for draw, title, chart in charts:
        groups.setdefault((draw, title), []).append(chart)
    return [Group(*place, together) for place, together in groups.items()]


def _criteria(summary: Summary, tables: Tables) -> _Placed:
    for table in tables.criteria:
        for column, dataset in enumerate(summary.datasets):
            bars = [
                _bar(row, entries[column], summary.study.reference) for row, entries in table.lines
            ]
            if any(bar.value is not None for bar in bars):
                description = f"{table.metric.title} on {dataset}. {_told(bars, number)}"
                chart = _charts.bar_chart(bars, title=dataset, description=description)
                yield table.draw, table.metric.title, chart


def _bar(row: Row, entry: Entry | None, reference: str) -> Bar:
    kind = "reference" if row.title == reference else "plain"
    if not row.competes:
        kind = "outside"
    if entry is None:
        return Bar(title_of(row), None, kind=kind)
    cell = entry.cell
    published = cell.published.mean if cell.published else None
    return Bar(title_of(row), cell.mean, error=cell.std, published=published, kind=kind)


def _told(bars: Sequence[Bar], write: Callable[[float], str]) -> str:
    return "; ".join(f"{bar.name} {write(bar.value)}" for bar in bars if bar.value is not None)


def _ranks(summary: Summary) -> _Placed:
    for ranking in summary.rankings:
        if ranking.ranks and ranking.groups is not None and not summary.study.has_many_draws:
            title = METRICS[ranking.metric].title
            ranks = zip(ranking.rows, ranking.ranks, strict=True)
            said = "; ".join(f"{row} {rank:.2f}" for row, rank in ranks)
            description = f"Average ranks by {title}: {said}"
            chart = _charts.rank_chart(ranking, title=title, description=description)
            yield ranking.draw, "", chart


def _curves(summary: Summary) -> _Placed:
    for curves in _charted(summary, summary.curves):
        for stage, losses in curves.stages.items():
            title = f"{curves.row}: {stage}" if len(curves.stages) > 1 else curves.row
            known = [loss for loss in losses if loss is not None]
            ends = f", from {known[0]:.4g} to {known[-1]:.4g}" if known else ""
            description = f"{title} on {curves.dataset}: mean loss over {len(losses)} epochs{ends}."
            chart = _charts.loss_chart(losses, title=title, description=description)
            yield curves.draw, curves.dataset, chart


def _sensitivity(summary: Summary) -> _Placed:
    for varied in _charted(summary, summary.sensitivity):
        title, parameter = METRICS[varied.metric].title, varied.parameter
        said = "; ".join(f"{point.value:g}: {number(point.mean)}" for point in varied.points)
        chart = _charts.parameter_chart(
            varied.points,
            title=varied.dataset,
            description=f"{title} on {varied.dataset} over {parameter}: {said}",
            parameter=parameter,
        )
        yield varied.draw, f"{title} over {parameter} of {varied.method}", chart


def _costs(summary: Summary, tables: Tables) -> _Placed:
    """Yield charts of time and memory on each dataset; times of 0 do not fit a logarithmic axis."""
    for table in tables.costs:
        for name, axis in _COSTS.items():
            for column, dataset in enumerate(summary.datasets):
                bars = [
                    Bar(title_of(row), getattr(costs[column], name, None) or None)
                    for row, costs in table.lines
                ]
                if any(bar.value for bar in bars):
                    chart = _charts.bar_chart(
                        bars,
                        title=dataset,
                        description=f"{axis} on {dataset}. {_told(bars, quantity)}",
                        axis=axis,
                        logarithmic=name != "peak_memory_mb",
                    )
                    yield table.draw, axis, chart


def _matrices(summary: Summary) -> Iterator[Group]:
    """Yield charts of S, C and T of the first row of each method that estimates them."""
    methods = {row.title: row.method for row in summary.rows}
    first: dict[tuple[str, str, str], data.Matrices] = {}
    for record in _charted(summary, summary.matrices):
        first.setdefault((record.draw, record.dataset, methods[record.row]), record)
    for record in first.values():
        whose = f"{record.row} on {record.dataset}"
        charts = list(_charts.matrix_charts(record.matrices, whose))
        yield Group(record.draw, whose, charts, record.label_names)


_FEWEST = 3  # draws; fewer points make no curve
_TOGETHER = 8  # most lines of one chart; with more, each row has its own charts
_MARKERS: Final = ("o●○", "s■□", "^▲△", "D◆◇", "v▼▽", "P✚✛")  # matplotlib's code; filled; hollow
_SIZE = (4.4, 2.9)  # inches
_AXES: Final = {
    "n_answers": "answers about a training part",
    "minutes": "annotators’ minutes",  # noqa: RUF001
}
_TIME: Final = "time, as yes/no answers for each item"


@dataclass(frozen=True)
class Line:
    """A line of a chart: one row and one way of asking, with a point for each amount asked.

    ``series`` is the number of its colour, 0 for text; ``sign`` is the character of ``marker``.
    """

    name: str
    row: str
    draws: Sequence[str]
    series: int
    marker: str
    sign: str


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
            _curves_chart(
                [(line, _points(summary, line, dataset, across)) for line in lines],
                _references(summary, dataset, outside),
                dataset,
                axis,
            )
            for across, axis in _AXES.items()
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
    kind = draw.kind
    said = ["audit alone" if kind is None else kind.in_words(kind.drawn_short)]
    if draw.labels == "released":
        said.append(f"{draw.scheme}, as released")
    elif draw.scheme == "biased":
        said.append(f"by correlation (sharpness {draw.sharpness:g})")
    if draw.propensity_sd and not draw.judges:
        said.append(f"unequally (sd {draw.propensity_sd:g})")
    if draw.error_rate:
        said.append(f"{100 * draw.error_rate:.3g} % mistakes")
    said += draw.one_sided_mistakes
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
        marker, filled, hollow = _MARKERS[at % len(_MARKERS)]
        lines.append(Line(name, row, draws, series, marker, hollow if alone else filled))
    return sorted(lines, key=lambda line: line.series == 0)


def _references(summary: Summary, dataset: str, rows: Sequence[str]) -> list[float]:
    """Return the means of rows that learn from true labels; they are the same for all draws."""
    means = {
        cell.row: cell.mean
        for cell in summary.cells
        if (cell.dataset, cell.metric) == (dataset, CRITERION) and cell.row in rows
    }
    return list(means.values())


def _curves_chart(
    drawn: Sequence[tuple[Line, Points]], references: Sequence[float], dataset: str, axis: str
) -> Chart:
    """Return a chart of lines over a logarithmic axis, with dashed lines for references."""

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, f"{dataset}: average precision", axis)
        ends = [x for _, points in drawn for x, _ in points]
        for line, points in drawn:
            colour = INK if line.series == 0 else SERIES[line.series - 1]
            filled = colour if line.series else "none"
            look: dict[str, Any] = {"marker": line.marker, "markersize": 5, "linewidth": 1.5}
            xs, means = [x for x, _ in points], [mean for _, mean in points]
            axes.plot(xs, means, color=colour, markerfacecolor=filled, **look)
        for mean in references:
            axes.axhline(mean, color=INK, alpha=0.5, linewidth=1, linestyle=(0, (4, 3)))
        if ends:
            _charts.with_logarithmic_axis(axes, min(ends) / 1.3, max(ends) * 1.3)
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.8)
        axes.locator_params(axis="y", nbins=6)

    said = "; ".join(
        f"{line.name}: " + ", ".join(f"{number(mean)} at {quantity(x)}" for x, mean in points)
        for line, points in drawn
        if points
    )
    title = METRICS[CRITERION].title
    return Chart(dataset, f"{title} on {dataset} against {axis}. {said}", _SIZE, draw)


def _points(summary: Summary, line: Line, dataset: str, across: str) -> Points:
    places = [(draw, dataset, line.row) for draw in line.draws]
    known = [point for point in summary.answers if point.place in places]
    return sorted((float(getattr(point, across)), point.mean) for point in known)


def time_charts(summary: Summary) -> AnswerCharts | None:
    """Choose the charts of yes/no answers beside all labels ticked, at several ratios of times."""
    shown = [
        ticking
        for ticking in summary.ticking
        if (ticking.row, ticking.question) == (summary.study.reference, "ticked")
    ]
    if not shown:
        return None
    ticked = [f"all labels ticked, in {ratio:g} times the time" for ratio in RATIOS]
    ways = ["asked yes/no", *ticked]
    lines = []
    for series, (way, markers) in enumerate(zip(ways, _MARKERS, strict=True), start=1):
        lines.append(Line(way, "", (), series, markers[0], markers[1]))
    outside = [row.title for row in summary.rows if row.learns_from == "relevant"]
    charts = []
    for ticking in shown:
        curves: list[Points] = [ticking.asked]
        curves += [[(ratio * x, mean) for x, mean in ticking.ticked] for ratio in RATIOS]
        drawn = list(zip(lines, curves, strict=True))
        references = _references(summary, ticking.dataset, outside)
        charts.append(_curves_chart(drawn, references, ticking.dataset, _TIME))
    return AnswerCharts("", lines, outside, charts)
