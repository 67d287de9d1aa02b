"""The layout of help texts, also on narrow terminals, and their examples."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from complabel.cli._outputs import guarded

_LEAST, _MOST = 30, 80
# On a terminal narrower than this, the text of an option stands below its name, not beside it.
_NARROW = 60
_INDENT = 6
# Typer writes a type such as "<path>" behind a name in capitals, which says enough by itself.
_TYPE = re.compile(r"(?<=[A-Z\]]) <[^<>]*>$")
_Formatter: Any = typer.Context.formatter_class


class _HelpFormatter(_Formatter):  # type: ignore[misc]
    """Writes help as wide as the terminal, but at most 80 columns."""

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None
    ) -> None:
        if width is None:
            columns = shutil.get_terminal_size().columns
            width = max(min(columns, max_width or _MOST) - 1, _LEAST)
        super().__init__(indent_increment, width, max_width)

    def write_text(self, text: str) -> None:
        """Write paragraphs; one that begins with click's mark, a backspace, keeps its lines."""
        margin = " " * self.current_indent
        width = self.width - len(margin)
        for i, paragraph in enumerate(text.split("\n\n")):
            kept = paragraph.startswith("\b")
            lines = paragraph.splitlines()[1:] if kept else _wrapped(paragraph, width)
            self.write("\n" * bool(i) + "".join(f"{margin}{line}\n" for line in lines))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write each name with its text beside it, or below it if there is no room."""
        shown = [(_TYPE.sub("", name), meaning) for name, meaning in rows]
        widest = max((len(name) for name, _ in shown), default=0)
        column = _INDENT if self.width < _NARROW else min(widest, col_max)
        start = self.current_indent + column + col_spacing
        for name, meaning in shown:
            lines = _wrapped(meaning, self.width - start) or [""]
            first = f"{'':{self.current_indent}}{name}"
            beside = len(name) <= column
            self.write(f"{first:{start}}{lines.pop(0)}".rstrip() + "\n" if beside else f"{first}\n")
            for line in lines:
                self.write(f"{'':{start}}{line}\n")


def _wrapped(text: str, width: int) -> list[str]:
    """Break text into lines, but never inside a word such as mine-test.arff."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


class Command(TyperCommand):
    """A command whose help fits the terminal."""

    def get_help(self, ctx: Any) -> str:
        """Return the help."""
        ctx.formatter_class = _HelpFormatter
        return super().get_help(ctx)


class Group(TyperGroup):
    """A group of commands whose help fits the terminal."""

    def get_help(self, ctx: Any) -> str:
        """Return the help."""
        ctx.formatter_class = _HelpFormatter
        return super().get_help(ctx)


def with_examples(*commands: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add examples to a command's help, each on a line of its own."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        lines = ["\b", "Examples:", *(f"  $ complabel {line}" for line in commands)]
        command.examples = "\n".join(lines)  # type: ignore[attr-defined]
        return command

    return give


def add(group: typer.Typer, *commands: Callable[..., None]) -> None:
    """Add functions to a group as commands; its list shows the first paragraph of their help."""
    for each in commands:
        command = guarded(each)
        first, *_ = (command.__doc__ or "").split("\n\n")
        examples = getattr(command, "examples", None)
        name = command.__name__.strip("_").replace("_", "-")
        group.command(name, cls=Command, short_help=" ".join(first.split()), epilog=examples)(
            command
        )
