"""The interface of all importers: recognize a file, and read it into the neutral table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Options:
    """What the user says about a file because the file itself does not say it.

    Attributes
    ----------
    absent, present : tuple of str
        Names of controls, questions or columns: labels chosen in them do not apply (``absent``),
        or do (``present``).
    item : str or None, default=None
        The field that names the item; by default it depends on the format.
    yes, no, unsure : tuple of str, default=("1",), ("0",) and ()
        The codes with these meanings in a table of codes.
    unselected : {"unknown", "no"}, default="unknown"
        Whether labels that were shown and not chosen are unknown, or do not apply. Only used if
        the format does not say it.
    question : {"named", "asked", "ticked", "excluded"} or None, default=None
        The question of answers for which the file does not say it. Labels chosen in ``absent`` are
        "named" by default; a table of answers has no default.
    separator : str or None, default=None
        What separates several labels in a cell of a wide table; by default a cell is one label.
    random_questions : bool, default=False
        Whether all questions were drawn at random, with equal chances for all labels and items.
    label_names : tuple of str, or None, default=None
        All labels, in the order of the columns of the answers.
    class_names : Path or None, default=None
        A table of codes and label names, for files that hold codes.
    prompts : Path or None, default=None
        The file of prompts, for replies that only hold the ids of their prompts.
    """

    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    item: str | None = None
    yes: tuple[str, ...] = ("1",)
    no: tuple[str, ...] = ("0",)
    unsure: tuple[str, ...] = ()
    unselected: str = "unknown"
    question: str | None = None
    separator: str | None = None
    random_questions: bool = False
    label_names: tuple[str, ...] | None = None
    class_names: Path | None = None
    prompts: Path | None = None


@dataclass
class Tally:
    """Counts of what was read and left out of a file, and remarks for the user.

    Attributes
    ----------
    counts : Counter of str
        Counts with words in the plural as keys, such as "tasks", "answers" or "cancelled
        answers". They are shown in this order.
    remarks : list of str
        Sentences for the user, each only once: what was assumed, and how to change it.
    label_names : dict of str to None
        All labels that the file lists, in the order of the file. Some may be in no answer.
    """

    counts: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    label_names: dict[str, None] = field(default_factory=dict)

    def remark(self, text: str) -> None:
        """Add a sentence, unless it is there already."""
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
        Name of the format for ``--from``, such as ``"label-studio"``.
    title : str
        One line for help texts.
    recognizes : callable
        Returns whether a file is of this kind, given its :class:`Head`. It never raises.
    read : callable
        ``read(path, options, tally)`` yields the neutral table in pieces. A piece maps columns
        of :data:`complabel.files.COLUMNS` to lists, NumPy or Arrow arrays of equal length;
        columns without content are left out. A piece should have at most about 100,000 rows, and
        the file should be read only once. A DatasetFormatError names the place in the file.
    takes_question : bool, default=False
        Whether ``read`` uses ``options.question``.
    """

    name: str
    title: str
    recognizes: Callable[[Head], bool]
    read: Callable[[Path, Options, Tally], Iterator[dict[str, Any]]]
    takes_question: bool = False
