"""Ours beside the paper's, cell by cell, from recorded results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from complabel.errors import InputError
from complabel.methods import get_method
from complabel.metrics import HIGHER_IS_BETTER, METRIC_NAMES, METRIC_TITLES
from complabel.studies._published import Published, published_results

_FAR = 2.0
_PRINTED_PRECISION = 0.0005  # a standard deviation printed as 0.000 is at most this


@dataclass(frozen=True)
class Cell:
    """One criterion of one method on one dataset.

    Parameters
    ----------
    dataset, labels, method, metric : str
    mean, std : float
        Ours, over the folds.
    published : Published or None
        The paper's cell to hold it against, if it has one.
    """

    dataset: str
    labels: str
    method: str
    metric: str
    mean: float
    std: float
    published: Published | None

    @property
    def advantage(self) -> float | None:
        """How many published standard deviations ours is better; negative where it is worse."""
        return None if self.published is None else advantage(self.mean, self.published, self.metric)


def advantage(mean: float, published: Published, metric: str) -> float:
    """Return how many published standard deviations a mean is better; negative where worse.

    Parameters
    ----------
    mean : float
        Ours.
    published : Published
    metric : str
        The criterion, which says whether higher is better.

    Returns
    -------
    float
    """
    gain = mean - published.mean
    better = gain if metric in HIGHER_IS_BETTER else -gain
    return better / max(published.std, _PRINTED_PRECISION)


def read_results(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Read result files written by ``complabel benchmark --json``.

    Parameters
    ----------
    paths : iterable of paths

    Returns
    -------
    list of dict
        The records of all files, one after the other.

    Raises
    ------
    InputError
        If a file cannot be read or holds something else.
    """
    records: list[dict[str, Any]] = []
    for path in paths:
        try:
            loaded = json.loads(Path(path).read_text(encoding="utf-8"))
            records += [record for record in loaded if record["metrics"].keys() & METRIC_NAMES]
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(
                f"{path} cannot be read as results ({error}); give files written by"
                " complabel benchmark --json"
            ) from error
    return records


def compare_with_published(records: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Hold every recorded criterion against the paper's figure for it.

    Parameters
    ----------
    records : sequence of mappings
        As :func:`read_results` returns them.

    Returns
    -------
    list of Cell
        In the order of the records; within one, in that of
        :data:`complabel.metrics.METRIC_NAMES`.
    """
    return list(_cells(records))


def _cells(records: Sequence[Mapping[str, Any]]) -> Iterator[Cell]:
    """Yield a cell for each criterion of each record."""
    for record in records:
        method = get_method(record["method"])
        printed = published_results(record["labels"])
        columns = method.published_columns
        for metric in METRIC_NAMES:
            values = record["metrics"][metric]
            key = (record["dataset"], method.published_as or "", columns.get(metric, ""))
            yield Cell(
                dataset=record["dataset"],
                labels=record["labels"],
                method=method.title + (" †" if method.learns_from == "relevant" else ""),
                metric=metric,
                mean=values["mean"],
                std=values["std"],
                published=printed.get(key),
            )


def comparison_markdown(cells: Iterable[Cell]) -> str:
    """Lay cells out as Markdown, one table for each dataset and way of drawing labels.

    Parameters
    ----------
    cells : iterable of Cell

    Returns
    -------
    str
        Each cell has our mean and standard deviation and below it the published ones, marked
        where they lie more than two published standard deviations apart.
    """
    lines: list[str] = []
    for (dataset, labels), of_table in groupby(cells, key=lambda c: (c.dataset, c.labels)):
        lines += [f"**{dataset}, {labels} labels**", ""]
        lines += ["| method | " + " | ".join(METRIC_TITLES.values()) + " |"]
        lines += ["|---" * (len(METRIC_TITLES) + 1) + "|"]
        for method, of_row in groupby(of_table, key=lambda c: c.method):
            lines += [f"| {method} | " + " | ".join(_written(cell) for cell in of_row) + " |"]
        lines += [""]
    return "\n".join(lines)


def _written(cell: Cell) -> str:
    """Write one cell."""
    ours = f"{cell.mean:.3f}±{cell.std:.3f}"
    if cell.published is None or cell.advantage is None:
        return ours
    mark = ""
    if abs(cell.advantage) > _FAR:
        mark = " ▲" if cell.advantage > 0 else " ▼"
    return f"{ours}<br>({cell.published.mean:.3f}±{cell.published.std:.3f}){mark}"
