"""`complabel reproduce`: a table of the paper, from its plan to its report."""

from __future__ import annotations

from typing import Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._running import opened_results, run_plan, write_reports
from complabel.cli._study_run import find_plan


def reproduce(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="table2, table3, table4, table5 or table6.")
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
        raise InputError(f"there is no plan for {table!r}; known are {', '.join(TABLES)}")
    plan = find_plan(table, quick=quick, data_dir=data_dir)
    run_plan(plan, store, data_dir, jobs, dask=dask, retry_failed=retry_failed)
    write_reports(opened_results(store, plan.name), folder)
