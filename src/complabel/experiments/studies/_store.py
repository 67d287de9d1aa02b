"""The store: results in one SQLite file, which one run writes at a time and any may read."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from pydantic import ValidationError

from complabel._sqlite import Kind, Lock, connect, transaction
from complabel.errors import StoreError
from complabel.experiments.studies._plan import Plan
from complabel.experiments.studies._results import (
    Outcome,
    StudyResults,
    UnitResult,
    canonical_json,
    plain,
)
from complabel.experiments.studies._units import Unit

_VERSION = 3  # no release wrote an earlier one
_KIND = Kind(
    name="store of results of studies",
    rows="results",
    option="--store",
    mark=0x636F6D70,
    tables=frozenset({"results", "studies", "writer"}),
    formats=range(_VERSION, _VERSION + 1),
    repair=(
        "Restore {path} from a copy, or name a new file with --store and run the study again. If"
        " only an index is damaged, this command repairs it: sqlite3 {path} REINDEX"
    ),
)
_BUSY_SECONDS = 60.0
_MEMORY = Path(":memory:")

# Columns for the fields of an outcome: numbers and texts as they are, other values as JSON.
_OF_OUTCOME = "".join(
    f"    {field.name} {'REAL' if isinstance(field.default, float) else 'TEXT NOT NULL'},\n"
    for field in dataclasses.fields(Outcome)
)
_TABLES = f"""
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    identity TEXT NOT NULL,
{_OF_OUTCOME}    finished TEXT NOT NULL
);
CREATE TABLE studies (
    name TEXT PRIMARY KEY,
    plan TEXT NOT NULL,
    missing TEXT NOT NULL,
    units TEXT NOT NULL,
    registered TEXT NOT NULL
);
CREATE TABLE writer (
    only INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    machine TEXT NOT NULL,
    since TEXT NOT NULL
);
PRAGMA application_id = {_KIND.mark};
PRAGMA user_version = {_VERSION}"""

_OF_A_FOLD = "random_state"  # a parameter that differs between the folds of a row


class Store:
    """The results of studies, in a SQLite file.

    Parameters
    ----------
    path : path
        The file. A missing one is made, unless ``create`` is False. ``":memory:"`` keeps nothing.
    create : bool, default=True
        If False, the store is only read. It may then be on a read-only disk.

    Raises
    ------
    StoreError
        If the file cannot be opened, is damaged or is not a store.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise StoreError(
                f"there is no store {self.path}; name one with --store, or run a study first"
            )
        self._lock = Lock(self.path)
        self._connection = _connect(self.path, create=create)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only run that writes the store inside the block; StoreError names another one."""
        if self.path == _MEMORY:
            yield
            return
        with _KIND.explained(self.path):
            if not self._lock.take():
                writer = self.writer() or "it has just begun"
                raise StoreError(
                    f"another run writes the store {self.path}: {writer}. Wait until it has ended"
                    " and run the same command again, or name another file with --store"
                )
        try:
            with _KIND.explained(self.path):
                self._connection.execute(
                    "INSERT OR REPLACE INTO writer VALUES (1, ?, ?, ?)",
                    [os.getpid(), platform.node(), _now()],
                )
            yield
        finally:
            self._lock.release()

    def writer(self) -> str:
        """Return the process and the machine of the run that writes the store; empty if none."""
        if not self._lock.is_taken():
            return ""
        row = self._connection.execute("SELECT * FROM writer").fetchone()
        return "process {process} on {machine}, since {since}".format(**row) if row else ""

    def register(self, plan: Plan, units: Sequence[Unit], missing: Mapping[str, str]) -> None:
        """Record a study and its units; replace an earlier record of the same name."""
        places = [
            {
                "key": unit.key,
                "dataset": unit.dataset,
                "draw": unit.draw.name,
                "row": unit.row.title,
                "method": unit.row.method,
                "parameters": unit.parameters,
                "fold": unit.fold,
            }
            for unit in units
        ]
        study = {
            "name": plan.name,
            "plan": plan.model_dump_json(),
            "missing": json.dumps(dict(missing)),
            "units": json.dumps(places, default=repr),
            "registered": _now(),
        }
        with _KIND.explained(self.path):
            self._connection.execute(_insertion("studies", study), study)

    def finish(self, unit: Unit, outcome: Outcome) -> None:
        """Store the outcome of a unit."""
        result: dict[str, Any] = {
            "key": unit.key,
            "status": "failed" if outcome.error else "done",
            "dataset": unit.dataset,
            "method": unit.row.method,
            "identity": unit.identity,
            **{name: _stored(value) for name, value in vars(outcome).items()},
            "finished": _now(),
        }
        with _KIND.explained(self.path):
            self._connection.execute(_insertion("results", result), result)

    def studies(self) -> list[str]:
        """Return the names of the studies in the store, the latest registered first."""
        rows = self._read("SELECT name FROM studies ORDER BY registered DESC, rowid DESC")
        return [row["name"] for row in rows]

    def results(self, study: str) -> StudyResults:
        """Return a study with all its stored results.

        Raises
        ------
        StoreError
            If there is no such study, or its record or a result is damaged.
        """
        found = self._read("SELECT * FROM studies WHERE name = ?", study)
        if not found:
            known = ", ".join(self.studies()) or "none"
            raise StoreError(f"{self.path} holds no study {study!r}; it holds: {known}")
        try:
            plan = Plan.model_validate_json(found[0]["plan"])
            if plan.name != study:  # a study's name also names a folder
                raise ValueError(f"its plan belongs to {plan.name!r}")
            places = json.loads(found[0]["units"])
            rows = self._having("*", [place["key"] for place in places])
            results = {row["key"]: row for row in rows}
            units = [_unit_result(place, results.get(place["key"])) for place in places]
            missing = json.loads(found[0]["missing"])
        except (ValueError, TypeError, LookupError) as error:
            said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise StoreError(
                f"the store {self.path} cannot be read at the study {study!r}: {said}. It is"
                f" damaged, or another version of complabel wrote it. "
                f"{_KIND.repair.format(path=self.path)}"
            ) from error
        return StudyResults(plan=plan, units=units, missing=missing, writer=self.writer())

    def statuses(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the status ("done" or "failed") of each unit that has a result, by key."""
        return {row["key"]: row["status"] for row in self._having("key, status", keys)}

    def made_by_other_code(self, units: Sequence[Unit]) -> int:
        """Count stored results of the same units from other code or other versions of libraries."""
        (row,) = self._read(
            "WITH units AS (SELECT json_each.key AS name, value FROM json_each(?))"
            " SELECT count(*) AS n FROM results WHERE key NOT IN (SELECT name FROM units)"
            " AND json_remove(identity, '$.code', '$.versions')"
            " IN (SELECT json_remove(value, '$.code', '$.versions') FROM units)",
            json.dumps({unit.key: unit.identity for unit in units}),
        )
        return int(row["n"])

    def times(self) -> list[tuple[str, float]]:
        """Return the identity and the seconds of each unit that is done."""
        rows = self._read(
            "SELECT identity, fit_seconds + predict_seconds AS seconds FROM results"
            " WHERE status = 'done' AND seconds IS NOT NULL"
        )
        return [(row["identity"], row["seconds"]) for row in rows]

    def _having(self, columns: str, keys: Sequence[str]) -> list[sqlite3.Row]:
        return self._read(
            f"SELECT {columns} FROM results WHERE key IN (SELECT value FROM json_each(?))",
            json.dumps(list(keys)),
        )

    def _read(self, query: str, *values: object) -> list[sqlite3.Row]:
        with _KIND.explained(self.path):
            return self._connection.execute(query, values).fetchall()


