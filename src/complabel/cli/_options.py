"""Options that several commands share, each written once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Scheme(StrEnum):
    """How complementary labels are drawn."""

    uniform = "uniform"
    biased = "biased"


STORE = Path("complabel-studies.sqlite")
"""The store in the folder where a command runs."""

SchemeName = Annotated[
    Scheme,
    typer.Option("--scheme", "--labels", help="How complementary labels are drawn."),
]
Folds = Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")]
Seed = Annotated[
    int, typer.Option(min=0, help="Seed of the label draw, the folds and the methods.")
]
Jobs = Annotated[int, typer.Option(help="Processes, one thread each; -1 for all cores.")]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder with the files of datasets of the catalog.")
]
StorePath = Annotated[Path, typer.Option("--store", help="File that keeps all results.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", help="Also write the results to this file.")
]
ReportFolder = Annotated[
    Path | None, typer.Option("--output", help="Folder to write. [default: STUDY-report]")
]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on this Dask scheduler's workers instead."),
]
RetryFailed = Annotated[bool, typer.Option(help="Run again what failed before.")]
Quick = Annotated[bool, typer.Option(help="Three folds of the first two datasets at hand.")]
StudyName = Annotated[
    str | None, typer.Argument(metavar="[STUDY]", help="Its name. [default: the latest]")
]

METHOD_HELP = (
    "a name; one with settings, as in lift:solver=libsvm; or a class of yours, as in"
    " package.module:Class"
)
DATASET_HELP = "Names that 'complabel datasets' lists, or files of yours (.npz, .svm)."


def check_folder(path: Path | None, option: str = "") -> None:
    """Refuse a file for which there is no folder, before anything runs."""
    from complabel.errors import InputError

    if path is not None and not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}".lstrip())
