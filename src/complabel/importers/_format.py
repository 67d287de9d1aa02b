"""The interface of all importers: recognize a file, and read it into the neutral table."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ROWS_AT_ONCE = 50_000
DELIMITERS = ",;\t"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


@dataclass(frozen=True)
class Options:
    """What the user says about a file because the file itself does not say it.

    Attributes
    ----------
    absent, present : tuple of str
        Names of controls, questions or columns: labels chosen in them do not apply (``absent``),
        or do (``present``).
    item : str or None
        The field that names the item; None: it depends on the format.
    yes, no, unsure : tuple of str
        The codes with these meanings in a table of codes.
    unselected : {"unknown", "no"}
        Meaning of labels that were shown and not chosen, if the format does not say it.
    question : {"named", "asked", "ticked", "excluded"} or None
        The question of answers for which the file does not say it. Labels chosen in ``absent`` are
        "named" by default; a table of answers has no default.
    separator : str or None
        What separates several labels in a cell; None: as the platform does it, else a cell is one
        label.
    random_questions : bool
        Whether all questions were drawn at random, with equal chances for all labels and items.
    label_names : tuple of str, or None
        All labels, in the order of the columns of the answers.
    class_names : Path or None
        A table of codes and label names, for files that hold codes.
    prompts : Path or None
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
    """Counts of what was read and left out of a file, and remarks on what was assumed.

    The keys of ``counts`` are words in the plural, in the order in which they are shown.
    ``label_names`` are the labels that the file lists; some may be in no answer.
    """

    counts: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    label_names: dict[str, None] = field(default_factory=dict)

    def start(self, *words: str) -> None:
        """Fix the order in which counts are shown."""
        self.counts.update(dict.fromkeys(words, 0))

    def list_labels(self, names: Iterable[str]) -> None:
        """Add labels that the file lists."""
        self.label_names.update(dict.fromkeys(names))

    def remark(self, text: str) -> None:
        """Add a sentence, unless it is there already."""
        if text not in self.remarks:
            self.remarks.append(text)

    def say_unused(self, options: Options, title: str, *names: str) -> None:
        """Add a remark about each given option that the format does not use."""
        for name in names:
            if getattr(options, name) != getattr(Options(), name):
                flag = name.replace("_", "-")
                self.remark(f"{title} files do not need --{flag}; it was not used.")


@dataclass(frozen=True)
class Head:
    """The first 64 KiB of a file, unpacked, by which its format is recognized."""

    path: Path
    start: bytes

    def keys(self) -> tuple[str, set[str]]:
        """Return the first character of JSON, "[" or "{", and the first object's keys seen so far.

        Of other files, "" and an empty set.
        """
        text = self.start.removeprefix(b"\xef\xbb\xbf").lstrip()
        root = text[:1].decode("ascii", "replace")
        if root not in ("[", "{"):
            return "", set()
        level = 1 if root == "{" else 2
        depth, last, keys = 0, b"", set()
        for found in _TOKEN.finditer(text):
            token = found[0]
            depth += (token in b"{[") - (token in b"}]")
            if token in b"}]" and depth < level:
                break
            if token == b":" and depth == level and last:
                keys.add(last[1:-1].decode("utf-8", "replace"))
            last = token if token[:1] == b'"' else b""
        return root, keys

    def rows(self) -> list[list[str]]:
        """Return the complete rows of a CSV file; an empty list if it is not text."""
        try:
            text = self.start[: self.start.rfind(b"\n") + 1].decode("utf-8-sig")
            delimiter = delimiter_of(text.partition("\n")[0])
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            return [] if "\0" in text else [row for row in rows if row]
        except (UnicodeDecodeError, csv.Error):
            return []

    def columns(self) -> list[str]:
        """Return the first of the rows; an empty list if there is none."""
        return next(iter(self.rows()), [])


def delimiter_of(header: str) -> str:
    """Return the delimiter that gives a header the most cells: a comma, a semicolon or a tab."""

    def count(delimiter: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=delimiter), []))
        except csv.Error:
            return 0

    return max(DELIMITERS, key=count)


@dataclass(frozen=True)
class Format:
    """A kind of file that can be imported.

    ``recognizes`` never raises. ``read`` reads the file once, and yields the neutral table in
    pieces of at most about 100,000 rows: data frames, or columns of
    :data:`complabel.files.COLUMNS` as lists or arrays, without those that have no content.
    ``takes_question``: whether ``read`` uses ``options.question``.
    """

    name: str
    title: str
    recognizes: Callable[[Head], bool]
    read: Callable[[Path, Options, Tally], Iterator[Any]]
    takes_question: bool = False


class Row(NamedTuple):
    """One row of the table; the fields are :data:`complabel.files.COLUMNS`, in this order."""

    answer_id: str | None
    item: str
    label: str
    answer: str
    question: str
    offered: str | None = None
    asked_for: int | None = None
    annotator: str | None = None
    time: str | None = None
    probability: float | None = None
    seconds: float | None = None


def pieces(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield pieces of many rows as columns; columns without content are left out."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
        columns = zip(Row._fields, zip(*some, strict=True), strict=True)
        yield {name: list(values) for name, values in columns if values.count(None) < len(some)}


@functools.lru_cache(maxsize=4096)
def as_json(labels: tuple[str, ...]) -> str:
    """Return the offered labels as a JSON list; cached, because menus repeat."""
    return json.dumps(labels, ensure_ascii=False)


def chance(n_labels: int, size: int) -> float:
    """Return the probability of a menu of this size, drawn at random from all labels."""
    # Only ratios between menus of the same size matter, so a tiny one may become the least float.
    return max(1 / math.comb(n_labels, size), sys.float_info.min)


def some(names: Iterable[str]) -> str:
    """Return the first few names for a message."""
    listed = list(names)
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "")
