"""Entries of plans: datasets by name, by their files, or as tables of the user's own."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from complabel.errors import InputError
from complabel.experiments.datasets._catalog import CATALOG, EMBEDDED, catalog_entry

_NAMES = (*CATALOG, *EMBEDDED)
_HALF = re.compile(
    r"(?P<name>.+)-(?P<part>train|test)(?P<ending>\.\D.*)", re.IGNORECASE | re.DOTALL
)

# A dataset in a plan: a name of the catalog, or a dict with a name and files or tables.
Entry = str | dict[str, Any]

# The keys of an entry that hold a path or several paths.
_PATHS = ("file", "features", "answers", "truth", "items", "label_names")


def dataset_entries(texts: Sequence[str | Mapping[str, Any]]) -> list[Entry]:
    """Return the entries of a plan for datasets that were given by name or as files.

    If both ``mine-train.arff`` and ``mine-test.arff`` are given, they are one dataset. An XML file
    belongs to the ARFF file before it. A mapping is already an entry, such as tables with the keys
    of :func:`load_tables`; without a ``name``, it gets the name of its features. Paths become
    absolute.
    """
    groups: list[list[str]] = []
    latest: list[str] = []
    for text in dict.fromkeys(text for text in texts if isinstance(text, str)):
        half = None if text in _NAMES else other_half(text).lower()
        others = [group for group in groups if group[0].lower() == half]
        names_labels = text.lower().endswith(".xml") and latest and latest[0] not in _NAMES
        if not (others or names_labels):
            groups.append([])
        latest = latest if names_labels else [*others, groups[-1]][0]
        latest.append(text)
    entries: list[Entry] = [_entry(sorted(group, key=_order)) for group in groups]
    return entries + [_completed(text) for text in texts if not isinstance(text, str)]


def other_half(text: str) -> str:
    """Return "mine-test.arff" for "mine-train.arff", and the other way round; else nothing."""
    found = _HALF.fullmatch(text)
    if found is None:
        return ""
    other = "test" if found["part"].lower() == "train" else "train"
    return f"{found['name']}-{other}{found['ending']}"


def _order(text: str) -> tuple[bool, bool]:
    """Return a sort key: the training part comes first, the XML file last."""
    found = _HALF.fullmatch(text)
    is_test = found is not None and found["part"].lower() == "test"
    return text.lower().endswith(".xml"), is_test


def _entry(texts: Sequence[str]) -> Entry:
    text = texts[0]
    if text in _NAMES:
        return text
    path = Path(text)
    if not path.suffix and not path.exists():
        catalog_entry(text)  # raises an error that suggests a similar name
    halves = [found for part in texts if (found := _HALF.fullmatch(Path(part).name))]
    stem = halves[0]["name"] if len(halves) == 2 else path.name.partition(".")[0]
    name = _name(text, stem)
    files = [str(Path(part).absolute()) for part in texts]
    return {"name": name, "file": files[0] if len(files) == 1 else files}


def _name(text: str, stem: str) -> str:
    name = re.sub(r"\W+", "-", stem, flags=re.ASCII).strip("-_") or "dataset"
    if name in _NAMES:
        raise InputError(
            f"{text} would be called {name!r}, like a dataset of the catalog; rename the file, or"
            f" give {name!r} and --data-dir with the folder of its files"
        )
    return name


def _completed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give an entry a name and absolute paths; the plan checks it later."""
    done = dict(entry)
    for key in _PATHS:
        value = done.get(key)
        if isinstance(value, str | os.PathLike):
            done[key] = str(Path(value).absolute())
        elif isinstance(value, list | tuple):
            done[key] = [str(Path(one).absolute()) for one in value]
    features = done.get("features")
    if "name" not in done and isinstance(features, str):
        done = {"name": _name(features, Path(features).name.partition(".")[0]), **done}
    return done
