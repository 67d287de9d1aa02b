"""Makes the summary of a study's results, which every form of the report renders."""

from __future__ import annotations

import itertools
from collections import Counter

import complabel
from complabel.metrics import HIGHER_IS_BETTER, METRIC_TITLES
from complabel.reports import _details
from complabel.reports._answers import answer_points
from complabel.reports._places import Places, place_of
from complabel.reports._summary import Failure, Incomplete, Metric, Row, Study, Summary, Units
from complabel.reports._tests import rankings, study_cells, wins_ties_losses
from complabel.studies import StudyResults


def summarize_study(results: StudyResults) -> Summary:
    """Summarize the results of a study so far.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the summary lists what is missing.

    Returns
    -------
    Summary
        The content of the report, as data.
    """
    places = Places(results)
    done, failed = results.having("done"), results.having("failed")
    failures = Counter(map(place_of, failed))
    folds = results.plan.folds
    cells = tuple(study_cells(places))
    return Summary(
        complabel=complabel.__version__,
        study=_study(places),
        metrics=tuple(
            Metric(name, title, name in HIGHER_IS_BETTER) for name, title in METRIC_TITLES.items()
        ),
        rows=tuple(
            Row(row.title, row.method, method.title, row.learns_from, row.relevant_per_row)
            for row, method in zip(places.rows.values(), places.methods.values(), strict=True)
        ),
        datasets=places.datasets,
        missing=dict(results.missing),
        units=_units(results, places),
        failed=tuple(
            Failure(*place_of(unit), unit.fold, last_line(unit.error), unit.error)
            for unit in failed
        ),
        incomplete=tuple(
            Incomplete(*place, len(units), failures[place], folds)
            for place, units in places.done.items()
            if len(units) < folds
            and places.rows[place[2]].has_answers_under(places.draws[place[0]])
        ),
        cells=cells,
        comparison=tuple(wins_ties_losses(places, cells)),
        rankings=tuple(rankings(places, cells)),
        costs=tuple(_details.costs(places)),
        curves=tuple(_details.curves(places)),
        matrices=tuple(_details.matrices(places)),
        sensitivity=tuple(_details.sensitivity(places, cells)),
        answers=tuple(answer_points(places, cells)),
        fitted=tuple(_details.fitted_scalars(places)),
        settings=tuple(_details.settings(places, done)),
        machines=tuple(_details.machines(done)),
    )


def _study(places: Places) -> Study:
    """Return the facts of the plan."""
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
        has_answers=plan.has_answers,
        seconds=plan.seconds.model_dump(),
    )


def _units(results: StudyResults, places: Places) -> Units:
    """Count units by status; a row has no units under a draw without the answers it needs."""
    plan = results.plan
    pairs = itertools.product(places.rows.values(), plan.draws)
    per_dataset = plan.folds * sum(row.has_answers_under(draw) for row, draw in pairs)
    return Units(
        planned=per_dataset * len(plan.datasets),
        without_data=per_dataset * len(results.missing),
        done=len(results.having("done")),
        failed=len(results.having("failed")),
        pending=len(results.having("pending")),
    )


def last_line(traceback: str) -> str:
    """Return the last line of a traceback, which has the error message."""
    return "".join(traceback.strip().splitlines()[-1:])
