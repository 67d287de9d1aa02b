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
from complabel.methods.selection._choices import (
    Choices,
    Setting,
    TermsOfMeans,
    likeliest_variance,
    mean_and_information,
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
    choices: Choices,
    setting: Setting,
    *,
    stages: Sequence[float],
    max_iter: int,
    on_iteration: IterationCallback | None,
) -> LinearFits:
    """Fit one map to all rows in stages that end at these tolerances, from a constant map."""
    sample = choices.of_rows(prepared.some.rows)
    X = prepared.some.X if prepared.transform is None else prepared.transform(prepared.some.X)
    intercept = choices.constant_logits(setting.cardinality)
    first = LinearMap(np.zeros((len(intercept), len(prepared.scaling.shift))), intercept)
    found = LinearFits.starting_at([first], choices.start_of_others(setting, 1))
    dtype = torch.float32 if X.dtype == np.float32 else torch.float64
    if prepared.some.blocks.client is not None:  # the blocks are on the workers' processors
        choices = replace(choices, device=CPU)
    objective_near = _objective(prepared, choices, setting, dtype)
    for stage, tolerance in enumerate(stages):
        last, near = stage == len(stages) - 1, found.models[0](X)
        found = minimize_maps(
            objective_near(near),
            start=found.models,
            others=found.others,
            rank=setting.rank,
            alpha=setting.alpha,
            scaling=prepared.scaling,
            spread=prepared.spread,
            curvature=sample.curvature(setting, near),
            tolerance=tolerance,
            max_iter=max_iter,
            warn=last,
            on_iteration=on_iteration if last else None,
        )
    return found


