"""Which folds are there, for each row of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from complabel.reports._terms import Record
from complabel.studies import StudyResults, UnitResult

Place = tuple[str, str, str]
"""Names of draw, dataset and row."""

Places = Mapping[Place, Sequence[UnitResult]]
"""The units of each place that are done, by fold; empty where there are none."""


def done_by_place(results: StudyResults) -> Places:
    """Return the units that are done under each place of the plan, missing datasets left out."""
    plan = results.plan
    places: dict[Place, list[UnitResult]] = {
        (draw.name, dataset, row.title): []
        for draw in plan.draws
        for dataset in plan.datasets
        if dataset not in results.missing
        for row in plan.expanded_rows()
    }
    for unit in sorted(results.having("done"), key=lambda unit: unit.fold):
        places[unit.draw, unit.dataset, unit.row].append(unit)
    return places


def incomplete_places(results: StudyResults, places: Places) -> list[Record]:
    """Return where folds are missing, with how many there are and why the others are not."""
    counts: dict[Place, dict[str, int]] = {place: {} for place in places}
    for unit in results.units:
        of_place = counts[unit.draw, unit.dataset, unit.row]
        of_place[unit.status] = of_place.get(unit.status, 0) + 1
    return [
        {
            "draw": draw,
            "dataset": dataset,
            "row": row,
            "done": len(units),
            "failed": counts[draw, dataset, row].get("failed", 0),
            "folds": results.plan.folds,
        }
        for (draw, dataset, row), units in places.items()
        if len(units) < results.plan.folds
    ]
