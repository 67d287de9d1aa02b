"""Runs the units of a plan that its store lacks, in local processes or on a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from complabel.errors import ComplabelError, InputError
from complabel.studies._cluster import ship_modules
from complabel.studies._hints import Hint, HintsSaid, collected
from complabel.studies._orphans import end_with
from complabel.studies._outcome import Outcome
from complabel.studies._plan import Plan
from complabel.studies._store import Store
from complabel.studies._units import Unit, plan_units
from complabel.studies._work import run_unit

_CONNECT_SECONDS = 10  # a scheduler that exists answers at once
_WORKER_DIED = (
    "The process that ran this unit ended without a result, also when the unit ran alone. The"
    " system may have killed it because memory was short; look into the system's log."
)


class Monitor:
    """Observes a run. This class does nothing; subclasses override what they need."""

    def planned(self, units: list[Unit], todo: list[Unit], n_jobs: int) -> None:
        """Receive all units, the units to run, and the number of parallel jobs, once."""

    def started(self, unit: Unit) -> None:
        """Receive a unit that a worker gets; another thread may call this."""

    def finished(self, unit: Unit, outcome: Outcome, seconds: float) -> None:
        """Receive the outcome of a unit and the seconds that it took."""


@dataclass(frozen=True)
class RunSummary:
    """Counts of what one run did.

    Parameters
    ----------
    n_units : int
        Number of units of the study on the datasets at hand.
    n_ran, n_failed : int
        Number of units that this run ran, and of those that failed.
    n_elsewhere : int
        Number of units left to another run with the same store.
    n_by_other_code : int
        Number of stored results of the same units from other code or other versions of
        libraries. They stay in the store but are not used.
    missing : dict of str to str
        Datasets that are not at hand, with the reason.
    seconds : float
        Wall time.
    """

    n_units: int
    n_ran: int
    n_failed: int
    n_elsewhere: int
    n_by_other_code: int
    missing: dict[str, str]
    seconds: float


def run_study(
    plan: Plan,
    store: Store,
    *,
    data_dir: str | Path | None = None,
    n_jobs: int = -1,
    dask: str | None = None,
    retry_failed: bool = False,
    allow_missing: bool = True,
    monitor: Monitor | None = None,
) -> RunSummary:
    """Run the units of a plan that have no result in the store.

    Parameters
    ----------
    plan : Plan
    store : Store
    data_dir : path or None, default=None
        Folder with dataset files. With ``dask``, every worker must see it.
    n_jobs : int, default=-1
        Number of local processes, each with one thread; -1: one for each core; 1: this process.
    dask : str or None, default=None
        Address of a Dask scheduler, such as ``"tcp://127.0.0.1:8786"``. All its workers are
        used instead of local processes. Start them with one thread each. They get the modules of
        your own methods, if these are single files.
    retry_failed : bool, default=False
        Also run units that failed before.
    allow_missing : bool, default=True
        Leave out datasets that are not at hand.
    monitor : Monitor or None, default=None

    Returns
    -------
    RunSummary

    Raises
    ------
    InputError
        If the cluster cannot be reached, its workers cannot import a method of your own, or a
        dataset cannot be split into so many folds.
    DatasetNotFoundError
        If a dataset is not at hand and ``allow_missing`` is False.
    StoreError
        If the store cannot be written. Earlier results in it are safe.
    """
    started = time.perf_counter()
    monitor = monitor or Monitor()
    units, missing = plan_units(plan, data_dir=data_dir, allow_missing=allow_missing)
    store.register(plan, units, missing)
    distinct = list({unit.key: unit for unit in units}.values())
    statuses = store.statuses([unit.key for unit in distinct])
    finished = {"done"} if retry_failed else {"done", "failed"}
    todo = [unit for unit in distinct if statuses.get(unit.key) not in finished]
    with _workers(n_jobs, dask, todo) as parallel, store.heartbeat():
        monitor.planned(distinct, todo, parallel.n_jobs)
        run = _Run(store, data_dir, retry_failed, monitor)
        if todo:
            run.run(todo, parallel)
    return RunSummary(
        n_units=len(distinct),
        n_ran=run.n_ran,
        n_failed=run.n_failed,
        n_elsewhere=len(todo) - run.n_ran,
        n_by_other_code=store.made_by_other_code(units),
        missing=missing,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True)
class _Workers:
    """A way to run units in parallel, and the errors that it raises when a worker dies."""

    n_jobs: int
    are_children: bool = True
    died: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def results(self, tasks: Iterable[Any], *, n_jobs: int | None = None) -> Generator[Any]:
        """Yield results when they are ready; a task is taken only when a worker is free."""
        n_jobs = n_jobs or self.n_jobs
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs, batch_size=1
        )
        results = parallel(tasks)
        try:
            for result in results:  # noqa: UP028  (``yield from`` would close the generator itself)
                yield result
        finally:
            with warnings.catch_warnings():
                # After an error or Ctrl-C, joblib's warning about unfinished tasks does not help.
                warnings.simplefilter("ignore")
                results.close()


@contextlib.contextmanager
def _workers(n_jobs: int, dask: str | None, units: list[Unit]) -> Iterator[_Workers]:
    """Provide local processes, or the workers of a Dask cluster, inside the block."""
    if dask is None:
        if n_jobs < 1 and n_jobs != -1:
            raise InputError(f"jobs is {n_jobs}; give a positive number, or -1 for all cores")
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield _Workers(joblib.cpu_count() if n_jobs == -1 else n_jobs)
        return
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise InputError(
            "a Dask cluster needs packages that are not installed: run pip install"
            " 'complabel[cluster]'"
        ) from error
    try:
        client = Client(dask, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the Dask scheduler at {dask} cannot be reached ({error}); check its address"
        ) from error
    with client:
        n_threads = sum(client.nthreads().values())
        if n_threads == 0:
            raise InputError(f"the Dask scheduler at {dask} has no workers; start some first")
        ship_modules(client, units)
        with joblib.parallel_config(backend="dask", client=client):
            yield _Workers(n_threads, are_children=False, died=(KilledWorker,))


@dataclass
class _Run:
    """One run of some units, with counts of what it did."""

    store: Store
    data_dir: str | Path | None
    retry_failed: bool
    monitor: Monitor
    n_ran: int = 0
    n_failed: int = 0
    in_flight: dict[str, Unit] = field(default_factory=dict)
    recorded: set[str] = field(default_factory=set)
    said: HintsSaid = field(default_factory=HintsSaid)
    problem: BaseException | None = None

    def run(self, todo: list[Unit], workers: _Workers) -> None:
        """Run units; if a worker dies, continue with the others."""
        remaining = list(todo)
        try:
            while remaining:
                try:
                    self._run_together(remaining, workers)
                    return
                except workers.died:
                    suspects = list(self.in_flight.values())
                    self.in_flight.clear()
                    for unit in suspects:
                        self._run_alone(unit, workers)
                    # The store cannot tell: a unit to retry has an old failure there.
                    remaining = [unit for unit in remaining if unit.key not in self.recorded]
        finally:
            for unit in self.in_flight.values():
                with contextlib.suppress(ComplabelError):  # the first problem is the one to show
                    self.store.release(unit)

    def _run_together(self, units: list[Unit], workers: _Workers) -> None:
        """Run units on all workers."""
        with contextlib.closing(workers.results(self._claimed(units, workers))) as results:
            for result in results:
                self._record(*result)
        if self.problem is not None:
            raise self.problem

    def _run_alone(self, unit: Unit, workers: _Workers) -> None:
        """Run a unit that may have killed its worker in a process of its own."""
        task = self._task(unit, workers)
        try:
            # One task, but two jobs: with one job, joblib would run it in this process.
            for result in workers.results([task], n_jobs=2):
                self._record(*result)
        except workers.died:
            self._record(unit, Outcome(error=_WORKER_DIED), 0.0, [])

    def _task(self, unit: Unit, workers: _Workers) -> Any:
        """Return a worker's task for a unit."""
        if not workers.are_children:
            return joblib.delayed(_timed)(unit, self.data_dir)
        # Worker processes from an earlier run may lack folders that were added to the path since.
        return joblib.delayed(_timed)(unit, self.data_dir, os.getpid(), tuple(sys.path))

    def _claimed(self, units: list[Unit], workers: _Workers) -> Iterator[Any]:
        """Yield a task for each unit that this run can claim.

        A thread of joblib asks for the next task. An exception would be lost there, and the run
        would wait forever, so it is kept for the main thread.
        """
        for unit in units:
            try:
                claimed = self.store.claim(unit.key, again_if_failed=self.retry_failed)
            except Exception as error:
                self.problem = error
                return
            if claimed:
                self.in_flight[unit.key] = unit
                self.monitor.started(unit)
                yield self._task(unit, workers)

    def _record(self, unit: Unit, outcome: Outcome, seconds: float, hints: list[Hint]) -> None:
        """Store an outcome, and show new hints about the method."""
        self.store.finish(unit, outcome)
        self.in_flight.pop(unit.key, None)
        self.recorded.add(unit.key)
        self.n_ran += 1
        self.n_failed += bool(outcome.error)
        self.monitor.finished(unit, outcome, seconds)
        self.said.say(unit, hints)


def _timed(
    unit: Unit,
    data_dir: str | Path | None,
    parent: int | None = None,
    folders: tuple[str, ...] = (),
) -> tuple[Unit, Outcome, float, list[Hint]]:
    """Run a unit in a worker process, whose parent is ``parent`` if given, and measure its time."""
    if parent is not None:
        end_with(parent)
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    started = time.perf_counter()
    with collected() as hints:
        outcome = run_unit(unit, data_dir)
    return unit, outcome, time.perf_counter() - started, hints
