"""`complabel study export`: every fold's results in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._console import save
from complabel.cli._running import opened_results


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends in .csv or .json.")],
    study_name: Annotated[
        str | None, typer.Option("--study", help="Its name. [default: the latest]")
    ] = None,
    store: options.StorePath = options.STORE,
) -> None:
    """Write every fold's results: one line each (CSV), or with all details (JSON)."""
    from complabel.errors import InputError
    from complabel.reports import results_csv

    if file.suffix not in (".csv", ".json"):
        raise InputError(f"{file}: the name must end in .csv or .json, which says what to write")
    options.check_folder(file)
    results = opened_results(store, study_name, with_criteria=file.suffix == ".csv")
    save(file, results.as_json() if file.suffix == ".json" else results_csv(results))
