"""Fits of linear maps for one setting, and trials of settings by held-out answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import optimize, special
from scipy.stats import rankdata
from sklearn.model_selection import KFold

from complabel._parameters import AnyArray, Array, Features, Floats, Ints
from complabel._training import (
    DualFits,
    DualNewton,
    IterationCallback,
    LinearFits,
    LinearMap,
    minimize_linear,
    products_of,
)
from complabel.errors import InputError
from complabel.methods.selection._blocks import PreparedBlocks
from complabel.methods.selection._features import FeatureMap, PreparedFeatures
from complabel.methods.selection._known import OneSided, Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._mistakes import RateProfile, RateSearch
from complabel.methods.selection._objective import Objective
from complabel.methods.selection._over_blocks import fit_blocks, over_cells
from complabel.methods.selection._prior import variances_of_biases

# A step of the search must gain at least this many nats, or the search would walk along a plateau.
# The standard error of a gain is mostly a hundred times greater.
_LEAST_GAIN = 1e-5
# A setting that is worse by this many standard errors after one part is not fitted to the others.
_ERRORS_OF_LOSERS = 2.0
# Up to this many rows, all folds together take hardly longer than one fold.
_FEW_ROWS = 3000

# With more rows than this, only one fold is held out: it is large enough.
_MANY_ROWS = 20_000
# The number of kinds of features in memory, for up to _FEW_ROWS rows and for more.
_MOST_PREPARED = {True: 8, False: 2}
# A fit ends at iterations that gain less than this share. In trials, the rest does not change
# comparisons. In the final fit, stricter tolerances took longer, and did not noticeably increase
# the likelihood of held-out labels.
_IN_TRIALS, _FINAL = 5e-5, 1e-6
# A fit has two parts. The first starts from the constant model, with steps scaled by its curvature,
# and ends at this tolerance. The second is scaled by the curvature at the point reached.
_FIRST_TOLERANCE = 1e-3
# Where a product of all rows has so many multiplications, products take most of the time, and those
# with labels that nobody judged are left out.
_MUCH = 2**25
# Where at most so many cells of a label are judged, systems of their size take the least time. All
# these systems together have at most so many entries: 16 MB.
_FEW_CELLS, _MOST_ENTRIES = 128, 2**21
# A fit takes some dozens of iterations. It warns if it has not converged after this many.
_MAX_ITER = 1000
# Draws of the held-out rows for the weights of settings.
_DRAWS = 1000
# The prior of a rate acts like one mistake among ten more answers: it pulls rates a little towards
# .1, and keeps the rate of an annotator with few answers away from 0 and 1.
_PRIOR_MISTAKES, _PRIOR_RIGHT = 1.0, 9.0
_TOLERANCE_OF_RATES = 1e-8


def fit_maps(
    prepared: PreparedFeatures | PreparedBlocks,
    likelihood: Likelihood,
    setting: Setting,
    *,
    rows: Sequence[Ints] | None = None,
    start: LinearFits | None = None,
    on_iteration: IterationCallback | None = None,
) -> LinearFits:
    """Fit several maps of the same features, each to its own rows of answers stacked map by map."""
    # Without ``rows``, this is the final fit: of one map, to all rows. ``start`` are earlier fits
    # to the same rows; None is the constant model.
    likelihood = likelihood.at(setting)
    if isinstance(prepared, PreparedBlocks):
        how: dict[str, Any] = {"max_iter": _MAX_ITER, "on_iteration": on_iteration}
        return fit_blocks(prepared, likelihood, setting, stages=(_FIRST_TOLERANCE, _FINAL), **how)
    if rows is None and (few := fit_few_cells(prepared, likelihood, setting, None, on_iteration)):
        return few.as_linear(prepared.X, prepared.scaling)
    n_items, tolerance = len(likelihood.answers), _FINAL if rows is None else _IN_TRIALS
    sizes = [n_items] if rows is None else [len(index) for index in rows]
    how = {
        "rank": setting.rank,
        "alpha": setting.alpha,
        "scaling": prepared.scaling,
        "spread": prepared.spread,
        "max_iter": _MAX_ITER,
    }
    minimize: Callable[..., LinearFits] | None = None
    device, objective = likelihood.device, Objective(likelihood, setting)
    # A GPU takes longer for many small products with the rows of one label than for all logits.
    is_much = n_items * likelihood.answers.n_labels * prepared.X.shape[1] >= _MUCH
    if is_much and device.type == "cpu":
        minimize = over_cells(prepared.X, objective, rows)
    minimize = minimize or (
        lambda near, **how: minimize_linear(
            prepared.X,
            objective.of_logits(sizes, near),
            products=prepared.once(device, partial(products_of, prepared.X, device)),
            rows=rows,
            **how,
        )
    )
    if start is None:
        intercept = likelihood.constant_logits(setting.cardinality)
        # In the features' type, so that the likelihood is laid out only once.
        at_start = intercept.astype(np.result_type(np.float32, prepared.X.dtype))
        constant = LinearMap(np.zeros((len(intercept), prepared.X.shape[1])), intercept)
        start = minimize(
            None,
            start=[constant] * len(sizes),
            others=objective.start_of_others(len(sizes)),
            curvature=objective.curvature(np.broadcast_to(at_start, (n_items, len(intercept)))),
            tolerance=_FIRST_TOLERANCE,
            warn=False,
            **how,
        )
    near = start.logits_of(rows)
    return minimize(
        near,
        start=start.models,
        others=objective.start_of_others(len(sizes), start.others),
        curvature=objective.curvature(near),
        tolerance=tolerance,
        warn=rows is None,
        on_iteration=on_iteration,
        **how,
    )


def fit_few_cells(
    prepared: PreparedFeatures,
    likelihood: Likelihood,
    setting: Setting,
    rows: Sequence[Ints] | None,
    on_iteration: IterationCallback | None = None,
    *,
    start: DualFits | None = None,
) -> DualFits | None:
    """Do as :func:`fit_maps`, to few answers that judge labels; None if they are not these."""
    is_plain = replace(setting, alpha=0.0, rank=None, kept=1.0) == Setting(
        setting.features, 0.0, None
    )
    n_outputs = min(likelihood.answers.n_labels, prepared.X.shape[1])
    if not is_plain or (setting.rank is not None and setting.rank < n_outputs):
        return None
    newton = prepared.once(likelihood, partial(_few_cells, prepared, likelihood, rows))
    if newton is None:
        return None
    sizes = [len(each) for each in newton.rows]
    constant = likelihood.constant_logits(None)
    for _ in range(2 if start is None else 1):
        logits = None if start is None else start.logits(newton.rows)
        variance = variances_of_biases(likelihood, setting, sizes, logits)
        start = newton.minimize(
            setting.alpha,
            None if variance is None else variance.double().cpu().numpy(),
            constant=constant,
            start=start,
            on_iteration=on_iteration,
        )
    return start


def _few_cells(
    prepared: PreparedFeatures, likelihood: Likelihood, rows: Sequence[Ints] | None
) -> DualNewton | None:
    """Lay out the cells that answers judge, if each has a loss of its own, and they are few."""
    known = (likelihood.known.error_rates, likelihood.known.frequencies, likelihood.weights)
    if not likelihood.judges or any(each is not None for each in known):
        return None
    (n, n_labels), statements = likelihood.answers.shape, likelihood.answers.statements()
    if prepared.X.shape[0] > _FEW_ROWS or not len(statements) or len(statements.contradicted):
        return None
    pair, first = np.unique(statements.pair, return_index=True)
    of_maps = [np.arange(n)] if rows is None else [*rows]
    of_map = np.repeat(np.arange(len(of_maps)), [len(index) for index in of_maps])
    item, label = pair // n_labels, pair % n_labels
    output, n_outputs = of_map[item] * n_labels + label, len(of_maps) * n_labels
    most = np.bincount(output).max()
    if most > _FEW_CELLS or n_outputs * most**2 > _MOST_ENTRIES:
        return None
    return DualNewton(
        prepared.gram,
        rows=of_maps,
        row=np.concatenate(of_maps)[item],
        output=output,
        applies=statements.applies[first],
        n_outputs=n_outputs,
    )


def likeliest_rates(
    likelihood: Likelihood, logits: Floats, log_propensities: Array | None, start: Array
) -> tuple[float, ...]:
    """Return the likeliest error rates (R + 1,), that of unknown annotators last."""
    # The answers are held out, ``logits`` (n, K) are predictions; log-propensities are (K,) or
    # (n, K).

    def loss(odds: Array) -> tuple[float, Array]:
        rates = special.expit(odds)
        prior = _PRIOR_MISTAKES * np.log(rates) + _PRIOR_RIGHT * np.log1p(-rates)
        slope = (_PRIOR_MISTAKES + _PRIOR_RIGHT) * rates - _PRIOR_MISTAKES
        value, through, _ = likelihood.likelihood_and_gradients(logits, log_propensities, rates)
        return -value - float(prior.sum()), slope - through

    minimum = optimize.minimize(
        loss,
        special.logit(start),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": _TOLERANCE_OF_RATES},
    )
    return tuple(float(rate) for rate in special.expit(minimum.x))


@dataclass(frozen=True, eq=False)
class _FoldGroup:
    """Folds that are fitted together: their training and held-out rows, and the answers."""

    train: list[Ints]
    test: list[Ints]
    trained: Likelihood
    rest: Likelihood
    whole: Likelihood

    @cached_property
    def constant(self) -> Array:
        """The logits (n, K) of the label frequencies of each held-out row's training rows."""
        of_folds = (self.whole.of_rows(rows).constant_logits(None) for rows in self.train)
        return np.repeat([*of_folds], [*map(len, self.test)], axis=0)

    @classmethod
    def of(cls, likelihood: Likelihood, folds: Sequence[tuple[Ints, ...]]) -> _FoldGroup:
        train, test = (list(rows) for rows in zip(*folds, strict=True))
        trained, rest = (likelihood.of_rows(np.concatenate(rows)) for rows in (train, test))
        return cls(train, test, trained, rest, likelihood)


