"""`complabel demo`: the main job on embedded data, ending in a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._console import errors, say
from complabel.cli._help import with_examples


@with_examples("demo", "demo --output page.html")
def demo(
    report: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="The page to write.")
    ] = Path("complabel-demo.html"),
    folds: options.Folds = 5,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
) -> None:
    """Learn which digits canvases show from one "is not a ..." each; write a report."""
    from complabel._files import write_text
    from complabel.cli._progress import Progress
    from complabel.reports import render_demo, run_demo

    options.check_folder(report, "--output")
    with Progress("demo") as progress:
        summary = run_demo(seed=seed, n_folds=folds, n_jobs=jobs, monitor=progress)
    with errors().status("drawing the report"):
        write_text(report, render_demo(summary))
    say(f"wrote {report.resolve()}: open it in a browser")
