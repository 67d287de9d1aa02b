"""Where answers are kept: an SQLite file to which things are only added.

Each row has a digest. The file also says how many rows there are, with a digest of all of them. So
a file that is damaged, or that somebody else has changed, is refused, and is never read as if it
had other answers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from complabel._questions import BY_STEM
from complabel._sqlite import Kind, Lock, NotAsWrittenError, connect, transaction
from complabel.answers import COLUMNS
from complabel.errors import StoreError
from complabel.files import some_of
from complabel.live._asker import Event
from complabel.live._drawing import Question
from complabel.live._server import new_token

ROWS = ("questions", "events")
_VERSION = 4  # no release wrote an earlier one
_KIND = Kind(
    name="file of answers of complabel annotate",
    rows="answers",
    option="--out",
    mark=0x636F6D61,
    tables=frozenset({"about", *ROWS}),
    formats=range(_VERSION, _VERSION + 1),
)
_BUSY_SECONDS = 10.0
# The columns of both tables are the fields of a Question and of an Event, and a digest.
_TABLES = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE questions (
    number INTEGER PRIMARY KEY,
    item TEXT NOT NULL,
    kind TEXT NOT NULL,
    labels TEXT,
    probability REAL,
    asked_for INTEGER,
    copies INTEGER NOT NULL,
    drawn TEXT NOT NULL,
    digest BLOB NOT NULL
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    what TEXT NOT NULL CHECK (what IN ('asked', 'answered', 'undone')),
    person TEXT NOT NULL,
    number INTEGER NOT NULL REFERENCES questions,
    copy INTEGER NOT NULL,
    of INTEGER,
    answer TEXT,
    seconds REAL,
    digest BLOB NOT NULL
);
CREATE UNIQUE INDEX once ON events (of, what) WHERE of IS NOT NULL;
PRAGMA application_id = {_KIND.mark};
PRAGMA user_version = {_VERSION}"""
_Head = dict[str, list[Any]]  # of each table: how many rows it has, and the digest of all of them


