"""The sections of a study's report: texts, tables and charts, the same for each form of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from complabel.experiments.reports import _charts
from complabel.experiments.reports._asking import (
    Ticking,
    asked_points,
    complete,
    tickings,
    way_of_asking,
)
from complabel.experiments.reports._libraries import pandas
from complabel.experiments.reports._summary import CRITERION, Summary
from complabel.metrics import METRICS
from complabel.reports import MINUS, Chart, ahead, number

if TYPE_CHECKING:
    from complabel.experiments.reports._libraries import DataFrame, Series

DAGGER = "†"
FAR = 2.0
"""A difference counts if it is larger than this many published standard deviations."""

_MARKS = {"better": "▼", "worse": "▲"}  # if the reference row is better than the row, or worse
_MATRICES = {
    "initial_transition_": "S, transition, as first estimated",
    "label_correlation_": "C, which labels stay possible together",
    "transition_": "T, transition, corrected",
}
_NOT_SETTINGS = {"random_state", "callback"}  # set for each fold; the second is no setting
_TICKING = (
    "How many times as long as one yes or no a form with labels to tick may take, so that at equal"
    " time it is as good as one yes or no for each item. This is one over the share of the items"
    " whose forms reach the same average precision, interpolated in the logarithm of the share. If"
    " your people need less, let them tick."
)
_EQUAL_TIME = (
    "Average precision of ticking minus that of yes/no answers, in the time of so many yes/no"
    " answers for each item as the head of a column says: + if ticking is ahead. Each line says how"
    " many times as long as one yes or no ticking all labels of an item takes; a form with fewer"
    " labels takes less, in proportion. n/a: the time is too short for the least that was ticked."
)


@dataclass(frozen=True)
class Table:
    """A table of texts, where NaN is a figure that there is not; ``bold`` marks the best."""

    caption: str
    cells: DataFrame
    bold: DataFrame | None = None

    @property
    def best(self) -> DataFrame:
        """Where a figure is the best."""
        nowhere = self.cells.map(lambda _: False)
        return nowhere if self.bold is None else self.bold


@dataclass(frozen=True)
class Section:
    """A part of the report under a heading."""

    title: str
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = field(default=(), repr=False)


def sections(summary: Summary) -> list[Section]:
    """Return the sections of a report that have something to show."""
    every = (
        _results(summary),
        _what_answers_cost(summary),
        _ticking(summary),
        _standing(summary),
        _ranks(summary),
        _curves(summary),
        _matrices(summary),
        _costs(summary),
        _made(summary),
    )
    return [section for section in every if section.notes or section.tables or section.charts]


def headline(summary: Summary) -> str:
    """Return the main result in a sentence or two: beside the paper, or the best rows."""
    gains = summary.cells["advantage"].dropna()
    if len(gains):
        near, better = (gains.abs() <= FAR).sum(), (gains > FAR).sum()
        return (
            f"The paper printed {len(gains)} of these figures. {near} of ours are within {FAR:g} of"
            f" its standard deviations; {better} are better than that, and"
            f" {len(gains) - near - better} are worse."
        )
    cells = complete(summary)
    if summary.has_many_draws:
        of_reference = cells[cells["row"] == summary.reference].groupby("dataset", sort=False)
        ends = (
            (name, part.loc[part["mean"].idxmin()], part.loc[part["mean"].idxmax()])
            for name, part in of_reference
        )
        spans = [
            f"on {name} from {number(low['mean'])} ({low['draw']}) to {number(high['mean'])}"
            f" ({high['draw']})"
            for name, low, high in ends
        ]
        if spans:
            return (
                f"The average precision of {summary.reference} depends on how people are asked:"
                f" {'; '.join(spans)}."
            )
    best = cells[cells["best"]].groupby(["draw", "dataset"], sort=False)["row"].agg(" and ".join)
    if len(best):
        several = len(summary.draws) > 1
        each = [
            f"{rows} on {dataset}" + f" (draw {draw})" * several
            for (draw, dataset), rows in best.items()
        ]
        return f"The best by average precision: {'; '.join(each)}."
    rows = list(dict.fromkeys(cells["row"]))
    if not rows:
        return "No method is complete yet."
    return (
        f"Complete so far: {', '.join(rows)}. A comparison needs two methods without {DAGGER} that"
        " are complete on the same dataset."
    )


def notes_on_gaps(summary: Summary) -> list[str]:
    """Return a sentence for each kind of result that is missing."""
    gaps = [f"Dataset {name} is not in this report: {x}" for name, x in summary.missing.items()]
    status = summary.folds.get("status", ())
    for kind, what in (("failed", "failed"), ("pending", "had not been run")):
        if count := sum(each == kind for each in status):
            gaps.append(f"{count} of {len(summary.folds)} units {what}.")
    return gaps


def title_of(summary: Summary, row: str) -> str:
    """Return a row's title, with a dagger if it does not compete."""
    return row if summary.rows[row].learns_from == "complementary" else f"{row} {DAGGER}"


