"""Where answers are kept: an SQLite file to which things are only added."""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from complabel.answers import COLUMNS
from complabel.errors import StoreError
from complabel.live._asker import Event
from complabel.live._drawing import Question
from complabel.live._server import new_token

# The columns of both tables are the fields of a Question and of an Event, in their order. The id
# marks a SQLite file as answers of complabel, also for SQLite's own tools.
_APPLICATION_ID = 0x636F6D61
_VERSION = 1
_TABLES = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE questions (
    number INTEGER PRIMARY KEY,
    item TEXT NOT NULL,
    kind TEXT NOT NULL,
    labels TEXT,
    probability REAL,
    asked_for INTEGER,
    copies INTEGER NOT NULL
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
    seconds REAL
);
CREATE UNIQUE INDEX once ON events (of, what) WHERE of IS NOT NULL;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION}"""
_STANDING = """
SELECT e.*, q.item, q.kind, q.labels, q.probability, q.asked_for
FROM events AS e JOIN questions AS q USING (number)
WHERE e.what = 'answered'
AND NOT EXISTS (SELECT 1 FROM events AS u WHERE u.of = e.of AND u.what = 'undone')
ORDER BY e.id"""


class AnswerStore:
    """Questions and events in an SQLite file, which one server writes at a time.

    A missing file is made. ``about`` is what is asked, as values of JSON; the keys ``labels``, all
    names, and ``question`` are needed. A file that exists must have been made with the same.
    ``mark`` and ``token`` are drawn when the file is made. By the mark, pages know which answers
    belong to this file. The token lets people in: an address still holds when the server is started
    again.

    A StoreError says that the file cannot be opened, is none of these files, was made with other
    labels or questions, or is in use by another server.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.labels: Sequence[str] = about["labels"]
        self._writing = threading.Lock()
        with contextlib.ExitStack() as opened:
            self._keep_secret()
            self._lock = opened.enter_context(contextlib.closing(self._take_lock()))
            self._connection = opened.enter_context(contextlib.closing(self._connect()))
            self._agree(about)
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
        with contextlib.suppress(OSError):  # on Windows, open files cannot be deleted
            self._lock_path.unlink()
        self._lock.close()

    @property
    def _lock_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}-lock")

    def _keep_secret(self) -> None:
        """Let nobody else read the token; SQLite makes its journals with the same permissions."""
        with contextlib.suppress(OSError):  # SQLite says what is wrong
            self.path.touch(0o600)
            for name in ("", "-wal", "-shm"):  # an older version may have made them
                self.path.with_name(self.path.name + name).chmod(0o600)

    def renew_token(self) -> None:
        """Draw another token; the one before lets nobody in any more."""
        self.token = new_token()
        with self._writing, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:
                value = json.dumps(self.token)
                self._connection.execute("UPDATE about SET value = ? WHERE key = 'token'", [value])

    def _take_lock(self) -> sqlite3.Connection:
        """Return a connection that holds a lock, which the system frees if the server is killed."""
        with self._explained():
            lock = sqlite3.connect(
                self._lock_path, timeout=1.0, isolation_level=None, check_same_thread=False
            )
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                lock.close()
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                raise StoreError(
                    f"{self.path}: another server is writing these answers; end it first, or give"
                    " another --out"
                ) from error
            return lock

    def _connect(self) -> sqlite3.Connection:
        with self._explained():
            connection = sqlite3.connect(
                self.path, timeout=10.0, isolation_level=None, check_same_thread=False
            )
            try:
                found = connection.execute("PRAGMA application_id").fetchone()[0]
                is_empty = not connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
                if not is_empty and found != _APPLICATION_ID:
                    raise StoreError(
                        f"{self.path}: this is no file of answers of complabel annotate; move it"
                        " away, or give another --out"
                    )
                connection.execute("PRAGMA journal_mode = WAL")
                if is_empty:
                    connection.execute("BEGIN IMMEDIATE")
                    with connection:
                        for statement in _TABLES.split(";\n"):
                            connection.execute(statement)
            except BaseException:
                connection.close()
                raise
        connection.row_factory = sqlite3.Row
        return connection

    def _agree(self, about: Mapping[str, Any]) -> None:
        """Keep what is asked, or compare it with what was asked before."""
        with self._explained():
            rows = self._connection.execute("SELECT key, value FROM about").fetchall()
            known = {row["key"]: json.loads(row["value"]) for row in rows}
            if not known:
                known = {**about, "mark": secrets.token_hex(8), "token": new_token()}
                pairs = [(key, json.dumps(value)) for key, value in known.items()]
                self._connection.execute("BEGIN IMMEDIATE")
                with self._connection:
                    self._connection.executemany("INSERT INTO about VALUES (?, ?)", pairs)
        self.mark, self.token = str(known["mark"]), str(known["token"])
        for key, value in about.items():
            if known.get(key) != value:
                raise StoreError(
                    f"{self.path}: these answers were given with other {key}:"
                    f" {_shortly(known.get(key))}, not {_shortly(value)}; give the same as then to"
                    " go on, or another --out"
                )

    def append(self, items: Sequence[str], new: Iterable[Question | Event]) -> None:
        """Add questions and events: all of them, or none. ``items`` are all names.

        With an answer among them, they are on the disk when this returns, as far as the system and
        the disk tell the truth; questions that were handed out survive a killed server, too.
        """
        questions, events, durable = [], [], False
        for each in new:
            if isinstance(each, Question):
                number, item, kind, labels, *more = astuple(each)
                questions.append((number, items[item], kind, _json(labels), *more))
            else:
                durable = durable or each.what != "asked"
                *event, answer, seconds = astuple(each)
                events.append((*event, _json(answer), seconds))
        with self._writing, self._explained():
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:
                insert = self._connection.executemany
                insert("INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?, ?)", questions)
                insert("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", events)

    def load(self, numbers: Mapping[str, int]) -> Iterator[Question | Event]:
        """Yield all questions, then all events, in their order; ``numbers`` are those of items."""
        with self._explained():
            for row in self._connection.execute("SELECT * FROM questions ORDER BY number"):
                number, item, kind, labels, *more = row
                if item not in numbers:
                    raise StoreError(
                        f"{self.path}: there are answers about the item {item!r}, which is not"
                        " among the things to ask about any more; add it again, or give another"
                        " --out"
                    )
                shown = None if labels is None else tuple(json.loads(labels))
                yield Question(number, numbers[item], kind, shown, *more)
            for row in self._connection.execute("SELECT * FROM events ORDER BY id"):
                *event, answer, seconds = row
                said = None if answer is None else json.loads(answer)
                yield Event(*[*event, said, seconds])

    def answers_table(self) -> dict[str, list[Any]]:
        """Return the answers that were not taken back as columns: a table of answers.

        It reads the file by itself, so that other threads can go on writing.
        """
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        with self._explained(), contextlib.closing(sqlite3.connect(self.path)) as reader:
            reader.row_factory = sqlite3.Row
            for row in reader.execute(_STANDING):
                self._spell_out(row, columns)
        return columns

    def _spell_out(self, row: sqlite3.Row, columns: dict[str, list[Any]]) -> None:
        """Add the rows of one answer: a row for each label that it says something about."""
        kind, answer = row["kind"], json.loads(row["answer"])
        on_offer = None if row["labels"] is None else json.loads(row["labels"])
        offered = None if on_offer is None else [self.labels[at] for at in on_offer]
        if answer == "unsure" or kind == "asked":
            said = [(offered[0] if kind == "asked" and offered else None, answer)]
        elif kind == "ticked":
            ticked = set(answer)
            said = [(name, "yes" if name in ticked else "no") for name in offered or self.labels]
        else:
            said = [(name, "no") for name in answer] or [(None, "yes")]
        values = {
            "answer_id": str(row["of"]),
            "item": row["item"],
            "question": "named" if kind == "menu" else kind,
            "offered": None
            if kind == "asked" or offered is None
            else json.dumps(offered, ensure_ascii=False),
            "asked_for": row["asked_for"],
            "annotator": row["person"],
            "time": datetime.fromtimestamp(row["time"], UTC).isoformat(timespec="seconds"),
            "probability": row["probability"],
            "seconds": row["seconds"],
        }
        for label, word in said:
            columns["label"].append(label)
            columns["answer"].append(word)
        for name, value in values.items():
            columns[name] += [value] * len(said)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"{self.path}: the answers cannot be stored or read: {error}; free space on the"
                " disk, correct the permissions, or give another --out"
            ) from error


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _shortly(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 80 else f"{text[:77]}..."
