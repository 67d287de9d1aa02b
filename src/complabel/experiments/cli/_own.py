"""The user's own datasets and tables, as entries of plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from complabel.cli import advise_on, read_own_answers, read_own_features, remark, say
from complabel.errors import InputError


def datasets_of(
    names: Sequence[str] | None, tables: Mapping[str, Any]
) -> list[str | Mapping[str, Any]]:
    """Return the datasets of a plan: names or files, or one entry for the user's tables."""
    given, features = list(names or ()), tables.get("features")
    files = {name: tables[name] for name in ("truth", "items", "label_names") if name in tables}
    if features is None:
        if files:
            option = next(iter(files)).replace("_", "-")
            raise InputError(
                f"--{option} is given without --features; also give the features of your items"
            )
        if not given:
            raise typer.BadParameter(
                "no dataset is given; give one, or --features with tables of answers or --truth"
            )
        hint_at_other_half(given)
        return [*given]
    if not given and "truth" not in files:
        raise InputError(
            "--features is given without labels; also give tables of answers, or --truth"
        )
    entry = {"features": features, **files} | ({"answers": given} if given else {})
    if "read_as" in tables:
        entry["question"] = tables["read_as"]
    if tables["contradictions"] != "error":
        entry["contradictions"] = tables["contradictions"]
    _say_what_is_read(entry, tables["contradictions"])
    return [{key: str(v) if isinstance(v, Path) else v for key, v in entry.items()}]


def _say_what_is_read(entry: Mapping[str, Any], contradictions: str) -> None:
    from complabel.files import read_label_names, read_truth, rows_of

    features, truth = entry["features"], entry.get("truth")
    found = read_own_features(features, entry.get("items"))
    say(f"{features}: {found.X.shape[0]:,} items, {found.X.shape[1]:,} features")
    names = read_label_names(entry["label_names"]) if "label_names" in entry else None
    answers = [Path(path) for path in entry.get("answers", ())]
    if truth is not None:
        true = read_truth(truth, label_names=names)
        names = true.label_names
        n_known = len(rows_of(true.items, found.items, truth))
        lacking = "" if answers else "; the others are left out" * (n_known < len(found.items))
        say(f"{truth}: true labels of {n_known:,} of {len(found.items):,} items{lacking}")
    if answers:
        question = entry.get("question")
        said = read_own_answers(answers, list(found.items), names, question, contradictions)
        advise_on(found, said)


def hint_at_other_half(names: Sequence[str]) -> None:
    """Print a hint if only one of a dataset's two files is given, train or test."""
    from complabel.experiments.datasets import CATALOG, EMBEDDED, other_half

    for name in names:
        other = "" if name in (*CATALOG, *EMBEDDED) else other_half(name)
        if other and other not in names and Path(other).is_file():
            remark(f"hint: {other} is not read; give both files to use them as one dataset")
