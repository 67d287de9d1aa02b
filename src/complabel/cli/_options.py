"""Arguments and options that several commands share, and their completion in the shell.

The shell completes at each press of the Tab key, so nothing here loads NumPy or torch.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import typer
from rich.markup import escape

from complabel._questions import ASKED_QUESTIONS, LISTING
from complabel.cli._outputs import Output
from complabel.errors import InputError


def option(
    metavar: str,
    text: str,
    *names: str,
    default: Any = None,
    output: Output | None = None,
    of_two: bool = False,
    **details: Any,
) -> Any:
    """Return an option of a command, with its text of help; its name is that of the parameter.

    It may be left out, unless ``default`` is ``...``. With ``output``, it names a file to write.
    ``of_two``: two values follow it each time, and the list has one after the other.
    """
    parameter = typer.Option(default, *names, metavar=metavar, help=escape(text), **details)
    parameter.output, parameter.of_two = output, of_two
    return parameter


def share(text: str, *names: str, default: float | None = 0.0) -> Any:
    """Return an option with a number from 0 to 1."""
    return option("SHARE", text, *names, default=default, min=0, max=1)


def flag(text: str, *names: str) -> Any:
    """Return an option that is given or not; without names, it also has a form with --no."""
    return typer.Option(False, *names, help=text, metavar="")


def target(
    text: str, *names: str, endings: tuple[str, ...] = (), page: bool = False, **details: Any
) -> Any:
    return option("FILE", text, *names, output=Output(endings, page), **details)


def argument(
    metavar: str, text: str, *, default: Any = ..., output: Output | None = None, **details: Any
) -> Any:
    """Return an argument of a command, with its text of help; it must be given."""
    parameter = typer.Argument(default, metavar=metavar, help=escape(text), **details)
    parameter.output = output
    return parameter


def with_examples(*commands: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add examples to a command's help, each on a line of its own."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        lines = ["Examples:", *(f"$ complabel {escape(line)}" for line in commands)]
        command.examples = "\n\n".join(lines)  # type: ignore[attr-defined]
        return command

    return give


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command each option of its groups; a group is a data class whose fields are options.

    So commands share options that belong together, and what is done with them.
    """
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    signature = inspect.signature(command, eval_str=True)
    for name, parameter in signature.parameters.items():
        group, each = parameter.annotation, [parameter]
        if dataclasses.is_dataclass(group):
            each = [*inspect.signature(group, eval_str=True).parameters.values()]  # type: ignore[arg-type]
            groups[name] = group, [option.name for option in each]
        parameters += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in each]

    def called(**values: Any) -> None:
        for name, (group, names) in groups.items():
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    functools.update_wrapper(called, command)
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


TABLE = (".csv", ".csv.gz", ".parquet")
"""How the names of tables of answers that are written may end."""
QUESTIONS = (*ASKED_QUESTIONS, *LISTING)
"""What a table of answers may say was asked."""


def pairs_of(option: str, texts: list[str] | None, form: str = "OLD=NEW") -> dict[str, str]:
    """Read what is typed as OLD=NEW, such as the new name of each label that is merged."""
    parts = [text.partition("=") for text in texts or ()]
    for problem in (
        f"{form}, two names" * (not all(old and new for old, _, new in parts)),
        f"each {form.partition('=')[0]} once" * (len({old for old, *_ in parts}) < len(parts)),
    ):
        if problem:
            raise InputError(f"{option} is {', '.join(texts or ())}; give {problem}")
    return {old: new for old, _, new in parts}


def one_of(*words: str) -> dict[str, Any]:
    """Return the settings of an option that takes one of these words; the shell completes them."""

    def check(word: str | None) -> str | None:
        if word is not None and word not in words:
            raise typer.BadParameter(f"{word!r} is none of {', '.join(words)}")
        return word

    return {"callback": check, "autocompletion": lambda: [*words]}


METHOD_HELP = (
    "Give a name, such as ridge; a name with settings, such as lift:solver=libsvm; or a class of"
    " yours, such as package.module:Class. 'complabel methods' lists the names."
)
_FEATURES = "Features of the items: .csv, .parquet, .npy, .npz or .svm."

ANSWERS = argument("ANSWERS", "Tables of answers, as complabel import writes.")
MODEL = argument("MODEL", "File that complabel fit wrote.")
FEATURES_OF_MODEL = argument(
    "FEATURES",
    f"{_FEATURES} Or a folder of pictures, or a table of texts or of paths of pictures, of which"
    " features are made as the model's file says.",
)
FEATURES = option("FILE", _FEATURES, default=...)
FEATURES_IF_ANY = option("FILE", _FEATURES)
ITEMS = option(
    "FILE",
    "File with the item of each row of the features, one on each line. [default: the column item"
    " of the features, else row numbers from 0]",
)
ITEM = option(
    "COLUMN",
    "Column of the table with the name of the item. [default: that of the table from which a model"
    " learned, else item if there is one, else row numbers from 0]",
)
ON_ERROR = option(
    "stop|skip",
    "What to do with a picture that cannot be read.",
    default="stop",
    **one_of("stop", "skip"),
)
LABEL_NAMES = option(
    "FILE", "File with all labels, one on each line. [default: the labels that the answers mention]"
)


def _contradictions(text: str, *other_policies: str) -> Any:
    return option(
        "POLICY",
        "What to do if one answer says that a label applies to an item and another denies it."
        " error: stop; drop: drop both; majority: keep what most annotators say; trust-relevant:"
        f" the label applies{text}.",
        default="error",
        **one_of("error", "drop", "majority", "trust-relevant", *other_policies),
    )


CONTRADICTIONS = _contradictions("")
CONTRADICTIONS_OR_KEEP = _contradictions(
    "; keep: keep all answers, for a method that allows for mistakes", "keep"
)
TRUSTED = option(
    "NAME", "Where people contradict each other, this person is right; repeat for more."
)
READ_AS = option(
    "QUESTION",
    "What was asked, where the answers do not say it. named: somebody named a label that does not"
    " apply. positive: somebody named a label that applies. asked: somebody was asked about this"
    " label. ticked: somebody ticked labels in a list; if an answer has only yes, all that apply,"
    " if it has only no, all that do not. excluded: a rule says that the label does not apply."
    " tagged: somebody gave labels that apply, as many as they cared to; the others are not known.",
    **one_of(*QUESTIONS),
)
MATCH_FREQUENCIES = flag(
    "Adjust each method's scores to the label frequencies; these are estimated from answers to"
    " random questions.",
    "--match-frequencies",
)
QUESTIONS_TO_DRAW = option("N", "Number of these questions.", "-n", "--number", default=200, min=1)
ONLY_YES = flag(
    "The machine's table lists only what applies: it says no of all else, about all items.",
    "--only-yes",
)
BEFORE = option(
    "MACHINE ANSWERS",
    "What the machine, or an earlier version, said of the items of an earlier month, and people's"
    " answers about it; repeat for more answers with the same MACHINE, and for older months, the"
    " latest first. They count as far as the new answers agree with them.",
    "--before",
    of_two=True,
)
DATA_DIR = option(
    "FOLDER",
    "Folder with the files of the catalog's datasets; $COMPLABEL_DATA and the user's cache are"
    " searched, too.",
)
JSON_FILE = target("Also write the results to this file as JSON.", "--json")


def cross_fit(done: str) -> Any:
    """Return the option ``--cross-fit`` of a command that does something with the fits."""
    return option(
        "N",
        "For --answers that the model learned from: fit it anew N times, each time without the"
        f" answers about one part of the items, and {done} these fits. Give all the answers that"
        " the model learned from.",
        min=2,
    )