def _arranged(frame: DataFrame, values: Series, lines: str, columns: str) -> DataFrame:
    """Arrange values of a frame as a table, whose lines and columns are those of the frame."""
    return _wide(values.set_axis(pandas().MultiIndex.from_frame(frame[[lines, columns]])))


def _wide(values: Series) -> DataFrame:
    """Return a table of values by line and column, in the order in which they stand there."""
    lines, columns = (values.index.get_level_values(level).unique() for level in (0, 1))
    # Some versions of pandas confuse values where ``unstack`` is told not to sort.
    wide = values.unstack().reindex(lines, columns=columns)
    return wide.rename_axis(index=None, columns=None)


def _results(summary: Summary) -> Section:
    cells = summary.cells
    if not len(cells):
        return Section("Results", ["No unit of this study is done."])
    texts = cells.apply(_text_of, axis=1, n_folds=summary.plan.folds)
    many = summary.has_many_draws
    by, lines, columns = ("dataset", "draw", "row") if many else ("draw", "row", "dataset")
    tables = []
    # With many draws, average precision comes first.
    metrics = sorted(METRICS, key=lambda name: many and name != CRITERION)
    for metric, name in itertools.product(metrics, dict.fromkeys(cells[by])):
        here = cells[(cells["metric"] == metric) & (cells[by] == name)]
        better = f"{'higher' if METRICS[metric].higher_is_better else 'lower'} is better"
        what = f"{METRICS[metric].title} on {name}" if many else METRICS[metric].title
        caption = f"{what} ({better})" if many else f"{what}, {summary.labels_of(name)} ({better})"
        shown, bold = (
            _arranged(here, each.loc[here.index], lines, columns) for each in (texts, cells["best"])
        )
        tables.append(Table(caption, *_renamed(summary, shown, bold.eq(True))))
    precision = cells[cells["metric"] == CRITERION]
    charts = [
        _charts.bar_chart(part, summary.reference, f"{dataset}, {draw}: average precision")
        for (draw, dataset), part in precision.groupby(["draw", "dataset"], sort=False)
        if not many
    ]
    return Section("Results", _how_to_read(summary), tables, charts)


def _text_of(cell: Series, n_folds: int) -> str:
    """Return a figure with its deviation, the mark of its tests, and the paper's figure."""
    text = number(cell["mean"])
    if cell["std"] == cell["std"]:
        text += f"±{number(cell['std'])}"
    if mark := _MARKS.get(cell["plain"]):
        text += f" {mark}" if cell["plain"] == cell["corrected"] else f" ({mark})"
    if cell["folds"] < n_folds:
        text += f" [{cell['folds']} of {n_folds} folds]"
    if cell["published"] == cell["published"]:
        printed = f"({number(cell['published'])}±{number(cell['published_std'])})"
        gain = f"{round(cell['advantage'], 1) + 0.0:+.1f}".replace("-", MINUS)
        text += f"\n{printed} {gain}"
    return text


def _renamed(summary: Summary, *frames: DataFrame) -> Iterator[DataFrame]:
    """Mark the rows that do not compete, wherever a frame names them."""
    names = {row: title_of(summary, row) for row in summary.rows}
    for frame in frames:
        yield frame.rename(index=names, columns=names)


def _how_to_read(summary: Summary) -> list[str]:
    plan, cells = summary.plan, summary.cells
    notes = [
        f"Mean ± sample standard deviation over {plan.folds} folds of a cross-validation, seed"
        f" {plan.seed}. Bold: the best of the rows that learn from complementary labels and are"
        " complete.",
        f"{_MARKS['better']}: worse than {summary.reference}; {_MARKS['worse']}: better than"
        f" {summary.reference}, by a paired t-test over the folds at the 5 % level. Brackets: the"
        " corrected resampled t-test, which allows for overlapping training sets, does not agree.",
    ]
    if summary.has_many_draws:
        notes.insert(0, "Each line is a draw, that is, a way of asking. Each column is a method.")
    if cells["published"].notna().any():
        notes.append(
            "In brackets below our figure: the figure in the paper's Table"
            f" {plan.published.removeprefix('table')} (ten folds), then how many published standard"
            f" deviations ours is better (+) or worse ({MINUS})."
        )
    kinds = {row.learns_from for row in summary.rows.values()}
    told = {"relevant": "learns from true labels", "frequencies": "is told label frequencies"}
    if known := [text for kind, text in told.items() if kind in kinds]:
        notes.append(f"{DAGGER} {', or '.join(known)}: out of competition.")
    return notes


