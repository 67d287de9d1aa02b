"""Linear-logistic models fitted to counts of labels, or to exact probabilities, at m points x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from research.theory._label_sets import label_sets
from scipy import optimize, special
from torch import Tensor

from complabel.losses import implied_complementary, selection_log_likelihood
from complabel.transition import corrected_transition

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from research.theory._sample import Sample

Risk = Callable[[Tensor], Tensor]
"""Maps logits (m, K) to the mean loss. Autograd differentiates it."""

_OPTIONS = {"ftol": 1e-13, "gtol": 1e-8, "maxiter": 2000, "maxfun": 4000}
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Shares:
    """The labels of items at each x, as shares of all items. Fits need nothing else."""

    features: NDArray[np.float64]
    """(m, d)."""
    items: NDArray[np.float64]
    """(m,), the share of all items that are at each x."""
    named: NDArray[np.float64]
    """(m, K), the share of all items that are at x and have this complementary label."""
    relevant: NDArray[np.float64]
    """(m, K), the share of all items that are at x and have this relevant label."""
    ridge: float = 0.0
    """Factor of half the squared norm of the weights, in coordinates of variance 1."""

    @classmethod
    def of_sample(cls, sample: Sample, features: NDArray[np.float64]) -> Shares:
        """Count the items of a sample. The ridge 1/n keeps fits to few items finite."""
        n, (m, k) = len(sample.points), (len(features), sample.Y.shape[1])

        def summed(labels: NDArray[np.uint8]) -> NDArray[np.float64]:
            columns = [np.bincount(sample.points, labels[:, j], minlength=m) for j in range(k)]
            return np.stack(columns, axis=1) / n

        items = np.bincount(sample.points, minlength=m) / n
        return cls(features, items, summed(sample.complementary), summed(sample.Y), 1 / n)


def fit_supervised(shares: Shares) -> NDArray[np.float64]:
    """Return the scores (m, K) that maximize the likelihood of the true labels.

    The model is that of :func:`fit_selection`: labels are independent given x and given that Y
    is neither empty nor full.
    """
    sets = _tensor(label_sets(shares.named.shape[1]))
    items, relevant = _tensor(shares.items), _tensor(shares.relevant)

    def risk(logits: Tensor) -> Tensor:
        return (items * torch.logsumexp(logits @ sets.T, dim=1)).sum() - (relevant * logits).sum()

    return _marginals(_minimize(shares, risk))


def fit_selection(shares: Shares, choice: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores (m, K) that maximize the likelihood of the complementary labels."""
    sets = _tensor(label_sets(shares.named.shape[1]))
    rule, named = _tensor(choice), _tensor(shares.named)

    def risk(logits: Tensor) -> Tensor:
        return -(named * torch.log(torch.softmax(logits @ sets.T, dim=1) @ rule)).sum()

    return _marginals(_minimize(shares, risk))


def fit_plain_selection(shares: Shares) -> NDArray[np.float64]:
    """Return the scores (m, K) that maximize the likelihood of SelectionLikelihoodClassifier.

    That likelihood counts empty and full sets as possible. No cardinality is given.
    """
    at, label = np.nonzero(shares.named)
    rows, weights = torch.from_numpy(at), _tensor(shares.named[at, label])
    chosen = _tensor(np.eye(shares.named.shape[1])[label])

    def risk(logits: Tensor) -> Tensor:
        return -(weights * selection_log_likelihood(logits[rows], chosen)).sum()

    return np.asarray(special.expit(_minimize(shares, risk)))


def fit_mlcl(shares: Shares, transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores f (m, K) that minimize the MLCL risk (eq. 12, beta = 1) with this T."""
    items, named = _tensor(shares.items[:, np.newaxis]), _tensor(shares.named)
    matrix = _tensor(transition)

    def risk(logits: Tensor) -> Tensor:
        implied = implied_complementary(torch.sigmoid(logits), matrix)
        cross_entropy = -(named * implied.log() + (items - named) * torch.log1p(-implied))
        # This adds the mean of ||ybar - fbar||^2, without its constant part.
        return (cross_entropy + items * implied.square() - 2 * named * implied).sum()

    return np.asarray(special.expit(_minimize(shares, risk)))


def fit_transition(shares: Shares) -> NDArray[np.float64]:
    """Return T = S C^T (K, K) as MLCL estimates it, with a linear softmax for g."""
    items, named = _tensor(shares.items), _tensor(shares.named)

    def risk(logits: Tensor) -> Tensor:
        return (items * torch.logsumexp(logits, dim=1)).sum() - (named * logits).sum()

    g = special.softmax(_minimize(shares, risk), axis=1)
    often = shares.named.sum(axis=0)
    initial = (shares.items[:, np.newaxis] - shares.named).T @ g / (1 - often)[:, np.newaxis]
    np.fill_diagonal(initial, 0)
    # Labels k and j are both candidates where neither is named.
    correlation = 1 - often / (1 - often)[:, np.newaxis]
    np.fill_diagonal(correlation, 1)
    return corrected_transition(initial, correlation)


def _minimize(shares: Shares, risk: Risk) -> NDArray[np.float64]:
    """Return the logits (m, K) of least risk of a linear map with a bias; L-BFGS starts at 0."""
    biased = np.column_stack([np.ones(len(shares.items)), shares.features])
    # L-BFGS needs fewer steps if the coordinates are uncorrelated and have the same variance.
    _, size, axes = np.linalg.svd(np.sqrt(shares.items)[:, np.newaxis] * biased, False)
    kept = size > _RANK * size[0]
    columns = _tensor(biased @ (axes[kept].T / size[kept]))
    shape = (columns.shape[1], shares.named.shape[1])

    def value(vector: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        with torch.inference_mode(False), torch.enable_grad():
            weights = torch.tensor(vector.reshape(shape), requires_grad=True)
            total = risk(columns @ weights) + shares.ridge / 2 * weights.square().sum()
            (slope,) = torch.autograd.grad(total, weights)
        return float(total.detach()), slope.numpy().ravel()

    solver: Any = optimize.minimize
    found = solver(value, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=_OPTIONS)
    return np.asarray(columns.numpy() @ found.x.reshape(shape))


def _marginals(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p(y_k = 1 | x) of independent labels, given that Y is neither empty nor full."""
    sets = label_sets(logits.shape[1])
    return np.asarray(special.softmax(logits @ sets.T, axis=1) @ sets)


def _tensor(array: NDArray[np.float64]) -> Tensor:
    """Copy an array to a float64 tensor."""
    return torch.tensor(np.asarray(array, dtype=np.float64))
