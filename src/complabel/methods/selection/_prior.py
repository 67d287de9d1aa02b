"""The prior of biases: how wide it is, found from the answers.

Few answers say little about how often each label applies: without a prior, errors of the biases
order the labels. Let labels be alike, with scores g and information matrix H of the biases. Then
g / n has the variance H / n, and H / n + v H^2 if biases have the variance v. The likeliest v is
taken. Source: Efron and Morris, "Stein's estimation rule and its competitors: an empirical Bayes
approach", JASA 1973.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy import special
from torch import Tensor

from complabel._parameters import Array, Floats
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._penalties import information

# The variance of the prior of biases is searched between these multiples of the variance of their
# errors. A stronger prior would slow the optimizer down.
_LEAST_PRIOR, _MOST_PRIOR, _N_PRIORS = 0.1, 1e4, 51
# Combinations of biases with less than this share of the largest information are not determined;
# rounding in single precision leaves some 1e-5.
_LEAST_SHARE = 1e-4


def variances_of_biases(
    likelihood: Likelihood, setting: Setting, sizes: Sequence[int], near: Floats | None = None
) -> Tensor | None:
    """Return the variances (B,) of normal priors of the biases of B maps around their mean.

    The maps have ``sizes`` (B,) items each. The likeliest variances are widened for logits ``near``
    (N, K). None, without a prior, if frequencies are known, or if fitted propensities, mistakes or
    rates of exclusion also decide how often a label is chosen.
    """
    level = level_if_alike(likelihood, setting)
    if level is None:
        return None

    def likeliest() -> Tensor:
        scores = slope_if_alike(likelihood, setting, level)
        weights = likelihood.item_weights
        of_maps = [None] * len(sizes) if weights is None else torch.split(weights, [*sizes])
        maps = zip(torch.split(scores, [*sizes]), of_maps, strict=True)
        variances = [likeliest_variance(*mean_and_information(*each)) for each in maps]
        return torch.tensor(variances, dtype=torch.float32, device=likelihood.device)

    key = "variances of biases", setting.cardinality, tuple(sizes)
    variances: Tensor = likelihood.once(key, likeliest)
    if near is None:
        return variances
    weights = np.ones(len(near)) if likelihood.weights is None else likelihood.weights
    ends = np.cumsum(sizes)[:-1]
    of_maps = zip(np.split(near, ends), np.split(weights, ends), strict=True)
    return variances * variances.new_tensor([widening(*each) for each in of_maps])


def level_if_alike(likelihood: Likelihood, setting: Setting) -> float | None:
    """Return the logit that labels have if they are alike; None if biases have no prior."""
    if not likelihood.known.leave_biases_open(setting):
        return None
    p = special.expit(likelihood.constant_logits(setting.cardinality))
    return float(special.logit(p.mean()))


def slope_if_alike(
    likelihood: Likelihood, setting: Setting, level: float, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return the scores (n, K) of biases where labels are alike."""
    alike = torch.full(likelihood.answers.shape, level, dtype=dtype, device=likelihood.device)
    with torch.inference_mode():
        slope = likelihood.slope_at(setting, alike)
        slope -= slope.mean(dim=1, keepdim=True)  # only differences have a prior
    return slope


def mean_and_information(slope: Tensor, weights: Tensor | None) -> tuple[float, Array, Array]:
    """Return the number of items, and the mean (K,) and the information (K, K) of gradients.

    The gradients (n, K) are weight times g, and the number of items is the sum of weights.
    """
    n = len(slope) if weights is None else float(weights.sum())
    mean = slope.mean(dim=0, dtype=torch.float64).cpu().numpy() * (len(slope) / n)
    return n, mean, information(slope, weights)


def widening(logits: Floats, weights: Array | None = None) -> float:
    """Return how many times greater biases' variance is than the variance of frequencies' logits.

    The more the logits (n, K) differ between items, with ``weights`` (n,), the nearer to 0 is the
    logit of a label's mean probability, beside its bias. Source: MacKay, "The evidence framework
    applied to classification networks", Neural Computation 1992.
    """
    centred = logits - np.average(logits, axis=0, weights=weights)
    return 1 + math.pi / 8 * float(np.average(centred**2, axis=0, weights=weights).mean())


def likeliest_variance(n: float, mean: Array, information: Array) -> float:
    """Return the v for which the mean of n gradients, with H / n + v H^2, is likeliest."""
    sizes, vectors = np.linalg.eigh(information)
    determined = sizes > _LEAST_SHARE * sizes.max()
    if not determined.any():
        return math.inf
    sizes = sizes[determined]
    score = mean @ vectors[:, determined]
    tried = np.geomspace(_LEAST_PRIOR, _MOST_PRIOR, _N_PRIORS) / (n * sizes.mean())
    variance = sizes / n + tried[:, np.newaxis] * sizes**2
    return float(tried[np.argmin((np.log(variance) + score**2 / variance).sum(axis=1))])
