"""`complabel study` and `complabel reproduce`: plan, run, look, report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from complabel.cli._console import errors, output

if TYPE_CHECKING:
    from rich.table import Table

    from complabel.studies import Plan, RunSummary, Store, StudyResults

study = typer.Typer(
    help="Run plans of datasets x draws x methods, resumably; report what came out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_STORE = Path("complabel-studies.sqlite")

StorePath = Annotated[Path, typer.Option("--store", help="File that keeps all results.")]
DataDir = Annotated[Path | None, typer.Option(help="Folder with dataset files.")]
Jobs = Annotated[int, typer.Option(help="Processes, one thread each; -1 for all cores.")]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on this Dask scheduler's workers instead."),
]
RetryFailed = Annotated[bool, typer.Option(help="Run again what failed before.")]
Quick = Annotated[bool, typer.Option(help="Three folds of the first two datasets at hand.")]
StudyName = Annotated[
    str | None, typer.Argument(metavar="[STUDY]", help="Its name. [default: the latest]")
]


@study.command()
def run(
    plan: Annotated[
        str,
        typer.Argument(
            metavar="PLAN", help="A TOML file, or table2 to table6, more-labels, some-relevant."
        ),
    ],
    store: StorePath = _STORE,
    data_dir: DataDir = None,
    jobs: Jobs = -1,
    dask: Dask = None,
    retry_failed: RetryFailed = False,
    quick: Quick = False,
    dry_run: Annotated[bool, typer.Option(help="Say what would run, and stop.")] = False,
) -> None:
    """Run what the store does not hold yet; run it again after any interruption."""
    checked = _find_plan(plan, quick=quick, data_dir=data_dir)
    if dry_run:
        _show_plan(checked, data_dir)
        return
    _run(checked, store, data_dir, jobs, dask, retry_failed)


@study.command()
def status(study_name: StudyName = None, store: StorePath = _STORE) -> None:
    """Show what is done, failed, running and still to do."""
    from complabel.studies import Store

    with Store(store, create=False) as opened:
        results = opened.results(study_name or _latest(opened))
    output().print(
        f"{results.plan.name}: {len(results.having('done'))} of {len(results.units)} units done,"
        f" {len(results.having('failed'))} failed, {len(results.having('running'))} running",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    output().print(_status_table(results))
    _say_missing(results.missing)
    _say_failed(results)


@study.command()
def report(
    study_name: StudyName = None,
    store: StorePath = _STORE,
    folder: Annotated[
        Path | None, typer.Option("--output", help="Folder to write. [default: STUDY-report]")
    ] = None,
) -> None:
    """Write a web page, and the tables as Markdown, LaTeX and CSV."""
    from complabel.studies import Store

    with Store(store, create=False) as opened:
        _report(opened, study_name or _latest(opened), folder)


@study.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends in .csv or .json.")],
    study_name: Annotated[
        str | None, typer.Option("--study", help="Its name. [default: the latest]")
    ] = None,
    store: StorePath = _STORE,
) -> None:
    """Write every fold's results: one line each (CSV), or with all details (JSON)."""
    from complabel._files import write_text
    from complabel.errors import InputError
    from complabel.reports import results_csv
    from complabel.studies import Store, units_json

    writers = {".csv": results_csv, ".json": units_json}
    if file.suffix not in writers:
        raise InputError(f"{file}: the name must end in .csv or .json, which says what to write")
    if not file.parent.is_dir():
        raise InputError(f"{file}: there is no folder {file.parent}")
    with Store(store, create=False) as opened:
        results = opened.results(study_name or _latest(opened))
    write_text(file, writers[file.suffix](results))
    output().print(f"wrote {file}", markup=False, highlight=False, soft_wrap=True)


def reproduce(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="table2, table3, table4, table5 or table6.")
    ],
    store: StorePath = _STORE,
    data_dir: DataDir = None,
    jobs: Jobs = -1,
    dask: Dask = None,
    retry_failed: RetryFailed = False,
    quick: Quick = False,
    folder: Annotated[
        Path | None, typer.Option("--output", help="Folder to write. [default: TABLE-report]")
    ] = None,
) -> None:
    """Reproduce a table of the paper: run its plan, then write the report."""
    from complabel.errors import InputError
    from complabel.paper import TABLES
    from complabel.studies import Store

    if table not in TABLES:
        raise InputError(f"there is no plan for {table!r}; known are {', '.join(TABLES)}")
    plan = _find_plan(table, quick=quick, data_dir=data_dir)
    _run(plan, store, data_dir, jobs, dask, retry_failed)
    with Store(store, create=False) as opened:
        _report(opened, plan.name, folder)


