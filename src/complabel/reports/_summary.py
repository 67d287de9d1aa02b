"""A study in plain data, which every form of the report is a rendering of."""

from __future__ import annotations

import complabel
from complabel.methods import get_method
from complabel.metrics import HIGHER_IS_BETTER, METRIC_NAMES, METRIC_TITLES
from complabel.reports import _details
from complabel.reports._cells import reference_title, study_cells
from complabel.reports._places import done_by_place, incomplete_places
from complabel.reports._standing import rankings, wins_ties_losses
from complabel.reports._terms import Record
from complabel.studies import Plan, StudyResults, UnitResult


def summarize_study(results: StudyResults) -> Record:
    """Summarize what a study has produced so far as plain data.

    Parameters
    ----------
    results : StudyResults
        Need not be complete: what is missing is listed.

    Returns
    -------
    dict
        JSON can hold it. ``complabel`` (the version), ``study`` (the plan), ``metrics``, ``rows``,
        ``datasets`` (those at hand), ``missing`` (datasets, with the reason), ``units`` (how many
        are planned, done, failed, running and pending), ``failed``, ``incomplete``, ``cells``
        (mean, standard deviation, the paper's, and tests against the reference row),
        ``comparison`` (wins, ties and losses of the reference row), ``rankings``, ``costs``,
        ``curves``, ``matrices``, ``sensitivity``, ``fitted``, ``settings`` and ``machines``.
    """
    plan = results.plan
    places = done_by_place(results)
    rows = _rows(plan)
    cells = study_cells(plan, places)
    return {
        "complabel": complabel.__version__,
        "study": _study(plan),
        "metrics": [
            {"name": name, "title": METRIC_TITLES[name], "higher": name in HIGHER_IS_BETTER}
            for name in METRIC_NAMES
        ],
        "rows": rows,
        "datasets": [name for name in plan.datasets if name not in results.missing],
        "missing": dict(results.missing),
        "units": _counts(results),
        "failed": [_failure(unit) for unit in results.having("failed")],
        "incomplete": incomplete_places(results, places),
        "cells": cells,
        "comparison": wins_ties_losses(plan, cells),
        "rankings": rankings(plan, places, rows=rows, cells=cells),
        "costs": _details.costs(places),
        "curves": _details.curves(places),
        "matrices": _details.matrices(places),
        "sensitivity": _details.sensitivity(plan, cells),
        "fitted": _details.fitted_scalars(places),
        "settings": _details.settings(plan, places),
        "machines": _details.machines(results.having("done")),
    }


def _study(plan: Plan) -> Record:
    """Return what the plan says."""
    return {
        "name": plan.name,
        "title": plan.title,
        "description": plan.description,
        "published": plan.published,
        "reference": reference_title(plan),
        "draws": [draw.model_dump() for draw in plan.draws],
        "datasets": list(plan.datasets),
        "folds": plan.folds,
        "seed": plan.seed,
    }


def _rows(plan: Plan) -> list[Record]:
    """Return the rows of the tables."""
    return [
        {
            "title": row.title,
            "method": row.method,
            "method_title": get_method(row.method).title,
            "learns_from": get_method(row.method).learns_from,
            "relevant_per_row": row.relevant_per_row,
        }
        for row in plan.expanded_rows()
    ]


def _counts(results: StudyResults) -> Record:
    """Count units; those of missing datasets are planned, but never in the store."""
    plan = results.plan
    per_dataset = len(plan.draws) * len(plan.expanded_rows()) * plan.folds
    return {
        "planned": per_dataset * len(plan.datasets),
        "without_data": per_dataset * len(results.missing),
        "done": len(results.having("done")),
        "failed": len(results.having("failed")),
        "running": len(results.having("running")),
        "pending": len(results.having("pending")),
    }


def _failure(unit: UnitResult) -> Record:
    """Return what failed, and the last line of why."""
    lines = unit.error.strip().splitlines()
    return {
        "draw": unit.draw,
        "dataset": unit.dataset,
        "row": unit.row,
        "fold": unit.fold,
        "error": lines[-1] if lines else "",
        "traceback": unit.error,
    }
