"""Runs of a plan: what they give, what they keep, and workers that die."""

import contextlib
import dataclasses
import functools
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from distributed import Client, Future
from tests.experiments.studies.small import run_unit
from tests.experiments.studies.small import small as small_plan

from complabel.errors import InputError
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import (
    Monitor,
    Row,
    Store,
    plan_units,
    run_fold,
    run_study,
)
from complabel.experiments.studies._labels import draw_labels

ROWS = [Row(method="prior"), Row(method="mlcl", settings={"epochs": 3})]
GDF = {"epochs": 3, "device": "cpu"}  # a GPU rounds in another order
SEVERAL = Row(
    method="gdf", title="GDF at {learning_rate}", settings=GDF, grid={"learning_rate": [0.1, 0.01]}
)
BROKEN = Row(method="mlcl", title="broken", settings={"learning_rate": -1.0})
small = functools.partial(small_plan, rows=ROWS)


class OnFinish(Monitor):
    """Does something when a unit has finished."""

    def __init__(self, do):
        self.do = do

    def finished(self, unit, outcome, seconds):
        self.do()


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        yield store


def metrics_of(store):
    return [unit.metrics for unit in store.results("small").units]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_gives_what_its_folds_give_and_runs_them_once(store, n_jobs):
    plan = small(rows=[*ROWS, SEVERAL], score=True)  # folds and rates of a method train at once
    summary = run_study(plan, store, n_jobs=n_jobs)
    assert (summary.n_units, summary.n_ran, summary.n_failed) == (12, 12, 0)
    dataset = load_dataset("synthetic")
    complementary = draw_labels(dataset, plan.draws[0], seed=0)
    expected = [
        run_fold(dataset, complementary, row, fold=fold, folds=3, seed=0, score=True).metrics
        for row in plan.expanded_rows()
        for fold in range(3)
    ]
    assert metrics_of(store) == expected
    assert run_study(plan, store, n_jobs=n_jobs).n_ran == 0
    for unit in store.results("small").units:
        assert 0 < unit.fit_seconds < 60
        assert 20 < unit.peak_memory_mb < 1e5
        assert unit.machine["numpy"] == np.__version__


def test_of_units_that_train_at_once_only_what_is_missing_runs_and_failures_stay_alone(store):
    rates = {"grid": {"learning_rate": [0.1, 1e38]}}
    run_study(small(rows=[SEVERAL]), store, n_jobs=1)
    plan = small(rows=[SEVERAL.model_copy(update=rates)])
    summary = run_study(plan, store, n_jobs=1)
    assert (summary.n_ran, summary.n_failed) == (3, 3)
    units = store.results("small").units
    assert [unit.status for unit in units] == ["done"] * 3 + ["failed"] * 3
    assert "diverged" in units[-1].reason


def test_the_first_fold_of_a_gradient_method_keeps_curves_and_matrices(store):
    run_study(small(), store, n_jobs=1)
    first, *others = [unit for unit in store.results("small").units if unit.method == "mlcl"]
    curves = first.details["curves"]
    assert {s: len(curve) for s, curve in curves.items()} == {"transition": 3, "classifier": 3}
    transition = np.array(first.details["matrices"]["transition_"])
    np.testing.assert_allclose(transition.sum(axis=1), 1.0)
    assert first.details["label_names"] == list(load_dataset("synthetic").label_names)
    assert all(not unit.details for unit in others)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_row_that_fails_does_not_end_the_others(store, n_jobs):
    plan = small(rows=[BROKEN, Row(method="prior")])
    summary = run_study(plan, store, n_jobs=n_jobs)
    assert (summary.n_ran, summary.n_failed) == (6, 3)
    results = store.results("small")
    assert {unit.method for unit in results.having("done")} == {"prior"}
    for unit in results.having("failed"):
        assert "Traceback" in unit.error
        assert "learning_rate must be" in unit.reason
    assert run_study(plan, store, n_jobs=n_jobs).n_ran == 0
    again = run_study(plan, store, n_jobs=n_jobs, retry_failed=True)
    assert (again.n_ran, again.n_failed) == (3, 3)


