"""The `complabel` command and how it ends."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TextIO

import typer

from complabel import __version__
from complabel.cli._benchmark import benchmark
from complabel.cli._console import complain, remark
from complabel.cli._datasets import datasets
from complabel.cli._demo import demo
from complabel.cli._inspect import inspect
from complabel.cli._study_results import export, report, status
from complabel.cli._study_run import reproduce, run
from complabel.cli._tune import tune
from complabel.errors import ComplabelError

app = typer.Typer(
    name="complabel",
    help="Multi-label classifiers learned from complementary labels: labels somebody said do"
    " not apply.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(datasets)
app.command()(benchmark)
app.command()(tune)
app.command()(inspect)
app.command()(reproduce)
study = typer.Typer(
    help="Run plans of datasets x draws x methods, resumably; report what came out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
study.command()(run)
study.command()(status)
study.command()(report)
study.command()(export)
app.add_typer(study, name="study")


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
) -> None:
    if version:
        typer.echo(f"complabel {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; exit 1 on an error of complabel's, 2 on misuse, 130 on Ctrl-C."""
    # Where a class of one's own is looked for, last: no file there takes the place of a library.
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    with warnings.catch_warnings():
        warnings.showwarning = _hint
        try:
            app()
        except ComplabelError as error:
            complain(f"error: {error}")
            sys.exit(1)


def _hint(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show what is good to know as a hint, and other warnings as Python does.

    That is what is spelled differently now, and what a method cannot use of the answers.
    """
    if issubclass(category, FutureWarning) or category.__module__.startswith("complabel."):
        remark(f"hint: {message}")
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        print(text, file=file or sys.stderr, end="")
