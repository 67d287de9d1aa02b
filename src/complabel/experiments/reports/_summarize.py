"""Makes the summary of a study: criteria over folds, tests, ranks, costs, and details of fits.

Yes/no answers and ticked labels are compared at equal time, in units of one yes or no for each
item. Then only a ratio matters: how many times as long as one yes or no a form with labels to tick
takes.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

import complabel
from complabel.errors import InputError
from complabel.experiments import statistics
from complabel.experiments.paper import Published, printed_criteria, printed_name, published_cells
from complabel.experiments.reports import _summary as data
from complabel.experiments.reports._summary import CRITERION, Cell, Place, measured
from complabel.experiments.statistics import critical_difference, judge
from complabel.experiments.studies import (
    Draw,
    Plan,
    Row,
    StudyResults,
    UnitResult,
    amount_of,
    answers_of,
    seconds_of,
)
from complabel.methods import get_method
from complabel.metrics import METRICS

_OF_THE_PLAN = ("name", "title", "description", "published", "folds", "seed", "has_answers")


def summarize_study(results: StudyResults) -> data.Summary:
    """Summarize the results of a study so far.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the summary lists what is missing.

    Returns
    -------
    Summary
    """
    places = _Places(results)
    done, failed = results.having("done"), results.having("failed")
    failures = Counter(map(_place_of, failed))
    folds = results.plan.folds
    cells = tuple(_study_cells(places))
    n_labels = {place[1]: told["n_labels"] for place, told in _first_folds(places, "n_labels")}
    of_the_plan = {name: getattr(results.plan, name) for name in _OF_THE_PLAN}
    return data.Summary(
        complabel=complabel.__version__,
        study=data.Study(
            **of_the_plan,
            reference=places.reference,
            draws=tuple(results.plan.draws),
            datasets=tuple(results.plan.datasets),
            seconds=results.plan.seconds.model_dump(),
        ),
        metrics=tuple(
            data.Metric(name, each.title, each.higher_is_better) for name, each in METRICS.items()
        ),
        rows=tuple(
            data.Row(row.title, row.method, method.title, row.learns_from, row.relevant_per_row)
            for row, method in zip(places.rows.values(), places.methods.values(), strict=True)
        ),
        datasets=places.datasets,
        missing=dict(results.missing),
        units=_units(results, places),
        failed=tuple(
            data.Failure(*_place_of(unit), unit.fold, last_line(unit.error), unit.error)
            for unit in failed
        ),
        incomplete=tuple(
            data.Incomplete(*place, len(units), failures[place], folds)
            for place, units in places.done.items()
            if len(units) < folds
            and places.rows[place[2]].has_answers_under(places.draws[place[0]])
        ),
        cells=cells,
        comparison=tuple(_wins_ties_losses(places, cells)),
        rankings=tuple(_rankings(places, cells)),
        costs=tuple(_costs(places)),
        curves=tuple(
            data.Curves(*place, {k: tuple(map(measured, v)) for k, v in details["curves"].items()})
            for place, details in _first_folds(places, "curves")
        ),
        matrices=tuple(
            data.Matrices(*place, tuple(details["label_names"]), dict(details["matrices"]))
            for place, details in _first_folds(places, "matrices")
        ),
        sensitivity=tuple(_sensitivity(places, cells)),
        answers=tuple(_answer_points(places, cells)),
        ticking=tuple(tickings(results.plan, [c for c in cells if c.folds == folds], n_labels)),
        fitted=tuple(_fitted_scalars(places)),
        settings=tuple(_settings(places, done)),
        machines=tuple(_machines(done)),
    )


def _units(results: StudyResults, places: _Places) -> data.Units:
    """Count units by status; a row has no units under a draw without the answers it needs."""
    plan = results.plan
    pairs = itertools.product(places.rows.values(), plan.draws)
    per_dataset = plan.folds * sum(row.has_answers_under(draw) for row, draw in pairs)
    return data.Units(
        planned=per_dataset * len(plan.datasets),
        without_data=per_dataset * len(results.missing),
        done=len(results.having("done")),
        failed=len(results.having("failed")),
        pending=len(results.having("pending")),
    )


def last_line(traceback: str) -> str:
    return "".join(traceback.strip().splitlines()[-1:])


class _Places:
    """The finished folds of a study by place; missing datasets have no places.

    Each combination of a grid is a row of its own. The others are tested against ``reference``.
    """

    def __init__(self, results: StudyResults) -> None:
        plan = self.plan = results.plan
        self.draws = {draw.name: draw for draw in plan.draws}
        self.rows = {row.title: row for row in plan.expanded_rows()}
        self.methods = {title: get_method(row.method) for title, row in self.rows.items()}
        self.datasets = tuple(name for name in plan.datasets if name not in results.missing)
        self.reference = plan.reference or next(iter(self.rows))
        # The folds of a place by number, in order; empty if none is finished.
        self.done: dict[Place, dict[int, UnitResult]] = {
            place: {} for place in itertools.product(self.draws, self.datasets, self.rows)
        }
        for unit in sorted(results.having("done"), key=lambda unit: unit.fold):
            self.done[_place_of(unit)][unit.fold] = unit


def _place_of(unit: UnitResult) -> Place:
    return unit.draw, unit.dataset, unit.row


_PRINTED_PRECISION = 0.0005  # largest standard deviation that is printed as 0.000

_Values = Mapping[int, float]  # a criterion on each finished fold


def _study_cells(places: _Places) -> Iterator[Cell]:
    for place, folds in places.done.items():
        against = (*place[:2], places.reference)
        reference = {} if place == against else places.done[against]
        for metric in METRICS if folds else ():
            values = {fold: unit.metrics[metric] for fold, unit in folds.items()}
            others = {fold: unit.metrics[metric] for fold, unit in reference.items()}
            array = np.array(list(values.values()))
            mean = float(array.mean())
            published = _published(places, place, metric)
            yield Cell(
                *place,
                metric=metric,
                folds=len(values),
                mean=mean,
                std=float(array.std(ddof=1)) if len(array) > 1 else None,
                published=published,
                advantage=None if published is None else _advantage(mean, published, metric),
                **_judged(others, values, metric, places.plan.folds),
            )


def _published(places: _Places, place: Place, metric: str) -> Published | None:
    """Return the paper's cell, if any; it has two draws only, and no label frequencies."""
    draw, dataset, row = places.draws[place[0]], place[1], places.rows[place[2]]
    if row.label_frequencies or row.match_frequencies or not draw.is_published:
        return None
    method = places.methods[row.title].base
    printed = published_cells(places.plan.published)
    printed_metric = printed_criteria(method).get(metric, "")
    printed_row = row.published or printed_name(method)
    return printed.get((dataset, draw.scheme, printed_row, printed_metric))


