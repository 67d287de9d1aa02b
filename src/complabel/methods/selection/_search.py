"""The choice of features, alpha, cardinality and more by the likelihood of held-out answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from complabel._parameters import AnyArray, Array, Features, Ints
from complabel.answers import Answers
from complabel.methods.selection._blocks import PreparedBlocks, SomeRows
from complabel.methods.selection._features import (
    FeatureMap,
    PreparedFeatures,
    in_trials,
    three_digits,
)
from complabel.methods.selection._known import OneSided, Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._mistakes import are_determined, balanced_rates
from complabel.methods.selection._penalties import Penalty
from complabel.methods.selection._trials import Trials, results_of

FIRST_ALPHA = 0.1
# At the greatest alpha, logits differ by only 1e-4 between rows, so that only the biases are left.
# Below the least alpha, nothing changes any more (digits, scene, yeast).
_LEAST_ALPHA, _MOST_ALPHA = 1e-6, 1e3
# Gamma is tried up to this many half decades from its start. Beyond a factor of ten, the kernel of
# most pairs of rows is near 0, or near 1, where linear features are as good.
_GAMMA_STEPS = 2
# Each value is a third to a half greater than the one before; near the best, means are tried, too.
# The last is three times the 19 labels per row of delicious, the most in the catalog.
_CARDINALITIES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
# An interval of the cardinality ends at values that are worse by this many standard errors. With 2
# it held the true one on scene and yeast, but in 2 of 5 draws on corel5k; with 3 in all of them. If
# no worse value was tried, others are, each by this factor further, to the last number from 0 or K.
_ERRORS_OF_CARDINALITY, _STEP, _LEAST_CARDINALITY = 3.0, 1.5, 0.2
# The search on few whole forms: penalties that are tried with each kind of features; how much is
# kept of the distance of logits from constant ones; and by how many standard errors another kind
# must be better than features that are divided by one number, with few forms and with more. Chosen
# on digits, cells, yeast and texts of Reuters (benchmarks/few_forms.py).
_FEW_ALPHAS = (2.0, 0.5, 0.15, 0.05, 0.015, 0.003)
_KEPT = (0.8, 0.6, 0.45, 0.33, 0.25, 0.18, 0.12, 0.06)
_ERRORS_OF_OTHER_KINDS, _VERY_FEW_FORMS = (3.0, 1.0), 60

# Unequal propensities must be better by this many standard errors (the usual 5 % level), because
# the likelihood can mistake dependent labels for unequal propensities. A low rank, too: the best of
# several ranks often wins by chance, and then it loses more than it could gain.
_ERRORS_OF_SPREAD, _ERRORS_OF_RANK = 2.0, 2.0
# A kind of features that is worse by this many standard errors at the same alpha is not tuned. On
# few rows the limit is higher, because some kinds become better with more rows.
_ERRORS_OF_KINDS, _ERRORS_ON_FEW_ROWS = 2.0, 3.5
# If the first kind's best alpha is this factor from its start, other kinds are tried halfway, too.
_FAR = 10.0
# Another setting is tried with other alphas only if it is within this many standard errors.
_ERRORS_OF_ALPHA = 1.0
# Held-out namings hardly tell penalties apart, and the likeliest of them may be far from the best.
# So fits with these, a factor of 3.2 from each other, are averaged with the likeliest. Their weight
# is a normal density of their distance from it, in standard errors; smaller ones are left out. The
# density is wider than for one comparison, because the likeliest of many is partly a lucky one. The
# likeliest counts as much as the others can count together.
_AVERAGED, _ERRORS_OF_AVERAGED, _LEAST_WEIGHT = (0.178, 0.0562, 0.0178), 1.5, 0.05
# The rates of annotators converge within a few rounds. Changes below .01, one answer in a hundred,
# do not matter.
_MOST_ROUNDS = 5
_LEAST_MOVE = 0.01
# Number of rows in the first rung, and the factor to the next one. 3000 rows make most choices
# clear, and trying twenty settings on them takes no longer than the final fit.
_FIRST_ROWS, _FACTOR = 3000, 4
# The search uses at most this many rows: more rows would not make the choices better.
_MOST_ROWS = 32_000
# A rung is left out if the last one has less than this many times its rows.
_WORTH = 1.5


@dataclass(frozen=True)
class Space:
    """The values that a search chooses from."""

    features: Sequence[FeatureMap]
    cardinalities: Sequence[float | None]
    alpha: float
    ranks: Sequence[int | None] = (None,)
    spreads: Sequence[float | None] = (None,)
    error_rates: Sequence[float | tuple[float, ...] | OneSided | None] = (None,)
    penalties: Sequence[Sequence[Penalty]] = ()  # the values of each further penalty, in order
    by_annotator: bool = False
    of_each: bool = True  # of the cardinality
    finds_one_sided: bool = False  # then the only error rates are those to start from

    @property
    def starts(self) -> list[Setting]:
        middle = self.cardinalities[len(self.cardinalities) // 3]
        first = Setting(
            self.features[0],
            self.alpha,
            middle,
            rank=self.ranks[0],
            spread=None if None in self.spreads else self.spreads[len(self.spreads) // 2],
            error_rates=self.error_rates[0],
            penalties=tuple(grid[len(grid) // 2] for grid in self.penalties),
            of_each=self.of_each,
        )
        return [replace(first, features=each) for each in self.features]

    def penalties_of(self, fitted: Any) -> tuple[Penalty, ...]:
        """Return the penalties that a classifier chose, by its attributes."""
        return tuple(
            next(
                each
                for each in grid
                if all(getattr(fitted, f"{name}_") == value for name, value in vars(each).items())
            )
            for grid in self.penalties
        )

    def around(self, setting: Setting) -> Space:
        """Return a space around a setting, in which only alpha and the cardinality are chosen."""
        return replace(
            self,
            features=[setting.features],
            alpha=setting.alpha,
            ranks=[setting.rank],
            spreads=[setting.spread],
            error_rates=[setting.error_rates],
            penalties=[[each] for each in setting.penalties],
            by_annotator=False,
            finds_one_sided=False,
        )


@dataclass
class Search:
    """A coordinate search for the setting under which held-out answers are likeliest."""

    trials: Trials
    tunes_alpha: bool
    tunes_gamma: bool
    is_first: bool = True  # False: it continues a search on fewer rows
    is_last: bool = True  # False: a search on more rows continues it
    # Between which numbers the rates of people leave the labels per item, if they were looked for.
    labels_per_item: tuple[float, float] | None = field(default=None, init=False)

    def choose_setting(self, space: Space, starts: Sequence[Setting]) -> Setting:
        """Return the best setting that is found; nothing is tried if there is nothing to choose."""
        # First the cardinality is chosen, with the simplest features. Then the features, from
        # simple to complicated, with gamma for a kernel. Then the cardinality again, the rank, the
        # spread of propensities and the rate of mistakes; last alpha, in finer steps.
        grid = sorted({c for c in space.cardinalities if c is not None})
        if len(grid) > 1:
            grid = _with(grid, *(start.cardinality for start in starts))
        best = self.choose_features(starts, grid)
        if len(grid) > 1:
            grid = _with(grid, best.cardinality)
            best = self.tune_cardinality(best, grid)
            if self.is_last:
                best = self.tune_both(best, grid)
            # Known frequencies come from random answers, which determine the cardinality.
            if self.is_last and self.trials.likelihood.known.frequencies is None:
                best = self.average_cardinality(best)
        best = self.tune_rank(best, space.ranks)
        best = self.tune_spread(best, [each for each in space.spreads if each is not None])
        best = self.tune_along(best, "error_rates", space.error_rates)
        for number, penalties in enumerate(space.penalties):
            best = self.tune_penalty(best, number, penalties)
        return self.tune_alpha(best, quarters=1)

    def choose_features(self, starts: Sequence[Setting], grid: Sequence[float]) -> Setting:
        """Return the best of several kinds of features, with alpha and gamma tuned."""
        # Other kinds are tried with the alpha of the first kind, times what their starts differ by.
        # If it is far from its start, also halfway; and at their start if the cardinality is
        # chosen, too. Kinds that are clearly worse than the best are not tuned further.
        first = self.tune_alpha(starts[0])
        if self.is_first and len(grid) > 1:
            # All cardinalities are tried: if labels are hard to learn, small and large ones can
            # both be better than those between.
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
            tried = [replace(start, alpha=three_digits(start.alpha * each)) for each in factors]
            tried = [start, *tried] if len(grid) > 1 else tried
            kinds.append(self._best(tried[0], tried[1:]))
        leader = self._best(first, kinds[1:])
        tuned = [self.tune_gamma(self.tune_alpha(k)) for k in kinds if self._is_near(k, leader)]
        return self._best(tuned[0], tuned[1:])

    def finalists(self) -> list[Setting]:
        """Return the best setting of each kind of features, without clearly worse kinds."""
        # Kinds are compared at a cardinality that both were tried with: only the leader's is tuned.
        kinds: dict[str | None, Setting] = {}
        at_cardinality: dict[tuple[str | None, float | None], Setting] = {}
        for setting in sorted(self.trials.by_part, key=self.trials.mean):
            kind = setting.features.scaling
            kinds[kind] = at_cardinality[kind, setting.cardinality] = setting
        ordered = sorted(kinds.values(), key=self.trials.mean, reverse=True)
        leader = ordered[0].features.scaling if ordered else None
        return [
            each
            for each in ordered
            if self._is_near(each, at_cardinality.get((leader, each.cardinality), ordered[0]))
        ]

    def _is_near(self, setting: Setting, best: Setting) -> bool:
        errors = _ERRORS_OF_KINDS if self.is_last else _ERRORS_ON_FEW_ROWS
        return self.trials.within_errors(setting, best, errors=errors)

    def _best(self, best: Setting, others: Sequence[Setting]) -> Setting:
        for other in others:
            if self.trials.gains(other, best):
                best = other
        return best

    def tune_alpha(self, start: Setting, *, quarters: int = 2) -> Setting:
        """Return the setting with the best alpha, in steps of ``quarters`` quarters of a decade."""
        if not self.tunes_alpha:
            return start
        at = round(4 * math.log10(start.alpha))

        def further(best: Setting, step: int) -> Setting | None:
            if not _LEAST_ALPHA < best.alpha < _MOST_ALPHA:
                return None
            return replace(best, alpha=three_digits(10 ** ((at + step * quarters) / 4)))

        return self._climb(start, further)

    def tune_gamma(self, start: Setting) -> Setting:
        gamma = start.features.gamma
        if gamma is None or not self.tunes_gamma:
            return start

        def further(best: Setting, step: int) -> Setting | None:
            if abs(step) > _GAMMA_STEPS:
                return None
            other = replace(start.features, gamma=three_digits(gamma * 10 ** (step / 2)))
            setting = replace(best, features=other)
            return setting if best.cardinality is None else self._anew(setting, best)

        return self._climb(start, further)

    def tune_along(
        self, start: Setting, name: str, grid: Sequence[Any], *, anew: bool = True
    ) -> Setting:
        """Return the setting with the best value on a grid; ``anew`` also tunes alpha if useful."""
        at = grid.index(getattr(start, name))

        def further(best: Setting, step: int) -> Setting | None:
            if not 0 <= at + step < len(grid):
                return None
            other = replace(best, **{name: grid[at + step]})
            return self._anew(other, best) if anew else other

        return self._climb(start, further)

    def tune_penalty(self, start: Setting, number: int, grid: Sequence[Penalty]) -> Setting:
        before, after = start.penalties[:number], start.penalties[number + 1 :]
        choices = [(*before, each, *after) for each in grid]
        return self.tune_along(start, "penalties", choices)

    def tune_cardinality(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the setting with the best cardinality, on the grid or between neighbours."""
        best = self.tune_along(start, "cardinality", grid)
        at = grid.index(best.cardinality)
        beside = [*grid[max(at - 1, 0) : at], *grid[at + 1 : at + 2]]
        halfway = [round(math.sqrt(grid[at] * other), 2) for other in beside]
        refined = [self._anew(replace(best, cardinality=c), best) for c in halfway]
        return self._best(best, refined)

    def tune_both(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the setting with the best alpha and cardinality, each tuned in turn."""
        # The larger alpha is, the larger is the best cardinality: with one step of each, a search
        # that began with a large alpha ends between.
        best = start
        while True:
            tuned = self.tune_alpha(best)
            best = self.tune_cardinality(tuned, _with(grid, tuned.cardinality))
            if best.alpha == tuned.alpha:
                return best

    def average_cardinality(self, best: Setting) -> Setting:
        """Return the setting with the mean of the cardinalities that cannot be told apart."""
        # The mean is geometric, because steps of the grid are factors. The best setting of each
        # cardinality comes last; dict keeps the last.
        same = [
            setting
            for setting in self.trials.by_part
            if replace(setting, cardinality=best.cardinality, alpha=best.alpha) == best
        ]
        alike = {setting.cardinality: setting for setting in sorted(same, key=self.trials.mean)}
        weights = self.trials.weights([*alike.values()])
        logs = np.log(np.array([*alike], dtype=np.float64))
        mean = round(float(np.exp(weights @ logs)), 2)
        return replace(best, cardinality=mean)  # alpha is tuned last

    def averaged(self, best: Setting) -> dict[Setting, float]:
        """Return the weights of settings of which the fits are averaged; the first is the best."""
        weights = {best: float(len(_AVERAGED))}
        others = best.rank, best.spread, best.error_rates, self.trials.likelihood.known.error_rates
        if self.tunes_alpha and all(each is None for each in others):
            near = [replace(best, alpha=alpha) for alpha in _AVERAGED]
            weights |= self._weights_beside(best, [each for each in near if each != best])
        return weights

    def _weights_beside(self, best: Setting, others: Sequence[Setting]) -> dict[Setting, float]:
        """Return the weights of settings that are not much less likely than the best; it has 1."""
        weights = {}
        for each in others:
            behind = self.trials.errors_behind(each, best) / _ERRORS_OF_AVERAGED
            weight = math.exp(-(behind**2) / 2)
            if weight > _LEAST_WEIGHT:
                weights[each] = weight
        return weights

    def calmed(self, best: Setting, kinds: Sequence[FeatureMap]) -> dict[Setting, float]:
        """Return the weights of settings of which the fits to few whole forms are averaged.

        Held-out forms hardly tell penalties apart: great ones are likelier, because logits are
        smaller, and small ones often rank better. So logits are drawn to constant ones before they
        are compared, and fits with smaller penalties than the likeliest are averaged with it.
        """
        if best.rank is not None:
            return {best: 1.0}
        of_kinds = []
        for kind in sorted(kinds, key=lambda each: each.scaling != "global"):
            kind = best.features if kind.gamma is not None and best.features.gamma else kind
            tried = [replace(best, features=kind, alpha=alpha) for alpha in _FEW_ALPHAS]
            of_kinds.append([self._drawn(each) for each in tried])
        n_forms = int(self.trials.likelihood.answers.answered.sum())
        errors = _ERRORS_OF_OTHER_KINDS[int(n_forms >= _VERY_FEW_FORMS)]
        simple, *others = (self._best(each[0], each[1:]) for each in of_kinds)
        leader, alike = simple, of_kinds[0]
        for each, settings in zip(others, of_kinds[1:], strict=True):
            behind = self.trials.errors_behind(simple, each)
            if behind > errors and self.trials.gains(each, leader):
                leader, alike = each, settings
        smaller = [each for each in alike if each.alpha < leader.alpha]
        return {leader: 1.0} | self._weights_beside(leader, smaller)

    def _drawn(self, setting: Setting) -> Setting:
        """Return the setting with the likeliest part of the logits' distance from constants."""
        for kept in _KEPT:
            calmer = replace(setting, kept=kept)
            if not self.trials.gains(calmer, setting):
                break
            setting = calmer
        return setting

    def cardinality_interval(self, best: Setting, n_labels: int) -> tuple[float, float]:
        """Return the nearest cardinalities below and above that held-out answers speak against."""
        known = self.trials.alike_by_cardinality(best.features, errors=_ERRORS_OF_CARDINALITY)
        alike = [c for c in known if known[c]]
        below, above = ([c for c in known if c < min(alike)], [c for c in known if c > max(alike)])
        low = max(below) if below else self._first_unlike(best, min(alike), 1 / _STEP, n_labels)
        high = min(above) if above else self._first_unlike(best, max(alike), _STEP, n_labels)
        return low, high

    def _first_unlike(self, best: Setting, c: float, factor: float, n_labels: int) -> float:
        """Go on from a cardinality to one that answers speak against; else 0 or K."""
        while _LEAST_CARDINALITY < (c := c * factor) < n_labels - _LEAST_CARDINALITY:
            further = replace(best, cardinality=(c := round(c, 2)))
            if not self.trials.within_errors(further, best, errors=_ERRORS_OF_CARDINALITY):
                return c
        return 0.0 if factor < 1 else float(n_labels)

    def tune_rank(self, start: Setting, ranks: Sequence[int | None]) -> Setting:
        """Return the best rank, or the first one if the best is not clearly better."""
        if len(ranks) == 1:
            return start
        # From the middle upwards or downwards: ranks below and above the best are worse and worse.
        first, low = replace(start, rank=ranks[0]), [rank for rank in ranks if rank is not None]
        middle = replace(start, rank=low[len(low) // 2])
        best = self._best(first, [self.tune_along(middle, "rank", low, anew=False)])
        return first if self.trials.within_errors(first, best, errors=_ERRORS_OF_RANK) else best

    def tune_spread(self, start: Setting, grid: Sequence[float]) -> Setting:
        """Return the setting with the smallest spread (or none) not clearly worse than the best."""
        if len(grid) < 2:
            return start
        first = start if start.spread is not None else replace(start, spread=grid[len(grid) // 2])
        best = self.tune_along(self.tune_alpha(first), "spread", grid, anew=False)
        if start.spread is None and self.trials.within_errors(
            start, best, errors=_ERRORS_OF_SPREAD
        ):
            return start
        return self._smallest_spread(best, grid)

    def tune_rates(self, start: Setting) -> Setting:
        """Estimate each annotator's error rate from held-out answers, and predictions in turn."""
        best, rates = start, np.full(self.trials.likelihood.n_rates, start.error_rates)
        for _ in range(_MOST_ROUNDS):
            likelier = self.trials.likeliest_rates(best, rates)
            best = self.tune_alpha(replace(best, error_rates=likelier))
            moved, rates = np.abs(rates - likelier).max(), np.array(likelier)
            if moved < _LEAST_MOVE:
                break
        return best

    def tune_mistakes(self, start: Setting, answers: Answers) -> Setting:
        """Find the rates of missed and invented labels, with predictions in turn.

        If the answers leave the labels per item open, take balanced rates of all of them.
        """
        best = start
        for _ in range(_MOST_ROUNDS):
            before = best.error_rates
            assert isinstance(before, OneSided)
            likelier = self.trials.likeliest_mistakes(best, before)
            best = self.tune_alpha(replace(best, error_rates=likelier))
            if np.abs(likelier.rates - before.rates).max() < _LEAST_MOVE:
                break
        self.labels_per_item = self.trials.labels_per_item(best)
        if not are_determined(self.labels_per_item):
            best = self.tune_alpha(replace(best, error_rates=balanced_rates(answers)))
        return best

    def _anew(self, setting: Setting, best: Setting) -> Setting:
        """Tune alpha again if a setting is worse than the best, but not clearly worse."""
        if self.trials.gains(setting, best):
            return setting  # alpha is tuned later, after everything else is chosen
        if self.trials.within_errors(setting, best, errors=_ERRORS_OF_ALPHA):
            return self.tune_alpha(setting)
        return setting

    def _smallest_spread(self, best: Setting, grid: Sequence[float]) -> Setting:
        smallest = best
        for value in reversed(grid[: grid.index(best.spread or 0.0)]):
            smaller = replace(smallest, spread=value)
            if not self.trials.within_errors(smaller, best, errors=_ERRORS_OF_SPREAD):
                break
            smallest = smaller
        return smallest

    def _climb(self, start: Setting, further: Callable[[Setting, int], Setting | None]) -> Setting:
        """Take steps upwards while the likelihood gains; if the first does not, go downwards."""
        # ``further`` takes the best setting so far and the number of the step: 1, 2, ... upwards
        # and -1, -2, ... downwards. It returns the next setting, or None at the end of the range.
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


@dataclass
class HalvingSearch:
    """Searches on parts of the rows, each part within the next (successive halving)."""

    # Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter
    # optimization", AISTATS 2016.

    X: Features | SomeRows
    likelihood: Likelihood
    cv: int
    seed: int
    tunes_alpha: bool
    tunes_gamma: bool
    on_setting: Callable[[int, None, float], None]
    _searches: list[Search] = field(default_factory=list, init=False)
    _chosen: dict[Setting, float] = field(init=False)  # with the weights of their fits

    def choose_settings(
        self, space: Space, *, average: bool = False, few_forms: bool = False
    ) -> dict[Setting, float]:
        """Return the settings to fit to all rows, and the weights of their fits in the mean.

        The first is the likeliest. Others, with ``average`` or ``few_forms``, are not much less
        likely.
        """
        # From one rung to the next, and from training rows of folds to all rows, alpha times
        # the number of rows stays the same: the log-likelihood grows with the number of rows, and
        # the log of the prior does not.
        n_rows = self.X.shape[0]
        order = search_order(n_rows, self.seed)
        starts, before = space.starts, 0
        sizes = rung_sizes(n_rows)
        for size in sizes:
            rows = np.sort(order[:size])
            whole = size == n_rows and not isinstance(self.X, SomeRows)
            trials = Trials(
                in_trials(self.X if whole else self.X[rows]),
                self.likelihood if whole else self.likelihood.of_rows(rows),
                cv=self.cv,
                seed=self.seed,
                on_setting=partial(self._report, self._tried),
            )
            search = Search(
                trials,
                self.tunes_alpha,
                self.tunes_gamma,
                is_first=not before,
                is_last=size == sizes[-1],
            )
            self._searches.append(search)
            starts = [self._scaled(each, before / size) if before else each for each in starts]
            chosen = search.choose_setting(space, starts)
            starts, before = search.finalists() or [chosen], size
        if space.by_annotator:
            chosen = search.tune_rates(chosen)
        if space.finds_one_sided:
            chosen = search.tune_mistakes(chosen, self.likelihood.answers)
        self._chosen = search.averaged(chosen) if average else {chosen: 1.0}
        if few_forms:
            self._chosen = search.calmed(chosen, space.features)
        factor = (1 - 1 / self.cv) * before / n_rows if self._tried else 1.0
        return {self._scaled(each, factor): weight for each, weight in self._chosen.items()}

    def prepare(self, features: FeatureMap) -> PreparedFeatures | PreparedBlocks:
        """Return all rows, prepared for the final fit. Call it last: it may delete the searches."""
        last = self._searches[-1].trials
        if last.X is self.X:
            return last.prepare(features)
        self._searches.clear()  # frees memory before more is allocated
        return features.fit_transform(self.X, self.likelihood.weights, self.likelihood.device)

    def results(self) -> dict[str, AnyArray] | None:
        rungs = [search.trials for search in self._searches]
        return results_of(rungs, self._chosen) if self._tried else None

    def cardinality_curve(self) -> dict[str, Array]:
        return self._searches[0].trials.cardinality_curve()

    def cardinality_interval(self) -> tuple[float, float]:
        n_labels = self.likelihood.answers.n_labels
        return self._searches[-1].cardinality_interval(next(iter(self._chosen)), n_labels)

    @property
    def labels_per_item(self) -> tuple[float, float] | None:
        return self._searches[-1].labels_per_item

    @property
    def _tried(self) -> int:
        return sum(len(search.trials.by_part) for search in self._searches)

    def _report(self, before: int, number: int, most: None, loss: float) -> None:
        self.on_setting(before + number, most, loss)

    def _scaled(self, setting: Setting, factor: float) -> Setting:
        if factor == 1 or not self.tunes_alpha:
            return setting
        return replace(setting, alpha=three_digits(setting.alpha * factor))


def search_order(n_rows: int, seed: int) -> Ints:
    """Return the rows in the order in which a search takes them."""
    return np.random.default_rng(seed).permutation(n_rows)


def rung_sizes(n_rows: int) -> list[int]:
    sizes, last = [], min(n_rows, _MOST_ROWS)
    size = _FIRST_ROWS
    while size * _WORTH < last:
        sizes.append(size)
        size *= _FACTOR
    return [*sizes, last]


def _with(grid: Sequence[float], *others: float | None) -> list[float]:
    return sorted({*grid, *(value for value in others if value is not None)})


def cardinality_grid(n_labels: int) -> list[float]:
    """Return the cardinalities that are tried first: from 1 to half the number of labels."""
    return [1.0, *(c for c in _CARDINALITIES[1:] if c < n_labels / 2)]
