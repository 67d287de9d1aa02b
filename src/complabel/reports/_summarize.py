"""From the results of a study to the summary that every form of the report renders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import complabel
from complabel.metrics import HIGHER_IS_BETTER, METRIC_NAMES, METRIC_TITLES
from complabel.reports import _details
from complabel.reports._places import Places, places_of, where
from complabel.reports._summary import Failure, Incomplete, Metric, Row, Study, Summary, Units
from complabel.reports._tests import rankings, study_cells, wins_ties_losses
from complabel.studies import StudyResults


def summarize_study(results: StudyResults) -> Summary:
    """Summarize what a study has produced so far.

    Parameters
    ----------
    results : StudyResults
        Need not be complete: what is missing is listed.

    Returns
    -------
    Summary
        What the report says, as data.
    """
    places = places_of(results)
    done = results.having("done")
    cells = tuple(study_cells(places))
    return Summary(
        complabel=complabel.__version__,
        study=_study(places),
        metrics=tuple(
            Metric(name, METRIC_TITLES[name], name in HIGHER_IS_BETTER) for name in METRIC_NAMES
        ),
        rows=_rows(places),
        datasets=places.datasets,
        missing=dict(results.missing),
        units=_units(results, len(places.rows)),
        failed=tuple(_failures(results)),
        incomplete=tuple(_incomplete(results, places)),
        cells=cells,
        comparison=tuple(wins_ties_losses(places, cells)),
        rankings=tuple(rankings(places, cells)),
        costs=tuple(_details.costs(places)),
        curves=tuple(_details.curves(places)),
        matrices=tuple(_details.matrices(places)),
        sensitivity=tuple(_details.sensitivity(places, cells)),
        fitted=tuple(_details.fitted_scalars(places)),
        settings=tuple(_details.settings(places, done)),
        machines=tuple(_details.machines(done)),
    )


def _study(places: Places) -> Study:
    """Return what the plan says."""
    plan = places.plan
    return Study(
        name=plan.name,
        title=plan.title,
        description=plan.description,
        published=plan.published,
        reference=places.reference,
        draws=tuple(plan.draws),
        datasets=tuple(plan.datasets),
        folds=plan.folds,
        seed=plan.seed,
    )


def _rows(places: Places) -> tuple[Row, ...]:
    """Return the rows of the tables."""
    return tuple(
        Row(
            title=row.title,
            method=row.method,
            method_title=places.methods[row.title].title,
            learns_from=places.methods[row.title].learns_from,
            relevant_per_row=row.relevant_per_row,
        )
        for row in places.rows
    )


def _units(results: StudyResults, n_rows: int) -> Units:
    """Count units by status."""
    plan = results.plan
    per_dataset = len(plan.draws) * n_rows * plan.folds
    return Units(
        planned=per_dataset * len(plan.datasets),
        without_data=per_dataset * len(results.missing),
        done=len(results.having("done")),
        failed=len(results.having("failed")),
        running=len(results.having("running")),
        pending=len(results.having("pending")),
    )


def _failures(results: StudyResults) -> Iterator[Failure]:
    """Yield what failed, and why."""
    for unit in results.having("failed"):
        yield Failure(*where(unit), unit.fold, last_line(unit.error), unit.error)


def last_line(traceback: str) -> str:
    """Return the last line of a traceback, which says what went wrong."""
    return "".join(traceback.strip().splitlines()[-1:])


def _incomplete(results: StudyResults, places: Places) -> Iterator[Incomplete]:
    """Yield the places where folds are missing."""
    failed = Counter(where(unit) for unit in results.having("failed"))
    for place, folds in places.done.items():
        if len(folds) < results.plan.folds:
            yield Incomplete(*place, len(folds), failed[place], results.plan.folds)
