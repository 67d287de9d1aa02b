"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from complabel.cli._outputs import Output


class Scheme(StrEnum):
    """How complementary labels are drawn."""

    uniform = "uniform"
    biased = "biased"
    own = "own"


class Labels(StrEnum):
    """Which complementary labels are taken: a scheme, or released ones."""

    uniform = "uniform"
    biased = "biased"
    own = "own"
    released = "released"


STORE = Path("complabel-studies.sqlite")
"""The default store, in the current folder."""

MatchFrequencies = Annotated[
    bool,
    typer.Option(
        "--match-frequencies",
        help="Adjust each method's scores to the label frequencies; these are estimated from"
        " answers to random questions.",
    ),
]
Folds = Annotated[int, typer.Option(metavar="N", min=2, help="Folds of the cross-validation.")]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="Seed of the label draw, the folds and the methods.")
]
Jobs = Annotated[
    int,
    typer.Option(metavar="N", help="Number of processes, one thread each; -1: one for each core."),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder with the files of the catalog's datasets; $COMPLABEL_DATA and the user's cache"
        " are searched, too.",
    ),
]
StorePath = Annotated[
    Path, typer.Option("--store", metavar="FILE", help="SQLite file that keeps all results.")
]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write the results to this file as JSON."),
    Output(),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FOLDER",
        help="Write the report to this folder. [default: STUDY-report]",
    ),
    Output(later=True),
]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler instead."),
]
RetryFailed = Annotated[bool, typer.Option(help="Also run the units that failed before.")]
Quick = Annotated[
    bool, typer.Option(help="Try the plan: three folds, and only the first two datasets at hand.")
]
StudyName = Annotated[
    str | None,
    typer.Argument(metavar="STUDY", help="Name of the study. [default: the latest]"),
]

METHOD_HELP = (
    "Give a name, such as ridge; a name with settings, such as lift:solver=libsvm; or a class of"
    " yours, such as package.module:Class. 'complabel methods' lists the names."
)
DATASET_HELP = (
    "A name that 'complabel datasets' lists; or a file of yours: .arff, .svm, .mat or .npz. An"
    " .arff file needs an .xml file of the same name beside it (Mulan), or '-C' in its relation"
    " (MEKA). If you give both mine-train.arff and mine-test.arff, they become one dataset."
)


def _draw(
    scheme: Annotated[
        Scheme | None,
        typer.Option(
            "--scheme",
            metavar="SCHEME",
            help="How complementary labels are drawn. uniform: all that do not apply are equally"
            " likely; biased: some are more likely; own: use what people really answered or"
            " excluded. [default: own for tables of answers, else uniform]",
        ),
    ] = None,
    labels: Annotated[
        Labels | None,
        typer.Option(
            "--labels",
            metavar="LABELS",
            help="released: the uniform or biased labels that the paper's group released, from"
            " released/NAME.csv in the data folder. Else another name of --scheme.",
        ),
    ] = None,
    question: Annotated[
        str,
        typer.Option(
            metavar="QUESTION",
            help="What people are asked. free: name one label that does not apply; menu-2, menu-3,"
            " ...: the same, but from a menu of 2, 3, ... random labels; asked: does this random"
            " label apply?; ticked: tick all labels that do not apply; none: only the audit"
            " questions. With tables of answers: what was asked where they do not say it, named,"
            " asked, ticked or excluded.",
        ),
    ] = "free",
    propensity_sd: Annotated[
        float,
        typer.Option(metavar="SD", min=0, help="How unequally labels come to mind; 0: all alike."),
    ] = 0.0,
    error_rate: Annotated[
        float,
        typer.Option(
            "--error-rate",
            "--mistakes",
            metavar="SHARE",
            min=0,
            max=1,
            help="Share of answers that are given at random.",
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
            help="Also ask N yes/no questions about random labels of random training rows.",
        ),
    ] = 0,
) -> dict[str, Any]:
    """Return the settings of a draw, as complabel.studies.Draw takes them."""
    # All but "released" is another name of --scheme.
    source = "labels" if labels is Labels.released or scheme is not None else "scheme"
    return {
        **({} if scheme is None else {"scheme": scheme.value}),
        **({} if labels is None else {source: labels.value}),
        "question": question,
        "propensity_sd": propensity_sd,
        "error_rate": error_rate,
        "answers_per_item": answers_per_item,
        "items_share": items_share,
        "audit": audit,
    }


def with_draw(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``draw`` of a command by the options that describe a draw."""
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
