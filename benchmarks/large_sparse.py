"""What do a fit to 35,000 x 5,000 sparse features at 5 % with 15 labels and its memory cost?

Each fit runs in a process of its own with one thread, so that the peak of memory is its own.
"""

from typing import Any

from benchmarks._fits import alone, timed, wide_rows
from complabel.methods import make_classifier

METHODS = ("mlcl", "ml-knn", "fpml", "pml-lc", "pml-fp", "pml-lrs", "l-uw", "gdf", "unbiased-bce")
CELLS = {"method": (*METHODS, "ctl", "comrank")}
QUICK = {"method": ("pml-lrs",)}
TIMES = ("minutes", "gigabytes")


def fit(method: str) -> dict[str, float]:
    """Fit a method; return minutes of the processor."""
    X, named = wide_rows(35_000)
    return {"minutes": timed(lambda: make_classifier(method).fit(X, named))[2] / 60}


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return what a fit takes."""
    found = alone(fit, method=cell["method"])
    return {"minutes": found["minutes"], "gigabytes": found["peak_gb"]}
