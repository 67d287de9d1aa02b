"""The tables of a result store, and opening the file that holds them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from complabel.errors import StoreError

# Says to SQLite's own tools, and to us, that a file is a store of complabel's.
_APPLICATION_ID = 0x636F6D70
_VERSION = 1
_BUSY_SECONDS = 60.0

_TABLES = """
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    identity TEXT NOT NULL,
    metrics TEXT NOT NULL,
    fit_seconds REAL,
    predict_seconds REAL,
    peak_memory_mb REAL,
    fitted TEXT NOT NULL,
    details TEXT NOT NULL,
    error TEXT NOT NULL,
    machine TEXT NOT NULL,
    finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
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
CREATE INDEX members_by_key ON members (key);
"""


def connect(path: Path) -> sqlite3.Connection:
    """Open a store, making it where there is none.

    Parameters
    ----------
    path : Path

    Returns
    -------
    sqlite3.Connection
        In autocommit mode, usable from several threads one at a time.

    Raises
    ------
    StoreError
        If the file cannot be opened, is no store, or is one of a later version.
    """
    with explained(path):
        connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            # A result that was reported as stored must survive a power cut, not only a kill.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables in an empty file; refuse a file that holds something else."""
    with transaction(connection):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables == 0:
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        elif application != _APPLICATION_ID:
            raise StoreError(f"{path} is a database of something else; name another file")
        elif version > _VERSION:
            raise StoreError(
                f"{path} was written by a later complabel (store version {version}, this one"
                f" reads {_VERSION}); upgrade complabel or name another file"
            )


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all writes of a block happen together or not at all, after any other writer's."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk has already rolled back
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's complaints into a sentence that names the file and says what is safe."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(
            f"the store {path} cannot be read or written: {error}. What was stored before is"
            " safe; free space or mend the permissions and run the same command again"
        ) from error
