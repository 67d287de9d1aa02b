"""LIFT: a linear SVM for each label, with distances to cluster centres as features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import pairwise_distances_chunked
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from complabel._parameters import (
    Array,
    Constraints,
    Features,
    Indicator,
    Integer,
    RandomState,
    Real,
    check_random_state,
)
from complabel._training import one_thread
from complabel.errors import InputError
from complabel.experiments.methods.candidates._linear import refuse_lost_distances, without_zeros
from complabel.experiments.methods.candidates._squared_hinge import SquaredHinge
from complabel.methods import (
    ComplementaryClassifier,
    Numbers,
    Rows,
    range_of,
    refuse_overflow,
    warn_user,
)

# The sigmoid of this logit is exactly 1 in float64; that of minus this logit is 0.
_CERTAIN = 1000.0
# Maximum number of batch updates; the authors' code makes 100. On scene, yeast, corel5k and
# delicious, average precision and ranking loss differ by less than 0.003. If the features have no
# clusters, further updates would take nearly all of the time.
_KMEANS_ITERATIONS = 30
# Of rows that are mostly 0, the first updates are those of dense rows; see ``_means``.
_DENSE_ITERATIONS = 2
# With fewer rows, k-means takes next to no time.
_MANY_ROWS = 100
# MiB of distances that are in memory at once in predictions.
_WORKING_MEMORY = 128
# Sparse features with at most this many entries (128 MiB) are made dense before clustering.
_DENSE_ENTRIES = 2**24
# Up to this many rows, solver="auto" is LIBSVM.
_MOST_LIBSVM_ROWS = 2500
# LIBSVM's own limit, which scikit-learn removes. Features of a usual scale take some hundred
# iterations per row.
_LIBSVM_LIMIT = 10_000_000
_ITERATIONS_PER_ROW = 10_000
# LIBSVM's defaults, as in the authors' code. If the hinge loss is degenerate, the tolerance decides
# the ranking; see LIFTClassifier.
_LIBSVM_TOLERANCE = 1e-3
_PLATT_FOLDS = 5


@dataclass(kw_only=True, eq=False, repr=False)
class LIFTClassifier(ComplementaryClassifier):
    r"""Multi-label learning with label-specific features (LIFT), trained on candidate labels.

    Candidates T = 1 - complementary are used in place of relevant labels. For each label l, let P
    be the training instances that have it as a candidate, and N the others:

    1. m = ceil(ratio min(\|P\|, \|N\|)); k-means finds m centres of P and m of N.
    2. phi(x) holds the Euclidean distances of x to these 2 m centres.
    3. A linear support vector machine minimizes, over w and b,
       1/2 \|\|w\|\|^2 + C sum_i max(0, 1 - y_i (w . phi(x_i) + b)), where y_i is 1 on P, -1 on N.
    4. Platt scaling of out-of-fold margins gives the posterior of the label. The label is
       predicted if the posterior is at least 1/2. This holds for nearly every label.

    A label that is a candidate of all instances is always predicted; a label that is a candidate
    of none is never predicted.

    Parameters
    ----------
    ratio : float, default=0.1
        In (0, 1]; the paper has 0.1. Fit time grows with its square.
    C : float, default=1.0
        Weight of the hinge losses; 1 is LIBSVM's default, as in the authors' code.
    solver : {"squared_hinge", "libsvm", "auto"}, default="squared_hinge"
        ``"squared_hinge"`` squares the losses of step 3. It takes time linear in n, but it is
        *another baseline*, see Notes. ``"libsvm"`` is the solver of the authors. ``"auto"`` is
        LIBSVM for up to 2500 training instances.
    svm_max_iter : "auto" or int, default="auto"
        Maximum number of LIBSVM's iterations in each fit. ``"auto"`` is 10,000 per training
        instance, but at most 10 million.
    n_jobs : int or None, default=None
        Number of labels that joblib learns at the same time.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the first centres of k-means, and of the folds of Platt scaling.
    threshold
        As in :class:`FPMLClassifier`.

    Attributes
    ----------
    solver_ : {"squared_hinge", "libsvm"}
        The solver that was used.
    centers_ : ndarray of shape (n_centers, n_features)
        Centres of all labels, label by label; for each label, those of P come first.
    center_label_ : ndarray of shape (n_centers,)
        The label that each centre belongs to.
    coef_, intercept_ : ndarrays of shape (n_centers,) and (K,)
        Weight of the distance to each centre in its label's logit, and the logit's constant term.

    Notes
    -----
    *Degenerate hinge loss.* With one complementary label per instance, \|N\| is about n / K, and
    w = 0 is nearly optimal in step 3. The ranking of instances then comes only from the error that
    the solver's tolerance leaves, enlarged by Platt scaling. The squared hinge loss does not have
    this problem and ranks clearly better. Tables should name the solver.

    *Choices.* k-means has one random start and at most 30 batch updates. Distances are neither
    centred nor scaled, as in the authors' code: even centring them changes LIBSVM's error. Platt
    scaling uses margins from five stratified folds, or as many folds as P or N have instances. If P
    or N has only one, the margin itself is the logit.

    *Cost.* With M = 2 m centres and d non-zeros per row, distances and each iteration of k-means
    take O(n M d) time per label. Then follow six fits: about ten Newton steps of O(n M^2) each for
    "squared_hinge", or at least quadratic time in n for LIBSVM.

    *Precision.* Sparse features are made dense if that takes at most 128 MiB. Larger ones stay
    sparse; ties of k-means and LIBSVM's error can then differ.

    References
    ----------
    M.-L. Zhang and L. Wu, "LIFT: Multi-label learning with label-specific features", IEEE TPAMI
    37 (2015). J. C. Platt, "Probabilistic outputs for support vector machines" (1999).
    """

    _constraints: ClassVar[Constraints] = {
        "ratio": Real(above=0, at_most=1),
        "C": Real(above=0),
        "solver": ("squared_hinge", "libsvm", "auto"),
        "svm_max_iter": ("auto", Integer(at_least=1)),
        "random_state": RandomState(),
    }
    _fitted: ClassVar[Constraints] = {
        "solver_": ("squared_hinge", "libsvm"),
        "centers_": Rows("centres"),
        "center_label_": Numbers("centres", dtype=np.int64),
        "coef_": Numbers("centres"),
        "intercept_": Numbers("K"),
    }

    ratio: float = 0.1
    C: float = 1.0
    solver: str = "squared_hinge"
    svm_max_iter: str | int = "auto"
    threshold: str = "probability"
    n_jobs: int | None = None
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: Features, complementary: Indicator, _: Indicator | None, /) -> None:
        refuse_overflow(X)
        refuse_lost_distances(X)
        X = _for_distances(X)
        X_fast = without_zeros(X)
        self.solver_ = self.solver
        if self.solver == "auto":
            small = X.shape[0] <= _MOST_LIBSVM_ROWS
            self.solver_ = "libsvm" if small else "squared_hinge"
        machine: Any = SquaredHingeSVC(C=self.C)
        if self.solver_ == "libsvm":
            limit = self._svm_limit(X.shape[0])
            machine = SVC(kernel="linear", C=self.C, tol=_LIBSVM_TOLERANCE, max_iter=limit)
        # Each label has its own seed, so the order in which labels are learned does not matter.
        n_labels = complementary.shape[1]
        seeds = check_random_state(self.random_state).integers(2**31, size=(n_labels,))
        fitted: list[tuple[Array, Logit]] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(
                X, X_fast, candidate, machine=machine, ratio=self.ratio, seed=int(seed)
            )
            for candidate, seed in zip(complementary.T == 0, seeds, strict=True)
        )
        centers, logits = zip(*fitted, strict=True)
        self.centers_ = np.vstack(centers)
        self.center_label_ = np.repeat(np.arange(n_labels), [len(own) for own in centers])
        self.coef_ = np.concatenate([logit.coef for logit in logits])
        self.intercept_ = np.array([logit.intercept for logit in logits])
        self._warn_unless_converged([logit.converged for logit in logits], X)

    def _svm_limit(self, n_samples: int) -> int:
        if isinstance(self.svm_max_iter, str):
            return min(_LIBSVM_LIMIT, _ITERATIONS_PER_ROW * n_samples)
        return self.svm_max_iter

    def _warn_unless_converged(self, converged: list[bool], X: Features) -> None:
        if all(converged):
            return
        n_stopped, first = converged.count(False), converged.index(False)
        warn_user(
            f"LIBSVM stopped at svm_max_iter={self._svm_limit(X.shape[0])} before it converged for"
            f" {n_stopped} of {len(converged)} labels, the first of them label {first}."
            f" {range_of(X)}; scale the features to values near 1, raise svm_max_iter, or give"
            " solver='squared_hinge'",
            ConvergenceWarning,
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
        # LIBSVM predicts a label if its logit is 0. So replace 0 by the least positive number.
        return np.where(logits == 0, np.finfo(np.float64).tiny, logits)


def _for_distances(X: Features, *, dense_entries: int = _DENSE_ENTRIES) -> Features:
    if not isinstance(X, np.ndarray) and X.shape[0] * X.shape[1] <= dense_entries:
        X = X.toarray()
    return X.astype(np.float64, copy=False)


# With several threads, the order of sums changes, and LIBSVM's error shows the least difference.
@one_thread()
def _fit_label(
    X: Features,
    X_fast: Features,
    candidate: NDArray[np.bool_],
    *,
    machine: SVC | SquaredHingeSVC,
    ratio: float,
    seed: int,
) -> tuple[Array, Logit]:
    """Learn one label, which is a candidate of the instances ``candidate`` (n,).

    ``X_fast`` holds the same features (n, d), in CSR if most are 0.
    """
    centers = _centers(X, X_fast, candidate, ratio=ratio, seed=seed)
    if not len(centers):
        return centers, Logit(np.empty(0), _CERTAIN if candidate[0] else -_CERTAIN)
    return centers, _logit(euclidean_distances(X_fast, centers), candidate, machine, seed)


def _centers(
    X: Features, X_fast: Features, candidate: NDArray[np.bool_], *, ratio: float, seed: int
) -> Array:
    """Return centres (2 m, d): m of the candidates, then m of the others."""
    n_centers = int(np.ceil(ratio * min(candidate.sum(), (~candidate).sum())))
    if not n_centers:
        return np.empty((0, X.shape[1]))
    with warnings.catch_warnings():
        # With duplicate rows, k-means warns that it finds fewer distinct centres.
        warnings.simplefilter("ignore", ConvergenceWarning)
        sides = [_means(X, X_fast, side, n_centers, seed) for side in (candidate, ~candidate)]
    return np.vstack(sides)


def _means(
    X: Features, X_fast: Features, side: NDArray[np.bool_], n_centers: int, seed: int
) -> Array:
    """Return centres (n_centers, d) of some rows, by k-means from a random start."""
    means = KMeans(
        n_centers, init="random", n_init=1, max_iter=_KMEANS_ITERATIONS, tol=0, random_state=seed
    )
    if X_fast is not X and side.sum() >= _MANY_ROWS:
        # Binary rows have many ties while centres are rows, too, and scikit-learn's arithmetic for
        # dense rows decides these ties. Later there are hardly any, so any arithmetic does.
        means.set_params(max_iter=_DENSE_ITERATIONS)
        first = means.fit(X[side]).cluster_centers_
        left, X = _KMEANS_ITERATIONS - _DENSE_ITERATIONS, X_fast
        found = _updated(X[side], first.copy(), left)
        if found is not None:
            return found
        means.set_params(init=first, max_iter=left)
    return np.asarray(means.fit(X[side]).cluster_centers_)


def _updated(X: sparse.csr_array, centers: Array, n_updates: int) -> Array | None:
    """Update centres (m, d) of k-means in place; return None once one of them has no row."""
    # Soon most centres stay where they are, and so do the distances to them.
    m, n = len(centers), X.shape[0]
    distances, nearest, moved = np.empty((n, m)), np.full(n, m), np.arange(m)
    for _ in range(n_updates):
        of_rows = X @ (-2 * centers[moved].T)
        of_rows += np.square(centers[moved]).sum(axis=1)
        distances[:, moved] = of_rows
        before, nearest = nearest, distances.argmin(axis=1)
        away = nearest != before
        counts = np.bincount(nearest, minlength=m)
        if not counts.all():
            return None
        moved = np.unique([nearest[away], before[away]])
        moved = moved[moved < m]
        if not len(moved):
            break
        members = sparse.csr_array((np.ones(n), (nearest, np.arange(n))), shape=(m, n))[moved]
        centers[moved] = (members @ X).toarray() / counts[moved, None]
    return centers


class Logit(NamedTuple):
    """A label's logit: coef (M,) times the features, plus an intercept."""

    coef: Array
    intercept: float
    converged: bool = True


