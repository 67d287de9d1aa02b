"""fPML: factorizes candidates and features with a shared factor of instances."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg

from complabel._parameters import (
    Array,
    Constraints,
    Features,
    Integer,
    RandomState,
    Real,
    check_random_state,
)
from complabel.errors import InputError
from complabel.experiments.methods.candidates._linear import CandidateRegressor, Rounds
from complabel.methods import MAX_DIRECT_COLUMNS, Gram, RidgeSystem


@dataclass(kw_only=True, eq=False, repr=False)
class FPMLClassifier(CandidateRegressor):
    r"""Feature-induced partial multi-label learning (fPML) on the candidate labels.

    The candidates T = 1 - Ybar and the features X share a low-rank factor S of the instances. A
    linear map W learns the de-noised labels S G^T. With Frobenius norms, the problem is ::

        minimize ||T - S G^T||^2 + lambda1 ||X - S F^T||^2 + lambda2 ||S G^T - X W||^2
                 + lambda3 (||S||^2 + ||G||^2 + ||F||^2 + ||W||^2)

    It is minimized exactly over S, F, G and W in turn. The score of x is x W. Labels with a score
    above 0.5 are predicted.

    Parameters
    ----------
    rank : int or None, default=None
        k, the number of columns of S, from 1 to K; ``None`` is K / 2, rounded up. The paper's
        value is unknown. No other parameter matters as much: search 2, K / 3, K / 2, K - 1.
    lambda1, lambda2 : float, default=1.0
        Weights of the factorization of X and of the linear map's error; search 0.1, 1, 10.
    lambda3 : float, default=10.0
        Weight of the squared norms, positive; search 1, 10, 100.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the initial F and G, which are uniform in [0, 1).
    fit_intercept : bool, default=True
        Whether to append a constant feature, penalized like the others. Without it, features of
        mean zero cannot represent base rates.
    max_iter : int, default=100
        The maximum number of rounds.
    tol : float, default=1e-5
        Stop when a round lowers the objective by no more than this share of it.
    threshold : {"probability", "minmax"}, default="probability"
        What ``predict`` compares with 0.5: f, or f scaled to [0, 1] within each row.

    Attributes
    ----------
    objective_ : ndarray of shape (n_rounds,)
        The objective after each round; it never increases.
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        W, transposed. The intercept is zero without ``fit_intercept``.
    n_iter_, converged_ : int and bool
        Number of rounds, and whether ``tol`` was met.

    Notes
    -----
    We did not have the text of the paper. The objective is a reconstruction from its abstract and
    from later papers, which also report the lambdas (1, 1, 10). The order of the lambdas, the signs
    of the factors and the solver may differ.

    S is never formed. A fit takes O(n d^2 + d^3) time once, and O(d^2 (k + K) + K^2 k) per sweep.
    Two d x d matrices are in memory; above 8000 features none, and conjugate gradients find W in
    O(nnz K) per step. Known relevant labels are candidates already. ``predict_proba`` is the
    logistic curve that agrees with the score to first order at 0.5.

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
        "random_state": RandomState(),
    }

    rank: int | None = None
    lambda1: float = 1.0
    lambda2: float = 1.0
    lambda3: float = 10.0
    random_state: int | np.random.Generator | None = None

    def _rounds(self, X: Features, candidates: Array) -> Rounds:
        n_labels = candidates.shape[1]
        rank = (n_labels + 1) // 2 if self.rank is None else self.rank
        if rank > n_labels:
            raise InputError(
                f"rank must be from 1 to the number of labels, {n_labels}, got {self.rank!r}"
            )
        lambdas = (self.lambda1, self.lambda2, self.lambda3)
        problem = Factorization(X, candidates, lambdas=lambdas)
        factors = problem.start(rank, check_random_state(self.random_state))
        objective: list[float] = []
        while True:
            factors, value = problem.sweep(factors)
            objective.append(value)
            yield factors.mapping, self._settled(objective)


class Factors(NamedTuple):
    """The factors without S: F (p, k), G (K, k) and W (p, K)."""

    features: Array
    candidates: Array
    mapping: Array


class Moments(NamedTuple):
    """The products of S that the other updates need: X^T S (p, k), T^T S (K, k), S^T S (k, k)."""

    features: Array
    candidates: Array
    samples: Array


