"""Fits to features that are read in blocks: memory, workers of a Dask cluster, a killed worker.

    python -m benchmarks.blocks make FOLDER --rows 10000000 --features 100
    python -m benchmarks.blocks memory FOLDER     # complabel fit, and its peak memory
    python -m benchmarks.blocks workers FOLDER    # one worker and two, in turn
    python -m benchmarks.blocks killed FOLDER     # one of two workers is killed during the fit

``make`` writes normal features, ten labels that are logistic in them, and one yes or no for each
item (with --named: a label that does not apply), a piece at a time.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

K = 10
_PIECE = 25_000
# Everything is given, so that only the passes over all rows are measured.
FIXED = {
    "alpha": 1e-5,
    "kernel": "linear",
    "scaling": "standardize",
    "rank": None,
    "cardinality": 3.5,
    "propensities": "equal",
}


def make(folder: Path, rows: int, features: int, *, named: bool) -> None:
    """Write X.parquet and answers.parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    coef = rng.normal(size=(features, K)) * 2 / np.sqrt(features)
    names = [f"f{at}" for at in range(features)]
    writers: dict[str, Any] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, rows, _PIECE):
        n = min(_PIECE, rows - start)
        X = rng.standard_normal(size=(n, features), dtype=np.float32)
        applies = rng.random((n, K)) < 1 / (1 + np.exp(1 - X @ coef))
        applies[applies.all(axis=1), 0] = False  # somebody can name a label
        draw = rng.random((n, K))
        label = (draw * ~applies if named else draw).argmax(axis=1)
        items = pa.array([f"i{row:08d}" for row in range(start, start + n)])
        told = {
            "item": items,
            "label": pa.array([f"l{k}" for k in label]),
            "answer": pa.array(np.where(applies[np.arange(n), label], "yes", "no").tolist()),
            "question": ["named" if named else "asked"] * n,
            "probability": np.full(n, np.nan if named else 1 / K),
        }
        columns = [pa.array(column) for column in np.ascontiguousarray(X.T)]
        tables = {
            "X": pa.table([items, *columns], names=["item", *names]),
            "answers": pa.table(told),
        }
        for name, table in tables.items():
            if name not in writers:
                writers[name] = parquet.ParquetWriter(
                    folder / f"{name}.parquet", table.schema, compression="none"
                )
            writers[name].write_table(table)
    for writer in writers.values():
        writer.close()


def memory(folder: Path) -> None:
    """Run the command, and print its processor seconds and peak memory."""
    from pyarrow import parquet

    n, d = (
        parquet.ParquetFile(folder / "X.parquet").metadata.num_rows,
        len(parquet.read_schema(folder / "X.parquet").names) - 1,
    )
    command = [
        *(sys.executable, "-m", "complabel", "fit", str(folder / "answers.parquet")),
        *("--features", str(folder / "X.parquet"), "--out", str(folder / "model.safetensors")),
    ]
    started, peaks = time.monotonic(), {}
    process = subprocess.Popen(command)
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        for line in status.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("VmHWM", "RssAnon"):
                peaks[name] = max(peaks.get(name, 0), int(value.split()[0]) * 1024)
        time.sleep(0.2)
    used = os.times()
    print(
        f"| {n:,} x {d} | {time.monotonic() - started:.0f} s |"
        f" {used.children_user + used.children_system:.0f} s of processor time |"
        f" features {4 * n * d / 1e9:.1f} GB | peak {peaks.get('VmHWM', 0) / 1e9:.1f} GB |"
    )
    if process.returncode:
        raise SystemExit(process.returncode)


def read(folder: Path) -> tuple[Any, Any]:
    """Return the features in pieces, and the answers."""
    from complabel.files import read_answers, read_features

    found = read_features(folder / "X.parquet", in_pieces=True)
    return found.X, read_answers(folder / "answers.parquet", items=found.items).answers


def fit(X: Any, answers: Any, **given: Any) -> Any:
    """Fit with fixed settings."""
    from complabel.methods import SelectionLikelihoodClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SelectionLikelihoodClassifier(**FIXED, random_state=0, **given).fit(X, answers)


def seconds_of(client: Any) -> list[float]:
    """Return the processor seconds of each worker so far."""
    return [*client.run(time.process_time).values()]


def workers(folder: Path, repeats: int) -> None:
    """Compare one worker and two on the same data, in turn."""
    from distributed import Client, LocalCluster

    X, answers = read(folder)
    print("| workers | seconds | processor seconds of the busiest worker | of this process |")
    print("|---|---|---|---|")
    for _ in range(repeats):
        for number in (1, 2):
            with (
                LocalCluster(
                    n_workers=number, threads_per_worker=1, dashboard_address=":0", memory_limit=0
                ) as cluster,
                Client(cluster) as client,
            ):
                fit(X, answers)  # imports, and the file comes into the system's memory
                before, here, started = seconds_of(client), time.process_time(), time.monotonic()
                fit(X, answers)
                spent = time.monotonic() - started
                each = [b - a for a, b in zip(before, seconds_of(client), strict=True)]
                here = time.process_time() - here
                print(f"| {number} | {spent:.1f} | {max(each):.1f} | {here:.1f} |", flush=True)


def killed(folder: Path) -> None:
    """Kill one of two workers during the fit; compare with a fit without a cluster."""
    from distributed import Client, LocalCluster

    X, answers = read(folder)
    expected = fit(X, answers)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        for kills in (False, True):
            at: list[float] = [time.monotonic()]

            def step(stage: str, number: int, *_: object) -> None:
                if stage != "classifier":
                    return
                at.append(time.monotonic())  # noqa: B023
                if kills and number == 1:  # noqa: B023
                    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

            found = fit(X, answers, callback=step)
            steps = ", ".join(f"{b - a:.1f}" for a, b in itertools.pairwise(at[1:]))
            away = np.abs(found.coef_ - expected.coef_).max() / np.abs(expected.coef_).max()
            print(
                f"| {'one killed after step 1' if kills else 'two workers'} |"
                f" {time.monotonic() - at[0]:.1f} s | steps {steps} s | coefficients {away:.0e} |",
                flush=True,
            )


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["make", "memory", "workers", "killed"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--named", action="store_true", help="labels are named freely")
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.rows, given.features, named=given.named)
    elif given.what == "memory":
        memory(given.folder)
    elif given.what == "workers":
        workers(given.folder, given.repeats)
    else:
        killed(given.folder)


if __name__ == "__main__":
    main()
