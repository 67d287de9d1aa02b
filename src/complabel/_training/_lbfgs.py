"""Full-batch training of a linear map by L-BFGS: deterministic, and without a learning rate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning

from complabel._parameters import check_integer, check_real
from complabel._training._linear import LinearMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

LogitObjective = Callable[["NDArray[np.float64]"], "tuple[float, NDArray[np.float64]]"]
"""Maps logits (n, K) to the mean loss and its gradient with respect to the logits (n, K)."""

IterationCallback = Callable[[int, int, float], None]
"""Called after every iteration with its number (from 1), the most there can be, and the value."""


@dataclass(frozen=True)
class LBFGSResult:
    """What a run of L-BFGS found.

    Parameters
    ----------
    model : LinearMap
    value : float
        The objective there, penalty included.
    n_iter : int
    converged : bool
        Whether it stopped by itself rather than at ``max_iter``.
    """

    model: LinearMap
    value: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Scaling:
    """An affine map of the features, (X - shift) * factor, that is never carried out.

    Parameters
    ----------
    shift, factor : ndarrays of shape (n_features,)
        Factors are positive.
    """

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]

    def to_raw(self, scaled: LinearMap) -> LinearMap:
        """Return the map of X itself that equals a map of the scaled features."""
        coef = scaled.coef * self.factor
        return LinearMap(coef=coef, intercept=scaled.intercept - coef @ self.shift)

    def to_scaled(self, raw: LinearMap) -> LinearMap:
        """Return the map of the scaled features that equals a map of X itself."""
        intercept = raw.intercept + raw.coef @ self.shift
        return LinearMap(coef=raw.coef / self.factor, intercept=intercept)


def minimize_linear(
    X: NDArray[np.floating[Any]] | sparse.csr_array,
    objective: LogitObjective,
    *,
    start: LinearMap,
    alpha: float = 0.0,
    scaling: Scaling | None = None,
    tolerance: float = 1e-8,
    max_iter: int = 500,
    warn: bool = True,
    on_iteration: IterationCallback | None = None,
) -> LBFGSResult:
    r"""Find the linear map with the least objective, by L-BFGS in float64.

    Minimizes objective(X W^T + b) + alpha ||W||_F^2, where W belongs to the scaled features. No
    copy of them is made: sparse features stay sparse even where they are centred.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
    objective : callable
        See :data:`LogitObjective`.
    start : LinearMap
        Where to begin, as a map of X itself.
    alpha : float, default=0.0
        Weight of the squared norm; biases are not penalized.
    scaling : Scaling or None, default=None
        None leaves the features as they are.
    tolerance : float, default=1e-8
        Stop once an iteration improves the objective by less than this share of it, or no entry
        of the gradient exceeds it.
    max_iter : int, default=500
    warn : bool, default=True
        Whether to warn at ``max_iter``.
    on_iteration : callable or None, default=None
        See :data:`IterationCallback`.

    Returns
    -------
    LBFGSResult
        Its model maps X itself.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` iterations were not enough.

    References
    ----------
    Byrd, Lu, Nocedal and Zhu, "A Limited Memory Algorithm for Bound Constrained Optimization",
    SIAM Journal on Scientific Computing 1995, in SciPy's implementation.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> target = np.array([[1.0], [3.0], [5.0]])
    >>> def squares(logits):
    ...     error = logits - target
    ...     return float(np.mean(error**2)), 2 * error / len(error)
    >>> start = LinearMap(coef=np.zeros((1, 1)), intercept=np.zeros(1))
    >>> model = minimize_linear(X, squares, start=start).model
    >>> model.coef.round(3), model.intercept.round(3)
    (array([[2.]]), array([1.]))
    """
    check_real("alpha", alpha, at_least=0)
    check_real("tolerance", tolerance, at_least=0)
    check_integer("max_iter", max_iter, at_least=1)
    features: Any = X.astype(np.float64, copy=False)
    n_features, iterations = X.shape[1], 0
    scale = scaling or Scaling(shift=np.zeros(n_features), factor=np.ones(n_features))

    def scaled_map(vector: NDArray[np.float64]) -> LinearMap:
        """View a vector as a map of the scaled features: for each label its weights and bias."""
        matrix = vector.reshape(-1, n_features + 1)
        return LinearMap(coef=matrix[:, :-1], intercept=matrix[:, -1])

    def value_and_gradient(vector: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scaled = scaled_map(vector)
        value, through_logits = objective(scale.to_raw(scaled)(features))  # (n, K)
        through_bias = through_logits.sum(axis=0)
        through_coef = np.asarray(features.T @ through_logits).T  # (K, d)
        through_coef = (through_coef - np.outer(through_bias, scale.shift)) * scale.factor
        through_coef += 2 * alpha * scaled.coef
        penalty = alpha * float(np.vdot(scaled.coef, scaled.coef))
        return value + penalty, np.column_stack([through_coef, through_bias]).ravel()

    # SciPy hands over the value only to a callback with an argument of just this name.
    def after_iteration(intermediate_result: optimize.OptimizeResult) -> None:
        nonlocal iterations
        iterations += 1
        if on_iteration is not None:
            on_iteration(iterations, max_iter, float(intermediate_result.fun))

    first = scale.to_scaled(start)
    result = optimize.minimize(
        value_and_gradient,
        np.column_stack([first.coef, first.intercept]).ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        # A line search seldom takes more than two evaluations: 20 each are no limit of their own.
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "ftol": tolerance,
            "gtol": tolerance,
        },
    )
    # Status 2 is a line search that finds nothing better: as near as rounding allows.
    converged = result.status != 1
    if warn and not converged:
        warnings.warn(
            f"L-BFGS stopped at max_iter={max_iter} before it converged to tolerance={tolerance:g};"
            " raise max_iter, raise alpha or scale the features",
            ConvergenceWarning,
            stacklevel=2,
        )
    raw = scale.to_raw(scaled_map(result.x))
    return LBFGSResult(
        model=LinearMap(np.ascontiguousarray(raw.coef), raw.intercept),
        value=float(result.fun),
        n_iter=int(result.nit),
        converged=converged,
    )
