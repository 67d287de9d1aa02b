"""The `complabel` command and how it ends."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import TextIO

import typer

from complabel import __version__
from complabel.cli._ask import ask
from complabel.cli._benchmark import benchmark
from complabel.cli._console import complain, remark
from complabel.cli._datasets import datasets
from complabel.cli._demo import demo
from complabel.cli._evaluate import evaluate
from complabel.cli._fit import fit
from complabel.cli._help import Group, add
from complabel.cli._import import import_
from complabel.cli._inspect import inspect
from complabel.cli._labelstudio import labelstudio_config
from complabel.cli._methods import methods
from complabel.cli._predict import predict
from complabel.cli._study_results import export, report, status
from complabel.cli._study_run import reproduce, run
from complabel.cli._tune import tune
from complabel.errors import ComplabelError

app = typer.Typer(
    name="complabel",
    help="Multi-label classifiers learned from complementary labels: labels somebody said do"
    " not apply.",
    cls=Group,
    no_args_is_help=True,
    epilog="Exit codes: 0 done; 1 something is wrong with what was given; 2 misuse of a command or"
    " an option; 130 stopped by Ctrl-C. NO_COLOR=1 turns colours off.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
add(app, demo, import_, inspect, ask, fit, predict, evaluate, labelstudio_config)
add(app, datasets, methods, benchmark, tune, reproduce)
study = typer.Typer(
    cls=Group,
    help="Run plans of datasets x draws x methods, resumably; report what came out.",
    short_help="Run plans of datasets x draws x methods, resumably; report what came out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
add(study, run, status, report, export)
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
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            complain("error: the result cannot be shown, as there is no space left for it")
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
