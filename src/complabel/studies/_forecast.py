"""How long the rest of a study will take, from what its parts have taken so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from complabel.studies._units import Unit


class Forecast:
    """Seconds of units still to come, from those of the same row, dataset first."""

    def __init__(self) -> None:
        self._of_cell: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._of_row: dict[str, list[float]] = defaultdict(list)
        self._all: list[float] = []

    def observe(self, unit: Unit, seconds: float) -> None:
        """Learn how long a unit took.

        Parameters
        ----------
        unit : Unit
        seconds : float
        """
        self._of_cell[unit.dataset, unit.row.title].append(seconds)
        self._of_row[unit.row.title].append(seconds)
        self._all.append(seconds)

    def seconds(self, units: Iterable[Unit], *, n_jobs: int = 1) -> float | None:
        """Return the wall time that units will take, if anything is known yet.

        Parameters
        ----------
        units : iterable of Unit
        n_jobs : int, default=1
            Units that run at once.

        Returns
        -------
        float or None
        """
        if not self._all:
            return None
        expected = sum(self._expected(unit) for unit in units)
        return expected / n_jobs

    def _expected(self, unit: Unit) -> float:
        """Return the mean over the nearest units seen."""
        cell = self._of_cell.get((unit.dataset, unit.row.title))
        return fmean(cell or self._of_row.get(unit.row.title) or self._all)