@dataclass(frozen=True)
class SquaredHingeSVC:
    """The machine of solver="squared_hinge", with the weight of its losses."""

    C: float = 1.0


# The largest squared norms of rows that do not overflow. LIBSVM stores products of rows in float32.
# The Newton steps multiply the Hessian, a sum of such products, by gradients.
_LARGEST_PRODUCTS = {
    SVC: float(np.finfo(np.float32).max),
    SquaredHingeSVC: float(np.finfo(np.float64).max) ** 0.5 / 1e6,
}


def _logit(features: Array, candidate: NDArray[np.bool_], machine: Any, seed: int) -> Logit:
    """Fit a machine to one label's distances (n, M), and return its margin after Platt scaling."""
    # The greatest squared norm of a row is compared.
    if np.einsum("ij,ij->i", features, features).max() > _LARGEST_PRODUCTS[type(machine)]:
        raise InputError(
            f"X has distances to cluster centres of up to {features.max():.3g}, too large for the"
            " support vector machine; scale the features first"
        )
    n_folds = min(_PLATT_FOLDS, np.bincount(candidate).min())
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed) if n_folds > 1 else None
    with warnings.catch_warnings():
        # LIFTClassifier warns once for all labels.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if isinstance(machine, SVC):
            return _by_libsvm(features, candidate, machine, folds)
        return _by_newton(features, candidate, machine.C, folds)


