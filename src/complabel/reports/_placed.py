"""Places in the tables of a report, and how JSON holds what is found there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsFloat, TypeAlias

Plain: TypeAlias = "bool | int | float | str | list[Plain] | None"
"""A parameter as JSON can hold it."""

Place: TypeAlias = tuple[str, str, str]
"""A place in the tables: names of the draw and the dataset, title of the row."""


@dataclass(frozen=True)
class Placed:
    """Something about one place in the tables."""

    draw: str
    dataset: str
    row: str

    @property
    def place(self) -> Place:
        """What finds it in the tables."""
        return self.draw, self.dataset, self.row


def measured(value: SupportsFloat) -> float | None:
    """Return a finite number, or None for what was not measured or has no value."""
    return float(value) if math.isfinite(value) else None
