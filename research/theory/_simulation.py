"""Simulated excess risks of methods, against the number of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from research.theory._choice import uniform_choice
from research.theory._fits import (
    Shares,
    fit_mlcl,
    fit_plain_selection,
    fit_selection,
    fit_supervised,
    fit_transition,
)
from research.theory._joint import JointDistribution
from research.theory._transition import complementary_probabilities, exact_transition
from scipy import special

from complabel._parameters import check_integer
from complabel.transition import uniform_transition

if TYPE_CHECKING:
    from numpy.typing import NDArray

_N_LABELS = 5
_N_FEATURES = 5
_N_POINTS = 5000
_N_SINGLE_POINTS = 20
_SIGNAL = 2.0  # standard deviation of the logits over x
_BIAS = -0.5
_SLOPE_FROM = 1000  # with fewer items, the excess does not yet follow a power of n

WORLDS: Final[Mapping[str, str]] = {
    "several labels": "several labels apply; logits are linear in five Gaussian features",
    "one label": "one label applies; twenty x, any probabilities",
}
"""The simulated worlds, by name."""

CRITERIA: Final[Mapping[str, str]] = {
    "ranking": "excess ranking risk",
    "squared": "mean squared error of p(y|x)",
    "Hamming": "excess Hamming loss",
}
"""The criteria, by name. They are computed exactly over all x of a world.

The ranking risk is the mean over pairs of labels of the probability that one label applies, the
other does not, and the other is ranked higher. The excess is the risk of a method minus the risk
of p(y|x) itself.
"""


@dataclass(frozen=True, eq=False)
class World:
    """A distribution, the features of its x, the uniform choice, and the exact T."""

    name: str
    features: NDArray[np.float64]
    distribution: JointDistribution
    choice: NDArray[np.float64]
    transition: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """The excess of one method in one world by one criterion, for each number of items."""

    world: str
    method: str
    criterion: str
    sizes: tuple[int, ...]
    excess: NDArray[np.float64]
    """(repeats, sizes), the excess in each repeat."""
    limit: float
    """The excess if the method is fitted to the exact probabilities, as with endless data."""
    slope: float
    """Slope of log(excess) over log(n) from 1,000 items on, as a mean over repeats. It is NaN if
    fewer than two sizes are that large."""
    slope_error: float
    """Standard error of the slope over repeats; NaN if there is one repeat."""


def make_world(name: str, *, random_state: int = 0) -> World:
    """Make a world of five labels.

    Parameters
    ----------
    name : {"several labels", "one label"}
        A key of ``WORLDS``.
    random_state : int, default=0
        Seed of the world.

    Returns
    -------
    World
    """
    rng = np.random.default_rng([random_state, 1])
    if name == "one label":
        features = np.eye(_N_SINGLE_POINTS)
        single = np.zeros((_N_SINGLE_POINTS, 2**_N_LABELS - 2))
        single[:, 2 ** np.arange(_N_LABELS) - 1] = rng.dirichlet(
            np.ones(_N_LABELS), _N_SINGLE_POINTS
        )
        distribution = JointDistribution(np.full(_N_SINGLE_POINTS, 1 / _N_SINGLE_POINTS), single)
    else:
        features = rng.normal(size=(_N_POINTS, _N_FEATURES))
        weights = rng.normal(size=(_N_FEATURES, _N_LABELS))
        weights *= _SIGNAL / np.linalg.norm(weights, axis=0)
        biases = _BIAS + 0.3 * rng.normal(size=_N_LABELS)
        distribution = JointDistribution.independent(special.expit(features @ weights + biases))
    choice = uniform_choice(_N_LABELS)
    return World(name, features, distribution, choice, exact_transition(distribution, choice))


def simulate_once(
    name: str, sizes: Sequence[int | None], *, repeat: int = 0, random_state: int = 0
) -> dict[tuple[str, str], list[float]]:
    """Fit every method to one new sample of a world for each size.

    Parameters
    ----------
    name : {"several labels", "one label"}
        A key of ``WORLDS``.
    sizes : sequence of int or None
        Numbers of items. None stands for endless data: fits get the exact probabilities.
    repeat : int, default=0
        Number of the repeat. Repeats have the same world and different samples.
    random_state : int, default=0
        Seed of the world and the samples.

    Returns
    -------
    dict of (method, criterion) to list of float
        The excess for each size.

    Raises
    ------
    InputError
        If a size is not positive.
    """
    world = make_world(name, random_state=random_state)
    truth, weights = world.distribution.marginals, world.distribution.weights
    rng = np.random.default_rng([random_state, 2, repeat])
    found: dict[tuple[str, str], list[float]] = {}
    for size in sizes:
        if size is None:
            named = complementary_probabilities(world.distribution, world.choice)
            at = weights[:, np.newaxis]
            shares = Shares(world.features, weights, at * named, at * truth)
        else:
            check_integer("size", size, at_least=1)
            sample = world.distribution.sample(size, world.choice, random_state=rng)
            shares = Shares.of_sample(sample, world.features)
        for method, scores in _fits(world, shares).items():
            for criterion, values in excess_risks(scores, truth).items():
                found.setdefault((method, criterion), []).append(float(weights @ values))
    return found


def _fits(world: World, shares: Shares) -> dict[str, NDArray[np.float64]]:
    """Return the scores (m, K) of every method."""
    several = world.name == "several labels"
    found = {"supervised": fit_supervised(shares) if several else _label_shares(shares)}
    if several:
        found["selection likelihood"] = fit_selection(shares, world.choice)
        found["selection likelihood, empty and full Y possible"] = fit_plain_selection(shares)
    found["MLCL, exact T"] = fit_mlcl(shares, world.transition)
    found["MLCL, T estimated"] = fit_mlcl(shares, fit_transition(shares))
    if several:  # if one label applies, the uniform T is the exact one
        found["MLCL, uniform T"] = fit_mlcl(shares, uniform_transition(_N_LABELS))
    return found


def _label_shares(shares: Shares) -> NDArray[np.float64]:
    """Return the share of items with each label at each x, (m, K).

    An x without items gets the shares over all items.
    """
    items = shares.items[:, np.newaxis]
    overall = np.broadcast_to(shares.relevant.sum(axis=0), shares.relevant.shape).copy()
    return np.asarray(np.divide(shares.relevant, items, out=overall, where=items > 0))


def excess_risks(
    scores: NDArray[np.float64], truth: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return how much larger the risk of scores is than the risk of p(y|x), at each x.

    Parameters
    ----------
    scores : ndarray of shape (m, K), float64
        Scores of the labels. The criteria "squared" and "Hamming" take them as probabilities.
    truth : ndarray of shape (m, K), float64
        p(y_k = 1 | x).

    Returns
    -------
    dict of str to ndarray of shape (m,), float64
        The excess by criterion.
    """
    ahead = np.maximum(truth[:, :, np.newaxis] - truth[:, np.newaxis, :], 0)  # (m, K, K)
    lead = scores[:, :, np.newaxis] - scores[:, np.newaxis, :]
    reversed_ = np.where(lead < 0, 1.0, np.where(lead == 0, 0.5, 0.0)) * ahead
    n_labels = truth.shape[1]
    wrong = (scores > 0.5) != (truth > 0.5)
    return {
        "ranking": reversed_.sum(axis=(1, 2)) / (n_labels * (n_labels - 1) / 2),
        "squared": np.square(scores - truth).mean(axis=1),
        "Hamming": (np.abs(2 * truth - 1) * wrong).mean(axis=1),
    }


