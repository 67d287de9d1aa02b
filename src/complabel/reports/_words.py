"""How every form of the report writes numbers and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from complabel.reports._summary import Cell, Row
from complabel.statistics import Judgement

DAGGER: Final = "†"
MINUS: Final = "−"  # noqa: RUF001  # stands before negative numbers, where a hyphen is too short
MARKS: Final[Mapping[Judgement, str]] = {"better": "▼", "worse": "▲", "tie": ""}
"""What stands on a cell, by what the tests say of the reference row: down where it is better."""

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

_HOLLOW = str.maketrans("●■▲◆▼✚", "○□△◇▽✛")


def title_of(row: Row) -> str:
    """Return a row's title, marked where it is out of competition."""
    return row.title if row.competes else f"{row.title} {DAGGER}"


def mark_of(cell: Cell) -> str:
    """Return whether a cell is worse (▼) or better (▲) than the reference row, by the tests.

    In brackets where only the plain test says so.
    """
    if cell.plain is None or cell.plain == "tie":
        return ""
    mark = MARKS[cell.plain]
    return mark if cell.plain == cell.corrected else f"({mark})"


def said_of(cell: Cell) -> str:
    """Return in words what the mark of a cell says."""
    if cell.plain is None or cell.plain == "tie":
        return ""
    return "worse" if cell.plain == "better" else "better"


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


def capitalized(text: str) -> str:
    """Begin with a capital, and leave the other letters as they are."""
    return text[:1].upper() + text[1:]


def hollow(marker: str) -> str:
    """Return the outline of a marker that a key shows."""
    return marker.translate(_HOLLOW)
