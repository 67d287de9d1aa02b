"""Families of p(Y|x), as arrays whose last axis runs over the label sets."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from research.theory._label_sets import label_sets
from scipy import optimize

from complabel.errors import InputError

_TOLERANCE = 1e-8
"""Largest allowed error of a fitted moment. A solver that converges has a far smaller one."""


def independent_sets(marginals: ArrayLike) -> NDArray[np.float64]:
    """Return p(Y|x) of independent labels, given that Y is neither empty nor full."""
    chances = np.asarray(marginals, dtype=np.float64)
    if chances.ndim < 2 or not ((chances >= 0) & (chances <= 1)).all():
        raise InputError("marginals must be an array (..., m, K) of numbers from 0 to 1")
    product = np.ones((*chances.shape[:-1], 1))
    for label in range(chances.shape[-1]):  # each label doubles the sets, as their highest bit
        chance = chances[..., label, np.newaxis]
        product = np.concatenate([product * (1 - chance), product * chance], axis=-1)
    return normalized(product[..., 1:-1])


def ising_sets(fields: ArrayLike, couplings: ArrayLike) -> NDArray[np.float64]:
    """Return p(Y|x) proportional to exp(sum_k h_k y_k + sum_{j<k} J_jk y_j y_k)."""
    h = np.asarray(fields, dtype=np.float64)  # (..., m, K)
    J = np.asarray(couplings, dtype=np.float64)  # (K, K), or (..., m, K, K)
    if (
        h.ndim < 2
        or J.shape[-2:] != (h.shape[-1],) * 2
        or not np.array_equal(J, J.swapaxes(-1, -2))
    ):
        raise InputError(
            f"fields {h.shape} must be (..., m, K), couplings {J.shape} symmetric (K, K)"
        )
    if np.diagonal(J, axis1=-2, axis2=-1).any():
        raise InputError("couplings must be 0 on their diagonal; fields hold single labels")
    sets = label_sets(h.shape[-1])
    energy = h @ sets.T + ((sets @ J) * sets).sum(axis=-1) / 2
    return normalized(np.exp(energy - energy.max(axis=-1, keepdims=True)))


def fitted_ising_sets(marginals: ArrayLike, covariances: ArrayLike) -> NDArray[np.float64]:
    """Return the Ising p(Y|x) that has these marginals (m, K) and covariances of labels given x.

    It has the largest entropy of all distributions with these moments. So the fields and
    couplings minimize a convex function: log Z minus their product with the moments.
    """
    means = np.asarray(marginals, dtype=np.float64)
    if means.ndim != 2:
        raise InputError(f"marginals must be an array (m, K), got one of shape {means.shape}")
    n_labels = means.shape[1]
    given = np.broadcast_to(np.asarray(covariances, dtype=np.float64), (*means.shape, n_labels))
    pairs = np.triu_indices(n_labels, 1)
    sets = label_sets(n_labels)
    statistics = np.hstack([sets, sets[:, pairs[0]] * sets[:, pairs[1]]])  # (sets, K + pairs)
    together = given[:, *pairs] + means[:, pairs[0]] * means[:, pairs[1]]
    targets = np.hstack([means, together])
    return np.stack([_fit(statistics, target, x) for x, target in enumerate(targets)])


def _fit(
    statistics: NDArray[np.float64], target: NDArray[np.float64], x: int
) -> NDArray[np.float64]:
    """Return the distribution over sets whose mean statistics are the target."""

    def distribution(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        energy = statistics @ theta
        top = energy.max()
        weights: NDArray[np.float64] = np.exp(energy - top)
        total = float(weights.sum())
        return float(top + np.log(total)), weights / total

    def value(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        log_total, chances = distribution(theta)
        return float(log_total - theta @ target), np.asarray(chances @ statistics - target)

    def curvature(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        chances = distribution(theta)[1]
        mean = chances @ statistics
        second = (statistics * chances[:, np.newaxis]).T @ statistics
        return np.asarray(second - np.outer(mean, mean))

    solver: Any = optimize.minimize
    found = solver(
        value,
        np.zeros(statistics.shape[1]),
        jac=True,
        hess=curvature,
        method="trust-ncg",
        options={"gtol": _TOLERANCE / 10, "maxiter": 500},
    )
    off = float(np.abs(value(found.x)[1]).max())
    if off > _TOLERANCE:
        raise InputError(
            f"no Ising distribution with these marginals and covariances at x {x}: the nearest "
            f"one found is off by {off:.1e}. Covariances may be too strong for the marginals"
        )
    return distribution(found.x)[1]


def dependent_sets(
    group: ArrayLike, *, n_labels: int, exclusive: ArrayLike | None
) -> NDArray[np.float64]:
    """Return p(Y|x) where Y is a set of the first labels, or one of the other labels alone."""
    within = np.asarray(group, dtype=np.float64)
    sets = np.zeros((*within.shape[:-1], len(label_sets(n_labels))))
    n_dependent = int(within.shape[-1] + 1).bit_length() - 1
    if within.ndim < 2 or within.shape[-1] + 1 != 2**n_dependent or not 2 <= n_dependent < n_labels:
        raise InputError(
            f"group has shape {within.shape}; give (..., m, 2**s - 1) probabilities of the "
            f"non-empty sets of s dependent labels, 2 <= s < {n_labels}"
        )
    sets[..., : within.shape[-1]] = within
    if exclusive is not None:
        alone = 2 ** np.arange(n_dependent, n_labels) - 1
        sets[..., alone] = np.asarray(exclusive, dtype=np.float64)
    return sets


def normalized(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide by the sums over the last axis, which must be positive."""
    totals = weights.sum(axis=-1, keepdims=True)
    if not (totals > 0).all():
        raise InputError("at some x no label set is possible but the empty or the full one")
    return np.asarray(weights / totals)
