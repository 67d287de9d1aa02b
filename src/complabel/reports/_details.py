"""What is known of rows beside their criteria: cost, curves, matrices, settings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from complabel.metrics import METRIC_NAMES
from complabel.reports._places import Places
from complabel.reports._terms import Record, measured
from complabel.studies import Plan, Row, UnitResult

# Set by the study for each fold, or no setting at all.
_NOT_SETTINGS = {"random_state", "callback"}


def costs(places: Places) -> list[Record]:
    """Return time and memory of each place with a fold done.

    Parameters
    ----------
    places : mapping
        See :data:`Places`.

    Returns
    -------
    list of dict
        ``draw``, ``dataset``, ``row``, ``folds``, ``fit_seconds`` (mean of the folds that did not
        record a learning curve, which takes time, if there are any), ``predict_seconds`` (mean of
        a fold), and ``peak_memory_mb`` (of the fold that took most); None where not measured.
    """
    return [
        {
            **_place(units),
            "folds": len(units),
            "fit_seconds": measured(_fit_seconds(units)),
            "predict_seconds": measured(float(np.mean([unit.predict_seconds for unit in units]))),
            "peak_memory_mb": measured(max(unit.peak_memory_mb for unit in units)),
        }
        for units in places.values()
        if units
    ]


def _fit_seconds(units: Sequence[UnitResult]) -> float:
    """Return the mean time of a fit, without those slowed down by recording a curve."""
    undisturbed = [unit for unit in units if not unit.details.get("curves")]
    return float(np.mean([unit.fit_seconds for unit in undisturbed or units]))


def curves(places: Places) -> list[Record]:
    """Return the mean loss after each epoch of first folds, per ``stage``; None if not finite."""
    return [
        {
            **_place(units),
            "stages": {
                stage: [measured(loss) for loss in losses]
                for stage, losses in units[0].details["curves"].items()
            },
        }
        for units in places.values()
        if units and units[0].details.get("curves")
    ]


def matrices(places: Places) -> list[Record]:
    """Return the matrices over labels of first folds, with the names of the labels."""
    return [
        {
            **_place(units),
            "label_names": list(units[0].details["label_names"]),
            "matrices": dict(units[0].details["matrices"]),
        }
        for units in places.values()
        if units and units[0].details.get("matrices")
    ]


def fitted_scalars(places: Places) -> list[Record]:
    """Return what fitted classifiers report in single values, over the folds.

    Parameters
    ----------
    places : mapping
        See :data:`Places`.

    Returns
    -------
    list of dict
        ``draw``, ``dataset``, ``row``, ``name``; ``mean``, ``min`` and ``max`` of numbers, and
        ``counts`` (how many folds reported each value) of anything else.
    """
    return [
        {**_place(units), "name": name, **_over_folds([unit.fitted[name] for unit in units])}
        for units in places.values()
        if units
        for name in units[0].fitted
        if all(name in unit.fitted for unit in units)
    ]


def _over_folds(values: Sequence[float | int | str]) -> Record:
    """Summarize one scalar."""
    numbers = [float(v) for v in values if not isinstance(v, str) and math.isfinite(v)]
    if len(numbers) == len(values):
        spread = {"mean": float(np.mean(numbers)), "min": min(numbers), "max": max(numbers)}
        return {**spread, "counts": None}
    texts = [str(value) for value in values]
    counts = {text: texts.count(text) for text in dict.fromkeys(texts)}
    return {"mean": None, "min": None, "max": None, "counts": counts}


def settings(plan: Plan, places: Places) -> list[Record]:
    """Return the parameters each row ran with.

    Parameters
    ----------
    plan : Plan
    places : mapping
        See :data:`Places`.

    Returns
    -------
    list of dict
        ``row``, ``parameters`` (those equal everywhere) and ``by_dataset`` (parameter to dataset to
        value, of those that are not).
    """
    described = []
    for row in plan.expanded_rows():
        ran = {
            dataset: dict(units[0].parameters)
            for (_, dataset, title), units in places.items()
            if title == row.title and units
        }
        names = [name for name in next(iter(ran.values()), {}) if name not in _NOT_SETTINGS]
        values = {
            name: {dataset: _plain(used.get(name)) for dataset, used in ran.items()}
            for name in names
        }
        differing = {
            name for name, used in values.items() if len(set(map(repr, used.values()))) > 1
        }
        described.append(
            {
                "row": row.title,
                "parameters": {
                    name: next(iter(used.values()))
                    for name, used in values.items()
                    if name not in differing
                },
                "by_dataset": {name: values[name] for name in names if name in differing},
            }
        )
    return described


def sensitivity(plan: Plan, cells: Sequence[Record]) -> list[Record]:
    """Return the criteria over a parameter, for rows whose grid has one numeric parameter.

    Parameters
    ----------
    plan : Plan
    cells : sequence of dict
        See :func:`study_cells`.

    Returns
    -------
    list of dict
        ``method``, ``parameter``, ``draw``, ``dataset``, ``metric``, and ``points``: a list of
        ``value``, ``mean``, ``std`` and ``published`` (mean or None), by value.
    """
    by_place = {(c["draw"], c["dataset"], c["row"], c["metric"]): c for c in cells}
    return [
        {
            "method": row.method,
            "parameter": parameter,
            "draw": draw.name,
            "dataset": dataset,
            "metric": metric,
            "points": points,
        }
        for row, parameter, values in _numeric_grids(plan)
        for draw in plan.draws
        for metric in METRIC_NAMES
        for dataset in plan.datasets
        for points in [
            [
                _point(value, by_place[draw.name, dataset, title, metric])
                for value, title in sorted(values.items())
                if (draw.name, dataset, title, metric) in by_place
            ]
        ]
        if len(points) > 1
    ]


def _numeric_grids(plan: Plan) -> Iterator[tuple[Row, str, dict[float, str]]]:
    """Yield rows that vary one number: the row, the parameter, and the title of each value."""
    titles = iter([row.title for row in plan.expanded_rows()])
    for row in plan.rows:
        of_row = [next(titles) for _ in row.combinations()]
        if len(row.grid) == 1:
            ((parameter, values),) = row.grid.items()
            if all(
                isinstance(value, int | float) and not isinstance(value, bool) for value in values
            ):
                yield row, parameter, dict(zip(values, of_row, strict=True))


def _point(value: float, cell: Record) -> Record:
    """Return a point of a sensitivity curve."""
    published = cell["published"]
    return {
        "value": value,
        "mean": cell["mean"],
        "std": cell["std"],
        "published": published and published["mean"],
    }


def machines(units: Sequence[UnitResult]) -> list[Record]:
    """Return what units ran on, and how many ran on each."""
    ran = [json.dumps(dict(unit.machine), sort_keys=True) for unit in units if unit.machine]
    return [{**json.loads(machine), "units": ran.count(machine)} for machine in dict.fromkeys(ran)]


def _place(units: Sequence[UnitResult]) -> Record:
    """Return where in the study units belong."""
    return {"draw": units[0].draw, "dataset": units[0].dataset, "row": units[0].row}


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if isinstance(value, bool | int | str | list | None) else str(value)
