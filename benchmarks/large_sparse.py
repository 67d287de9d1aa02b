"""Time and peak memory of one fit per method on 35,000 x 5,000 CSR features at 5 %, 15 labels.

Prints Markdown. Each fit runs in a process of its own with one thread, so that the peak is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

import numpy as np

from benchmarks.random_rows import random_rows
from complabel._training import one_thread
from complabel.methods import METHODS, make_classifier

N_SAMPLES, N_FEATURES, DENSITY, N_LABELS = 35_000, 5_000, 0.05, 15


def fit(method: str, parameters: dict[str, object], answer) -> None:
    """Fit one method and report seconds and peak memory."""
    rng = np.random.default_rng(0)
    X = random_rows(N_SAMPLES, N_FEATURES, density=DENSITY, rng=rng)
    chosen = rng.integers(N_LABELS, size=N_SAMPLES)
    complementary = np.eye(N_LABELS, dtype=np.uint8)[chosen]
    classifier = make_classifier(method, **parameters)
    started = time.perf_counter()
    with one_thread():
        classifier.fit(X, complementary)
    seconds = time.perf_counter() - started
    answer.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


def main() -> None:
    """Run the methods named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="+", choices=METHODS, metavar="METHOD")
    parser.add_argument("--jobs", type=int, help="n_jobs of methods that have it")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    print("| method | minutes | peak memory |\n|---|---|---|")
    for method in arguments.methods:
        takes_jobs = "n_jobs" in make_classifier(method).get_params()
        parameters = {"n_jobs": arguments.jobs} if takes_jobs and arguments.jobs else {}
        answer = context.Queue()
        process = context.Process(target=fit, args=(method, parameters, answer))
        process.start()
        seconds, peak = answer.get()
        process.join()
        print(f"| `{method}` | {seconds / 60:.1f} | {peak / 1e9:.2f} GB |", flush=True)


if __name__ == "__main__":
    main()
