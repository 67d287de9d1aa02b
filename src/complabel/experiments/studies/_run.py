"""Runs the units of a plan that its store lacks: here, in local processes or on a Dask cluster.

joblib runs them. What it has not: methods train folds side by side; a process that dies does not
end the others; and a worker of a cluster gets the files of the user's own methods.
"""

from __future__ import annotations

import contextlib
import dataclasses
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
from complabel.experiments.studies._fold import run_folds
from complabel.experiments.studies._labels import GivenLabels, draw_labels
from complabel.experiments.studies._plan import Plan
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
# The key of a unit, its outcome, its share of the seconds, and warnings for the main process.
_Result: TypeAlias = tuple[str, Outcome, float, list[tuple[type[Warning], str]]]


class Monitor:
    """Observes a run. This class does nothing; subclasses override what they need."""

    def planned(self, units: list[Unit], todo: list[Unit], n_failed: int) -> None:
        """Receive all units, the units to run, and how many of the others failed, once."""

    def finished(self, unit: Unit, outcome: Outcome, seconds: float) -> None:
        """Receive the outcome of a unit and the seconds that it took."""


@dataclass(frozen=True)
class RunSummary:
    """Counts of what a run did; ``missing`` has datasets that are not at hand, with the reason."""

    n_units: int
    n_ran: int
    n_failed: int
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
        Folder with dataset files.
    n_jobs : int, default=-1
        Number of local processes, each with one thread; -1: one for each core; 1: this process.
    dask : str or None, default=None
        Address of a Dask scheduler, such as ``"tcp://127.0.0.1:8786"``, to use all its workers
        instead of local processes. Start them with one thread each. They get the data, and the
        modules of your own methods, if these are single files.
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
        into so many folds; also if the cluster's scheduler ends. Earlier results are safe.
    DatasetNotFoundError
        If a dataset is not at hand and ``allow_missing`` is False.
    StoreError
        If the store cannot be written. Earlier results in it are safe.
    """
    started = time.perf_counter()
    units, missing = plan_units(plan, data_dir=data_dir, allow_missing=allow_missing)
    store.register(plan, units, missing)
    distinct = {unit.key: unit for unit in units}
    failed = store.failures([*distinct])
    todo = [u for key, u in distinct.items() if key not in failed or (retry_failed and failed[key])]
    run = _Run(store, data_dir, monitor or Monitor(), {unit.key: unit for unit in todo})
    n_failed = 0 if retry_failed else sum(failed.values())
    run.monitor.planned([*distinct.values()], todo, n_failed)
    with _workers(n_jobs, dask, todo) as workers:
        run.run(_groups(todo, workers.n_jobs), workers)
    return RunSummary(
        n_units=len(distinct),
        n_ran=len(todo) - len(run.left),
        n_failed=run.n_failed,
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
    """A run that goes on: the units that are ``left``, and those that workers have begun."""

    store: Store
    data_dir: str | Path | None
    monitor: Monitor
    left: dict[str, Unit]
    n_failed: int = 0
    begun: dict[str, Unit] = field(default_factory=dict)
    _said: set[tuple[str, type[Warning], str]] = field(default_factory=set)
    _drawn: tuple[Any, GivenLabels | Exception] = ((), ValueError())

    def run(self, groups: list[list[Unit]], workers: _Workers) -> None:
        """Run groups of units in parallel; if a worker dies, go on with the others."""
        while groups:
            try:
                for results in workers.results(map(self._task, groups), workers.n_jobs):
                    self.record(results)
                return
            except workers.died:
                # One of these killed its worker: each runs in a process of its own.
                for unit in list(self.begun.values()):
                    self._run_alone(unit, workers)
            except workers.lost:
                if workers.ended:
                    raise
                # A worker died before its result was fetched: the unit runs again.
            left = ([unit for unit in group if unit.key in self.left] for group in groups)
            groups = [group for group in left if group]

    def record(self, results: Iterable[_Result]) -> None:
        """Store outcomes, and show warnings of a method that are new."""
        for key, outcome, seconds, said in results:
            unit = self.left[key]
            self.store.finish(unit, outcome)
            self.begun.pop(key, None)
            del self.left[key]
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
        self.begun |= {unit.key: unit for unit in group}
        data, labels = group[0].data, self._labels(group[0])
        sent = [dataclasses.replace(unit, data=None) for unit in group]
        # Worker processes from an earlier run may lack folders that were added to the path since.
        return joblib.delayed(run_units)(data, labels, sent, tuple(sys.path))

    def _labels(self, unit: Unit) -> GivenLabels | Exception:
        """Draw the labels of a dataset once for the units that follow each other."""
        place = unit.dataset, unit.draw.name
        if self._drawn[0] != place:
            try:
                assert unit.data is not None
                how: dict[str, Any] = {"seed": unit.plan.seed, "data_dir": self.data_dir}
                checksum = json.loads(unit.identity)["labels"].get("released", "")
                drawn = draw_labels(unit.data, unit.draw, **how, checksum=checksum)
                self._drawn = place, drawn
            except Exception as error:  # an outcome of the units; the others go on
                self._drawn = place, error
        return self._drawn[1]

    def _run_alone(self, unit: Unit, workers: _Workers) -> None:
        try:
            # One task, but two jobs: with one job, joblib would run it in this process.
            for results in workers.results([self._task([unit])], 2):
                self.record(results)
        except workers.lost:
            if workers.ended:
                raise
        except workers.died:
            self.record([(unit.key, Outcome(error=_WORKER_DIED), 0.0, [])])


@dataclass(frozen=True)
class _Workers:
    n_jobs: int
    died: tuple[type[BaseException], ...] = (BrokenProcessPool,)
    lost: tuple[type[BaseException], ...] = ()
    client: Client | None = None

    @property
    def ended(self) -> bool:
        return self.client is None or self.client.status != "running"

    def results(self, tasks: Iterable[Any], n_jobs: int) -> Generator[Any]:
        """Yield results when they are ready; a task is taken only when a worker is free."""
        unordered = {"return_as": "generator_unordered", "pre_dispatch": n_jobs, "batch_size": 1}
        results = joblib.Parallel(n_jobs=n_jobs, **unordered)(tasks)
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
        from distributed import CancelledError, KilledWorker

        _ship_modules(client, units)
        with joblib.parallel_config(backend="dask", client=client):
            n_jobs = sum(client.nthreads().values())
            yield _Workers(n_jobs, (KilledWorker,), (CancelledError,), client)


def _ship_modules(client: Client, units: Iterable[Unit]) -> None:
    """Send the user's own modules that units need to all workers, also to those that join later.

    Only a module that is one file is sent; a package must be installed on every worker.
    """
    methods = {unit.row.method for unit in units}
    modules = {get_method(name).classifier.__module__ for name in methods}
    foreign = [name for name in modules if not name.startswith("complabel.")]
    files = {file for module in foreign for file in own_files(module)}
    single = [file for file in sorted(files) if not (file.parent / "__init__.py").exists()]
    for file in single:
        client.upload_file(str(file), load=False)
    client.run(_forget, [file.stem for file in single], os.getpid())


def _forget(modules: Sequence[str], sender: int) -> None:
    """Let a worker import modules anew; a cluster may be inside the process of the study."""
    importlib.invalidate_caches()
    for name in modules if os.getpid() != sender else ():
        sys.modules.pop(name, None)


def run_units(
    data: MultiLabelDataset,
    labels: GivenLabels | Exception,
    units: list[Unit],
    folders: tuple[str, ...] = (),
) -> list[_Result]:
    """Run a unit, or several that are alike, side by side; an error becomes their outcome."""
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        for category in _ALIKE:
            warnings.simplefilter("always", category)
        warnings.simplefilter("ignore", ReadAsComplementaryWarning)  # it is what was drawn
        try:
            outcomes = _outcomes(data, labels, units)
        except Exception as error:  # a method may raise anything
            outcomes = [error] * len(units)
    seconds = (time.perf_counter() - started) / len(units)
    warned = [(one.category, str(one.message)) for one in said]
    return [
        (unit.key, _stored(outcome), seconds, [] if at else warned)
        for at, (unit, outcome) in enumerate(zip(units, outcomes, strict=True))
    ]


def _outcomes(
    data: MultiLabelDataset, labels: GivenLabels | Exception, units: list[Unit]
) -> list[Outcome | Exception]:
    if isinstance(labels, Exception):
        raise labels
    unit, plan = units[0], units[0].plan
    _refuse_other_code(unit)
    at_once = max(1, _MOST_NUMBERS // int(np.prod(data.X.shape)))
    outcomes: list[Outcome | Exception] = []
    for piece in gen_batches(len(units), at_once):
        outcomes += run_folds(
            data,
            labels,
            [(each.row, each.fold) for each in units[piece]],
            folds=plan.folds,
            seed=plan.seed,
            audit=unit.draw.audit,
            criteria=plan.criteria,
            score=plan.score,
        )
    return outcomes


def _stored(outcome: Outcome | Exception) -> Outcome:
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome(error="".join(traceback.format_exception(outcome)), machine=describe_machine())


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
