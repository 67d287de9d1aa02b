import contextlib
import dataclasses
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from distributed import Client
from tests.experiments.studies.small import outcome_of
from tests.experiments.studies.small import small as small_plan

from complabel.errors import InputError
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import (
    Monitor,
    Row,
    Store,
    _run,
    _units,
    plan_units,
    run_fold,
    run_study,
)
from complabel.experiments.studies._labels import draw_labels

TIMES = {
    "fit_seconds", "predict_seconds", "peak_memory_mb", "finished", "machine",
}  # fmt: skip


ROWS = [Row(method="prior"), Row(method="mlcl", settings={"epochs": 3})]
small = functools.partial(small_plan, rows=ROWS)


class Record(Monitor):
    """Remembers what a run told, and does something at each step."""

    def __init__(self, *, on_start=None, on_finish=None):
        self.events = []
        self.on_start, self.on_finish = on_start, on_finish

    def planned(self, units, todo, n_jobs):
        self.events.append(("planned", len(units), len(todo), n_jobs))

    def started(self, unit):
        self.events.append(("started", unit.key))
        if self.on_start:
            self.on_start(unit)

    def finished(self, unit, outcome, seconds):
        self.events.append(("finished", unit.key))
        if self.on_finish:
            self.on_finish(unit)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        yield store


def contents(store):
    """All that a store holds of results, but what differs from run to run."""
    rows = store._connection.execute("SELECT * FROM results ORDER BY key").fetchall()
    return [{name: row[name] for name in row.keys() if name not in TIMES} for row in rows]  # noqa: SIM118


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_gives_what_its_folds_give(store, n_jobs):
    plan = small()
    summary = run_study(plan, store, n_jobs=n_jobs)
    assert (summary.n_units, summary.n_ran, summary.n_failed) == (6, 6, 0)
    units = store.results("small").units
    dataset = load_dataset("synthetic")
    complementary = draw_labels(dataset, plan.draws[0], seed=0)
    expected = [
        run_fold(dataset, complementary, row, fold=fold, folds=3, seed=0).metrics
        for row in plan.expanded_rows()
        for fold in range(3)
    ]
    assert [unit.metrics for unit in units] == expected


def test_results_of_other_code_are_kept_and_not_used(store, monkeypatch):
    first = run_study(small(), store, n_jobs=1)
    assert (first.n_ran, first.n_by_other_code) == (6, 0)
    kept = contents(store)
    monkeypatch.setattr(_units, "_computing_code", lambda: "edited")
    again = run_study(small(), store, n_jobs=1)
    assert (again.n_ran, again.n_by_other_code) == (6, 6)
    assert [row for row in contents(store) if row in kept] == kept
    assert len(contents(store)) == 12


def test_times_memory_and_machine_are_recorded(store):
    run_study(small(), store, n_jobs=1)
    for unit in store.results("small").units:
        assert 0 < unit.fit_seconds < 60
        assert 0 < unit.predict_seconds < 60
        assert 20 < unit.peak_memory_mb < 1e5
        assert int(unit.machine["cores"]) >= 1
        assert unit.machine["numpy"] == np.__version__


def test_the_first_fold_of_a_gradient_method_keeps_curves_and_matrices(store):
    run_study(small(), store, n_jobs=1)
    first, *others = [unit for unit in store.results("small").units if unit.method == "mlcl"]
    curves = first.details["curves"]
    assert {s: len(curve) for s, curve in curves.items()} == {"transition": 3, "classifier": 3}
    transition = np.array(first.details["matrices"]["transition_"])
    np.testing.assert_allclose(transition.sum(axis=1), 1.0)
    assert first.details["label_names"] == list(load_dataset("synthetic").label_names)
    assert all(not unit.details for unit in others)


def test_finished_units_are_not_run_again(store):
    run_study(small(), store, n_jobs=1)
    record = Record()
    summary = run_study(small(folds=3), store, n_jobs=1, monitor=record)
    assert summary.n_ran == 0
    assert record.events == [("planned", 6, 0, 1)]


