"""SQLite files in which work is kept: opened, locked, agreed on, and what is wrong with them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import samestat
from pathlib import Path

from complabel.errors import StoreError

_LOCK_SECONDS = 1.0  # long enough for somebody who only looks whether a lock is held
_LOCK_TRIES = 100
_FREE_SPACE = "free space on its disk, then run the same command again"
_MAKE_WRITABLE = "make the file and its folder writable, or name another file with {option}"
_END_THE_OTHER = "end the program that keeps it locked, then run the same command again"
# SQLite's primary error codes (the low byte) of what is wrong around a file, and what to do.
_ADVICE = {
    sqlite3.SQLITE_FULL: _FREE_SPACE,
    sqlite3.SQLITE_IOERR: _FREE_SPACE,
    sqlite3.SQLITE_READONLY: _MAKE_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: _MAKE_WRITABLE,
    sqlite3.SQLITE_PERM: _MAKE_WRITABLE,
    sqlite3.SQLITE_BUSY: _END_THE_OTHER,
    sqlite3.SQLITE_LOCKED: _END_THE_OTHER,
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}


class NotAsWrittenError(Exception):
    """What in a file is not as it was written; ``Kind.explained`` says in which file."""


class DamagedError(StoreError):
    """A file is not as it was written."""


@dataclass(frozen=True)
class Kind:
    """A kind of file. Its first page has the mark, also for SQLite's own tools."""

    name: str
    rows: str  # what is kept in it
    option: str  # of the command line, which names another file
    mark: int
    tables: frozenset[str]
    formats: range  # those that can be read
    repair: str = ""  # what to do about damage; {path} is the file

    def format_of(self, connection: sqlite3.Connection, path: Path) -> int:
        """Return the format of a whole file, 0 of an empty one; refuse files of other kinds."""
        stranger = f"{path}: this is no {self.name}; name another file with {self.option}"
        try:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        except sqlite3.DatabaseError as error:
            with path.open("rb") as file:
                mark = int.from_bytes(file.read(100)[68:72], "big")
            if _advice(error) or mark == self.mark:
                raise
            raise StoreError(stranger) from error
        if not mark and not tables:
            return 0
        has_tables = self.tables <= tables
        if mark != self.mark and not has_tables:
            raise StoreError(stranger)
        if mark != self.mark or not has_tables or version < 1:
            raise NotAsWrittenError("its first page is not as it was written")
        if version not in self.formats:
            raise StoreError(
                f"{path}: another version of complabel made this file (format {version}; this"
                f" version reads {', '.join(map(str, self.formats))}); go on with the version that"
                f" made it, or begin anew: name another file with {self.option}"
            )
        # With a damaged index, SQLite would silently miss rows, and they would be stored twice.
        (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != "ok":
            raise NotAsWrittenError(
                problem.replace("\n", " ").removeprefix("*** in database main *** ")
            )
        return int(version)

    @contextlib.contextmanager
    def explained(self, path: Path) -> Iterator[None]:
        """Turn damage and SQLite's errors into messages that name the file and say what to do."""
        try:
            yield
        except (NotAsWrittenError, sqlite3.Error, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", 0)  # errors of the module have none
            if advice := _advice(error):
                raise StoreError(
                    f"{path} cannot be written: {error}. Earlier {self.rows} in it are safe;"
                    f" {advice.format(option=self.option)}"
                ) from error
            if code == 0 or code & 0xFF in _DAMAGED or code in _UNREADABLE:
                repair = self.repair and f". {self.repair.format(path=path)}"
                damaged = f"{path}: this {self.name} is damaged: {error}{repair}"
                raise DamagedError(damaged) from error
            raise StoreError(f"{path} cannot be read or written: {error}") from error


def _advice(error: Exception) -> str | None:
    """Return what to do about what is wrong around a file; None if it is the file itself."""
    code = getattr(error, "sqlite_errorcode", 0)
    return None if code in _UNREADABLE else _ADVICE.get(code & 0xFF)


def connect(target: Path | str, *, timeout: float, uri: bool = False) -> sqlite3.Connection:
    """Open a file for any thread, without transactions that nobody began."""
    connection = sqlite3.connect(
        target, timeout=timeout, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.row_factory = sqlite3.Row
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all of a block, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        yield


class Lock:
    """A lock on a file beside another; the system frees the lock of a program that is killed."""

    def __init__(self, path: Path) -> None:
        file = path.resolve()  # one lock for all links to a file
        self._path = file.with_name(f"{file.name}-lock")
        self._holder: sqlite3.Connection | None = None

    def take(self) -> bool:
        """Take the lock until it is released; False if another program has it."""
        for tries_left in reversed(range(_LOCK_TRIES)):
            before = None
            with contextlib.suppress(OSError):  # SQLite says what is wrong
                with contextlib.suppress(FileExistsError):
                    self._path.open("xb").close()
                before = self._path.stat()
            with contextlib.ExitStack() as opened:
                try:
                    holder = connect(self._path, timeout=_LOCK_SECONDS)
                    opened.callback(holder.close)
                    holder.execute("BEGIN EXCLUSIVE")  # nothing is ever written to it
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                        return False
                    if not tries_left:
                        raise
                    continue  # another program may have removed the file, as it released the lock
                with contextlib.suppress(OSError):  # the lock of a file that is gone is none
                    now = self._path.stat()
                    if before and before.st_ctime_ns == now.st_ctime_ns and samestat(before, now):
                        opened.pop_all()
                        self._holder = holder
                        return True
        return False

    def release(self) -> None:
        if self._holder is not None:
            with contextlib.suppress(OSError):  # on Windows, open files cannot be deleted
                self._path.unlink()
            self._holder.close()
            self._holder = None