@dataclasses.dataclass(frozen=True)
class Forecast:
    """Expected seconds, on one core, of the ``n_known`` units that the store has times of."""

    n_units: int
    n_known: int
    seconds: float


def forecast(store: Store, units: Sequence[Unit]) -> Forecast:
    """Forecast a run's time from stored units of the same row and dataset, also of other code."""
    times: dict[str, list[float]] = {}
    for identity, seconds in store.times():
        times.setdefault(_likeness(identity), []).append(seconds)
    known = [times[like] for unit in units if (like := _likeness(unit.identity)) in times]
    return Forecast(len(units), len(known), sum(map(fmean, known)))


def _likeness(identity: str) -> str:
    """Return a text that is equal for units of one row and dataset."""
    said = json.loads(identity)
    parameters = {k: v for k, v in said["parameters"].items() if k != _OF_A_FOLD}
    return canonical_json({k: said[k] for k in ("data", "classifier")} | {"with": parameters})


def _connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open a store in autocommit mode; only to read if it cannot be written, without ``create``."""
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    only_read = path.exists() and not writable
    if only_read:
        _refuse_to_write(path, create=create)
    # To read a file, SQLite also writes beside it, unless the file is declared immutable.
    target = f"{path.absolute().as_uri()}?immutable=1" if only_read else path
    with _KIND.explained(path):
        connection = connect(target, timeout=_BUSY_SECONDS, uri=only_read)
        try:
            is_empty = not _KIND.format_of(connection, path)
            if is_empty and not create:
                raise StoreError(
                    f"{path} is an empty file, not a store; name another file with --store"
                )
            if not only_read:
                connection.execute("PRAGMA journal_mode = WAL")
                # A result reported as stored must survive a power cut, not only a kill.
                connection.execute("PRAGMA synchronous = FULL")
            if is_empty:
                with transaction(connection):
                    if not _KIND.format_of(connection, path):  # else another run has just made it
                        for statement in _TABLES.split(";\n"):
                            connection.execute(statement)
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_to_write(path: Path, *, create: bool) -> None:
    """Refuse a read-only store, unless it is only read and complete in its file."""
    if create:
        raise StoreError(
            f"the store {path} cannot be written: the file or its folder is read-only. Nothing was"
            " changed; make both writable, or name another file with --store"
        )
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"the store {path} cannot be read: some results are still in {log}, from a run that"
            " goes on or was killed, and both files are read-only. Wait for the run to end, make"
            " the files and their folder writable, or copy both files to another folder"
        )


def _unit_result(place: Mapping[str, Any], result: sqlite3.Row | None) -> UnitResult:
    """Make a unit's result from its place in the study and, if it is finished, its row."""
    if result is None:
        return UnitResult(**place, status="pending")
    outcome: dict[str, Any] = {}
    for field in dataclasses.fields(Outcome):
        value = result[field.name]
        if isinstance(field.default, float):
            value = math.nan if value is None else float(value)  # None: it was not measured
        elif not isinstance(field.default, str):
            value = json.loads(value)
        outcome[field.name] = value
    return UnitResult(**place, status=result["status"], **outcome)


def _insertion(table: str, values: Mapping[str, object]) -> str:
    names = ", ".join(values)
    return f"INSERT OR REPLACE INTO {table} ({names}) VALUES (:{', :'.join(values)})"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _stored(value: object) -> object:
    """Return a field of an outcome as a value that SQLite can hold; NaN becomes None."""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if isinstance(value, str):
        # A traceback may quote bytes that are no text, for example in the name of a file.
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return plain(value)
