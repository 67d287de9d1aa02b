"""The choice of features, alpha and cardinality by the likelihood of held-out labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import KFold

from complabel.errors import InputError
from complabel.methods.selection._model import Choices, FeatureMap, Setting, fit_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Features
    from complabel.methods.selection._model import PreparedFeatures

    _Prepared = dict[FeatureMap, list[tuple[PreparedFeatures, Features]]]

FIRST_ALPHA = 0.1
# At the greatest alpha logits vary by 1e-4 between rows, so that only the biases are left; below
# the least one nothing changes any more (digits, scene, yeast).
_LEAST_ALPHA, _MOST_ALPHA = 1e-6, 1e3
# Half decades of gamma tried to either side of one over the mean squared distance: beyond a factor
# of ten the kernel of most rows is either near 1, and linear will do, or 0.
_GAMMA_STEPS = 2
# Each is a third to a half greater than the one before; near the best, means refine them. The last
# is three times the 19 labels of delicious, the most in the catalog.
_CARDINALITIES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
# Nats that a step must gain, or it would walk along a plateau. Standard errors of differences are
# mostly a hundred times greater.
_LEAST_GAIN = 1e-5


@dataclass
class Trials:
    """Settings tried, each fitted once per fold, with the log-likelihood of every held-out row.

    ``on_setting`` is called with the number of settings tried, None, as their total is not known,
    and minus the mean log-likelihood of the latest.
    """

    X: Features
    choices: Choices
    cv: int
    seed: int
    on_setting: Callable[[int, None, float], None]
    by_row: dict[Setting, NDArray[np.float64]] = field(default_factory=dict, init=False)
    _prepared: _Prepared = field(default_factory=dict, init=False)

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
        by_fold = [rows[:, test].mean(axis=1) for _, test in self._folds]
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
        means = [
            (setting.cardinality, float(by_row.mean()))
            for setting, by_row in self.by_row.items()
            if setting.features == chosen.features
        ]
        # In increasing order, so that the best of each cardinality comes last and stays.
        cardinality, mean = np.array(list(dict(sorted(means)).items())).T
        return {"cardinality": cardinality, "mean_log_likelihood": mean}

    def _of(self, setting: Setting) -> NDArray[np.float64]:
        """Return the held-out log-likelihood of each row, shape (n,).

        Each fit starts anew: near the optimum L-BFGS stops early, so that a warm start would make
        the result depend on what was tried before.
        """
        if setting not in self.by_row:
            by_row = np.empty(self.X.shape[0])
            prepared = self._prepare(setting.features)
            for (train, test), (features, others) in zip(self._folds, prepared, strict=True):
                model = fit_linear(features, self.choices.of_rows(train), setting).model
                by_row[test] = self.choices.of_rows(test).log_likelihood(model(others))
            self.by_row[setting] = by_row
            self.on_setting(len(self.by_row), None, -float(by_row.mean()))
        return self.by_row[setting]

    @cached_property
    def _folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Training and held-out rows of each fold."""
        n_samples = self.X.shape[0]
        if n_samples < self.cv:
            raise InputError(
                f"n_samples={n_samples} is less than cv={self.cv}, the folds of the automatic"
                " choices; give alpha, cardinality, scaling and kernel, or more rows"
            )
        return list(KFold(self.cv, shuffle=True, random_state=self.seed).split(self.X))

    def _prepare(self, features: FeatureMap) -> list[tuple[PreparedFeatures, Features]]:
        """Return the training and held-out rows of each fold, prepared.

        Only the latest are kept: a search changes its features only a few times.
        """
        if features not in self._prepared:
            self._prepared.clear()  # frees memory before more is taken
            folds = []
            for train, test in self._folds:
                training = features.fit_transform(self.X[train])
                folds.append((training, training.transform(self.X[test])))
            self._prepared[features] = folds
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


@dataclass
class Search:
    """Climbs along one coordinate of the settings after the other, by the held-out likelihood."""

    trials: Trials
    tunes_alpha: bool
    tunes_gamma: bool

    def choose_setting(
        self,
        features: Sequence[FeatureMap],
        cardinalities: Sequence[float | None],
        *,
        alpha: float,
    ) -> Setting:
        """Return the setting to fit; nothing is tried where there is nothing to choose.

        The features, from simple to complicated and with gamma where they are of a kernel, are
        chosen at a middle cardinality, then the cardinality, alpha anew for each, and last alpha
        in finer steps. Of the cardinalities (increasing) within one standard error of the best,
        the smallest is taken.
        """
        middle = cardinalities[len(cardinalities) // 3]
        kinds = [self.tune_gamma(Setting(each, alpha, middle)) for each in features]
        best = kinds[0] if len(kinds) == 1 else max(kinds, key=self.trials.mean)
        grid = [c for c in cardinalities if c is not None]
        if len(grid) > 1:
            best = self._smallest_cardinality(self.tune_cardinality(best, grid), grid)
        return self.tune_alpha(best, quarters=1)

    def tune_alpha(self, start: Setting, *, quarters: int = 2) -> Setting:
        """Return the best alpha along steps of so many quarters of a decade."""
        if not self.tunes_alpha:
            return start
        at = round(4 * math.log10(start.alpha))

        def further(best: Setting, step: int) -> Setting | None:
            if not _LEAST_ALPHA < best.alpha < _MOST_ALPHA:
                return None
            return replace(best, alpha=three_digits(10 ** ((at + step * quarters) / 4)))

        return self._climb(start, further)

    def tune_gamma(self, start: Setting) -> Setting:
        """Return the best gamma along half decades, alpha anew for each."""
        best, gamma = self.tune_alpha(start), start.features.gamma
        if gamma is None or not self.tunes_gamma:
            return best

        def further(best: Setting, step: int) -> Setting | None:
            if abs(step) > _GAMMA_STEPS:
                return None
            other = replace(start.features, gamma=three_digits(gamma * 10 ** (step / 2)))
            return self.tune_alpha(replace(best, features=other))

        return self._climb(best, further)

    def tune_cardinality(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the best cardinality on the grid or halfway to the best one's neighbours."""
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
        return max([best, *refined], key=self.trials.mean)

    def _smallest_cardinality(self, best: Setting, grid: Sequence[float]) -> Setting:
        """Return the smallest cardinality within one standard error of the best."""
        smallest = best
        tried: set[Any] = {setting.cardinality for setting in self.trials.by_row}
        descending = sorted(tried.union(grid), reverse=True)
        for c in descending[descending.index(best.cardinality) + 1 :]:
            smaller = self.tune_alpha(replace(smallest, cardinality=c))
            if not self.trials.within_one_error(smaller, best):
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
                if candidate is None or not self.trials.gains(candidate, best):
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
