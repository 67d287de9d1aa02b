"""What do a fit to 35,000 x 5,000 sparse features at 5 % with 15 labels and its memory cost?

Each fit runs in a process of its own with one thread, so that the peak of memory is its own.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from typing import Any

import numpy as np

from benchmarks.random_rows import random_rows
from complabel._training import one_thread
from complabel.methods import make_classifier

SHAPE, DENSITY, N_LABELS = (35_000, 5_000), 0.05, 15
METHODS = ("mlcl", "ml-knn", "fpml", "pml-lc", "pml-fp", "pml-lrs", "l-uw", "gdf", "unbiased-bce")
CELLS = {"method": (*METHODS, "ctl", "comrank")}
QUICK = {"method": ("pml-lrs",)}
TIMES = ("minutes", "gigabytes")


def fit(method: str, answer: Any) -> None:
    """Fit a method; report minutes of the processor and peak memory."""
    rng = np.random.default_rng(0)
    X = random_rows(*SHAPE, density=DENSITY, rng=rng)
    complementary = np.eye(N_LABELS, dtype=np.uint8)[rng.integers(N_LABELS, size=SHAPE[0])]
    classifier, began = make_classifier(method), time.process_time()
    with one_thread():
        classifier.fit(X, complementary)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    answer.put({"minutes": (time.process_time() - began) / 60, "gigabytes": peak})


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what a fit takes."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=fit, args=(cell["method"], answer))
    process.start()
    found = answer.get()
    process.join()
    return found
