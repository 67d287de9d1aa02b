"""Newton's method for linear maps of which answers judge few logits: the cells.

Each label of each map has a loss of its own, but for the common mean of biases. It depends on the
features by the inner products of its cells' rows alone. So these are computed once for all
penalties, and a step solves one small system for each label. Some four steps reach the minimum,
where L-BFGS takes dozens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import special

from complabel._parameters import Array, Bools, Ints
from complabel._training._full_batch import LinearFits, Scaling
from complabel._training._map import LinearMap

# A map is found once a step gains less than this share of its loss, or of 1 if that is smaller.
_TOLERANCE, _MOST_STEPS, _MOST_HALVINGS = 1e-7, 50, 20


@dataclass(frozen=True, eq=False)
class DualFits:
    """B maps with K outputs, as weights of the rows of their cells."""

    newton: DualNewton
    alpha: float
    weights: Array  # (B K, m): the penalty's gradient
    mean: Array  # (B K,), of biases where logits have their mean
    biases: Array  # (B, K), the same for the bias of each output
    n_iter: int

    def logits(self, rows: Sequence[Ints]) -> Array:
        """Return the logits (N, K) of some rows for each map, stacked map by map."""
        logits = []
        for own, index, of_map, biases in zip(
            self.newton.rows, rows, self._of_rows(), self.biases, strict=True
        ):
            z = self.newton.gram @ of_map
            logits.append(z[index] - z[own].mean(axis=0) + biases)
        return np.concatenate(logits)

    def as_linear(self, X: Any, scaling: Scaling) -> LinearFits:
        """Return the only map as one of X (n, d), whose scaled features these are."""
        rows = self.newton.rows[0]
        coef = np.asarray((X.T @ self._of_rows()[0]).T) * scaling.factor**2
        mean = np.asarray(X[rows].mean(axis=0), dtype=np.float64).ravel()
        model = LinearMap(coef, self.biases[0] - coef @ mean)
        logits = torch.from_numpy(self.logits(self.newton.rows).T[np.newaxis].copy())
        return LinearFits([model], np.empty((1, 0)), np.empty(1), logits, self.n_iter)

    def _of_rows(self) -> Array:
        """Return the weights of rows (B, n, K), whose sums over scaled rows are the maps."""
        newton, n = self.newton, len(self.newton.gram)
        of_rows = np.zeros((len(self.weights), n))
        np.add.at(of_rows, (np.arange(len(of_rows))[:, np.newaxis], newton.row), self.weights)
        by_map = of_rows.reshape(len(newton.rows), -1, n).transpose(0, 2, 1)
        for own, of_map in zip(newton.rows, by_map, strict=True):
            of_map[own] -= of_map.sum(axis=0) / len(own)  # those of centred rows add up to the map
            of_map /= 2 * self.alpha * len(own)
        return by_map


class DualNewton:
    """Fits of B maps of n rows with K outputs to the same cells, for any penalty."""

    def __init__(
        self,
        gram: Array,
        *,
        rows: Sequence[Ints],
        row: Ints,
        output: Ints,
        applies: Bools,
        n_outputs: int,
    ) -> None:
        """Lay out cells (C,) in a table of the ``n_outputs`` of all maps.

        ``gram`` (n, n) are inner products of scaled features. Each map is fitted to its ``rows``,
        also to those without cells. A cell is the ``row`` and the ``output`` of a logit, and
        whether the label ``applies``.
        """
        order = np.argsort(output, kind="stable")
        counts = np.bincount(output, minlength=n_outputs)
        at = output[order], np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.gram, self.rows = gram, rows
        self.row = np.zeros((n_outputs, int(counts.max())), np.int64)  # (B K, m), padded with 0
        self._applies, self._real = np.zeros(self.row.shape), np.zeros(self.row.shape)
        self.row[at], self._applies[at], self._real[at] = row[order], applies[order], 1
        self._of_map = np.repeat(np.arange(len(rows)), n_outputs // len(rows))
        self._sizes = np.array([len(own) for own in rows], dtype=np.float64)
        # The inner products of cells, centred at the mean of each map's rows.
        to_mean = np.stack([gram[:, own].mean(axis=1) for own in rows])
        at_mean = np.array([each[own].mean() for each, own in zip(to_mean, rows, strict=True)])
        near = np.take_along_axis(to_mean[self._of_map], self.row, axis=1)
        self._centred = gram[self.row[:, :, np.newaxis], self.row[:, np.newaxis]]
        self._centred -= near[:, :, np.newaxis] + near[:, np.newaxis]
        self._centred += at_mean[self._of_map, np.newaxis, np.newaxis]

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
        each = self._of_map
        kernel = self._centred / (2 * alpha * self._sizes)[each, np.newaxis, np.newaxis]
        free = variance is None or not np.isfinite(variance).all()
        wide = np.zeros(len(each)) if free else np.asarray(variance, dtype=np.float64)[each]
        kernel += wide[:, np.newaxis, np.newaxis]
        group = np.arange(len(each)) if free else each
        starts = [(np.zeros_like(self._real), np.tile(constant, len(self.rows)))]
        if start is not None:
            starts.append((start.weights * (alpha / start.alpha), start.mean))
        # The biases of a far penalty's fit may be far from the best, where curvatures vanish. So
        # each map starts where its loss is less.
        a, mean, loss, inner = self._first(starts, group, kernel)
        eye = np.eye(kernel.shape[1])
        for step in range(1, _MOST_STEPS + 1):
            z = inner + mean[:, np.newaxis]
            p = special.expit(z)
            curvature = p * (1 - p) * self._real
            root = np.sqrt(curvature)
            both = np.stack([curvature * z + (self._applies - p) * self._real, curvature], axis=2)
            system = root[:, :, np.newaxis] * kernel * root[:, np.newaxis] + eye
            solved = np.linalg.solve(system, root[:, :, np.newaxis] * (kernel @ both))
            both -= root[:, :, np.newaxis] * solved
            sums = np.stack([np.bincount(group, of)[group] for of in both.sum(axis=1).T])
            to = np.divide(sums[0], sums[1], out=mean.copy(), where=sums[1] > 0)
            toward = both[:, :, 0] - to[:, np.newaxis] * both[:, :, 1]
            length = np.ones(len(self.rows))
            for _ in range(_MOST_HALVINGS):
                part = length[each]
                there = a + part[:, np.newaxis] * (toward - a), mean + part * (to - mean)
                loss_there, inner_there = self._loss(*there, kernel)
                worse = ~(loss_there <= loss)
                if not worse.any():
                    break
                length[worse] /= 2
            gained, (a, mean) = loss - loss_there, there
            loss, inner = loss_there, inner_there
            if on_iteration is not None:
                on_iteration(step, _MOST_STEPS, float(loss.mean()))
            if (gained <= _TOLERANCE * np.maximum(loss, 1)).all():
                break
        biases = (mean + wide * a.sum(axis=1)).reshape(len(self.rows), -1)
        return DualFits(self, alpha, a, mean, biases, step)

    def _first(
        self, starts: Sequence[tuple[Array, Array]], group: Ints, kernel: Array
    ) -> tuple[Array, ...]:
        """Return each map's start with the least loss: weights, means, losses and logits."""
        best: tuple[Array, ...] = ()
        for a, ungrouped in starts:
            mean = (np.bincount(group, ungrouped) / np.bincount(group))[group]
            loss, inner = self._loss(a, mean, kernel)
            if best:
                worse = ~(loss < best[2])
                of_outputs = worse[self._of_map]
                a, mean, inner = (
                    np.where(of_outputs.reshape(-1, *[1] * (each.ndim - 1)), old, each)
                    for each, old in ((a, best[0]), (mean, best[1]), (inner, best[3]))
                )
                loss = np.where(worse, best[2], loss)
            best = a, mean, loss, inner
        return best

    def _loss(self, a: Array, mean: Array, kernel: Array) -> tuple[Array, Array]:
        """Return the mean losses (B,) of maps, and their cells' logits without the means."""
        inner = np.squeeze(kernel @ a[:, :, np.newaxis], axis=2)
        z = inner + mean[:, np.newaxis]
        loss = -special.log_expit(np.where(self._applies > 0, z, -z)) * self._real
        of_outputs = (loss + a * inner / 2).sum(axis=1)
        return np.bincount(self._of_map, of_outputs) / self._sizes, inner
