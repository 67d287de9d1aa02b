"""`complabel study` and `complabel reproduce`: run what a store lacks, show and write results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from complabel.cli import _options as options
from complabel.cli._console import command, complain, duration, errors, new_table, save, say, show
from complabel.cli._outputs import Output, claim_folder, claim_store

if TYPE_CHECKING:
    from complabel.studies import Plan, RunSummary, StudyResults, Unit

# A dry run prints a line for each of this many draws; how-to-ask has over 30.
_MOST_DRAWS = 5


@options.with_examples(
    "study run mine.toml --dry-run",
    "study run mine.toml --jobs 4",
    "study run table2 --data-dir data --quick",
)
def run(
    plan: Annotated[
        str,
        options.argument(
            "PLAN",
            "A TOML file, or the name of a plan that comes with complabel: table2, table3,"
            " table4, table5, table6, comrank, how-to-ask, more-labels or some-relevant.",
            autocompletion=options.complete_plan,
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
    from complabel.cli import _running as running

    checked = _find_plan(plan, quick=quick, data_dir=data_dir)
    if dry_run:
        _show_forecast(_show_plan(checked, data_dir), store, jobs)
        return
    _run_plan(checked, store, data_dir, jobs, dask=dask, retry_failed=retry_failed)
    results = _opened_results(store, checked.name)
    running.show_outcome(results)
    _stop_if_failed(results, store)
    say(f"next: {command('study', 'report', checked.name, store=options.at(store))}")


@options.with_examples(
    "reproduce table2 --data-dir data", "reproduce table2 --data-dir data --quick"
)
def reproduce(
    table: Annotated[
        str,
        options.argument(
            "TABLE",
            "Table of the paper: table2, table3, table4, table5 or table6.",
            autocompletion=options.complete_table,
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
    from complabel.cli import _running as running
    from complabel.errors import InputError
    from complabel.paper import TABLES

    if table not in TABLES:
        raise InputError(f"there is no plan for {table!r}; choose one of {', '.join(TABLES)}")
    plan = _find_plan(table, quick=quick, data_dir=data_dir)
    folder = _claim_report(plan.name, folder)
    _run_plan(plan, store, data_dir, jobs, dask=dask, retry_failed=retry_failed)
    results = _opened_results(store, plan.name)
    running.show_outcome(results)
    _write_reports(results, folder)
    _stop_if_failed(results, store)


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
    from complabel.cli import _running as running
    from complabel.studies import plan_units

    units, missing = plan_units(plan, data_dir=data_dir)
    table = new_table(f"{plan.name}: {len(units)} units", "row", "method", "settings")
    for row in plan.expanded_rows():
        told = {
            f" + {row.relevant_per_row} relevant per row": row.relevant_per_row,
            f" + {row.relevant_share:.0%} of the relevant": row.relevant_share,
            " + the true label frequencies": row.label_frequencies,
            " + matched to label frequencies": row.match_frequencies,
        }
        settings = ", ".join(f"{name}={value!r}" for name, value in row.settings.items())
        settings += "".join(text for text, is_so in told.items() if is_so)
        table.add_row(Text(row.title), Text(row.method), Text(settings.lstrip()))
    show(table)
    at_hand = [name for name in plan.datasets if name not in missing]
    say(f"on {', '.join(at_hand) or 'no dataset'}; {plan.folds} folds, seed {plan.seed}")
    _show_draws(plan)
    running.say_missing(missing)
    return units


def _show_draws(plan: Plan) -> None:
    n_draws = len(plan.draws)
    say("1 draw:" if n_draws == 1 else f"{n_draws} draws:")
    for draw in plan.draws[:_MOST_DRAWS]:
        say(f"  {draw.name}: {plan.title_of(draw)}")
    if n_draws > _MOST_DRAWS:
        say(f"  and {n_draws - _MOST_DRAWS} more")


def _show_forecast(units: list[Unit], path: Path, jobs: int) -> None:
    import joblib

    from complabel.cli._running import said_forecast
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


@options.with_examples("study status", "study status benchmark-mine-1a2b3c4d")
def status(study_name: options.StudyName = None, store: options.StorePath = options.STORE) -> None:
    """Show how many units are done, failed and still to do, and which run writes the store."""
    from complabel.cli import _running as running

    results = _opened_results(store, study_name)
    say(
        f"{results.plan.name}: {len(results.having('done'))} of {len(results.units)} units done,"
        f" {len(results.having('failed'))} failed"
    )
    if results.writer:
        say(f"a run writes {store} now: {results.writer}")
    show(_table(results))
    running.say_missing(results.missing)
    running.say_failed(results)


@options.with_examples("study report", "study report mine --output report")
def report(
    study_name: options.StudyName = None,
    store: options.StorePath = options.STORE,
    folder: options.ReportFolder = None,
) -> None:
    """Write a study's report: a web page, and its tables as Markdown, LaTeX and CSV."""
    results = _opened_results(store, study_name, with_criteria=True)
    _write_reports(results, _claim_report(results.plan.name, folder))


