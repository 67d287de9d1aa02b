"""A run of a plan on the terminal: its progress, what failed, and the result."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Self

from rich import progress
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from complabel.cli._console import (
    LOG_SECONDS,
    complain,
    duration,
    errors,
    new_table,
    output,
    remark,
    say,
)
from complabel.studies import Forecast, Monitor, Outcome, Unit, forecast

if TYPE_CHECKING:
    from complabel.reports import Summary
    from complabel.studies import Store, StudyResults

_CRITERION = "average_precision"
_NONE = "n/a"
_PARTIAL = " *"


@contextlib.contextmanager
def watched(name: str, store: Path, opened: Store | None = None) -> Iterator[Progress]:
    """Show progress inside the block; on Ctrl-C, say how to continue.

    With ``opened``, the expected time is shown, too.
    """
    try:
        with Progress(name, opened) as progress:
            yield progress
    except KeyboardInterrupt:
        remark(
            f"stopped; finished units are safe in {store}: give the same command again to continue"
        )
        raise


class Progress(Monitor):
    """Shows a run on standard error; times in a store give a forecast."""

    def __init__(self, name: str, store: Store | None = None) -> None:
        self._name = name
        self._store = store
        self._seconds: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._running: dict[str, tuple[Unit, float]] = {}
        self._left: dict[str, Unit] = {}
        self._n_failed = 0
        self._n_jobs = 1
        self._logged = time.monotonic()
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("units"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[state]}"),
            auto_refresh=False,
        )
        self._task = self._bar.add_task(name, total=None, state="reading datasets")
        self._live = Live(
            get_renderable=self._display, console=errors(), transient=True, refresh_per_second=4
        )

    def __enter__(self) -> Self:
        if errors().is_terminal:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if errors().is_terminal:
            self._live.stop()

    def planned(self, units: list[Unit], todo: list[Unit], n_jobs: int) -> None:
        """Take the number of units and print the forecast."""
        self._n_jobs = n_jobs
        self._left = {unit.key: unit for unit in todo}
        self._bar.update(self._task, total=len(units), completed=len(units) - len(todo), state="")
        if len(todo) < len(units):
            before = f"{len(units) - len(todo)} of {len(units)} units are already in the store"
            remark(f"{self._name}: {before}{self._said_failed(units)}")
        if todo and self._store is not None:
            remark(f"{self._name}: {said_forecast(forecast(self._store, todo), n_jobs)}")

    def _said_failed(self, units: list[Unit]) -> str:
        """Return how many of the units that will not run failed before, as words."""
        if self._store is None:
            return ""
        known = self._store.statuses([unit.key for unit in units if unit.key not in self._left])
        n_failed = sum(status == "failed" for status in known.values())
        return f", {n_failed} of them failed" if n_failed else ""

    def started(self, unit: Unit) -> None:
        """Show a unit as running."""
        self._running[unit.key] = (unit, time.monotonic())

    def finished(self, unit: Unit, outcome: Outcome, seconds: float) -> None:
        """Count a unit; print a failure at once."""
        self._running.pop(unit.key, None)
        self._left.pop(unit.key, None)
        for likeness in _likenesses(unit):
            self._seconds[likeness].append(seconds)
        self._n_failed += bool(outcome.error)
        self._bar.update(self._task, advance=1)
        if outcome.error:
            complain(f"failed: {_describe(unit)}: {outcome.reason}")
        if not errors().is_terminal and time.monotonic() - self._logged > LOG_SECONDS:
            self._logged = time.monotonic()
            remark(self._state(unit))

    def _display(self) -> RenderableType:
        self._bar.update(self._task, state=", ".join(self._remarks()))
        table = Table.grid(padding=(0, 2))
        now = time.monotonic()
        for unit, since in list(self._running.values()):
            table.add_row("  running", Text(_describe(unit)), f"{now - since:.0f} s")
        return Group(self._bar, table)

    def _state(self, unit: Unit) -> str:
        task = self._bar.tasks[0]
        done = f"{self._name}: {task.completed:.0f} of {task.total:.0f} units"
        return ", ".join([done, *self._remarks(), f"last {_describe(unit)}"])

    def _remarks(self) -> list[str]:
        """Return the number of failures and the time left, as words."""
        remarks = [f"{self._n_failed} failed"] if self._n_failed else []
        if self._seconds:
            seconds = sum(map(self._expected, list(self._left.values()))) / self._n_jobs
            remarks.append(f"about {duration(seconds)} left")
        return remarks

    def _expected(self, unit: Unit) -> float:
        return fmean(
            next(self._seconds[like] for like in _likenesses(unit) if like in self._seconds)
        )


def _likenesses(unit: Unit) -> list[tuple[str, ...]]:
    """Return keys of similar units, the most similar first: row and dataset, row, any unit."""
    return [(unit.row.title, unit.dataset), (unit.row.title,), ()]


def said_forecast(expected: Forecast, n_jobs: int) -> str:
    """Return a sentence on the number of units to run and the expected time.

    Examples
    --------
    >>> said_forecast(Forecast(n_units=60, n_known=60, seconds=800.0), 2)
    '60 units to run, about 6.7 min with 2 jobs (estimated from the store)'
    """
    to_run = f"{expected.n_units} unit{'s' if expected.n_units != 1 else ''} to run"
    if not expected.n_known:
        return f"{to_run}; the time is unknown, as the store has no similar units"
    jobs = f"{n_jobs} job{'s' if n_jobs != 1 else ''}"
    took = f"about {duration(expected.seconds / n_jobs)} with {jobs} (estimated from the store)"
    if expected.n_known == expected.n_units:
        return f"{to_run}, {took}"
    left = expected.n_units - expected.n_known
    return f"{to_run}: {expected.n_known} of them {took}, and {left} of unknown time"


def _describe(unit: Unit) -> str:
    """Return a unit's dataset, draw, row and fold, as words."""
    return f"{unit.dataset}, {unit.draw.name}, {unit.row.title}, fold {unit.fold + 1}"


