"""`complabel study run` and `complabel reproduce`: run the units that a store lacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._completion import complete_plan, complete_table
from complabel.cli._console import new_table, say, show
from complabel.cli._help import with_examples
from complabel.cli._next import command
from complabel.cli._outcome import show_outcome
from complabel.cli._running import (
    at,
    claim_report,
    opened_results,
    run_plan,
    say_missing,
    stop_if_failed,
    write_reports,
)

if TYPE_CHECKING:
    from complabel.studies import Plan, Unit

# A dry run prints a line for each of this many draws; how-to-ask has over 30.
_MOST_DRAWS = 5


@with_examples(
    "study run mine.toml --dry-run",
    "study run mine.toml --jobs 4",
    "study run table2 --data-dir data --quick",
)
def run(
    plan: Annotated[
        str,
        typer.Argument(
            metavar="PLAN",
            help="A TOML file, or the name of a plan that comes with complabel: table2, table3,"
            " table4, table5, table6, comrank, how-to-ask, more-labels or some-relevant.",
            autocompletion=complete_plan,
        ),
    ],
    store: options.StorePath = options.STORE,
    data_dir: options.DataDir = None,
    jobs: options.Jobs = -1,
    dask: options.Dask = None,
    retry_failed: options.RetryFailed = False,
    quick: options.Quick = False,
    dry_run: Annotated[
        bool, typer.Option(help="Only show what would run, and how long it may take.")
    ] = False,
) -> None:
    """Run all units of a plan that are not in the store yet.

    A unit is one fold of one method on one dataset and draw. After an interruption, the same
    command continues where it stopped.
    """
    checked = _find_plan(plan, quick=quick, data_dir=data_dir)
    if dry_run:
        _show_forecast(_show_plan(checked, data_dir), store, jobs)
        return
    run_plan(checked, store, data_dir, jobs, dask=dask, retry_failed=retry_failed)
    results = opened_results(store, checked.name)
    show_outcome(results)
    stop_if_failed(results, store)
    say(f"next: {command('study', 'report', checked.name, store=at(store))}")


@with_examples("reproduce table2 --data-dir data", "reproduce table2 --data-dir data --quick")
def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Table of the paper: table2, table3, table4, table5 or table6.",
            autocompletion=complete_table,
        ),
    ],
    store: options.StorePath = options.STORE,
    data_dir: options.DataDir = None,
    jobs: options.Jobs = -1,
    dask: options.Dask = None,
    retry_failed: options.RetryFailed = False,
    quick: options.Quick = False,
    folder: options.ReportFolder = None,
) -> None:
    """Reproduce a table of the paper: run its plan, then write the report."""
    from complabel.errors import InputError
    from complabel.paper import TABLES

    if table not in TABLES:
        raise InputError(f"there is no plan for {table!r}; choose one of {', '.join(TABLES)}")
    plan = _find_plan(table, quick=quick, data_dir=data_dir)
    folder = claim_report(plan.name, folder)
    run_plan(plan, store, data_dir, jobs, dask=dask, retry_failed=retry_failed)
    results = opened_results(store, plan.name)
    show_outcome(results)
    write_reports(results, folder)
    stop_if_failed(results, store)


def _find_plan(name: str, *, quick: bool, data_dir: Path | None) -> Plan:
    """Read a plan; with ``quick``, cut it down to datasets that are at hand."""
    from complabel.datasets import describe_datasets
    from complabel.studies import read_plan

    plan = read_plan(name)
    if not quick:
        return plan
    return plan.quick([e["name"] for e in describe_datasets(data_dir) if e["available"]])


def _show_plan(plan: Plan, data_dir: Path | None) -> list[Unit]:
    """Print what a plan would run, and return its units."""
    from rich.text import Text

    from complabel.studies import plan_units

    units, missing = plan_units(plan, data_dir=data_dir)
    table = new_table(f"{plan.name}: {len(units)} units", "row", "method", "settings")
    for row in plan.expanded_rows():
        settings = ", ".join(f"{name}={value!r}" for name, value in row.settings.items())
        if row.relevant_per_row:
            settings = f"{settings} + {row.relevant_per_row} relevant per row".lstrip()
        if row.relevant_share:
            settings = f"{settings} + {row.relevant_share:.0%} of the relevant".lstrip()
        if row.label_frequencies:
            settings = f"{settings} + the true label frequencies".lstrip()
        if row.match_frequencies:
            settings = f"{settings} + matched to label frequencies".lstrip()
        table.add_row(Text(row.title), Text(row.method), Text(settings))
    show(table)
    at_hand = [name for name in plan.datasets if name not in missing]
    say(f"on {', '.join(at_hand) or 'no dataset'}; {plan.folds} folds, seed {plan.seed}")
    _show_draws(plan)
    say_missing(missing)
    return units


def _show_draws(plan: Plan) -> None:
    """Print the draws of a plan, a line for each of the first ones."""
    n_draws = len(plan.draws)
    say("1 draw:" if n_draws == 1 else f"{n_draws} draws:")
    for draw in plan.draws[:_MOST_DRAWS]:
        say(f"  {draw.name}: {plan.title_of(draw)}")
    if n_draws > _MOST_DRAWS:
        say(f"  and {n_draws - _MOST_DRAWS} more")


def _show_forecast(units: list[Unit], path: Path, jobs: int) -> None:
    """Print how many units are in the store, and how long the others may take."""
    import joblib

    from complabel.cli._progress import said_forecast
    from complabel.studies import Forecast, Store, forecast

    distinct = {unit.key: unit for unit in units}
    n_jobs = jobs if jobs > 0 else joblib.cpu_count()
    if not path.is_file():
        say(said_forecast(Forecast(len(distinct), 0, 0.0), n_jobs))
        return
    with Store(path, create=False) as store:
        finished = store.statuses([*distinct])
        todo = [unit for key, unit in distinct.items() if key not in finished]
        if finished:
            say(f"{len(finished)} of {len(distinct)} units are already in {path}")
        if todo:
            say(said_forecast(forecast(store, todo), n_jobs))
