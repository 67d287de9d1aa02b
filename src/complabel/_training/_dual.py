"""Newton's method for linear maps of which answers judge few logits: the cells.

Each label of each map has a loss of its own, but for the common mean of biases. It depends on the
features by the inner products of its cells' rows alone. So these are computed once for all
penalties, and a step solves one small system for each label. Some four steps reach the minimum,
where L-BFGS takes dozens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from complabel._parameters import Array, Ints
from complabel._training._map import LinearMap

if TYPE_CHECKING:
    from complabel._training._full_batch import LinearFits

# A map is found once a step gains less than this share of its loss, or of 1 if that is smaller.
_TOLERANCE, _MOST_STEPS, _MOST_HALVINGS = 1e-7, 50, 20


@dataclass(frozen=True, eq=False)
class Cells:
    """Judged logits of B maps of n rows with K outputs, in a table of their B K outputs."""

    row: Ints  # (B K, m), padded with row 0
    applies: Array  # (B K, m), 0 or 1
    real: Array  # (B K, m), 0 where padded
    rows: Sequence[Ints]  # of each map, also those without cells

    @classmethod
    def of(cls, row: Ints, output: Ints, applies: Array, rows: Sequence[Ints], n: int) -> Cells:
        """Lay out cells (C,): their rows, and which of the ``n`` outputs of all maps they are."""
        order = np.argsort(output, kind="stable")
        counts = np.bincount(output, minlength=n)
        place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape, at = (n, int(counts.max())), (output[order], place)
        laid = cls(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), rows)
        laid.row[at], laid.applies[at], laid.real[at] = row[order], applies[order], 1
        return laid


@dataclass(frozen=True, eq=False)
class DualFits:
    """B maps with K outputs, as weights of the rows of their cells."""

    newton: DualNewton
    alpha: float
    weights: Array  # (B K, m): the penalty's gradient
    mean: Array  # (B K,), of biases where logits have their mean
    biases: Array  # (B K,), the same for the bias of each output
    n_iter: int

    def logits(self, rows: Sequence[Ints]) -> Array:
        """Return the logits (N, K) of some rows for each map, stacked map by map."""
        of_rows = self.newton.by_row(self.weights)  # (B, n, K)
        found = []
        for number, index in enumerate(rows):
            inner, each = self.newton.inner[number], of_rows[number]
            near, total = inner.to_mean, each.sum(axis=0)
            scale = 2 * self.alpha * len(self.newton.cells.rows[number])
            z = self.newton.gram[index] @ each - np.outer(near[index] - inner.at_mean, total)
            found.append((z - near @ each) / scale + self._split(self.biases)[number])
        return np.concatenate(found)

    def as_linear(self, X: Any, scaling: Any) -> LinearFits:
        """Return the first map as one of X (n, d), whose scaled features these are."""
        from complabel._training._full_batch import LinearFits

        rows = self.newton.cells.rows[0]
        each = self.newton.by_row(self.weights)[0] / (2 * self.alpha * len(rows))
        mean = np.asarray(X[rows].mean(axis=0), dtype=np.float64).ravel()
        coef = np.asarray((X.T @ each).T - np.outer(each.sum(axis=0), mean)) * scaling.factor**2
        model = LinearMap(coef, self._split(self.biases)[0] - coef @ mean)
        logits = self.logits([rows]).T[np.newaxis].copy()
        return LinearFits.of_logits([model], logits, self.n_iter)

    def _split(self, values: Array) -> Array:
        return values.reshape(len(self.newton.cells.rows), -1)


@dataclass(frozen=True)
class _Inner:
    """Inner products of rows with the mean of some, and that of the mean with itself."""

    to_mean: Array  # (n,)
    at_mean: float


class DualNewton:
    """Fits of the same cells for any penalty."""

    def __init__(self, gram: Array, cells: Cells) -> None:
        self.gram, self.cells = gram, cells  # (n, n) of scaled features
        means = [gram[:, rows].mean(axis=1) for rows in cells.rows]
        self.inner = [
            _Inner(each, float(each[rows].mean()))
            for each, rows in zip(means, cells.rows, strict=True)
        ]
        of_map = np.repeat(np.arange(len(means)), len(cells.row) // len(means))
        near = np.take_along_axis(np.stack(means)[of_map], cells.row, axis=1)
        centred = gram[cells.row[:, :, np.newaxis], cells.row[:, np.newaxis]]
        centred -= near[:, :, np.newaxis] + near[:, np.newaxis]
        centred += np.array([each.at_mean for each in self.inner])[of_map, np.newaxis, np.newaxis]
        self._centred, self._of_map = centred, of_map
        self._sizes = np.array([len(rows) for rows in cells.rows], dtype=np.float64)

    def by_row(self, weights: Array) -> Array:
        """Return the sums of cells' weights by row and output of each map, (B, n, K)."""
        n_maps, n = len(self.inner), len(self.gram)
        found = np.zeros((len(weights), n))
        np.add.at(found, (np.arange(len(weights))[:, np.newaxis], self.cells.row), weights)
        return found.reshape(n_maps, -1, n).transpose(0, 2, 1)

    def minimize(
        self,
        alpha: float,
        variance: Array | None,
        *,
        constant: Array,
        start: DualFits | None,
        on_iteration: Callable[[int, int, float], None] | None = None,
    ) -> DualFits:
        """Return the maps with the least mean loss plus alpha times their squared norm.

        Biases, where the features have their mean over a map's rows, are drawn to their own mean as
        by a normal prior of this ``variance`` (B,); None leaves them free. A fit starts from the
        ``constant`` logits (K,), or from another penalty's fit.

        Source: Rasmussen and Williams, "Gaussian processes for machine learning", 2006, algorithm
        3.1: maps are Gaussian processes whose covariance is that of the features over the penalty.
        """
        cells, each = self.cells, self._of_map
        kernel = self._centred / (2 * alpha * self._sizes)[each, np.newaxis, np.newaxis]
        free = variance is None or not np.isfinite(variance).all()
        wide = np.zeros(len(each)) if free else np.asarray(variance, dtype=np.float64)[each]
        kernel += wide[:, np.newaxis, np.newaxis]
        group = np.arange(len(each)) if free else each
        a, mean = np.zeros_like(cells.real), np.tile(constant, len(self.inner))
        if start is not None:
            a, mean = start.weights * (alpha / start.alpha), start.mean
        mean = (np.bincount(group, mean) / np.bincount(group))[group]
        told = np.bincount(group, cells.real.sum(axis=1))[group] > 0
        loss, inner = self._loss(a, mean, kernel)
        eye = np.eye(kernel.shape[1])
        for step in range(1, _MOST_STEPS + 1):
            z = inner + mean[:, np.newaxis]
            p = special.expit(z)
            curvature = p * (1 - p) * cells.real
            root = np.sqrt(curvature)
            both = np.stack([curvature * z + (cells.applies - p) * cells.real, curvature], axis=2)
            system = root[:, :, np.newaxis] * kernel * root[:, np.newaxis] + eye
            solved = np.linalg.solve(system, root[:, :, np.newaxis] * (kernel @ both))
            both -= root[:, :, np.newaxis] * solved
            sums = np.stack([np.bincount(group, of)[group] for of in both.sum(axis=1).T])
            to = np.divide(sums[0], sums[1], out=mean.copy(), where=told & (sums[1] > 0))
            toward = both[:, :, 0] - to[:, np.newaxis] * both[:, :, 1]
            length = np.ones(len(self.inner))
            for _ in range(_MOST_HALVINGS):
                part = length[each]
                there = a + part[:, np.newaxis] * (toward - a), mean + part * (to - mean)
                found, inner_there = self._loss(*there, kernel)
                worse = ~(found <= loss)
                if not worse.any():
                    break
                length[worse] /= 2
            gained, (a, mean) = loss - found, there
            loss, inner = found, inner_there
            if on_iteration is not None:
                on_iteration(step, _MOST_STEPS, float(loss.mean()))
            if (gained <= _TOLERANCE * np.maximum(loss, 1)).all():
                break
        return DualFits(self, alpha, a, mean, mean + wide * a.sum(axis=1), step)

    def _loss(self, a: Array, mean: Array, kernel: Array) -> tuple[Array, Array]:
        """Return the mean losses (B,) of maps, and their cells' logits without the means."""
        inner = np.squeeze(kernel @ a[:, :, np.newaxis], axis=2)
        z = inner + mean[:, np.newaxis]
        loss = -special.log_expit(np.where(self.cells.applies > 0, z, -z)) * self.cells.real
        of_outputs = (loss + a * inner / 2).sum(axis=1)
        return np.bincount(self._of_map, of_outputs) / self._sizes, inner
