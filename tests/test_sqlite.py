"""What is said of SQLite's errors; the stores' own tests try files, locks and formats."""

import sqlite3

import pytest

from complabel._sqlite import DamagedError, Kind
from complabel.errors import StoreError

KIND = Kind("file of notes", "notes", "--notes", 7, frozenset({"notes"}), range(1, 2), "Copy it")


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (sqlite3.SQLITE_FULL, StoreError, "Earlier notes in it are safe"),
        (sqlite3.SQLITE_IOERR_WRITE, StoreError, "free space"),
        (sqlite3.SQLITE_CANTOPEN, StoreError, "--notes"),
        (sqlite3.SQLITE_IOERR_READ, DamagedError, "Copy it"),
        (sqlite3.SQLITE_CORRUPT, DamagedError, "file of notes is damaged"),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, StoreError, "read or written"),
        (None, DamagedError, "Copy it"),
    ],
)
def test_an_error_is_of_the_file_or_of_what_is_around_it(tmp_path, code, kind, told):
    cause = sqlite3.OperationalError("no")
    if code is not None:
        cause.sqlite_errorcode = code
    with pytest.raises(StoreError, match=told) as refusal, KIND.explained(tmp_path / "a"):
        raise cause
    assert type(refusal.value) is kind
    assert str(tmp_path / "a") in str(refusal.value)
