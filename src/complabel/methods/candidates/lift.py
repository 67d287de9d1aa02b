"""LIFT: per label, distances to cluster centres of both sides as features of a linear SVM."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_chunked
from sklearn.metrics.pairwise import euclidean_distances

from complabel._parameters import Constraints, Integer, RandomState, Real, check_random_state
from complabel._training import one_thread
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._documented import documented
from complabel.methods._features import range_of, refuse_overflow
from complabel.methods.candidates._lift_machine import Logit, fit_logit
from complabel.methods.candidates._texts import TEXTS
from complabel.persistence import Kinds, Numbers, Rows, Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._arrays import Array, Features, Indicator

# A logit whose sigmoid is exactly 1, and 0 when negated.
_CERTAIN = 1000.0
# Batch updates at most; the authors' code makes 100. On scene, yeast, corel5k and delicious the
# average precision and the ranking loss differ by less than 0.003. Without clusters in the features
# nearly all of the time would go there.
_KMEANS_ITERATIONS = 30
# MiB of distances held at once while predicting.
_WORKING_MEMORY = 128
# Sparse features up to this size, 128 MiB, are clustered as dense ones.
_DENSE_ENTRIES = 2**24
# LIBSVM's own limit, which scikit-learn lifts. Features of a usual scale take some hundred
# iterations per row.
_LIBSVM_LIMIT = 10_000_000
_ITERATIONS_PER_ROW = 10_000


@documented(**TEXTS, settings="random_state=0")
@dataclass(kw_only=True, eq=False, repr=False)
class LIFTClassifier(ComplementaryClassifier):
    r"""Multi-label learning with label-specific features, fed with the candidate labels.

    Candidates T = 1 - complementary stand in for relevant labels. For each label l, with P and N
    the training instances that do and do not have it as candidate:

    1. m = ceil(ratio min(\|P\|, \|N\|)); k-means finds m centres of P and m of N.
    2. phi(x) holds the Euclidean distances of x to these 2 m centres.
    3. A linear support vector machine: minimize over w, b
       1/2 \|\|w\|\|^2 + C sum_i max(0, 1 - y_i (w . phi(x_i) + b)), where y_i is 1 on P, -1 on N.
    4. Platt scaling of its out-of-fold margins gives the posterior of the label, which is
       predicted where this is at least 1/2, ties included. Nearly every label is.

    A label that is a candidate of all instances is always predicted, and one of none never.

    Parameters
    ----------
    ratio : float, default=0.1
        In (0, 1]; 0.1 is the paper's. Fit time grows with its square.
    C : float, default=1.0
        Weight of the hinge losses; LIBSVM's default, as in the authors' code.
    solver : {"squared_hinge", "libsvm", "auto"}, default="squared_hinge"
        ``"squared_hinge"`` squares the losses of step 3. It takes time linear in n, but it is
        *another baseline*, see Notes. ``"libsvm"`` is the authors'. ``"auto"`` takes LIBSVM for
        up to ``max_libsvm_rows`` training instances; to compare datasets, name one solver.
    max_libsvm_rows : int, default=2500
        Only for ``solver="auto"``.
    svm_max_iter : "auto" or int, default="auto"
        Iterations of LIBSVM at most, in each fit. ``"auto"`` is 10,000 per training instance and
        at most 10 million. Features far above 1 may never converge.
    n_jobs : int or None, default=None
        Labels learned at the same time, by joblib; the result does not depend on it.
    random_state : int, numpy.random.Generator or None, default=None
        First centres of k-means, and folds of Platt scaling.
    {parameters}

    Attributes
    ----------
    solver_ : {"squared_hinge", "libsvm"}
    centers_ : ndarray of shape (n_centers, n_features)
        Centres of all labels, label by label, those of P first.
    center_label_ : ndarray of shape (n_centers,)
        The label that a centre belongs to.
    coef_ : ndarray of shape (n_centers,)
        Weight of the distance to a centre in its label's logit, Platt scaling included.
    intercept_ : ndarray of shape (K,)
        Constant term of each label's logit.
    {shape}

    See Also
    --------
    MLKNNClassifier : Learns from candidates as well; has no objective.

    Notes
    -----
    ``relevant`` of ``fit`` is not used: an instance is on either side of a label.

    *Degenerate hinge loss.* With one complementary label per instance, \|N\| is about n / K, and
    the constant classifier w = 0 is all but optimal in step 3. What ranks instances is then the
    residual that the solver's tolerance leaves (LIBSVM's default of 1e-3), blown up by Platt
    scaling. A better solver of the same problem is no better baseline. The squared hinge does not
    degenerate and ranks clearly better. Tables should name the solver.

    *Choices.* k-means takes one random start and at most 30 batch updates; an empty cluster moves
    to a far point. Distances are neither centred nor scaled, as in the authors' code: even
    centring them changes LIBSVM's residual. Platt scaling uses margins from five stratified folds,
    or as many as the smaller side has instances. If it has one, the margin itself is the logit.

    *Cost.* With M = 2 m and d the mean number of non-zeros of a row, a label takes O(n M d) time
    for distances and for each iteration of k-means, and six fits: about ten Newton steps of
    O(n M^2) each for "squared_hinge", at least quadratic time in n for LIBSVM. Memory is O(n M)
    for the label being learned, and up to 200 MB for LIBSVM's cache.

    *Precision.* Everything is computed in float64. Sparse features are made dense where that takes
    at most 128 MiB, so that they give what dense ones give. Larger ones stay sparse, and ties of
    k-means and LIBSVM's residual can then fall otherwise.

    References
    ----------
    M.-L. Zhang and L. Wu, "LIFT: Multi-label learning with label-specific features", IEEE TPAMI
    37 (2015). J. C. Platt, "Probabilistic outputs for support vector machines" (1999).

    {example}
    """

    _constraints: ClassVar[Constraints] = {
        "ratio": Real(above=0, at_most=1),
        "C": Real(above=0),
        "solver": ("squared_hinge", "libsvm", "auto"),
        "max_libsvm_rows": Integer(at_least=0),
        "svm_max_iter": ("auto", Integer(at_least=1)),
        "random_state": RandomState(),
    }
    _fitted: ClassVar[Kinds] = {
        "solver_": Scalar("squared_hinge", "libsvm"),
        "centers_": Rows("centres", may_be_sparse=False),
        "center_label_": Numbers("centres", dtype=np.int64, at_least=0, below="K"),
        "coef_": Numbers("centres"),
        "intercept_": Numbers("K"),
    }

    ratio: float = 0.1
    C: float = 1.0
    solver: str = "squared_hinge"
    max_libsvm_rows: int = 2500
    svm_max_iter: str | int = "auto"
    threshold: str = "probability"
    n_jobs: int | None = None
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: Features, complementary: Indicator, relevant: Indicator | None, /) -> None:
        del relevant
        refuse_overflow(X)
        X = _for_distances(X)
        self.solver_ = self.solver
        if self.solver == "auto":
            small = X.shape[0] <= self.max_libsvm_rows
            self.solver_ = "libsvm" if small else "squared_hinge"
        # One seed per label, so that the order in which labels are learned does not matter.
        n_labels = complementary.shape[1]
        seeds = check_random_state(self.random_state).integers(2**31, size=(n_labels,))
        fitted: list[tuple[Array, Logit]] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(
                X,
                complementary[:, label] == 0,
                ratio=self.ratio,
                C=self.C,
                solver=self.solver_,
                svm_max_iter=self._svm_limit(X.shape[0]),
                seed=int(seeds[label]),
            )
            for label in range(n_labels)
        )
        centers, logits = zip(*fitted, strict=True)
        self.centers_ = np.vstack(centers)
        self.center_label_ = np.repeat(np.arange(n_labels), [len(own) for own in centers])
        self.coef_ = np.concatenate([logit.coef for logit in logits])
        self.intercept_ = np.array([logit.intercept for logit in logits])
        self._warn_unless_converged([logit.converged for logit in logits], X)

    def _kept_rows(self) -> Features | None:
        return self.centers_

    def _svm_limit(self, n_samples: int) -> int:
        """Return the most iterations of LIBSVM."""
        if isinstance(self.svm_max_iter, str):
            return min(_LIBSVM_LIMIT, _ITERATIONS_PER_ROW * n_samples)
        return self.svm_max_iter

    def _warn_unless_converged(self, converged: list[bool], X: Features) -> None:
        """Warn once of all labels for which LIBSVM stopped early."""
        if all(converged):
            return
        n_stopped, first = converged.count(False), converged.index(False)
        warnings.warn(
            f"LIBSVM stopped at svm_max_iter={self._svm_limit(X.shape[0])} before it converged for"
            f" {n_stopped} of {len(converged)} labels, the first of them label {first}."
            f" {range_of(X)}: scale the features to values near 1, raise svm_max_iter, or give"
            " solver='squared_hinge'",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _decision(self, X: Features) -> Array:
        if not len(self.centers_):
            return np.tile(self.intercept_, (X.shape[0], 1))
        refuse_overflow(X)
        of_label = self.center_label_[:, None] == np.arange(len(self.intercept_))
        weights = np.where(of_label, self.coef_[:, None], 0)  # (n_centers, K)
        blocks = pairwise_distances_chunked(
            _for_distances(X),
            self.centers_,
            reduce_func=lambda distances, _: distances @ weights,
            working_memory=_WORKING_MEMORY,
        )
        logits = np.vstack(list(blocks)) + self.intercept_
        # Ties are predicted, as LIBSVM predicts them; the least positive number does so.
        return np.where(logits == 0, np.finfo(np.float64).tiny, logits)


def _for_distances(X: Features, *, dense_entries: int = _DENSE_ENTRIES) -> Features:
    """Return features in float64, and dense where they are small enough."""
    if not isinstance(X, np.ndarray) and X.shape[0] * X.shape[1] <= dense_entries:
        X = X.toarray()
    return X.astype(np.float64, copy=False)


# Threads add up in an order of their own, and the least difference shows in LIBSVM's residual.
@one_thread()
def _fit_label(
    X: Features,
    candidate: NDArray[np.bool_],
    *,
    ratio: float,
    C: float,
    solver: str,
    seed: int,
    svm_max_iter: int = _LIBSVM_LIMIT,
) -> tuple[Array, Logit]:
    """Learn a label from the instances that have it as candidate (n,); return centres, logit."""
    centers = _centers(X, candidate, ratio=ratio, seed=seed)
    if not len(centers):
        return centers, Logit(np.empty(0), _CERTAIN if candidate[0] else -_CERTAIN)
    features = euclidean_distances(X, centers)  # phi, (n, M)
    logit = fit_logit(features, candidate, solver=solver, C=C, max_iter=svm_max_iter, seed=seed)
    return centers, logit


def _centers(
    X: Features,
    candidate: NDArray[np.bool_],
    *,
    ratio: float,
    seed: int,
    max_iter: int = _KMEANS_ITERATIONS,
) -> Array:
    """Return centres (2 m, d), those of the candidates first; none where a side is empty."""
    n_centers = int(np.ceil(ratio * min(candidate.sum(), (~candidate).sum())))
    if not n_centers:
        return np.empty((0, X.shape[1]))
    means = KMeans(n_centers, init="random", n_init=1, max_iter=max_iter, tol=0, random_state=seed)
    with warnings.catch_warnings():
        # Duplicate rows may leave fewer centres than asked for: some then coincide.
        warnings.simplefilter("ignore", ConvergenceWarning)
        sides = [means.fit(X[side]).cluster_centers_ for side in (candidate, ~candidate)]
    return np.vstack(sides)