@dataclass
class Trials:
    """Tries settings, and keeps the log-likelihoods of held-out rows for each part."""

    # A part is a group of folds that are fitted together. A setting that is clearly worse than the
    # best after one part is not fitted to the others.

    X: Features
    likelihood: Likelihood
    cv: int
    seed: int
    # Called with the number of settings tried, None (the total is not known), and the latest loss.
    on_setting: Callable[[int, None, float], None]
    by_part: dict[Setting, list[Array]] = field(default_factory=dict, init=False)
    _leader: Setting | None = field(default=None, init=False)
    _prepared: dict[FeatureMap, PreparedFeatures] = field(default_factory=dict, init=False)

    def mean(self, setting: Setting) -> float:
        """Return the mean held-out log-likelihood of a setting."""
        # If it was not fitted to all parts, its difference to the best on its own parts is added to
        # the mean of the best.
        if self._leader is None:
            self._rows(setting, len(self._parts))
        rows = self._rows(setting, max(1, len(self.by_part.get(setting, ()))))
        if len(self.by_part[setting]) == len(self._parts) or self._leader is None:
            return float(rows.mean())
        best = np.concatenate(self.by_part[self._leader])
        return float(best.mean() + rows.mean() - best[: len(rows)].mean())

    def gains(self, setting: Setting, best: Setting) -> bool:
        difference = self._difference(setting, best, lost=_ERRORS_OF_LOSERS)
        return float(difference.mean()) > _LEAST_GAIN

    def within_errors(self, setting: Setting, best: Setting, *, errors: float = 1.0) -> bool:
        difference = self._difference(setting, best, lost=errors + _ERRORS_OF_LOSERS)
        return -float(difference.mean()) <= errors * _standard_error(difference)

    def errors_behind(self, setting: Setting, best: Setting) -> float:
        """Return by how many standard errors a setting is worse than the best; 0 if it is not."""
        difference = self._difference(setting, best, lost=_ERRORS_OF_LOSERS)
        behind, error = -float(difference.mean()), _standard_error(difference)
        return max(behind, 0.0) / error if error else 0.0

    def weights(self, settings: Sequence[Setting]) -> Array:
        """Return weights of settings (S,); 0 of those that were clearly worse on the first part."""
        parts = len(self._parts)
        whole = [at for at, each in enumerate(settings) if len(self.by_part[each]) == parts]
        rows = np.array([np.concatenate(self.by_part[settings[at]]) for at in whole])
        weights = np.zeros(len(settings))
        weights[whole] = probably_best(rows, self.seed)
        return weights

    def alike_by_cardinality(self, features: FeatureMap, *, errors: float) -> dict[float, bool]:
        """Return for each cardinality tried whether it is within errors of the best with these."""
        # Nothing is fitted: a setting is compared on the parts that it was tried on.
        ordered = sorted(self.by_part, key=self.mean)
        tried = [each for each in ordered if each.features == features]
        whole = [each for each in tried if len(self.by_part[each]) == len(self._parts)]
        leading = np.concatenate(self.by_part[whole[-1]])
        alike = {}
        for setting in tried:  # the best setting of each cardinality comes last
            rows = np.concatenate(self.by_part[setting])
            lost = leading[: len(rows)] - rows
            alike[float(setting.cardinality or 0)] = lost.mean() <= errors * _standard_error(lost)
        return alike

    def likeliest_rates(self, setting: Setting, start: Array) -> tuple[float, ...]:
        return likeliest_rates(*self._held_out(setting), start)

    def likeliest_mistakes(self, setting: Setting, start: OneSided) -> OneSided:
        return RateSearch(*self._held_out(setting)).run(start)

    def labels_per_item(self, setting: Setting) -> tuple[float, float]:
        """Return the interval of labels per item that held-out answers and found rates allow."""
        assert isinstance(setting.error_rates, OneSided)
        return RateProfile(*self._held_out(setting)).interval(setting.error_rates)

    def _held_out(self, setting: Setting) -> tuple[Likelihood, Floats, Array | None]:
        """Return the held-out answers of all parts, predicted logits and log-propensities."""
        fits = [self._fit(setting, part) for part in self._parts]
        tests = np.concatenate([test for part in self._parts for test in part.test])
        logits = np.concatenate([logits for logits, _ in fits])
        weights = [log_w for _, log_w in fits if log_w is not None]
        log_w = None
        if weights:  # known propensities (K,) are the same in all parts
            log_w = weights[0] if weights[0].ndim == 1 else np.concatenate(weights)
        return self.likelihood.at(setting).of_rows(tests), logits, log_w

    def summary(self) -> dict[str, AnyArray]:
        assert self._leader is not None
        leading = np.concatenate(self.by_part[self._leader])
        spreads, errors = [], []
        for parts in self.by_part.values():
            rows = np.concatenate(parts)
            ends = np.cumsum([len(test) for part in self._parts for test in part.test])
            by_fold = np.split(rows, ends[ends < len(rows)])
            spreads.append(np.std([fold.mean() for fold in by_fold]))
            errors.append(_standard_error(leading[: len(rows)] - rows))
        return {
            "mean_test_score": np.array([self.mean(setting) for setting in self.by_part]),
            "std_test_score": np.array(spreads),
            "standard_error_of_difference": np.array(errors),
            "n_resources": np.full(len(self.by_part), self.X.shape[0]),
        }

    def cardinality_curve(self) -> dict[str, Array]:
        """Return each cardinality tried with the best features, with its best likelihood."""
        assert self._leader is not None
        means = [
            (setting.cardinality, self.mean(setting))
            for setting in self.by_part
            if setting.features == self._leader.features
        ]
        # Sorted, so that the best mean of each cardinality comes last; dict keeps the last.
        cardinality, mean = np.array(list(dict(sorted(means)).items())).T
        return {"cardinality": cardinality, "mean_log_likelihood": mean}

    def _difference(self, setting: Setting, best: Setting, *, lost: float) -> Array:
        """Return the differences of held-out log-likelihoods to those of the best setting."""
        # It stops after a part in which the setting is worse by more than ``lost`` standard errors.
        self._rows(best, len(self._parts))
        for n_parts in range(1, len(self._parts) + 1):
            rows = self._rows(setting, n_parts)
            difference = rows - np.concatenate(self.by_part[best])[: len(rows)]
            if difference.mean() < -lost * _standard_error(difference):
                break
        return difference

    def _rows(self, setting: Setting, n_parts: int) -> Array:
        """Return the log-likelihoods of the held-out rows of the first ``n_parts`` parts."""
        known = self.by_part.setdefault(setting, [])
        fresh = not known
        for part in self._parts[len(known) : n_parts]:
            logits, log_w = self._fit(setting, part)
            if setting.kept < 1:
                logits = drawn_to(part.constant, logits, setting.kept)
            rates = part.rest.rates_at(setting)
            known.append(part.rest.at(setting).log_likelihood(logits, log_w, rates))
        if fresh:
            self.on_setting(len(self.by_part), None, -float(known[0].mean()))
        rows = np.concatenate(known)
        if len(known) == len(self._parts):
            leader = self._leader
            if leader is None or rows.mean() > np.concatenate(self.by_part[leader]).mean():
                self._leader = setting
        return np.concatenate(known[:n_parts])

    def _fit(self, setting: Setting, part: _FoldGroup) -> tuple[AnyArray, AnyArray | None]:
        """Fit a setting to the folds of a part; return held-out logits and log-propensities."""
        # The latter are (n, K) if fitted, (K,) if known, else None. A fit starts from the last one
        # that differs only in alpha, or from that of full rank. Others may lead to another local
        # minimum.
        prepared = self.prepare(setting.features)
        latest: dict[Any, LinearFits | DualFits] = prepared.once("latest fits", dict)
        number = next(number for number, each in enumerate(self._parts) if each is part)
        setting = replace(setting, kept=1.0)
        key = (replace(setting, alpha=0.0), number)
        full = (replace(setting, alpha=0.0, rank=None), number)
        start: Any = latest.get(key, latest.get(full))
        few = fit_few_cells(prepared, part.trained, setting, part.train, start=start)
        if few is not None:
            latest[key] = few
            return few.logits(part.test), None
        start = None if isinstance(start, DualFits) else start
        n_labels = self.likelihood.answers.n_labels
        short = prepared.once("in short", partial(prepared.in_short, n_labels))
        fits = latest[key] = fit_maps(short, part.trained, setting, rows=part.train, start=start)
        logits = fits.logits_of(part.test)
        if setting.spread is not None:
            return logits, np.repeat(fits.others, [*map(len, part.test)], axis=0)
        known = part.rest.known.propensities_at(setting)
        return logits, None if known is None else np.log(known)

    @cached_property
    def _parts(self) -> list[_FoldGroup]:
        """The folds in parts; the first fold is alone, because most settings already fail on it."""
        n_samples = self.X.shape[0]
        if n_samples < self.cv:
            raise InputError(
                f"n_samples={n_samples} is less than cv={self.cv}, the number of folds for the"
                " automatic choices; give more rows, or give alpha, cardinality, scaling and kernel"
            )
        folds = list(KFold(self.cv, shuffle=True, random_state=self.seed).split(self.X))
        if n_samples > _MANY_ROWS:
            del folds[1:]
        together = n_samples <= _FEW_ROWS or len(folds) == 1
        parts = [folds] if together else [folds[:1], folds[1:]]
        return [_FoldGroup.of(self.likelihood, each) for each in parts]

    def prepare(self, features: FeatureMap) -> PreparedFeatures:
        """Return all rows, prepared for a fit. Only the latest kinds stay in memory."""
        if features not in self._prepared:
            most = _MOST_PREPARED[self.X.shape[0] <= _FEW_ROWS]
            for oldest in [*self._prepared][: 1 - most]:
                del self._prepared[oldest]  # frees memory before more is allocated
            likelihood = self.likelihood
            prepared = features.fit_transform(self.X, likelihood.weights, likelihood.device)
            assert not isinstance(prepared, PreparedBlocks)
            self._prepared[features] = prepared
        return self._prepared[features]


