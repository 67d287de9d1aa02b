"""PML-LRS: splits candidates into a low-rank truth and sparse noise, with a low-rank map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from complabel._parameters import Array, Constraints, Features, Real
from complabel.experiments.methods.candidates._linear import CandidateRegressor, Rounds
from complabel.methods import MAX_DIRECT_COLUMNS, Gram, RidgeSystem

# The penalty mu doubles or halves if one residual is more than 4 times the other. Each change costs
# a factorization, so changes are at least 10 iterations apart. Convergence is proven only for a
# constant penalty, so the second half of the iterations has no changes.
_IMBALANCE = 4.0
_STEP = 2.0
_ITERATIONS_BETWEEN_STEPS = 10
# If the sides have at least this ratio, eigenvectors of the smaller Gram matrix cost less than an
# SVD. They halve the digits of small singular values, but these become 0 anyway.
_SLENDER = 2


@dataclass(kw_only=True, eq=False, repr=False)
class PMLLRSClassifier(CandidateRegressor):
    """Partial multi-label learning by low-rank and sparse decomposition (PML-LRS).

    The candidates T = 1 - Ybar are split into a low-rank truth C and sparse noise E. A low-rank
    linear map W learns the truth from the features X. With the trace norm ``||.||_*``, the problem
    is ::

        minimize 0.5 ||C - X W||_F^2 + gamma ||W||_* + beta ||C||_* + eta ||E||_1
        subject to T = C + E

    It is solved by the alternating direction method of multipliers. The score of x is x W. Labels
    with a score above 0.5 are predicted.

    Parameters
    ----------
    gamma : float, default=10.0
        Weight of the map's trace norm; search 0.01, 0.1, 1, 5, 10, 20, 50, 100. It matters most,
        and a good value grows with the scale of X and with sqrt(n). The default gives nearly the
        results published for scene. The paper's own value is unknown (0.01 has been reported).
    beta : float, default=1.0
        Weight of the truth's trace norm; search 0.1, 1, 5.
    eta : float, default=1.0
        Weight of the noise's l1 norm; search 0.1, 1. At 1, the noise is nearly 0, and the model is
        close to trace-norm regression on the candidates. ``inf`` forbids noise.
    tol : float, default=1e-5
        Stop when the primal and the dual residual are below this fraction of ``||T||_F``.
    fit_intercept, max_iter, threshold
        As in :class:`FPMLClassifier`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, converged_
        As in :class:`FPMLClassifier`.

    Notes
    -----
    We did not have the text of the paper. The objective is a reconstruction from its abstract.
    These details may differ: which Greek letter is the weight of which term, the defaults, and
    constraints on C or E (here there are none). Results published for PML-LRS agree with
    ``fit_intercept=False``. On features of mean zero, that ranks worse than a constant.

    The problem is convex. The penalty is adapted to the residuals in the first half of the
    iterations, and constant afterwards, so the method converges.

    A fit takes O(n d^2 + d^3) time once, and an iteration O(nnz K + d^2 K + (n + d) K^2).

    References
    ----------
    L. Sun, S. Feng, T. Wang, C. Lang and Y. Jin, "Partial Multi-Label Learning by Low-Rank and
    Sparse Decomposition", AAAI 2019.
    """

    _constraints: ClassVar[Constraints] = {
        "gamma": Real(at_least=0),
        "beta": Real(at_least=0),
        "eta": (Real(at_least=0), np.inf),
    }

    gamma: float = 10.0
    beta: float = 1.0
    eta: float = 1.0
    max_iter: int = 500

    def _rounds(self, X: Features, candidates: Array) -> Rounds:
        names = ("gamma", "beta", "eta", "max_iter", "tol")
        for split in decompositions(X, candidates, **{n: getattr(self, n) for n in names}):
            yield split.mapping, split.settled


class Decomposition(NamedTuple):
    """The state after an iteration."""

    mapping: Array  # J, the copy of W that has exactly low rank, (p, K)
    noise: Array  # E, (n, K)
    noise_multiplier: Array  # the multiplier of T = C + E, (n, K)
    settled: bool  # whether the residuals meet the tolerance


def decompositions(
    X: Features,
    T: Array,
    *,
    gamma: float,
    beta: float,
    eta: float,
    max_iter: int,
    tol: float,
) -> Iterator[Decomposition]:
    """Yield the state after each iteration, for features (n, p) and candidates (n, K).

    The trace norms are those of copies, J of W and Z of C. U_J, U_Z and U_E are the multipliers of
    W = J, C = Z and T = C + E.
    """
    gram = Gram.of(X, max_columns=MAX_DIRECT_COLUMNS)
    W = J = np.zeros((X.shape[1], T.shape[1]))
    C = Z = T
    E = np.zeros_like(T)
    U_J, U_Z, U_E = np.zeros_like(J), np.zeros_like(T), np.zeros_like(T)
    mu = 1.0
    system = _system(gram, mu)
    for n_iter in range(1, max_iter + 1):
        pull = mu * (Z + T - E) + (U_E - U_Z)
        right = X.T @ pull / (1 + 2 * mu) + (mu * J - U_J)
        W = system.solve(right, start=W)
        C = (X @ W + pull) / (1 + 2 * mu)
        J_before, ZE_before = J, Z + E
        J = singular_value_threshold(W + U_J / mu, gamma / mu)
        Z = singular_value_threshold(C + U_Z / mu, beta / mu)
        E = soft_threshold(T - C + U_E / mu, eta / mu)
        U_J += mu * (W - J)
        U_Z += mu * (C - Z)
        U_E += mu * (T - C - E)
        primal = _joint_norm(W - J, C - Z, T - C - E)
        dual = mu * _joint_norm(J - J_before, Z + E - ZE_before)
        yield Decomposition(J, E, U_E, max(primal, dual) <= tol * _joint_norm(T))
        if n_iter % _ITERATIONS_BETWEEN_STEPS == 0 and n_iter <= max_iter // 2:
            # A larger mu makes the primal residual (the constraints) smaller, a smaller mu the
            # dual residual.
            if primal > _IMBALANCE * dual:
                mu *= _STEP
            elif dual > _IMBALANCE * primal:
                mu /= _STEP
            else:
                continue
            system = _system(gram, mu)


def _system(gram: Gram, mu: float) -> RidgeSystem:
    """Return the system of equations for W after C is eliminated."""
    return RidgeSystem(gram, scale=2 * mu / (1 + 2 * mu), ridge=mu)


def _joint_norm(*matrices: Array) -> float:
    return float(np.sqrt(sum(np.vdot(matrix, matrix) for matrix in matrices)))


def soft_threshold(values: Array, amount: float) -> Array:
    """Shrink every entry towards zero by ``amount``: the proximal operator of the l1 norm.

    >>> soft_threshold(np.array([-3.0, 0.5, 2.0]), 1.0)
    array([-2.,  0.,  1.])
    """
    return values - np.clip(values, -amount, amount)


def singular_value_threshold(matrix: Array, amount: float) -> Array:
    """Shrink every singular value of a matrix (m, q) towards zero by ``amount``.

    This is the proximal operator of the trace norm; see Cai, Candes and Shen, "A singular value
    thresholding algorithm for matrix completion", 2010, Theorem 2.1.

    >>> singular_value_threshold(np.diag([3.0, 1.0]), 2.0)
    array([[1., 0.],
           [0., 0.]])
    """
    if amount == 0:
        return matrix
    rows, columns = matrix.shape
    if columns >= _SLENDER * rows:
        return singular_value_threshold(matrix.T, amount).T
    if rows >= _SLENDER * columns:
        squares, vectors = np.linalg.eigh(matrix.T @ matrix)
        values = np.sqrt(np.maximum(squares, 0.0))
        kept = values > amount
        shrinkage = (vectors[:, kept] * (1 - amount / values[kept])) @ vectors[:, kept].T
        return np.asarray(matrix @ shrinkage)
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values > amount
    return np.asarray((left[:, kept] * (values[kept] - amount)) @ right[kept])
