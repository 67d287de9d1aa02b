"""The choice of features, alpha and cardinality by the likelihood of held-out labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.methods.selection._features import fit_transform
from complabel.methods.selection._fit import Problem, SelectionObjective, Setting, fit_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_ALPHA = 0.1
_LEAST_ALPHA, _MOST_ALPHA = 1e-6, 1e3
# Half decades of gamma tried to either side of where the search starts.
_GAMMA_STEPS = 2
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
        self._parts = [(problem.rows(train), problem.rows(test)) for train, test in folds]
        self._transformed: tuple[Any, list[tuple[Problem, Problem]]] = (None, [])
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
        for test, (training, held_out) in zip(self._tests, self._parts_of(setting), strict=True):
            model = fit_linear(training, setting).model
            likelihood = SelectionObjective(held_out, cardinality=None)
            by_row[test] = -likelihood.losses(model(held_out.X))
        self.by_row[setting] = by_row

    def _parts_of(self, setting: Setting) -> list[tuple[Problem, Problem]]:
        """Return the parts of each fold with the features that a setting asks for.

        Those of the latest setting are kept: a search changes them only a few times.
        """
        if self._transformed[0] != setting.features:
            self._transformed = (None, [])  # frees memory before more is taken
            self._transformed = (
                setting.features,
                [_transformed(*both, setting) for both in self._parts],
            )
        return self._transformed[1]


def _transformed(training: Problem, held_out: Problem, setting: Setting) -> tuple[Problem, Problem]:
    """Return both parts of a fold with the features that a setting asks for."""
    transform, X = fit_transform(training.X, setting.scaling, setting.kernel)
    if transform is None:
        return training, held_out
    return replace(training, X=X), replace(held_out, X=transform.transform(held_out.X))


def search(
    held_out: HeldOut,
    starts: Sequence[Setting],
    *,
    cardinalities: Sequence[float | None],
    fixed_alpha: bool,
    fixed_gamma: bool,
) -> Setting:
    """Choose features, alpha and cardinality.

    The features, with gamma where they are of a kernel, are chosen at a middle cardinality, then
    the cardinality, alpha anew for each, and last alpha in finer steps. Of the cardinalities
    within one standard error of the best, the smallest is taken.

    Parameters
    ----------
    held_out : HeldOut
    starts : sequence of Setting
        One for each kind of features to choose from, the simpler first; their cardinality does
        not matter.
    cardinalities : sequence of float or None
        Those to choose from, increasing; a single one is taken as it is.
    fixed_alpha, fixed_gamma : bool
        Whether to keep those of the starts.

    Returns
    -------
    Setting
    """
    climb = _Climb(held_out, fixed_alpha=fixed_alpha, fixed_gamma=fixed_gamma)
    middle = cardinalities[len(cardinalities) // 3]
    candidates = [climb.gamma(replace(start, cardinality=middle)) for start in starts]
    best = max(candidates, key=held_out.mean)
    grid = [c for c in cardinalities if c is not None]
    if len(grid) > 1:
        best = climb.smallest_cardinality(climb.cardinality(best, grid), grid)
    return climb.alpha(best, quarters=1)


class _Climb:
    """Walks along one coordinate of the settings while the held-out likelihood improves."""

    def __init__(self, held_out: HeldOut, *, fixed_alpha: bool, fixed_gamma: bool) -> None:
        self._held_out = held_out
        self._fixed_alpha = fixed_alpha
        self._fixed_gamma = fixed_gamma

    def gamma(self, start: Setting) -> Setting:
        """Return the best gamma along half decades, alpha anew for each."""
        best = self.alpha(start)
        if start.kernel is None or self._fixed_gamma:
            return best
        for direction in (1, -1):
            for step in range(1, _GAMMA_STEPS + 1):
                gamma = float(f"{start.kernel.gamma * 10 ** (direction * step / 2):.3g}")
                kernel = replace(start.kernel, gamma=gamma)
                further = self.alpha(replace(best, kernel=kernel))
                if not self._held_out.gains(further, best):
                    break
                best = further
            if best.kernel != start.kernel:
                break
        return best

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
        "gamma": np.array([np.nan if s.kernel is None else s.kernel.gamma for s in settings]),
        "alpha": np.array([setting.alpha for setting in settings]),
        "cardinality": np.array(
            [np.nan if s.cardinality is None else s.cardinality for s in settings]
        ),
        "mean_log_likelihood": means,
        "standard_error_of_difference": np.array(errors),
        "chosen": np.array([setting == chosen for setting in settings]),
    }


def cardinality_curve(held_out: HeldOut, chosen: Setting) -> dict[str, NDArray[np.float64]]:
    """Return each cardinality tried with the chosen features, with its best likelihood."""
    best: dict[float, float] = {}
    for setting in held_out.by_row:
        same = (setting.scaling, setting.kernel) == (chosen.scaling, chosen.kernel)
        if same and setting.cardinality is not None:
            mean = held_out.mean(setting)
            best[setting.cardinality] = max(mean, best.get(setting.cardinality, mean))
    cardinalities = np.array(sorted(best))
    likelihoods = np.array([best[c] for c in cardinalities])
    return {"cardinality": cardinalities, "mean_log_likelihood": likelihoods}


def _standard_error(differences: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(differences.std() / math.sqrt(len(differences)))
