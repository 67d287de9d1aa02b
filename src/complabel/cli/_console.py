"""The terminal: results go to standard output, progress and errors to standard error."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from complabel._opening import visible as visible
from complabel._writing import write_text
from complabel.cli._outputs import unused

_FOLDED = 10  # least width of a column whose words may be broken
_WIDTH_OF_FILES = 120  # columns of a table in a pipe or a file, which have no width of their own
_LOG_SECONDS = 30.0  # least time between two lines of progress where no line can move


class _Console(Console):
    """The one door to a terminal, of lines, tables and progress: no text in them can steer it."""

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


@functools.cache
def output() -> Console:
    """Return the console for results."""
    console = _Console()
    return console if console.is_terminal else _Console(width=_WIDTH_OF_FILES)


@functools.cache
def errors() -> Console:
    """Return the console for progress and errors."""
    return _Console(stderr=True)


class _Table(Table):
    """A table whose cells are written as they are, without markup; widths count what is shown."""

    def add_row(self, *cells: Any, **settings: Any) -> None:
        super().add_row(*map(_as_cell, cells), **settings)

    def add_column(self, header: Any = "", *args: Any, **settings: Any) -> None:
        super().add_column(_as_cell(header), *args, **settings)


def _as_cell(cell: Any) -> Any:
    if isinstance(cell, Text) and cell.plain != visible(cell.plain):
        return Text(visible(cell.plain), style=cell.style)
    return Text(visible(cell)) if isinstance(cell, str) else cell


def say(text: str, style: str = "") -> None:
    """Print a line of the result unchanged: Rich adds no markup, colours or line breaks."""
    output().print(visible(text), style=style, markup=False, highlight=False, soft_wrap=True)


def explain(text: str) -> None:
    """Print how to read a result; on a terminal, lines break between words."""
    console = output()
    console.print(visible(text), markup=False, highlight=False, soft_wrap=not console.is_terminal)


def save(path: Path, text: str) -> None:
    write_text(path, text)
    say(f"wrote {path}")


def save_json(path: Path | None, content: object) -> None:
    """Write what was found to a file, if one is given and something was found, and say so."""
    if path is not None and content is not None:
        save(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def remark(text: str, style: str = "") -> None:
    """Print a line unchanged on standard error."""
    errors().print(visible(text), style=style, markup=False, highlight=False, soft_wrap=True)


def doubt(text: str) -> None:
    """Print a text that makes a result doubtful on standard error, if there is one."""
    if text:
        remark(text, style="yellow")


def complain(text: str) -> None:
    """Print an error on standard error, in red."""
    remark(text, style="red")


def new_table(title: str, *headings: str, numbers: Iterable[str] = ()) -> Table:
    """Return an empty table in the style of all commands: columns of text, then of numbers."""
    heading = Text(visible(title)) if title else None
    table = _Table(title=heading, title_justify="left", box=SIMPLE_HEAD)
    for each in headings:
        table.add_column(each)
    for each in numbers:
        table.add_column(each, justify="right")
    return table


def show(table: Table) -> None:
    """Print a table; on a terminal too narrow for it, print each cell on a line of its own."""
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


def show_rows(
    title: str,
    name: str,
    numbers: Iterable[str],
    rows: Sequence[Sequence[str]],
    most: int = 20,
    left: str = "; --json FILE writes all of them",
) -> None:
    """Print a table of which the first cell of a row is its name; of many rows, the first ones."""
    table = new_table(title, name, numbers=numbers)
    for row in rows[:most]:
        table.add_row(*row)
    show(table)
    if len(rows) > most:
        say(f"{len(rows) - most:,} more are not shown{left}")


def _least_width(table: Table) -> int:
    width = 2  # the frame
    for column in table.columns:
        cells = list(map(str, [column.header, *column.cells]))
        texts = cells if column.no_wrap else [word for cell in cells for word in cell.split()]
        lines = [line for text in texts for line in text.splitlines()]
        least = max(map(len, lines), default=0)
        width += min(least, _FOLDED if column.overflow == "fold" else least) + 2
    return width + len(table.columns) - 1


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a task and its time until the block ends; the block gets a function to say how far."""
    if not errors().is_terminal:
        yield Log(what)
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    line = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=errors(),
        transient=True,
        refresh_per_second=4,
    )
    task = line.add_task(what, total=None)
    with line:
        yield lambda far: line.update(task, description=f"{what}: {far}")


class Log:
    """Writes a line if the last one is at least 30 seconds old."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._started = self._logged = time.monotonic()

    def __call__(self, far: str) -> None:
        """Say how far the task is."""
        now = time.monotonic()
        if now - self._logged > _LOG_SECONDS:
            self._logged = now
            remark(f"{self._what}: {far}, after {duration(now - self._started)}")


def duration(seconds: float) -> str:
    """Return a time span in words.

    Examples
    --------
    >>> duration(7), duration(150), duration(8000)
    ('7 s', '2.5 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def command(name: str, *positional: object, **options: object) -> str:
    """Return a complabel command as text; options that are None, False or empty are left out.

    If there is already a file of the name for ``--out``, the name gets a number.

    Examples
    --------
    >>> command("predict", "my model.safetensors", "X.npy", items=None, out="p.csv")
    "complabel predict 'my model.safetensors' X.npy --out p.csv"
    """
    return f"{shlex.join([*_typed(), name])} {arguments(*positional, **options)}".strip()


def arguments(*positional: object, **options: object) -> str:
    """Return what follows the name of a command, as text; see :func:`command`."""
    words = [*map(str, positional)]
    for option, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            if value not in (None, False, "") and (option, value) != ("contradictions", "error"):
                value = unused(Path(str(value))) if option == "out" else value
                called = option.rstrip("_").replace("_", "-")
                several = value if isinstance(value, tuple) else (value,)
                words += [f"--{called}"] if value is True else [f"--{called}", *map(str, several)]
    return shlex.join(words)


def _typed() -> list[str]:
    """Return how this program was called, so that the same words work again."""
    program = sys.argv[0]
    if Path(program).parts[-2:] == ("complabel", "__main__.py"):  # python -m complabel
        python = sys.executable
        inside = os.path.relpath(python)
        return [python if inside.startswith(os.pardir) else inside, "-m", "complabel"]
    is_path = Path(program).name == "complabel" and os.sep in program
    return [program if is_path and shutil.which("complabel") is None else "complabel"]
