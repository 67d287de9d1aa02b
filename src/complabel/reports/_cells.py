"""Every criterion of every row: over the folds, beside the paper's, and against the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from complabel.methods import get_method
from complabel.metrics import HIGHER_IS_BETTER, METRIC_NAMES
from complabel.paper import Published, printed_criteria, printed_name, published_cells
from complabel.reports._places import Places
from complabel.reports._terms import Record
from complabel.statistics import judge, summarize
from complabel.studies import Draw, ExpandedRow, Plan, UnitResult

_PRINTED_PRECISION = 0.0005  # a standard deviation printed as 0.000 is at most this


def study_cells(plan: Plan, places: Places) -> list[Record]:
    """Return a record for each criterion of each place with a fold done.

    Parameters
    ----------
    plan : Plan
    places : mapping
        See :data:`Places`.

    Returns
    -------
    list of dict
        ``draw``, ``dataset``, ``row``, ``metric``, ``folds``, ``mean``, ``std`` (None for a single
        fold), ``published`` (``mean`` and ``std``, or None), ``advantage`` (published standard
        deviations by which ours is better, or None), ``plain`` and ``corrected`` (what the two
        tests say of the reference row against this one, or None) and ``tested_folds``.
    """
    return list(_cells(plan, places))


def reference_title(plan: Plan) -> str:
    """Return the title of the row that the others are tested against."""
    return plan.reference or plan.expanded_rows()[0].title


def _cells(plan: Plan, places: Places) -> Iterator[Record]:
    """Yield the records, in the order of draws, datasets, rows and criteria."""
    rows = {row.title: row for row in plan.expanded_rows()}
    draws = {draw.name: draw for draw in plan.draws}
    reference = reference_title(plan)
    for (draw, dataset, title), units in places.items():
        tested_against = () if title == reference else places[draw, dataset, reference]
        for metric in METRIC_NAMES if units else ():
            printed = _published(plan, dataset, draws[draw], rows[title], metric)
            yield {
                "draw": draw,
                "dataset": dataset,
                "row": title,
                "metric": metric,
                **_measured(units, metric),
                **_held_against(printed, units, metric),
                **_tested(tested_against, units, metric, n_folds=plan.folds),
            }


def _by_fold(units: Sequence[UnitResult], metric: str) -> Mapping[int, float]:
    """Return a criterion on each fold that is done."""
    return {unit.fold: unit.metrics[metric] for unit in units}


def _measured(units: Sequence[UnitResult], metric: str) -> Record:
    """Return mean and standard deviation over the folds that are done."""
    values = list(_by_fold(units, metric).values())
    if len(values) == 1:
        return {"folds": 1, "mean": values[0], "std": None}
    over_folds = summarize(values)
    return {"folds": len(values), "mean": over_folds.mean, "std": over_folds.std}


def _published(
    plan: Plan, dataset: str, draw: Draw, row: ExpandedRow, metric: str
) -> Published | None:
    """Return the paper's cell; it has none for draws other than its own two."""
    if draw.labels_per_row != 1 or (draw.scheme == "biased" and draw.sharpness != 1.0):
        return None
    method = get_method(row.method)
    printed_row = row.published or printed_name(method.base)
    printed_metric = printed_criteria(method.base).get(metric, "")
    return published_cells(plan.published).get((dataset, draw.scheme, printed_row, printed_metric))


def _held_against(printed: Published | None, units: Sequence[UnitResult], metric: str) -> Record:
    """Return the paper's cell, and how much better ours is."""
    if printed is None:
        return {"published": None, "advantage": None}
    return {
        "published": {"mean": printed.mean, "std": printed.std},
        "advantage": advantage(_measured(units, metric)["mean"], printed, metric),
    }


def _tested(
    reference: Sequence[UnitResult], units: Sequence[UnitResult], metric: str, *, n_folds: int
) -> Record:
    """Return what the tests say of the reference row, over the folds that both have."""
    ours, theirs = _by_fold(reference, metric), _by_fold(units, metric)
    common = sorted(ours.keys() & theirs.keys())
    if len(common) < 2:
        return {"plain": None, "corrected": None, "tested_folds": 0}
    first, second = [ours[fold] for fold in common], [theirs[fold] for fold in common]
    higher = metric in HIGHER_IS_BETTER
    return {
        "plain": judge(first, second, higher_is_better=higher),
        "corrected": judge(first, second, higher_is_better=higher, test_share=1 / n_folds),
        "tested_folds": len(common),
    }


def advantage(mean: float, published: Published, metric: str) -> float:
    """Return how many published standard deviations a mean is better; negative where worse."""
    gain = mean - published.mean
    better = gain if metric in HIGHER_IS_BETTER else -gain
    return better / max(published.std, _PRINTED_PRECISION)
