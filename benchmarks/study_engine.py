"""What does the engine of studies cost for a unit, and what does a second process gain?

Workers are warm. "engine" is wall time times workers, less the time inside units, divided by the
units, in milliseconds: reading the plan and data, claiming, sending, storing with a sync to disk,
and waiting for the last unit.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from benchmarks._fits import timed
from complabel.experiments.studies import Monitor, Outcome, Plan, Row, Store, Unit, run_study

SMALL = [Row(method="prior"), Row(method="fpml")]
LARGE = [Row(method="mlcl", settings={"epochs": 400}), Row(method="ctl")]
PLANS = {
    "of no time": Plan(title="-", name="small", datasets=["synthetic"], rows=SMALL, folds=100),
    "of seconds": Plan(title="-", name="large", datasets=["digits"], rows=LARGE, folds=8),
}
CELLS = {"units": tuple(PLANS), "workers": ("1 process", "2 processes", "2 of Dask")}
QUICK, TIMES = {"units": ("of no time",), "workers": ("1 process",)}, ("wall", "engine")


class Busy(Monitor):
    """Adds up the time that units themselves take in their workers."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def finished(self, _unit: Unit, outcome: Outcome, seconds: float) -> None:
        """Add a unit's time."""
        assert not outcome.error, outcome.error
        self.seconds += seconds


def measure(*, draw: int, data: Any, units: str, workers: str) -> dict[str, float]:
    """Run a plan into a fresh store, after a first run that warms up."""
    plan, number, busy = PLANS[units], int(workers.split()[0]), Busy()
    with contextlib.ExitStack() as stack:
        how: dict[str, Any] = {"n_jobs": number}
        if "Dask" in workers:
            local = LocalCluster(n_workers=number, threads_per_worker=1, dashboard_address=":0")
            how["dask"] = stack.enter_context(local).scheduler_address
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        with Store(Path(folder) / "warm.sqlite") as store:
            run_study(plan.model_copy(update={"folds": 3}), store, **how)
        with Store(Path(folder) / "timed.sqlite") as store:
            wall = timed(lambda: run_study(plan, store, **how, monitor=busy))[1]
    engine = (wall * number - busy.seconds) / (plan.folds * len(plan.rows))
    return {"wall": wall, "engine": engine * 1000}
