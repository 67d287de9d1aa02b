"""How the rows stand over all datasets: wins, ties and losses, and average ranks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from complabel.errors import InputError
from complabel.metrics import HIGHER_IS_BETTER, METRIC_NAMES
from complabel.reports._places import Places
from complabel.reports._terms import Record, measured
from complabel.statistics import (
    average_ranks,
    critical_difference,
    friedman_test,
    groups_not_different,
    win_tie_loss,
)
from complabel.studies import Plan

_Means = Mapping[tuple[str, str, str, str], float]


def wins_ties_losses(plan: Plan, cells: Sequence[Record]) -> list[Record]:
    """Count how often the reference row was better, equal and worse than each other row.

    Parameters
    ----------
    plan : Plan
    cells : sequence of dict
        See :func:`study_cells`.

    Returns
    -------
    list of dict
        ``draw``, ``row``, ``cells`` (how many were tested), and for ``plain`` and ``corrected``
        the ``wins``, ``ties`` and ``losses`` of the reference; rows without a tested cell are left
        out.
    """
    counts = []
    for draw, row in itertools.product(plan.draws, plan.expanded_rows()):
        tested = [
            cell
            for cell in cells
            if (cell["draw"], cell["row"]) == (draw.name, row.title) and cell["plain"]
        ]
        if tested:
            counts.append(
                {
                    "draw": draw.name,
                    "row": row.title,
                    "cells": len(tested),
                    **{test: _counted(tested, test) for test in ("plain", "corrected")},
                }
            )
    return counts


def _counted(cells: Sequence[Record], test: str) -> Record:
    """Count the judgements of one test."""
    counted = win_tie_loss(cell[test] for cell in cells)
    return {"wins": counted.wins, "ties": counted.ties, "losses": counted.losses}


def rankings(
    plan: Plan, places: Places, *, rows: Sequence[Record], cells: Sequence[Record]
) -> list[Record]:
    """Rank the rows on every dataset, criterion by criterion.

    Rows that learn from relevant labels are out of competition. A row without a complete dataset
    is left out, then every dataset that is not complete for all other rows.

    Parameters
    ----------
    plan : Plan
    places : mapping
        See :data:`Places`.
    rows : sequence of dict
        The summary's rows.
    cells : sequence of dict
        See :func:`study_cells`.

    Returns
    -------
    list of dict
        ``draw``, ``metric``, ``rows``, ``datasets``, ``left_out_rows``, ``left_out_datasets``,
        ``ranks`` (None where nothing can be ranked), ``friedman``, ``critical_difference`` and
        ``groups`` (None where there is too little for a test, with ``reason``).
    """
    means: _Means = {
        (cell["draw"], cell["dataset"], cell["row"], cell["metric"]): cell["mean"] for cell in cells
    }
    return [
        {"draw": draw.name, "metric": metric, **chosen, **_ranked(draw.name, metric, chosen, means)}
        for draw in plan.draws
        for chosen in [_complete(draw.name, rows, places, n_folds=plan.folds)]
        for metric in METRIC_NAMES
    ]


def _complete(draw: str, rows: Sequence[Record], places: Places, *, n_folds: int) -> Record:
    """Choose rows and datasets so that every row is complete on every dataset."""
    competing = [row["title"] for row in rows if row["learns_from"] != "relevant"]
    datasets = list(dict.fromkeys(dataset for _, dataset, _ in places))

    def complete(dataset: str, row: str) -> bool:
        return len(places[draw, dataset, row]) == n_folds

    kept_rows = [row for row in competing if any(complete(dataset, row) for dataset in datasets)]
    kept = [
        dataset
        for dataset in datasets
        if kept_rows and all(complete(dataset, row) for row in kept_rows)
    ]
    return {
        "rows": kept_rows,
        "datasets": kept,
        "left_out_rows": [row for row in competing if row not in kept_rows],
        "left_out_datasets": [dataset for dataset in datasets if dataset not in kept],
    }


def _ranked(draw: str, metric: str, chosen: Record, means: _Means) -> Record:
    """Rank the rows chosen, and test whether their ranks differ."""
    nothing = {"ranks": None, "friedman": None, "critical_difference": None, "groups": None}
    rows, datasets = chosen["rows"], chosen["datasets"]
    if not datasets:
        return {**nothing, "reason": "No dataset is complete for every row."}
    scores = np.array([[means[draw, data, row, metric] for row in rows] for data in datasets])
    ranks = average_ranks(scores, higher_is_better=metric in HIGHER_IS_BETTER)
    try:
        friedman = friedman_test(scores)
    except InputError as error:
        return {**nothing, "ranks": ranks.tolist(), "reason": f"{error}."}
    difference = critical_difference(len(rows), len(datasets))
    return {
        "ranks": ranks.tolist(),
        "friedman": {
            "statistic": friedman.statistic,
            "p_value": friedman.p_value,
            "f_statistic": measured(friedman.f_statistic),
            "f_p_value": friedman.f_p_value,
        },
        "critical_difference": difference,
        "groups": [list(group) for group in groups_not_different(ranks, difference)],
        "reason": "",
    }