@pytest.mark.parametrize("what", ["code", "versions"])
def test_a_worker_with_other_code_refuses(what):
    (unit, *_), _ = plan_units(small())
    said = {**json.loads(unit.identity), what: "another"}
    outcome = run_unit(dataclasses.replace(unit, identity=json.dumps(said)))
    assert f"for prior, this worker has another {what}" in outcome.error
    assert not outcome.metrics
    assert run_unit(unit).metrics


def test_a_cluster_that_is_not_there_is_said(store, monkeypatch):
    monkeypatch.setattr("complabel._training._blocks._CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match=r"the Dask scheduler at tcp://127\.0\.0\.1:9"):
        run_study(small(), store, dask="tcp://127.0.0.1:9")


def kill_workers():
    """Kill the processes of loky that belong to this one."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process().children():
            if any("popen_loky" in word for word in process.cmdline()):
                process.kill()


@pytest.mark.slow
def test_a_unit_whose_worker_dies_also_alone_fails_and_the_others_go_on(store):
    plan = small(rows=[Row(method="mlcl", settings={"epochs": 300})], folds=4)
    stop = threading.Event()

    def kill_all():
        while not stop.is_set():
            kill_workers()
            time.sleep(0.02)

    thread = threading.Thread(target=kill_all)
    thread.start()
    try:
        summary = run_study(plan, store, n_jobs=2, monitor=OnFinish(stop.set))
    finally:
        stop.set()
        thread.join()
    assert summary.n_failed >= 1
    errors = [unit.error for unit in store.results("small").having("failed")]
    assert all("ended without a result" in error for error in errors)
    again = run_study(plan, store, n_jobs=1, retry_failed=True)
    assert (again.n_ran, again.n_failed) == (summary.n_failed, 0)


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
        yield address, processes
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


@pytest.mark.slow
def test_a_dask_cluster_gives_what_this_process_gives_also_if_a_worker_dies(tmp_path, cluster):
    address, processes = cluster
    plan = small(rows=[*ROWS, BROKEN], folds=8)
    die = OnFinish(processes[-1].kill)
    with Store(tmp_path / "dask.sqlite") as far, Store(tmp_path / "local.sqlite") as near:
        summary = run_study(plan, far, dask=address, monitor=die)
        assert (summary.n_ran, summary.n_failed) == (24, 8)
        assert processes[-1].poll() == -signal.SIGKILL
        run_study(plan, near, n_jobs=1)
        assert metrics_of(far) == metrics_of(near)


@pytest.mark.slow
def test_work_that_a_cluster_loses_runs_again_and_a_scheduler_that_ends_is_named(tmp_path, cluster):
    address, processes = cluster
    with Store(tmp_path / "store.sqlite") as store, Client(address, set_as_default=False) as other:

        def cancel():
            keys = [key for of_a_worker in other.processing().values() for key in of_a_worker]
            other.cancel([Future(key, other) for key in keys], force=True)

        once, end = iter([cancel]), OnFinish(processes[0].kill)
        lose = OnFinish(lambda: next(once, bool)())
        assert run_study(small(folds=8), store, dask=address, monitor=lose).n_ran == 16
        with pytest.raises(InputError, match=f"{address}.*ended"):
            run_study(small(rows=[*ROWS, BROKEN], folds=8), store, dask=address, monitor=end)
        assert run_study(small(rows=[*ROWS, BROKEN], folds=8), store, n_jobs=1).n_ran in range(1, 8)


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
    address, _ = cluster
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
            summary = run_study(plan, store, dask=address)
            assert (summary.n_ran, summary.n_failed) == (3, 0)
            done = store.results(plan.name).having("done")
            assert {unit.fitted["strength_"] for unit in done} == {strength}
