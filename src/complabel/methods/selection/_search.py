"""The choice of features, alpha and cardinality by the likelihood of held-out labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from complabel.methods.selection._model import Choices, KernelFeatures, Setting, fit_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features
    from complabel.methods.selection._model import FeatureMap, PreparedFeatures

FIRST_ALPHA = 0.1
_LEAST_ALPHA, _MOST_ALPHA = 1e-6, 1e3
# Half decades of gamma tried to either side of where the search starts.
_GAMMA_STEPS = 2
_CARDINALITIES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
# A climb goes on only for more than this, in nats.
_LEAST_GAIN = 1e-5


class Trials:
    """Settings tried, each fitted once per fold, with the log-likelihood of every held-out row.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
    choices : Choices
        The answers about these rows.
    folds : sequence of (train, test)
        Row indices; the test parts are a partition of all rows.
    on_setting : callable
        Called with the number of settings tried, and the mean log-likelihood of the latest.
    """

    def __init__(
        self,
        X: Features,
        choices: Choices,
        folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
        *,
        on_setting: Callable[[int, float], None],
    ) -> None:
        self._tests = [test for _, test in folds]
        self._choices = [tuple(map(choices.of_rows, fold)) for fold in folds]
        self._features = [(X[train], X[test]) for train, test in folds]
        self._prepared: dict[FeatureMap, list[tuple[PreparedFeatures, Features]]] = {}
        self._on_setting = on_setting
        self.by_row: dict[Setting, NDArray[np.float64]] = {}

    def mean(self, setting: Setting) -> float:
        """Return the mean held-out log-likelihood of a setting."""
        return float(self._of(setting).mean())

    def gains(self, setting: Setting, best: Setting) -> bool:
        """Tell whether a setting has a noticeably greater mean than the best so far."""
        return self.mean(setting) > self.mean(best) + _LEAST_GAIN

    def within_one_error(self, setting: Setting, best: Setting) -> bool:
        """Tell whether a setting is less than one standard error below the best."""
        difference = self._of(best) - self._of(setting)
        return float(difference.mean()) <= _standard_error(difference)

    def results(self, chosen: Setting) -> dict[str, NDArray[Any]]:
        """Return a table of all settings tried, for ``cv_results_``."""
        rows = np.array(list(self.by_row.values()))  # (n_settings, n)
        means = rows.mean(axis=1)
        by_fold = [rows[:, test].mean(axis=1) for test in self._tests]
        differences = rows[means.argmax()] - rows
        return {
            **_parameter_columns(list(self.by_row)),
            "mean_test_score": means,
            "std_test_score": np.std(by_fold, axis=0),
            "rank_test_score": rankdata(-means, method="min").astype(np.int32),
            "standard_error_of_difference": np.array([*map(_standard_error, differences)]),
            "chosen": np.array([setting == chosen for setting in self.by_row]),
        }

    def cardinality_curve(self, chosen: Setting) -> dict[str, NDArray[np.float64]]:
        """Return each cardinality tried with the chosen features, with its best likelihood."""
        best: dict[float, float] = {}
        for setting, by_row in self.by_row.items():
            if setting.features == chosen.features and setting.cardinality is not None:
                known = best.get(setting.cardinality, -math.inf)
                best[setting.cardinality] = max(known, float(by_row.mean()))
        cardinalities = sorted(best)
        return {
            "cardinality": np.array(cardinalities),
            "mean_log_likelihood": np.array([best[c] for c in cardinalities]),
        }

    def _of(self, setting: Setting) -> NDArray[np.float64]:
        """Return the held-out log-likelihood of each row, shape (n,), after a first try."""
        if setting not in self.by_row:
            self.by_row[setting] = self._try(setting)
            self._on_setting(len(self.by_row), float(self.by_row[setting].mean()))
        return self.by_row[setting]

    def _try(self, setting: Setting) -> NDArray[np.float64]:
        """Fit a setting in every fold, and return the log-likelihood of each row when held out.

        Always from the same start: near the optimum L-BFGS stops early, so that a warm start
        would make the result depend on what was tried before.
        """
        by_row = np.empty(sum(map(len, self._tests)))
        parts = zip(self._tests, self._choices, self._prepare(setting.features), strict=True)
        for test, (training, held_out), (prepared, others) in parts:
            model = fit_linear(prepared, training, setting).model
            by_row[test] = held_out.log_likelihood(model(others))
        return by_row

    def _prepare(self, features: FeatureMap) -> list[tuple[PreparedFeatures, Features]]:
        """Return the training and held-out rows of each fold, prepared.

        The latest are kept: a search changes its features only a few times.
        """
        if features not in self._prepared:
            self._prepared.clear()  # frees memory before more is taken
            training = [features.fit_transform(X) for X, _ in self._features]
            self._prepared[features] = [
                (prepared, prepared.transform(others))
                for prepared, (_, others) in zip(training, self._features, strict=True)
            ]
        return self._prepared[features]


def _parameter_columns(settings: Sequence[Setting]) -> dict[str, Any]:
    """Return a masked column for each parameter of settings, as scikit-learn's searches do."""
    columns = {}
    parameters = [setting.parameters for setting in settings]
    for name in dict.fromkeys(itertools.chain.from_iterable(parameters)):
        rows = [row for row, given in enumerate(parameters) if name in given]
        values = np.array([parameters[row][name] for row in rows])
        column = np.ma.MaskedArray(np.empty(len(parameters), values.dtype), mask=True)
        column[rows] = values
        columns[f"param_{name}"] = column
    return columns


