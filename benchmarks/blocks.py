"""What do fits take whose features are read in blocks: memory, workers, a killed worker?

Features are normal numbers in a Parquet file, ten labels are logistic in them, and there is one yes
or no for each item, or a label that does not apply ("named"). "command" is ``complabel fit``,
everything automatic, and its peak memory. "workers" are those of a Dask cluster, of one thread
each, with everything given (``FIXED``), so that only the passes over all rows are measured, in a
second fit. "killed" kills one of two workers after the first step: "away" is how far the
coefficients are from those of a fit without a cluster, as a share of the largest.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._fits import memory, processor_seconds, timed
from complabel.files import read_answers, read_features
from complabel.methods import SelectionLikelihoodClassifier

FIXED: dict[str, Any] = {"alpha": 1e-5, "kernel": "linear", "scaling": "standardize", "rank": None}
FIXED |= {"cardinality": 3.5, "propensities": "equal", "random_state": 0}
CELLS = [
    *({"what": "command", "answers": "asked", "rows": n} for n in (20_000, 10_000_000)),
    *({"what": "workers", "answers": answers, "rows": n, "workers": number}
      for answers, n in (("named", 600_000), ("asked", 1_500_000))
      for number in (1, 2)),
    {"what": "killed", "answers": "named", "rows": 600_000},
]  # fmt: skip
DRAWS, QUICK = 2, {"rows": (20_000,), "what": ("command",)}
TIMES = ("seconds", "processor", "busiest", "here", "peak_gb")
K, D, _PIECE = 10, 100, 25_000


def write(folder: Path, rows: int, *, named: bool) -> None:
    """Write X.parquet and answers.parquet, a piece at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    coef = rng.normal(size=(D, K)) * 2 / np.sqrt(D)
    writers: dict[str, Any] = {}
    for start in range(0, rows, _PIECE):
        n = min(_PIECE, rows - start)
        X = rng.standard_normal(size=(n, D), dtype=np.float32)
        applies = rng.random((n, K)) < 1 / (1 + np.exp(1 - X @ coef))
        applies[applies.all(axis=1), 0] = False  # somebody can name a label
        chance = rng.random((n, K))
        label = (chance * ~applies if named else chance).argmax(axis=1)
        items = pa.array([f"i{row:08d}" for row in range(start, start + n)])
        told = {
            "item": items,
            "label": pa.array([f"l{k}" for k in label]),
            "answer": pa.array(np.where(applies[np.arange(n), label], "yes", "no").tolist()),
            "question": ["named" if named else "asked"] * n,
            "probability": np.full(n, np.nan if named else 1 / K),
        }
        columns = [items, *(pa.array(column) for column in np.ascontiguousarray(X.T))]
        features = pa.table(columns, names=["item", *(f"f{at}" for at in range(D))])
        for name, table in {"X": features, "answers": pa.table(told)}.items():
            if name not in writers:
                file = folder / f"{name}.parquet"
                writers[name] = parquet.ParquetWriter(file, table.schema, compression="none")
            writers[name].write_table(table)
    for writer in writers.values():
        writer.close()


def command(folder: Path) -> dict[str, float]:
    """Run ``complabel fit``; return its processor seconds and peak memory."""
    words = [sys.executable, "-m", "complabel", "fit", "answers.parquet"]
    words += ["--features", "X.parquet", "--out", "model.safetensors"]
    before, peak = processor_seconds(), 0.0
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, cwd=folder, stdout=quiet, stderr=quiet)
    while process.poll() is None:
        peak = max(peak, np.nan_to_num(memory("VmHWM", process.pid)))
        time.sleep(0.2)
    if process.returncode:
        raise RuntimeError(f"complabel fit ended with {process.returncode}")
    return {"processor": processor_seconds() - before, "peak_gb": peak}


def on_workers(X: Any, answers: Any, client: Any) -> dict[str, float]:
    """Fit on the workers of a cluster, after a fit that warms up."""
    model = SelectionLikelihoodClassifier(**FIXED)
    model.fit(X, answers)  # imports, and the file comes into the system's memory
    before, here = client.run(time.process_time).values(), time.process_time()
    _, seconds, _ = timed(lambda: model.fit(X, answers))
    each = zip(before, client.run(time.process_time).values(), strict=True)
    here = time.process_time() - here
    return {"seconds": seconds, "busiest": max(b - a for a, b in each), "here": here}


def killed(X: Any, answers: Any, client: Any, expected: Any) -> dict[str, float]:
    """Kill a worker after the first step; compare with a fit without a cluster."""

    def step(stage: str, number: int, *_: object) -> None:
        if stage == "classifier" and number == 1:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    model = SelectionLikelihoodClassifier(**FIXED, callback=step)
    found, seconds, _ = timed(lambda: model.fit(X, answers))
    away = np.abs(found.coef_ - expected.coef_).max() / np.abs(expected.coef_).max()
    return {"seconds": seconds, "away": away}


def measure(*, draw: int, data: Any, what: str, rows: int, **cell: Any) -> dict[str, float]:
    """Return what a fit takes."""
    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows, named=cell["answers"] == "named")
        if what == "command":
            return command(folder)
        X: Any = read_features(folder / "X.parquet", in_pieces=True)
        answers = read_answers(folder / "answers.parquet", items=X.items).answers
        alone = SelectionLikelihoodClassifier(**FIXED)
        expected = alone.fit(X.X, answers) if what == "killed" else None
        how: Any = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
        workers = LocalCluster(n_workers=cell.get("workers", 2), **how)
        with workers as cluster, Client(cluster) as to:
            if what == "killed":
                return killed(X.X, answers, to, expected)
            return on_workers(X.X, answers, to)