def risk_curves(
    name: str,
    sizes: Sequence[int],
    repeats: Sequence[Mapping[tuple[str, str], Sequence[float]]],
    limits: Mapping[tuple[str, str], Sequence[float]],
) -> list[RiskCurve]:
    """Combine the results of :func:`simulate_once` over repeats.

    Parameters
    ----------
    name : str
        Name of the world.
    sizes : sequence of int
        Numbers of items.
    repeats : sequence of mappings
        Results of the repeats for these sizes.
    limits : mapping
        Results for the single size None.

    Returns
    -------
    list of RiskCurve
        One for each method and criterion.
    """
    curves = []
    for (method, criterion), (limit,) in limits.items():
        if name == "one label" and criterion != "squared":
            continue  # with few x, all decisions are right from some n on, so there is no slope
        excess = np.array([repeat[method, criterion] for repeat in repeats])
        slope, error = _slope(np.asarray(sizes, dtype=np.float64), excess)
        curves.append(RiskCurve(name, method, criterion, tuple(sizes), excess, limit, slope, error))
    return curves


def _slope(sizes: NDArray[np.float64], excess: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean over repeats of the slope on logarithmic axes, and its standard error."""
    used = sizes >= _SLOPE_FROM
    nan = float("nan")
    if used.sum() < 2:
        return nan, nan
    # An excess of 0 has no logarithm, so the smallest positive number replaces it.
    logs = np.log(np.maximum(excess[:, used], np.finfo(np.float64).tiny))
    slopes = np.polyfit(np.log(sizes[used]), logs.T, 1)[0]
    error = slopes.std(ddof=1) / np.sqrt(len(slopes)) if len(slopes) > 1 else nan
    return float(slopes.mean()), float(error)