@options.with_examples("study export folds.csv", "study export folds.json --study mine")
def export(
    file: Annotated[
        Path, options.argument("FILE", "File to write: .csv or .json."), Output((".csv", ".json"))
    ],
    study_name: Annotated[
        str | None, options.option("STUDY", "Name of the study. [default: the latest]", "--study")
    ] = None,
    store: options.StorePath = options.STORE,
) -> None:
    """Write the results of every fold: one line for each (CSV), or all details (JSON)."""
    from complabel.reports import results_csv

    as_json = file.suffix.lower() == ".json"
    results = _opened_results(store, study_name, with_criteria=not as_json)
    save(file, results.as_json() if as_json else results_csv(results))


def _table(results: StudyResults) -> Table:
    columns = list(dict.fromkeys((unit.dataset, unit.draw) for unit in results.units))
    table = new_table("", "", numbers=(f"{dataset}\n{draw}" for dataset, draw in columns))
    for row in dict.fromkeys(unit.row for unit in results.units):
        cells = []
        for column in columns:
            units = [u for u in results.units if (u.row, u.dataset, u.draw) == (row, *column)]
            n_done = sum(unit.status == "done" for unit in units)
            n_failed = sum(unit.status == "failed" for unit in units)
            failed = f" [red]{n_failed} failed[/red]" if n_failed else ""
            cells.append(f"{n_done}/{len(units)}{failed}")
        table.add_row(Text(row), *cells)
    return table


def _run_plan(plan: Plan, path: Path, data_dir: Path | None, jobs: int, **how: Any) -> None:
    from complabel.cli import _running as running
    from complabel.studies import Store, run_study

    claim_store(path)
    with Store(path) as store, running.watched(plan.name, path, store) as progress:
        summary = run_study(plan, store, data_dir=data_dir, n_jobs=jobs, monitor=progress, **how)
    running.say_missing(summary.missing)
    _say_done(plan.name, summary, path)


def _say_done(name: str, summary: RunSummary, store: Path) -> None:
    ran = f"{name}: ran {summary.n_ran} of {summary.n_units} units"
    remarks = [ran, f"in {duration(summary.seconds)}"]
    if summary.n_failed:
        remarks.append(f"{summary.n_failed} failed")
    if summary.n_by_other_code:
        remarks.append(
            f"{summary.n_by_other_code} older results in {store} were not used: other code or"
            " versions made them"
        )
    say(", ".join(remarks))


def _stop_if_failed(results: StudyResults, path: Path) -> None:
    """If units failed, in this run or before, say which and what to do, and exit 1."""
    from complabel.cli import _running as running

    failed = results.having("failed")
    if not failed:
        return
    running.say_failed(results)
    name = results.plan.name
    if results.plan.criteria:
        shown = command("study", "report", name, store=options.at(path))
    else:
        shown = command("study", "export", f"{name}.json", study=name, store=options.at(path))
    complain(
        f"{len(failed)} of {len(results.units)} units failed. Their tracebacks: {shown}. To run"
        " them again, add --retry-failed to this command"
    )
    raise typer.Exit(1)


def _opened_results(path: Path, name: str | None, *, with_criteria: bool = False) -> StudyResults:
    """Return the results of a study in a store, by default of the latest.

    With ``with_criteria``, a study without criteria is refused, such as a search by ``tune``.
    """
    from complabel.errors import InputError, StoreError
    from complabel.studies import Store

    with Store(path, create=False) as store:
        names = [name] if name else store.studies()
        if not names:
            raise StoreError(f"{path} holds no study yet; run one with: complabel study run PLAN")
        results = store.results(names[0])
    if with_criteria and not results.plan.criteria:
        raise InputError(
            f"{names[0]} has scores but no criteria on true labels: it is a search by complabel"
            " tune, or its data have no true labels; give the command that made it to see the"
            " scores again, or write them to a .json file with study export"
        )
    return results


def _claim_report(name: str, folder: Path | None) -> Path:
    """Return the folder for a study's report, if it can be written there and nothing is lost."""
    from complabel.reports import FORMATS

    folder = folder or Path(f"{name}-report")
    claim_folder(folder, [*FORMATS])
    return folder


def _write_reports(results: StudyResults, folder: Path) -> None:
    from complabel.reports import write_report

    with errors().status("drawing the report"):
        paths = write_report(results, folder)
    for path in paths:
        say(f"wrote {path}")
    say(f"next: open {paths[0]} in a browser")
