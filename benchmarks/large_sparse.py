"""What do a fit to 35,000 x 5,000 sparse features at 5 % with 15 labels and its memory cost?

Each fit runs in a process of its own with one thread, so that the peak of memory is its own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks._fits import alone
from benchmarks.random_rows import random_rows
from complabel.methods import make_classifier

SHAPE, DENSITY, N_LABELS = (35_000, 5_000), 0.05, 15
METHODS = ("mlcl", "ml-knn", "fpml", "pml-lc", "pml-fp", "pml-lrs", "l-uw", "gdf", "unbiased-bce")
CELLS = {"method": (*METHODS, "ctl", "comrank")}
QUICK = {"method": ("pml-lrs",)}
TIMES = ("minutes", "gigabytes")


def fit(method: str) -> dict[str, float]:
    """Fit a method; return minutes of the processor."""
    rng = np.random.default_rng(0)
    X = random_rows(*SHAPE, density=DENSITY, rng=rng)
    complementary = np.eye(N_LABELS, dtype=np.uint8)[rng.integers(N_LABELS, size=SHAPE[0])]
    classifier, began = make_classifier(method), time.process_time()
    classifier.fit(X, complementary)
    return {"minutes": (time.process_time() - began) / 60}


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what a fit takes."""
    found = alone(fit, method=cell["method"])
    return {"minutes": found["minutes"], "gigabytes": found["peak_gb"]}