def say_missing(missing: Mapping[str, str]) -> None:
    """Print which datasets of a plan are missing, and why."""
    for name, reason in missing.items():
        remark(f"left out: {name}, {reason}", style="yellow")


def say_failed(results: StudyResults) -> None:
    """Print what failed and why, each reason once."""
    reasons = Counter((unit.dataset, unit.row, unit.reason) for unit in results.having("failed"))
    for (dataset, row, reason), count in reasons.items():
        complain(f"failed: {dataset}, {row}, {count} folds: {reason}")


def show_outcome(results: StudyResults) -> None:
    """Print average precision over finished folds; nothing if the study has no criteria."""
    from complabel.reports import headline, summarize_study

    if not (results.plan.criteria and results.having("done")):
        return
    summary = summarize_study(results)
    found = {
        cell.place: f"{cell.mean:.3f}" + _PARTIAL * (cell.folds < summary.study.folds)
        for cell in summary.cells
        if cell.metric == _CRITERION
    }
    for title, table in _tables(summary, found):
        say(title)
        output().print(table)
    if any(value.endswith(_PARTIAL) for value in found.values()):
        say("* not all folds are done")
    say(headline(summary))


def _tables(
    summary: Summary, found: Mapping[tuple[str, str, str], str]
) -> Iterator[tuple[str, Table]]:
    study = summary.study
    if study.has_many_draws:
        lines = {draw.name: (draw.name, study.reference) for draw in study.draws}
        title = f"Average precision of {study.reference}, by draw"
        yield title, _table("draw", summary.datasets, lines, found)
        return
    for draw in study.draws:
        lines = {row.title: (draw.name, row.title) for row in summary.rows}
        title = f"Average precision, {study.labels_of(draw.name)}"
        yield title, _table("method", summary.datasets, lines, found)


def _table(
    heading: str,
    datasets: Sequence[str],
    lines: Mapping[str, tuple[str, str]],
    found: Mapping[tuple[str, str, str], str],
) -> Table:
    table = new_table("", heading, numbers=datasets)
    for name, (draw, row) in lines.items():
        values = [found.get((draw, dataset, row), _NONE) for dataset in datasets]
        if set(values) != {_NONE}:
            table.add_row(Text(name), *values)
    return table
