"""Arguments and options that several commands share, and their completion in the shell.

The shell completes at each press of the Tab key, so nothing here loads NumPy or torch.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from complabel._questions import ASKED_QUESTIONS, kinds_in_words
from complabel.cli._outputs import Output


def option(
    metavar: str,
    text: str,
    *names: str,
    default: Any = None,
    output: Output | None = None,
    **more: Any,
) -> Any:
    """Return an option of a command, with its text of help; its name is that of the parameter.

    It may be left out, unless ``default`` is ``...``. With ``output``, it names a file to write.
    """
    made = typer.Option(default, *names, metavar=metavar, help=text, **more)
    made.output = output
    return made


def share(text: str, *names: str, default: float | None = 0.0, metavar: str = "SHARE") -> Any:
    """Return an option with a number from 0 to 1."""
    return option(metavar, text, *names, default=default, min=0, max=1)


def flag(text: str, *names: str) -> Any:
    """Return an option that is given or not; without names, it also has a form with --no."""
    return typer.Option(False, *names, help=text)


def target(
    text: str, *names: str, endings: tuple[str, ...] = (), page: bool = False, **more: Any
) -> Any:
    return option("FILE", text, *names, output=Output(endings, page), **more)


def argument(
    metavar: str, text: str, *, default: Any = ..., output: Output | None = None, **more: Any
) -> Any:
    """Return an argument of a command, with its text of help; it must be given."""
    made = typer.Argument(default, metavar=metavar, help=text, **more)
    made.output = output
    return made


def with_examples(*commands: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add examples to a command's help, each on a line of its own."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        lines = ["\b", "Examples:", *(f"  $ complabel {line}" for line in commands)]
        command.examples = "\n".join(lines)  # type: ignore[attr-defined]
        return command

    return give


# Endings that complabel.datasets reads, without those of archives.
_DATASET_ENDINGS = (".arff", ".npz", ".mat", ".svm", ".svmlight", ".libsvm")


def complete_catalog() -> list[str]:
    """Return all names in the catalog's file; ``complabel.datasets`` would load SciPy."""
    import tomllib
    from importlib import resources

    catalog = resources.files("complabel").joinpath("datasets", "catalog.toml")
    return [*tomllib.loads(catalog.read_text("utf-8"))]


def complete_dataset(incomplete: str) -> list[str]:
    return [*complete_catalog(), *_files(incomplete, _DATASET_ENDINGS)]


def complete_method() -> list[str]:
    """Return names of methods, with those of other installed packages."""
    from importlib import metadata

    from complabel.methods import METHODS

    return [*METHODS, *(entry.name for entry in metadata.entry_points(group="complabel.methods"))]


def complete_plan(incomplete: str) -> list[str]:
    from complabel.paper import PLANS

    return [*PLANS, *_files(incomplete, (".toml",))]


def complete_table() -> list[str]:
    from complabel.paper import TABLES

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


TABLE = (".csv", ".csv.gz", ".parquet")
"""How the names of tables of answers that are written may end."""
QUESTIONS = (*ASKED_QUESTIONS, "excluded")
"""What a table of answers may say was asked."""


def one_of(*words: str) -> dict[str, Any]:
    def check(given: str | None) -> str | None:
        if given is not None and given not in words:
            raise typer.BadParameter(f"{given!r} is none of {', '.join(words)}")
        return given

    return {"callback": check, "autocompletion": lambda: [*words]}


METHOD_HELP = (
    "Give a name, such as ridge; a name with settings, such as lift:solver=libsvm; or a class of"
    " yours, such as package.module:Class. 'complabel methods' lists the names."
)
DATASET_HELP = (
    "A name that 'complabel datasets' lists; or a file of yours: .arff, .svm, .mat or .npz. An"
    " .arff file needs an .xml file of the same name beside it (Mulan), or '-C' in its relation"
    " (MEKA). If you give both mine-train.arff and mine-test.arff, they become one dataset."
)
_FEATURES = "Features of the items: .csv, .parquet, .npy, .npz or .svm."
DEFAULT_STORE = Path("complabel-studies.sqlite")  # in the current folder

ANSWERS = argument("ANSWERS", "Tables of answers, as complabel import writes.")
MODEL = argument("MODEL", "File that complabel fit wrote.")
FEATURES_OF_MODEL = argument("FEATURES", _FEATURES)
DATASETS = argument("DATASET", DATASET_HELP, default=None, autocompletion=complete_dataset)
STUDY_NAME = argument("STUDY", "Name of the study. [default: the latest]", default=None)
FEATURES = option("FILE", _FEATURES, default=...)
FEATURES_IF_ANY = option("FILE", _FEATURES)
ITEMS = option(
    "FILE",
    "File with the item of each row of the features, one on each line. [default: the column item"
    " of the features, else row numbers from 0]",
)
LABEL_NAMES = option(
    "FILE", "File with all labels, one on each line. [default: the labels that the answers mention]"
)


def _contradictions(text: str, *more: str) -> Any:
    return option(
        "POLICY",
        "What to do if one answer says that a label applies to an item and another denies it."
        " error: stop; drop: drop both; majority: keep what most annotators say; trust-relevant:"
        f" the label applies{text}.",
        default="error",
        **one_of("error", "drop", "majority", "trust-relevant", *more),
    )


CONTRADICTIONS = _contradictions("")
CONTRADICTIONS_OR_KEEP = _contradictions(
    "; keep: keep all answers, for a method that allows for mistakes", "keep"
)
QUESTION = option(
    "QUESTION",
    "What was asked, where the answers do not say it. named: somebody named a label that does not"
    " apply. asked: somebody was asked about this label. ticked: somebody ticked labels in a list;"
    " if an answer has only yes, all that apply, if it has only no, all that do not. excluded: a"
    " rule says that the label does not apply.",
    **one_of(*QUESTIONS),
)
MATCH_FREQUENCIES = flag(
    "Adjust each method's scores to the label frequencies; these are estimated from answers to"
    " random questions.",
    "--match-frequencies",
)
SEED = option("N", "Seed of the label draw, the folds and the methods.", default=0, min=0)
DATA_DIR = option(
    "FOLDER",
    "Folder with the files of the catalog's datasets; $COMPLABEL_DATA and the user's cache are"
    " searched, too.",
)
STORE = option("FILE", "SQLite file that keeps all results.", default=DEFAULT_STORE)
JSON_FILE = target("Also write the results to this file as JSON.", "--json")
REPORT_FOLDER = option(
    "FOLDER",
    "Write the report to this folder. [default: STUDY-report]",
    "--output",
    output=Output(later=True),
)
DASK = option("ADDRESS", "Run on the workers of this Dask scheduler instead.")
RETRY_FAILED = flag("Also run the units that failed before.")
QUICK = flag("Try the plan: three folds, and only the first two datasets at hand.")


def folds(default: int) -> Any:
    return option("N", "Folds of the cross-validation.", default=default, min=2)


def cross_fit(done: str) -> Any:
    """Return the option ``--cross-fit`` of a command that does something with the fits."""
    return option(
        "N",
        "For --answers that the model learned from: fit it anew N times, each time without the"
        f" answers about one part of the items, and {done} these fits. Give all the answers that"
        " the model learned from.",
        min=2,
    )


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
        **one_of("released"),
    ),
    question: str = option(
        "QUESTION",
        f"What people are asked. {kinds_in_words()} free is named, too. none: only the audit"
        " questions. With tables of answers: what was asked where they do not say it, named,"
        " asked, ticked or excluded.",
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
    """Options that describe a draw, as :class:`complabel.studies.Draw` takes them."""


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
