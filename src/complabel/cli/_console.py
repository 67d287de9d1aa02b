"""The terminal: tables go to standard output, progress and errors to standard error."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from complabel.studies import FoldResult, OnFold

# What a table needs when nobody looks at it: a pipe or file has no width of its own.
_WIDTH_OF_FILES = 120


@functools.cache
def output() -> Console:
    """Return the console for results."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH_OF_FILES)


@functools.cache
def errors() -> Console:
    """Return the console for progress and errors."""
    return Console(stderr=True)


@contextlib.contextmanager
def progress_bar(unit: str, *, total: int) -> Iterator[OnFold]:
    """Show what runs, how much is done, time spent and time left, while folds come in."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = errors()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("starting", total=total)

        def on_fold(dataset: str, method: str, fold: FoldResult) -> None:
            description = f"{dataset}, {method}, fold {fold.fold + 1}"
            progress.update(task, advance=1, description=description)

        yield on_fold
