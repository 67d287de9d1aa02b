"""PML-LRS: candidates split into a low-rank truth and sparse noise, with a low-rank map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from complabel._parameters import Constraints, Real
from complabel.methods._linear_systems import MAX_DIRECT_COLUMNS, Gram, RidgeSystem
from complabel.methods.candidates._linear import ATTRIBUTES, CandidateRegressor, documented
from complabel.methods.candidates._proximal import singular_value_threshold, soft_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features
    from complabel.methods.candidates._linear import Rounds

# The penalty doubles or halves when one residual is this many times the other. Each change costs
# a factorization, and only after the last one are the iterations known to converge.
_IMBALANCE = 4.0
_STEP = 2.0
_ITERATIONS_BETWEEN_STEPS = 10


@documented(attributes=ATTRIBUTES)
class PMLLRSClassifier(CandidateRegressor):
    """Partial multi-label learning by low-rank and sparse decomposition (PML-LRS).

    The candidates T = 1 - Ybar are split into a low-rank truth C and sparse noise E, and a
    low-rank linear map W learns the truth from the features X:

    minimize 0.5 ||C - X W||_F^2 + gamma ||W||_* + beta ||C||_* + eta ||E||_1
    subject to T = C + E,

    with the trace norm ``||.||_*``, by the alternating direction method of multipliers. The score
    of x is x W; labels above 0.5 are predicted.

    Parameters
    ----------
    gamma : float, default=10.0
        Weight of the map's trace norm; search 0.01, 0.1, 1, 5, 10, 20, 50, 100. It matters more
        than the others and is on the scale of X and sqrt(n). The default is near results
        published for scene; the paper's own is unknown (0.01 has been reported).
    beta : float, default=1.0
        Weight of the truth's trace norm; search 0.1, 1, 5.
    eta : float, default=1.0
        Weight of the noise's l1 norm; search 0.1, 1. At 1, noise is almost empty and the model
        close to trace-norm regression on the candidates; ``inf`` forbids noise.
    fit_intercept : bool, default=True
        Append a constant feature; its weights are part of the trace norm. ``False`` agrees with
        published results, which on features of mean zero rank worse than a constant, because
        no base rate can be represented without it.
    max_iter : int, default=500
    tol : float, default=1e-5
        Stop when primal and dual residual are below this fraction of ``||T||_F``.
    threshold : {"probability", "minmax"}, default="probability"
        Rule of ``predict``: score > 0.5, or the same after scaling each row to [0, 1].

    Attributes
    ----------
    {attributes}

    See Also
    --------
    FPMLClassifier : Factorizes T, with a factor that the features share.

    Notes
    -----
    The paper's text was not at hand: the objective is a reconstruction from its abstract. Which
    Greek letter weighs which term, the defaults, and constraints on C or E, here none, may
    differ. The problem is convex. The usual augmented Lagrangian with an ever growing penalty can
    freeze before the optimum; here the penalty follows the residuals in the first half of the
    iterations and is fixed afterwards, which converges.

    Known relevant labels are not used: they are candidates already. There is nothing random.

    O(n d^2) time at most for X^T X, O(d^3) for each of a few Cholesky factorizations, and
    O(nnz K + d^2 K + (n + d) K^2) an iteration for nnz stored features; memory for two d x d
    and about a dozen n x K matrices. Singular values are found in K x K Gram matrices. Above 8000
    features no d x d matrix is formed and W is found by conjugate gradients.

    ``predict_proba`` is the logistic curve that agrees with the score to first order at 0.5.

    References
    ----------
    L. Sun, S. Feng, T. Wang, C. Lang and Y. Jin, "Partial Multi-Label Learning by Low-Rank and
    Sparse Decomposition", AAAI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3).repeat(40, axis=0)
    >>> complementary = np.eye(3, dtype=int)[[1, 2, 0]].repeat(40, axis=0)
    >>> PMLLRSClassifier(gamma=1.0).fit(X, complementary).predict(np.eye(3))
    array([[1, 0, 1],
           [1, 1, 0],
           [0, 1, 1]])
    """

    _constraints: ClassVar[Constraints] = {
        "gamma": Real(at_least=0),
        "beta": Real(at_least=0),
        "eta": (Real(at_least=0), np.inf),
    }

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        beta: float = 1.0,
        eta: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 500,
        tol: float = 1e-5,
        threshold: str = "probability",
    ) -> None:
        self.gamma = gamma
        self.beta = beta
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold

    def _rounds(self, X: Features, candidates: NDArray[np.float64]) -> Rounds:
        solver = Decomposition(X, candidates, gamma=self.gamma, beta=self.beta, eta=self.eta)
        for settled in solver.rounds(max_iter=self.max_iter, tol=self.tol):
            yield solver.low_rank_mapping, settled


class Decomposition:
    """The optimization problem of PML-LRS, and where its iterations stand.

    Copies J of W and Z of C carry the trace norms, so that the first block, (W, C), is smooth and
    the second, (J, Z, E), separates.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, p), float64
    candidates : ndarray of shape (n_samples, K), float64
        T.
    gamma, beta, eta : float
        Weights of the norms of map, truth and noise.
    max_columns : int
        Up to this p, X^T X is formed.

    Attributes
    ----------
    mapping, low_rank_mapping, mapping_multiplier : ndarrays of shape (p, K)
        W, J, and the multiplier of W = J.
    truth, low_rank_truth, truth_multiplier : ndarrays of shape (n_samples, K)
        C, Z, and the multiplier of C = Z.
    noise, noise_multiplier : ndarrays of shape (n_samples, K)
        E, and the multiplier of T = C + E.
    """

    def __init__(
        self,
        X: Features,
        candidates: NDArray[np.float64],
        *,
        gamma: float,
        beta: float,
        eta: float,
        max_columns: int = MAX_DIRECT_COLUMNS,
    ) -> None:
        self._X = X
        self._gram = Gram.of(X, max_columns=max_columns)
        self._candidates = candidates
        self._gamma, self._beta, self._eta = gamma, beta, eta
        self._set_penalty(1.0)
        shape = (X.shape[1], candidates.shape[1])
        self.mapping = np.zeros(shape)
        self.low_rank_mapping = np.zeros(shape)
        self.mapping_multiplier = np.zeros(shape)
        self.truth = candidates
        self.low_rank_truth = candidates
        self.truth_multiplier = np.zeros(candidates.shape)
        self.noise = np.zeros(candidates.shape)
        self.noise_multiplier = np.zeros(candidates.shape)

    def rounds(self, *, max_iter: int, tol: float) -> Iterator[bool]:
        """Update all variables once, and again; yield whether the residuals meet ``tol``."""
        goal = tol * float(np.linalg.norm(self._candidates))
        for n_iter in range(1, max_iter + 1):
            self._update_smooth()
            dual = self._update_separable()
            primal = self._update_multipliers()
            yield max(primal, dual) <= goal
            if n_iter % _ITERATIONS_BETWEEN_STEPS == 0 and n_iter <= max_iter // 2:
                self._balance(primal, dual)

    def objective(self) -> float:
        """Return the objective at the feasible point W = J, C = T - E."""
        truth = self._candidates - self.noise
        residual = truth - self._X @ self.low_rank_mapping
        # An infinite weight times a norm of zero would be no number.
        weighted = (
            (self._gamma, np.linalg.norm(self.low_rank_mapping, ord="nuc")),
            (self._beta, np.linalg.norm(truth, ord="nuc")),
            (self._eta, np.abs(self.noise).sum()),
        )
        penalties = sum(float(weight * norm) for weight, norm in weighted if norm > 0)
        return 0.5 * float(np.vdot(residual, residual)) + penalties

    def _set_penalty(self, penalty: float) -> None:
        """Set mu, and with it the system that W solves."""
        self._penalty = penalty
        scale = 2 * penalty / (1 + 2 * penalty)
        self._system = RidgeSystem(self._gram, scale=scale, ridge=penalty)

    def _update_smooth(self) -> None:
        """Minimize the augmented Lagrangian over W and C jointly."""
        mu = self._penalty
        pull = mu * (self.low_rank_truth + self._candidates - self.noise)
        pull += self.noise_multiplier - self.truth_multiplier
        right = self._X.T @ pull / (1 + 2 * mu)
        right += mu * self.low_rank_mapping - self.mapping_multiplier
        self.mapping = self._system.solve(right, start=self.mapping)
        self.truth = (self._X @ self.mapping + pull) / (1 + 2 * mu)

    def _update_separable(self) -> float:
        """Minimize the augmented Lagrangian over J, Z and E; return the dual residual."""
        mu = self._penalty
        mapping, truth = self.low_rank_mapping, self.low_rank_truth + self.noise
        self.low_rank_mapping = singular_value_threshold(
            self.mapping + self.mapping_multiplier / mu, self._gamma / mu
        )
        self.low_rank_truth = singular_value_threshold(
            self.truth + self.truth_multiplier / mu, self._beta / mu
        )
        self.noise = soft_threshold(
            self._candidates - self.truth + self.noise_multiplier / mu, self._eta / mu
        )
        return mu * _joint_norm(
            self.low_rank_mapping - mapping, self.low_rank_truth + self.noise - truth
        )

    def _update_multipliers(self) -> float:
        """Move the multipliers along the constraints' residuals; return the primal residual."""
        residuals = (
            self.mapping - self.low_rank_mapping,
            self.truth - self.low_rank_truth,
            self._candidates - self.truth - self.noise,
        )
        self.mapping_multiplier += self._penalty * residuals[0]
        self.truth_multiplier += self._penalty * residuals[1]
        self.noise_multiplier += self._penalty * residuals[2]
        return _joint_norm(*residuals)

    def _balance(self, primal: float, dual: float) -> None:
        """Step the penalty towards the constraint or the objective, whichever lags behind."""
        if primal > _IMBALANCE * dual:
            self._set_penalty(self._penalty * _STEP)
        elif dual > _IMBALANCE * primal:
            self._set_penalty(self._penalty / _STEP)


def _joint_norm(*matrices: NDArray[np.float64]) -> float:
    """Return the Frobenius norm of all matrices together."""
    return float(np.sqrt(sum(np.vdot(matrix, matrix) for matrix in matrices)))
