"""The terminal: tables go to standard output, progress and errors to standard error."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

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


def say(text: str, style: str = "") -> None:
    """Print a line of the result as it stands: no markup, no colours of Rich's, not wrapped."""
    output().print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def save(path: Path, text: str) -> None:
    """Write a file and say so."""
    from complabel._files import write_text

    write_text(path, text)
    say(f"wrote {path}")


def remark(text: str, style: str = "") -> None:
    """Print a line beside the result likewise."""
    errors().print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print what went wrong."""
    remark(text, style="red")


def new_table(title: str, *headings: str) -> Table:
    """Return a table in the style of all commands, with columns of text."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = Text(title) if title else None
    return Table(*headings, title=shown, title_justify="left", box=SIMPLE_HEAD)
