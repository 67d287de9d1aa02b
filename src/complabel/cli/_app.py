"""The `complabel` command: its parts, the layout of its help texts, and its exit codes."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup

from complabel import __version__
from complabel.cli._ask import ask, labelstudio_config
from complabel.cli._console import complain, remark, visible
from complabel.cli._evaluate import evaluate
from complabel.cli._fit import fit
from complabel.cli._import import features, import_
from complabel.cli._inspect import consensus, inspect
from complabel.cli._lists import demo, methods
from complabel.cli._outputs import GuardedCommand, option_of
from complabel.cli._predict import decide, onnx, predict, show_
from complabel.cli._servers import annotate, serve
from complabel.errors import ComplabelError

_EXPERIMENTS = "complabel.experiments.cli"
"""The module of the commands for experiments; it is imported only when they are asked for."""

_LEAST, _MOST = 30, 80
# On a terminal narrower than this, the text of an option stands below its name, not beside it.
_NARROW = 60
_INDENT = 6
# Typer writes a type such as "<path>" behind a name in capitals, which says enough by itself.
_TYPE = re.compile(r"(?<=[A-Z\]]) <[^<>]*>$")
_UsageError: Any = typer.BadParameter.__base__  # of click, which typer may hold inside
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


class _Context(typer.Context):
    formatter_class = _HelpFormatter


@contextlib.contextmanager
def _visible_refusals() -> Iterator[None]:
    """Escape what was typed, such as the name of a file, in messages of click."""
    try:
        yield
    except _UsageError as refusal:
        raise _UsageError(visible(refusal.format_message()), refusal.ctx) from None


class _Command(GuardedCommand):
    context_class = _Context

    def make_context(self, *args: Any, **given: Any) -> Any:
        with _visible_refusals():
            return super().make_context(*args, **given)


class _Group(TyperGroup):
    context_class = _Context

    def resolve_command(self, *args: Any) -> Any:
        with _visible_refusals():
            return super().resolve_command(*args)


class _WithExperiments(_Group):
    """Also has the commands for experiments, which it finds by name when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        self._load()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._load()
        return super().get_command(ctx, cmd_name)

    def _load(self) -> None:
        experiments = typer.main.get_group(resolve_name(f"{_EXPERIMENTS}:app"))
        for name, command in experiments.commands.items():
            self.commands.setdefault(name, command)


class _VisibleLog(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def new_group(help_text: str, *commands: Callable[..., None]) -> typer.Typer:
    """Return a group of commands."""
    shown: dict[str, Any] = {"help": help_text, "short_help": help_text}
    group = typer.Typer(cls=_Group, no_args_is_help=True, rich_markup_mode=None, **shown)
    _add(group, *commands)
    return group


def _add(group: typer.Typer, *commands: Callable[..., None]) -> None:
    """Add functions to a group as commands; its list shows the first paragraph of their help."""
    for command in commands:
        first, *_ = (command.__doc__ or "").split("\n\n")
        examples = getattr(command, "examples", None)
        name = command.__name__.strip("_").replace("_", "-")
        add = group.command(name, cls=_Command, short_help=" ".join(first.split()), epilog=examples)
        add(command)


app = typer.Typer(
    name="complabel",
    help="Learn multi-label classifiers from complementary labels: labels that people said do not"
    " apply.",
    cls=_WithExperiments,
    no_args_is_help=True,
    epilog="Exit codes: 0: done; 1: a file or a value is wrong; 2: a command or an option is used"
    " wrongly; 130: stopped by Ctrl-C. Set NO_COLOR=1 to turn colours off.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_add(app, demo, features, annotate, import_, inspect, ask, consensus, fit, show_, evaluate)
_add(app, decide, predict, serve, onnx, labelstudio_config)
_add(app, methods)


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
) -> None:
    if version:
        typer.echo(f"complabel {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; exit 1 on an error of complabel's, 2 on misuse, 130 on Ctrl-C."""
    # A class of the user's may be in the current folder. It comes last, so that no file in it hides
    # a library.
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    if logging.lastResort is not None:  # prints what no program has asked for
        logging.lastResort.setFormatter(_VisibleLog())
    with warnings.catch_warnings():
        warnings.showwarning = _hint  # type: ignore[assignment]  # nobody passes keywords
        try:
            app()
        except ComplabelError as error:
            complain(f"error: {_as_typed(str(error))}")
            sys.exit(1)
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            complain(
                "error: no space is left to write the result; free some space and run the command"
                " again"
            )
            sys.exit(1)


def _as_typed(text: str) -> str:
    """Return a message with options in place of parameters: of ``--items (items)``, the former.

    ``question="named"`` becomes ``--question named``.
    """
    parameters = {"format": "--from", "n_folds": "--folds", "n_jobs": "--jobs"}
    experiments = sys.modules.get(_EXPERIMENTS)
    for group in (app, *getattr(experiments, "GROUPS", ())):
        for command in typer.main.get_group(group).commands.values():
            for parameter in command.params:
                parameters.setdefault(str(parameter.name), option_of(parameter))
    names = "|".join(name for name, option in parameters.items() if option)
    typed = re.sub(
        rf"(?<![\w.(-])({names})=(?:([\"']?)([\w-]+)\2)?",
        lambda found: f"{parameters[found[1]]} {found[3] or ''}".rstrip(),
        text,
    )
    return re.sub(r"(--[\w-]+(?: \w+)?) \((?:\1|\w+=?|\w+=\w+ in Python)\)", r"\1", typed)


def _hint(message: Warning | str, category: type[Warning], *where: Any) -> None:
    if issubclass(category, FutureWarning) or category.__module__.startswith("complabel."):
        remark(f"hint: {message}")
    else:
        sys.stderr.write(visible(warnings.formatwarning(message, category, *where[:2])))
