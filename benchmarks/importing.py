"""How fast is a large file of Open Images imported, beside a loop with Python's csv?

A file of verified labels with 5,000,000 rows is made (200,000 in a quick cell). The import runs in
a process of its own, so that the peak of memory is its own. Seconds are those of the processor, all
threads together. The loop converts rows; nothing is checked or counted.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._fits import alone, timed
from complabel.importers import import_file

CELLS = {"rows": (5_000_000, 200_000), "to": ("loop", ".csv", ".csv.gz", ".parquet")}
QUICK, TIMES = {"rows": (200_000,)}, ("rows_a_second", "memory")
N_LABELS, PER_IMAGE, AT_ONCE = 9_600, 9, 250_000


def make_file(path: Path, n_rows: int) -> None:
    """Write verified labels of random images, a third of them present, one image after another."""
    rng = np.random.default_rng(0)
    letters = np.array(list("0123456789abcdefghijklmnpqrstvwxyz_"))
    codes = ["/m/" + "".join(rng.choice(letters, rng.integers(4, 8))) for _ in range(N_LABELS)]
    sources = ("verification", "crowdsource-verification")
    with path.open("w") as out:
        out.write("ImageID,Source,LabelName,Confidence\n")
        for start in range(0, n_rows, AT_ONCE):
            n = min(AT_ONCE, n_rows - start)
            images = np.repeat(rng.integers(0, 2**63, n // PER_IMAGE + 1), PER_IMAGE)[:n].tolist()
            labels = (N_LABELS * rng.random(n) ** 3).astype(int).tolist()
            kinds, present = rng.integers(0, 2, n).tolist(), (rng.random(n) < 1 / 3).tolist()
            out.writelines(
                f"{image:016x},{sources[kind]},{codes[label]},{int(is_there)}\n"
                for image, label, kind, is_there in zip(images, labels, kinds, present, strict=True)
            )


def loop(source: Path, out: Path) -> None:
    """Convert rows as one would write it in five minutes."""
    with source.open(newline="") as rows, out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label", "answer", "question"])
        for row in csv.DictReader(rows):
            answer = "yes" if float(row["Confidence"]) == 1 else "no"
            writer.writerow([row["ImageID"], row["LabelName"], answer, "asked"])


def imported(way: Any, source: Path, out: Path) -> dict[str, float]:
    """Import; return the seconds of the processor."""
    return {"seconds": timed(lambda: way(source, out))[2]}  # loads pandas and pyarrow, too


def measure(*, draw: int, data: Any, rows: int, to: str) -> dict[str, float]:
    """Return rows a second, and the most memory."""
    with tempfile.TemporaryDirectory() as folder:
        source, way = Path(folder, "verified.csv"), loop if to == "loop" else import_file
        make_file(source, rows)
        out = Path(folder, "answers.csv" if to == "loop" else f"answers{to}")
        found = alone(imported, way=way, source=source, out=out)
    return {"rows_a_second": rows / found["seconds"], "memory": found["peak_gb"]}
