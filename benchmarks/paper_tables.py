"""What are the figures of the paper's tables, and of all methods on its group's released labels?

Studies: ``table2`` to ``table6``, ``comrank`` (methods of newer papers), ``released-uniform`` and
``released-biased`` (every method), ``sharpness`` (biased labels, more and less sharply). Data sets
are those of the paper that the folder has; ``released/NAME.csv`` beside them has the labels.
"""

from typing import Any

from benchmarks._studies import cells_of, rows_of, seconds_of

STUDIES = (*(f"table{n}" for n in range(2, 7)), "comrank", "released-uniform", "released-biased")
LACKING = ("eurlex_dc", "eurlex_sm", "bookmark")  # no file of theirs was at hand
CELLS = cells_of(*STUDIES, "sharpness", lacking=LACKING)
QUICK = {"study": ("table4",), "set": ("scene",)}
NEEDS = [cell["set"] for cell in CELLS]
TIMES = seconds_of(*STUDIES, "sharpness")


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return means over folds of each criterion, by method; ``draw`` is the seed of all."""
    return rows_of(cell["study"], cell["set"], draw, data)
