"""The linear machines of LIFT, and the scaling of their margins to logits."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Machine(NamedTuple):
    """A linear machine w (M,), b, and whether its solver met its tolerance."""

    coef: NDArray[np.float64]
    intercept: float
    converged: bool = True


def libsvm(
    features: NDArray[np.float64], candidate: NDArray[np.bool_], *, C: float, max_iter: int
) -> Machine:
    """Return w and b of the hinge loss as LIBSVM at its default tolerance leaves them.

    Raises
    ------
    InputError
        If the features' products exceed single precision, in which LIBSVM keeps them.
    """
    _refuse_too_large(features, largest_product=float(np.finfo(np.float32).max))
    solver = SVC(kernel="linear", C=C, tol=1e-3, max_iter=max_iter)
    with warnings.catch_warnings():
        # Told once for all labels and folds, see LIFTClassifier.
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(features, candidate)
    return Machine(solver.coef_[0], float(solver.intercept_[0]), solver.fit_status_ == 0)


def squared_hinge(
    features: NDArray[np.float64], candidate: NDArray[np.bool_], *, C: float
) -> Machine:
    """Return w and b that minimize the sum of squared hinge losses.

    Raises
    ------
    InputError
        If products of the Hessian with gradients exceed double precision.
    """
    _refuse_too_large(features, largest_product=float(np.finfo(np.float64).max) ** 0.5 / 1e6)
    sign = np.where(candidate, 1.0, -1.0)
    extended = np.column_stack([features, np.ones(len(features))])  # (n, M + 1)
    penalized = np.ones(extended.shape[1])
    penalized[-1] = 0

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        shortfall = np.maximum(0, 1 - sign * (extended @ weights))
        value = float(0.5 * (penalized * weights) @ weights + C * shortfall @ shortfall)
        return value, penalized * weights - 2 * C * (sign * shortfall) @ extended

    def hessian(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        short = extended[sign * (extended @ weights) < 1]
        return np.diag(penalized) + 2 * C * short.T @ short

    found = optimize.minimize(
        objective,
        np.zeros(extended.shape[1]),
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"initial_trust_radius": 1e3, "max_trust_radius": 1e9},
    )
    return Machine(found.x[:-1], float(found.x[-1]))


def _refuse_too_large(features: NDArray[np.float64], *, largest_product: float) -> None:
    """Refuse features (n, M) whose rows have greater squared norms than a solver can take."""
    if float(np.einsum("ij,ij->i", features, features).max()) > largest_product:
        raise InputError(
            f"X has distances to cluster centres of up to {features.max():.3g}, too large for the"
            " support vector machine: scale the features first"
        )


def platt_scaling(
    margins: NDArray[np.float64], candidate: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return slope and offset of the logit: Platt's logistic regression on smoothed targets."""
    n_positive = candidate.sum()
    n_negative = len(candidate) - n_positive
    target = np.where(candidate, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    # Margins of a degenerate machine differ by 1e-4 and less: give the optimizer their scale.
    mean, scale = margins.mean(), margins.std() if np.ptp(margins) else 1.0
    standardized = ((margins - mean) / scale)[:, None]
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(
        np.vstack([standardized, standardized]),
        np.repeat([1, 0], len(margins)),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    slope = model.coef_[0, 0] / scale
    return float(slope), float(model.intercept_[0] - slope * mean)
