"""The store: results come back, and neither kills nor full disks nor strangers' files cost any."""

import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from tests.experiments.studies.small import small
from tests.refusals import raises

from complabel.errors import StoreError
from complabel.experiments.studies import Draw, Outcome, Row, Store, plan_units, run_study
from complabel.metrics import METRICS

PLAN = small(rows=[Row(method="prior"), Row(method="mlcl")])
UNITS, _ = plan_units(PLAN)
DONE = Outcome(
    metrics={**dict.fromkeys(METRICS, 0.5), "ranking_loss": 0.25},
    fit_seconds=1.5,
    predict_seconds=0.5,
    peak_memory_mb=100.0,
    fitted={"alpha_": 0.1, "scaling_": "global"},
    details={"curves": {"classifier": [1.0, 0.5]}},
    machine={"cores": "2"},
)
RUN = """
import json, sys
from complabel.errors import StoreError
from complabel.experiments.studies import Plan, Store, run_study
path, plan = sys.argv[1:]
try:
    with Store(path) as store:
        run_study(Plan.model_validate_json(plan), store, n_jobs=1)
except StoreError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as store:
        store.register(PLAN, UNITS, {"bookmark": "not found"})
        yield store


def test_a_result_comes_back_as_it_was_given(store):
    store.finish(UNITS[1], DONE)
    store.finish(UNITS[4], Outcome(error="Traceback\nInputError: cannot read caf\udce9.arff"))
    results = store.results("small")
    assert (results.plan, results.missing) == (PLAN, {"bookmark": "not found"})
    statuses = ["pending", "done", "pending", "pending", "failed", "pending"]
    assert [unit.status for unit in results.units] == statuses
    (unit,) = results.having("done")
    assert {name: getattr(unit, name) for name in vars(DONE)} == vars(DONE)
    assert (unit.dataset, unit.row, unit.fold, unit.method) == ("synthetic", "Prior", 1, "prior")
    assert unit.parameters == UNITS[1].parameters
    assert "caf" in results.having("failed")[0].reason
    assert store.failures([unit.key for unit in UNITS]) == {UNITS[1].key: False, UNITS[4].key: True}
    store.register(PLAN.model_copy(update={"rows": PLAN.rows[:1]}), UNITS[:3], {})
    assert [unit.status for unit in store.results("small").units] == statuses[:3]


def start(path, plan, largest_file=None):
    def limit():
        # Python ignores the signal that goes with it: writing more is an error, as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file,) * 2)

    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(path), plan.model_dump_json()],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit if largest_file else None,
    )


def stored(path):
    """What a store holds of each unit, but for what two runs may differ in."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with sqlite3.connect(path, timeout=9) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
        rows = [*connection.execute("SELECT key, outcome FROM results")] if tables else []
    connection.close()
    return {key: json.loads(outcome)["metrics"] for key, outcome in rows}


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("n_kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_kills_while_units_are_stored_lose_nothing_and_double_nothing(path, n_kills, tmp_path):
    draws = [Draw(name=f"d{i}", scheme="biased", sharpness=1 + i) for i in range(n_kills)]
    plan = small(draws=draws, rows=[Row(method="prior")], folds=50)
    chance, kept = random.Random(20), [{}]
    for _ in range(n_kills):
        process = start(path, plan)
        wanted = len(kept[-1]) + chance.randint(1, 4)
        while len(stored(path)) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        kept.append(stored(path))
        assert kept[-2].items() <= kept[-1].items()  # no kill costs what was stored before
    assert 0 < len(kept[-1]) < n_kills * 50  # each one hit a run that had more to store
    with Store(path) as store, Store(tmp_path / "undisturbed.sqlite") as other:
        assert run_study(plan, store, n_jobs=1).n_ran == n_kills * 50 - len(kept[-1])
        run_study(plan, other, n_jobs=1)
    assert stored(path) == stored(tmp_path / "undisturbed.sqlite")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
def test_a_full_disk_ends_a_run_and_costs_nothing(path):
    plan = small(rows=[Row(method="prior")], folds=100)
    process = start(path, plan, largest_file=150_000)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "Earlier results in it are safe; free space" in said
    n_kept = len(stored(path))
    assert 0 < n_kept < 100
    with Store(path) as store:
        assert run_study(plan, store, n_jobs=1).n_ran == 100 - n_kept


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"item,label\n", ("store.sqlite", "--store")),
        (b"", ("store.sqlite", "--store")),
        (None, ("store.sqlite", "--store")),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_kept(path, content, message):
    if content is not None:
        path.write_bytes(content)
    with raises(StoreError, message):
        Store(path, create=False)
    assert (path.read_bytes() if path.exists() else None) == content


def test_damage_is_said(path):
    with Store(path) as store:
        store.register(PLAN, UNITS, {})
        store.finish(UNITS[0], DONE)
        with raises(StoreError, "'large'"):
            store.results("large")
        store._connection.execute("UPDATE results SET outcome = '{'")
        with raises(StoreError, "'small'"):
            store.results("small")
        store._connection.execute("UPDATE studies SET name = '../evil'")
        with raises(StoreError, "'small'"):
            store.results("../evil")
    content = bytearray(path.read_bytes())
    content[5000:9000] = bytes(4000)
    path.write_bytes(content)
    with raises(StoreError, "damaged"):
        Store(path)
