"""Where answers are kept: an SQLite file to which things are only added.

The file is a log: questions, hand-outs, answers, and what became of labels and items. Each entry
has a digest. The file also says how many there are, with a digest of all of them. So a file that is
damaged, or that somebody else has changed, is refused, and is never read as if it had other
answers. What is stored stands in this file at once, and in no other.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

from complabel._sqlite import Kind, Lock, NotAsWrittenError, connect, transaction
from complabel.errors import StoreError
from complabel.live._asker import Event
from complabel.live._drawing import Question
from complabel.live._history import CHANGES, Entry, History
from complabel.live._rows import Columns, columns_of
from complabel.live._server import new_token

_VERSION = 5  # no release wrote an earlier one
_KIND = Kind(
    name="file of answers of complabel annotate",
    rows="answers",
    option="--out",
    mark=0x636F6D61,
    tables=frozenset({"head", "log"}),
    formats=range(_VERSION, _VERSION + 1),
)
_BUSY_SECONDS = 10.0
_ROWS = 5_000  # that are read at once; a writer waits as long
_TABLES = f"""
CREATE TABLE head (key INTEGER PRIMARY KEY CHECK (key = 0), count INTEGER, seal BLOB);
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    what TEXT,
    entry TEXT,
    changes INTEGER,
    digest BLOB
);
PRAGMA application_id = {_KIND.mark};
PRAGMA user_version = {_VERSION}"""
_JOURNAL = 16  # where a journal of SQLite says how many pages the file had, in four bytes
_Head = tuple[int, bytes]  # how many entries there are, and the digest of all of them


class AnswerStore:
    """A log of questions and events in an SQLite file, which one server writes at a time.

    A missing file is made. ``about`` is what is asked: ``labels``, all names, and ``question``, and
    what :meth:`History.agree` takes besides; what is new in it is added to the log. ``added`` are
    labels that are new, ``renamed`` has the names of now of labels and items that got them just
    now, and ``has_merged`` says whether labels were merged just now. ``history`` is what the log
    says of labels and items. By its ``mark``, which is drawn when the file is made, pages know
    which answers belong to this file. Its token lets people in: an address still holds when the
    server is started again. Without ``about``, the log stays as it is.

    A StoreError says that the file cannot be opened, is none of these files, was made with labels
    that are gone or with other questions, or is in use by another server; a DamagedError says what
    in it is not as it was written.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any] | None) -> None:
        self.path = Path(path)
        self._writing = threading.Lock()
        with _KIND.explained(self.path), contextlib.ExitStack() as opened:
            self._lock = taken_lock(self.path)
            opened.callback(self._lock.release)
            _refuse_lost(self.path)
            self._keep_secret()
            self._connection = opened.enter_context(contextlib.closing(_opened(self.path)))
            self.history = History()
            if _KIND.format_of(self._connection, self.path):
                self._head = _read_head(self._connection)
                (last,) = self._connection.execute("SELECT max(id) FROM log").fetchone()
                if last != self._head[0]:
                    raise NotAsWrittenError(_count(last or 0, self._head[0]))
                with _reading():  # an entry that is not as it was written refuses the file
                    for what, entry in _as_written(self._connection, self._head):
                        if what in CHANGES or what == "question":
                            self.history.apply(what, json.loads(entry))
            else:
                self._head = (0, b"")
            self._place = _place(self.path)
            labels, items = [*self.history.names], {**self.history.called}
            n_merged = len(self.history.parts)
            new = [] if about is None else self.history.agree(self.path, about)
            self.add(new)
            now = self.history
            self.has_merged = len(now.parts) > n_merged
            self.renamed = {
                "label": {a: b for a, b in zip(labels, now.names, strict=False) if a != b},
                "item": {a: b for at, a in items.items() if (b := now.called.get(at, a)) != a},
            }
            self.added = [
                name for what, entry in new if what == "labels" for name in entry.get("added", ())
            ]
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def labels(self) -> list[str]:
        return self.history.labels

    @property
    def mark(self) -> str:
        return self.history.mark

    @property
    def token(self) -> str:
        return self.history.token

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # without the empty journal
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        self._lock.release()

    def _keep_secret(self) -> None:
        """Let nobody else read the token; SQLite makes its journal with the same permissions."""
        with contextlib.suppress(OSError):  # SQLite says what is wrong
            self.path.touch(0o600)
            self.path.chmod(0o600)

    def renew_token(self) -> None:
        """Draw another token; the one before lets nobody in any more."""
        self.add([("token", {"token": new_token()})])

    def append(self, items: Sequence[str], new: Iterable[Question | Event]) -> None:
        """Add questions and events: all of them, or none. ``items`` are all names.

        They are on the disk when this returns, as far as the system and the disk tell the truth.
        """
        history, entries = self.history, list[tuple[str, Any]]()
        number = dict(zip(history.labels, history.now.labels, strict=True))
        for each in new:
            if isinstance(each, Question):
                at, item, kind, labels, probability, *more = astuple(each)
                name = history.first_name(items[item])
                row = [at, name, kind, labels, _real(probability), *more]
                entries.append(("question", row))
            else:
                id_, time, what, *event, answer, seconds = astuple(each)
                reply = [number[name] for name in answer] if isinstance(answer, list) else answer
                entries.append((what, [id_, _real(time), *event, reply, _real(seconds)]))
        self.add(entries)

    def add(self, entries: Sequence[Entry | tuple[str, Any]]) -> None:
        """Add entries to the log: all of them, or none."""
        with self._writing, _KIND.explained(self.path):
            if not entries:
                return
            self._refuse_moved()
            execute, is_new = self._connection.execute, not self._head[0]
            rows, head = list[tuple[Any, ...]](), self._head
            with transaction(self._connection):
                for statement in _TABLES.split(";\n") if is_new else ():  # a script would commit
                    execute(statement)
                if is_new:
                    head = (0, _origin(self._connection))
                    execute("INSERT INTO head VALUES (0, ?, ?)", self._head)
                n_changes = self.history.n_changes
                for what, entry in entries:
                    row = (head[0] + 1, what, json.dumps(entry), n_changes)
                    rows.append((*row, digest_of(row)))
                    head = _grown(head, rows[-1][-1])
                    n_changes += what in CHANGES
                self._connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", rows)
                change = "UPDATE head SET count = ?, seal = ? WHERE count = ? AND seal = ?"
                if execute(change, (*head, *self._head)).rowcount != 1:
                    raise StoreError(
                        f"{self.path}: another program has changed this file since the server"
                        " opened it; end the server, and start it again"
                    )
            self._head = head
            for what, entry in entries:
                self.history.apply(what, entry)

    def load(self, numbers: Mapping[str, int]) -> Iterator[Question | Event]:
        """Yield all questions and events, in their order; ``numbers`` are those of items."""
        history = self.history
        with _KIND.explained(self.path):
            for row in _rows(self._connection, self._head[0]):
                what, entry = row["what"], json.loads(row["entry"])
                if what == "question":
                    number, item, kind, labels, *more = entry
                    offered = history.on_offer(number, labels)
                    shown = None if labels is None and offered == history.now.labels else offered
                    at = numbers[history.called.get(item, item)]
                    yield Question(number, at, kind, shown, *more)
                elif what not in CHANGES:
                    id_, time, person, number, copy, of, answer, seconds = entry
                    if isinstance(answer, list):
                        answer = [history.names[label] for label in answer]
                    happened: Any = what
                    yield Event(id_, time, happened, person, number, copy, of, answer, seconds)

    def tables(self) -> tuple[Columns, Columns]:
        """Return the answers that were not taken back as columns of a table of answers.

        The second ones are what follows from answers about labels that were merged. It reads the
        file by itself, so that other threads can go on writing; a DamagedError says that it is not
        as it was written any more.
        """
        head = self._head
        with (
            _KIND.explained(self.path),
            contextlib.closing(_opened(self.path)) as reader,
            _reading(),
        ):
            self._refuse_moved()
            rows = _as_written(reader, head)
            entries = ((what, json.loads(text)) for what, text in rows if what not in CHANGES)
            return columns_of(entries, self.history)

    def answers_table(self) -> Columns:
        """Return all answers that were not taken back as columns of a table of answers."""
        columns, merged = self.tables()
        return {name: values + merged[name] for name, values in columns.items()}

    def taken_back(self) -> set[str]:
        """Return the ids, as in the table, of answers that were taken back."""
        with _KIND.explained(self.path):
            rows = self._connection.execute("SELECT entry FROM log WHERE what = 'undone'")
            return {str(json.loads(row["entry"])[5]) for row in rows}

    def _refuse_moved(self) -> None:
        if _place(self.path) != self._place:
            raise StoreError(
                f"{self.path}: this file is gone or another one has taken its place since the"
                " server opened it; put it back, or end the server and start it again"
            )


