"""A study as its tables need it: the plan expanded once, the folds by place."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from complabel.methods import Method, get_method
from complabel.reports._summary import Where
from complabel.studies import ExpandedRow, Plan, StudyResults, UnitResult


@dataclass(frozen=True)
class Places:
    """A study's folds by place.

    Parameters
    ----------
    plan : Plan
    rows : tuple of ExpandedRow
        The plan's rows; each combination of a grid is one of its own.
    methods : mapping of str to Method
        The method of each row, by title of the row.
    datasets : tuple of str
        Those at hand.
    reference : str
        Title of the row that the others are tested against.
    done : mapping of Where to mapping of int to UnitResult
        For each place its finished folds in order, by number; empty where there are none. In the
        order of draws, datasets and rows.
    """

    plan: Plan
    rows: tuple[ExpandedRow, ...]
    methods: Mapping[str, Method]
    datasets: tuple[str, ...]
    reference: str
    done: Mapping[Where, Mapping[int, UnitResult]]


def places_of(results: StudyResults) -> Places:
    """Sort what a study has produced by place; datasets that are missing have none."""
    plan = results.plan
    rows = tuple(plan.expanded_rows())
    datasets = tuple(name for name in plan.datasets if name not in results.missing)
    done: dict[Where, dict[int, UnitResult]] = {
        Where(draw.name, dataset, row.title): {}
        for draw, dataset, row in itertools.product(plan.draws, datasets, rows)
    }
    for unit in sorted(results.having("done"), key=lambda unit: unit.fold):
        done[where(unit)][unit.fold] = unit
    return Places(
        plan=plan,
        rows=rows,
        methods={row.title: get_method(row.method) for row in rows},
        datasets=datasets,
        reference=plan.reference or rows[0].title,
        done=done,
    )


def where(unit: UnitResult) -> Where:
    """Return the place that a unit belongs to."""
    return Where(unit.draw, unit.dataset, unit.row)
