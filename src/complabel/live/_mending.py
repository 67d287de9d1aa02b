"""Files of answers that are damaged: what is whole in them goes on."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from complabel._sqlite import DamagedError
from complabel._writing import explained, replacing
from complabel.errors import StoreError
from complabel.live._history import CHANGES, Entry
from complabel.live._store import AnswerStore, digest_of, taken_lock
from complabel.live._tables import describe_table, kept_path

_ENDINGS = ("", "-journal")  # of the files that make up a store
_MISSING = 10_000  # entries, one after another, after which there are no more

_logger = logging.getLogger(__name__)


def open_store(path: Path, about: Mapping[str, Any]) -> AnswerStore:
    """Open a store; a DamagedError says what is wrong, what could be kept, and how."""
    try:
        return AnswerStore(path, about)
    except DamagedError as error:
        n_whole, table = _count(_whole(path)), describe_table(path.with_suffix(""))
        if not n_whole:
            raise DamagedError(
                f"{error}. No answer in it can be read; {table}. Keep both files, and begin anew"
                " with another --out and another --seed"
            ) from error
        raise DamagedError(
            f"{error}. Every answer in it is left as it was. {_so_many(n_whole)}; {table}. To go on"
            " with the answers that are whole, type the same command with --mend; it also keeps"
            " the damaged file"
        ) from error


def mend_store(path: Path) -> None:
    """Put what is whole in a damaged store in its place, and keep the damaged one beside it.

    Pages that are open learn of it by the mark of the file, which is another one.
    """
    try:
        with AnswerStore(path, None):
            return
    except DamagedError as error:
        entries = _whole(path)
        if not _count(entries):
            return  # who opens it says what is wrong
        with contextlib.ExitStack() as stack:
            stack.callback(taken_lock(path).release)
            aside = _put_aside(path, entries)
        n_whole = _so_many(_count(entries))
        _logger.warning("%s. It is now %s; %s, and asking goes on with them", error, aside, n_whole)


def _count(entries: list[tuple[str, Any]]) -> int:
    return sum(what == "answered" for what, _ in entries)


def _so_many(n: int) -> str:
    return f"{n:,} answers in it are as they were written"


def _put_aside(path: Path, entries: list[tuple[str, Any]]) -> Path:
    """Put a new file in the place of a store, which is never missing; return the old one's name."""
    aside = kept_path(path)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        new_file = Path(folder) / path.name
        with AnswerStore(new_file, None) as store:
            store.add(entries)
        with AnswerStore(new_file, None):  # it is whole
            pass
        journal = Path(f"{path}-journal")
        if journal.exists() and journal.stat().st_size:  # the new file would read it
            raise StoreError(
                f"{path}: another program has this file open; end it first. If there is none, move"
                f" {journal.name} to another folder, and keep it"
            )
        with explained(path):
            try:
                os.link(path, aside)
            except OSError:  # this file system has no links
                with replacing(aside) as copy:
                    copy.touch(0o600)
                    shutil.copyfile(path, copy)
            new_file.replace(path)
    return aside


def _whole(path: Path) -> list[tuple[str, Any]]:
    """Return the entries of a damaged store that are whole and that follow from each other.

    Whoever does not know what became of labels and items does not know what later entries mean: if
    such an entry is lost, so are those after it.
    """
    if not path.exists():
        return []
    entries: list[Entry | tuple[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:  # SQLite may change what it reads
        copy = Path(folder) / "copy"
        for ending in _ENDINGS:
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            n_changes = 0
            for _, what, text, changes in _read_whole(connection):
                if changes == n_changes:
                    entries.append((what, json.loads(text)))
                    n_changes += what in CHANGES
    if not entries or entries[0][0] != "began":
        return []
    entries[0] = ("began", {**entries[0][1], "mark": secrets.token_hex(8)})
    return _consistent(entries)


def _read_whole(connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Yield the entries whose digests are right, in their order; each is looked for by itself."""
    number, missing = 1, 0
    while missing < _MISSING:  # entries on pages that are lost
        row = None
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
            row = connection.execute("SELECT * FROM log WHERE id = ?", (number,)).fetchone()
        number, missing = number + 1, 0 if row else missing + 1
        with contextlib.suppress(TypeError):  # bytes are no value of an entry
            if row and row[-1] == digest_of(row[:-1]):
                yield row[:-1]


def _consistent(entries: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the answers that count with their questions, although some entries are lost.

    Of two answers to a copy of a question the first was taken back. Questions without an answer are
    drawn again.
    """
    standing: dict[tuple[int, int], Any] = {}  # copies: the answers that count
    for what, entry in entries:
        if what == "answered":
            standing[entry[3], entry[4]] = entry
        elif what == "undone" and standing.get((entry[3], entry[4]), [None] * 6)[5] == entry[5]:
            del standing[entry[3], entry[4]]
    counts = {entry[5]: entry[3] for entry in standing.values()}
    answered, known = {*counts.values()}, set[int]()
    kept: list[tuple[str, Any]] = []
    for what, entry in entries:
        if what in CHANGES:
            kept.append((what, entry))
        elif what == "question" and entry[0] in answered:
            known.add(entry[0])
            kept.append((what, entry))
        elif what == "answered" and entry[5] in counts and entry[3] in known:
            _, time, person, number, copy, of, *_ = entry
            kept.append(("asked", [of, time, person, number, copy, None, None, None]))
            kept.append((what, entry))
    return kept