def _advantage(mean: float, published: Published, metric: str) -> float:
    """Return how many published standard deviations a mean is better; negative if worse."""
    gain = mean - published.mean
    better = gain if METRICS[metric].higher_is_better else -gain
    return better / max(published.std, _PRINTED_PRECISION)


def _judged(reference: _Values, values: _Values, metric: str, n_folds: int) -> dict[str, Any]:
    """Test the reference row against another one, over the folds that both have."""
    common = sorted(reference.keys() & values.keys())
    if len(common) < 2:
        return {"plain": None, "corrected": None, "tested_folds": 0}
    ours, others = [reference[fold] for fold in common], [values[fold] for fold in common]
    better = {"higher_is_better": METRICS[metric].higher_is_better}
    plain = judge(ours, others, **better)
    corrected = judge(ours, others, **better, test_share=1 / n_folds)
    return {"plain": plain, "corrected": corrected, "tested_folds": len(common)}


def _wins_ties_losses(places: _Places, cells: Sequence[Cell]) -> Iterator[data.Comparison]:
    for draw, row in itertools.product(places.draws, places.rows):
        tested = [cell for cell in cells if (cell.draw, cell.row) == (draw, row)]
        plain = [cell.plain for cell in tested if cell.plain]
        corrected = [cell.corrected for cell in tested if cell.corrected]
        if plain:
            yield data.Comparison(
                draw, row, len(plain), data.WinTieLoss.of(plain), data.WinTieLoss.of(corrected)
            )