def _opened(path: Path) -> sqlite3.Connection:
    """Open a store; what is committed stands in the file itself, and is on the disk."""
    connection = connect(path, timeout=_BUSY_SECONDS)
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def taken_lock(path: Path) -> Lock:
    """Take the lock of a store; a StoreError says that another server has it."""
    if path.is_dir():
        raise StoreError(
            f"{path}: this is a folder, but the answers are kept in a file of this name; move the"
            " folder away, or give another --out"
        )
    lock = Lock(path)
    if not lock.take():
        raise StoreError(
            f"{path}: another server is writing these answers; end it first, or give another --out"
        )
    return lock


def _refuse_lost(path: Path) -> None:
    """Refuse an empty file in the place of answers; SQLite would delete the journal, too."""
    exists = path.exists()
    if exists and path.stat().st_size:
        return
    journal, table = path.with_name(f"{path.name}-journal"), path.with_suffix("")
    with contextlib.suppress(OSError):
        begun = journal.read_bytes()[: _JOURNAL + 4]
        if begun and begun[_JOURNAL:] != b"\0" * 4:  # else the file was being made
            raise NotAsWrittenError("it is gone or empty, but its journal is there")
    if exists and table != path and table.exists():
        raise NotAsWrittenError(f"it is empty, but the table {table} is there")


