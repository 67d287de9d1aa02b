"""Newton's method for linear maps whose loss separates by label: for refits near the minimum.

Where every answer judges labels, the loss of each label depends on its own weights only. Its
Hessian is one matrix (d + 1, d + 1), which hardly changes when some answers are added. So a factor
that was computed once serves many refits: two or three passes over the judged rows reach the
minimum, where L-BFGS takes ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg, special

from complabel._parameters import AnyArray, Array, Floats, Ints
from complabel._training._full_batch import Scaling
from complabel._training._map import LinearMap

# Judged rows are gathered this many at a time: both products with them then read the cache.
_BATCH = 1024
# A label is done once its next step promises to gain less than this (mean loss of all rows). This
# step is still taken, and what it leaves is hundreds of times less.
_LEAST_GAIN = 1e-9
_MOST_STEPS, _MOST_HALVINGS = 100, 30
# After this many steps with an old factor, it is made anew.
_STEPS_WITH_OLD = 5
# A Hessian is the mean over at most this many rows for each feature: more cost more than they help.
_ROWS_PER_FEATURE = 20
# This share of the mean curvature is added, so that rounding leaves the factor positive.
_JITTER = 1e-6
# Old factors are made anew, those of labels with most new answers first, up to about this many
# multiplications in a refit. A factor is old once its label has so many times the judged rows.
_WORK, _OLD = 3e9, 1.02


@dataclass(frozen=True)
class NormalPrior:
    """The prior of each bias, at the shift of the scaling."""

    mean: float
    variance: float


@dataclass
class LabelNewton:
    """Refits of one linear map to judgements of labels, with factors kept from fit to fit."""

    scaling: Scaling  # the penalty is that of scaled features
    factors: dict[int, AnyArray] = field(default_factory=dict)  # (d + 1, d + 1), lower
    judged: dict[int, int] = field(default_factory=dict)  # rows when the factor was made

    def minimize(
        self,
        X: Floats,
        evidence: Array,
        *,
        alpha: float,
        start: LinearMap,
        prior: NormalPrior | None = None,
        n: int | None = None,
    ) -> tuple[LinearMap, int]:
        """Return the best map of X (n, d), and the number of steps of the slowest label.

        ``evidence`` (n, K) is what answers add to the log-odds of labels; 0 where nobody judged,
        infinite or huge where an answer is certain. The loss is the mean over rows of minus the
        log-likelihood, plus alpha times the squared norm of the weights of scaled features, plus
        minus the log-density of a ``prior`` of the biases divided by n. Rows of X that do not count
        have no evidence, and ``n`` is the number of those that do, by default all.
        """
        labels, maps = self._labels(X, evidence, alpha, prior, n or len(X)), self._scaled(start)
        for number in self._outdated(labels):
            self._factor(number, labels[number], maps[number])
        n_steps = 0
        for number, label in enumerate(labels):
            maps[number], steps = self._solve(number, label, maps[number])
            n_steps = max(n_steps, steps)
        coef = maps[:, :-1] * self.scaling.factor
        return LinearMap(coef, maps[:, -1] - coef @ self.scaling.shift), n_steps

    def renew(
        self,
        X: Floats,
        evidence: Array,
        *,
        alpha: float,
        at: LinearMap,
        prior: NormalPrior | None = None,
    ) -> None:
        """Make all factors anew; the arguments are those of ``minimize``."""
        labels = self._labels(X, evidence, alpha, prior, len(X))
        for number, (label, weights) in enumerate(zip(labels, self._scaled(at), strict=True)):
            self._factor(number, label, weights)

    def _labels(
        self, X: Floats, evidence: Array, alpha: float, prior: NormalPrior | None, n: int
    ) -> list[_Label]:
        columns = np.ascontiguousarray(evidence.T)
        return [
            _Label(X, np.flatnonzero(each), each[each != 0], self.scaling, alpha, prior, n)
            for each in columns
        ]

    def _scaled(self, linear: LinearMap) -> Array:
        biases = linear.intercept + linear.coef @ self.scaling.shift
        return np.column_stack([linear.coef / self.scaling.factor, biases])

    def _outdated(self, labels: list[_Label]) -> Iterator[int]:
        growth = [
            len(each.rows) / max(before, 1)
            for each, before in zip(labels, self.judged.values(), strict=True)
        ]
        work = 0.0
        for number in np.argsort(growth)[::-1].tolist():
            if growth[number] < _OLD or work > _WORK:
                break
            work += labels[number].work
            yield number

    def _factor(self, number: int, label: _Label, at: Array) -> None:
        self.factors[number] = label.factor(at)
        self.judged[number] = len(label.rows)

    def _solve(self, number: int, label: _Label, at: Array) -> tuple[Array, int]:
        loss, slope = label.evaluate(at)
        for count in range(1, _MOST_STEPS):
            if count % _STEPS_WITH_OLD == 0:
                self._factor(number, label, at)
            step = linalg.cho_solve((self.factors[number], True), slope, check_finite=False)
            promised = float(slope @ step) / 2
            if promised < _LEAST_GAIN:
                return at - step, count
            for halvings in range(_MOST_HALVINGS):
                there = at - step / 2**halvings
                loss_there, slope_there = label.evaluate(there)
                if loss_there < loss:
                    break
            else:  # only rounding is left
                return at, count
            at, loss, slope = there, loss_there, slope_there
        return at, _MOST_STEPS


@dataclass(frozen=True)
class _Label:
    """The rows that were judged for one label, and the loss of its weights."""

    X: Floats  # (n, d), of all labels
    rows: Ints  # (m,)
    evidence: Array  # (m,)
    scaling: Scaling
    alpha: float
    prior: NormalPrior | None
    n: int  # rows that count

    @property
    def work(self) -> float:
        d = self.X.shape[1] + 1
        return float(min(len(self.rows), _ROWS_PER_FEATURE * d) * d**2 + d**3 / 3)

    def evaluate(self, at: Array) -> tuple[float, Array]:
        """Return the loss and its gradient by weights of scaled features and the bias (d + 1,)."""
        n, d = self.n, self.X.shape[1]
        weights, bias = self._unscaled(at)
        loss, slope, total = 0.0, np.zeros(d), 0.0
        for batch in _batches(len(self.rows)):
            X, evidence = self.X[self.rows[batch]], self.evidence[batch]
            z = (X @ weights).astype(np.float64) + bias
            yes, no = special.log_expit(z), special.log_expit(-z)
            loss -= np.logaddexp(yes + np.minimum(evidence, 0), no + np.minimum(-evidence, 0)).sum()
            residual = special.expit(z) - special.expit(z + evidence)
            slope += residual.astype(X.dtype) @ X
            total += residual.sum()
        slope = (slope - total * self.scaling.shift) * self.scaling.factor / n
        loss += n * self.alpha * float(at[:-1] @ at[:-1])
        if self.prior is not None:
            away = at[-1] - self.prior.mean
            loss += away**2 / (2 * self.prior.variance)
            total += away / self.prior.variance
        return loss / n, np.append(slope + 2 * self.alpha * at[:-1], total / n)

    def factor(self, at: Array) -> Floats:
        """Return the lower Cholesky factor of the Hessian, in the type of X."""
        n, d = self.n, self.X.shape[1]
        weights, bias = self._unscaled(at)
        every = max(1, len(self.rows) // (_ROWS_PER_FEATURE * d))
        rows, evidence = self.rows[::every], self.evidence[::every]
        hessian = np.zeros((d + 1, d + 1), dtype=self.X.dtype)
        for batch in _batches(len(rows)):
            X = self.X[rows[batch]]
            z = (X @ weights).astype(np.float64) + bias
            p, q = special.expit(z), special.expit(z + evidence[batch])
            # Where people may err the loss is not convex; negative curvature is left out.
            root = np.sqrt(np.maximum(p * (1 - p) - q * (1 - q), 0))[:, np.newaxis]
            scaled = (X - self.scaling.shift) * self.scaling.factor
            weighted = (np.hstack([scaled, np.ones_like(root)]) * root).astype(X.dtype)
            hessian += weighted.T @ weighted
        hessian *= every / n
        diagonal = np.einsum("ii->i", hessian)
        diagonal[:-1] += 2 * self.alpha
        if self.prior is not None:
            diagonal[-1] += 1 / (self.prior.variance * n)
        diagonal += _JITTER * diagonal.mean() + np.finfo(hessian.dtype).tiny
        lower = linalg.cholesky(hessian, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(lower)

    def _unscaled(self, at: Array) -> tuple[Floats, float]:
        weights = at[:-1] * self.scaling.factor
        return weights.astype(self.X.dtype), float(at[-1] - weights @ self.scaling.shift)


def _batches(count: int) -> Iterator[slice]:
    return (slice(at, at + _BATCH) for at in range(0, count, _BATCH))
