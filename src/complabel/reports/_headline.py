"""What came out of a study, in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from complabel.reports._answers import CRITERION
from complabel.reports._summary import Cell, Summary
from complabel.reports._tables import best_places
from complabel.reports._words import FAR, number


def headline(summary: Summary) -> str:
    """Say what came out, in a sentence or two.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    str
        About figures that the paper printed, if there are any; else about the best row with each
        draw; of a study with many draws, about the draws of its reference row.
    """
    if any(cell.published for cell in summary.cells):
        return _beside_published(summary)
    said = list(_over_draws(summary) if summary.study.has_many_draws else _best_rows(summary))
    return " ".join(said) or "No method is complete yet."


def _beside_published(summary: Summary) -> str:
    """Count the published figures that were met."""
    found = [cell.advantage for cell in summary.cells if cell.advantage is not None]
    near = sum(abs(advantage) <= FAR for advantage in found)
    better = sum(advantage > FAR for advantage in found)
    return (
        f"Of {len(found)} figures that the paper printed, {near} lie within {FAR:g} of its"
        f" standard deviations of ours; {better} of ours are better than that and"
        f" {len(found) - near - better} worse."
    )


def _complete(summary: Summary) -> list[Cell]:
    """Return average precision where all folds are done."""
    folds = summary.study.folds
    return [cell for cell in summary.cells if cell.metric == CRITERION and cell.folds == folds]


def _best_rows(summary: Summary) -> Iterator[str]:
    """Say which rows are the best with each draw."""
    (metric,) = (metric for metric in summary.metrics if metric.name == CRITERION)
    for draw in summary.study.draws:
        cells = [cell for cell in _complete(summary) if cell.draw == draw.name]
        best = list(best_places(summary, metric, cells))
        datasets = {dataset for _, dataset, _ in best}
        wins = Counter(row for *_, row in best)
        most = max(wins.values(), default=0)
        winners = [row for row, count in wins.items() if count == most]
        if not winners:
            continue
        where = f"with {summary.study.labels_of(draw.name)}"
        if len(datasets) == 1:
            (dataset,) = datasets
            value = next(c.mean for c in cells if (c.dataset, c.row) == (dataset, winners[0]))
            where = f"on {dataset}, {where}: {number(value)}"
        else:
            share = f"all {most}" if most == len(datasets) else f"{most} of {len(datasets)}"
            where = f"on {share} datasets, {where}"
        verb = "have" if len(winners) > 1 else "has"
        yield f"{_listed(winners)} {verb} the highest average precision {where}."


def _over_draws(summary: Summary) -> Iterator[str]:
    """Say between which draws the reference row goes from bad to good."""
    reference = summary.study.reference
    spans = []
    for dataset in summary.datasets:
        cells = [c for c in _complete(summary) if (c.dataset, c.row) == (dataset, reference)]
        if len(cells) > 1:
            low, high = (pick(cells, key=lambda cell: cell.mean) for pick in (min, max))
            spans.append(
                f"on {dataset} from {number(low.mean)} ({low.draw}) to {number(high.mean)}"
                f" ({high.draw})"
            )
    if spans:
        yield (
            f"By how people are asked, the average precision of {reference} goes {'; '.join(spans)}."
        )


def _listed(names: Sequence[str]) -> str:
    """Join names as a sentence does."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
