"""Ridge regression of the complementary indicator: a baseline in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse, stats
from sklearn.model_selection import KFold

from complabel._parameters import (
    AnyArray,
    Array,
    Constraints,
    Features,
    Indicator,
    Integer,
    Ints,
    RandomState,
    Real,
    check_random_state,
)
from complabel.errors import InputError
from complabel.methods._base import WeightedClassifier
from complabel.methods._decisions import RegressionScores
from complabel.methods._features import refuse_overflow
from complabel.methods._linear_systems import Gram, RidgeSystem, side_by_side
from complabel.methods._saving import MISSING, Numbers

# Up to this many features, d x d matrices are formed. One for each part of the data is in memory,
# and each is factorized for every penalty.
MAX_FORMED_FEATURES = 3000
# Penalties go in half decades from strong to weak. The search ends when this many in a row were
# not better.
_STEP = 0.5
_PATIENCE = 5
# The weakest penalty is 10^-10. Below, it would be hidden by the rounding of a covariance matrix.
_WEAKEST = -10
# Relative differences of errors below this are rounding. Such ties occur: the last rank adds
# nothing if all rows have the same number of complementary labels.
_TIE = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementaryRidgeClassifier(RegressionScores, WeightedClassifier):
    r"""Predict by ridge regression which labels are called complementary, and rank in reverse.

    X is centred and divided by one factor s, the root mean variance of its features. Then ::

        minimize ||Ybar - 1 b^T - X W||^2 / n + alpha ||W||^2  over b and W of rank r

    The regression estimates p(ybar_k = 1 | x), whatever way the labels are chosen. Labels are
    ranked by minus the prediction. Squared error on held-out labels chooses penalty and rank.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty, positive, in units of the mean variance of a feature. ``"auto"`` tries weaker and
        weaker ones, in half decades, until the held-out error has clearly passed its minimum.
    rank : int, None or "auto", default="auto"
        r, from 1 to K; ``None`` is full rank.
    cv : int, default=5
        Number of parts of the training data; each is held out once to choose what is ``"auto"``.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the division into parts.
    threshold : {"probability", "minmax"}, default="probability"
        What ``predict`` compares with 0.5: f, or f scaled to [0, 1] within each row.

    Attributes
    ----------
    alpha_, rank_ : float and int
        Penalty and rank, given or chosen.
    cv_results_ : dict of str to ndarray of shape (number of pairs tried,)
        As in scikit-learn's searches; a score is minus the squared error of held-out instances,
        summed over labels. Only if something was chosen.
    irrelevant_rate_ : float
        c, see Notes.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        The decision, 1/2 - prediction / c, as a linear map of the original features.

    Notes
    -----
    If an irrelevant label is chosen with probability c, the prediction estimates
    c (1 - p(label k is relevant | x)). A label is predicted if this is below c / 2.
    ``irrelevant_rate_`` is the larger of two lower bounds of c: the rate of the label that is
    chosen most (exact if that label is never relevant), and m / (K - 1) for m complementary labels
    per row (exact if one label is relevant and the choice is uniform). So too few labels are
    predicted rather than too many. The ranking does not depend on c.

    ``predict_proba`` is the logistic curve that agrees with 1 - prediction / c to first order at
    0.5. Known relevant labels change nothing: their target is 0 already. The fit takes O(n d^2)
    time for dense features, and O(cv d^3) for each penalty. Above 3000 features no d x d matrix is
    formed, and conjugate gradients take O(K nnz) time per step.

    References
    ----------
    A. Mukherjee and J. Zhu, "Reduced Rank Ridge Regression and Its Kernel Extensions",
    Statistical Analysis and Data Mining, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(40, axis=0)
    >>> complementary = np.eye(3, dtype=int)[[1, 2, 0]].repeat(40, axis=0)
    >>> classifier = ComplementaryRidgeClassifier(random_state=0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 1],
           [1, 1, 0],
           [0, 1, 1]])
    """

    _constraints: ClassVar[Constraints] = {
        "alpha": ("auto", Real(above=0)),
        "rank": ("auto", None, Integer(at_least=1)),
        "cv": Integer(at_least=2),
        "random_state": RandomState(),
    }
    _fitted: ClassVar[Constraints] = {
        "alpha_": Real(above=0),
        "rank_": Integer(at_least=1),
        "cv_results_": (MISSING, dict),
        "irrelevant_rate_": Real(),
        "coef_": Numbers("K", "d"),
        "intercept_": Numbers("K"),
    }

    alpha: float | str = "auto"
    rank: int | str | None = "auto"
    cv: int = 5
    threshold: str = "probability"
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: Features, complementary: Indicator, _: Indicator | None, /) -> None:
        self._learn(X, complementary, None)

    def _fit_weighted(
        self, X: Features, complementary: Indicator, _: Indicator | None, weights: Array, /
    ) -> None:
        self._learn(X, complementary, weights)

    def _learn(self, X: Features, complementary: Indicator, weights: Array | None) -> None:
        self._forget("cv_results_")
        refuse_overflow(X)
        n_labels = complementary.shape[1]
        ranks = self._ranks(n_labels)
        parts = self._parts(X.shape[0])
        features: Features = X.astype(np.float64, copy=False)
        shift = np.zeros(X.shape[1])
        if isinstance(X, np.ndarray):
            # Without centring, the variance of features far from zero would be lost to rounding.
            shift = features.mean(axis=0)
            features = features - shift
        Z = side_by_side(np.ones((X.shape[0], 1)), features, complementary.astype(np.float64))
        if weights is not None:  # all that follows are sums over products of rows
            Z = sparse.diags_array(np.sqrt(weights), format="csr") @ Z
        max_columns = MAX_FORMED_FEATURES + 1 + n_labels
        moments = [Gram.of(Z[part], max_columns=max_columns) for part in parts]
        if len(parts) == 1:
            self.alpha_, self.rank_ = float(self.alpha), int(ranks[0])
        else:
            self._choose(moments, ranks, n_labels)
        ridge = ReducedRankRidge(moments, n_labels=n_labels)
        coefficients = ridge.coefficients(self.alpha_, rank=self.rank_)
        weights = coefficients[1:]
        constant = coefficients[0] - shift @ weights
        rates = ridge.target_mean
        # c of the Notes
        self.irrelevant_rate_ = float(max(rates.max(), rates.sum() / (n_labels - 1)))
        self.coef_ = np.ascontiguousarray(weights.T) / -self.irrelevant_rate_
        self.intercept_ = 0.5 - constant / self.irrelevant_rate_

    def _ranks(self, n_labels: int) -> Ints:
        if self.rank == "auto":
            return np.arange(1, n_labels + 1)
        rank = n_labels if self.rank is None else int(self.rank)
        if rank > n_labels:
            raise InputError(
                f"rank must be from 1 to {n_labels}, the number of labels, got {self.rank!r}"
            )
        return np.array([rank])

    def _parts(self, n_samples: int) -> list[Ints]:
        """Divide the rows into ``cv`` parts, or into one part if there is nothing to choose."""
        if "auto" not in (self.alpha, self.rank):
            return [np.arange(n_samples)]
        if n_samples < self.cv:
            raise InputError(
                f"n_samples={n_samples} is too few for cv={self.cv} parts; give more rows,"
                " or both alpha and rank as numbers"
            )
        seed = int(check_random_state(self.random_state).integers(2**31))
        folds = KFold(n_splits=self.cv, shuffle=True, random_state=seed)
        return [part for _, part in folds.split(np.empty(n_samples))]

    def _choose(self, parts: list[Gram], ranks: Ints, n_labels: int) -> None:
        """Set penalty and rank to those with the least squared error on held-out parts."""
        sizes = np.array([part.diagonal[0] for part in parts])  # the constant column's squares
        others = (parts[:i] + parts[i + 1 :] for i in range(len(parts)))
        ridges = [ReducedRankRidge(rest, n_labels=n_labels) for rest in others]
        pairs = list(zip(ridges, parts, strict=True))
        alphas: list[float] = []
        tables: list[Array] = []
        for alpha in self._alphas():
            sums = np.array([ridge.squared_errors(part, alpha=alpha) for ridge, part in pairs])
            alphas.append(alpha)
            tables.append(sums[:, ranks - 1])  # (cv, R)
            least = [table.sum(axis=0).min() for table in tables]
            if np.argmin(least) < len(least) - _PATIENCE:
                break
        by_part = np.hstack(tables)  # (cv, A R)
        means = by_part.sum(axis=0) / sizes.sum()
        # Among equally good pairs, take the strongest penalty, then the least rank.
        best = int(np.argmax(means <= means.min() * (1 + _TIE)))
        self.cv_results_: dict[str, AnyArray] = {
            "param_alpha": np.repeat(alphas, len(ranks)),
            "param_rank": np.tile(ranks, len(alphas)),
            "mean_test_score": -means,
            "std_test_score": (by_part / sizes[:, np.newaxis]).std(axis=0),
            "rank_test_score": stats.rankdata(means, method="min"),
        }
        self.alpha_ = float(self.cv_results_["param_alpha"][best])
        self.rank_ = int(self.cv_results_["param_rank"][best])

    def _alphas(self) -> Sequence[float]:
        """Return the penalties to try, strongest first."""
        if self.alpha != "auto":
            return [float(self.alpha)]
        # The eigenvalues of the scaled covariance add up to d, so none exceeds it: a penalty of
        # 10 d leaves W almost 0.
        strongest = 1 + np.ceil(np.log10(self.n_features_in_))
        return [*(10.0 ** np.arange(strongest, _WEAKEST - _STEP, -_STEP))]

    def _decision(self, X: Features) -> Array:
        return np.asarray(X @ self.coef_.T + self.intercept_)


class ReducedRankRidge:
    r"""Minimize ||Y - 1 b^T - X W||^2 / n + alpha s^2 ||W||^2 over W (d, K) and b (K,).

    s^2 is the mean variance of a feature. ``parts`` are the matrices Z^T Z of disjoint sets of
    rows, Z = [1, X, Y]. In the principal directions Q (K, K) of the full-rank prediction, rank r
    predicts the first r as at full rank, and the others by their means. Conjugate gradients start
    from the solution for the penalty before, so callers should go from strong to weak penalties.
    """

    def __init__(self, parts: Sequence[Gram], *, n_labels: int) -> None:
        moments = sum(parts[1:], start=parts[0])
        end = len(moments.diagonal) - n_labels  # the targets begin here
        columns = np.zeros((len(moments.diagonal), 1 + n_labels))
        columns[0, 0], columns[end:, 1:] = 1, np.eye(n_labels)
        sums = moments @ columns  # the sums of z, and of z y^T
        self._count = sums[0, 0]
        means, squares = sums[:, 0] / self._count, moments.diagonal / self._count
        self.target_mean = means[end:]  # (K,)
        square = squares[1:end].mean()
        variance = (squares - means**2)[1:end].clip(min=0).mean()
        # The variance of constant features is only rounding error.
        if variance <= self._count * np.finfo(np.float64).eps * square:
            variance = square or 1.0
        self._penalties = np.full(end, self._count * variance)
        self._penalties[0] = 0  # the intercept is not penalized
        self._gram = moments.leading(end)
        self._right = sums[:end, 1:]
        self._last = np.zeros_like(self._right)

    def coefficients(self, alpha: float, *, rank: int) -> Array:
        """Return the coefficients (1 + d, K) for a rank from 1 to K: b in the first row, then W."""
        fitted, means, directions = self._rotated(alpha)
        return np.hstack([fitted[:, :rank], means[:, rank:]]) @ directions.T

    def squared_errors(self, held_out: Gram, *, alpha: float) -> Array:
        """Return the sum of ||y - prediction||^2 over held-out rows for each rank, (K,)."""
        fitted, means, directions = self._rotated(alpha)
        # The residuals are Z times these matrices.
        residuals = np.vstack([-fitted, directions]), np.vstack([-means, directions])
        of_fitted, of_means = (np.sum(each * (held_out @ each), axis=0) for each in residuals)
        # Rounding may make a small error negative.
        return np.asarray(np.maximum(of_means.sum() + np.cumsum(of_fitted - of_means), 0))

    def _rotated(self, alpha: float) -> tuple[Array, ...]:
        """Return the full-rank coefficients times Q, those that predict means times Q, and Q."""
        system = RidgeSystem(self._gram, ridge=alpha * self._penalties)
        self._last = system.solve(self._right, start=self._last)
        explained = self._right.T @ self._last / self._count
        explained -= np.outer(self.target_mean, self.target_mean)
        directions = np.linalg.eigh(explained + explained.T)[1][:, ::-1]
        means = np.zeros_like(self._last)
        means[0] = self.target_mean
        return self._last @ directions, means @ directions, directions
