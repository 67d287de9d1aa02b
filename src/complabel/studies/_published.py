"""The figures the paper printed, as data."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

_TABLES = {"uniform": "table2_uniform.csv", "biased": "table3_biased.csv"}


@dataclass(frozen=True)
class Published:
    """A printed cell.

    Parameters
    ----------
    mean, std : float
        Over ten folds.
    """

    mean: float
    std: float


@functools.cache
def published_results(scheme: str) -> Mapping[tuple[str, str, str], Published]:
    """Return the paper's comparison of methods.

    Parameters
    ----------
    scheme : {"uniform", "biased"}
        How complementary labels were drawn: Table 2 or Table 3.

    Returns
    -------
    mapping from (dataset, method, metric) to Published
        Methods by their name in the paper, such as ``"MLCL"``. Empty for any other scheme.

    References
    ----------
    Gao, Xu and Zhang, "Complementary to Multiple Labels: A Correlation-Aware Correction
    Approach", Tables 2 and 3.

    Examples
    --------
    >>> published_results("uniform")["yeast", "MLCL", "average_precision"]
    Published(mean=0.718, std=0.019)
    """
    if scheme not in _TABLES:
        return MappingProxyType({})
    file = resources.files("complabel.studies") / "published" / _TABLES[scheme]
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return MappingProxyType(
        {
            (row["dataset"], row["method"], row["metric"]): Published(
                float(row["mean"]), float(row["std"])
            )
            for row in rows
        }
    )