def digest_of(row: Sequence[Any]) -> bytes:
    """Return the digest of an entry, as it comes from the file without its digest."""
    return _blake(json.dumps(row).encode())


def _blake(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _grown(head: _Head, digest: bytes) -> _Head:
    return head[0] + 1, _blake(head[1] + digest)


def _origin(connection: sqlite3.Connection) -> bytes:
    """Return the digest from which heads begin: of the schema."""
    schema = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
    return digest_of([[*row] for row in schema])


def history_of(path: Path) -> History | None:
    """Return what a store says of labels and items; None if there is none yet.

    A StoreError says what is wrong with it; who opens it looks at all that is in it.
    """
    history = History()
    if not path.exists() or not path.stat().st_size:
        return None
    with _KIND.explained(path), contextlib.closing(_opened(path)) as connection, _reading():
        _KIND.format_of(connection, path)
        query = f"SELECT what, entry FROM log WHERE what IN ({', '.join('?' * len(CHANGES))})"
        for what, entry in connection.execute(f"{query} ORDER BY id", CHANGES):
            history.apply(what, json.loads(entry))
    return history


def _read_head(connection: sqlite3.Connection) -> _Head:
    head = connection.execute("SELECT count, seal FROM head").fetchone()
    if head is None or not isinstance(head[0], int) or not isinstance(head[1], bytes):
        raise NotAsWrittenError("it does not say how many answers there are")
    return head[0], head[1]


def _rows(connection: sqlite3.Connection, last: int) -> Iterator[sqlite3.Row]:
    """Yield the first rows, some at once, so that nobody who writes waits long."""
    query, at = "SELECT * FROM log WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", 0
    while rows := connection.execute(query, (at, last, _ROWS)).fetchall():
        yield from rows
        at = rows[-1]["id"]


def _as_written(connection: sqlite3.Connection, head: _Head) -> Iterator[tuple[str, str]]:
    """Yield all entries before a head; NotAsWrittenError says which one is wrong."""
    now = (0, _origin(connection))
    for row in _rows(connection, head[0]):
        *written, digest = row
        if written[0] != now[0] + 1 or digest_of(written) != digest:
            raise NotAsWrittenError(f"entry {now[0] + 1:,} is not as it was written")
        now = _grown(now, digest)
        yield row["what"], row["entry"]
    if now != head:
        few = now[0] != head[0]
        same = "what it says of all entries together is not as it was written"
        raise NotAsWrittenError(_count(now[0], head[0]) if few else same)


def _count(n_found: int, written: int) -> str:
    return f"it has {n_found:,} entries, but {written:,} were written"


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    """Raise what the content of a file causes as NotAsWrittenError."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NotAsWrittenError(f"a value in it cannot be read: {error}") from error


def _place(path: Path) -> tuple[int, int] | None:
    """Return what a file keeps as long as no other file takes its place."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _real(value: float | None) -> float | None:
    """Return a number as JSON gives it back: without NaN, and without a sign of 0."""
    return None if value is None or math.isnan(value) else float(value) + 0.0
