"""The choice of features, alpha and cardinality by the likelihood of held-out answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.methods.selection._features import FeatureMap, three_digits
from complabel.methods.selection._setting import Setting

if TYPE_CHECKING:
    from complabel.methods.selection._trials import Trials

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
# That labels come to mind unequally is to be shown beyond doubt, at the usual 5 %: where labels
# depend on each other the likelihood takes some of that for unequal propensities.
_ERRORS_OF_SPREAD = 2.0
# Kinds of features that are so much worse at the same alpha are not tuned; other settings so much
# worse are not tried with another alpha. Kinds that gain by more rows are behind on few of them.
_ERRORS_OF_KINDS, _ERRORS_ON_FEW_ROWS = 2.0, 3.5
_FAR = 10.0
_ERRORS_OF_ALPHA = 1.0
# Rates of annotators settle within some rounds, to less than what an answer in a hundred comes to.
_MOST_ROUNDS = 5
_LEAST_MOVE = 0.01


@dataclass(frozen=True)
class Space:
    """What a search chooses from; of each the first is where it starts."""

    features: Sequence[FeatureMap]
    cardinalities: Sequence[float | None]
    alpha: float
    ranks: Sequence[int | None] = (None,)
    spreads: Sequence[float | None] = (None,)
    mistakes: Sequence[float | tuple[float, ...] | None] = (None,)
    by_annotator: bool = False

    @property
    def starts(self) -> list[Setting]:
        """The settings that a search begins with, one for each kind of features."""
        middle = self.cardinalities[len(self.cardinalities) // 3]
        first = Setting(
            self.features[0],
            self.alpha,
            middle,
            rank=self.ranks[0],
            spread=None if None in self.spreads else self.spreads[len(self.spreads) // 2],
            mistakes=self.mistakes[0],
        )
        return [replace(first, features=each) for each in self.features]

    def around(self, setting: Setting) -> Space:
        """Return the space in which only alpha and the cardinality are left to choose."""
        return replace(
            self,
            features=[setting.features],
            alpha=setting.alpha,
            ranks=[setting.rank],
            spreads=[setting.spread],
            mistakes=[setting.mistakes],
            by_annotator=False,
        )


@dataclass
class Search:
    """Climbs along one coordinate of the settings after the other, by the held-out likelihood."""

    trials: Trials
    tunes_alpha: bool
    tunes_gamma: bool
    is_first: bool = True  # or it goes on from one on fewer rows
    is_last: bool = True  # or one on more rows goes on from it

    def choose_setting(self, space: Space, starts: Sequence[Setting]) -> Setting:
        """Return the best setting to be found; nothing is tried where there is nothing to choose.

        The cardinality is chosen first, with the simplest features; then the features, from simple
        to complicated and with gamma where they are of a kernel; then the cardinality again; then
        the rank, and whether propensities and mistakes are worth fitting; and last alpha in finer
        steps. Of the cardinalities (increasing) within one standard error of the best, the smallest
        is taken, unless frequencies of labels are known.
        """
        grid = sorted({c for c in space.cardinalities if c is not None})
        if len(grid) > 1:
            grid = _with(grid, *(start.cardinality for start in starts))
        best = self.choose_features(starts, grid)
        if len(grid) > 1:
            grid = _with(grid, best.cardinality)
            best = self.tune_cardinality(best, grid)
            # What random answers say of the cardinality leaves no room for a preference.
            if self.trials.choices.frequencies is None:
                tried = {setting.cardinality for setting in self.trials.by_part}
                best = self._smallest(best, "cardinality", sorted(tried.union(grid)))
        others = [replace(best, rank=rank) for rank in space.ranks if rank != best.rank]
        best = self._best(best, others)
        best = self.tune_spread(best, [each for each in space.spreads if each is not None])
        best = self.tune_along(best, "mistakes", space.mistakes)
        return self.tune_alpha(best, quarters=1)

    def choose_features(self, starts: Sequence[Setting], grid: Sequence[float]) -> Setting:
        """Return the best of several kinds of features, alpha and gamma tuned.

        All are tried with the alpha that they start with, with the one that the first is tuned to,
        and halfway if it is far. Those that are clearly worse than the best of them are not tuned.
        """
        first = self.tune_alpha(starts[0])
        if self.is_first and len(grid) > 1:
            # All of them: where labels are hard to learn there is a valley between few and many.
            others = [replace(first, cardinality=c) for c in grid if c != first.cardinality]
            first = self.tune_alpha(self._best(first, others))
        if len(starts) == 1:
            return self.tune_gamma(first)
        factor = first.alpha / starts[0].alpha
        factors = [factor] if 1 / _FAR < factor < _FAR else [math.sqrt(factor), factor]
        kinds = [first]
        for start in starts[1:]:
            if start.cardinality == starts[0].cardinality:
                start = replace(start, cardinality=first.cardinality)
            others = [replace(start, alpha=three_digits(start.alpha * each)) for each in factors]
            kinds.append(self._best(start, others))
        leader = self._best(first, kinds[1:])
        tuned = [
            self.tune_gamma(self.tune_alpha(each)) for each in kinds if self._is_near(each, leader)
        ]
        return self._best(tuned[0], tuned[1:])

    def finalists(self) -> list[Setting]:
        """Return the best setting of each kind of features that is not clearly worse."""
        kinds: dict[str | None, Setting] = {}
        for setting in sorted(self.trials.by_part, key=self.trials.mean):
            kinds[setting.features.scaling] = setting
        ordered = sorted(kinds.values(), key=self.trials.mean, reverse=True)
        return [each for each in ordered if self._is_near(each, ordered[0])]

    def _is_near(self, setting: Setting, best: Setting) -> bool:
        """Tell whether a setting is not clearly worse than the best."""
        errors = _ERRORS_OF_KINDS if self.is_last else _ERRORS_ON_FEW_ROWS
        return self.trials.within_errors(setting, best, errors=errors)

    def _best(self, best: Setting, others: Sequence[Setting]) -> Setting:
        """Return the best of some settings."""
        for other in others:
            if self.trials.gains(other, best):
                best = other
        return best

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
        """Return the best gamma along half decades, alpha anew where that may help."""
        gamma = start.features.gamma
        if gamma is None or not self.tunes_gamma:
            return start

        def further(best: Setting, step: int) -> Setting | None:
            if abs(step) > _GAMMA_STEPS:
                return None
            other = replace(start.features, gamma=three_digits(gamma * 10 ** (step / 2)))
            return self._anew(replace(best, features=other), best)

        return self._climb(start, further)

    def tune_along(
        self, start: Setting, name: str, grid: Sequence[Any], *, anew: bool = True
    ) -> Setting:
        """Return the best value on an increasing grid, alpha anew where that is to be tried."""
        at = grid.index(getattr(start, name))

        def further(best: Setting, step: int) -> Setting | None:
            if not 0 <= at + step < len(grid):
                return None
            other = replace(best, **{name: grid[at + step]})
            return self._anew(other, best) if anew else other

        return self._climb(start, further)

    def tune_cardinality(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the best cardinality on the grid or halfway to the best one's neighbours."""
        best = self.tune_along(start, "cardinality", grid)
        at = grid.index(best.cardinality)
        beside = [*grid[max(at - 1, 0) : at], *grid[at + 1 : at + 2]]
        halfway = [round(math.sqrt(grid[at] * other), 2) for other in beside]
        refined = [self._anew(replace(best, cardinality=c), best) for c in halfway]
        return self._best(best, refined)

    def tune_spread(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the smallest spread of propensities that is not clearly worse than the best.

        That is the start, without any, if they are not shown beyond doubt.
        """
        if len(grid) < 2:
            return start
        first = start if start.spread is not None else replace(start, spread=grid[len(grid) // 2])
        best = self.tune_along(self.tune_alpha(first), "spread", grid, anew=False)
        if start.spread is None and self.trials.within_errors(
            start, best, errors=_ERRORS_OF_SPREAD
        ):
            return start
        return self._smallest(best, "spread", grid, errors=_ERRORS_OF_SPREAD, anew=False)

    def tune_rates(self, start: Setting) -> Setting:
        """Return a setting with the error rate of each annotator that held-out answers show.

        Better rates make for better predictions, and these for better rates.
        """
        best, rates = start, np.full(self.trials.choices.n_rates, start.mistakes)
        for _ in range(_MOST_ROUNDS):
            found = self.trials.likeliest_rates(best, rates)
            best = self.tune_alpha(replace(best, mistakes=found))
            moved, rates = np.abs(rates - found).max(), np.array(found)
            if moved < _LEAST_MOVE:
                break
        return best

    def _anew(self, setting: Setting, best: Setting) -> Setting:
        """Tune alpha anew where a setting is worse than the best, but not clearly."""
        if self.trials.gains(setting, best):
            return setting  # alpha is tuned when all else is chosen
        if self.trials.within_errors(setting, best, errors=_ERRORS_OF_ALPHA):
            return self.tune_alpha(setting)
        return setting

    def _smallest(
        self,
        best: Setting,
        name: str,
        ascending: Sequence[Any],
        *,
        errors: float = 1.0,
        anew: bool = True,
    ) -> Setting:
        """Return the setting of the smallest value within some standard errors of the best."""
        smallest = best
        for value in reversed(ascending[: ascending.index(getattr(best, name))]):
            smaller = replace(smallest, **{name: value})
            if anew:
                smaller = self._anew(smaller, best)
            if not self.trials.within_errors(smaller, best, errors=errors):
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


def _with(grid: Sequence[float], *more: float | None) -> list[float]:
    """Return an increasing grid with more values."""
    return sorted({*grid, *(value for value in more if value is not None)})


def cardinality_grid(n_labels: int) -> list[float]:
    """Return the cardinalities tried first: from 1 to half the labels."""
    return [1.0, *(c for c in _CARDINALITIES[1:] if c < n_labels / 2)]
