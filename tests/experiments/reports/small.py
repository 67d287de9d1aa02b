"""A small study whose results are made up."""

from __future__ import annotations

import math

import numpy as np

from complabel.experiments.studies import Plan, StudyResults, UnitResult
from complabel.metrics import METRICS

ROWS = [
    {"method": "mlcl"},
    {"method": "prior", "title": "a < b & 50 % of_it | x"},
    {"method": "l-uw"},
    {"method": "supervised"},
]
DATASETS = ["scene", "yeast", "corel5k"]
DETAILS = {
    "label_names": ["Sun<set>", "Beach & sea", "snow_y"],
    "matrices": {
        "initial_transition_": [[0.0, 0.4, 0.6], [0.5, 0.0, 0.5], [0.3, 0.7, 0.0]],
        "label_correlation_": [[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]],
        "transition_": [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.4, 0.6, 0.0]],
    },
    "curves": {"selection": [3.0, 2.0, 1.0], "scores": [1.0, math.nan, 0.25]},
}
SIZE = {"n_samples": 900, "n_labels": 6}
SIZES = {"scene": {"n_samples": 2407, "n_labels": 6}}


def make_plan(**changed):
    fields = {
        "name": "small",
        "title": "A <small> study & more",
        "datasets": DATASETS,
        "rows": ROWS,
        "folds": 3,
        "published": "table2",
    }
    return Plan.model_validate(fields | changed)


def make_results(plan, *, change=lambda unit: {}, missing=(), seed=0):
    """Every unit done, with metrics that differ between rows; `change` overrides fields of one."""
    random = np.random.default_rng(seed)
    units = []
    for dataset in plan.datasets:
        for draw in plan.draws:
            for row_number, row in enumerate(plan.expanded_rows()):
                for fold in range(plan.folds):
                    values = 0.3 + 0.1 * row_number + 0.05 * random.random(len(METRICS))
                    fields = {
                        "key": f"{dataset}-{draw.name}-{row_number}-{fold}",
                        "dataset": dataset,
                        "draw": draw.name,
                        "row": row.title,
                        "method": row.method,
                        "parameters": {"random_state": fold, "alpha": len(dataset), "beta": 0.5},
                        "fold": fold,
                        "status": "done",
                        "metrics": dict(zip(METRICS, values.tolist(), strict=True)),
                        "fit_seconds": 1.0 + fold,
                        "predict_seconds": 0.25,
                        "peak_memory_mb": 300.0 + fold,
                        "fitted": {"alpha_": 0.1 * (fold + 1), "rule_": "top"},
                        "details": {}
                        if fold
                        else (DETAILS if row.method == "mlcl" else {}) | SIZES.get(dataset, SIZE),
                        "machine": {"system": "Linux", "torch": "2.9"},
                    }
                    if dataset not in missing:
                        units.append(UnitResult(**fields | change(UnitResult(**fields))))
    reasons = {name: f"put {name}.arff <there>" for name in missing}
    return StudyResults(plan=plan, units=units, missing=reasons)


def failing(unit):
    """Fold 1 of L-UW on yeast failed; nothing of it has run on corel5k."""
    nothing = {
        "metrics": {},
        "fit_seconds": math.nan,
        "predict_seconds": math.nan,
        "peak_memory_mb": math.nan,
        "fitted": {},
        "details": {},
        "machine": {},
    }
    if (unit.row, unit.dataset, unit.fold) == ("L-UW", "yeast", 1):
        return nothing | {"status": "failed", "error": "Traceback:\n  x\nValueError: <no> & never"}
    if (unit.row, unit.dataset) == ("L-UW", "corel5k"):
        return nothing | {"status": "pending"}
    return {}


def folds_of(results, row, dataset, metric):
    return [
        unit.metrics[metric]
        for unit in results.units
        if (unit.row, unit.dataset) == (row, dataset) and unit.status == "done"
    ]


def the_cell(summary, **place):
    cells = summary.cells
    for name, value in place.items():
        cells = cells[cells[name] == value]
    (cell,) = cells.itertuples()
    return cell