def over_cells(
    X: Features, choices: Choices, setting: Setting, rows: Sequence[Ints] | None
) -> Callable[..., LinearFits] | None:
    """Return what minimizes the objective of B maps by the logits alone that answers judge.

    It takes logits near the minimum, if any are known, and what ``minimize_maps`` takes. None if
    the objective needs other logits, or if these are not few.
    """
    n, n_labels = choices.answers.shape
    dtype = {"float32": torch.float32, "float64": torch.float64}.get(str(X.dtype))
    if dtype is None or sparse.issparse(X):
        return None
    found = choices.by_cell(setting, dtype)
    if found is None or len(found[1]) > n * min(n_labels * _FEW, _MOST_COPIES):
        return None
    of_rows, item, label = found
    each = [np.arange(n)] if rows is None else [*rows]
    counts = [len(index) for index in each]
    weights = np.ones(n) if choices.weights is None else choices.weights
    of_maps = np.split(weights, np.cumsum(counts)[:-1])
    sizes = torch.tensor([weight.sum() for weight in of_maps])
    of_map = torch.arange(len(each)).repeat_interleave(torch.tensor(counts))[item]
    output, share = of_map * n_labels + label, (1 / sizes)[of_map]
    row = torch.from_numpy(np.concatenate(each))[item]
    products = CellProducts(X, row, output, len(each) * n_labels)
    counted = [np.bincount(*of, len(X)) for of in zip(each, of_maps, strict=True)]
    totals = torch.from_numpy(np.stack(counted).astype(X.dtype) @ X)
    means = totals / sizes.to(dtype).unsqueeze(1)  # (B, d), of the rows of each map

    def minimize(near: Floats | None, **how: Any) -> LinearFits:
        variances = choices.variances_of_biases(setting, counts, near)
        terms = choices.terms_of_means(setting, sizes, variances)

        def means_and_gradients(
            coef: Tensor, bias: Tensor, others: Tensor
        ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            z = products.logits(coef.flatten(0, 1)) + bias.flatten()[output]
            losses, slope, _ = of_rows(z.unsqueeze(1), None)
            values = torch.zeros_like(sizes).index_add_(0, of_map, losses * share)
            of_cells = slope[:, 0] * share.to(dtype)
            w, b = products.pull(of_cells).view_as(coef), torch.zeros_like(bias)
            b.view(-1).index_add_(0, output, of_cells)
            if terms.variances is not None:
                more, by_means = terms.of_logits((coef @ means.unsqueeze(2))[:, :, 0] + bias)
                values, by_means = values + more, by_means.to(dtype)
                w, b = w + by_means.unsqueeze(2) * means.unsqueeze(1), b + by_means
            return values, w, b, others

        with one_thread():  # the products with the rows of one output are small
            found = minimize_maps(means_and_gradients, dtype=dtype, **how)
        logits = [products_of(X).logits(torch.from_numpy(m.coef).to(dtype)) for m in found.models]
        biases = torch.from_numpy(np.stack([each.intercept for each in found.models])).to(dtype)
        return replace(found, logits=torch.stack(logits).add_(biases.unsqueeze(2)))

    return minimize


def _objective(
    prepared: PreparedBlocks, choices: Choices, setting: Setting, dtype: torch.dtype
) -> Callable[[Floats], MapObjective]:
    """Return what makes the objective of a map of all rows, for logits near its minimum.

    It is computed in this type and added in float64.
    """
    blocks, rows, n = prepared.some.blocks, prepared.some.rows, prepared.moments.n
    ends = np.cumsum(blocks.sizes)
    nameless = replace(choices, answers=replace(choices.answers, item_names=None))
    parts = blocks.hand_out(
        partial(_lay_out, setting=setting, dtype=dtype),
        (
            nameless.of_rows(np.arange(end - size, end))
            for end, size in zip(ends, blocks.sizes, strict=True)
        ),
    )
    variance, level = None, choices.level_if_alike(setting)
    if level is not None:
        _, slope, information = _sums(
            blocks.map(_slope_if_alike, setting, level, dtype, each=parts)
        )
        variance = likeliest_variance(n, slope / n, information / n)
    mean = torch.from_numpy(prepared.moments.mean_)

    def means_and_gradients(
        coef: Tensor, bias: Tensor, others: Tensor, *, terms: TermsOfMeans
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        # In this order: by weights w, biases b and other unknowns u.
        log_w = None if setting.spread is None else others[0].clone()
        shared = prepared.transform, setting, coef[0].clone(), bias[0].clone(), log_w
        sums = _sums(blocks.map(_sums_of, *shared, each=parts))
        value, w, b, u, *by_p = (torch.as_tensor(each) / n for each in sums)
        values = value.reshape(1)
        if terms.variances is not None:
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

    def near(logits: Floats) -> MapObjective:
        wide = None
        if variance is not None:
            some = choices.weights if choices.weights is None else choices.weights[rows]
            wide = torch.tensor([variance * widening(logits, some)], dtype=torch.float32)
        terms = choices.terms_of_means(setting, torch.tensor([float(n)]), wide)
        return partial(means_and_gradients, terms=terms)

    return near


def _lay_out(
    choices: Choices, *, setting: Setting, dtype: torch.dtype
) -> list[tuple[slice, Choices]]:
    """Return the likelihood of the answers about a block in batches, without the answers."""
    n = len(choices.answers)
    batches = gen_batches(n, _BATCH) if n else ()  # a block may have no answered row
    return [
        (each, choices.of_rows(np.arange(each.start, each.stop)).laid_out(setting, dtype))
        for each in batches
    ]


def _sums_of(
    X: Features,
    parts: list[tuple[slice, Choices]],
    transform: Transform | None,
    setting: Setting,
    coef: Tensor,
    bias: Tensor,
    log_w: Tensor | None,
) -> list[Array]:
    """Return the sum of a block's losses, and its gradients by weights, biases and unknowns.

    If frequencies are known, also the sum of probabilities and its gradients.
    """
    each = []
    with torch.inference_mode():
        for batch, choices in parts:
            x = X[batch] if transform is None else transform(X[batch])
            products = products_of(x, choices.device)
            where = choices.device, products.dtype
            logits = products.logits(coef.to(*where)).t()
            logits += bias.to(*where)
            given = None if log_w is None else log_w.to(*where)
            losses, slope, through_log_w = choices.objective_of_rows(setting)(logits, given)
            found = [losses.sum(dtype=torch.float64), products.pull(slope.t()), slope.sum(dim=0)]
            found.append(losses.new_zeros(0) if through_log_w is None else through_log_w)
            if choices.frequencies is not None:
                p = torch.sigmoid(logits)
                steep = choices.weighted(p * (1 - p))
                found += [choices.weighted(p).sum(dim=0), products.pull(steep.t()), steep.sum(0)]
            each.append([part.double().cpu().numpy() for part in found])
    return _sums(each)


def _slope_if_alike(
    X: Features,
    parts: list[tuple[slice, Choices]],
    setting: Setting,
    level: float,
    dtype: torch.dtype,
) -> list[Array]:
    del X
    each = []
    for _, choices in parts:
        slope = choices.slope_if_alike(setting, level, dtype)
        n, mean, information = mean_and_information(slope.double(), choices.item_weights)
        each.append([np.array(float(n)), n * mean, n * information])
    return _sums(each)


def _sums(several: Any) -> list[Any]:
    """Add lists of arrays entry by entry."""
    found: list[Any] = []
    for each in several:
        found = [a + b for a, b in zip(found, each, strict=True)] if found else each
    return found
