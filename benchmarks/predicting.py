"""How fast `complabel predict` writes predictions for many rows, and in how much memory.

Features are 1,000,000 x 100 float32 in a .npy file, the model is linear with 20 labels. Beside it
stands a plain loop over the same file that multiplies and takes the sigmoid, and writes nothing:
what any program needs at least. Both run in processes of their own, one after the other. Printed
are rows a second, peak memory and the ratio of the times. Peak memory includes the pages of the
file that are mapped, up to its 400 MB; the time of `predict` includes that of loading libraries.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PLAIN = """
import resource, sys, time
import numpy as np
start = time.perf_counter()
X = np.load(sys.argv[1], mmap_mode="r")
W = np.random.default_rng(0).normal(size=(X.shape[1], 20)).astype(np.float32)
for at in range(0, len(X), 65_536):
    1 / (1 + np.exp(-(X[at : at + 65_536] @ W)))
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
_PREDICT = """
import resource, sys, time
start = time.perf_counter()
from complabel.cli import main
sys.argv = ["complabel", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
_MAKE = """
import sys
import numpy as np
from complabel.simulate import draw_answers
from complabel.methods import make_classifier
folder, n_rows = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.standard_normal((500, 100), np.float32)
answers = draw_answers(X[:, :20] > 1, random_state=0)
make_classifier("ridge").fit(X, answers).save(folder + "/m.safetensors")
X = np.lib.format.open_memmap(folder + "/X.npy", "w+", np.float32, (n_rows, 100))
for at in range(0, n_rows, 65_536):
    X[at : at + 65_536] = rng.standard_normal(X[at : at + 65_536].shape, np.float32)
"""


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--formats", nargs="+", default=["csv", "parquet", "jsonl", "csv.gz"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _python(_MAKE, folder, given.rows)
        started = time.perf_counter()
        plain, memory = _measured(_PLAIN, folder / "X.npy")
        print(
            f"{'plain loop, writes nothing':28} {given.rows / plain:12,.0f} rows/s {memory:7.0f} MB"
        )
        for ending in given.formats:
            for label, more in (
                ("", ()),
                (", top 3", ("--top", 3)),
                (", 0/1", ("--threshold", 0.5)),
            ):
                out = folder / f"p.{ending}"
                arguments = ("predict", folder / "m.safetensors", folder / "X.npy", "--out", out)
                seconds, memory = _measured(_PREDICT, *arguments, *more)
                print(
                    f"{'predict, ' + ending + label:28} {given.rows / seconds:12,.0f} rows/s"
                    f" {memory:7.0f} MB  {seconds / plain:6.1f} x the plain loop"
                    f" ({out.stat().st_size / 2**20:,.0f} MB)",
                    flush=True,
                )
                out.unlink()
        print(f"all in {time.perf_counter() - started:.0f} s")


def _measured(code: str, *arguments: object) -> tuple[float, float]:
    """Return the seconds and the peak memory in MB of a process."""
    seconds, memory = _python(code, *arguments).split()[-2:]
    return float(seconds), float(memory)


def _python(code: str, *arguments: object) -> str:
    """Run code in a process of its own, on one thread."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ).stdout


if __name__ == "__main__":
    main()
