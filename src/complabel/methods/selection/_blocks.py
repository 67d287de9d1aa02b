"""Fits to features in blocks: the search on some rows in memory, the last fit in passes over all.

One evaluation of the objective is one pass. Each block returns sums over its rows, and the terms
that depend on means over all rows follow from these sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils import gen_batches

from complabel._training import Blocks, LinearMap, Moments
from complabel.errors import InputError
from complabel.methods._arrays import Features

if TYPE_CHECKING:
    import torch

    from complabel._training import IterationCallback, LinearFits, MapObjective, Scaling, Spread
    from complabel.methods.selection._choices import Choices, Setting

# The answers about this many rows are evaluated at a time: what belongs to them stays in the
# processor's cache.
_BATCH = 8192

Transform = Callable[[Features], Features]
"""Turns rows into the features that the linear map is fitted to."""


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Features in blocks, of which some rows are in memory; these can be taken as from an array."""

    blocks: Blocks
    rows: NDArray[np.intp]  # ascending
    X: Features  # those rows
    moments: Moments  # of all rows

    @classmethod
    def of(cls, blocks: Blocks, rows: NDArray[np.intp]) -> SomeRows:
        """Check the values of all rows, and read some of them."""
        moments, (n, d) = blocks.moments(), blocks.shape
        if moments.largest > (float(np.finfo(blocks.dtype).max) / n / d) ** 0.5:
            raise InputError(
                f"X holds values up to {moments.largest:.3g}, whose squares overflow; scale the"
                " features first"
            )
        rows = np.unique(rows)
        return cls(blocks, rows, blocks.gather(rows), moments)

    @property
    def shape(self) -> tuple[int, int]:
        return self.blocks.shape

    def __getitem__(self, rows: NDArray[np.intp]) -> Features:
        return self.X[np.searchsorted(self.rows, rows)]


