"""The main result of a study, in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from complabel.reports._answers import CRITERION
from complabel.reports._summary import Cell, Summary
from complabel.reports._tables import best_places
from complabel.reports._words import FAR, number

_NAMED = 3  # most datasets that a sentence names


def headline(summary: Summary) -> str:
    """Return the main result of a study, in a sentence or two.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    str
        If the paper has figures, the text compares ours with them. Else it names the best row for
        each draw. In a study with many draws, it compares the draws of the reference row.
    """
    if any(cell.published for cell in summary.cells):
        return _beside_published(summary)
    said = list(_over_draws(summary) if summary.study.has_many_draws else _best_rows(summary))
    return " ".join(said) or _without_rivals(summary)


def _beside_published(summary: Summary) -> str:
    """Count how many figures are close to the published ones."""
    found = [cell.advantage for cell in summary.cells if cell.advantage is not None]
    near = sum(abs(advantage) <= FAR for advantage in found)
    better = sum(advantage > FAR for advantage in found)
    return (
        f"The paper printed {len(found)} of these figures. {near} of ours are within {FAR:g} of its"
        f" standard deviations; {better} are better than that, and {len(found) - near - better}"
        " are worse."
    )


def _without_rivals(summary: Summary) -> str:
    """Say which rows are complete, if there is nothing to compare them with."""
    complete = {cell.row for cell in _complete(summary)}
    rows = [row.title for row in summary.rows if row.title in complete]
    if not rows:
        return "No method is complete yet."
    return (
        f"Complete so far: {_listed(rows)}. A comparison needs two methods without † that are"
        " complete on the same dataset."
    )


def _complete(summary: Summary) -> list[Cell]:
    """Return the cells of average precision with all folds done."""
    folds = summary.study.folds
    return [cell for cell in summary.cells if cell.metric == CRITERION and cell.folds == folds]


def _best_rows(summary: Summary) -> Iterator[str]:
    """Yield sentences with the best rows; draws with the same best rows share a sentence."""
    (metric,) = (metric for metric in summary.metrics if metric.name == CRITERION)
    said: dict[str, list[str]] = {}
    for draw in summary.study.draws:
        cells = [cell for cell in _complete(summary) if cell.draw == draw.name]
        winners: dict[str, list[str]] = {}
        for _, dataset, row in best_places(summary, metric, cells):
            winners.setdefault(dataset, []).append(row)
        if winners:
            said.setdefault(_winning(winners), []).append(draw.name)
    for sentence, draws in said.items():
        several = len(summary.study.draws) > 1
        yield sentence + (f" (draw{'s' * (len(draws) > 1)} {_listed(draws)})" * several) + "."


def _winning(winners: Mapping[str, Sequence[str]]) -> str:
    """Return which rows have the highest average precision, from the best ones on each dataset."""
    names = {tuple(rows) for rows in winners.values()}
    if len(names) == 1:
        (rows,) = names
        verb = "have" if len(rows) > 1 else "has"
        where = f"all {len(winners)} datasets" if len(winners) > _NAMED else _listed([*winners])
        return f"{_listed(rows)} {verb} the highest average precision on {where}"
    if len(winners) <= _NAMED:
        each = [f"{_listed(rows)} on {dataset}" for dataset, rows in winners.items()]
        return f"The best by average precision: {'; '.join(each)}"
    wins = Counter(row for rows in winners.values() for row in rows)
    most = max(wins.values())
    leaders = [row for row, count in wins.items() if count == most]
    each_of = " each" if len(leaders) > 1 else ""
    verb = "have" if len(leaders) > 1 else "has"
    return (
        f"{_listed(leaders)} {verb} the highest average precision on {most} of {len(winners)}"
        f" datasets{each_of}"
    )


def _over_draws(summary: Summary) -> Iterator[str]:
    """Yield a sentence with the worst and the best draw of the reference row."""
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
            f"The average precision of {reference} depends on how people are asked:"
            f" {'; '.join(spans)}."
        )


def _listed(names: Sequence[str]) -> str:
    """Join names with commas and "and"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