def test_a_failing_unit_is_recorded_and_the_rest_goes_on(store):
    rows = [Row(method="mlcl", settings={"learning_rate": -1.0}), Row(method="prior")]
    summary = run_study(small(rows=rows), store, n_jobs=2)
    assert (summary.n_ran, summary.n_failed) == (6, 3)
    results = store.results("small")
    assert {unit.method for unit in results.having("done")} == {"prior"}
    for unit in results.having("failed"):
        assert "Traceback" in unit.error
        assert "learning_rate must be" in unit.error
    assert run_study(small(rows=rows), store, n_jobs=2).n_ran == 0
    again = run_study(small(rows=rows), store, n_jobs=2, retry_failed=True)
    assert (again.n_ran, again.n_failed) == (3, 3)


def test_a_dataset_of_its_own_on_a_worker_is_refused(store, tmp_path, monkeypatch):
    other = load_dataset("synthetic", random_state=7)
    monkeypatch.setattr(_run, "fetch", lambda name, file, data_dir: other)
    _run._dataset.cache_clear()
    try:
        summary = run_study(small(), store, n_jobs=1, data_dir=tmp_path)
    finally:
        _run._dataset.cache_clear()
    assert summary.n_failed == 6
    assert "differs from the dataset of the process" in store.results("small").units[0].error


@pytest.mark.parametrize("what", ["code", "versions"])
def test_a_worker_with_other_code_is_refused(store, what):
    (unit, *_), _ = plan_units(small())
    said = {**json.loads(unit.identity), what: "another"}
    outcome = outcome_of(dataclasses.replace(unit, identity=json.dumps(said)))
    assert f"for prior, this worker has another {what}" in outcome.error
    assert not outcome.metrics
    assert outcome_of(unit).metrics


def test_an_error_that_is_no_text_is_stored(store):
    (unit, *_), _ = plan_units(small())
    store.finish(unit, _run.Outcome(error="cannot read caf\udce9.arff"))
    (row,) = store._connection.execute("SELECT error FROM results").fetchall()
    assert row["error"] == "cannot read caf\\udce9.arff"


