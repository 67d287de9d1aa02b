"""What are the figures of the paper's tables, and of all methods on its group's released labels?

Studies: ``table2`` to ``table6``, ``comrank`` (methods of newer papers), ``released-uniform`` and
``released-biased`` (every method), ``sharpness`` (biased labels, more and less sharply),
``more-labels`` and ``some-relevant``. Data sets are those of the paper that the folder has;
``released/NAME.csv`` beside them has the labels.

Table 2 is shown a second time, as ``beyond``: the exact likelihood beside what the paper prints. A
lower Hamming loss is one of other cuts, too: each method has those that it is published with.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks._studies import cells_of, rows_of, seconds_of
from complabel.metrics import METRICS

STUDIES = (*(f"table{n}" for n in range(2, 7)), "comrank", "released-uniform", "released-biased")
STUDIES += ("sharpness", "more-labels", "some-relevant")
LACKING = ("eurlex_dc", "eurlex_sm", "bookmark")  # no file of theirs was at hand
CELLS = cells_of(*STUDIES, lacking=LACKING)
QUICK = {"study": ("table4",), "set": ("scene",)}
NEEDS = [cell["set"] for cell in CELLS]
TIMES = seconds_of(*STUDIES)


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return means over folds of each criterion, by method; ``draw`` is the seed of all."""
    rows = rows_of(cell["study"], cell["set"], draw, data)
    return [*rows, *beyond(rows)] if cell["study"] == "table2" else rows


def beyond(rows: list[tuple[dict[str, str], dict[str, float]]]) -> Iterator[tuple[Any, Any]]:
    """Return by how much the exact likelihood is ahead of what the paper prints."""
    of = {about["criterion"]: figures for about, figures in rows}
    for criterion, theirs in of.items():
        shown = criterion.removesuffix("_minmax")  # the paper cuts MLCL's scores so
        if "MLCL_printed" not in theirs:
            continue
        ours, sign = of[shown], 2 * METRICS[criterion].higher_is_better - 1
        fit, published = ours["Selection_likelihood"], theirs["MLCL_printed"]
        printed = [value for name, value in (ours | theirs).items() if name.endswith("_printed")]
        best = sign * max(sign * value for value in printed)
        ahead = sign * (fit - published)
        deviation = abs((theirs["MLCL"] - published) / theirs["MLCL_off"])  # the paper's
        figures = {"fit": fit, "ridge": ours["Ridge"], "mlcl": ours["MLCL"]}
        figures |= {"published": published, "best_published": best}
        figures |= {"ahead_of_mlcl": ahead, "ahead_of_best": sign * (fit - best)}
        figures["behind_in_sd"] = max(0.0, -ahead / deviation)
        yield {"study": "beyond", "criterion": shown}, figures