class AnswerStore:
    """Questions and events in an SQLite file, which one server writes at a time.

    A missing file is made. ``about`` is what is asked, as values of JSON; the keys ``labels``, all
    names, and ``question`` are needed. A file that exists must have been made with the same, but
    labels may be new (``added``). ``labels`` are in the order of the file, with new ones last.
    ``since`` has the number of the first question that may be about each label: those before say
    nothing about it. ``mark`` and ``token`` are drawn when the file is made. By the mark, pages
    know which answers belong to this file. The token lets people in: an address still holds when
    the server is started again. ``is_weighted`` says whether some labels were ever preferred, as a
    true ``weighted`` in ``about`` says of now.

    A StoreError says that the file cannot be opened, is none of these files, was made with labels
    that are gone or with other questions, or is in use by another server; a DamagedError says what
    in it is not as it was written.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._writing = threading.Lock()
        with _KIND.explained(self.path), contextlib.ExitStack() as opened:
            self._lock = taken_lock(self.path)
            opened.callback(self._lock.release)
            _refuse_lost(self.path)
            self._keep_secret()
            self._connection = opened.enter_context(
                contextlib.closing(connect(self.path, timeout=_BUSY_SECONDS))
            )
            is_new = not _KIND.format_of(self._connection, self.path)
            if not is_new:
                with _reading():  # a row that is not as it was written refuses the file
                    for _ in _rows_as_written(self._connection):
                        pass
            self._agree(about, is_new)
            self._place = _place(self.path)
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def end(self) -> None:
        """Close the file; no other server may write it until ``close``."""
        self._connection.close()

    def close(self) -> None:
        self.end()
        self._lock.release()

    def _keep_secret(self) -> None:
        """Let nobody else read the token; SQLite makes its journals with the same permissions."""
        with contextlib.suppress(OSError):  # SQLite says what is wrong
            self.path.touch(0o600)
            self.path.chmod(0o600)

    def renew_token(self) -> None:
        """Draw another token; the one before lets nobody in any more."""
        self.token = new_token()
        with self._writing, _KIND.explained(self.path), transaction(self._connection):
            value = json.dumps(self.token)
            self._connection.execute("UPDATE about SET value = ? WHERE key = 'token'", [value])

    def _agree(self, about: Mapping[str, Any], is_new: bool) -> None:
        """Keep what is asked, or compare it with what was asked before."""
        known, execute = {} if is_new else _about(self._connection), self._connection.execute
        since = known.get("labels", about["labels"])
        if not isinstance(since, dict):  # until a label is added
            since = dict.fromkeys(since, 0)
        gone = [name for name in since if name not in about["labels"]]
        for key in about if known else ():
            if gone if key == "labels" else key != "weighted" and known.get(key) != about[key]:
                raise _other(self.path, key, gone or known.get(key), about[key])
        execute("PRAGMA journal_mode = WAL")
        known = known or {"mark": secrets.token_hex(8), "token": new_token(), **about}
        self.added = [name for name in about["labels"] if name not in since]
        if self.added:
            (first,) = execute("SELECT coalesce(max(number) + 1, 0) FROM questions").fetchone()
            since |= dict.fromkeys(self.added, max(first, *since.values()))
            known["labels"] = since
        self.is_weighted = bool(known.get("weighted") or about.get("weighted"))
        begins = self.is_weighted and not known.get("weighted")
        if begins:
            known["weighted"] = True
        if is_new or self.added or begins:
            with transaction(self._connection):
                self._say(known, is_new)
        self.labels, self.since = [*since], [*since.values()]
        self._head = _read_head(self._connection)
        self.mark, self.token = str(known["mark"]), str(known["token"])

    def _say(self, known: Mapping[str, Any], is_new: bool) -> None:
        """Write what is asked, on which the digest of all rows depends; make the tables if new."""
        execute = self._connection.execute
        for statement in _TABLES.split(";\n") if is_new else ():  # a script ends the transaction
            execute(statement)
        for key, value in known.items():
            execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, json.dumps(value)))
        origin, head = _origin(self._connection), _Head()
        for name in ROWS:
            digests = [row[0] for row in execute(f"SELECT digest FROM {name} ORDER BY rowid")]
            head[name] = _grown([0, origin], digests)
        execute("INSERT OR REPLACE INTO about VALUES ('head', ?)", (json.dumps(head),))

    def append(self, items: Sequence[str], new: Iterable[Question | Event]) -> None:
        """Add questions and events: all of them, or none. ``items`` are all names.

        With an answer among them, they are on the disk when this returns, as far as the system and
        the disk tell the truth; questions that were handed out survive a killed server, too.
        """
        questions, events = [], []
        for each in new:
            if isinstance(each, Question):
                number, item, kind, labels, probability, *more = astuple(each)
                row = [number, items[item], kind, _json(labels), _real(probability), *more]
                questions.append(row)
            else:
                id_, time, *event, answer, seconds = astuple(each)
                events.append([id_, _real(time), *event, _json(answer), _real(seconds)])
        self.add({"questions": questions, "events": events})

    def add(self, rows: Mapping[str, Sequence[list[Any]]]) -> None:
        """Add rows of both tables: all of them, or none."""
        durable = any(what != "asked" for _, _, what, *_ in rows["events"])
        with self._writing, _KIND.explained(self.path):
            self._refuse_moved()
            execute, before, head = self._connection.execute, json.dumps(self._head), {}
            execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            with transaction(self._connection):
                for name in ROWS:
                    digests = [digest_of(row) for row in rows[name]]
                    head[name] = _grown(self._head[name], digests)
                    for row, digest in zip(rows[name], digests, strict=True):
                        marks = ", ".join("?" * (len(row) + 1))
                        execute(f"INSERT INTO {name} VALUES ({marks})", (*row, digest))
                change = "UPDATE about SET value = ? WHERE key = 'head' AND value = ?"
                if execute(change, (json.dumps(head), before)).rowcount != 1:
                    raise StoreError(
                        f"{self.path}: another program has changed this file since the server"
                        " opened it; end the server, and start it again"
                    )
            self._head = head

    def load(self, numbers: Mapping[str, int]) -> Iterator[Question | Event]:
        """Yield all questions, then all events, in their order; ``numbers`` are those of items."""
        with _KIND.explained(self.path):
            for row in self._connection.execute("SELECT * FROM questions ORDER BY number"):
                number, item, kind, labels, *more, _ = row
                if item not in numbers:
                    raise StoreError(
                        f"{self.path}: there are answers about the item {item!r}, which is not"
                        " among the things to ask about any more; add it again, or give another"
                        " --out"
                    )
                yield Question(number, numbers[item], kind, self._on_offer(number, labels), *more)
            for row in self._connection.execute("SELECT * FROM events ORDER BY id"):
                *event, answer, seconds, _ = row
                said = None if answer is None else json.loads(answer)
                yield Event(*[*event, said, seconds])

    def answers_table(self) -> dict[str, list[Any]]:
        """Return the answers that were not taken back as columns: a table of answers.

        It reads the file by itself, so that other threads can go on writing; a DamagedError says
        that it is not as it was written any more.
        """
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        least = self._head["events"][0]
        questions: dict[int, sqlite3.Row] = {}
        standing: dict[int, sqlite3.Row] = {}  # by the id of the question that was answered
        with (
            _KIND.explained(self.path),
            contextlib.closing(connect(self.path, timeout=_BUSY_SECONDS)) as reader,
            _reading(),
        ):
            self._refuse_moved()
            reader.execute("BEGIN")  # all is read as it was at one moment
            if _read_head(reader)["events"][0] < least:
                raise NotAsWrittenError("the latest answers are gone")
            for name, row in _rows_as_written(reader):
                if name == "questions":
                    questions[row["number"]] = row
                elif row["what"] == "answered":
                    standing[row["of"]] = row
                elif row["what"] == "undone":
                    del standing[row["of"]]
            for row in standing.values():
                self._spell_out(row, questions[row["number"]], columns)
        return columns

    def taken_back(self) -> set[str]:
        """Return the ids, as in the table, of answers that were taken back."""
        with _KIND.explained(self.path):
            rows = self._connection.execute("SELECT of FROM events WHERE what = 'undone'")
            return {str(row["of"]) for row in rows}

    def _spell_out(
        self, row: sqlite3.Row, question: sqlite3.Row, columns: dict[str, list[Any]]
    ) -> None:
        """Add the rows of one answer: a row for each label that it says something about."""
        kind, answer = question["kind"], json.loads(row["answer"])
        on_offer = self._on_offer(question["number"], question["labels"])
        offered = None if on_offer is None else [self.labels[at] for at in on_offer]
        said = BY_STEM[kind].rows(answer, offered or self.labels)
        values = {
            "answer_id": str(row["of"]),
            "item": question["item"],
            "question": BY_STEM[kind].question,
            "offered": None
            if kind == "asked" or offered is None
            else json.dumps(offered, ensure_ascii=False),
            "asked_for": question["asked_for"],
            "annotator": row["person"],
            "time": datetime.fromtimestamp(row["time"], UTC).isoformat(timespec="seconds"),
            "probability": question["probability"],
            "drawn": question["drawn"] or None,
            "seconds": row["seconds"],
        }
        for label, word in said:
            columns["label"].append(label)
            columns["answer"].append(word)
        for name, value in values.items():
            columns[name] += [value] * len(said)

    def _on_offer(self, number: int, labels: str | None) -> tuple[int, ...] | None:
        """Return the labels that a question of the file is about; None if these are all of now."""
        if labels is not None:
            return tuple(json.loads(labels))
        n_then = bisect_right(self.since, number)
        return None if n_then == len(self.since) else tuple(range(n_then))

    def _refuse_moved(self) -> None:
        if _place(self.path) != self._place:
            raise StoreError(
                f"{self.path}: this file is gone or another one has taken its place since the"
                " server opened it; put it back, or end the server and start it again"
            )


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
    journal, table = path.with_name(f"{path.name}-wal"), path.with_suffix("")
    if journal.exists() and journal.stat().st_size:
        raise NotAsWrittenError("it is gone or empty, but its journal is there")
    if exists and table != path and table.exists():
        raise NotAsWrittenError(f"it is empty, but the table {table} is there")


def digest_of(row: Sequence[Any]) -> bytes:
    """Return the digest of a row, as it comes from the file without its digest."""
    return _blake(json.dumps(row).encode())


def _blake(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _grown(head: Sequence[Any], digests: Sequence[bytes]) -> list[Any]:
    """Return the head of a table to which rows are added."""
    count, seal = head[0] + len(digests), bytes.fromhex(head[1])
    for digest in digests:
        seal = _blake(seal + digest)
    return [count, seal.hex()]


def _origin(connection: sqlite3.Connection) -> str:
    """Return the digest from which heads begin: of the schema, and of what is asked."""
    schema = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
    told = "SELECT key, value FROM about WHERE key NOT IN ('head', 'token') ORDER BY key"
    return digest_of([[*row] for row in [*schema, *connection.execute(told)]]).hex()


def about_of(path: Path) -> dict[str, Any]:
    """Return what a store says of itself; a StoreError says that there is none."""
    with _KIND.explained(path):
        _refuse_lost(path)
        if not path.exists():
            raise StoreError(f"{path} is not there, so there are no answers whose labels to merge")
        with contextlib.closing(connect(path, timeout=_BUSY_SECONDS)) as connection:
            _KIND.format_of(connection, path)
            return _about(connection)


def _about(connection: sqlite3.Connection) -> dict[str, Any]:
    with _reading():
        rows = connection.execute("SELECT key, value FROM about WHERE key != 'head'").fetchall()
        return {row["key"]: json.loads(row["value"]) for row in rows}


def _read_head(connection: sqlite3.Connection) -> _Head:
    found = connection.execute("SELECT value FROM about WHERE key = 'head'").fetchone()
    head: _Head = json.loads(found["value"]) if found else {}
    if head.keys() != {*ROWS}:
        raise NotAsWrittenError("it does not say how many answers there are")
    return head


def _rows_as_written(connection: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Row]]:
    """Yield all rows with the names of their tables; NotAsWrittenError says which one is wrong."""
    head = _read_head(connection)
    for name in ROWS:
        now: list[Any] = [0, _origin(connection)]
        for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1"):
            *written, digest = row
            if digest_of(written) != digest:
                raise NotAsWrittenError(f"row {row[0]} of its {name} is not as it was written")
            now = _grown(now, [digest])
            yield name, row
        if now != head[name]:
            count = f"{now[0]:,} {name}, but {head[name][0]:,} were written"
            same = now[0] == head[name][0]
            raise NotAsWrittenError("what it asks has changed" if same else f"it has {count}")


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
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _real(value: float | None) -> float | None:
    """Return a number as SQLite gives it back: without NaN, and without a sign of 0."""
    return None if value is None or math.isnan(value) else float(value) + 0.0


def _other(path: Path, key: str, before: Any, now: Any) -> StoreError:
    """Say what is asked otherwise than before, and what to do."""
    told, same = f"other {key}: {_shortly(before)}, not {_shortly(now)}", "the same"
    if key == "labels":
        told = f"labels that are gone: {some_of(before)}"
        same = "these labels, too, or say which label each one is merged into (--merge OLD=NEW)"
    if key == "question":
        same = "the same --question or --questions, or the same --until and --against"
    return StoreError(
        f"{path}: these answers were given with {told}; to go on, give {same}, or begin anew with"
        " another --out"
    )


def _shortly(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 80 else f"{text[:77]}..."
