"""ML-KNN: the posterior of each label given how many of the nearest instances have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_chunked
from sklearn.utils.extmath import row_norms

from complabel._parameters import Array, Constraints, Features, Indicator, Integer, Real
from complabel.errors import InputError
from complabel.experiments.methods.candidates._linear import refuse_lost_distances
from complabel.methods import (
    ComplementaryClassifier,
    Numbers,
    Rows,
    ScoresAroundHalf,
    refuse_overflow,
)

# MiB of distances in memory at once. The speed is the same from 16 to 64, and lower below.
_WORKING_MEMORY = 64


@dataclass(kw_only=True, eq=False, repr=False)
class MLKNNClassifier(ScoresAroundHalf, ComplementaryClassifier):
    r"""Multi-label k-nearest neighbours (ML-KNN), trained on candidate labels.

    Candidates T = 1 - complementary are used in place of relevant labels. D_il is the number of
    the k nearest training instances of x_i (without x_i itself) that have label l. Training counts,
    with smoothing s and for j = 0 .. k::

        prior_l = (s + sum_i T_il) / (2 s + n)
        p1_lj = (s + #{i : T_il = 1, D_il = j}) / (s (k + 1) + #{i : T_il = 1})
        p0_lj = (s + #{i : T_il = 0, D_il = j}) / (s (k + 1) + #{i : T_il = 0})

    If D_l of the k nearest training instances of a new instance have label l, its posterior is ::

        prior_l p1_l[D_l] / (prior_l p1_l[D_l] + (1 - prior_l) p0_l[D_l])

    A label is predicted if this is at least 1/2. This holds for nearly every label.

    Parameters
    ----------
    n_neighbors : int, default=10
        k. The paper chose 10 from about 8 to 12.
    smoothing : float, default=1.0
        s; 1 is Laplace smoothing. If s = 0 makes the posterior 0/0, the prior is used.
    threshold
        As in :class:`FPMLClassifier`.

    Attributes
    ----------
    prior_ : ndarray of shape (K,)
        Smoothed share of instances that have the label as a candidate.
    candidate_likelihood_, other_likelihood_ : ndarrays of shape (K, n_neighbors + 1)
        p1 and p0; rows sum to 1.
    X_, candidates_ : ndarray or CSR of shape (n_samples, n_features), ndarray (n_samples, K)
        The training instances. ``X_`` is not a copy of float64 features.

    Notes
    -----
    Distances are Euclidean, computed by brute force. A fit takes O(n^2 d) time for d non-zeros per
    row, and prediction of m rows O(m n d). At most 64 MiB of distances are in memory at once.

    Distances that are equal up to rounding error are ties. Among tied instances, those that come
    first in ``fit`` are taken.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning",
    Pattern Recognition 40 (2007).
    """

    _constraints: ClassVar[Constraints] = {
        "n_neighbors": Integer(at_least=1),
        "smoothing": Real(at_least=0),
    }
    _fitted: ClassVar[Constraints] = {
        "prior_": Numbers("K"),
        "candidate_likelihood_": Numbers("K", "counts"),
        "other_likelihood_": Numbers("K", "counts"),
        "X_": Rows("n"),
        "candidates_": Numbers("n", "K", dtype=np.uint8),
    }

    n_neighbors: int = 10
    smoothing: float = 1.0
    threshold: str = "probability"

    def _fit(self, X: Features, complementary: Indicator, _: Indicator | None, /) -> None:
        self._fit_labels(X, 1 - complementary)

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        if sizes["counts"] != self.n_neighbors + 1 or sizes["n"] < self.n_neighbors:
            raise InputError(
                f"n_neighbors is {self.n_neighbors}, but the fitted attributes have another number"
            )
        super()._set_state(state, sizes)

    def _fit_labels(self, X: Features, labels: Indicator) -> None:
        """Learn from labels (n, K): candidates, or relevant labels as in the paper."""
        n_samples, n_features = X.shape
        if n_samples <= self.n_neighbors:
            raise InputError(
                f"X has n_samples = {n_samples} (n_features = {n_features}), but n_neighbors ="
                f" {self.n_neighbors} needs more rows than that; lower n_neighbors"
            )
        refuse_overflow(X)
        refuse_lost_distances(X)
        self.X_ = X.astype(np.float64, copy=False)
        self.candidates_ = labels
        s = self.smoothing
        self.prior_ = (s + labels.sum(axis=0)) / (2 * s + n_samples)
        counts = self._count_neighbours(self.X_, exclude_self=True)
        self.candidate_likelihood_ = self._likelihood(counts, labels == 1)
        self.other_likelihood_ = self._likelihood(counts, labels == 0)

    def _count_neighbours(self, X: Features, *, exclude_self: bool) -> NDArray[np.int64]:
        """Return D (m, K); with ``exclude_self``, no row of X, the training set, is its own."""
        norms = row_norms(X, squared=True)
        precision = X.shape[1] * np.finfo(np.float64).eps

        def counts(squared: Array, start: int) -> NDArray[np.int64]:
            rows = np.arange(len(squared))
            own_norms = norms[start + rows, None]
            if exclude_self:
                squared[rows, start + rows] = np.inf
            nearest = _smallest(squared, self.n_neighbors, own_norms, precision=precision)
            return np.asarray(self.candidates_[nearest].sum(axis=1, dtype=np.int64))

        blocks = pairwise_distances_chunked(
            X, self.X_, reduce_func=counts, squared=True, working_memory=_WORKING_MEMORY
        )
        return np.vstack(list(blocks))

    def _likelihood(self, counts: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Array:
        """Return the smoothed distribution (K, k + 1) of each label's D over the chosen entries."""
        n_labels, n_bins = counts.shape[1], self.n_neighbors + 1
        bins = (counts + n_bins * np.arange(n_labels))[chosen]
        histogram = np.bincount(bins, minlength=n_labels * n_bins).reshape(n_labels, n_bins)
        smoothed = histogram + float(self.smoothing)
        total = smoothed.sum(axis=1, keepdims=True)
        return smoothed / np.where(total > 0, total, 1)

    def _decision(self, X: Features) -> Array:
        refuse_overflow(X)
        counts = self._count_neighbours(X.astype(np.float64, copy=False), exclude_self=False)
        label = np.arange(counts.shape[1])
        joint = self.prior_ * self.candidate_likelihood_[label, counts]  # (m, K)
        evidence = joint + (1 - self.prior_) * self.other_likelihood_[label, counts]
        posterior = np.tile(self.prior_, (len(joint), 1))
        np.divide(joint, evidence, where=evidence > 0, out=posterior)
        # The paper predicts a label with posterior 1/2. So replace a score of 0 by the least
        # positive number; f, the score plus 0.5, is still exactly 0.5.
        return np.where(posterior == 0.5, np.finfo(np.float64).tiny, posterior - 0.5)


def _smallest(distances: Array, count: int, norms: Array, *, precision: float) -> NDArray[np.int64]:
    """Return the columns (m, count) of each row's smallest entries; of ties, the first columns.

    The entries are squared distances from rows of squared norm ``norms`` (m, 1).
    """
    last = np.partition(distances, count - 1, axis=1)[:, count - 1, None]
    rounding = precision * (norms + last)
    chosen = distances < last - rounding
    tied = distances <= last + rounding
    tied &= ~chosen
    missing = count - chosen.sum(axis=1, keepdims=True)
    tied &= tied.cumsum(axis=1) <= missing
    chosen |= tied
    return np.nonzero(chosen)[1].reshape(-1, count)
