"""The `complabel` command and how it ends."""

from __future__ import annotations

import sys

import typer

from complabel import __version__
from complabel.cli._benchmark import benchmark
from complabel.cli._console import errors
from complabel.cli._datasets import datasets
from complabel.cli._demo import demo
from complabel.cli._study import reproduce, study
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
app.command()(reproduce)
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
    try:
        app()
    except ComplabelError as error:
        errors().print(
            f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True
        )
        sys.exit(1)