def kill(processes):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def workers():
    """The processes of loky that belong to this one."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            process = int(folder.name)
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == os.getpid() and b"popen_loky" in (folder / "cmdline").read_bytes():
                found.append(process)
    return found


linux = pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes through /proc")
SLOW_ROW = Row(method="mlcl", settings={"epochs": 300})


@linux
@pytest.mark.slow
def test_a_unit_that_kills_its_worker_also_alone_is_recorded_as_failed(store):
    stop = threading.Event()

    def kill_all():
        while not stop.is_set():
            kill(workers())
            time.sleep(0.02)

    thread = threading.Thread(target=kill_all)
    record = Record(on_finish=lambda unit: stop.set())
    thread.start()
    try:
        summary = run_study(small(rows=[SLOW_ROW], folds=4), store, n_jobs=2, monitor=record)
    finally:
        stop.set()
        thread.join()
    assert summary.n_failed >= 1
    errors = [unit.error for unit in store.results("small").having("failed")]
    assert all("ended without a result" in error for error in errors)
    again = run_study(small(rows=[SLOW_ROW], folds=4), store, n_jobs=1, retry_failed=True)
    assert again.n_failed == 0
    assert len(store.results("small").having("done")) == 4


class Collapsing:
    """Workers that die under the first task they are given, and then recover."""

    n_jobs = 2
    died = (ChildProcessError,)

    def __init__(self):
        self.collapsed = False

    def results(self, tasks, *, n_jobs=None):
        for function, arguments, _ in tasks:
            if not self.collapsed:
                self.collapsed = True
                raise ChildProcessError
            yield function(*arguments)


def test_what_failed_before_is_retried_also_after_a_worker_died(store, monkeypatch):
    broken = small(rows=[Row(method="mlcl", settings={"learning_rate": -1.0})], folds=4)
    assert run_study(broken, store, n_jobs=1).n_failed == 4
    monkeypatch.setattr(_run, "_workers", lambda *given: contextlib.nullcontext(Collapsing()))
    assert run_study(broken, store, retry_failed=True).n_ran == 4


def test_jobs_that_cannot_be_are_refused(store):
    with pytest.raises(InputError, match="jobs"):
        run_study(small(), store, n_jobs=0)


def test_a_cluster_that_is_not_there_is_said(store, monkeypatch):
    monkeypatch.setattr("complabel._training._blocks._CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match=r"the Dask scheduler at tcp://127\.0\.0\.1:9"):
        run_study(small(), store, dask="tcp://127.0.0.1:9")


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers in another folder, started with Dask's own commands."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = str(Path(sys.executable).with_name("dask"))
    file = tmp_path / "scheduler.json"
    options = ["--no-dashboard", "--scheduler-file", str(file)]
    commands = [
        [command, "scheduler", "--host", "127.0.0.1", "--port", "0", *options],
        *(
            [command, "worker", "--nthreads", "1", "--no-nanny", *options,
             "--local-directory", str(tmp_path)]
            for _ in range(2)
        ),
    ]  # fmt: skip
    processes = [
        subprocess.Popen(
            command, cwd=elsewhere, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for command in commands
    ]
    try:
        deadline = time.monotonic() + 60
        # The file is there before it is written.
        while not (file.exists() and file.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.1)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


@pytest.mark.slow
def test_a_dask_cluster_gives_what_local_processes_give(tmp_path, cluster):
    rows = [
        Row(method="prior"),
        Row(method="mlcl", settings={"epochs": 3}),
        Row(method="mlcl", title="fails", settings={"learning_rate": -1.0}),
    ]
    with Store(tmp_path / "dask.sqlite") as far, Store(tmp_path / "local.sqlite") as near:
        record = Record()
        summary = run_study(small(rows=rows), far, dask=cluster, monitor=record)
        assert record.events[0] == ("planned", 9, 9, 2)
        assert (summary.n_ran, summary.n_failed) == (9, 3)
        run_study(small(rows=rows), near, n_jobs=1)
        done = [row for row in contents(far) if row["status"] == "done"]
        assert done == [row for row in contents(near) if row["status"] == "done"]
        assert len(done) == 6


OWN = """
import numpy as np
from complabel.methods import ComplementaryClassifier
from HELPER import STRENGTH


class Mine(ComplementaryClassifier):
    def _fit(self, X, complementary, relevant, /):
        self.strength_ = STRENGTH

    def _decision(self, X):
        return np.full((X.shape[0], len(self.classes_)), self.strength_)
"""


@pytest.mark.slow
def test_workers_in_another_folder_get_modules_of_ones_own(tmp_path, cluster, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.syspath_prepend(str(home))
    path = tmp_path / "own.sqlite"
    (home / "own_shipped.py").write_text(OWN.replace("HELPER", "own_helper"), encoding="utf-8")

    for strength in (1.0, 2.0):  # the second time, the workers know older code
        (home / "own_helper.py").write_text(f"STRENGTH = {strength}\n", encoding="utf-8")
        for name in ("own_shipped", "own_helper"):
            sys.modules.pop(name, None)
        plan = small(rows=[Row(method="own_shipped:Mine")])
        with Store(path) as store:
            summary = run_study(plan, store, dask=cluster)
            assert (summary.n_ran, summary.n_failed) == (3, 0)
            done = store.results(plan.name).having("done")
            assert {unit.fitted["strength_"] for unit in done} == {strength}


@pytest.mark.slow
def test_a_package_that_workers_cannot_import_is_said_at_first(tmp_path, cluster, monkeypatch):
    package = tmp_path / "home" / "own_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "mine.py").write_text(
        OWN.replace("HELPER import STRENGTH", "math import pi as STRENGTH")
    )
    monkeypatch.syspath_prepend(str(package.parent))
    plan = small(rows=[Row(method="own_package.mine:Mine")])
    with Store(tmp_path / "own.sqlite") as store:
        with pytest.raises(
            InputError, match=r"cannot import own_package\.mine: .* on every worker"
        ):
            run_study(plan, store, dask=cluster)
        assert len(store.results(plan.name).having("pending")) == 3