def _find_plan(name: str, *, quick: bool, data_dir: Path | None) -> Plan:
    """Read a plan from a file, or take one that comes with the package."""
    from complabel.datasets import describe_datasets
    from complabel.paper import PLANS
    from complabel.studies import read_plan, shipped_plan

    # A name without an ending is no file's, unless there is one.
    ships = name in PLANS or not (Path(name).suffix or Path(name).exists())
    plan = shipped_plan(name) if ships else read_plan(name)
    if not quick:
        return plan
    at_hand = [entry["name"] for entry in describe_datasets(data_dir) if entry["available"]]
    return plan.quick(at_hand)


def _run(
    plan: Plan,
    store: Path,
    data_dir: Path | None,
    jobs: int,
    dask: str | None,
    retry_failed: bool,
) -> None:
    """Run a plan with a live display; say what was done, also after Ctrl-C."""
    from complabel.cli._study_progress import StudyProgress
    from complabel.errors import InputError
    from complabel.studies import Store, run_study

    if not store.parent.is_dir():
        raise InputError(f"--store {store}: there is no folder {store.parent}")
    with Store(store) as opened:
        try:
            with StudyProgress(plan.name) as progress:
                summary = run_study(
                    plan,
                    opened,
                    data_dir=data_dir,
                    n_jobs=jobs,
                    dask=dask,
                    retry_failed=retry_failed,
                    monitor=progress,
                )
        except KeyboardInterrupt:
            errors().print(
                f"stopped; all finished units are in {store}: the same command goes on from there",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            raise
    _say_missing(summary.missing)
    _say_done(plan, summary, store)


def _say_done(plan: Plan, summary: RunSummary, store: Path) -> None:
    """Say what a run did and what is left."""
    from complabel.cli._study_progress import duration

    remarks = [f"{plan.name}: ran {summary.n_ran} of {summary.n_units} units"]
    remarks.append(f"in {duration(summary.seconds)}")
    if summary.n_failed:
        remarks.append(f"{summary.n_failed} failed (--retry-failed runs them again)")
    if summary.n_elsewhere:
        remarks.append(f"{summary.n_elsewhere} were left to another run on {store}")
    if summary.n_by_other_code:
        remarks.append(
            f"{summary.n_by_other_code} results by other code or versions stay in {store}, not used"
        )
    output().print(", ".join(remarks), markup=False, highlight=False, soft_wrap=True)


def _say_missing(missing: Mapping[str, str]) -> None:
    """Say which datasets of a plan are not at hand, and how to get them."""
    if missing:
        errors().print(
            f"missing, and left out: {', '.join(missing)}. Get them with: complabel datasets"
            " --download NAME",
            style="yellow",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def _say_failed(results: StudyResults) -> None:
    """Say what failed and why, each reason once."""
    reasons = Counter(
        (unit.dataset, unit.row, unit.error.strip().splitlines()[-1])
        for unit in results.having("failed")
    )
    for (dataset, row, reason), count in reasons.items():
        errors().print(
            f"failed: {dataset}, {row}, {count} folds: {reason}",
            style="red",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def _report(store: Store, name: str, folder: Path | None) -> None:
    """Write a study's report and say where it is."""
    from complabel.reports import write_report

    results = store.results(name)
    with errors().status("drawing the report"):
        paths = write_report(results, folder or Path(f"{name}-report"))
    for path in paths:
        output().print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def _latest(store: Store) -> str:
    """Return the name of the study registered last."""
    from complabel.errors import StoreError

    names = store.studies()
    if not names:
        raise StoreError(f"{store.path} holds no study yet; run one with: complabel study run PLAN")
    return names[0]


def _show_plan(plan: Plan, data_dir: Path | None) -> None:
    """Print what a plan would run."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from complabel.studies import plan_units

    units, missing = plan_units(plan, data_dir=data_dir)
    table = Table(title=f"{plan.name}: {len(units)} units", title_justify="left", box=SIMPLE_HEAD)
    for heading in ("row", "method", "settings"):
        table.add_column(heading)
    for row in plan.expanded_rows():
        settings = ", ".join(f"{name}={value!r}" for name, value in row.settings.items())
        if row.relevant_per_row:
            settings = f"{settings} + {row.relevant_per_row} relevant per row".lstrip()
        if row.relevant_share:
            settings = f"{settings} + {row.relevant_share:.0%} of the relevant".lstrip()
        table.add_row(Text(row.title), row.method, Text(settings))
    output().print(table)
    at_hand = [name for name in plan.datasets if name not in missing]
    draws = ", ".join(draw.name for draw in plan.draws)
    output().print(
        f"on {', '.join(at_hand) or 'no dataset'}; draws: {draws}; {plan.folds} folds, seed"
        f" {plan.seed}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    _say_missing(missing)


def _status_table(results: StudyResults) -> Table:
    """Lay out how many folds of each row on each dataset are done."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD)
    columns = list(dict.fromkeys((unit.dataset, unit.draw) for unit in results.units))
    table.add_column("")
    for dataset, draw in columns:
        table.add_column(f"{dataset}\n{draw}", justify="right")
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
