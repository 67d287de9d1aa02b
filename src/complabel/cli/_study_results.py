"""`complabel study status`, `report` and `export`: show or write a study's results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._console import new_table, save, say, show
from complabel.cli._help import with_examples
from complabel.cli._outputs import Output
from complabel.cli._running import (
    claim_report,
    opened_results,
    say_failed,
    say_missing,
    write_reports,
)

if TYPE_CHECKING:
    from rich.table import Table

    from complabel.studies import StudyResults


@with_examples("study status", "study status benchmark-mine-1a2b3c4d")
def status(study_name: options.StudyName = None, store: options.StorePath = options.STORE) -> None:
    """Show how many units are done, failed and still to do, and which run writes the store."""
    results = opened_results(store, study_name)
    say(
        f"{results.plan.name}: {len(results.having('done'))} of {len(results.units)} units done,"
        f" {len(results.having('failed'))} failed"
    )
    if results.writer:
        say(f"a run writes {store} now: {results.writer}")
    show(_table(results))
    say_missing(results.missing)
    say_failed(results)


@with_examples("study report", "study report mine --output report")
def report(
    study_name: options.StudyName = None,
    store: options.StorePath = options.STORE,
    folder: options.ReportFolder = None,
) -> None:
    """Write a study's report: a web page, and its tables as Markdown, LaTeX and CSV."""
    results = opened_results(store, study_name, with_criteria=True)
    write_reports(results, claim_report(results.plan.name, folder))


@with_examples("study export folds.csv", "study export folds.json --study mine")
def export(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="File to write: .csv or .json."),
        Output((".csv", ".json")),
    ],
    study_name: Annotated[
        str | None,
        typer.Option("--study", metavar="STUDY", help="Name of the study. [default: the latest]"),
    ] = None,
    store: options.StorePath = options.STORE,
) -> None:
    """Write the results of every fold: one line for each (CSV), or all details (JSON)."""
    from complabel.reports import results_csv

    as_json = file.suffix.lower() == ".json"
    results = opened_results(store, study_name, with_criteria=not as_json)
    save(file, results.as_json() if as_json else results_csv(results))


def _table(results: StudyResults) -> Table:
    """Return a table of the folds done, for each row on each dataset and draw."""
    from rich.text import Text

    table = new_table("", "")
    columns = list(dict.fromkeys((unit.dataset, unit.draw) for unit in results.units))
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
