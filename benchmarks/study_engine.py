"""What the study engine costs per unit, and what a second process or worker gains.

Everything is timed in one run of this script; see README.md for the figures it gave.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from distributed import Client

from complabel.experiments.studies import Monitor, Outcome, Plan, Row, Store, Unit, run_study

_SMALL = Plan(
    name="overhead",
    title="Units that take next to no time",
    datasets=["synthetic"],
    rows=[Row(method="prior"), Row(method="fpml")],
    folds=100,
)
_LARGE = Plan(
    name="scaling",
    title="Units of some seconds",
    datasets=["digits"],
    rows=[Row(method="mlcl", settings={"epochs": 400}), Row(method="ctl")],
    folds=8,
)


class Busy(Monitor):
    """Adds up the time that units themselves take in their workers."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def finished(self, _unit: Unit, outcome: Outcome, seconds: float) -> None:
        """Add a unit's time."""
        assert not outcome.error, outcome.error
        self.seconds += seconds


def time_run(
    plan: Plan, scheduler: psutil.Process, *, n_jobs: int = 1, dask: str | None = None
) -> tuple[float, float, float]:
    """Run a plan into a fresh store; return wall seconds and seconds inside units.

    The third number is the processor seconds of the scheduler and of this process, which a cluster
    of several machines does not take from its workers. Workers are warmed up by a first run, so
    that starting them and loading the data is not in it.
    """

    def taken() -> float:
        return sum(scheduler.cpu_times()[:2]) + time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder) / "warm.sqlite") as store:
            run_study(plan.model_copy(update={"folds": 3}), store, n_jobs=n_jobs, dask=dask)
        busy = Busy()
        with Store(Path(folder) / "timed.sqlite") as store:
            started, before = time.perf_counter(), taken()
            run_study(plan, store, n_jobs=n_jobs, dask=dask, monitor=busy)
            return time.perf_counter() - started, busy.seconds, taken() - before


@contextlib.contextmanager
def cluster(n_workers: int) -> Iterator[tuple[str, psutil.Process]]:
    """Start a scheduler and workers with Dask's own commands; give the scheduler's address."""
    dask = str(Path(sys.executable).with_name("dask"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        where = ["--no-dashboard", "--scheduler-file", str(file)]
        commands = [[dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *where]]
        commands += [
            [dask, "worker", "--nthreads", "1", "--no-nanny", "--local-directory", folder, *where]
        ] * n_workers
        processes = [subprocess.Popen(c, stderr=subprocess.DEVNULL) for c in commands]
        try:
            while not file.exists():
                time.sleep(0.1)
            address = json.loads(file.read_text(encoding="utf-8"))["address"]
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(n_workers, timeout=120)
            yield address, psutil.Process(processes[0].pid)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def main() -> None:
    """Print both tables."""
    with cluster(2) as (address, scheduler):
        ways: dict[str, dict[str, int | str]] = {
            "1 process": {"n_jobs": 1},
            "2 processes": {"n_jobs": 2},
            "2 Dask workers": {"n_jobs": 2, "dask": address},
        }
        print(
            "| | wall seconds | against 1 process | engine per unit, ms | scheduler and study"
            " | without them |\n|---|---|---|---|---|---|"
        )
        for plan in (_LARGE, _SMALL):
            n_units = plan.folds * len(plan.rows)
            print(f"| *{n_units} units* ({plan.title.lower()}) | | | | | |")
            alone = None
            for title, settings in ways.items():
                wall, inside, apart = time_run(plan, scheduler, **settings)  # type: ignore[arg-type]
                alone, n_jobs = alone or wall, int(settings["n_jobs"])
                overhead = (wall * n_jobs - inside) / n_units
                line = f"| {title} | {wall:.2f} | {wall / alone:.2f} | {overhead * 1000:.0f} |"
                if n_jobs > 1:  # as if they had a machine of their own, and not these two cores
                    line += f" {apart:.2f} | {(wall - apart / n_jobs) / alone:.2f} |"
                print(line, flush=True)


if __name__ == "__main__":
    main()
