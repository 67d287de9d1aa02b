"""Options that several commands share, each written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Scheme(StrEnum):
    """How complementary labels are drawn."""

    uniform = "uniform"
    biased = "biased"
    own = "own"


STORE = Path("complabel-studies.sqlite")
"""The store in the folder where a command runs."""

MatchFrequencies = Annotated[
    bool,
    typer.Option(
        "--match-frequencies",
        help="Match each method's scores to how often labels apply, by the random answers.",
    ),
]
Folds = Annotated[int, typer.Option(metavar="N", min=2, help="Folds of the cross-validation.")]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="Seed of the label draw, the folds and the methods.")
]
Jobs = Annotated[
    int, typer.Option(metavar="N", help="Processes, one thread each; -1 for all cores.")
]
DataDir = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder with the files of datasets of the catalog."),
]
StorePath = Annotated[
    Path, typer.Option("--store", metavar="FILE", help="File that keeps all results.")
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write the results to this file.")
]
ReportFolder = Annotated[
    Path | None,
    typer.Option("--output", metavar="FOLDER", help="Folder to write. [default: STUDY-report]"),
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
DATASET_HELP = (
    "A name that 'complabel datasets' lists; or a file of yours: mine.arff, with mine.xml beside"
    " it (Mulan) or '-C' in its relation (MEKA), mine.svm, mine.mat, mine.npz. mine-train.arff"
    " and mine-test.arff, both given, are one dataset."
)


def check_folder(path: Path | None, option: str = "") -> None:
    """Refuse a file for which there is no folder, before anything runs."""
    from complabel.errors import InputError

    if path is not None and not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}".lstrip())


def _draw(
    scheme: Annotated[
        Scheme | None,
        typer.Option(
            "--scheme",
            "--labels",
            metavar="SCHEME",
            help="How complementary labels are drawn: uniform, biased, or own, what people really"
            " answered or excluded. [default: own for tables of answers, else uniform]",
        ),
    ] = None,
    question: Annotated[
        str,
        typer.Option(
            metavar="QUESTION",
            help="What people are asked. free: to name a label, of all, that does not apply;"
            " menu-2, menu-3, ...: of so many random ones; asked: whether a random label applies;"
            " ticked: to tick all that do not apply; none: nothing but the audit.",
        ),
    ] = "free",
    propensity_sd: Annotated[
        float,
        typer.Option(metavar="SD", min=0, help="How unequally labels come to mind; 0: equally."),
    ] = 0.0,
    mistakes: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0, max=1, help="Share of answers that are given at random."
        ),
    ] = 0.0,
    answers_per_item: Annotated[
        int, typer.Option(metavar="N", min=1, help="Independent answers about each item.")
    ] = 1,
    items_share: Annotated[
        float,
        typer.Option(
            metavar="SHARE", max=1, help="Share of the items that people are asked about."
        ),
    ] = 1.0,
    audit: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Ask N yes/no questions about random labels of random training rows besides.",
        ),
    ] = 0,
) -> dict[str, Any]:
    """Return the settings of a draw, as complabel.studies.Draw takes them."""
    return {
        **({} if scheme is None else {"scheme": scheme.value}),
        "question": question,
        "propensity_sd": propensity_sd,
        "mistakes": mistakes,
        "answers_per_item": answers_per_item,
        "items_share": items_share,
        "audit": audit,
    }


def with_draw(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that has a parameter ``draw`` the options for it, at its place."""
    signature = inspect.signature(command, eval_str=True)
    options = inspect.signature(_draw, eval_str=True).parameters

    @functools.wraps(command)
    def called(**given: Any) -> None:
        draw = _draw(**{name: given.pop(name) for name in options})
        command(**given, draw=draw)

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters.extend(options.values() if name == "draw" else [parameter])
    keywords = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    called.__signature__ = signature.replace(parameters=keywords)  # type: ignore[attr-defined]
    return called
