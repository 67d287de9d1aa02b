"""What is said of SQLite's errors; the stores' own tests try files, locks and formats."""

import multiprocessing
import os
import sqlite3
import time

import pytest
from tests.refusals import raises

from complabel._sqlite import DamagedError, Kind, Lock
from complabel.errors import StoreError

KIND = Kind("file of notes", "notes", "--notes", 7, frozenset({"notes"}), range(1, 2), "Copy it")


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (sqlite3.SQLITE_FULL, StoreError, ("a", "notes")),
        (sqlite3.SQLITE_IOERR_WRITE, StoreError, "free space"),
        (sqlite3.SQLITE_CANTOPEN, StoreError, "--notes"),
        (sqlite3.SQLITE_IOERR_READ, DamagedError, "Copy it"),
        (sqlite3.SQLITE_CORRUPT, DamagedError, "file of notes"),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, StoreError, "a"),
        (None, DamagedError, "Copy it"),
    ],
)
def test_an_error_is_of_the_file_or_of_what_is_around_it(tmp_path, code, kind, told):
    cause = sqlite3.OperationalError("no")
    if code is not None:
        cause.sqlite_errorcode = code
    with raises(StoreError, told) as refusal, KIND.explained(tmp_path / "a"):
        raise cause
    assert type(refusal.value) is kind
    assert str(tmp_path / "a") in str(refusal.value)


def _take_again_and_again(path, results):
    found = []
    for _ in range(100):
        lock = Lock(path)
        try:
            if lock.take():
                open(f"{path}.inside", "x").close()  # fails if another one is inside
                time.sleep(0.0005)
                os.unlink(f"{path}.inside")
                found.append("taken")
        except Exception as error:
            found.append(repr(error))
        lock.release()
    results.put(found)


def test_of_programs_that_start_at_once_one_has_the_lock(tmp_path):
    """Whoever releases a lock removes its file, for which others may wait."""
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    given = (tmp_path / "a", results)
    both = [context.Process(target=_take_again_and_again, args=given) for _ in range(2)]
    for each in both:
        each.start()
    found = results.get() + results.get()
    for each in both:
        each.join()
    assert {*found} == {"taken"}
    assert not list(tmp_path.iterdir())


def test_a_link_to_a_file_has_the_same_lock(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    lock = Lock(tmp_path / "a")
    assert lock.take()
    assert not Lock(tmp_path / "b").take()
    lock.release()
    assert Lock(tmp_path / "b").take()
