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

from complabel.studies import Draw, Plan, Row, Store, run_study

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

WARM = Path(__file__).with_name("warm.py")
STORE = "complabel-studies.sqlite"
# What two runs of the same units may differ in.
DIFFERING = {
    "fit_seconds", "predict_seconds", "peak_memory_mb", "finished", "machine",
}  # fmt: skip


def quick_plan(n_draws, folds):
    """A plan of units that take less time to run than to store."""
    draws = [Draw(name=f"d{i}", scheme="biased", sharpness=1 + i) for i in range(n_draws)]
    return Plan(
        name="quick",
        title="Quick units",
        datasets=["synthetic"],
        draws=draws,
        rows=[Row(method="prior")],
        folds=folds,
    )


def as_toml(plan):
    draws = [
        f'{{ name = "{draw.name}", scheme = "biased", sharpness = {draw.sharpness} }}'
        for draw in plan.draws
    ]
    return (
        f'name = "{plan.name}"\ntitle = "{plan.title}"\ndatasets = ["synthetic"]\n'
        f'folds = {plan.folds}\nrows = [{{ method = "prior" }}]\ndraws = [{", ".join(draws)}]\n'
    )


class Warm:
    """Starts the command line in forks of a process that has imported all of it."""

    def __init__(self):
        self._server = subprocess.Popen(
            [sys.executable, str(WARM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, *arguments, folder, output, nobody=False, largest_file=None):
        request = {
            "arguments": list(arguments),
            "folder": str(folder),
            "output": str(output),
            "nobody": nobody,
            "largest_file": largest_file,
        }
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())

    def wait(self):
        return int(self._server.stdout.readline())

    def run(self, *arguments, folder, output, **options):
        """Run a command; return its exit code and all that it said."""
        self.start(*arguments, folder=folder, output=output, **options)
        return self.wait(), output.read_text(encoding="utf-8")

    def close(self):
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


@pytest.fixture(scope="module")
def warm():
    with contextlib.closing(Warm()) as warm:
        yield warm


def rows(path, query):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def results(path):
    """All results of a store, but for what may differ."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute("SELECT * FROM results ORDER BY key")]
    return [{name: row[name] for name in row if name not in DIFFERING} for row in found]


def n_results(path):
    """Count results without a write: the last connection to close would tidy the file up."""
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM results").fetchone()[0]
        except sqlite3.OperationalError:  # the tables are being made
            return 0


def kill_while_storing(warm, folder, chance):
    """Start a run, kill it within 20 ms of one of its first results; say what the kill hit."""
    path = folder / STORE
    before = n_results(path)
    process = warm.start(
        "study", "run", "plan.toml", "--jobs", "1", folder=folder, output=folder / "said.txt"
    )
    wanted = before + chance.randint(1, 4)
    deadline = time.monotonic() + 120
    while n_results(path) < wanted and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.02))
    os.kill(process, signal.SIGKILL)
    assert warm.wait() == -signal.SIGKILL, (folder / "said.txt").read_text(encoding="utf-8")
    # Seen in a copy: mending what the kill left is up to the next run.
    seen = folder / "seen"
    seen.mkdir(exist_ok=True)
    for file in (STORE, f"{STORE}-wal"):
        shutil.copy(folder / file, seen / file)
    return rows(seen / STORE, "SELECT count(*) FROM results")[0][0]


@pytest.mark.parametrize(
    ("n_kills", "plan"),
    [
        pytest.param(2, quick_plan(2, 40), id="2"),
        pytest.param(100, quick_plan(25, 40), id="100", marks=pytest.mark.slow),
    ],
)
def test_kills_while_units_are_stored_lose_nothing_and_double_nothing(
    warm, tmp_path, n_kills, plan
):
    (tmp_path / "plan.toml").write_text(as_toml(plan), encoding="utf-8")
    chance = random.Random(20)
    path = tmp_path / STORE
    kept = [0, *(kill_while_storing(warm, tmp_path, chance) for _ in range(n_kills))]
    n_units = len(plan.draws) * plan.folds
    assert kept == sorted(kept)  # no kill costs what was stored before
    assert 0 < kept[-1] < n_units  # each one hit a run that had more to store
    code, said = warm.run(
        "study", "run", "plan.toml", "--jobs", "1", folder=tmp_path, output=tmp_path / "said.txt"
    )
    assert (code, f"ran {n_units - kept[-1]} of {n_units} units" in said) == (0, True), said
    with Store(tmp_path / "undisturbed.sqlite") as undisturbed:
        run_study(plan, undisturbed, n_jobs=1)
    assert rows(path, "SELECT count(*), count(DISTINCT key) FROM results") == [(n_units, n_units)]
    assert results(path) == results(undisturbed.path)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    with Store(path) as opened:
        assert len(opened.results(plan.name).having("done")) == n_units


PLAN = quick_plan(2, 10)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.toml").write_text(as_toml(PLAN), encoding="utf-8")
    return tmp_path


@pytest.fixture
def public():
    """A folder that everybody may look into, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="complabel-"))
    (folder / "plan.toml").write_text(as_toml(PLAN), encoding="utf-8")
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def said(tmp_path_factory):
    """A file for what a command says, outside the folder that it works in."""
    return tmp_path_factory.mktemp("said") / "said.txt"


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_disk_that_is_full_while_units_are_stored_loses_nothing(warm, folder, said):
    run = ("study", "run", "plan.toml", "--jobs", "1")
    code, text = warm.run(*run, folder=folder, output=said, largest_file=200_000)
    assert code == 1
    assert "\nerror: the store complabel-studies.sqlite cannot be written:" in text
    assert "Earlier results in it are safe; free space" in text
    ((n_kept,),) = rows(folder / STORE, "SELECT count(*) FROM results")
    assert 0 < n_kept < 20
    code, text = warm.run(*run, folder=folder, output=said)
    assert (code, f"ran {20 - n_kept} of 20 units" in text) == (0, True), text
    with Store(folder / "undisturbed.sqlite") as undisturbed:
        run_study(PLAN, undisturbed, n_jobs=1)
    assert results(folder / STORE) == results(undisturbed.path)


