"""`complabel demo`: the main job on embedded data, ending in a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from complabel.cli._console import errors, output, progress_bar


def demo(
    report: Annotated[Path, typer.Option("--output", help="The page to write.")] = Path(
        "complabel-demo.html"
    ),
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw, folds and methods.")] = 0,
    jobs: Annotated[int, typer.Option(help="Folds at once; -1 for all cores.")] = 1,
) -> None:
    """Learn which digits canvases show from one "is not a ..." each; write a report."""
    from complabel._files import write_text
    from complabel.errors import InputError
    from complabel.reports import DEMO_METHODS, render_demo, run_demo

    if not report.parent.is_dir():
        raise InputError(f"--output {report}: there is no folder {report.parent}")
    with progress_bar("folds", total=len(DEMO_METHODS) * folds) as on_fold:
        summary = run_demo(seed=seed, n_folds=folds, n_jobs=jobs, on_fold=on_fold)
    with errors().status("drawing the report"):
        write_text(report, render_demo(summary))
    output().print(f"wrote {report.resolve()}: open it in a browser", soft_wrap=True)
