"""The terminal: results go to standard output, progress and errors to standard error."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

# Least width of a column whose words may be broken.
_FOLDED = 10
# Columns of a table in a pipe or a file, which have no width of their own.
_WIDTH_OF_FILES = 120
# Control characters, without tab and line feed.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


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
    """Print a line of the result unchanged: Rich adds no markup, colours or line breaks."""
    output().print(_shown(text), style=style, markup=False, highlight=False, soft_wrap=True)


def _shown(text: str) -> str:
    """Escape control characters: names in a stranger's file could otherwise steer the terminal."""
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def explain(text: str) -> None:
    """Print how to read a result; on a terminal, lines break between words."""
    console = output()
    console.print(text, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def save(path: Path, text: str) -> None:
    """Write a file and say so."""
    from complabel._writing import write_text

    write_text(path, text)
    say(f"wrote {path}")


def remark(text: str, style: str = "") -> None:
    """Print a line unchanged on standard error."""
    errors().print(_shown(text), style=style, markup=False, highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print an error on standard error, in red."""
    remark(text, style="red")


def new_table(title: str, *headings: str) -> Table:
    """Return an empty table in the style of all commands, with these columns of text."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = Text(title) if title else None
    return Table(*headings, title=shown, title_justify="left", box=SIMPLE_HEAD)


def show(table: Table) -> None:
    """Print a table; on a terminal too narrow for it, print each cell on a line of its own."""
    from rich.padding import Padding
    from rich.text import Text

    console = output()
    if _least_width(table) <= console.width:
        console.print(table)
        return
    if table.title:
        console.print(table.title)
    headings = [" ".join(str(column.header).split()) for column in table.columns[1:]]
    widest = max(map(len, headings), default=0)
    for name, *cells in zip(*(column.cells for column in table.columns), strict=True):
        say(f"\n{name}")
        for heading, cell in zip(headings, cells, strict=True):
            if str(cell):
                line = Text(f"{heading:{widest}}  {cell}")
                console.print(Padding(line, (0, 0, 0, 2), expand=False))
    say("")


def _least_width(table: Table) -> int:
    """Return the least width at which no word is cut, except in columns that may be folded."""
    width = 2  # the frame
    for column in table.columns:
        cells = list(map(str, [column.header, *column.cells]))
        texts = cells if column.no_wrap else [word for cell in cells for word in cell.split()]
        lines = [line for text in texts for line in text.splitlines()]
        least = max(map(len, lines), default=0)
        width += min(least, _FOLDED if column.overflow == "fold" else least) + 2
    return width + len(table.columns) - 1
