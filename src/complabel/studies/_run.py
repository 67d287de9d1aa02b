"""Runs a plan: whatever its store does not hold yet, in local processes or on a Dask cluster."""

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
from complabel.studies._hints import Hint, HintsSaid, collected
from complabel.studies._orphans import end_with
from complabel.studies._outcome import Outcome
from complabel.studies._plan import Plan
from complabel.studies._store import Store
from complabel.studies._units import Unit, plan_units
from complabel.studies._work import run_unit

_CONNECT_SECONDS = 10  # a scheduler answers at once, if there is one
_WORKER_DIED = (
    "The process that ran this unit ended without an answer, also when it ran alone. The system"
    " may have killed it for want of memory; see its log."
)


class Monitor:
    """Follows a run; this one ignores what it is told, others override what they want."""

    def planned(self, units: list[Unit], todo: list[Unit], n_jobs: int) -> None:
        """Take note of all units, those that are to run, and how many run at once."""

    def started(self, unit: Unit) -> None:
        """Take note of a unit that was handed to a worker; may be called by another thread."""

    def finished(self, unit: Unit, outcome: Outcome, seconds: float) -> None:
        """Take note of what became of a unit, and how long it took."""


@dataclass(frozen=True)
class RunSummary:
    """What one run did.

    Parameters
    ----------
    n_units : int
        Units of the study, with the datasets at hand.
    n_ran, n_failed : int
        Units this run ran, and those of them that failed.
    n_elsewhere : int
        Units left to another run on the same store.
    n_by_other_code : int
        Results in the store of the same units by other code or other versions of libraries.
        They are kept and not used.
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
    """Run the units of a plan that the store holds no result of.

    Parameters
    ----------
    plan : Plan
    store : Store
    data_dir : path or None, default=None
        Folder with dataset files; with ``dask``, one that every worker sees.
    n_jobs : int, default=-1
        Local processes, each with one thread; -1 for one on each core; 1 for this process.
    dask : str or None, default=None
        Address of a Dask scheduler, such as ``"tcp://127.0.0.1:8786"``; its workers are used
        instead of local processes, all of them. Start them with one thread each.
    retry_failed : bool, default=False
        Run units again that failed before.
    allow_missing : bool, default=True
        Leave out datasets that are not at hand.
    monitor : Monitor or None, default=None

    Returns
    -------
    RunSummary

    Raises
    ------
    InputError
        If the cluster cannot be reached, or a dataset cannot be split into so many folds.
    DatasetNotFoundError
        If a dataset is not at hand and ``allow_missing`` is False.
    StoreError
        If the store cannot be written; what it held before is safe.
    """
    started = time.perf_counter()
    monitor = monitor or Monitor()
    units, missing = plan_units(plan, data_dir=data_dir, allow_missing=allow_missing)
    store.register(plan, units, missing)
    distinct = list({unit.key: unit for unit in units}.values())
    statuses = store.statuses([unit.key for unit in distinct])
    finished = {"done"} if retry_failed else {"done", "failed"}
    todo = [unit for unit in distinct if statuses.get(unit.key) not in finished]
    with _workers(n_jobs, dask) as parallel, store.heartbeat():
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
    """A way to run units at once, and what it raises when a worker dies."""

    n_jobs: int
    are_children: bool = True
    died: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def results(self, tasks: Iterable[Any], *, n_jobs: int | None = None) -> Generator[Any]:
        """Yield results as they come; a task is taken when a worker is free for it."""
        n_jobs = n_jobs or self.n_jobs
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs, batch_size=1
        )
        results = parallel(tasks)
        try:
            for result in results:  # noqa: UP028  (delegating would close it in our place)
                yield result
        finally:
            with warnings.catch_warnings():
                # Whoever leaves early does so for a reason: joblib's advice is not for them.
                warnings.simplefilter("ignore")
                results.close()


@contextlib.contextmanager
def _workers(n_jobs: int, dask: str | None) -> Iterator[_Workers]:
    """Use local processes, or the workers of a Dask cluster, inside the block."""
    if dask is None:
        if n_jobs < 1 and n_jobs != -1:
            raise InputError(f"jobs must be a positive integer, or -1 for all cores, got {n_jobs}")
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield _Workers(joblib.cpu_count() if n_jobs == -1 else n_jobs)
        return
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise InputError(
            "a Dask cluster needs the extra 'cluster': pip install 'complabel[cluster]'"
        ) from error
    try:
        client = Client(dask, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"there is no Dask scheduler at {dask}: {error}") from error
    with client:
        n_threads = sum(client.nthreads().values())
        if n_threads == 0:
            raise InputError(f"the Dask scheduler at {dask} has no workers; start some first")
        with joblib.parallel_config(backend="dask", client=client):
            yield _Workers(n_threads, are_children=False, died=(KilledWorker,))


@dataclass
class _Run:
    """One run of some units; counts what it did."""

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
        """Run units, going on after workers that died."""
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
                    # Not by what the store holds: a unit to retry has failed there before.
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
        """Run a unit that may have killed its worker in a process that it cannot share."""
        task = self._task(unit, workers)
        try:
            # One task, but not one job: joblib runs that in this very process.
            for result in workers.results([task], n_jobs=2):
                self._record(*result)
        except workers.died:
            self._record(unit, Outcome(error=_WORKER_DIED), 0.0, [])

    def _task(self, unit: Unit, workers: _Workers) -> Any:
        """Return what a worker is to do for a unit."""
        if not workers.are_children:
            return joblib.delayed(_timed)(unit, self.data_dir)
        # Processes that were started before have the folders of that time to import from.
        return joblib.delayed(_timed)(unit, self.data_dir, os.getpid(), tuple(sys.path))

    def _claimed(self, units: list[Unit], workers: _Workers) -> Iterator[Any]:
        """Yield a task for each unit that is this run's to run.

        A thread of joblib's asks for the next task, where an exception would be lost and the run
        would wait for ever: it is kept for the main thread instead.
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
        """Store an outcome; say what was not said of the method before."""
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
    """Run a unit in a worker, a child of ``parent`` if that is given; measure all that it took."""
    if parent is not None:
        end_with(parent)
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    started = time.perf_counter()
    with collected() as hints:
        outcome = run_unit(unit, data_dir)
    return unit, outcome, time.perf_counter() - started, hints
