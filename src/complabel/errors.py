"""The exceptions of complabel, one type for each kind of problem, and where help stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANUAL = "docs/{}.md"  # where its pages are; once they have a public address: "https://.../{}.html"


def manual_page(name: str) -> str:
    """Return where a page of the manual is, for a help text or a message."""
    return MANUAL.format(name)


class ComplabelError(Exception):
    """Base of every error that complabel raises on purpose.

    Attributes
    ----------
    parameter : str or None
        Name of the parameter that the error is about.
    row : int or None
        Row of the table that the error is about, counted from 0.
    line : int or None
        Line of the file that the error is about, counted from 1.
    proposes : tuple of dict
        What the message proposes: settings by their names in Python, one dict for each way. Each is
        right for somebody who means what the message says of it.
    """

    def __init__(
        self,
        *args: object,
        parameter: str | None = None,
        row: int | None = None,
        line: int | None = None,
        proposes: Sequence[Mapping[str, object]] = (),
    ) -> None:
        super().__init__(*args)
        self.parameter = parameter
        self.row = row
        self.line = line
        self.proposes = tuple(map(dict, proposes))


class InputError(ComplabelError, ValueError):
    """Features or parameters are wrong: their shape, range or type."""


class AnnotationError(ComplabelError, ValueError):
    """Labels or answers are wrong, or contradict themselves or each other."""


class TransitionError(ComplabelError, ValueError):
    """A transition matrix is not valid, or cannot be estimated."""


class DatasetFormatError(ComplabelError, ValueError):
    """A file cannot be parsed; the message names the file and the line."""


class DatasetNotFoundError(ComplabelError, LookupError):
    """A dataset or its file is missing; the message says what to do."""


class PlanError(ComplabelError, ValueError):
    """A study plan is wrong; the message names the key."""


class StoreError(ComplabelError, OSError):
    """A result store cannot be read or written."""


class OutputError(ComplabelError, OSError):
    """A file cannot be written; an older file is unchanged."""


class DownloadError(ComplabelError, OSError):
    """A download failed, or its checksum differs from the catalog's."""


class ModelFileError(ComplabelError, ValueError):
    """A model cannot be loaded from a file, or cannot be saved in one."""