def drawn_to(constant: Array, logits: Floats, kept: float) -> Any:
    """Return logits of which only a part of the distance from constant ones is kept."""
    return (constant + kept * (logits - constant)).astype(logits.dtype)


def probably_best(rows: Array, seed: int) -> Array:
    """Return how probable it is that each of S is the best, by log-likelihoods of rows (S, n).

    These are the weights of pseudo-BMA+: Yao, Vehtari, Simpson and Gelman, "Using stacking to
    average Bayesian predictive distributions", Bayesian Analysis, 2018.
    """
    # Sums of rows that are drawn anew are about normal.
    n = rows.shape[1]
    sums = np.random.default_rng(seed).multivariate_normal(
        n * rows.mean(axis=1), n * np.atleast_2d(np.cov(rows)), size=_DRAWS, method="eigh"
    )
    return np.asarray(special.softmax(sums, axis=1).mean(axis=0))


def results_of(rungs: Sequence[Trials], chosen: Mapping[Setting, float]) -> dict[str, AnyArray]:
    settings = [setting for trials in rungs for setting in trials.by_part]
    tables = [trials.summary() for trials in rungs if trials.by_part]
    columns = {name: np.concatenate([each[name] for each in tables]) for name in tables[0]}
    is_last = columns["n_resources"] == rungs[-1].X.shape[0]
    weights = np.array([chosen.get(setting, 0.0) for setting in settings]) * is_last
    return {
        **_parameter_columns(settings),
        **columns,
        "rank_test_score": rankdata(-columns["mean_test_score"], method="min").astype(np.int32),
        "chosen": is_last & np.array([setting == next(iter(chosen)) for setting in settings]),
        "weight": weights / (weights.sum() or 1.0),  # rates of mistakes may be found afterwards
    }


def _parameter_columns(settings: Sequence[Setting]) -> dict[str, Any]:
    columns = {}
    parameters = [setting.parameters for setting in settings]
    for name in dict.fromkeys(itertools.chain.from_iterable(parameters)):
        rows = [row for row, of_setting in enumerate(parameters) if name in of_setting]
        values = np.array([parameters[row][name] for row in rows])
        column = np.ma.MaskedArray(np.empty(len(parameters), values.dtype), mask=True)
        column[rows] = values
        columns[f"param_{name}"] = column
    return columns


def _standard_error(differences: Array) -> float:
    return float(differences.std() / math.sqrt(len(differences)))
