"""The `complabel` command: its parts and its exit codes."""

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
    help="Learn multi-label classifiers from complementary labels: labels that people said do not"
    " apply.",
    cls=Group,
    no_args_is_help=True,
    epilog="Exit codes: 0: done; 1: a file or a value is wrong; 2: a command or an option is used"
    " wrongly; 130: stopped by Ctrl-C. Set NO_COLOR=1 to turn colours off.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
add(app, demo, import_, inspect, ask, fit, predict, evaluate, labelstudio_config)
add(app, datasets, methods, benchmark, tune, reproduce)
study = typer.Typer(
    cls=Group,
    help="Run a study of datasets, draws and methods, and report its results.",
    short_help="Run a study of datasets, draws and methods, and report its results.",
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
    # A class of the user's may be in the current folder. It comes last, so that no file in it hides
    # a library.
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
            complain(
                "error: no space is left to write the result; free some space and run the command"
                " again"
            )
            sys.exit(1)


def _hint(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show warnings of complabel and about old names as hints, all others as Python does."""
    if issubclass(category, FutureWarning) or category.__module__.startswith("complabel."):
        remark(f"hint: {message}")
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        print(text, file=file or sys.stderr, end="")
