"""Blocks of draws, the means of what is yielded in them, and what an interval tells."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def block(draw: int, n: int) -> range:
    """Return the seeds of a block of n draws."""
    return range(n * draw, n * (draw + 1))


def means_of(yielded: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> list[Any]:
    """Return each cell that was yielded, and the means of its figures."""
    found: dict[Any, dict[str, list[Any]]] = {}
    for cell, figures in yielded:
        of_cell = found.setdefault(tuple(cell.items()), {})
        for name, value in figures.items():
            of_cell.setdefault(name, []).append(value)
    return [
        (dict(cell), {name: np.mean(values) for name, values in of_cell.items()})
        for cell, of_cell in found.items()
    ]


def means(measure: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Let a function that yields cells and figures return the means of each cell."""
    return functools.wraps(measure)(lambda *of, **given: means_of(measure(*of, **given)))


def told_by(low: Any, high: Any, truth: Any) -> dict[str, Any]:
    """Return whether an interval holds the truth, and its length."""
    return {"held": (low - 1e-9 <= truth) & (truth <= high + 1e-9), "length": high - low}
