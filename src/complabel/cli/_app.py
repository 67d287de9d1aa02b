"""The `complabel` command: its commands below their headings, and its exit codes."""

from __future__ import annotations

import errno
import logging
import os
import sys
import warnings
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup

from complabel import __version__
from complabel.cli._ask import ask, labelstudio_config
from complabel.cli._audit import audit
from complabel.cli._console import complain, remark, visible
from complabel.cli._demo import demo
from complabel.cli._evaluate import evaluate
from complabel.cli._fit import fit
from complabel.cli._import import features, import_
from complabel.cli._inspect import consensus, inspect
from complabel.cli._lists import methods
from complabel.cli._options import spread
from complabel.cli._outputs import GuardedCommand
from complabel.cli._plan import plan
from complabel.cli._predict import decide, onnx, predict, show_
from complabel.cli._servers import annotate, serve
from complabel.errors import ComplabelError, manual_page

_EXPERIMENTS = "complabel.experiments.cli"
"""The module of the commands for experiments; it is imported only when they are asked for."""

_UsageError: Any = typer.BadParameter.__base__  # of click, which typer may hold inside


# What an option is called elsewhere, and here.
_OTHER_WORDS = {
    "--kind": ("--question",),
    "--question": ("--read-as",),
    "--labels": ("--label-names", "--labels-from"),
    "--model": ("--llm", "--model-out", "--encoder"),
    "--output": ("--out",),
    "--show": ("--item-kind",),
}


class _WithExperiments(TyperGroup):
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


# The pages of the manual about the commands; what is not here is for experiments.
_PAGES = {
    **{name: name for name in ("annotate", "decide", "evaluate", "features", "inspect", "methods")},
    "ask": "questions",
    "audit": "machines",
    "consensus": "people",
    "demo": "start",
    "fit": "answers",
    "import": "answers",
    "labelstudio-config": "tools",
    "onnx": "models",
    "plan": "questions",
    "predict": "models",
    "serve": "models",
    "show": "models",
}


def new_group(help_text: str, heading: str, *commands: Callable[..., None]) -> typer.Typer:
    """Return a group of commands, which stand below a heading in its list."""
    group = typer.Typer(
        help=help_text, short_help=help_text, no_args_is_help=True, rich_markup_mode="rich"
    )
    _add(group, heading, *commands)
    return group


def _add(group: typer.Typer, heading: str, *commands: Callable[..., None]) -> None:
    """Add functions to a group as commands, in its list below this heading.

    The list shows the first paragraph of their docstrings, which are the text of their help.
    """
    for command in commands:
        first, *others = [" ".join(text.split()) for text in (command.__doc__ or "").split("\n\n")]
        name = command.__name__.strip("_").replace("_", "-")
        page = _PAGES.get(name, "evidence/studies")
        group.command(
            name,
            cls=GuardedCommand,
            help="\n\n".join([first, *others]),
            short_help=first,
            epilog=f"{getattr(command, 'examples', '')}\n\nManual: {manual_page(page)}".strip(),
            rich_help_panel=heading,
        )(spread(command))


app = typer.Typer(
    name="complabel",
    help="Learn multi-label classifiers from complementary labels: labels that people said do not"
    " apply.",
    cls=_WithExperiments,
    no_args_is_help=True,
    epilog="Exit codes: 0: done; 1: a file or a value is wrong; 2: a command or an option is used"
    " wrongly; 130: stopped by Ctrl-C. Set NO_COLOR=1 to turn colours off."
    f" The manual begins at {manual_page('index')}.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
_add(app, "Ask", demo, annotate, ask, plan, labelstudio_config, import_, inspect, consensus)
_add(app, "Learn", features, fit, show_, methods)
_add(app, "Judge", audit, evaluate, decide)
_add(app, "Use", predict, serve, onnx)


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Show the version and exit.", metavar=""),
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
            sys.exit(app(standalone_mode=False) or 0)
        except _UsageError as refusal:
            if refusal.format_message():  # none where a group has shown its help
                complain(f"error: {_other_word(refusal) or refusal.format_message()}")
                remark(f"try: {refusal.ctx.command_path if refusal.ctx else 'complabel'} --help")
            sys.exit(refusal.exit_code)
        except ComplabelError as error:
            complain(f"error: {error}")
            sys.exit(1)
        except ImportError as error:  # not of a missing package, which an InputError names
            complain(
                f"error: a package cannot be loaded: {error}; end other programs if memory is short"
                ", or install the package again"
            )
            sys.exit(1)
        except MemoryError:
            complain("error: the memory is full; end other programs, or give less data at once")
            sys.exit(1)
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            complain(
                "error: no space is left to write the result; free some space and run the command"
                " again"
            )
            sys.exit(1)


def _other_word(refusal: Any) -> str:
    """Return what to say of an option that is called otherwise here, or nothing."""
    had = {name for each in refusal.ctx.command.params for name in each.opts} if refusal.ctx else ()
    typed = getattr(refusal, "option_name", "")
    words = [word for word in _OTHER_WORDS.get(typed, ()) if word in had]
    return f"No such option: {typed}. Did you mean {words[0]}?" if words else ""


def _hint(message: Warning | str, category: type[Warning], *where: Any) -> None:
    """Print warnings of complabel as hints; those of libraries as Python prints them."""
    if issubclass(category, FutureWarning) or category.__module__.startswith("complabel."):
        remark(f"hint: {message}")
    else:
        sys.stderr.write(visible(warnings.formatwarning(message, category, *where[:2])))