@dataclass(frozen=True, eq=False)
class PreparedBlocks:
    """Rows in blocks after a feature map, with the scaling for the penalty."""

    some: SomeRows
    transform: Transform | None
    moments: Moments  # of the features after the transform
    scaling: Scaling
    model: Callable[[LinearMap], Any]  # makes a map of the features before the transform

    @cached_property
    def spread(self) -> Spread:
        from complabel._training import Spread  # imports torch

        about, factor = self.moments.about / self.moments.n, self.scaling.factor
        if about.ndim == 1:
            return Spread(about * factor**2)
        return Spread.of_covariance(about * np.outer(factor, factor))

    def predictions(self, linear: LinearMap) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of labels of each block."""
        return self.some.blocks.map(_predicted, self.model(linear))

    def fit(
        self,
        choices: Choices,
        setting: Setting,
        *,
        stages: Sequence[float],
        max_iter: int,
        on_iteration: IterationCallback | None,
    ) -> LinearFits:
        """Fit one map to all rows in stages that end at these tolerances, from a constant map."""
        import torch

        from complabel._training import LinearFits, minimize_maps

        sample = choices.of_rows(self.some.rows)
        X = self.some.X if self.transform is None else self.transform(self.some.X)
        intercept = choices.constant_logits(setting.cardinality)
        first = LinearMap(np.zeros((len(intercept), len(self.scaling.shift))), intercept)
        found = LinearFits.starting_at([first], choices.start_of_others(setting, 1))
        dtype = torch.float32 if X.dtype == np.float32 else torch.float64
        objective = self._objective(choices, setting, dtype)
        for stage, tolerance in enumerate(stages):
            last = stage == len(stages) - 1
            found = minimize_maps(
                objective,
                start=found.models,
                others=found.others,
                rank=setting.rank,
                alpha=setting.alpha,
                scaling=self.scaling,
                spread=self.spread,
                curvature=sample.curvature(setting, found.models[0](X)),
                tolerance=tolerance,
                max_iter=max_iter,
                warn=last,
                on_iteration=on_iteration if last else None,
            )
        return found

    def _objective(self, choices: Choices, setting: Setting, dtype: torch.dtype) -> MapObjective:
        """Return the objective of a map of all rows, computed in this type and added in float64."""
        import torch

        from complabel.methods.selection._choices import PriorOfBiases, likeliest_variance

        blocks, n = self.some.blocks, self.some.shape[0]
        ends = np.cumsum(blocks.sizes)
        parts = blocks.hand_out(
            partial(_lay_out, setting=setting, dtype=dtype),
            (
                choices.of_rows(np.arange(end - size, end))
                for end, size in zip(ends, blocks.sizes, strict=True)
            ),
        )
        prior, level = None, choices.level_if_alike(setting)
        if level is not None:
            told = blocks.map(_slope_if_alike, setting, level, choices.judge, dtype, each=parts)
            _, slope, information = _sums(told)
            variance = likeliest_variance(n, slope / n, information / n)
            prior = PriorOfBiases.of([variance], level, judge=choices.judge)
        terms = choices.terms_of_means(setting, torch.tensor([float(n)]), prior)
        mean = torch.from_numpy(self.moments.mean_)

        def means_and_gradients(
            coef: torch.Tensor, bias: torch.Tensor, others: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
            # In this order: by weights w, biases b and other unknowns u.
            log_w = None if setting.spread is None else others[0].clone()
            shared = self.transform, setting, coef[0].clone(), bias[0].clone(), log_w
            sums = _sums(blocks.map(_sums_of, *shared, each=parts))
            value, w, b, u, *by_p = (torch.as_tensor(each) / n for each in sums)
            values = value.reshape(1)
            if prior is not None:
                more, slope = terms.of_logits(coef @ mean + bias)
                values, w, b = values + more, w + slope[0].unsqueeze(1) * mean, b + slope[0]
            if terms.frequencies is not None:
                more, slope = terms.of_probabilities(by_p[0].unsqueeze(0))
                values = values + more
                w, b = w + slope[0].unsqueeze(1) * by_p[1], b + slope[0] * by_p[2]
            if setting.spread is not None:
                more, u = terms.of_log_propensities(others, n * u.unsqueeze(0))
                values = values + more
            return values, w.unsqueeze(0), b.unsqueeze(0), u.reshape(others.shape)

        return means_and_gradients


def _lay_out(
    choices: Choices, *, setting: Setting, dtype: torch.dtype
) -> list[tuple[slice, Choices]]:
    """Return the likelihood of the answers about a block in batches, without the answers."""
    batches = gen_batches(len(choices.answers), _BATCH)
    return [
        (each, choices.of_rows(np.arange(each.start, each.stop)).laid_out(setting, dtype))
        for each in batches
    ]


def _sums_of(
    X: Features,
    parts: list[tuple[slice, Choices]],
    transform: Transform | None,
    setting: Setting,
    coef: torch.Tensor,
    bias: torch.Tensor,
    log_w: torch.Tensor | None,
) -> list[NDArray[np.float64]]:
    """Return the sum of a block's losses, and its gradients by weights, biases and unknowns.

    If frequencies are known, also the sum of probabilities and its gradients.
    """
    import torch

    from complabel._training import products_of

    each = []
    with torch.inference_mode():
        for batch, choices in parts:
            x = X[batch] if transform is None else transform(X[batch])
            products = products_of(x)
            logits = products.logits(coef.to(products.dtype)).t()
            logits += bias.to(logits.dtype)
            given = None if log_w is None else log_w.to(logits.dtype)
            losses, slope, through_log_w = choices.objective_of_rows(setting)(logits, given)
            found = [losses.sum(dtype=torch.float64), products.pull(slope.t()), slope.sum(dim=0)]
            found.append(losses.new_zeros(0) if through_log_w is None else through_log_w)
            if choices.frequencies is not None:
                p = torch.sigmoid(logits)
                steep = p * (1 - p)
                found += [p.sum(dim=0), products.pull(steep.t()), steep.sum(dim=0)]
            each.append([part.double().numpy() for part in found])
    return _sums(each)


def _slope_if_alike(
    X: Features,
    parts: list[tuple[slice, Choices]],
    setting: Setting,
    level: float,
    judge: bool,
    dtype: torch.dtype,
) -> list[NDArray[np.float64]]:
    from complabel.methods.selection._choices import mean_and_information

    del X
    each = []
    for _, choices in parts:
        slope = choices.slope_if_alike(setting, level, judge=judge, dtype=dtype)
        n, mean, information = mean_and_information(slope.double())
        each.append([np.array(float(n)), n * mean, n * information])
    return _sums(each)


def _predicted(
    X: Features, _: None, model: Callable[[Features], NDArray[np.float64]]
) -> NDArray[np.float64]:
    logits = model(X)
    return np.asarray(special.expit(logits, out=logits))


def _sums(several: Any) -> list[Any]:
    """Add lists of arrays entry by entry."""
    found: list[Any] = []
    for each in several:
        found = [a + b for a, b in zip(found, each, strict=True)] if found else each
    return found