def _what_answers_cost(summary: Summary) -> Section:
    points = asked_points(summary)
    if not len(points):
        return Section("Answers and minutes")
    once = points.drop_duplicates(["draw", "dataset"])
    texts = once.apply(lambda x: f"{x['answers']:,} answers, {x['minutes']:.3g} min", axis=1)
    table = Table("Answers about a training part", _arranged(once, texts, "draw", "dataset"))
    seconds = summary.plan.seconds
    note = (
        "Minutes rest on the seconds of other people, or on those that the plan gives:"
        f" {seconds.named:g} s to name a label freely, {seconds.menu:g} s to name a label from a"
        f" menu, {seconds.asked:.3g} s for a yes or no, {seconds.judged:.2g} s for each further"
        " label on a form to tick. Yours may need others."
    )
    ways = points["draw"].map({name: way_of_asking(d) for name, d in summary.draws.items()})
    charts = []
    for (row, dataset), part in points.groupby(["row", "dataset"], sort=False):
        if row == summary.reference:
            lines = {
                way: (ordered["answers"], ordered["mean"])
                for way, each in part.groupby(ways)
                if len(ordered := each.sort_values("answers")) > 1
            }
            title = f"{dataset}: average precision of {row}"
            charts.append(_charts.line_chart(lines, title, "answers", logarithmic=True))
    return Section("Answers and minutes", [note], [table], charts)


def _ticking(summary: Summary) -> Section:
    pairs = [*tickings(summary)]
    if not pairs:
        return Section("At equal time")
    several = len({pair.draw for pair in pairs}) > 1
    frame = pandas().DataFrame(
        [(f"{p.row}: {_form_of(p, several=several)}", p.dataset) for p in pairs],
        columns=["form", "dataset"],
    )
    bounds = pandas().Series([f"{p.break_even[1]} {p.break_even[0]:.2g}".strip() for p in pairs])
    evens = _arranged(frame, bounds, "form", "dataset")
    tables = [Table("How long ticking may take", evens)]
    for pair in pairs:
        if pair.row == summary.reference:
            lines = {
                f"{ratio:.3g} ×" + ", from the seconds" * (at == len(pair.ahead) - 1): gains  # noqa: RUF001
                for at, (ratio, gains) in enumerate(pair.ahead)
            }
            texts = {line: [ahead(gain) for gain in gains] for line, gains in lines.items()}
            columns = [f"{amount:g}" for amount, _ in pair.asked]
            at_once = pandas().DataFrame.from_dict(texts, orient="index", columns=columns)
            form = _form_of(pair, several=several)
            tables.append(Table(f"At equal time on {pair.dataset}: {form}", at_once))
    return Section("At equal time", [_TICKING, _EQUAL_TIME], tables)


def _form_of(pair: Ticking, *, several: bool) -> str:
    which = "all" if pair.question == "ticked" else pair.question.replace("ticked-", "") + " random"
    return f"{which} labels ticked" + f", beside {pair.draw}" * several


def _standing(summary: Summary) -> Section:
    wins = summary.wins
    if not len(wins):
        return Section("Wins and losses")
    note = (
        "Counts over all datasets and criteria: how often the reference row is better / not"
        " different / worse than a row, at the 5 % level. The corrected test allows for the overlap"
        " of the folds' training sets. The plain test, which the paper used, finds more differences"
        " than there are."
    )
    texts = wins.astype(str).agg(" / ".join, axis=1)
    tests = {"plain": "paired t-test", "corrected": "corrected t-test"}
    tables = []
    if summary.has_many_draws:
        shown = _wide(texts.xs("corrected", level="test"))
        caption = f"{summary.reference} against each method, corrected t-test"
        tables.append(Table(caption, *_renamed(summary, shown)))
    else:
        for draw in dict.fromkeys(wins.index.get_level_values("draw")):
            shown = _wide(texts.xs(draw)).rename(columns=tests)
            caption = f"{summary.reference} against each row, {summary.labels_of(draw)}"
            tables.append(Table(caption, *_renamed(summary, shown)))
    return Section("Wins and losses", [note], tables)