class Factorization:
    """The problem of fPML for features (n, p) and candidates T (n, K), and its minimization."""

    def __init__(
        self, X: Features, candidates: Array, *, lambdas: tuple[float, float, float]
    ) -> None:
        self._lambdas = lambdas
        self._gram = Gram.of(X, max_columns=MAX_DIRECT_COLUMNS)  # X^T X, (p, p)
        self._system = RidgeSystem(self._gram, scale=lambdas[1], ridge=lambdas[2])
        self._cross: Array = X.T @ candidates  # X^T T, (p, K)
        self._candidate_gram = candidates.T @ candidates  # T^T T, (K, K)

    def start(self, rank: int, rng: np.random.Generator) -> Factors:
        """Draw F and G at random: zero would be a stationary point, which sweeps never leave."""
        n_columns, n_labels = self._cross.shape
        return Factors(
            features=rng.random((n_columns, rank)),
            candidates=rng.random((n_labels, rank)),
            mapping=np.zeros((n_columns, n_labels)),
        )

    def sweep(self, factors: Factors) -> tuple[Factors, float]:
        """Minimize over S, F, G and W in turn; return the factors and the objective."""
        try:
            with warnings.catch_warnings():
                # A nearly singular system raises an error or only a warning, depending on rounding.
                warnings.simplefilter("error", linalg.LinAlgWarning)
                moments = self.best_samples(factors)
                F = self.best_features(moments)
                G = self.best_candidates(moments, factors.mapping)
                W = self.best_mapping(moments, G, start=factors.mapping)
        except (linalg.LinAlgError, linalg.LinAlgWarning) as error:
            norms = np.sqrt(self._gram.diagonal)
            raise InputError(
                f"the factorization fails because of rounding: the columns of X have norms from"
                f" {norms.min():.3g} to {norms.max():.3g}. Scale the features to a standard"
                " deviation near 1, or raise lambda3."
            ) from error
        factors = Factors(F, G, W)
        return factors, self.objective(moments, factors)

    def best_samples(self, factors: Factors) -> Moments:
        """Minimize over S: the minimum is (T G + X M) B^-1 with M (p, k) and B (k, k)."""
        lambda1, lambda2, lambda3 = self._lambdas
        F, G, W = factors
        M = lambda1 * F + lambda2 * W @ G
        B = (1 + lambda2) * G.T @ G + lambda1 * F.T @ F + lambda3 * np.eye(G.shape[1])
        by_features = self._cross @ G + self._gram @ M  # X^T (T G + X M), (p, k)
        by_candidates = self._candidate_gram @ G + self._cross.T @ M  # T^T (T G + X M), (K, k)
        squared = G.T @ by_candidates + M.T @ by_features  # (T G + X M)^T (T G + X M), (k, k)
        return Moments(
            features=_divide(by_features, B),
            candidates=_divide(by_candidates, B),
            samples=_divide(_divide(squared, B).T, B),
        )

    def best_features(self, moments: Moments) -> Array:
        """Minimize over F."""
        lambda1, _, lambda3 = self._lambdas
        ridge = lambda3 * np.eye(len(moments.samples))
        return _divide(lambda1 * moments.features, lambda1 * moments.samples + ridge)

    def best_candidates(self, moments: Moments, W: Array) -> Array:
        """Minimize over G."""
        _, lambda2, lambda3 = self._lambdas
        ridge = lambda3 * np.eye(len(moments.samples))
        by_candidates = moments.candidates + lambda2 * W.T @ moments.features
        return _divide(by_candidates, (1 + lambda2) * moments.samples + ridge)

    def best_mapping(self, moments: Moments, G: Array, *, start: Array) -> Array:
        """Minimize over W."""
        return self._system.solve(self._lambdas[1] * moments.features @ G.T, start=start)

    def objective(self, moments: Moments, factors: Factors) -> float:
        """Return the objective; norms of residuals are computed from traces."""
        lambda1, lambda2, lambda3 = self._lambdas
        F, G, W = factors
        features, candidates, samples = moments
        denoised = np.vdot(samples, G.T @ G)  # ||S G^T||^2
        fit = np.trace(self._candidate_gram) - 2 * np.vdot(candidates, G) + denoised
        reconstruction = (
            self._gram.diagonal.sum() - 2 * np.vdot(features, F) + np.vdot(samples, F.T @ F)
        )
        mapped = np.vdot(W, self._gram @ W)  # ||X W||^2
        mapping = denoised - 2 * np.vdot(features, W @ G) + mapped
        ridge = np.trace(samples) + np.vdot(F, F) + np.vdot(G, G) + np.vdot(W, W)
        return float(fit + lambda1 * reconstruction + lambda2 * mapping + lambda3 * ridge)


def _divide(numerator: Array, matrix: Array) -> Array:
    """Return numerator (m, k) times the inverse of a positive definite matrix (k, k)."""
    return np.asarray(linalg.solve(matrix, numerator.T, assume_a="pos").T)
