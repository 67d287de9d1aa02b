"""Results in one SQLite file: each unit once, whoever runs it and however often it is killed."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from complabel.errors import StoreError
from complabel.studies._plan import Plan
from complabel.studies._results import StudyResults, UnitResult
from complabel.studies._schema import connect, explained, transaction
from complabel.studies._units import Unit, canonical_json

if TYPE_CHECKING:
    from complabel.studies._work import Outcome


_BEAT_SECONDS = 15.0
_SILENT_SECONDS = 120.0


class Store:
    """The results of studies, in a SQLite file that several runs may share.

    Parameters
    ----------
    path : path
        Made where it does not exist, unless ``create`` is False.
    create : bool, default=True

    Raises
    ------
    StoreError
        If the file cannot be opened or is no store.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise StoreError(
                f"there is no store {self.path}; name one with --store, or run a study first"
            )
        self._connection = connect(self.path)
        # Units are claimed from the thread that feeds the workers, finished from the main one.
        self._lock = threading.RLock()
        self._owner = uuid.uuid4().hex

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what this store's owner had claimed, and close the file."""
        with self._lock:
            with contextlib.suppress(sqlite3.Error):  # stale claims are recognised as such
                self._connection.execute("DELETE FROM claims WHERE owner = ?", [self._owner])
            self._connection.close()

    def register(self, plan: Plan, units: Sequence[Unit], missing: Mapping[str, str]) -> None:
        """Record what a study consists of, in place of what it consisted of before.

        Parameters
        ----------
        plan : Plan
        units : sequence of Unit
        missing : mapping of str to str
            Datasets that are not at hand, with the reason.
        """
        members = [
            (
                plan.name,
                position,
                unit.key,
                unit.dataset,
                unit.draw.name,
                unit.row.title,
                unit.row.method,
                canonical_json(unit.parameters),
                unit.fold,
            )
            for position, unit in enumerate(units)
        ]
        with self._writing() as connection:
            connection.execute("DELETE FROM studies WHERE name = ?", [plan.name])
            connection.execute(
                "INSERT INTO studies (name, plan, missing) VALUES (?, ?, ?)",
                [plan.name, plan.model_dump_json(), json.dumps(dict(missing))],
            )
            connection.executemany(
                "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", members
            )

    def claim(self, key: str, *, again_if_failed: bool = False) -> bool:
        """Take a unit for this run, unless it is finished or another live run has it.

        Parameters
        ----------
        key : str
        again_if_failed : bool, default=False
            Take it also if it has failed before.

        Returns
        -------
        bool
            Whether this run is to run it.
        """
        finished = ("done",) if again_if_failed else ("done", "failed")
        with self._writing() as connection:
            row = connection.execute("SELECT status FROM results WHERE key = ?", [key]).fetchone()
            if row is not None and row["status"] in finished:
                return False
            held = connection.execute("SELECT * FROM claims WHERE key = ?", [key]).fetchone()
            if held is not None and _is_alive(held):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
                [key, self._owner, platform.node(), os.getpid(), time.time()],
            )
        return True

    def finish(self, unit: Unit, outcome: Outcome) -> None:
        """Store what became of a unit and give up the claim on it, in one step.

        Parameters
        ----------
        unit : Unit
        outcome : Outcome
        """
        with self._writing() as connection:
            connection.execute("DELETE FROM claims WHERE key = ?", [unit.key])
            connection.execute(
                "INSERT OR REPLACE INTO results"
                " (key, status, dataset, method, identity, metrics, fit_seconds,"
                " predict_seconds, peak_memory_mb, fitted, details, error, machine)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    unit.key,
                    "failed" if outcome.error else "done",
                    unit.dataset,
                    unit.row.method,
                    unit.identity,
                    json.dumps(dict(outcome.metrics)),
                    outcome.fit_seconds,  # SQLite keeps NaN as NULL
                    outcome.predict_seconds,
                    outcome.peak_memory_mb,
                    json.dumps(dict(outcome.fitted)),
                    json.dumps(dict(outcome.details)),
                    outcome.error,
                    json.dumps(dict(outcome.machine)),
                ],
            )

    def release(self, unit: Unit) -> None:
        """Give up the claim on a unit that was not run to its end.

        Parameters
        ----------
        unit : Unit
        """
        with self._writing() as connection:
            connection.execute(
                "DELETE FROM claims WHERE key = ? AND owner = ?", [unit.key, self._owner]
            )

    @contextlib.contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Keep this run's claims alive while the block runs, however long a unit takes."""
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(_BEAT_SECONDS):
                with contextlib.suppress(StoreError), self._writing() as connection:
                    connection.execute(
                        "UPDATE claims SET beat = ? WHERE owner = ?", [time.time(), self._owner]
                    )

        thread = threading.Thread(target=beat, name="complabel-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def studies(self) -> list[str]:
        """Return the names of the studies in the store, the latest registered first."""
        with self._lock, explained(self.path):
            rows = self._connection.execute(
                "SELECT name FROM studies ORDER BY registered DESC, rowid DESC"
            ).fetchall()
        return [row["name"] for row in rows]

    def results(self, study: str) -> StudyResults:
        """Return a study with everything that is stored of it.

        Parameters
        ----------
        study : str
            Its name.

        Returns
        -------
        StudyResults

        Raises
        ------
        StoreError
            If there is no such study.
        """
        with self._lock, explained(self.path):
            found = self._connection.execute(
                "SELECT plan, missing FROM studies WHERE name = ?", [study]
            ).fetchone()
            rows = self._connection.execute(
                "SELECT m.*, r.status, r.metrics, r.fit_seconds, r.predict_seconds,"
                " r.peak_memory_mb, r.fitted, r.details, r.error, r.machine,"
                " c.host, c.process, c.beat"
                " FROM members AS m LEFT JOIN results AS r USING (key)"
                " LEFT JOIN claims AS c USING (key) WHERE m.study = ? ORDER BY m.position",
                [study],
            ).fetchall()
        if found is None:
            known = ", ".join(self.studies()) or "none"
            raise StoreError(f"{self.path} holds no study {study!r}; it holds: {known}")
        return StudyResults(
            plan=Plan.model_validate_json(found["plan"]),
            units=[_unit_result(row) for row in rows],
            missing=json.loads(found["missing"]),
        )

    def statuses(self, keys: Sequence[str]) -> dict[str, str]:
        """Return which of some units are ``"done"`` or ``"failed"``.

        Parameters
        ----------
        keys : sequence of str

        Returns
        -------
        dict of str to str
            Only the units that have a result.
        """
        with self._lock, explained(self.path):
            rows = self._connection.execute(
                "SELECT key, status FROM results WHERE key IN (SELECT value FROM json_each(?))",
                [json.dumps(list(keys))],
            ).fetchall()
        return {row["key"]: row["status"] for row in rows}

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Make the writes of a block in one transaction."""
        with self._lock, explained(self.path), transaction(self._connection):
            yield self._connection


def _is_alive(claim: sqlite3.Row) -> bool:
    """Tell whether the run that made a claim is still there."""
    if claim["host"] == platform.node() and not _process_runs(claim["process"]):
        return False
    return bool(time.time() - claim["beat"] < _SILENT_SECONDS)


def _process_runs(process: int) -> bool:
    """Tell whether a process of this machine is there, as far as the system tells."""
    if os.name != "posix":  # elsewhere os.kill ends the process that it asks for
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # there, and somebody else's
        return True
    return True


def _unit_result(row: sqlite3.Row) -> UnitResult:
    """Make a unit's result from a member joined with its result and claim."""
    values: dict[str, Any] = {
        name: row[name] for name in ("key", "dataset", "draw", "row", "method", "fold")
    }
    values["parameters"] = json.loads(row["parameters"])
    if row["status"] is None:
        running = row["beat"] is not None and _is_alive(row)
        return UnitResult(**values, status="running" if running else "pending")
    for name in ("metrics", "fitted", "details", "machine"):
        values[name] = json.loads(row[name])
    for name in ("fit_seconds", "predict_seconds", "peak_memory_mb"):
        values[name] = math.nan if row[name] is None else row[name]
    return UnitResult(**values, status=row["status"], error=row["error"])
