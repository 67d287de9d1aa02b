"""The answers and minutes that each draw costs, with the average precision that it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from complabel.datasets import CATALOG
from complabel.reports._places import Places
from complabel.reports._summary import AnswerPoint, Cell
from complabel.studies import Draw, answers_of, seconds_of

CRITERION = "average_precision"
"""The criterion in the charts of answers."""


def answer_points(places: Places, cells: Sequence[Cell]) -> Iterator[AnswerPoint]:
    """Yield a point for each row, draw and dataset with complete folds.

    There are no points if all draws ask the same number of the same questions, and none for rows
    that learn from true labels.
    """
    if len({_asked(draw) for draw in places.draws.values()}) < 2:
        return
    sizes = _sizes(places)
    folds = places.plan.folds
    for cell in cells:
        complete = cell.metric == CRITERION and cell.folds == folds
        if not complete or places.rows[cell.row].learns_from == "relevant":
            continue
        if cell.dataset not in sizes:
            continue
        n_samples, n_labels = sizes[cell.dataset]
        n_items, draw = n_samples * (folds - 1) / folds, places.draws[cell.draw]
        n_answers = answers_of(draw, n_items)
        seconds = seconds_of(draw, n_items, n_labels, places.plan.seconds)
        if n_answers is not None and seconds is not None:
            yield AnswerPoint(
                *cell.place,
                n_answers=round(n_answers),
                minutes=seconds / 60,
                mean=cell.mean,
                std=cell.std,
            )


def _asked(draw: Draw) -> tuple[object, ...]:
    """Return the question and the amounts of a draw, without how people answer."""
    amounts = draw.asked_for, draw.answers_per_item, draw.items_share, draw.audit
    return (draw.scheme == "own", draw.question, *amounts)


def _sizes(places: Places) -> Mapping[str, tuple[int, int]]:
    """Return the numbers of instances and labels of datasets, if they are known.

    Finished units store them. For older units without them, the catalog often knows the numbers.
    """
    sizes: dict[str, tuple[int, int]] = {}
    for dataset in places.datasets:
        expected = CATALOG[dataset].expected if dataset in CATALOG else None
        if expected and expected.n_samples and expected.n_labels:
            sizes[dataset] = expected.n_samples, expected.n_labels
    for (_, dataset, _), folds in places.done.items():
        for unit in folds.values():
            if unit.details.get("n_samples") and unit.details.get("n_labels"):
                sizes[dataset] = unit.details["n_samples"], unit.details["n_labels"]
    return sizes
