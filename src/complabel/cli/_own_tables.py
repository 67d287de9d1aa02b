"""The user's own tables in the commands that run studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from complabel.cli import _own_data as own
from complabel.cli._console import errors, say
from complabel.cli._running import hint_at_other_half
from complabel.errors import InputError

FeaturesFile = Annotated[
    Path | None,
    typer.Option(
        "--features",
        metavar="FILE",
        help="Features of your items, as for complabel fit. Each DATASET is then a table of answers"
        " about these items.",
    ),
]
TruthFile = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        help="Only with --features: a table of true labels, with the column item and a column of 0"
        " and 1 per label. Some items may be missing.",
    ),
]


def datasets_of(
    names: Sequence[str] | None,
    features: Path | None,
    *,
    truth: Path | None,
    items: Path | None,
    label_names: Path | None,
    contradictions: str,
    question: str | None = None,
) -> list[str | Mapping[str, Any]]:
    """Return the datasets of a plan: names or files, or one entry for the user's tables.

    Prints what the tables hold, as ``complabel fit`` does.
    """
    given = list(names or ())
    if features is None:
        others = {"--truth": truth, "--items": items, "--label-names": label_names}
        if beside := [option for option, value in others.items() if value is not None]:
            raise InputError(
                f"{beside[0]} is given without --features; also give the features of your items"
            )
        if not given:
            raise typer.BadParameter(
                "no dataset is given; give one, or --features with tables of answers or --truth"
            )
        hint_at_other_half(given)
        return list(given)
    if not given and truth is None:
        raise InputError(
            "--features is given without labels; also give tables of answers, or --truth"
        )
    _say_what_is_read(given, features, truth, items, label_names, contradictions, question)
    files = {"truth": truth, "items": items, "label_names": label_names}
    entry = {key: str(path) for key, path in files.items() if path is not None}
    entry |= {} if question is None else {"question": question}
    return [
        {"features": str(features), **({"answers": given} if given else {}), **entry}
        | ({} if contradictions == "error" else {"contradictions": contradictions})
    ]


def question_of(draw: dict[str, Any], answers: Sequence[str] | None) -> str | None:
    """Take the question of the user's own answers out of the settings of a draw.

    ``--question`` says what is simulated. If answers are given, nothing is simulated, and it says
    what people were asked.
    """
    is_own = answers and draw.get("scheme", "own") == "own" and "labels" not in draw
    return draw.pop("question") if is_own and draw["question"] in own.QUESTIONS else None


def _say_what_is_read(
    answers: Sequence[str],
    features: Path,
    truth: Path | None,
    items: Path | None,
    label_names: Path | None,
    contradictions: str,
    question: str | None,
) -> None:
    """Read the tables, and print what they hold and what is left out."""
    from complabel.files import read_features, read_label_names, read_truth, rows_of

    with errors().status(f"reading {features}"):
        found = read_features(features, items=items)
    say(f"{features}: {found.X.shape[0]:,} items, {found.X.shape[1]:,} features")
    names = None if label_names is None else read_label_names(label_names)
    if truth is not None:
        true = read_truth(truth, label_names=names)
        names = true.label_names
        n_known = len(rows_of(true.items, found.items, truth))
        lacking = "" if answers else "; the others are left out" * (n_known < len(found.items))
        say(f"{truth}: true labels of {n_known:,} of {len(found.items):,} items{lacking}")
    if answers:
        own.read_own_answers(
            [Path(path) for path in answers],
            list(found.items),
            label_names=names,
            question=question,
            contradictions=contradictions,
        )
