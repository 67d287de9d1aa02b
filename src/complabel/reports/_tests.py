"""Every criterion over the folds, beside the paper's, tested against the reference, and ranked."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from complabel.errors import InputError
from complabel.metrics import HIGHER_IS_BETTER, METRIC_NAMES
from complabel.paper import Published, printed_criteria, printed_name, published_cells
from complabel.reports._places import Places
from complabel.reports._summary import Cell, Comparison, Friedman, Ranking, Where, measured
from complabel.statistics import (
    Judgement,
    average_ranks,
    critical_difference,
    friedman_test,
    groups_not_different,
    judge,
    summarize,
    win_tie_loss,
)
from complabel.studies import Draw, ExpandedRow, UnitResult

_PRINTED_PRECISION = 0.0005  # a standard deviation printed as 0.000 is at most this

_Values = Mapping[int, float]  # a criterion on each fold that is done


def study_cells(places: Places) -> Iterator[Cell]:
    """Yield each criterion of each place with a fold done."""
    rows = {row.title: row for row in places.rows}
    draws = {draw.name: draw for draw in places.plan.draws}
    for where, folds in places.done.items():
        against = Where(where.draw, where.dataset, places.reference)
        reference = {} if where == against else places.done[against]
        for metric in METRIC_NAMES if folds else ():
            values = _by_fold(folds, metric)
            mean, std = _over_folds(values)
            published = _published(
                places, draws[where.draw], where.dataset, rows[where.row], metric
            )
            tests = _judged(_by_fold(reference, metric), values, metric, places.plan.folds)
            yield Cell(
                *where,
                metric=metric,
                folds=len(values),
                mean=mean,
                std=std,
                published=published,
                advantage=None if published is None else _advantage(mean, published, metric),
                plain=tests.plain,
                corrected=tests.corrected,
                tested_folds=tests.folds,
            )


def _by_fold(folds: Mapping[int, UnitResult], metric: str) -> _Values:
    """Return a criterion on each fold."""
    return {fold: unit.metrics[metric] for fold, unit in folds.items()}


def _over_folds(values: _Values) -> tuple[float, float | None]:
    """Return the mean, and the standard deviation of more than one fold."""
    if len(values) == 1:
        return next(iter(values.values())), None
    over_folds = summarize(list(values.values()))
    return over_folds.mean, over_folds.std


def _published(
    places: Places, draw: Draw, dataset: str, row: ExpandedRow, metric: str
) -> Published | None:
    """Return the paper's cell; it has none for draws other than its own two."""
    if draw.labels_per_row != 1 or (draw.scheme == "biased" and draw.sharpness != 1.0):
        return None
    method = places.methods[row.title]
    printed_row = row.published or printed_name(method.base)
    printed_metric = printed_criteria(method.base).get(metric, "")
    printed = published_cells(places.plan.published)
    return printed.get((dataset, draw.scheme, printed_row, printed_metric))


def _advantage(mean: float, published: Published, metric: str) -> float:
    """Return how many published standard deviations a mean is better; negative where worse."""
    gain = mean - published.mean
    better = gain if metric in HIGHER_IS_BETTER else -gain
    return better / max(published.std, _PRINTED_PRECISION)


class _Judged(NamedTuple):
    """What the two tests say of the reference row against another."""

    plain: Judgement | None
    corrected: Judgement | None
    folds: int


def _judged(reference: _Values, values: _Values, metric: str, n_folds: int) -> _Judged:
    """Test over the folds that both rows have, if there are two."""
    common = sorted(reference.keys() & values.keys())
    if len(common) < 2:
        return _Judged(None, None, 0)
    ours, others = [reference[fold] for fold in common], [values[fold] for fold in common]
    higher = metric in HIGHER_IS_BETTER
    return _Judged(
        judge(ours, others, higher_is_better=higher),
        judge(ours, others, higher_is_better=higher, test_share=1 / n_folds),
        len(common),
    )


def wins_ties_losses(places: Places, cells: Sequence[Cell]) -> Iterator[Comparison]:
    """Yield for each draw and row how often the reference row was better, equal and worse."""
    for draw, row in itertools.product(places.plan.draws, places.rows):
        place = (draw.name, row.title)
        plain = [c.plain for c in cells if (c.draw, c.row) == place and c.plain]
        corrected = [c.corrected for c in cells if (c.draw, c.row) == place and c.corrected]
        if plain:
            yield Comparison(*place, len(plain), win_tie_loss(plain), win_tie_loss(corrected))


def rankings(places: Places, cells: Sequence[Cell]) -> Iterator[Ranking]:
    """Yield the ranks of the rows over the datasets, for each draw and criterion."""
    means = {(cell.where, cell.metric): cell.mean for cell in cells}
    for draw in places.plan.draws:
        chosen = _complete(places, draw.name)
        for metric in METRIC_NAMES:
            scores = [
                [means[Where(draw.name, dataset, row), metric] for row in chosen.rows]
                for dataset in chosen.datasets
            ]
            yield _ranked(Ranking(draw.name, metric, *chosen), scores)


class _Complete(NamedTuple):
    """Rows and datasets such that every row is complete on every dataset, and the others."""

    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out_rows: tuple[str, ...]
    left_out_datasets: tuple[str, ...]


def _complete(places: Places, draw: str) -> _Complete:
    """Choose the rows and datasets to rank."""
    competing = [title for title, m in places.methods.items() if m.learns_from != "relevant"]

    def complete(dataset: str, row: str) -> bool:
        return len(places.done[Where(draw, dataset, row)]) == places.plan.folds

    rows = [row for row in competing if any(complete(data, row) for data in places.datasets)]
    datasets = [data for data in places.datasets if rows and all(complete(data, r) for r in rows)]
    return _Complete(
        rows=tuple(rows),
        datasets=tuple(datasets),
        left_out_rows=tuple(row for row in competing if row not in rows),
        left_out_datasets=tuple(data for data in places.datasets if data not in datasets),
    )


def _ranked(ranking: Ranking, scores: Sequence[Sequence[float]]) -> Ranking:
    """Rank rows by scores, shape (n_datasets, n_rows), and test whether their ranks differ."""
    if not scores:
        return dataclasses.replace(ranking, reason="No dataset is complete for every row.")
    ranks = average_ranks(scores, higher_is_better=ranking.metric in HIGHER_IS_BETTER)
    ranking = dataclasses.replace(ranking, ranks=tuple(ranks.tolist()))
    try:
        friedman = friedman_test(np.array(scores))
    except InputError as error:
        return dataclasses.replace(ranking, reason=f"{error}.")
    difference = critical_difference(len(ranking.rows), len(ranking.datasets))
    return dataclasses.replace(
        ranking,
        friedman=Friedman(
            statistic=friedman.statistic,
            p_value=friedman.p_value,
            f_statistic=measured(friedman.f_statistic),
            f_p_value=friedman.f_p_value,
        ),
        critical_difference=difference,
        groups=tuple(groups_not_different(ranks, difference)),
    )
