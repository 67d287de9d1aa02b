"""Runs that are killed, and disks that are full or closed, while units are being stored."""

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tests.experiments.studies.small import small

from complabel.experiments.studies import Draw, Row, Store, run_study

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and users")

# What two runs of the same units may differ in.
DIFFERING = {"fit_seconds", "predict_seconds", "peak_memory_mb", "finished", "machine"}
RUN = """
import json, os, resource, sys
from complabel.errors import StoreError
from complabel.experiments.studies import Plan, Store, run_study
given = json.loads(sys.argv[1])
if given["largest_file"]:
    # Python ignores the signal that goes with it: writing more is an error, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (given["largest_file"],) * 2)
plan = Plan.model_validate_json(given["plan"])
if given["nobody"] and os.getuid() == 0:
    run_study(plan.model_copy(update={"folds": 2}), Store(":memory:"), n_jobs=1)  # import all
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    with Store(given["path"], create=not given["only_read"]) as store:
        if not given["only_read"]:
            run_study(plan, store, n_jobs=1)
        print(len(store.results(plan.name).having("done")), "done")
except StoreError as error:
    sys.exit(str(error))
"""


def quick_plan(n_draws, folds):
    """A plan of units that take less time to run than to store."""
    draws = [Draw(name=f"d{i}", scheme="biased", sharpness=1 + i) for i in range(n_draws)]
    return small(draws=draws, rows=[Row(method="prior")], folds=folds)


PLAN = quick_plan(2, 10)


def start(path, plan=PLAN, *, nobody=False, largest_file=None, only_read=False):
    given = {
        "path": str(path),
        "plan": plan.model_dump_json(),
        "nobody": nobody,
        "largest_file": largest_file,
        "only_read": only_read,
    }
    command = [sys.executable, "-c", RUN, json.dumps(given)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=Path(path).parent, text=True, **pipes)


def run(path, plan=PLAN, **options):
    """Run a plan in another process; return its exit code and all that it said."""
    process = start(path, plan, **options)
    said, complained = process.communicate(timeout=300)
    return process.returncode, said + complained


def results(path):
    """All results of a store, but for what may differ; read without a write."""
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        try:
            found = connection.execute("SELECT * FROM results ORDER BY key").fetchall()
        except sqlite3.OperationalError:  # the tables are being made
            return []
    return [{name: row[name] for name in row.keys() if name not in DIFFERING} for row in found]  # noqa: SIM118


def undisturbed(folder, plan=PLAN):
    with Store(folder / "undisturbed.sqlite") as store:
        run_study(plan, store, n_jobs=1)
    return results(folder / "undisturbed.sqlite")


@pytest.mark.parametrize("n_kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_kills_while_units_are_stored_lose_nothing_and_double_nothing(tmp_path, n_kills):
    plan, path = quick_plan(n_kills, 50), tmp_path / "store.sqlite"
    chance = random.Random(20)
    kept = [0]
    for _ in range(n_kills):
        process = start(path, plan)
        wanted = kept[-1] + chance.randint(1, 4)
        while len(results(path)) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        kept.append(len(results(path)))
    n_units = n_kills * 50
    assert kept == sorted(kept)  # no kill costs what was stored before
    assert 0 < kept[-1] < n_units  # each one hit a run that had more to store
    with Store(path) as store:
        assert store.writer() == ""
        assert run_study(plan, store, n_jobs=1).n_ran == n_units - kept[-1]
        assert len(store.results(plan.name).having("done")) == n_units
    assert results(path) == undisturbed(tmp_path, plan)


@pytest.mark.slow
def test_a_disk_that_is_full_while_units_are_stored_loses_nothing(tmp_path):
    path = tmp_path / "store.sqlite"
    code, text = run(path, largest_file=200_000)
    assert code == 1
    assert "store.sqlite cannot be written:" in text
    assert "Earlier results in it are safe; free space" in text
    n_kept = len(results(path))
    assert 0 < n_kept < 20
    with Store(path) as store:
        assert run_study(PLAN, store, n_jobs=1).n_ran == 20 - n_kept
    assert results(path) == undisturbed(tmp_path)


@pytest.fixture
def public():
    """A folder that everybody may look into, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="complabel-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_read_only_folder_is_said_and_left_alone(public):
    public.chmod(0o555)
    code, text = run(public / "store.sqlite", nobody=True)
    assert code == 1
    assert "cannot be written" in text
    assert "--store" in text
    assert not contents(public)


@pytest.mark.slow
@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_read_only_store_is_read_and_not_written(public, folder_mode):
    path = public / "store.sqlite"
    with Store(path) as store:
        run_study(PLAN, store, n_jobs=1)
    path.chmod(0o444)
    public.chmod(folder_mode)
    before = contents(public)
    code, text = run(path, nobody=True)
    assert code == 1
    assert "cannot be written: the file or its folder is read-only. Nothing was changed" in text
    assert run(path, nobody=True, only_read=True) == (0, "20 done\n")
    assert contents(public) == before


@pytest.mark.slow
def test_results_left_beside_a_read_only_store_are_not_overlooked(public):
    with Store(public / "store.sqlite") as store:
        run_study(PLAN, store, n_jobs=1)
        seen = public / "seen"
        seen.mkdir()
        for file in ("store.sqlite", "store.sqlite-wal"):  # as after a kill
            shutil.copy(public / file, seen / file)
            os.chmod(seen / file, 0o444)
    seen.chmod(0o555)
    code, text = run(seen / "store.sqlite", nobody=True, only_read=True)
    seen.chmod(0o755)
    assert (code, "copy both files to another folder" in text) == (1, True), text
