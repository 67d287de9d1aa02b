"""Options and functions of the commands that read the user's answers, features and models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from complabel.cli._console import remark, say
from complabel.cli._working import working
from complabel.errors import AnnotationError, InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import AnswerFile, Features
    from complabel.methods import ComplementaryClassifier

AnswersFiles = Annotated[
    list[Path],
    typer.Argument(metavar="ANSWERS", help="Tables of answers, as complabel import writes."),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File that complabel fit wrote.")]
FeaturesFile = Annotated[
    Path,
    typer.Option(
        "--features",
        metavar="FILE",
        help="Features of the items: .csv, .parquet, .npy, .npz or .svm.",
    ),
]
ItemsFile = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="File with the item of each row of the features, one on each line. [default: the"
        " column item of the features, else row numbers from 0]",
    ),
]
LabelNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with all labels, one on each line. [default: the labels that the answers"
        " mention]",
    ),
]
_POLICIES = ("error", "drop", "majority", "trust-relevant")


def _policy(given: str) -> str:
    """Refuse an unknown policy before any file is read."""
    if given not in _POLICIES:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(_POLICIES)}")
    return given


Contradictions = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        callback=_policy,
        autocompletion=lambda incomplete: [p for p in _POLICIES if p.startswith(incomplete)],
        help="What to do if one answer says that a label applies to an item and another denies it."
        " error: stop; drop: drop both; majority: keep what most annotators say; trust-relevant:"
        " the label applies.",
    ),
]

QUESTIONS = ("named", "asked", "ticked", "excluded")


def _question(given: str | None) -> str | None:
    """Refuse an unknown question before any file is read."""
    if given is not None and given not in QUESTIONS:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(QUESTIONS)}")
    return given


Question = Annotated[
    str | None,
    typer.Option(
        metavar="QUESTION",
        callback=_question,
        autocompletion=lambda incomplete: [q for q in QUESTIONS if q.startswith(incomplete)],
        help="What was asked, where the answers do not say it. named: somebody named a label that"
        " does not apply. asked: somebody was asked about this label. ticked: all labels that do"
        " not apply were ticked. excluded: a rule says that the label does not apply.",
    ),
]

_MOST_SHOWN = 5


def read_own_answers(
    paths: Sequence[Path],
    items: Sequence[str] | None,
    *,
    label_names: Path | Sequence[str] | None = None,
    question: str | None = None,
    contradictions: str = "error",
    says: bool = True,
) -> Answers:
    """Read answers about some items, and print what each file holds.

    Without ``label_names``, the labels are those that any of the files mentions. Contradictions are
    settled among all files together; "keep" leaves them as they are. With ``says=False``, only
    files with answers about unknown items are reported.
    """
    from complabel.files import read_label_names

    names = read_label_names(label_names) if isinstance(label_names, Path) else label_names
    listed = names is not None
    found = read_quietly(paths, items, names, question)
    for path, file in zip(paths, found.parts, strict=True):
        if not says and not file.unmatched_items:
            continue
        say(f"{path}: {file.answers.n_answers:,} answers, {file.answers.n_labels} labels")
        for line in file.reconciliation():
            say(f"  {line}")
    if says and not listed and (found.answers.question != "asked").any():
        remark(
            "labels that no answer mentions are unknown here; give all label names with"
            " --label-names",
            style="yellow",
        )
    said = found.answers
    return said if contradictions == "keep" else _settled(said, paths, contradictions)


def _settled(said: Answers, paths: Sequence[Path], contradictions: Any) -> Answers:
    """Settle and print the contradictions between answers, or refuse them."""
    from complabel.answers import resolve_contradictions

    lines = _contradictory(said)
    if not lines:
        return said
    if contradictions == "error":
        raise AnnotationError(
            "\n  ".join([f"{' and '.join(map(str, paths))}: {lines[0]}", *lines[1:]])
            + "\ncorrect the files, or choose what to do with --contradictions: drop, majority or"
            " trust-relevant"
        )
    settled = resolve_contradictions(said, contradictions)
    for line in lines:
        remark(line if line is lines[0] else f"  {line}", style="yellow")
    gone = said.n_answers - settled.n_answers
    say(f"settled by {contradictions}: {gone:,} of {said.n_answers:,} answers were dropped")
    return settled


def read_quietly(
    paths: Sequence[Path],
    items: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    question: Any = None,
) -> AnswerFile:
    """Read files with their contradictions, and print nothing about what they hold."""
    from complabel.answers import UnlistedLabelsWarning
    from complabel.files import UnmatchedItemsWarning, read_answers

    with working(f"reading {' and '.join(map(str, paths))}"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmatchedItemsWarning)
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        return read_answers(
            paths, items=items, label_names=names, question=question, contradictions="keep"
        )


def _contradictory(answers: Answers) -> list[str]:
    """Return lines with the number of contradictions and the first ones; none: an empty list."""
    from complabel.answers import contradictions_table

    found = contradictions_table(answers)
    columns = (found[name] for name in ("item", "label", "applies_by", "denied_by"))
    shown = [
        f"{item}: {label} applies, says {_people(yes)}; does not, says {_people(no)}"
        for item, label, yes, no in zip(*columns, strict=True)
    ]
    if not shown:
        return []
    more = len(shown) - _MOST_SHOWN
    some = shown[:_MOST_SHOWN] + ([f"and {more:,} more"] if more > 0 else [])
    counted = "1 contradiction" if len(shown) == 1 else f"{len(shown):,} contradictions"
    return [f"{counted} about whether a label applies to an item", *some]


def _people(names: Sequence[str]) -> str:
    """Join the names of annotators; "somebody" if they have none."""
    return ", ".join(names) or "somebody"


def refuse_reference(classifier: ComplementaryClassifier, method: str) -> None:
    """Refuse a method that learns from true labels, because here are only answers."""
    if classifier.learns_from != "complementary":
        raise InputError(
            f"{method} learns from true labels, not from answers; choose one of 'complabel methods'"
        )


def refuse_lone_items(items: Path | None, features: Path | None) -> None:
    """Refuse ``--items`` without ``--features``."""
    if items is not None and features is None:
        raise InputError(
            "--items is given without --features; it names the rows of the features, so give both"
            " or neither"
        )


def with_names(found: Features) -> Any:
    """Return features as a data frame, if the columns have names."""
    if found.feature_names is None or hasattr(found.X, "tocsr"):
        return found.X
    import pandas as pd  # type: ignore[import-untyped]

    return pd.DataFrame(found.X, columns=list(found.feature_names), copy=False)


def for_model(found: Features, classifier: ComplementaryClassifier) -> Any:
    """Return the columns that a model needs, matched by name if both sides have names."""
    wanted = getattr(classifier, "feature_names_in_", None)
    if wanted is None or found.feature_names is None:
        if found.X.shape[1] != classifier.n_features_in_:
            raise InputError(
                f"the features have {found.X.shape[1]} columns, but the model was fitted to"
                f" {classifier.n_features_in_}; give the same features as in fit"
            )
        return found.X if wanted is None else _framed(found.X, wanted)
    missing = sorted({*wanted} - {*found.feature_names})
    if missing:
        some = ", ".join(missing[:_MOST_SHOWN]) + ", ..." * (len(missing) > _MOST_SHOWN)
        raise InputError(
            f"the features lack {len(missing)} columns that the model was fitted to: {some}; give"
            " the same features as in fit"
        )
    place = {name: at for at, name in enumerate(found.feature_names)}
    order = [place[name] for name in wanted]
    same = order == list(range(len(found.feature_names)))
    return _framed(found.X if same else found.X[:, order], wanted)


def _framed(X: Any, names: Any) -> Any:
    """Return a dense matrix as a data frame, and a sparse one unchanged."""
    if hasattr(X, "tocsr"):
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=list(names), copy=False)
