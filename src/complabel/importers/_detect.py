"""Recognize the format of a file."""

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
        File of answers.

    Returns
    -------
    Format
        The first of :data:`FORMATS` that recognizes the file.

    Raises
    ------
    DatasetFormatError
        If no format recognizes the file.
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
        f"{head.path}: the format was not recognized; if it is one of these, give it as "
        f"--from NAME (format=NAME in Python):\n{_listed()}"
    )


def format_named(name: str) -> Format:
    """Return the format with this name."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise InputError(f"--from (format) is {name!r}; it must be one of\n{_listed()}")


def _listed() -> str:
    width = max(len(each.name) for each in FORMATS)
    return "\n".join(f"  {each.name:{width}}  {each.title}" for each in FORMATS)