def _rankings(places: _Places, cells: Sequence[Cell]) -> Iterator[data.Ranking]:
    means = {(cell.place, cell.metric): cell.mean for cell in cells}
    folds = places.plan.folds
    complete = {place for place, units in places.done.items() if len(units) == folds}
    competing = [title for title, row in places.rows.items() if row.learns_from == "complementary"]
    for draw in places.draws:
        rows = [r for r in competing if any((draw, d, r) in complete for d in places.datasets)]
        datasets = [
            d for d in places.datasets if rows and all((draw, d, r) in complete for r in rows)
        ]
        for metric in METRICS:
            scores = [[means[(draw, d, r), metric] for r in rows] for d in datasets]
            yield data.Ranking(
                draw,
                metric,
                rows=tuple(rows),
                datasets=tuple(datasets),
                left_out_rows=tuple(row for row in competing if row not in rows),
                left_out_datasets=tuple(d for d in places.datasets if d not in datasets),
                **_ranked(scores, higher_is_better=METRICS[metric].higher_is_better),
            )


def _ranked(scores: Sequence[Sequence[float]], *, higher_is_better: bool) -> dict[str, Any]:
    """Rank rows by scores (n_datasets, n_rows), and test whether their ranks differ."""
    if not scores:
        return {"reason": "No dataset is complete for every row."}
    ranks = statistics.average_ranks(scores, higher_is_better=higher_is_better)
    found = {"ranks": tuple(ranks.tolist())}
    try:
        friedman = statistics.friedman_test(scores)
    except InputError as error:
        return {**found, "reason": f"{error}."}
    difference = critical_difference(len(ranks), len(scores))
    if difference >= len(ranks) - 1:
        needed = math.floor(len(scores) * (difference / (len(ranks) - 1)) ** 2) + 1
        reason = (
            f"With only {len(scores)} datasets, no difference between the ranks of {len(ranks)}"
            f" methods can be significant. A test needs at least {needed} datasets."
        )
        return {**found, "reason": reason}
    return {
        **found,
        "friedman": friedman,
        "critical_difference": difference,
        "groups": tuple(statistics.groups_not_different(ranks, difference)),
    }


# The study sets the first for each fold, and the second is not a setting.
_NOT_SETTINGS = {"random_state", "callback"}


def _costs(places: _Places) -> Iterator[data.Cost]:
    for place, folds in places.done.items():
        units = list(folds.values())
        if units:
            undisturbed = [unit for unit in units if not unit.details.get("curves")]
            yield data.Cost(
                *place,
                folds=len(units),
                fit_seconds=measured(np.mean([unit.fit_seconds for unit in undisturbed or units])),
                predict_seconds=measured(np.mean([unit.predict_seconds for unit in units])),
                peak_memory_mb=measured(max(unit.peak_memory_mb for unit in units)),
            )


