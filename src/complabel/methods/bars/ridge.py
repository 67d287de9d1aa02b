"""Ridge regression of the complementary indicator: closed form, and a bar for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.model_selection import KFold

from complabel._parameters import Constraints, Integer, RandomState, Real, check_random_state
from complabel.errors import InputError
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._decisions import log_odds_of_regression
from complabel.methods._documented import EXAMPLE, documented
from complabel.methods._features import refuse_overflow
from complabel.methods._linear_systems import Gram, side_by_side
from complabel.methods.bars._reduced_rank import ReducedRankRidge
from complabel.persistence import IfAny, Kinds, Numbers, Scalar, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from complabel.methods._arrays import Array, Features, Indicator

# Up to this many features the moments are formed: those of all parts of the data at once, and
# every penalty costs each of them a factorization.
MAX_FORMED_FEATURES = 3000
# Penalties are tried at half decades, from strong to weak, until none of this many is better.
_STEP = 0.5
_PATIENCE = 5
# The weakest penalty's power of 10: beside less, the rounding of a covariance matrix is not small.
_WEAKEST = -10
# Errors that differ by less of their size differ by rounding: the last rank adds nothing where
# all rows have the same number of complementary labels.
_TIE = 1e-12


@documented(example=EXAMPLE, settings="random_state=0")
@dataclass(kw_only=True, eq=False, repr=False)
class ComplementaryRidgeClassifier(ComplementaryClassifier):
    r"""Predict which labels are called complementary by ridge regression; the least likely apply.

    With X centred and divided by one factor s, the root mean variance of its features,

    minimize ||Ybar - 1 b^T - X W||^2 / n + alpha ||W||^2  over b and W of rank r.

    The regression estimates p(ybar_k = 1 | x) and assumes nothing about how complementary labels
    are chosen; labels are ranked by minus the prediction. Penalty and rank are chosen by squared
    error on held-out complementary labels.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty, positive, in units of the mean variance of a feature. ``"auto"`` tries half
        decades, from one so strong that hardly anything but b is left down to weaker ones until
        the held-out error has clearly passed its least.
    rank : int, None or "auto", default="auto"
        r, from 1 to K; ``None`` is full rank.
    cv : int, default=5
        Parts of the training data, each held out once to choose what is ``"auto"``.
    random_state : int, numpy.random.Generator or None, default=None
        Division into parts.
    {parameters}

    Attributes
    ----------
    alpha_ : float
    rank_ : int
    cv_results_ : dict of str to ndarray of shape (number of pairs tried,)
        ``"param_alpha"``, ``"param_rank"``, and of minus the squared error, summed over labels:
        ``"mean_test_score"`` over held-out instances, ``"std_test_score"`` of the means of the
        ``cv`` parts, and ``"rank_test_score"``. Only if something was chosen.
    irrelevant_rate_ : float
        c, see Notes.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        The decision, 1/2 - prediction / c, as a linear map of the features as given.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Notes
    -----
    If an irrelevant label is chosen with probability c, the prediction estimates
    c (1 - p(label k is relevant | x)), and a label is predicted where that is below half of c.
    ``irrelevant_rate_`` is the larger of two lower bounds of c, met in the limit: the rate of the
    label chosen most, which is c if that label is never relevant, and m / (K - 1) for m
    complementary labels per row, which is c if one label is relevant and choice is uniform. So
    rather too few labels are predicted than too many. Ranking does not depend on it.

    ``predict_proba`` is the logistic curve that agrees with 1 - prediction / c to first order at
    0.5. Predictions can be negative and are no distribution of the complementary label; how they
    were clipped would decide their log-likelihood, so ``score`` is minus the ranking error.

    Known relevant labels change nothing: their target is 0 already, being never complementary.

    O(n d^2) time for dense features, and O(cv d^3) for each penalty; sparse features stay sparse.
    Above 3000 features no d x d matrix is formed, and each penalty is solved by conjugate
    gradients that start from the one before, O(K nnz) a step.

    References
    ----------
    A. Mukherjee and J. Zhu, "Reduced Rank Ridge Regression and Its Kernel Extensions",
    Statistical Analysis and Data Mining, 2011.

    {example}
    """

    _constraints: ClassVar[Constraints] = {
        "alpha": ("auto", Real(above=0)),
        "rank": ("auto", None, Integer(at_least=1)),
        "cv": Integer(at_least=2),
        "random_state": RandomState(),
    }
    _fitted: ClassVar[Kinds] = {
        "alpha_": Scalar(Real(above=0)),
        "rank_": Scalar(Integer(at_least=1)),
        "cv_results_": IfAny(Table()),
        "irrelevant_rate_": Scalar(Real()),
        "coef_": Numbers("K", "d"),
        "intercept_": Numbers("K"),
    }

    alpha: float | str = "auto"
    rank: int | str | None = "auto"
    cv: int = 5
    threshold: str = "probability"
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        del relevant
        self._forget("cv_results_")
        refuse_overflow(X)
        n_labels = complementary.shape[1]
        ranks = self._ranks(n_labels)
        parts = self._parts(X.shape[0])
        features: Features = X.astype(np.float64, copy=False)
        shift = np.zeros(X.shape[1])
        if isinstance(X, np.ndarray):
            # Features far from zero would leave little of their variance in a difference.
            shift = features.mean(axis=0)
            features = features - shift
        Z = side_by_side(np.ones((X.shape[0], 1)), features, complementary.astype(np.float64))
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
        # c, see Notes.
        self.irrelevant_rate_ = float(max(rates.max(), rates.sum() / (n_labels - 1)))
        self.coef_ = np.ascontiguousarray(weights.T) / -self.irrelevant_rate_
        self.intercept_ = 0.5 - constant / self.irrelevant_rate_

    def _ranks(self, n_labels: int) -> NDArray[np.intp]:
        """Return the ranks to choose from."""
        if self.rank == "auto":
            return np.arange(1, n_labels + 1)
        rank = n_labels if self.rank is None else int(self.rank)
        if rank > n_labels:
            raise InputError(
                f"rank must be from 1 to the number of labels, {n_labels}, got {self.rank!r}"
            )
        return np.array([rank])

    def _parts(self, n_samples: int) -> list[NDArray[np.intp]]:
        """Divide the rows; one part if there is nothing to choose."""
        if "auto" not in (self.alpha, self.rank):
            return [np.arange(n_samples)]
        if n_samples < self.cv:
            raise InputError(
                f"cv={self.cv} parts cannot be made of n_samples={n_samples}: give more rows,"
                " or both alpha and rank as numbers"
            )
        seed = int(check_random_state(self.random_state).integers(2**31))
        folds = KFold(n_splits=self.cv, shuffle=True, random_state=seed)
        return [part for _, part in folds.split(np.empty(n_samples))]

    def _choose(self, parts: list[Gram], ranks: NDArray[np.intp], n_labels: int) -> None:
        """Set penalty and rank to those of least squared error on the parts held out."""
        sizes = np.array([part.diagonal[0] for part in parts])  # of the constant column
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
        # Of equally good ones the strongest penalty, then the least rank.
        best = int(np.argmax(means <= means.min() * (1 + _TIE)))
        self.cv_results_: dict[str, NDArray[Any]] = {
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
        # No eigenvalue of the scaled covariance exceeds their sum, the number of features.
        strongest = 1 + np.ceil(np.log10(self.n_features_in_))
        return [*(10.0 ** np.arange(strongest, _WEAKEST - _STEP, -_STEP))]

    def _decision(self, X: Features) -> Array:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _log_odds(self, decision: Array) -> Array:
        return log_odds_of_regression(decision)