def _by_libsvm(
    features: Array, candidate: NDArray[np.bool_], machine: SVC, folds: StratifiedKFold | None
) -> Logit:
    if folds is None:
        machine = clone(machine).fit(features, candidate)
        slope, offset = 1.0, 0.0
    else:
        calibrated = CalibratedClassifierCV(machine, cv=folds, ensemble=False)
        machine, slope, offset = _calibration(calibrated.fit(features, candidate))
    intercept = float(slope * machine.intercept_[0] + offset)
    return Logit(slope * machine.coef_[0], intercept, machine.fit_status_ == 0)


def _by_newton(
    features: Array, candidate: NDArray[np.bool_], C: float, folds: StratifiedKFold | None
) -> Logit:
    machine = SquaredHinge.of(features, candidate, C)
    whole = machine.minimize()
    weights, slope, offset = whole.weights, 1.0, 0.0
    if folds is not None:
        margins = np.empty((len(candidate), 1))
        for _, out in folds.split(features, candidate):
            without = machine.minimize(without=out, start=whole)
            margins[out, 0] = machine.extended[out] @ without.weights
        # A machine that returns its only feature, so that scikit-learn fits the sigmoid to it.
        given = LinearSVC()
        given.classes_ = np.array([False, True])
        given.coef_, given.intercept_ = np.ones((1, 1)), np.zeros(1)
        calibrated = CalibratedClassifierCV(FrozenEstimator(given), cv=folds)
        _, slope, offset = _calibration(calibrated.fit(margins, candidate))
    return Logit(slope * weights[:-1], float(slope * weights[-1] + offset))


def _calibration(calibrated: CalibratedClassifierCV) -> tuple[Any, float, float]:
    """Return a calibrated machine with the slope and the offset of its logit."""
    (fitted,) = calibrated.calibrated_classifiers_
    (sigmoid,) = fitted.calibrators
    return fitted.estimator, -sigmoid.a_, -sigmoid.b_