def _first_folds(places: _Places, detail: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Yield the details of each place's first fold, if it has the wanted detail."""
    for place, folds in places.done.items():
        first = next(iter(folds.values()), None)
        if first is not None and first.details.get(detail):
            yield place, first.details


def _fitted_scalars(places: _Places) -> Iterator[data.FittedScalar]:
    for place, folds in places.done.items():
        fitted = [unit.fitted for unit in folds.values()]
        for name in fitted[0] if fitted else ():
            if all(name in of_fold for of_fold in fitted):
                yield _scalar(place, name, [of_fold[name] for of_fold in fitted])


def _scalar(place: Place, name: str, values: Sequence[float | int | str]) -> data.FittedScalar:
    numbers = [float(v) for v in values if not isinstance(v, str) and math.isfinite(v)]
    if len(numbers) == len(values):
        mean = float(np.mean(numbers))
        return data.FittedScalar(*place, name=name, mean=mean, min=min(numbers), max=max(numbers))
    texts = [str(value) for value in values]
    counts = {text: texts.count(text) for text in dict.fromkeys(texts)}
    return data.FittedScalar(*place, name=name, counts=counts)


def _settings(places: _Places, done: Sequence[UnitResult]) -> Iterator[data.Settings]:
    for row in places.rows:
        ran = {unit.dataset: unit.parameters for unit in done if unit.row == row}
        # From parameter to dataset to value.
        values = {
            name: {dataset: _plain(used.get(name)) for dataset, used in ran.items()}
            for name in next(iter(ran.values()), {})
            if name not in _NOT_SETTINGS
        }
        same = {name for name, used in values.items() if len(set(map(repr, used.values()))) == 1}
        yield data.Settings(
            row=row,
            parameters={n: next(iter(used.values())) for n, used in values.items() if n in same},
            by_dataset={name: used for name, used in values.items() if name not in same},
        )


def _plain(value: object) -> data.Plain:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if isinstance(value, bool | int | str | list | None) else str(value)


def _sensitivity(places: _Places, cells: Sequence[Cell]) -> Iterator[data.Sensitivity]:
    """Yield the criteria over a parameter, for rows whose grid has only one, numeric parameter."""
    by_place = {(cell.place, cell.metric): cell for cell in cells}
    for parameter, rows in _numeric_grids(places):
        by_value = sorted((row.settings[parameter], row.title) for row in rows)
        for draw, metric, dataset in itertools.product(places.draws, METRICS, places.datasets):
            points = tuple(
                data.Point(
                    value, cell.mean, cell.std, cell.published.mean if cell.published else None
                )
                for value, title in by_value
                if (cell := by_place.get(((draw, dataset, title), metric)))
            )
            if len(points) > 1:
                yield data.Sensitivity(rows[0].method, parameter, draw, dataset, metric, points)


def _numeric_grids(places: _Places) -> Iterator[tuple[str, Sequence[Row]]]:
    expanded = iter(places.rows.values())
    for row in places.plan.rows:
        for _ in row.methods():
            of_method = list(itertools.islice(expanded, len(row.combinations())))
            values = [value for values in row.grid.values() for value in values]
            numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            if len(row.grid) == 1 and numeric:
                yield next(iter(row.grid)), of_method


def _machines(done: Sequence[UnitResult]) -> Iterator[Mapping[str, str | int]]:
    ran = [json.dumps(dict(unit.machine), sort_keys=True) for unit in done if unit.machine]
    for machine in dict.fromkeys(ran):
        yield {**json.loads(machine), "units": ran.count(machine)}


def _answer_points(places: _Places, cells: Sequence[Cell]) -> Iterator[data.AnswerPoint]:
    """Yield a point for each place with complete folds, unless all draws ask the same.

    There are none for rows that learn from true labels.
    """
    asked = {  # without how people answer
        (
            *(each.scheme == "own", each.question, each.asked_for),
            *(each.answers_per_item, each.items_share, each.audit),
        )
        for each in places.draws.values()
    }
    if len(asked) < 2:
        return
    folds = places.plan.folds
    for cell in cells:
        complete = cell.metric == CRITERION and cell.folds == folds
        if not complete or places.rows[cell.row].learns_from == "relevant":
            continue
        told = next(iter(places.done[cell.place].values())).details  # by every first fold
        if "n_samples" not in told:
            continue
        n_samples, n_labels = told["n_samples"], told["n_labels"]
        n_items, draw = n_samples * (folds - 1) / folds, places.draws[cell.draw]
        n_answers = answers_of(draw, n_items)
        seconds = seconds_of(draw, n_items, n_labels, places.plan.seconds)
        if n_answers is not None and seconds is not None:
            yield data.AnswerPoint(
                *cell.place,
                n_answers=round(n_answers),
                minutes=seconds / 60,
                mean=cell.mean,
                std=cell.std,
            )


RATIOS: Final = (1.0, 1.5, 3.0, 6.0, 10.0)
"""Ratios of the times that tables compare: ticking all labels of an item, to one yes or no."""

Points: TypeAlias = Sequence[tuple[float, float]]
"""Amounts asked, ascending, each with the average precision that it reaches."""

Bound: TypeAlias = Literal["", "above", "below"]
"""Whether a break-even is only known to lie above or below a number."""


def break_even(one_each: float, ticked: Points) -> tuple[float, Bound]:
    """Return how many times as long as one yes or no a form may take to be as good.

    One yes or no for each item reaches an average precision of ``one_each``. ``ticked`` are
    ascending shares of the items about which a form is ticked, with the average precision. The
    result is one over the least share that reaches ``one_each``, interpolated in the logarithm of
    the share; or a bound, if the least share is better already, or the greatest is not as good.

    >>> times, bound = break_even(0.7, [(0.1, 0.6), (0.4, 0.8)])
    >>> round(times, 6), bound  # halfway between them: a share of .2
    (5.0, '')
    >>> break_even(0.9, [(0.1, 0.6), (0.4, 0.8)])
    (2.5, 'below')
    """
    least, at_least = ticked[0]
    if at_least >= one_each:
        return 1 / least, "above" if at_least > one_each else ""
    for (share, low), (next_share, high) in itertools.pairwise(ticked):
        if high >= one_each:
            along = (one_each - low) / (high - low)
            return 1 / (share * (next_share / share) ** along), ""
    return 1 / ticked[-1][0], "below"


def reached(points: Points, amount: float) -> float | None:
    """Return the average precision at an amount, interpolated in its logarithm.

    Below the least amount nothing is known: None. Above the greatest, nobody asks more.
    """
    if amount < points[0][0] * (1 - 1e-9):
        return None
    for (before, low), (after, high) in itertools.pairwise(points):
        if amount <= after:
            along = math.log(amount / before) / math.log(after / before)
            return low + min(max(along, 0.0), 1.0) * (high - low)
    return points[-1][1]


def times_of_form(ratio: float, n_ticked: int, n_labels: int) -> float:
    """Return how many times as long as one yes or no a form of ``n_ticked`` labels takes.

    ``ratio`` is that of all labels. Each further label takes equally long.
    """
    return 1 + (ratio - 1) * (n_ticked - 1) / max(n_labels - 1, 1)


def compare(asked: Points, ticked: Points, times: float) -> tuple[float | None, ...]:
    """Return by how much ticking is ahead at the times of the yes/no answers; None if unknown.

    A form takes ``times`` as long as one yes or no. If the time is enough for all items, ticking
    stops there.
    """
    reach = [(reached(ticked, time / times), mean) for time, mean in asked]
    return tuple(None if other is None else other - mean for other, mean in reach)


def tickings(
    plan: Plan, cells: Sequence[Cell], n_labels: Mapping[str, int]
) -> Iterator[data.Ticking]:
    """Compare yes/no answers with each form of ticked labels, for each dataset and row.

    ``cells`` are those with all folds; ``n_labels`` are the numbers of labels of the datasets.
    """
    means = {cell.place: cell.mean for cell in cells if cell.metric == CRITERION}
    rows = [row.title for row in plan.expanded_rows() if row.learns_from != "relevant"]
    for dataset, row, (asked, forms) in itertools.product(n_labels, rows, _families(plan.draws)):
        by_question = _points(asked, means, dataset, row)
        one_each = dict(by_question).get(1.0)
        name = next((draw.name for draw in asked if amount_of(draw) == 1), "")
        for question, draws in forms.items():
            ticked = _points(draws, means, dataset, row)
            if one_each is None or len(ticked) < 2:
                continue
            labels = n_labels[dataset]
            n_ticked = draws[0].n_judged(labels)
            times, bound = break_even(one_each, ticked)
            own = plan.seconds.to_judge(labels) / plan.seconds.asked
            ratios = [(ratio, False) for ratio in RATIOS] + [(own, True)]
            yield data.Ticking(
                name,
                dataset,
                row,
                question=question,
                n_ticked=n_ticked,
                asked=by_question,
                ticked=ticked,
                break_even=times,
                bound=bound,
                equal_time=tuple(
                    data.EqualTime(
                        ratio,
                        compare(by_question, ticked, times_of_form(ratio, n_ticked, labels)),
                        own=is_own,
                    )
                    for ratio, is_own in ratios
                ),
            )


def _families(draws: Sequence[Draw]) -> list[tuple[list[Draw], dict[str, list[Draw]]]]:
    """Return yes/no draws, with draws of ticked labels by question; they differ in amounts only."""
    found: dict[str, tuple[list[Draw], dict[str, list[Draw]]]] = {}
    for draw in draws:
        # Two answers about half of the items are another curve than one answer about each.
        if not draw.judges or (draw.items_share < 1 and draw.answers_per_item > 1):
            continue
        alike = f"{draw.error_rate} {draw.missed} {draw.invented} {draw.audit}"
        asked, forms = found.setdefault(alike, ([], {}))
        same = asked if draw.question == "asked" else forms.setdefault(draw.question, [])
        same.append(draw)
    return list(found.values())


def _points(
    draws: Sequence[Draw], means: Mapping[Place, float], dataset: str, row: str
) -> tuple[tuple[float, float], ...]:
    """Return the amounts and means of the draws that are complete, from little to much."""
    known = {
        amount_of(draw): means[draw.name, dataset, row]
        for draw in draws
        if (draw.name, dataset, row) in means
    }
    return tuple(sorted(known.items()))
