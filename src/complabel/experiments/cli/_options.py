"""Arguments and options of the commands for experiments, and their completion in the shell.

The shell completes at each press of the Tab key, so nothing here loads NumPy or torch.
"""

from __future__ import annotations

import functools
import inspect
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from complabel._questions import kinds_in_words
from complabel.cli import (
    CONTRADICTIONS,
    ITEMS,
    LABEL_NAMES,
    READ_AS,
    Output,
    argument,
    flag,
    one_of,
    option,
    share,
)
from complabel.experiments.paper import PLANS, TABLES
from complabel.methods import METHODS

# Endings that complabel.experiments.datasets reads, without those of archives.
_DATASET_ENDINGS = (".arff", ".npz", ".mat", ".svm", ".svmlight", ".libsvm")


def complete_catalog() -> list[str]:
    """Return all names in the catalog's file; the room of datasets would load SciPy."""
    catalog = resources.files("complabel.experiments").joinpath("datasets", "catalog.toml")
    return [*tomllib.loads(catalog.read_text("utf-8"))]


def complete_dataset(incomplete: str) -> list[str]:
    return [*complete_catalog(), *_files(incomplete, _DATASET_ENDINGS)]


def complete_plan(incomplete: str) -> list[str]:
    return [*PLANS, *_files(incomplete, (".toml",))]


def complete_method() -> list[str]:
    """Return names of methods, with those of other installed packages."""
    return [*METHODS, *(entry.name for entry in metadata.entry_points(group="complabel.methods"))]


def complete_table() -> list[str]:
    return [*TABLES]


def _files(incomplete: str, endings: tuple[str, ...]) -> Iterator[str]:
    before, slash, begun = incomplete.rpartition("/")
    try:
        found = sorted(Path(before + slash or ".").iterdir())
    except OSError:
        return
    for path in found:
        if path.name.startswith(begun) and (begun or not path.name.startswith(".")):
            if path.is_dir():
                yield f"{before}{slash}{path.name}/"
            elif path.name.lower().endswith(endings):
                yield f"{before}{slash}{path.name}"


DATASET_HELP = (
    "A name that 'complabel datasets' lists; or a file of yours: .arff, .svm, .mat or .npz. An"
    " .arff file needs an .xml file of the same name beside it (Mulan), or '-C' in its relation"
    " (MEKA). If you give both mine-train.arff and mine-test.arff, they become one dataset."
)
DEFAULT_STORE = Path("complabel-studies.sqlite")  # in the current folder
DATASETS = argument("DATASET", DATASET_HELP, default=None, autocompletion=complete_dataset)
STUDY_NAME = argument("STUDY", "Name of the study. [default: the latest]", default=None)
SEED = option("N", "Seed of the label draw, the folds and the methods.", default=0, min=0)
STORE = option("FILE", "SQLite file that keeps all results.", default=DEFAULT_STORE)
REPORT_FOLDER = option(
    "FOLDER",
    "Write the report to this folder. [default: STUDY-report]",
    "--out",
    output=Output(later=True),
)
DASK = option("ADDRESS", "Run on the workers of this Dask scheduler instead.")
RETRY_FAILED = flag("Also run the units that failed before.")
QUICK = flag("Try the plan: three folds, and only the first two datasets at hand.")


def folds(default: int) -> Any:
    return option("N", "Folds of the cross-validation.", default=default, min=2)


def jobs(default: int) -> Any:
    return option(
        "N", "Number of processes, one thread each; -1: one for each core.", default=default
    )


def _tables(
    features: Path | None = option(
        "FILE",
        "Features of your items, as for complabel fit. Each DATASET is then a table of answers"
        " about these items.",
    ),
    truth: Path | None = option(
        "FILE",
        "Only with --features: a table of true labels, with the column item and a column of 0"
        " and 1 per label. Some items may be missing.",
    ),
    items: Path | None = ITEMS,
    label_names: Path | None = LABEL_NAMES,
    read_as: str | None = READ_AS,
    contradictions: str = CONTRADICTIONS,
) -> None:
    """Options about the user's own tables, for studies."""


def _draw(
    scheme: str | None = option(
        "SCHEME",
        "How complementary labels are drawn. uniform: all that do not apply are equally"
        " likely; biased: some are more likely; own: use what people really answered or"
        " excluded. [default: own for tables of answers, else uniform]",
        **one_of("uniform", "biased", "own"),
    ),
    labels: str | None = option(
        "LABELS",
        "released: the uniform or biased labels that the paper's group released, from"
        " released/NAME.csv in the data folder.",
        "--labels-from",
        **one_of("released"),
    ),
    question: str = option(
        "QUESTION",
        f"What people are asked. {kinds_in_words()} free is named, too. none: only the audit"
        " questions.",
        default="free",
    ),
    propensity_sd: float = option(
        "SD", "How unequally labels come to mind; 0: all alike.", default=0.0, min=0
    ),
    error_rate: float = share("Share of answers that are given at random.", "--error-rate"),
    missed: float = share("How often people miss a label that applies."),
    invented: float = share("How often people invent a label that does not apply."),
    answers_per_item: int = option("N", "Independent answers about each item.", default=1, min=1),
    items_share: float = option(
        "SHARE", "Share of the items that people are asked about.", default=1.0, max=1
    ),
    audit: int = option(
        "N",
        "Also ask N yes/no questions about random labels of random training rows.",
        default=0,
        min=0,
    ),
) -> None:
    """Options that describe a draw, as :class:`complabel.experiments.studies.Draw` takes them."""


def with_tables_and_draw(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameters ``tables`` and ``draw`` by options; the command gets those given."""
    groups = {"tables": _options_of(_tables), "draw": _options_of(_draw)}

    def called(**given: Any) -> None:
        grouped = {
            name: {each: value for each in options if (value := given.pop(each)) is not None}
            for name, options in groups.items()
        }
        command(**given, **grouped)

    parameters: list[inspect.Parameter] = []
    for name, parameter in _options_of(command).items():
        parameters += groups[name].values() if name in groups else [parameter]
    made = functools.wraps(command)(called)
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    made.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return made


def _options_of(function: Callable[..., None]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters


def at(store: Path) -> Path | None:
    """Return the option ``store`` of the next command; None for the default store."""
    return None if store == DEFAULT_STORE else store
