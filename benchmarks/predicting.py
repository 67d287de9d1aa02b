"""How fast does ``complabel predict`` write predictions for many rows?

Features are 1,000,000 x 100 float32 in a .npy file (50,000 in a quick cell), the model is linear
with 20 labels. The "loop" over the same file multiplies and takes the sigmoid, and writes nothing:
what any program needs at least. Each runs in a process of its own; the time of ``predict`` includes
that of loading libraries. Figures are rows a second, and the size of the file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MORE = {"": (), "top 3": ("--top", 3), "0/1": ("--threshold", 0.5)}
FILES = [f".{end} {more}".strip() for end in ("csv", "parquet", "jsonl", "csv.gz") for more in MORE]
CELLS = {"rows": (1_000_000, 50_000), "to": ("loop", *FILES)}
QUICK = {"rows": (50_000,), "to": ("loop", ".csv", ".parquet")}
TIMES = ("rows_a_second",)
LOOP = """
import sys, time
import numpy as np
start = time.perf_counter()
X = np.load(sys.argv[1], mmap_mode="r")
W = np.random.default_rng(0).normal(size=(X.shape[1], 20)).astype(np.float32)
for at in range(0, len(X), 65_536):
    1 / (1 + np.exp(-(X[at : at + 65_536] @ W)))
print(time.perf_counter() - start)
"""
PREDICT = """
import sys, time
start = time.perf_counter()
from complabel.cli import main
sys.argv = ["complabel", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(time.perf_counter() - start)
"""
MAKE = """
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


def python(code: str, *arguments: object) -> str:
    """Run code in a process of its own, on one thread."""
    words = [sys.executable, "-c", code, *map(str, arguments)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(words, check=True, capture_output=True, text=True, env=alone).stdout


def measure(*, draw: int, data: Any, rows: int, to: str) -> dict[str, float]:
    """Return rows a second, and the size of the file, in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder, (end, *more) = Path(name), to.split(" ", 1)
        python(MAKE, folder, rows)
        if to == "loop":
            return {"rows_a_second": rows / float(python(LOOP, folder / "X.npy"))}
        out = folder / f"p{end}"
        words = ("predict", folder / "m.safetensors", folder / "X.npy", "--out", out)
        seconds = float(python(PREDICT, *words, *MORE["".join(more)]).split()[-1])
        return {"rows_a_second": rows / seconds, "megabytes": out.stat().st_size / 2**20}
