"""Rows a second and peak memory of importing Open Images' CSV, beside a loop with Python's csv.

Makes a file of 5,000,000 rows in a temporary folder. The import runs in a process of its own, so
that the peak is its own. Seconds are those of the processor, all threads together. Prints Markdown.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from complabel.importers import Tally, import_file

HEADER = "ImageID,Source,LabelName,Confidence\n"
N_LABELS, PER_IMAGE = 9_600, 9
AT_ONCE = 250_000


def make_file(path: Path, n_rows: int) -> None:
    """Write verified labels of random images, a third of them present, one image after another."""
    rng = np.random.default_rng(0)
    letters = np.array(list("0123456789abcdefghijklmnpqrstvwxyz_"))
    codes = ["/m/" + "".join(rng.choice(letters, rng.integers(4, 8))) for _ in range(N_LABELS)]
    sources = ("verification", "crowdsource-verification")
    with path.open("w") as out:
        out.write(HEADER)
        for start in range(0, n_rows, AT_ONCE):
            n = min(AT_ONCE, n_rows - start)
            images = np.repeat(rng.integers(0, 2**63, n // PER_IMAGE + 1), PER_IMAGE)[:n].tolist()
            labels = (N_LABELS * rng.random(n) ** 3).astype(int).tolist()
            kinds, present = rng.integers(0, 2, n).tolist(), (rng.random(n) < 1 / 3).tolist()
            out.writelines(
                f"{image:016x},{sources[kind]},{codes[label]},{int(is_there)}\n"
                for image, label, kind, is_there in zip(images, labels, kinds, present, strict=True)
            )


def plain(source: Path, out: Path, n_rows: int) -> None:
    """Convert rows as one would write it in five minutes; nothing is checked or counted."""
    with source.open(newline="") as rows, out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label", "answer", "question"])
        for row, _ in zip(csv.DictReader(rows), range(n_rows), strict=False):
            answer = "yes" if float(row["Confidence"]) == 1 else "no"
            writer.writerow([row["ImageID"], row["LabelName"], answer, "asked"])


def measure(source: Path, out: Path, answer) -> None:
    """Import, and report seconds, peak memory and the tally."""
    started = time.process_time()
    tally = import_file(source, out)  # loads pandas and pyarrow, too
    seconds = time.process_time() - started
    answer.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, tally))


def imported(source: Path, out: Path) -> tuple[float, int, Tally]:
    """Import in a fresh process."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=measure, args=(source, out, answer))
    process.start()
    found = answer.get()
    process.join()
    return found


def main() -> None:
    """Make the file, import it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--plain-rows", type=int, default=500_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "verified.csv")
        make_file(source, arguments.rows)
        started = time.process_time()
        plain(source, Path(folder, "plain.csv"), arguments.plain_rows)
        plain_rate = arguments.plain_rows / (time.process_time() - started)
        print(f"{arguments.rows:,} rows, {source.stat().st_size / 1e6:,.0f} MB\n")
        print("| to | rows a second | against csv | peak memory |\n|---|---|---|---|")
        print(f"| csv module, CSV | {plain_rate:,.0f} | 1.0 | |", flush=True)
        for ending in (".csv", ".csv.gz", ".parquet"):
            seconds, peak, tally = imported(source, Path(folder, f"answers{ending}"))
            rate = arguments.rows / seconds
            cells = f"{rate:,.0f} | {rate / plain_rate:.1f} | {peak / 1e9:.2f} GB"
            print(f"| {ending} | {cells} |", flush=True)
        print(f"\n{dict(tally.counts)}")


if __name__ == "__main__":
    main()
