"""How every form of the report writes numbers and names, and what it says first."""

from __future__ import annotations

from typing import Final

from complabel.reports._summary import Cell, Row, Summary
from complabel.statistics import MARKS

DAGGER: Final = "†"
MINUS: Final = "−"  # noqa: RUF001  # stands before negative numbers, where a hyphen is too short
FAR: Final = 2.0
"""Published standard deviations beyond which a difference is called one."""

SHADES: Final = (1.0, FAR, 4.0)
"""Published standard deviations from which a difference gets the next stronger colour."""

MATRICES: Final = {
    "initial_transition_": ("S", "transition, as first estimated"),
    "label_correlation_": ("C", "which labels stay possible together"),
    "transition_": ("T", "transition, corrected"),
}
"""Symbol and caption of each matrix, by the attribute of the fitted classifier."""


def title_of(row: Row) -> str:
    """Return a row's title, marked where it is out of competition."""
    return row.title if row.competes else f"{row.title} {DAGGER}"


def mark_of(cell: Cell) -> str:
    """Return the mark of the tests against the reference row; in brackets if the plain one only."""
    if cell.plain is None or cell.plain == "tie":
        return ""
    mark = MARKS[cell.plain]
    return mark if cell.plain == cell.corrected else f"({mark})"


def shade_of(cell: Cell) -> str:
    """Return the CSS class of a cell, such as ``"better-2"``; empty without a published one."""
    if cell.advantage is None:
        return ""
    strength = sum(abs(cell.advantage) > bound for bound in SHADES)
    if strength == 0:
        return "near"
    return f"{'better' if cell.advantage > 0 else 'worse'}-{strength}"


def number(value: float) -> str:
    """Write a criterion as the paper does."""
    return f"{value:.3f}"


def signed(advantage: float) -> str:
    """Write how many published standard deviations ours is better."""
    return f"{round(advantage, 1) + 0.0:+.1f}".replace("-", MINUS)


def quantity(value: float | None, *, digits: int = 3) -> str:
    """Write a time, a size or a parameter."""
    if value is None:
        return "n/a"
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"


def p_value(value: float | None) -> str:
    """Write a p-value, small ones as a bound."""
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def headline(summary: Summary) -> str:
    """Say in a sentence how ours agree with the published figures, or who is best."""
    advantages = _advantages(summary)
    if advantages:
        near = sum(abs(advantage) <= FAR for advantage in advantages)
        better = sum(advantage > FAR for advantage in advantages)
        return (
            f"Of {len(advantages)} figures that the paper printed, {near} lie within {FAR:g} of"
            f" its standard deviations of ours; {better} of ours are better than that and"
            f" {len(advantages) - near - better} worse."
        )
    return " ".join(
        f"{ranking.rows[ranking.ranks.index(min(ranking.ranks))]} has the best average"
        f" rank by average precision with {ranking.draw} labels"
        f" ({number(min(ranking.ranks))} of {len(ranking.rows)})."
        for ranking in summary.rankings
        if ranking.ranks and ranking.metric == "average_precision"
    )


def facts(summary: Summary) -> dict[str, str]:
    """Return the figures that the page starts with, by what they are."""
    found = {
        "rows": str(len(summary.rows)),
        "datasets at hand": f"{len(summary.datasets)} of {len(summary.study.datasets)}",
        "folds": str(summary.study.folds),
        "units done": f"{summary.units.done:,} of {summary.units.planned:,}",
    }
    if advantages := _advantages(summary):
        near = sum(abs(advantage) <= FAR for advantage in advantages)
        found[f"within {FAR:g} published standard deviations"] = f"{near} of {len(advantages)}"
    return found


def _advantages(summary: Summary) -> list[float]:
    """Return by how many published standard deviations ours are better."""
    return [cell.advantage for cell in summary.cells if cell.advantage is not None]
