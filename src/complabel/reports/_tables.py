"""The tables of a report, before they are written in any form."""

from __future__ import annotations

from collections.abc import Sequence

from complabel.metrics import METRIC_TITLES
from complabel.reports._terms import Record, number, title_of


def criterion_tables(summary: Record) -> list[Record]:
    """Lay criteria out as the paper does: a row per method, a column per dataset.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    list of dict
        One for each draw and criterion with a result: ``draw``, ``metric``, ``title``, ``higher``,
        ``datasets`` and ``rows``, each with ``title``, ``learns_from``, ``reference`` and ``cells``
        (one per dataset: a cell of the summary with ``best`` and ``complete``, or None).
    """
    by_place = {(c["draw"], c["metric"], c["dataset"], c["row"]): c for c in summary["cells"]}
    tables = []
    for draw in summary["study"]["draws"]:
        for metric in summary["metrics"]:
            columns = [
                _column(
                    [
                        by_place.get((draw["name"], metric["name"], dataset, row["title"]))
                        for row in summary["rows"]
                    ],
                    summary,
                    higher=metric["higher"],
                )
                for dataset in summary["datasets"]
            ]
            if any(cell for column in columns for cell in column):
                tables.append(
                    {
                        "draw": draw["name"],
                        "metric": metric["name"],
                        "title": METRIC_TITLES[metric["name"]],
                        "higher": metric["higher"],
                        "datasets": summary["datasets"],
                        "rows": [
                            {
                                "title": title_of(row),
                                "learns_from": row["learns_from"],
                                "reference": row["title"] == summary["study"]["reference"],
                                "cells": cells,
                            }
                            for row, cells in zip(
                                summary["rows"], zip(*columns, strict=True), strict=True
                            )
                        ],
                    }
                )
    return tables


def _column(
    cells: Sequence[Record | None], summary: Record, *, higher: bool
) -> list[Record | None]:
    """Mark the best printed figure of a dataset among complete rows in competition."""
    folds = summary["study"]["folds"]
    competing = [
        float(number(cell["mean"]))
        for cell, row in zip(cells, summary["rows"], strict=True)
        if cell and cell["folds"] == folds and row["learns_from"] != "relevant"
    ]
    best = (max if higher else min)(competing) if len(competing) > 1 else None
    return [
        cell
        and {
            **cell,
            "complete": cell["folds"] == folds,
            "best": best is not None
            and cell["folds"] == folds
            and row["learns_from"] != "relevant"
            and float(number(cell["mean"])) == best,
        }
        for cell, row in zip(cells, summary["rows"], strict=True)
    ]


def standing_tables(summary: Record) -> list[Record]:
    """Lay out, per draw, how the reference row stands against each other row.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    list of dict
        ``draw`` and ``rows``, each with ``title``, ``cells``, ``plain`` and ``corrected``.
    """
    titles = {row["title"]: title_of(row) for row in summary["rows"]}
    return [
        {"draw": draw["name"], "rows": rows}
        for draw in summary["study"]["draws"]
        for rows in [
            [
                {**counted, "title": titles[counted["row"]]}
                for counted in summary["comparison"]
                if counted["draw"] == draw["name"]
            ]
        ]
        if rows
    ]


def cost_tables(summary: Record) -> list[Record]:
    """Lay time and memory out: a row per method, a column per dataset.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    list of dict
        One for each draw with a result: ``draw``, ``datasets`` and ``rows``, each with ``title``
        and ``cells`` (one per dataset, a cost of the summary or None).
    """
    by_place = {(c["draw"], c["dataset"], c["row"]): c for c in summary["costs"]}
    return [
        {
            "draw": draw["name"],
            "datasets": summary["datasets"],
            "rows": [
                {
                    "title": title_of(row),
                    "cells": [
                        by_place.get((draw["name"], dataset, row["title"]))
                        for dataset in summary["datasets"]
                    ],
                }
                for row in summary["rows"]
            ],
        }
        for draw in summary["study"]["draws"]
        if any(cost["draw"] == draw["name"] for cost in summary["costs"])
    ]


def rank_tables(summary: Record) -> list[Record]:
    """Lay average ranks out: a row per method, a column per criterion.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    list of dict
        One for each draw with ranks: ``draw``, ``metrics`` (titles), ``datasets``,
        ``left_out_rows``, ``left_out_datasets``, ``rows`` (each with ``title``, ``ranks`` and
        ``best``, a flag for each rank), ``friedman`` (p-value for each criterion, or None) and
        ``critical_difference`` (or None).
    """
    tables = []
    for draw in summary["study"]["draws"]:
        ranked = [r for r in summary["rankings"] if r["draw"] == draw["name"] and r["ranks"]]
        if not ranked:
            continue
        first = ranked[0]
        tables.append(
            {
                "draw": draw["name"],
                "metrics": [METRIC_TITLES[ranking["metric"]] for ranking in ranked],
                "datasets": first["datasets"],
                "left_out_rows": first["left_out_rows"],
                "left_out_datasets": first["left_out_datasets"],
                "rows": [
                    {
                        "title": title,
                        "ranks": [ranking["ranks"][i] for ranking in ranked],
                        "best": [
                            ranking["ranks"][i] == min(ranking["ranks"]) for ranking in ranked
                        ],
                    }
                    for i, title in enumerate(first["rows"])
                ],
                "friedman": [r["friedman"] and r["friedman"]["p_value"] for r in ranked],
                "critical_difference": first["critical_difference"],
            }
        )
    return tables