def finished(folder, plan=PLAN):
    with Store(folder / STORE) as store:
        run_study(plan, store, n_jobs=1)


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_the_old_report_or_none(warm, folder, said):
    finished(folder, quick_plan(2, 20))
    before = contents(folder)
    report = ("study", "report", "--output", "here/report")
    export = ("study", "export", "all.json")
    for command in (report, export):
        code, text = warm.run(*command, folder=folder, output=said, largest_file=33_000)
        assert code == 1
        assert "cannot be written: File too large" in text
        assert "free space" in text
        assert "Traceback" not in text
        assert contents(folder) == before
        assert not (folder / "here").exists()
    assert warm.run(*report, folder=folder, output=said)[0] == 0
    written = contents(folder)
    assert len(written) == len(before) + 5
    assert warm.run(*report, folder=folder, output=said, largest_file=33_000)[0] == 1
    assert contents(folder) == written


@pytest.mark.slow
def test_a_read_only_folder_is_said_and_left_alone(warm, public, said):
    public.chmod(0o555)
    run = ("study", "run", "plan.toml", "--jobs", "1")
    for store in ((), ("--store", str(public / "other.sqlite"))):
        code, text = warm.run(*run, *store, folder=public, output=said, nobody=True)
        assert (code, text.count("\n")) == (1, 1)
        assert "cannot be written" in text
        assert "--store" in text
        assert [path.name for path in public.iterdir()] == ["plan.toml"]


@pytest.mark.slow
@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_read_only_store_is_read_and_not_written(warm, public, said, folder_mode):
    finished(public)
    (public / STORE).chmod(0o444)
    public.chmod(folder_mode)
    before = contents(public)

    def call(*arguments):
        return warm.run(*arguments, folder=public, output=said, nobody=True)

    code, text = call("study", "run", "plan.toml", "--jobs", "1")
    assert (code, text.count("\n")) == (1, 1)
    assert "cannot be written: the file or its folder is read-only. Nothing was changed" in text
    code, text = call("study", "status")
    assert (code, "20 of 20 units done" in text) == (0, True), text
    if folder_mode == 0o555:
        code, text = call("study", "export", "all.csv")
        assert (code, "cannot be written: Permission denied" in text) == (1, True), text
    assert contents(public) == before


@pytest.mark.slow
def test_results_left_beside_a_read_only_store_are_not_overlooked(warm, public, said):
    with Store(public / STORE) as store:
        run_study(PLAN, store, n_jobs=1)
        seen = public / "seen"
        seen.mkdir()
        for file in (STORE, f"{STORE}-wal"):  # as after a kill
            shutil.copy(public / file, seen / file)
            (seen / file).chmod(0o444)
    seen.chmod(0o555)
    code, text = warm.run("study", "status", folder=seen, output=said, nobody=True)
    seen.chmod(0o755)
    assert (code, "copy both files to another folder" in text) == (1, True), text


FULL_DISK = """
import pathlib, shutil, sys
from complabel.cli import main
def run():
    sys.argv = ["complabel", "study", "run", "plan.toml", "--jobs", "1"]
    try:
        main()
    except SystemExit as stop:
        return stop.code
filler = pathlib.Path("filler")
filler.write_bytes(bytes(7_700_000))
assert run() == 1
filler.unlink()
assert not run()
shutil.copy("complabel-studies.sqlite", sys.argv[0])
"""


@pytest.mark.slow
def test_a_file_system_that_is_full_loses_nothing(folder):
    mount = "mount -t tmpfs -o size=7850k none disk"
    (folder / "disk").mkdir()
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if os.getuid() == 0:
        alone.remove("--user")
        alone.remove("--map-root-user")
    if not shutil.which("unshare") or subprocess.run([*alone, mount], cwd=folder).returncode:
        pytest.skip("cannot make a small file system here")
    script = folder / "script.py"
    script.write_text(FULL_DISK.replace("sys.argv[0])", repr(str(folder / STORE)) + ")"))
    command = f"{mount} && cp plan.toml disk && cd disk && exec '{sys.executable}' '{script}'"
    ran = subprocess.run([*alone, command], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "full" in ran.stderr
    assert "Earlier results in it are safe; free space" in ran.stderr
    with Store(folder / "undisturbed.sqlite") as undisturbed:
        run_study(PLAN, undisturbed, n_jobs=1)
    assert results(folder / STORE) == results(undisturbed.path)
    assert len(results(folder / STORE)) == 20
