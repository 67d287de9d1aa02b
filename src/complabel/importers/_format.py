"""What every importer is: how a file is recognized, and how it is read into the neutral table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Options:
    """What the user says about a file that the file does not say itself.

    Attributes
    ----------
    absent, present : tuple of str
        Names of the controls, questions or columns whose choices do not apply, or apply.
    item : str or None
        The field that names the item; by default the format's own.
    yes, no, unsure : tuple of str
        The codes of a table of codes.
    unselected : {"unknown", "no"}
        What labels say that were shown and not chosen, where the format leaves it open.
    random_questions : bool
        Whether each question was drawn at random, all labels of all items alike.
    label_names : tuple of str, or None
        All labels, in the order of the columns to be.
    class_names : Path or None
        A table of codes and names of labels, where a file holds codes.
    prompts : Path or None
        The file of prompts, where replies hold nothing but the ids of theirs.
    """

    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    item: str | None = None
    yes: tuple[str, ...] = ("1",)
    no: tuple[str, ...] = ("0",)
    unsure: tuple[str, ...] = ()
    unselected: str = "unknown"
    random_questions: bool = False
    label_names: tuple[str, ...] | None = None
    class_names: Path | None = None
    prompts: Path | None = None


@dataclass
class Tally:
    """What became of everything in a file, for the reconciliation at the end.

    Attributes
    ----------
    counts : Counter of str
        By plain words in the plural: "tasks", "answers", "cancelled answers", ... in the order in
        which they are to be shown.
    remarks : list of str
        Sentences that the user should read, each once: what was assumed, and how to say otherwise.
    label_names : dict of str to None
        All labels that the file lists, in its order, also those that no answer mentions.
    """

    counts: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    label_names: dict[str, None] = field(default_factory=dict)

    def remark(self, text: str) -> None:
        """Add a sentence, if it is not there yet."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True)
class Head:
    """The beginning of a file, by which its format is recognized.

    Attributes
    ----------
    path : Path
    start : bytes
        The first 64 KiB, unpacked if the file ends in ``.gz``.
    """

    path: Path
    start: bytes


@dataclass(frozen=True)
class Format:
    """A kind of file that can be imported.

    Attributes
    ----------
    name : str
        What ``--from`` calls it, such as ``"label-studio"``.
    title : str
        One line for help texts.
    recognizes : callable
        Says of a :class:`Head` whether the file is of this kind; never raises.
    read : callable
        ``read(path, options, tally)`` yields the neutral table in pieces: mappings of the columns
        in :data:`complabel.tables.COLUMNS` to lists, NumPy or Arrow arrays of equal length, columns
        without content left out. It raises a DatasetFormatError that names the place in the file.
        Nothing may be read twice, and no piece needs more than about 100,000 rows.
    """

    name: str
    title: str
    recognizes: Callable[[Head], bool]
    read: Callable[[Path, Options, Tally], Iterator[dict[str, Any]]]
