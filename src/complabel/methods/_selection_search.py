"""The choice of scaling, alpha and cardinality by the likelihood of held-out labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.methods._selection_fit import Problem, SelectionObjective, Setting, fit_setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_ALPHA = 0.1
_LEAST_ALPHA, _MOST_ALPHA = 1e-6, 1e3
_CARDINALITIES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
# A climb goes on only for more than this, in nats, lest it wander along a plateau.
_LEAST_GAIN = 1e-5


class HeldOut:
    """Held-out log-likelihoods of settings, each fitted once per fold and remembered.

    Parameters
    ----------
    problem : Problem
    folds : sequence of (train, test)
        Row indices; the test parts are a partition of all rows.
    on_setting : callable
        Called with the number of settings tried, and the mean log-likelihood of the latest.
    """

    def __init__(
        self,
        problem: Problem,
        folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
        *,
        on_setting: Callable[[int, float], None],
    ) -> None:
        self._n_samples = problem.X.shape[0]
        self._tests = [test for _, test in folds]
        self._training = [problem.rows(train) for train, _ in folds]
        self._held_out = [problem.rows(test) for test in self._tests]
        self._on_setting = on_setting
        self.by_row: dict[Setting, NDArray[np.float64]] = {}

    def mean(self, setting: Setting) -> float:
        """Return the mean held-out log-likelihood of a setting."""
        if setting not in self.by_row:
            self._try(setting)
            self._on_setting(len(self.by_row), float(self.by_row[setting].mean()))
        return float(self.by_row[setting].mean())

    def cardinalities(self) -> set[float]:
        """Return the cardinalities tried so far."""
        return {s.cardinality for s in self.by_row if s.cardinality is not None}

    def gains(self, setting: Setting, best: Setting) -> bool:
        """Tell whether a setting has a noticeably greater mean than the best so far."""
        return self.mean(setting) > self.mean(best) + _LEAST_GAIN

    def within_one_error(self, setting: Setting, best: Setting) -> bool:
        """Tell whether a setting is less than one standard error below the best."""
        difference = self.by_row[best] - self.by_row[setting]
        return float(difference.mean()) <= _standard_error(difference)

    def _try(self, setting: Setting) -> None:
        """Fit a setting in every fold.

        Always from the same start: near the optimum L-BFGS stops early, so that a warm start
        would make the result depend on what was tried before.
        """
        by_row = np.empty(self._n_samples)
        folds = zip(self._tests, self._training, self._held_out, strict=True)
        for test, training, held_out in folds:
            model = fit_setting(training, setting, warn=False).model
            likelihood = SelectionObjective(held_out, cardinality=None)
            by_row[test] = -likelihood.losses(model(held_out.X))
        self.by_row[setting] = by_row


def search(
    held_out: HeldOut,
    *,
    scalings: Sequence[str],
    alpha: float | None,
    cardinalities: Sequence[float | None],
) -> Setting:
    """Choose scaling, alpha and cardinality.

    The scaling is chosen at a middle cardinality, then the cardinality, alpha anew for each, and
    last alpha in finer steps. Of the cardinalities within one standard error of the best, the
    smallest is taken.

    Parameters
    ----------
    held_out : HeldOut
    scalings : sequence of str
        Those to choose from.
    alpha : float or None
        None to choose it.
    cardinalities : sequence of float or None
        Those to choose from, increasing; a single one is taken as it is.

    Returns
    -------
    Setting
    """
    climb = _Climb(held_out, fixed_alpha=alpha is not None)
    middle = cardinalities[len(cardinalities) // 3]
    first = _FIRST_ALPHA if alpha is None else alpha
    candidates = [climb.alpha(Setting(scaling, first, middle)) for scaling in scalings]
    best = max(candidates, key=held_out.mean)
    grid = [c for c in cardinalities if c is not None]
    if len(grid) > 1:
        best = climb.smallest_cardinality(climb.cardinality(best, grid), grid)
    return climb.alpha(best, quarters=1)


class _Climb:
    """Walks along one coordinate of the settings while the held-out likelihood improves."""

    def __init__(self, held_out: HeldOut, *, fixed_alpha: bool) -> None:
        self._held_out = held_out
        self._fixed_alpha = fixed_alpha

    def alpha(self, start: Setting, *, quarters: int = 2) -> Setting:
        """Return the best alpha along steps of so many quarters of a decade."""
        best = start
        if self._fixed_alpha:
            return best
        for step in (quarters, -quarters):
            while _LEAST_ALPHA < best.alpha < _MOST_ALPHA:
                further = replace(best, alpha=_move(best.alpha, step))
                if not self._held_out.gains(further, best):
                    break
                best = further
            if best != start:
                break
        return best

    def cardinality(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the best cardinality on the grid or halfway to the best one's neighbours."""
        best = start
        for neighbours in (1, -1):
            at = grid.index(start.cardinality) + neighbours
            while 0 <= at < len(grid):
                further = self.alpha(replace(best, cardinality=grid[at]))
                if not self._held_out.gains(further, best):
                    break
                best, at = further, at + neighbours
            if best != start:
                break
        halfway = [self.alpha(replace(best, cardinality=c)) for c in _halfway(best, grid)]
        return max([best, *halfway], key=self._held_out.mean)

    def smallest_cardinality(self, best: Setting, grid: Sequence[float]) -> Setting:
        """Return the smallest cardinality within one standard error of the best."""
        smallest = best
        tried = self._held_out.cardinalities()
        below = [c for c in {*grid, *tried} if c < (best.cardinality or 0)]
        for c in sorted(below, reverse=True):
            smaller = self.alpha(replace(smallest, cardinality=c))
            if not self._held_out.within_one_error(smaller, best):
                break
            smallest = smaller
        return smallest


