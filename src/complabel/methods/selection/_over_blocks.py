"""Fits that compute only the logits that answers are about, and fits to features in blocks.

The latter make passes over all rows: one evaluation of the objective is one pass. Each block
returns sums over its rows, and the terms that depend on means over all rows follow from these sums.
The pattern is the L-BFGS of dask-glm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import gen_batches
from torch import Tensor

from complabel._parameters import Array, Features, Floats, Ints
from complabel._training import (
    CPU,
    CellProducts,
    IterationCallback,
    LinearFits,
    LinearMap,
    MapObjective,
    minimize_maps,
    one_thread,
    products_of,
)
from complabel.methods.selection._blocks import PreparedBlocks, Transform
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._objective import Objective
from complabel.methods.selection._penalties import (
    LOG_PROPENSITIES,
    MEAN_LOGITS,
    MEAN_PROBABILITIES,
    BiasPrior,
    Penalties,
)
from complabel.methods.selection._prior import (
    level_if_alike,
    likeliest_variance,
    mean_and_information,
    slope_if_alike,
    widening,
)

# The answers about this many rows are evaluated at a time: what belongs to them stays in the
# processor's cache.
_BATCH = 8192
# Logits are computed by cells if they are at most this share of all, and at most so many for each
# row, which is copied for each.
_FEW, _MOST_COPIES = 1 / 8, 2


def fit_blocks(
    prepared: PreparedBlocks,
    likelihood: Likelihood,
    setting: Setting,
    *,
    stages: Sequence[float],
    max_iter: int,
    on_iteration: IterationCallback | None,
) -> LinearFits:
    """Fit one map to all rows in stages that end at these tolerances, from a constant map."""
    sample = likelihood.of_rows(prepared.some.rows)
    X = prepared.some.X if prepared.transform is None else prepared.transform(prepared.some.X)
    intercept = likelihood.constant_logits(setting.cardinality)
    first = LinearMap(np.zeros((len(intercept), len(prepared.scaling.shift))), intercept)
    others = Objective(likelihood, setting).start_of_others(1)
    fits = LinearFits([first], others, np.empty(1), torch.empty(0), 0)  # only a start
    dtype = torch.float32 if X.dtype == np.float32 else torch.float64
    if prepared.some.blocks.client is not None:  # the blocks are on the workers' processors
        likelihood = replace(likelihood, device=CPU)
    objective_near = _objective(prepared, likelihood, setting, dtype)
    for stage, tolerance in enumerate(stages):
        last, near = stage == len(stages) - 1, fits.models[0](X)
        fits = minimize_maps(
            objective_near(near),
            start=fits.models,
            others=fits.others,
            rank=setting.rank,
            alpha=setting.alpha,
            scaling=prepared.scaling,
            spread=prepared.spread,
            curvature=Objective(sample, setting).curvature(near),
            tolerance=tolerance,
            max_iter=max_iter,
            warn=last,
            on_iteration=on_iteration if last else None,
        )
    return fits


def over_cells(
    X: Features, objective: Objective, rows: Sequence[Ints] | None
) -> Callable[..., LinearFits] | None:
    """Return what minimizes the objective of B maps by the logits alone that answers judge.

    It takes logits near the minimum, if any are known, and what ``minimize_maps`` takes. None if
    the objective needs other logits, or if these are not few.
    """
    likelihood = objective.likelihood
    n, n_labels = likelihood.answers.shape
    dtype = {"float32": torch.float32, "float64": torch.float64}.get(str(X.dtype))
    if dtype is None or sparse.issparse(X):
        return None
    cells = objective.by_cell(dtype)
    if cells is None or len(cells[1]) > n * min(n_labels * _FEW, _MOST_COPIES):
        return None
    of_cells, item, label = cells
    each = [np.arange(n)] if rows is None else [*rows]
    counts = [len(index) for index in each]
    weights = np.ones(n) if likelihood.weights is None else likelihood.weights
    of_maps = np.split(weights, np.cumsum(counts)[:-1])
    sizes = torch.tensor([weight.sum() for weight in of_maps])
    of_map = torch.arange(len(each)).repeat_interleave(torch.tensor(counts))[item]
    output, share = of_map * n_labels + label, (1 / sizes)[of_map]
    row = torch.from_numpy(np.concatenate(each))[item]
    products = CellProducts(X, row, output, len(each) * n_labels)
    counted = [np.bincount(*of, len(X)) for of in zip(each, of_maps, strict=True)]
    totals = torch.from_numpy(np.stack(counted).astype(X.dtype) @ X)
    means = totals / sizes.to(dtype).unsqueeze(1)  # (B, d), of the rows of each map

    def minimize(near: Floats | None, **settings: Any) -> LinearFits:
        prior = objective.prior(counts, sizes, near)

        def means_and_gradients(
            coef: Tensor, bias: Tensor, others: Tensor
        ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            z = products.logits(coef.flatten(0, 1)) + bias.flatten()[output]
            losses, slope, _ = of_cells(z.unsqueeze(1), None)
            values = torch.zeros_like(sizes).index_add_(0, of_map, losses * share)
            by_cell = slope[:, 0] * share.to(dtype)
            w, b = products.pull(by_cell).view_as(coef), torch.zeros_like(bias)
            b.view(-1).index_add_(0, output, by_cell)
            if prior is not None:
                penalty, by_means = prior((coef @ means.unsqueeze(2))[:, :, 0] + bias)
                values, by_means = values + penalty, by_means.to(dtype)
                w, b = w + by_means.unsqueeze(2) * means.unsqueeze(1), b + by_means
            return values, w, b, others

        with one_thread():  # the products with the rows of one output are small
            fits = minimize_maps(means_and_gradients, dtype=dtype, **settings)
        logits = [products_of(X).logits(torch.from_numpy(m.coef).to(dtype)) for m in fits.models]
        biases = torch.from_numpy(np.stack([each.intercept for each in fits.models])).to(dtype)
        return replace(fits, logits=torch.stack(logits).add_(biases.unsqueeze(2)))

    return minimize


def _objective(
    prepared: PreparedBlocks, likelihood: Likelihood, setting: Setting, dtype: torch.dtype
) -> Callable[[Floats], MapObjective]:
    """Return what makes the objective of a map of all rows, for logits near its minimum.

    It is computed in this type and added in float64.
    """
    blocks, rows, n = prepared.some.blocks, prepared.some.rows, prepared.moments.n
    ends = np.cumsum(blocks.sizes)
    nameless = replace(likelihood, answers=replace(likelihood.answers, item_names=None))
    parts = blocks.hand_out(
        partial(_lay_out, setting=setting, dtype=dtype),
        (
            nameless.of_rows(np.arange(end - size, end))
            for end, size in zip(ends, blocks.sizes, strict=True)
        ),
    )
    objective = Objective(likelihood, setting)
    pulls_means = bool(objective.penalties().of(MEAN_PROBABILITIES))
    variance, level = None, level_if_alike(likelihood, setting)
    if level is not None:
        _, slope, information = _sums(
            blocks.map(_slope_if_alike, setting, level, dtype, each=parts)
        )
        variance = likeliest_variance(n, slope / n, information / n)
    mean = torch.from_numpy(prepared.moments.mean_)

    def means_and_gradients(
        coef: Tensor, bias: Tensor, others: Tensor, *, penalties: Penalties
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        # In this order: by weights w, biases b and other unknowns u.
        log_w = None if setting.spread is None else others[0].clone()
        maps = coef[0].clone(), bias[0].clone(), log_w
        shared = prepared.transform, setting, pulls_means, *maps
        sums = _sums(blocks.map(_sums_of, *shared, each=parts))
        value, w, b, u, *by_p = (torch.as_tensor(each) / n for each in sums)
        values = value.reshape(1)
        if penalties.of(MEAN_LOGITS):
            penalty, slope = penalties.at(MEAN_LOGITS, coef @ mean + bias)
            values, w, b = values + penalty, w + slope[0].unsqueeze(1) * mean, b + slope[0]
        if pulls_means:
            penalty, slope = penalties.at(MEAN_PROBABILITIES, by_p[0].unsqueeze(0))
            values = values + penalty
            w, b = w + slope[0].unsqueeze(1) * by_p[1], b + slope[0] * by_p[2]
        if setting.spread is not None:
            penalty, slope = penalties.at(LOG_PROPENSITIES, others)
            values, u = values + penalty / n, (slope - n * u.unsqueeze(0)) / n
        return values, w.unsqueeze(0), b.unsqueeze(0), u.reshape(others.shape)

    def near(logits: Floats) -> MapObjective:
        prior = None
        if variance is not None:
            some = likelihood.weights if likelihood.weights is None else likelihood.weights[rows]
            wide = torch.tensor([variance * widening(logits, some)], dtype=torch.float32)
            prior = BiasPrior(wide * torch.tensor([float(n)]))
        return partial(means_and_gradients, penalties=objective.penalties(prior, CPU))

    return near


def _lay_out(
    likelihood: Likelihood, *, setting: Setting, dtype: torch.dtype
) -> list[tuple[slice, Likelihood]]:
    """Return the likelihood of the answers about a block in batches, without the answers."""
    n = len(likelihood.answers)
    batches = gen_batches(n, _BATCH) if n else ()  # a block may have no answered row
    return [
        (each, likelihood.of_rows(np.arange(each.start, each.stop)).laid_out(setting, dtype))
        for each in batches
    ]


def _sums_of(
    X: Features,
    parts: list[tuple[slice, Likelihood]],
    transform: Transform | None,
    setting: Setting,
    pulls_means: bool,
    coef: Tensor,
    bias: Tensor,
    log_w: Tensor | None,
) -> list[Array]:
    """Return the sum of a block's losses, and its gradients by weights, biases and unknowns.

    If mean probabilities have a penalty, also the sum of probabilities and its gradients.
    """
    each = []
    with torch.inference_mode():
        for batch, likelihood in parts:
            x = X[batch] if transform is None else transform(X[batch])
            products = products_of(x, likelihood.device)
            where = likelihood.device, products.dtype
            logits = products.logits(coef.to(*where)).t()
            logits += bias.to(*where)
            log_w_there = None if log_w is None else log_w.to(*where)
            of_rows = Objective(likelihood, setting).of_rows()
            losses, slope, through_log_w = of_rows(logits, log_w_there)
            sums = [losses.sum(dtype=torch.float64), products.pull(slope.t()), slope.sum(dim=0)]
            sums.append(losses.new_zeros(0) if through_log_w is None else through_log_w)
            if pulls_means:
                p = torch.sigmoid(logits)
                steep = likelihood.weighted(p * (1 - p))
                sums += [likelihood.weighted(p).sum(dim=0), products.pull(steep.t()), steep.sum(0)]
            each.append([part.double().cpu().numpy() for part in sums])
    return _sums(each)


def _slope_if_alike(
    X: Features,
    parts: list[tuple[slice, Likelihood]],
    setting: Setting,
    level: float,
    dtype: torch.dtype,
) -> list[Array]:
    del X
    each = []
    for _, likelihood in parts:
        slope = slope_if_alike(likelihood, setting, level, dtype)
        n, mean, information = mean_and_information(slope.double(), likelihood.item_weights)
        each.append([np.array(float(n)), n * mean, n * information])
    return _sums(each)


def _sums(several: Any) -> list[Any]:
    sums: list[Any] = []
    for each in several:
        sums = [a + b for a, b in zip(sums, each, strict=True)] if sums else each
    return sums
