"""Datasets as people give them to commands: names of the catalog, and files of their own."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from complabel.datasets._catalog import CATALOG, EMBEDDED, catalog_entry
from complabel.errors import InputError

_NAMES = (*CATALOG, *EMBEDDED)
_HALF = re.compile(
    r"(?P<name>.+)-(?P<part>train|test)(?P<ending>\.\D.*)", re.IGNORECASE | re.DOTALL
)

Entry = str | dict[str, Any]
"""A dataset as a plan writes it: a name of the catalog, or a name and a file, files or tables."""

# The keys of an entry that are paths, one or several.
_PATHS = ("file", "features", "answers", "truth", "items", "label_names")


def dataset_entries(texts: Sequence[str | Mapping[str, Any]]) -> list[Entry]:
    """Return what a plan writes for datasets that a command was given by name or as files.

    ``mine-train.arff`` and ``mine-test.arff``, both given, are one dataset, and an XML file
    belongs to the ARFF file before it. A file is called by its name without the ending.

    Parameters
    ----------
    texts : sequence of str or mapping
        A mapping is an entry of a plan already, such as tables: ``features``, ``answers`` and so
        on, as :func:`load_tables` has them. Without a ``name``, it is called after its features.

    Returns
    -------
    list of str or dict
        A name of the catalog as it is; else ``name`` and ``file``, a path or a list of paths, or
        ``name`` and tables. Paths are absolute. Entries that were mappings come last.

    Raises
    ------
    DatasetNotFoundError
        If a text is no name of the catalog, and no path.
    InputError
        If a file would have the name of a dataset in the catalog.

    Examples
    --------
    >>> [entry["name"] for entry in dataset_entries(["a-train.arff", "b.npz", "a-test.arff"])]
    ['a', 'b']
    """
    groups: list[list[str]] = []
    latest: list[str] = []
    for text in dict.fromkeys(text for text in texts if isinstance(text, str)):
        others = [group for group in groups if _is_other_half(text, group[0])]
        names_labels = text.lower().endswith(".xml") and latest and latest[0] not in _NAMES
        if not (others or names_labels):
            groups.append([])
        latest = latest if names_labels else [*others, groups[-1]][0]
        latest.append(text)
    entries: list[Entry] = [_entry(sorted(group, key=_order)) for group in groups]
    return entries + [_completed(text) for text in texts if not isinstance(text, str)]


def other_half(text: str) -> str:
    """Return the file of the test part, given that of the training part, or the other way round.

    Empty if the name is of neither.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> other_half("mine-train.arff")
    'mine-test.arff'
    """
    found = _HALF.fullmatch(text)
    if found is None:
        return ""
    other = "test" if found["part"].lower() == "train" else "train"
    return f"{found['name']}-{other}{found['ending']}"


def _is_other_half(text: str, other: str) -> bool:
    """Tell whether two files are the training part and the test part of one dataset."""
    return text not in _NAMES and other_half(text).lower() == other.lower()


def _order(text: str) -> int:
    """Put the training part first and the names of the labels last."""
    found = _HALF.fullmatch(text)
    if found is None:
        return 2 if text.lower().endswith(".xml") else 0
    return int(found["part"].lower() == "test")


def _entry(texts: Sequence[str]) -> Entry:
    """Return what a plan writes for one dataset; what is neither name nor file is refused."""
    text = texts[0]
    if text in _NAMES:
        return text
    path = Path(text)
    if not path.suffix and not path.exists():
        catalog_entry(text)  # which says what may have been meant
    halves = [found for part in texts if (found := _HALF.fullmatch(Path(part).name))]
    stem = halves[0]["name"] if len(halves) == 2 else path.name.partition(".")[0]
    name = _name(text, stem)
    files = [str(Path(part).absolute()) for part in texts]
    return {"name": name, "file": files[0] if len(files) == 1 else files}


def _name(text: str, stem: str) -> str:
    """Return what a dataset of one's own is called, by the name of its file."""
    name = re.sub(r"\W+", "-", stem, flags=re.ASCII).strip("-_") or "dataset"
    if name in _NAMES:
        raise InputError(
            f"{text} would be called {name!r}, as a dataset of the catalog; give the file another"
            f" name, or give {name!r} and --data-dir with the folder of its files"
        )
    return name


def _completed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give an entry a name and absolute paths; what is wrong with it, a plan says."""
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
