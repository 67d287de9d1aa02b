"""Which format a file has."""

from __future__ import annotations

import os
from pathlib import Path

from complabel.errors import DatasetFormatError, InputError
from complabel.importers._format import Format
from complabel.importers._reading import read_head
from complabel.importers._registry import FORMATS


def detect(path: str | os.PathLike[str]) -> Format:
    r"""Recognize the format of a file of answers by its beginning.

    Parameters
    ----------
    path : path

    Returns
    -------
    Format
        The first of :data:`FORMATS` that recognizes the file.

    Raises
    ------
    DatasetFormatError
        If none does.
    DatasetNotFoundError
        If the file is missing or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "verified.csv"
    >>> _ = path.write_text("ImageID,Source,LabelName,Confidence\n")
    >>> detect(path).name
    'open-images'
    """
    head = read_head(Path(path))
    for each in FORMATS:
        if each.recognizes(head):
            return each
    raise DatasetFormatError(
        f"{head.path}: is of no format that is recognized by itself; if it is one of these, say "
        f"which, by --from NAME (format=NAME in Python):\n{_listed()}"
    )


def format_named(name: str) -> Format:
    """Return the format of a name."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise InputError(f"format is {name!r}; it must be one of\n{_listed()}")


def _listed() -> str:
    width = max(len(each.name) for each in FORMATS)
    return "\n".join(f"  {each.name:{width}}  {each.title}" for each in FORMATS)
