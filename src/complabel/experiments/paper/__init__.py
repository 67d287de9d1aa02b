"""What the paper printed, as data: its methods, their settings, its plans and its tables."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any

__all__ = ["PLANS"]

TABLES = ("table2", "table3", "table4", "table5", "table6")
"""The paper's tables of results; for each, a plan comes with the package."""

PLANS = (*TABLES, "comrank", "how-to-ask", "more-labels", "some-relevant", "spml")
"""All plans that come with the package: the paper's tables, ComRank's, and our own."""

# The authors of MLCL chose these from 1e-1, 1e-2 and 1e-3 for each dataset. We never tune them.
_LEARNING_RATES = {
    "yeast": 1e-1,
    "scene": 1e-2,
    "corel5k": 1e-2,
    "corel16k": 1e-2,
    "eurlex_dc": 1e-3,
    "eurlex_sm": 1e-3,
    "bookmark": 1e-3,
    "delicious": 1e-3,
}
# The methods that are trained with the dataset's learning rate.
_TRAINED = {"mlcl", "l-uw", "gdf", "unbiased-bce", "ctl", "comrank", "supervised-bce"}

_PRINTED = {
    "mlcl": "MLCL",
    "ml-knn": "ML-KNN",
    "lift": "LIFT",
    "fpml": "fPML",
    "pml-lc": "PML-lc",
    "pml-lrs": "PML-LRS",
    "l-uw": "L-UW",
}
# The printed Hamming loss of these methods uses label sets cut at the middle of a row's range.
_CUT_BY_ROW = {"mlcl"}
_RANKING = ("ranking_loss", "one_error", "coverage", "average_precision")


def settings(method: str, dataset: str) -> dict[str, Any]:
    """Return the parameters that the paper states for a method on a dataset; empty if none."""
    if method in _TRAINED and dataset in _LEARNING_RATES:
        return {"learning_rate": _LEARNING_RATES[dataset]}
    return {}


def printed_name(method: str) -> str:
    """Return the name of a method in the paper's Tables 2 and 3; empty if they do not have it."""
    return _PRINTED.get(method, "")


def printed_criteria(method: str) -> dict[str, str]:
    """Map our criteria to the paper's, of which only the Hamming loss may have another name."""
    hamming = "hamming_loss_minmax" if method in _CUT_BY_ROW else "hamming_loss"
    return {hamming: "hamming_loss", **{name: name for name in _RANKING}}


def plan_text(name: str) -> str:
    """Return the text of one of :data:`PLANS`, as TOML."""
    plans = resources.files(__name__) / "plans"
    return (plans / f"{name}.toml").read_text(encoding="utf-8")


# The file of each table, its column with the row, and how all labels were drawn; if that is empty,
# the column "labels" says it.
_FILES = {
    "table2": ("table2_uniform.csv", "method", "uniform"),
    "table3": ("table3_biased.csv", "method", "biased"),
    "table4": ("table4_ablation.csv", "variant", ""),
    "table5": ("table5_beta.csv", "beta", "uniform"),
    "table6": ("table6_relevant_labels.csv", "method", "uniform"),
}
_ONLY = "average_precision"  # the one criterion of a file without a column "metric"


@dataclass(frozen=True)
class Published:
    """A cell of a table in the paper: mean and standard deviation over ten folds."""

    mean: float
    std: float


@functools.cache
def published_cells(table: str) -> Mapping[tuple[str, str, str, str], Published]:
    """Return one of the paper's Tables 2 to 6, by (dataset, scheme, row, metric).

    ``row`` is the name in the paper, such as ``"MLCL"``. The mapping is empty for any other table.

    >>> published_cells("table5")["yeast", "uniform", "0.1", "average_precision"]
    Published(mean=0.714, std=0.019)
    """
    if table not in _FILES:
        return MappingProxyType({})
    name, row_column, scheme = _FILES[table]
    file = resources.files(__name__) / "tables" / name
    cells = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        drawn, metric = scheme or row["labels"], row.get("metric", _ONLY)
        mean = row["mean"] if "mean" in row else row[f"{_ONLY}_mean"]
        place = row["dataset"], drawn, row[row_column], metric
        cells[place] = Published(float(mean), float(row["std"]))
    return MappingProxyType(cells)
