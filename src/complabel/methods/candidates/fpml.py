"""fPML: the candidate matrix and the features factorized with a shared factor of instances."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import linalg

from complabel._parameters import Constraints, Integer, RandomState, Real, check_random_state
from complabel.annotations import candidates_from_complementary
from complabel.errors import InputError
from complabel.methods._candidate_regression import CandidateRegressor
from complabel.methods._ridge_system import Design, RidgeSystem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features


class FPMLClassifier(CandidateRegressor):
    r"""Feature-induced partial multi-label learning (fPML) on the candidate labels.

    The candidates T = 1 - Ybar and the features X share a low-rank factor S of the instances,
    and a linear map W learns the de-noised labels S G^T:

    minimize ||T - S G^T||^2 + lambda1 ||X - S F^T||^2 + lambda2 ||S G^T - X W||^2
    + lambda3 (||S||^2 + ||G||^2 + ||F||^2 + ||W||^2), all Frobenius norms,

    by exact minimization over S, F, G and W in turn. The score of x is x W; labels above 0.5
    are predicted.

    Parameters
    ----------
    rank : int or None, default=None
        k, the number of columns of S, from 1 to K; ``None`` takes K / 2, rounded up. The paper's
        value is unknown and matters more than all else: search 2, K / 3, K / 2, K - 1. Rank 1
        ranks labels nearly alike for all instances, as the results published for fPML do.
    lambda1 : float, default=1.0
        Weight of the features' factorization; search 0.1, 1, 10.
    lambda2 : float, default=1.0
        Weight of the map; search 0.1, 1, 10.
    lambda3 : float, default=10.0
        Weight of the ridge, positive; search 1, 10, 100.
    fit_intercept : bool, default=True
        Append a constant feature, penalized like the others. Results published for fPML agree
        with it; without, base rates cannot be represented on features of mean zero.
    max_iter : int, default=100
        Most sweeps over the four factors.
    tol : float, default=1e-5
        Stop when a sweep lowers the objective by a smaller fraction.
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: score > 0.5, or the same after scaling each row to [0, 1].
    random_state : int, numpy.random.Generator or None, default=None
        Initial F and G, uniform in [0, 1).

    Attributes
    ----------
    model_ : LinearMap
        W.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
    objective_ : ndarray of shape (number of rounds,)
        The objective after each sweep; it never increases.
    n_iter_ : int
        Sweeps made.
    converged_ : bool
        Whether ``tol`` was met.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Notes
    -----
    The paper's text was not at hand: the objective is a reconstruction from its abstract and
    from later papers, which also report the lambdas (1, 1, 10). The order of the lambdas, signs
    or non-negativity of the factors, and the solver may differ from the original.

    Known relevant labels are not used: they are candidates already.

    S enters the updates only through X^T S, T^T S and S^T S, so no sweep touches the n
    instances, and S is never formed. O(nnz d + n K^2) time once for nnz stored features (n d^2
    dense), one Cholesky factorization of O(d^3), and O(d^2 (k + K) + K^2 k) a sweep; memory for
    two d x d matrices. Above 8000 features no d x d matrix is formed and W is found by conjugate
    gradients, O(nnz K) a step.

    ``predict_proba`` is the logistic curve that agrees with the score to first order at 0.5.

    References
    ----------
    G. Yu, X. Chen, C. Domeniconi, J. Wang, Z. Li, Z. Zhang and X. Wu, "Feature-Induced Partial
    Multi-label Learning", ICDM 2018.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(40, axis=0)
    >>> complementary = np.eye(3, dtype=int)[[1, 2, 0]].repeat(40, axis=0)
    >>> classifier = FPMLClassifier(rank=3, lambda3=0.1, random_state=0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 1],
           [1, 1, 0],
           [0, 1, 1]])
    """

    _constraints: ClassVar[Constraints] = {
        "rank": (None, Integer(at_least=1)),
        "lambda1": Real(at_least=0),
        "lambda2": Real(at_least=0),
        "lambda3": Real(above=0),
        "max_iter": Integer(at_least=1),
        "tol": Real(at_least=0),
        "random_state": RandomState(),
    }

    objective_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        *,
        rank: int | None = None,
        lambda1: float = 1.0,
        lambda2: float = 1.0,
        lambda3: float = 10.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-5,
        threshold: str = "probability",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.rank = rank
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda3 = lambda3
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _fit(
        self,
        X: Features,
        complementary: NDArray[np.uint8],
        relevant: NDArray[np.uint8] | None,
        /,
    ) -> None:
        del relevant
        problem = Factorization(
            Design(X, fit_intercept=self.fit_intercept),
            candidates_from_complementary(complementary).astype(np.float64),
            lambdas=(self.lambda1, self.lambda2, self.lambda3),
        )
        rng = check_random_state(self.random_state)
        factors = problem.start(self._checked_rank(complementary.shape[1]), rng)
        objective: list[float] = []
        self.converged_ = False
        while len(objective) < self.max_iter and not self.converged_:
            factors, value = self._swept(problem, factors)
            # The first sweep has nothing to be compared with.
            self.converged_ = bool(objective) and objective[-1] - value <= self.tol * objective[-1]
            objective.append(value)
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)
        self._set_weights(factors.mapping)

    def _swept(self, problem: Factorization, factors: Factors) -> tuple[Factors, float]:
        """Return the factors and the objective after a sweep, unless rounding prevents it."""
        try:
            with warnings.catch_warnings():
                # Rounding decides whether such a system is found singular, or nearly so.
                warnings.simplefilter("error", linalg.LinAlgWarning)
                return problem.sweep(factors)
        except (linalg.LinAlgError, linalg.LinAlgWarning) as error:
            raise InputError(_broken_down(problem)) from error

    def _checked_rank(self, n_labels: int) -> int:
        """Return the rank, refused if it is not possible with this many labels."""
        if self.rank is None:
            return (n_labels + 1) // 2
        if not 1 <= self.rank <= n_labels:
            raise InputError(
                f"rank must be from 1 to the number of labels, {n_labels}, got {self.rank!r}"
            )
        return self.rank


@dataclass(frozen=True)
class Factors:
    """The factors but for S: F (p, k), G (K, k) and W (p, K)."""

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    mapping: NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """All that the other updates need of S: X^T S (p, k), T^T S (K, k) and S^T S (k, k)."""

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    samples: NDArray[np.float64]


class Factorization:
    """The optimization problem of fPML: its objective, and its minimization block by block.

    Parameters
    ----------
    design : Design
        X with p columns.
    candidates : ndarray of shape (n_samples, K), float64
        T.
    lambdas : tuple of three floats
        Weights of the features' factorization, the map, and the ridge.
    """

    def __init__(
        self,
        design: Design,
        candidates: NDArray[np.float64],
        *,
        lambdas: tuple[float, float, float],
    ) -> None:
        self._design = design
        self._lambdas = lambdas
        self._system = RidgeSystem(design, scale=lambdas[1], ridge=lambdas[2])
        self._cross = design.transposed_times(candidates)  # X^T T, (p, K)
        self._label_gram = candidates.T @ candidates  # T^T T, (K, K)
        self._feature_norm = float(design.squared_column_norms().sum())

    def column_norms(self) -> tuple[float, float]:
        """Return the least and the greatest norm of a feature."""
        norms = np.sqrt(self._design.squared_column_norms())
        return float(norms.min()), float(norms.max())

    def start(self, rank: int, rng: np.random.Generator) -> Factors:
        """Draw F and G; at zero, a stationary point, the sweeps would stay."""
        n_columns, n_labels = self._cross.shape
        return Factors(
            features=rng.random((n_columns, rank)),
            labels=rng.random((n_labels, rank)),
            mapping=np.zeros((n_columns, n_labels)),
        )

    def sweep(self, factors: Factors) -> tuple[Factors, float]:
        """Minimize over S, F, G and W in turn; return the factors and the objective."""
        moments = self.best_samples(factors)
        F = self.best_features(moments)
        G = self.best_labels(moments, factors.mapping)
        W = self.best_mapping(moments, G, start=factors.mapping)
        factors = Factors(F, G, W)
        return factors, self.objective(moments, factors)

    def best_samples(self, factors: Factors) -> Moments:
        """Minimize over S = (T G + X M) B^-1 with M (p, k) and B (k, k)."""
        lambda1, lambda2, lambda3 = self._lambdas
        F, G, W = factors.features, factors.labels, factors.mapping
        M = lambda1 * F + lambda2 * W @ G
        B = (1 + lambda2) * G.T @ G + lambda1 * F.T @ F + lambda3 * np.eye(G.shape[1])
        by_features = self._cross @ G + self._design.gram_times(M)  # X^T (T G + X M), (p, k)
        by_labels = self._label_gram @ G + self._cross.T @ M  # T^T (T G + X M), (K, k)
        squared = G.T @ by_labels + M.T @ by_features  # (T G + X M)^T (T G + X M), (k, k)
        return Moments(
            features=_divide(by_features, B),
            labels=_divide(by_labels, B),
            samples=_divide(_divide(squared, B).T, B),
        )

    def best_features(self, moments: Moments) -> NDArray[np.float64]:
        """Minimize over F."""
        lambda1, _, lambda3 = self._lambdas
        ridge = lambda3 * np.eye(len(moments.samples))
        return _divide(lambda1 * moments.features, lambda1 * moments.samples + ridge)

    def best_labels(self, moments: Moments, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minimize over G."""
        _, lambda2, lambda3 = self._lambdas
        ridge = lambda3 * np.eye(len(moments.samples))
        by_labels = moments.labels + lambda2 * W.T @ moments.features
        return _divide(by_labels, (1 + lambda2) * moments.samples + ridge)

    def best_mapping(
        self, moments: Moments, G: NDArray[np.float64], *, start: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Minimize over W."""
        return self._system.solve(self._lambdas[1] * moments.features @ G.T, start=start)

    def objective(self, moments: Moments, factors: Factors) -> float:
        """Return the objective, every norm of a residual through traces."""
        lambda1, lambda2, lambda3 = self._lambdas
        F, G, W = factors.features, factors.labels, factors.mapping
        denoised = _inner(moments.samples, G.T @ G)  # ||S G^T||^2
        fit = np.trace(self._label_gram) - 2 * _inner(moments.labels, G) + denoised
        reconstruction = (
            self._feature_norm - 2 * _inner(moments.features, F) + _inner(moments.samples, F.T @ F)
        )
        mapped = _inner(W, self._design.gram_times(W))  # ||X W||^2
        mapping = denoised - 2 * _inner(moments.features, W @ G) + mapped
        ridge = np.trace(moments.samples) + _inner(F, F) + _inner(G, G) + _inner(W, W)
        return float(fit + lambda1 * reconstruction + lambda2 * mapping + lambda3 * ridge)


def _broken_down(problem: Factorization) -> str:
    """Say why a factor's system is singular, though the ridge is positive."""
    smallest, largest = problem.column_norms()
    return (
        f"the factorization is lost to rounding: the columns of X have norms from {smallest:.3g} to"
        f" {largest:.3g}. Scale the features to a standard deviation near 1, or raise lambda3."
    )


def _divide(numerator: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numerator (m, k) times the inverse of a positive definite matrix (k, k)."""
    return np.asarray(linalg.solve(matrix, numerator.T, assume_a="pos").T)


def _inner(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return the trace of left^T right."""
    return float(np.vdot(left, right))