def cardinality_grid(n_labels: int) -> list[float]:
    """Return the cardinalities tried first: from 1 to half the labels."""
    return [1.0, *(c for c in _CARDINALITIES[1:] if c < n_labels / 2)]


def _move(alpha: float, quarters: int) -> float:
    """Return the power of ten^(1/4), to three digits, so many steps from the one next to alpha."""
    return float(f"{10 ** ((round(4 * math.log10(alpha)) + quarters) / 4):.3g}")


def _halfway(best: Setting, grid: Sequence[float]) -> list[float]:
    """Return the geometric means of a cardinality on the grid and those beside it."""
    at = grid.index(best.cardinality)
    beside = [*grid[max(at - 1, 0) : at], *grid[at + 1 : at + 2]]
    return [round(math.sqrt(grid[at] * other), 2) for other in beside]


def results_table(held_out: HeldOut, chosen: Setting) -> dict[str, NDArray[Any]]:
    """Return all settings tried, with means and their standard errors against the best."""
    settings = list(held_out.by_row)
    rows = np.array([held_out.by_row[setting] for setting in settings])  # (n_settings, n)
    means = rows.mean(axis=1)
    errors = [_standard_error(rows[means.argmax()] - row) for row in rows]
    return {
        "scaling": np.array([setting.scaling for setting in settings]),
        "alpha": np.array([setting.alpha for setting in settings]),
        "cardinality": np.array(
            [np.nan if s.cardinality is None else s.cardinality for s in settings]
        ),
        "mean_log_likelihood": means,
        "standard_error_of_difference": np.array(errors),
        "chosen": np.array([setting == chosen for setting in settings]),
    }


def cardinality_curve(
    results: dict[str, NDArray[Any]], chosen: Setting
) -> dict[str, NDArray[np.float64]]:
    """Return each cardinality tried at the chosen scaling, with its best likelihood."""
    same = results["scaling"] == chosen.scaling
    tried, means = results["cardinality"][same], results["mean_log_likelihood"][same]
    cardinalities = np.unique(tried)
    best = np.array([means[tried == c].max() for c in cardinalities])
    return {"cardinality": cardinalities, "mean_log_likelihood": best}


def _standard_error(differences: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(differences.std() / math.sqrt(len(differences)))
