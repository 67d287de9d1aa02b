"""`complabel compare`: recorded results beside what the paper printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Written by benchmark --json.")
    ],
) -> None:
    """Print results as Markdown tables, each figure above the published one."""
    from complabel.studies import compare_with_published, comparison_markdown, read_results

    typer.echo(comparison_markdown(compare_with_published(read_results(files))))
    typer.echo(
        "Mean±standard deviation over folds, published figures in brackets; ▲ better and ▼ worse"
        " by more than two published standard deviations. †: learns from true labels."
    )
