"""`complabel study` and `complabel reproduce`: run what a store lacks, show and write results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from complabel.cli import (
    DATA_DIR,
    Output,
    argument,
    command,
    flag,
    option,
    save,
    say,
    show,
    with_examples,
)
from complabel.experiments.cli import _options as options

if TYPE_CHECKING:
    from complabel.experiments.studies import Seconds


@with_examples(
    "study run mine.toml --dry-run",
    "study run mine.toml --jobs 4",
    "study run table2 --data-dir data --quick",
)
def run(
    plan: str = argument(
        "PLAN",
        "A TOML file, or the name of a plan that comes with complabel: table2, table3,"
        " table4, table5, table6, comrank, how-to-ask, more-labels, some-relevant or spml.",
        autocompletion=options.complete_plan,
    ),
    store: Path = options.STORE,
    data_dir: Path | None = DATA_DIR,
    jobs: int = options.jobs(-1),
    dask: str | None = options.DASK,
    retry_failed: bool = options.RETRY_FAILED,
    quick: bool = options.QUICK,
    dry_run: bool = flag("Only show what would run."),
) -> None:
    """Run all units of a plan that are not in the store yet.

    A unit is one fold of one method on one dataset and draw. After an interruption, the same
    command continues where it stopped.
    """
    from complabel.experiments.cli import _running as running

    checked = running.find_plan(plan, quick=quick, data_dir=data_dir)
    if dry_run:
        running.show_plan(checked, data_dir, store)
        return
    how = {"dask": dask, "retry_failed": retry_failed}
    results = running.run_plan(checked, store, data_dir, jobs, **how)
    running.stop_if_failed(results, store)
    say(f"next: {command('study', 'report', checked.name, store=options.at(store))}")


@with_examples("reproduce table2 --data-dir data", "reproduce table2 --data-dir data --quick")
def reproduce(
    table: str = argument(
        "TABLE",
        "Table of the paper: table2, table3, table4, table5 or table6.",
        autocompletion=options.complete_table,
    ),
    store: Path = options.STORE,
    data_dir: Path | None = DATA_DIR,
    jobs: int = options.jobs(-1),
    dask: str | None = options.DASK,
    retry_failed: bool = options.RETRY_FAILED,
    quick: bool = options.QUICK,
    folder: Path | None = options.REPORT_FOLDER,
) -> None:
    """Reproduce a table of the paper: run its plan, then write the report."""
    from complabel.errors import InputError
    from complabel.experiments.cli import _running as running
    from complabel.experiments.paper import TABLES

    if table not in TABLES:
        raise InputError(f"there is no plan for {table!r}; choose one of {', '.join(TABLES)}")
    plan = running.find_plan(table, quick=quick, data_dir=data_dir)
    folder = running.claim_report(plan.name, folder)
    how = {"dask": dask, "retry_failed": retry_failed}
    results = running.run_plan(plan, store, data_dir, jobs, **how)
    running.write_reports(results, folder)
    running.stop_if_failed(results, store)


@with_examples("study status", "study status benchmark-mine-1a2b3c4d")
def status(study_name: str | None = options.STUDY_NAME, store: Path = options.STORE) -> None:
    """Show how many units are done, failed and still to do."""
    from complabel.experiments.cli import _running as running

    results = running.opened_results(store, study_name)
    say(
        f"{results.plan.name}: {len(results.having('done'))} of {len(results.units)} units done,"
        f" {len(results.having('failed'))} failed"
    )
    show(running.table_of_units(results))
    running.say_missing(results.missing)
    running.say_failed(results)


@with_examples(
    "study report",
    "study report mine --out report",
    "study report how-to-ask --seconds asked=14.5,ticked=22,labels=28",
)
def report(
    study_name: str | None = options.STUDY_NAME,
    store: Path = options.STORE,
    folder: Path | None = options.REPORT_FOLDER,
    seconds: str | None = option(
        "TIMES",
        "Seconds that your people need for a yes or no, and to tick so many labels of an item:"
        " asked=14,ticked=22,labels=28. [default: those of the plan]",
        "--seconds",
    ),
) -> None:
    """Write a study's report: a web page, and its tables as Markdown, LaTeX and CSV."""
    from complabel.experiments.cli import _running as running

    measured = None if seconds is None else _measured_seconds(seconds)
    results = running.opened_results(store, study_name, with_criteria=True)
    which = "" if study_name else f", the last study that {store} holds"
    say(f"{results.plan.name}{which}: {len(results.having('done'))} of {len(results.units)} units")
    running.say_failed(results)
    if measured is not None:
        plan = results.plan.model_copy(update={"seconds": measured})
        results = replace(results, plan=plan)
    running.write_reports(results, running.claim_report(results.plan.name, folder))


def _measured_seconds(text: str) -> Seconds:
    from complabel.errors import InputError
    from complabel.experiments.studies import Seconds

    pairs = [part.partition("=") for part in text.split(",")]
    given = {name.strip(): value for name, _, value in pairs}
    try:
        asked, ticked = float(given.pop("asked")), float(given.pop("ticked"))
        labels = int(given.pop("labels"))
    except (KeyError, ValueError):
        given = {text: ""}
    if given:
        raise InputError(
            f"--seconds is {text!r}; give the seconds of a yes or no, those for ticking, and the"
            " number of labels on that form, as in asked=14.5,ticked=22,labels=28"
        )
    return Seconds.measured(asked=asked, ticked=ticked, labels=labels)


@with_examples("study export folds.csv", "study export folds.json --study mine")
def export(
    file: Path = argument(
        "FILE", "File to write: .csv or .json.", output=Output((".csv", ".json"))
    ),
    study_name: str | None = option("STUDY", "Name of the study. [default: the latest]", "--study"),
    store: Path = options.STORE,
) -> None:
    """Write the results of every fold: one line for each (CSV), or all details (JSON)."""
    from complabel.experiments.cli import _running as running
    from complabel.experiments.reports import results_csv

    as_json = file.suffix.lower() == ".json"
    results = running.opened_results(store, study_name, with_criteria=not as_json)
    save(file, results.as_json() if as_json else results_csv(results))
