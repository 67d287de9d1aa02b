"""The tables of a result store, and opening the file that holds them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from complabel.errors import StoreError
from complabel.studies._outcome import Outcome

# Says to SQLite's own tools, and to us, that a file is a store of complabel's.
_APPLICATION_ID = 0x636F6D70
_VERSION = 2
_BUSY_SECONDS = 60.0

# Numbers as they are, texts as they are, everything else as JSON.
_OF_OUTCOME = "".join(
    f"    {field.name} {'REAL' if isinstance(field.default, float) else 'TEXT NOT NULL'},\n"
    for field in dataclasses.fields(Outcome)
)
# What leads from the version before to a version; what was stored in version 1 has no checksum.
_STEPS = {
    1: f"""
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    identity TEXT NOT NULL,
{_OF_OUTCOME}    finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    beat REAL NOT NULL
);
CREATE TABLE studies (
    name TEXT PRIMARY KEY,
    plan TEXT NOT NULL,
    missing TEXT NOT NULL,
    registered TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE TABLE members (
    study TEXT NOT NULL REFERENCES studies (name) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    dataset TEXT NOT NULL,
    draw TEXT NOT NULL,
    row TEXT NOT NULL,
    method TEXT NOT NULL,
    parameters TEXT NOT NULL,
    fold INTEGER NOT NULL,
    PRIMARY KEY (study, position)
);
CREATE INDEX members_by_key ON members (key)
""",
    2: """
ALTER TABLE results ADD COLUMN checksum TEXT;
ALTER TABLE studies ADD COLUMN checksum TEXT
""",
}

# SQLite's primary codes (the low byte of an error code), by what somebody can do about them.
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}
_FREE_SPACE = "free space on its disk and run the same command again"
_MAKE_WRITABLE = "make the file and its folder writable, or name another file with --store"
_END_THE_OTHER = "end the program that keeps it locked and run the same command again"
_ADVICE = {
    sqlite3.SQLITE_FULL: _FREE_SPACE,
    sqlite3.SQLITE_IOERR: _FREE_SPACE,
    sqlite3.SQLITE_READONLY: _MAKE_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: _MAKE_WRITABLE,
    sqlite3.SQLITE_PERM: _MAKE_WRITABLE,
    sqlite3.SQLITE_BUSY: _END_THE_OTHER,
    sqlite3.SQLITE_LOCKED: _END_THE_OTHER,
}


def connect(path: Path, *, create: bool = True) -> sqlite3.Connection:
    """Open a store, in autocommit mode, for several threads one at a time.

    Without ``create``, one that cannot be written, such as one on a read-only disk, is opened for
    reading.
    """
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    only_read = path.exists() and not writable
    if only_read:
        _refuse_to_write(path, create=create)
    # SQLite wants to write beside a file that it reads, unless nobody can change it.
    target = f"{path.absolute().as_uri()}?immutable=1" if only_read else path
    with explained(path):
        connection = sqlite3.connect(
            target,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            uri=only_read,
        )
        try:
            connection.row_factory = sqlite3.Row
            # Bytes that are no text are damage: they are found by those who look at the values.
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            with transaction(connection, "DEFERRED"):
                version = _check(connection, path)
            if version == 0 and not create:
                raise StoreError(f"{path} is empty and no store; name another file with --store")
            if not only_read:
                _make_ready(connection, path, version, create=create)
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_to_write(path: Path, *, create: bool) -> None:
    """Refuse a read-only store, unless it is to be looked at and all of it is in its file."""
    if create:
        raise StoreError(
            f"the store {path} cannot be written: it or its folder is read-only. Nothing was"
            " changed; make both writable, or name another file with --store"
        )
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"the store {path} cannot be read: a run that is still at work, or was killed, has"
            f" results beside it, in {log}, and neither file can be changed. Wait for the run to"
            " end, make the files and their folder writable, or copy both to another folder"
        )


def _make_ready(connection: sqlite3.Connection, path: Path, version: int, *, create: bool) -> None:
    """Set how a store is written, and make its tables those of this version."""
    connection.execute("PRAGMA journal_mode = WAL")
    # A result reported as stored must survive a power cut, not only a kill.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Looking at a store does not take it away from earlier versions of complabel.
    if create and version < _VERSION:
        _prepare(connection, path)


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a store, 0 for an empty file; refuse what is damaged or no store."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables == 0:
        return 0
    if application != _APPLICATION_ID:
        raise StoreError(f"{path} is a database of something else; name another file")
    if version > _VERSION:
        raise StoreError(
            f"{path} was written by a later complabel (store version {version}, this one"
            f" reads {_VERSION}); upgrade complabel or name another file"
        )
    if version < 1:
        raise StoreError(
            f"the store {path} is damaged: it says that its version is {version}, which never"
            f" was. {_what_to_do(path)}"
        )
    # A damaged index would hide results without a word, and they would be stored twice.
    (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if problem != "ok":
        found = problem.replace("\n", " ").removeprefix("*** in database main *** ")
        raise StoreError(f"the store {path} is damaged: {found}. {_what_to_do(path)}")
    return int(version)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables in an empty file, and lead a store of an earlier version to this one."""
    with transaction(connection):
        version = _check(connection, path)  # another run may have been first
        for later in range(version + 1, _VERSION + 1):
            for statement in _STEPS[later].split(";\n"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Make all writes of a block happen together or not at all, after any other writer's.

    With the kind ``"DEFERRED"``, all reads of a block see the store at one moment.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk has already rolled back
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's complaints into a sentence that names the file and says what to do."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # it may quote what is damaged
        raise StoreError(_explanation(path, error)) from error


def _explanation(path: Path, error: Exception) -> str:
    """Write what SQLite complains of, and what to do about it."""
    code = getattr(error, "sqlite_errorcode", 0)  # the module's own complaints have none
    primary = code & 0xFF
    if primary in _DAMAGED or code in _UNREADABLE or isinstance(error, UnicodeDecodeError):
        return (
            f"the store {path} cannot be read, it is damaged or no store: {error}."
            f" {_what_to_do(path)}"
        )
    if primary in _ADVICE:
        return (
            f"the store {path} cannot be written: {error}. What was stored before is safe;"
            f" {_ADVICE[primary]}"
        )
    return f"the store {path} cannot be read or written: {error}"


def _what_to_do(path: Path) -> str:
    """Write what is left to do with a damaged file."""
    return (
        f"Restore {path} from a copy, or name a new file with --store and run the study again."
        f" Where only an index is damaged, this mends it: sqlite3 {path} REINDEX"
    )