def _ranks(summary: Summary) -> Section:
    notes: list[str] = []
    tables: list[Table] = []
    charts: list[Chart] = []
    for draw in () if summary.has_many_draws else summary.draws:
        here = [ranking for ranking in summary.rankings if ranking.draw == draw]
        tested = [ranking for ranking in here if not ranking.reason]
        notes += [reason for ranking in here if (reason := ranking.reason)]
        if not tested:
            continue
        titles = [METRICS[ranking.metric].title for ranking in tested]
        ranks = pandas().concat([ranking.ranks for ranking in tested], axis=1, keys=titles)
        shown = ranks.map("{:.2f}".format).rename_axis(index=None)
        shown.loc["Friedman's p"] = [_p_value(ranking.friedman) for ranking in tested]
        bold = ranks.eq(ranks.min()).reindex(shown.index, fill_value=False)
        first = tested[0]
        caption = (
            f"Average ranks, {summary.labels_of(draw)}, on {', '.join(first.datasets)}; 1 is best."
            f" Ranks closer than {first.difference:.2f} (Nemenyi, 5 % level) do not differ"
        )
        if first.left_out:
            caption += f". Left out, as not complete: {', '.join(first.left_out)}"
        tables.append(Table(caption, shown, bold))
        charts += map(_charts.rank_chart, tested)
    if charts:
        notes.append("Bars connect methods whose ranks do not differ.")
    return Section("Average ranks", list(dict.fromkeys(notes)), tables, charts)


def _p_value(value: float | None) -> str:
    return "n/a" if value is None else "< 0.001" if value < 0.001 else number(value)


def _curves(summary: Summary) -> Section:
    """Show the mean training loss of each epoch in the first fold; with many draws, of one."""
    first = next(iter(summary.draws))
    units = [unit for unit in summary.units if unit.details.get("curves")]
    charts = [
        _charts.line_chart({stage: (range(1, len(losses) + 1), losses)}, title, f"epoch of {stage}")
        for unit in units
        if unit.draw == first or not summary.has_many_draws
        for title in [f"{unit.row} on {unit.dataset}, {unit.draw}"]
        for stage, losses in unit.details["curves"].items()
    ]
    told = "Training loss in the first fold. Methods minimize different losses: compare the shapes."
    return Section("Learning curves", [told] if charts else [], charts=charts)


def _matrices(summary: Summary) -> Section:
    """Show S, C and T of the first fold and of the first row of each method."""
    first: dict[tuple[str, str], Any] = {}
    for unit in summary.units:
        if unit.details.get("matrices") and unit.draw == next(iter(summary.draws)):
            first.setdefault((unit.dataset, unit.method), unit)
    charts, notes = [], []
    for unit in first.values():
        matrices: Mapping[str, Any] = unit.details["matrices"]
        names = enumerate(unit.details["label_names"], start=1)
        listed = ", ".join(f"{at} {name}" for at, name in names)
        notes.append(f"Labels of {unit.dataset}: {listed}.")
        for name, title in _MATRICES.items():
            if name in matrices:
                both = ("label", "label") if title[0] == "C" else ("relevant", "complementary")
                shown = f"{title}: {unit.row} on {unit.dataset}"
                charts.append(_charts.heat_map(matrices[name], shown, both))
    return Section("Matrices over labels", list(dict.fromkeys(notes)), charts=charts)


def _costs(summary: Summary) -> Section:
    costs = summary.costs.reset_index()
    if not len(costs):
        return Section("Cost")
    note = (
        "Mean seconds to fit + to predict a fold, and the peak memory in MB (1e6 bytes), with the"
        " interpreter and the data."
    )
    tables = []
    for draw, part in costs.groupby("draw", sort=False):
        texts = part.apply(
            lambda x: (
                f"{x['fit_seconds']:.2g} + {x['predict_seconds']:.2g} s\n"
                f"{x['peak_memory_mb']:.4g} MB"
            ),
            axis=1,
        )
        shown = _arranged(part, texts, "row", "dataset")
        tables.append(Table(summary.labels_of(draw), *_renamed(summary, shown)))
    return Section("Cost", [note], tables)


def _made(summary: Summary) -> Section:
    plan = summary.plan
    notes = [
        f"{plan.folds}-fold cross-validation, seed {plan.seed} for draws, folds and methods. Labels"
        " and answers are drawn once per dataset, before it is split into folds. True labels of"
        f" training instances never reach a method, except in rows marked {DAGGER}, as answers of"
        " an audit, and as relevant labels that a row is told.",
        *(f"Draw {draw.name}: {plan.title_of(draw)}." for draw in plan.draws),
    ]
    done = {unit.row: unit for unit in summary.units if unit.status == "done"}
    settings = {
        title: {k: v for k, v in done[title].parameters.items() if k not in _NOT_SETTINGS}
        for title in summary.rows
        if title in done
    }
    texts = {row: ", ".join(f"{k} = {v}" for k, v in own.items()) for row, own in settings.items()}
    shown = pandas().DataFrame({"parameters": texts}, dtype=object)
    caption = "Parameters of each row, on the last dataset that it ran on"
    tables = [Table(caption, *_renamed(summary, shown))] if settings else []
    machines = {tuple(unit.machine.items()) for unit in done.values() if unit.machine}
    notes += [", ".join(f"{k} {v}" for k, v in machine) for machine in sorted(machines)]
    return Section("How it was made", notes, tables)
