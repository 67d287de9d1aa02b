"""Runs the units of a plan that its store lacks: here, in local processes or on a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import joblib
import numpy as np
from joblib.externals.loky.process_executor import BrokenProcessPool
from sklearn.utils import gen_batches

from complabel._training import dask_client
from complabel.answers import (
    AssumedUniformWarning,
    IgnoredAnswersWarning,
    ReadAsComplementaryWarning,
    UnansweredRowWarning,
)
from complabel.datasets import MultiLabelDataset
from complabel.errors import InputError
from complabel.experiments.studies._data import KEPT, dataset_fingerprint, fetch
from complabel.experiments.studies._fold import run_folds
from complabel.experiments.studies._labels import draw_labels
from complabel.experiments.studies._plan import OwnFile, Plan, paths_of
from complabel.experiments.studies._results import Outcome, describe_machine
from complabel.experiments.studies._store import Store
from complabel.experiments.studies._units import Unit, likeness, made_by, own_files, plan_units
from complabel.methods import get_method

if TYPE_CHECKING:
    from distributed import Client


# At most so many units of a method run side by side, as long as the features of all have at most
# so many numbers: 256 MB.
_MOST_UNITS, _MOST_NUMBERS = 16, 2**25
# These warnings say what a method can use of the answers; they are alike in all folds.
_ALIKE = (IgnoredAnswersWarning, AssumedUniformWarning, UnansweredRowWarning)
_WORKER_DIED = (
    "The process that ran this unit ended without a result, also when the unit ran alone. The"
    " system may have killed it because memory was short; look into the system's log."
)

_drawn = functools.lru_cache(maxsize=KEPT)(draw_labels)  # once per process, not for every unit


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

    ``n_by_other_code`` counts stored results of the same units from other code or other versions of
    libraries, which are not used. ``missing`` has datasets that are not at hand, with the reason.
    """

    n_units: int
    n_ran: int
    n_failed: int
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
        Address of a Dask scheduler, such as ``"tcp://127.0.0.1:8786"``, to use all its workers
        instead of local processes. Start them with one thread each. They get the modules of your
        own methods, if these are single files.
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
        If the cluster or a method of your own on it cannot be reached, or a dataset cannot be split
        into so many folds.
    DatasetNotFoundError
        If a dataset is not at hand and ``allow_missing`` is False.
    StoreError
        If another run writes the store, or it cannot be written. Earlier results in it are safe.
    """
    started = time.perf_counter()
    with store.alone():
        units, missing = plan_units(plan, data_dir=data_dir, allow_missing=allow_missing)
        store.register(plan, units, missing)
        distinct = {unit.key: unit for unit in units}
        statuses = store.statuses([*distinct])
        finished = {"done"} if retry_failed else {"done", "failed"}
        todo = [unit for key, unit in distinct.items() if statuses.get(key) not in finished]
        run = _Run(store, data_dir, monitor or Monitor())
        with _workers(n_jobs, dask, todo) as workers:
            run.monitor.planned([*distinct.values()], todo, workers.n_jobs)
            groups = _groups(todo, workers.n_jobs)
            if workers.n_jobs == 1 and dask is None:
                for group in groups:
                    run.start(group)
                    run.record_all(run_units(group, data_dir))
            else:
                run.run(groups, workers)
    return RunSummary(
        n_units=len(distinct),
        n_ran=len(run.recorded),
        n_failed=run.n_failed,
        n_by_other_code=store.made_by_other_code(units),
        missing=missing,
        seconds=time.perf_counter() - started,
    )


def _groups(units: list[Unit], n_jobs: int) -> list[list[Unit]]:
    """Group units that can run side by side, so that each worker gets some of them."""
    alike: dict[str, list[Unit]] = {}
    for unit in units:
        alike.setdefault(likeness(unit) or unit.key, []).append(unit)
    return [
        group[piece]
        for group in alike.values()
        for piece in gen_batches(len(group), min(_MOST_UNITS, -(-len(group) // n_jobs)))
    ]


@dataclass
class _Run:
    store: Store
    data_dir: str | Path | None
    monitor: Monitor
    n_failed: int = 0
    recorded: set[str] = field(default_factory=set)
    in_flight: dict[str, Unit] = field(default_factory=dict)
    _said: set[tuple[str, type[Warning], str]] = field(default_factory=set)

    def run(self, groups: list[list[Unit]], workers: _Workers) -> None:
        """Run groups of units in parallel; if a worker dies, go on with the others."""
        while groups:
            try:
                for results in workers.results(map(self._task, groups)):
                    self.record_all(results)
                return
            except workers.died:
                # One of these killed its worker: each runs in a process of its own.
                for unit in list(self.in_flight.values()):
                    self._run_alone(unit, workers)
                left = ([u for u in group if u.key not in self.recorded] for group in groups)
                groups = [group for group in left if group]

    def start(self, group: list[Unit]) -> None:
        for unit in group:
            self.in_flight[unit.key] = unit
            self.monitor.started(unit)

    def record_all(self, results: list[_Result]) -> None:
        for result in results:
            self.record(*result)

    def record(
        self, unit: Unit, outcome: Outcome, seconds: float, said: Sequence[tuple[Any, str]]
    ) -> None:
        """Store an outcome, and show warnings of a method that are new."""
        self.store.finish(unit, outcome)
        self.in_flight.pop(unit.key, None)
        self.recorded.add(unit.key)
        self.n_failed += bool(outcome.error)
        self.monitor.finished(unit, outcome, seconds)
        for category, text in said:
            if category is UnansweredRowWarning and unit.draw.leaves_items_out:
                continue  # the plan says so
            place = unit.row.method, category, "" if issubclass(category, _ALIKE) else text
            if place not in self._said:
                self._said.add(place)
                warnings.warn(f"{unit.row.method}: {text}", category, stacklevel=2)

    def _task(self, group: list[Unit]) -> Any:
        self.start(group)
        # Worker processes from an earlier run may lack folders that were added to the path since.
        return joblib.delayed(run_units)(group, self.data_dir, tuple(sys.path))

    def _run_alone(self, unit: Unit, workers: _Workers) -> None:
        try:
            # One task, but two jobs: with one job, joblib would run it in this process.
            for results in workers.results([self._task([unit])], n_jobs=2):
                self.record_all(results)
        except workers.died:
            self.record(unit, Outcome(error=_WORKER_DIED), 0.0, [])


@dataclass(frozen=True)
class _Workers:
    n_jobs: int
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
    with dask_client(dask) as client:
        from distributed import KilledWorker

        _ship_modules(client, units)
        with joblib.parallel_config(backend="dask", client=client):
            yield _Workers(sum(client.nthreads().values()), died=(KilledWorker,))


def _ship_modules(client: Client, units: Iterable[Unit]) -> None:
    """Send the user's own modules that units need to all workers; refuse what they cannot import.

    Only a module that is one file is sent, also to workers that join later.
    """
    methods = {unit.row.method for unit in units}
    modules = sorted({get_method(name).classifier.__module__ for name in methods})
    foreign = [name for name in modules if not name.startswith("complabel.")]
    if not foreign:
        return
    files = {file for module in foreign for file in own_files(module)}
    single = [file for file in sorted(files) if not (file.parent / "__init__.py").exists()]
    for file in single:
        client.upload_file(str(file), load=False)
    tops = [file.stem for file in single]
    for worker, problem in client.run(_renewed, foreign, tops, os.getpid()).items():
        if problem:
            raise InputError(
                f"the Dask worker at {worker} cannot import {problem}. A module that is one file is"
                " sent to the workers; a package must be installed on every worker, or lie where"
                " they find it (PYTHONPATH)"
            )


def _renewed(modules: Sequence[str], tops: Sequence[str], sender: int) -> str:
    """Import modules anew in a worker; return what is wrong, or an empty text."""
    if os.getpid() == sender:  # a cluster inside the process of the study
        return ""
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
        del sys.modules[name]
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:  # a module of the user's may raise anything
            return f"{name}: {type(error).__name__}: {error}"
    return ""


_Result: TypeAlias = tuple[Unit, Outcome, float, list[tuple[type[Warning], str]]]


def run_units(
    units: list[Unit], data_dir: str | Path | None, folders: tuple[str, ...] = ()
) -> list[_Result]:
    """Run a unit, or several that are alike, side by side.

    Returns each with its outcome, its share of the seconds, and warnings for the main process. An
    error stands in the outcome instead of being raised.
    """
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        for category in _ALIKE:
            warnings.simplefilter("always", category)
        warnings.simplefilter("ignore", ReadAsComplementaryWarning)  # it is what was drawn
        try:
            unit = units[0]
            _refuse_other_code(unit)
            plan, file = unit.plan, unit.plan.file_of(unit.dataset)
            dataset = _dataset(unit.dataset, file, data_dir, unit.fingerprint)
            checksum = json.loads(unit.identity)["labels"].get("released", "")
            labels = _drawn(
                dataset, unit.draw, seed=plan.seed, data_dir=data_dir, checksum=checksum
            )
            at_once = max(1, _MOST_NUMBERS // int(np.prod(dataset.X.shape)))
            found: list[Outcome | Exception] = []
            for piece in gen_batches(len(units), at_once):
                found += run_folds(
                    dataset,
                    labels,
                    [(each.row, each.fold) for each in units[piece]],
                    folds=plan.folds,
                    seed=plan.seed,
                    audit=unit.draw.audit,
                    criteria=plan.criteria,
                    score=plan.score,
                )
        except Exception as error:
            found = [error] * len(units)
    seconds = (time.perf_counter() - started) / len(units)
    warned = [(one.category, str(one.message)) for one in said]
    return [
        (unit, _outcome(result), seconds, [] if at else warned)
        for at, (unit, result) in enumerate(zip(units, found, strict=True))
    ]


def _outcome(found: Outcome | Exception) -> Outcome:
    if isinstance(found, Outcome):
        return found
    return Outcome(error="".join(traceback.format_exception(found)), machine=describe_machine())


def _refuse_other_code(unit: Unit) -> None:
    """Refuse a unit if this worker has other code or versions than its key says."""
    said = json.loads(unit.identity)
    for what, value in made_by(unit.row).items():
        if value != said[what]:
            raise InputError(
                f"for {unit.row.method}, this worker has another {what} than the process that"
                f" started the study ({value}, not {said[what]}); install the same on every worker,"
                " and start the study again if the code was edited since"
            )


@functools.lru_cache(maxsize=KEPT)
def _dataset(
    name: str, file: OwnFile, data_dir: str | Path | None, fingerprint: str
) -> MultiLabelDataset:
    """Load a dataset once per process; refuse it if its content differs from the study's."""
    dataset = fetch(name, file, data_dir=data_dir)
    if dataset_fingerprint(dataset) != fingerprint:
        where = f"file {', '.join(paths_of(file))}" if file else f"folder {data_dir}"
        raise InputError(
            f"{name} on this worker ({where}) differs from the dataset of the process that started"
            " the study; give every worker the same files"
        )
    return dataset
