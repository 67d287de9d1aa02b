"""What the commands share that read somebody's own answers, features and models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from complabel.cli._console import errors, remark, say
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.annotations import Answers
    from complabel.methods import ComplementaryClassifier
    from complabel.tables import AnswerFile, Features

AnswersFiles = Annotated[
    list[Path],
    typer.Argument(metavar="ANSWERS...", help="Tables of answers, as complabel import writes."),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="What complabel fit wrote.")]
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
        help="The id of each row of the features, one on each line. [default: the column item,"
        " or row numbers from 0]",
    ),
]
LabelNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="All labels, one on each line. [default: those that the answers mention]",
    ),
]
Contradictions = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        help="What to do if one answer says that a label applies to an item, and another denies it."
        " error: stop; drop: strike out both; majority: keep what most say; trust-relevant: keep"
        " that it applies.",
    ),
]

_MOST_SHOWN = 5


def read_own_answers(
    paths: Sequence[Path],
    items: Sequence[str] | None,
    *,
    label_names: Path | Sequence[str] | None = None,
    contradictions: str = "error",
) -> Answers:
    """Read answers about some items, and say what became of the files.

    Without names of labels, all labels are those that any of the files mentions.
    """
    from complabel.annotations import Answers, resolve_contradictions
    from complabel.tables import read_label_names

    names = read_label_names(label_names) if isinstance(label_names, Path) else label_names
    policy: Any = contradictions
    if len(paths) == 1:
        return _read(paths[0], items, names, policy, warns=True).answers
    if names is None:
        seen = [_read(path, items, None, policy, warns=False).answers for path in paths]
        names = sorted({name for each in seen for name in each.label_names or ()})
        if items is None:
            items = _all_items(seen)
    elif items is None:
        seen = [_read(path, None, names, policy, warns=False).answers for path in paths]
        items = _all_items(seen)
    both = Answers.concatenate([_read(path, items, names, policy).answers for path in paths])
    return resolve_contradictions(both, policy)


def _all_items(several: Sequence[Answers]) -> list[str]:
    """Return what several files call their items, sorted."""
    named = (answers.item_names for answers in several)
    return sorted({str(each) for names in named if names is not None for each in names})


def _read(
    path: Path,
    items: Sequence[str] | None,
    names: Sequence[str] | None,
    policy: Any,
    *,
    warns: bool = False,
) -> AnswerFile:
    """Read a file and, but for a first look, say what became of it."""
    from complabel.annotations import UnlistedLabelsWarning
    from complabel.tables import UnmatchedItemsWarning, read_answers

    with errors().status(f"reading {path}"), warnings.catch_warnings():
        # What is said below says it better.
        warnings.simplefilter("ignore", UnmatchedItemsWarning)
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        file = read_answers(path, items=items, label_names=names, contradictions=policy)
    if names is not None or warns:
        said = file.answers
        say(f"{path}: {said.n_answers:,} answers, {said.n_labels} labels")
        for line in file.reconciliation():
            say(f"  {line}")
        for line in _contradictory(file):
            remark(f"  {line}", style="yellow")
        if names is None and (said.question != "asked").any():
            remark(
                "  labels that nobody mentioned are not known; give all with --label-names",
                style="yellow",
            )
    return file


def _contradictory(file: AnswerFile) -> list[str]:
    """Write the first contradictions of a file, a line for each."""
    found = file.contradictions
    columns = (found[name] for name in ("item", "label", "applies_by", "denied_by"))
    shown = [
        f"{item}: {label} applies, says {_people(yes)}; does not, says {_people(no)}"
        for item, label, yes, no in zip(*columns, strict=True)
    ]
    more = len(shown) - _MOST_SHOWN
    return shown[:_MOST_SHOWN] + ([f"and {more:,} more"] if more > 0 else [])


def _people(names: Sequence[str]) -> str:
    """List annotators, if they are known."""
    return ", ".join(names) or "somebody"


def refuse_reference(classifier: ComplementaryClassifier, method: str) -> None:
    """Refuse a method that learns from true labels, of which there are none here."""
    if classifier.learns_from != "complementary":
        raise InputError(f"{method} learns from true labels, not from answers; take another method")


def refuse_ending(path: Path, ending: str) -> None:
    """Refuse to write a file under a name that says something else."""
    if path.suffix != ending:
        raise InputError(
            f"{path}: the file is of another kind than its name says; end it in {ending}"
        )


def with_names(found: Features) -> Any:
    """Return features as a data frame, if the columns have names."""
    if found.feature_names is None or hasattr(found.X, "tocsr"):
        return found.X
    import pandas as pd  # type: ignore[import-untyped]

    return pd.DataFrame(found.X, columns=list(found.feature_names), copy=False)


def for_model(found: Features, classifier: ComplementaryClassifier) -> Any:
    """Return features as a model wants them: its columns, by name if both have names."""
    wanted = getattr(classifier, "feature_names_in_", None)
    if wanted is None or found.feature_names is None:
        if found.X.shape[1] != classifier.n_features_in_:
            raise InputError(
                f"the features have {found.X.shape[1]} columns, and the model was fitted to"
                f" {classifier.n_features_in_}; give the features that it was fitted to"
            )
        return found.X if wanted is None else _framed(found.X, wanted)
    missing = sorted({*wanted} - {*found.feature_names})
    if missing:
        some = ", ".join(missing[:_MOST_SHOWN]) + ", ..." * (len(missing) > _MOST_SHOWN)
        raise InputError(
            f"the features have no column {some}, which the model was fitted to ({len(missing)} are"
            " missing); give the features that it was fitted to"
        )
    place = {name: at for at, name in enumerate(found.feature_names)}
    order = [place[name] for name in wanted]
    same = order == list(range(len(found.feature_names)))
    return _framed(found.X if same else found.X[:, order], wanted)


def _framed(X: Any, names: Any) -> Any:
    """Return a dense matrix as a data frame; a sparse one stays."""
    if hasattr(X, "tocsr"):
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=list(names), copy=False)


def rows_of(wanted: Any, items: Any, path: Path) -> NDArray[np.intp]:
    """Return the rows of the features in which some items are; refuse those without features."""
    place = {item: row for row, item in enumerate(items)}
    missing = [item for item in wanted if item not in place]
    if missing:
        some = ", ".join(missing[:_MOST_SHOWN]) + ", ..." * (len(missing) > _MOST_SHOWN)
        raise InputError(
            f"{path}: {len(missing):,} of its {len(wanted):,} items have no features: {some}; give"
            " features of all of them, or leave these rows out"
        )
    return np.array([place[item] for item in wanted], dtype=np.intp)
