"""How many answers each draw takes, and annotators' minutes, beside what was learned from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from complabel.datasets import CATALOG
from complabel.reports._places import Places
from complabel.reports._summary import AnswerPoint, Cell
from complabel.studies import Draw, answers_of, seconds_of

CRITERION = "average_precision"
"""What the charts of answers show."""


def answer_points(places: Places, cells: Sequence[Cell]) -> Iterator[AnswerPoint]:
    """Yield what each row made of the answers of each draw, where its folds are complete.

    There are none if all draws ask the same number of the same questions. Rows that learn from
    true labels have none.
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
    """Return what is asked and how much of it, whatever people answer."""
    amounts = draw.labels_per_row, draw.answers_per_item, draw.items_share, draw.audit
    return (draw.scheme == "own", draw.question, *amounts)


def _sizes(places: Places) -> Mapping[str, tuple[int, int]]:
    """Return how many instances and labels datasets have, where that is known.

    Units say it. Those that ran before they did are about datasets of the catalog, mostly.
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
