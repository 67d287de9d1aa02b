"""Full-batch training of a linear map by L-BFGS: deterministic, and without a learning rate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from complabel._parameters import check_integer, check_real
from complabel._training._linear import LinearMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel._training._rows import Features

LogitObjective = Callable[["NDArray[np.float64]"], "tuple[float, NDArray[np.float64]]"]
"""Maps logits (n, K) to the mean loss and its gradient with respect to the logits (n, K)."""

IterationCallback = Callable[[int, int, float], None]
"""Called after every iteration with its number (from 1), the most there can be, and the value."""


@dataclass(frozen=True)
class LBFGSResult:
    """What L-BFGS found; it converged if it stopped by itself rather than at ``max_iter``."""

    model: LinearMap
    value: float  # of the objective, penalty included
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Scaling:
    """An affine map of the features, (X - shift) * factor, that is never carried out."""

    shift: NDArray[np.float64]  # (d,)
    factor: NDArray[np.float64]  # (d,), positive

    def to_raw(self, scaled: LinearMap) -> LinearMap:
        """Return the map of X itself that equals a map of the scaled features."""
        coef = scaled.coef * self.factor
        return LinearMap(coef=coef, intercept=scaled.intercept - coef @ self.shift)

    def to_scaled(self, raw: LinearMap) -> LinearMap:
        """Return the map of the scaled features that equals a map of X itself."""
        intercept = raw.intercept + raw.coef @ self.shift
        return LinearMap(coef=raw.coef / self.factor, intercept=intercept)


def minimize_linear(
    X: Features,
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
    """Minimize objective(X W^T + b) + alpha ||W||^2 over linear maps, in float64.

    W in the penalty belongs to the scaled features. No copy of them is made: sparse features stay
    sparse even where they are centred. ``start`` and the map that is found are maps of X itself.
    It stops once an iteration gains less than the share ``tolerance`` of the objective, or no
    entry of the gradient exceeds it. At ``max_iter`` it warns with a ConvergenceWarning.

    References
    ----------
    Byrd, Lu, Nocedal and Zhu, "A Limited Memory Algorithm for Bound Constrained Optimization",
    SIAM Journal on Scientific Computing 1995, in SciPy's implementation.
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
