"""What does each way of asking reach, with how many answers, and with which method?

Studies: ``how-to-ask`` (one thing changed at a time), ``time`` (yes or no beside ticked labels),
``supervision`` (beside all true labels), ``positives`` (labels that apply, named),
``matched_methods`` (every method, as it is and matched to label frequencies). Three folds.
Only average precision is kept; ``complabel study report`` has the other criteria.
"""

from typing import Any

from benchmarks._studies import cells_of, rows_of, seconds_of

STUDIES = ("how-to-ask", "time", "supervision", "positives", "matched_methods")
CELLS = cells_of(*STUDIES)
QUICK = {"study": ("positives",), "set": ("scene",)}
NEEDS = ("scene", "yeast", "corel5k")
TIMES = seconds_of(*STUDIES)


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return means over folds, by method; ``draw`` is the seed of all."""
    return rows_of(cell["study"], cell["set"], draw, data, ["average_precision"])