def _standard_error(differences: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(differences.std() / math.sqrt(len(differences)))


@dataclass(frozen=True)
class Space:
    """What there is to choose from.

    Parameters
    ----------
    starts : list of Setting
        One setting for each kind of features, the simpler first, where alpha and gamma start.
        Their cardinality does not matter.
    cardinalities : list of float or None
        In increasing order.
    tunes_alpha, tunes_gamma : bool
        Whether alpha and the kernel's gamma are to be chosen.
    """

    starts: list[Setting]
    cardinalities: list[Any]
    tunes_alpha: bool
    tunes_gamma: bool

    def only_setting(self) -> Setting | None:
        """Return the one setting of the space; None if there is a choice."""
        several = len(self.starts) > 1 or len(self.cardinalities) > 1
        kernel = isinstance(self.starts[-1].features, KernelFeatures)
        if several or self.tunes_alpha or (self.tunes_gamma and kernel):
            return None
        return replace(self.starts[0], cardinality=self.cardinalities[0])


class Search:
    """Climbs along one coordinate of the settings after the other, by the held-out likelihood."""

    def __init__(self, trials: Trials, space: Space) -> None:
        self._trials = trials
        self._space = space

    def choose_setting(self) -> Setting:
        """Return the setting to fit.

        The features, with gamma where they are of a kernel, are chosen at a middle cardinality,
        then the cardinality, alpha anew for each, and last alpha in finer steps. Of the
        cardinalities within one standard error of the best, the smallest is taken.
        """
        cardinalities = self._space.cardinalities
        middle = cardinalities[len(cardinalities) // 3]
        candidates = [
            self.tune_gamma(replace(start, cardinality=middle)) for start in self._space.starts
        ]
        best = max(candidates, key=self._trials.mean)
        if len(cardinalities) > 1:
            best = self._smallest_cardinality(self.tune_cardinality(best))
        return self.tune_alpha(best, quarters=1)

    def tune_alpha(self, start: Setting, *, quarters: int = 2) -> Setting:
        """Return the best alpha along steps of so many quarters of a decade."""
        if not self._space.tunes_alpha:
            return start
        at = round(4 * math.log10(start.alpha))

        def further(best: Setting, step: int) -> Setting | None:
            if not _LEAST_ALPHA < best.alpha < _MOST_ALPHA:
                return None
            return replace(best, alpha=three_digits(10 ** ((at + step * quarters) / 4)))

        return self._climb(start, further)

    def tune_gamma(self, start: Setting) -> Setting:
        """Return the best gamma along half decades, alpha anew for each."""
        kernel, best = start.features, self.tune_alpha(start)
        if not (self._space.tunes_gamma and isinstance(kernel, KernelFeatures)):
            return best

        def further(best: Setting, step: int) -> Setting | None:
            if abs(step) > _GAMMA_STEPS:
                return None
            other = replace(kernel, gamma=three_digits(kernel.gamma * 10 ** (step / 2)))
            return self.tune_alpha(replace(best, features=other))

        return self._climb(best, further)

    def tune_cardinality(self, start: Setting) -> Setting:
        """Return the best cardinality of the space or halfway to the best one's neighbours."""
        grid = self._space.cardinalities
        at = grid.index(start.cardinality)

        def further(best: Setting, step: int) -> Setting | None:
            if not 0 <= at + step < len(grid):
                return None
            return self.tune_alpha(replace(best, cardinality=grid[at + step]))

        best = self._climb(start, further)
        at = grid.index(best.cardinality)
        beside = [*grid[max(at - 1, 0) : at], *grid[at + 1 : at + 2]]
        halfway = [round(math.sqrt(grid[at] * other), 2) for other in beside]
        refined = [self.tune_alpha(replace(best, cardinality=c)) for c in halfway]
        return max([best, *refined], key=self._trials.mean)

    def _smallest_cardinality(self, best: Setting) -> Setting:
        """Return the smallest cardinality within one standard error of the best."""
        smallest = best
        tried: set[Any] = {setting.cardinality for setting in self._trials.by_row}
        descending = sorted(tried.union(self._space.cardinalities), reverse=True)
        for c in descending[descending.index(best.cardinality) + 1 :]:
            smaller = self.tune_alpha(replace(smallest, cardinality=c))
            if not self._trials.within_one_error(smaller, best):
                break
            smallest = smaller
        return smallest

    def _climb(self, start: Setting, further: Callable[[Setting, int], Setting | None]) -> Setting:
        """Go on while the likelihood gains: upwards, and downwards if that gained nothing.

        ``further`` takes the best setting so far and the number of the step, 1, 2, ... upwards and
        -1, -2, ... downwards; None is the end of the way.
        """
        best = start
        for direction in (1, -1):
            for step in itertools.count(direction, direction):
                candidate = further(best, step)
                if candidate is None or not self._trials.gains(candidate, best):
                    break
                best = candidate
            if best != start:
                break
        return best


def cardinality_grid(n_labels: int) -> list[float]:
    """Return the cardinalities tried first: from 1 to half the labels."""
    return [1.0, *(c for c in _CARDINALITIES[1:] if c < n_labels / 2)]


def three_digits(value: float) -> float:
    """Round to three digits, so that settings reached in different ways are the same."""
    return float(f"{value:.3g}")
