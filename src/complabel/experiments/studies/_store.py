"""The store: results of units and the studies that ask for them, in one SQLite file.

joblib's Memory would not do here: methods train folds side by side, so one call has many results;
it drops a result with a warning where the disk is full; and to read its files runs what is in them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from complabel._sqlite import Kind, connect, transaction
from complabel.errors import StoreError
from complabel.experiments.studies._plan import Plan
from complabel.experiments.studies._results import Outcome, StudyResults, UnitResult, plain
from complabel.experiments.studies._units import Unit

_VERSION = 4  # no release wrote an earlier one
_KIND = Kind(
    name="store of results of studies",
    rows="results",
    option="--store",
    mark=0x636F6D70,
    tables=frozenset({"results", "studies"}),
    formats=range(_VERSION, _VERSION + 1),
    repair="Restore {path} from a copy, or name a new file with --store and run the study again",
)
_BUSY_SECONDS = 60.0  # another run may write the same file
_TABLES = f"""
CREATE TABLE results (key TEXT PRIMARY KEY, failed INTEGER NOT NULL, identity TEXT NOT NULL,
                      outcome TEXT NOT NULL, finished TEXT NOT NULL);
CREATE TABLE studies (name TEXT PRIMARY KEY, plan TEXT NOT NULL, missing TEXT NOT NULL,
                      units TEXT NOT NULL, registered TEXT NOT NULL);
PRAGMA application_id = {_KIND.mark};
PRAGMA user_version = {_VERSION}"""
_NUMBERS = tuple(each.name for each in fields(Outcome) if isinstance(each.default, float))


class Store:
    """The results of studies, in a SQLite file, which several runs may use at once.

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
        only_read = not create and not os.access(self.path, os.W_OK)
        target = f"{self.path.absolute().as_uri()}?mode=ro" if only_read else self.path
        with self._explained():
            self._connection = connect(target, timeout=_BUSY_SECONDS, uri=only_read)
            try:
                self._make_tables(create=create)
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

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
        told = json.dumps(dict(missing)), json.dumps(places, default=repr)
        self._insert("studies", plan.name, plan.model_dump_json(), *told, _now())

    def finish(self, unit: Unit, outcome: Outcome) -> None:
        """Store the outcome of a unit."""
        # A traceback may quote bytes that are no text; JSON writes them in ASCII.
        text = json.dumps(plain(vars(outcome)), default=dict)
        self._insert("results", unit.key, bool(outcome.error), unit.identity, text, _now())

    def studies(self) -> list[str]:
        """Return the names of the studies in the store, the latest registered first."""
        rows = self._read("SELECT name FROM studies ORDER BY registered DESC, rowid DESC")
        return [name for (name,) in rows]

    def results(self, study: str) -> StudyResults:
        """Return a study with all its stored results.

        Raises
        ------
        StoreError
            If there is no such study, or its record or a result is damaged.
        """
        found = self._read("SELECT plan, missing, units FROM studies WHERE name = ?", study)
        if not found:
            known = ", ".join(self.studies()) or "none"
            raise StoreError(f"{self.path} holds no study {study!r}; it holds: {known}")
        try:
            plan = Plan.model_validate_json(found[0][0])
            if plan.name != study:  # a study's name also names a folder
                raise ValueError(f"its plan belongs to {plan.name!r}")
            missing, places = (json.loads(text) for text in found[0][1:])
            outcomes = dict(self._of("outcome", [place["key"] for place in places]))
            units = [_unit_result(place, outcomes.get(place["key"])) for place in places]
        except (ValueError, TypeError, LookupError) as error:
            said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise StoreError(
                f"the store {self.path} cannot be read at the study {study!r}: {said}. It is"
                " damaged, or another version of complabel wrote it. "
                f"{_KIND.repair.format(path=self.path)}"
            ) from error
        return StudyResults(plan=plan, units=units, missing=missing)

    def failures(self, keys: Sequence[str]) -> dict[str, bool]:
        """Return whether each unit failed, by key, of those that have a result."""
        return {key: bool(failed) for key, failed in self._of("failed", keys)}

    def _of(self, column: str, keys: Sequence[str]) -> list[Any]:
        wanted = "key IN (SELECT value FROM json_each(?))"
        return self._read(f"SELECT key, {column} FROM results WHERE {wanted}", json.dumps([*keys]))

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._explained():
            return [tuple(row) for row in self._connection.execute(query, values)]

    def _insert(self, table: str, *values: object) -> None:
        with self._explained():
            self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?,?,?,?,?)", values)

    def _make_tables(self, *, create: bool) -> None:
        if _KIND.format_of(self._connection, self.path):
            return
        if not create:
            raise StoreError(
                f"{self.path} is an empty file, not a store; name another file with --store"
            )
        with transaction(self._connection):
            if not _KIND.format_of(self._connection, self.path):  # else another run has just
                for statement in _TABLES.split(";\n"):
                    self._connection.execute(statement)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        with _KIND.explained(self.path):
            yield


def _unit_result(place: Mapping[str, Any], outcome: str | None) -> UnitResult:
    """Make a unit's result from its place in the study and, if it is finished, its outcome."""
    if outcome is None:
        return UnitResult(**place, status="pending")
    read: dict[str, Any] = json.loads(outcome)
    for name in _NUMBERS:
        read[name] = math.nan if read[name] is None else float(read[name])
    return UnitResult(**place, status="failed" if read["error"] else "done", **read)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
