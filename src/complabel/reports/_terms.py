"""What reports call things, and how they write numbers."""

from __future__ import annotations

import math
from typing import Any, Final

from complabel.statistics import MARKS, Judgement

Record = dict[str, Any]
"""Plain data that JSON can hold."""

DAGGER: Final = "†"
FAR: Final = 2.0
"""Published standard deviations beyond which a difference is called one."""


def title_of(row: Record) -> str:
    """Return a row's title, marked where the method learns from relevant labels."""
    return f"{row['title']} {DAGGER}" if row["learns_from"] == "relevant" else str(row["title"])


def mark_of(cell: Record) -> str:
    """Return the mark of the tests against the reference row; in brackets if the plain one only."""
    judgements: tuple[Judgement | None, Judgement | None] = cell["plain"], cell["corrected"]
    if judgements[0] is None or judgements[0] == "tie":
        return ""
    mark = MARKS[judgements[0]]
    return mark if judgements[0] == judgements[1] else f"({mark})"


def number(value: float) -> str:
    """Write a criterion as the paper does."""
    return f"{value:.3f}"


def signed(advantage: float) -> str:
    """Write how many published standard deviations ours is better, with a true minus sign."""
    return f"{round(advantage, 1) + 0.0:+.1f}".replace("-", "−")  # noqa: RUF001


def quantity(value: float | None, *, digits: int = 3) -> str:
    """Write a time, a size or a parameter; a dash where there is none."""
    return (
        "n/a" if value is None else f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"
    )


def p_value(value: float) -> str:
    """Write a p-value, small ones as a bound."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def measured(value: float) -> float | None:
    """Return a finite number, or None for what was not measured or has no value."""
    return float(value) if math.isfinite(value) else None
