"""Theorem 6, the consistency claim, checked by minimizing the complementary risk at each x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from research.theory._transition import complementary_probabilities
from scipy import optimize

from complabel._parameters import check_choice as check_option
from complabel.errors import InputError, TransitionError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from research.theory._joint import JointDistribution

Loss: TypeAlias = Literal["cross-entropy", "squared", "both"]
"""The complementary loss (eq. 10), the regularizer (eq. 11), or their sum (eq. 12, beta = 1)."""

_LOSSES: tuple[Loss, ...] = ("cross-entropy", "squared", "both")
_SMALL = 1e-12  # below this, a tangent replaces the logarithm, so the risk stays convex
_RANK_TOLERANCE = 1e-10
_TIE = 1e-9
_REACHED = 1e-9


@dataclass(frozen=True, eq=False)
class Consistency:
    """The minimizer of the population risk over all f in [0, 1]^K, to compare with p(y|x)."""

    posterior: NDArray[np.float64]
    """(m, K), p(y_k = 1 | x). The theorem claims that it is the minimizer."""
    minimizer: NDArray[np.float64]
    """(m, K), the f of smallest risk."""
    named: NDArray[np.float64]
    """(m, K), p(ybar_j = 1 | x)."""
    reached: NDArray[np.bool_]
    """(m,), whether T^T f = p(ybar|x). Where it is, all the losses have this minimizer."""

    @property
    def error(self) -> NDArray[np.float64]:
        """The largest ``|f_k - p(y_k|x)|`` over k, (m,)."""
        return np.asarray(np.abs(self.minimizer - self.posterior).max(axis=-1))

    @property
    def proportional_error(self) -> NDArray[np.float64]:
        """The same error after f and p(y|x) are divided by their sums, (m,)."""
        f = self.minimizer / self.minimizer.sum(axis=-1, keepdims=True)
        p = self.posterior / self.posterior.sum(axis=-1, keepdims=True)
        return np.asarray(np.abs(f - p).max(axis=-1))

    @property
    def reversed_pairs(self) -> NDArray[np.float64]:
        """The share of pairs that f and p(y|x) rank in opposite order, (m,); ties count 1/2."""
        return _reversed(self.minimizer, self.posterior)

    @property
    def reversed_by_naming(self) -> NDArray[np.float64]:
        """The same share if the label that is named least is ranked first, (m,).

        The selection likelihood with independent labels and a uniform choice ranks labels in
        this way at its optimum.
        """
        return _reversed(-self.named, self.posterior)

    @property
    def wrong_labels(self) -> NDArray[np.float64]:
        """The share of labels for which f > 1/2 and p(y|x) > 1/2 disagree, (m,)."""
        return np.asarray(((self.minimizer > 0.5) != (self.posterior > 0.5)).mean(axis=-1))


def check_consistency(
    distribution: JointDistribution,
    choice: NDArray[np.float64],
    transition: NDArray[np.float64],
    *,
    loss: Loss = "both",
) -> Consistency:
    """Minimize the population risk E[Lbar(T^T f(x), ybar) | x] at each x.

    Parameters
    ----------
    distribution : JointDistribution
        One distribution, without leading axes.
    choice : ndarray of shape (2**K - 2, K), float64
        p(ybar|Y).
    transition : ndarray of shape (K, K), float64
        T, for example the exact one or the one that the method estimates. It must be
        invertible, as the theorem assumes.
    loss : {"cross-entropy", "squared", "both"}, default="both"
        The complementary loss (eq. 10), the regularizer (eq. 11), or the paper's sum (eq. 12).

    Returns
    -------
    Consistency

    Raises
    ------
    InputError
        If there are several distributions, the loss is unknown, or the choice is for another
        number of labels.
    TransitionError
        If T has an undefined row or cannot be inverted.

    Examples
    --------
    There are three x with the label sets {0, 1}, {0, 2} and {1, 2}. Labels 0 and 1 are certain
    at the first x. The minimizer gives them 2/3 only, although T is exact:

    >>> import numpy as np
    >>> from research.theory import JointDistribution, exact_transition, uniform_choice
    >>> pairs = JointDistribution(np.full(3, 1 / 3), np.eye(6)[[2, 4, 5]])
    >>> choice = uniform_choice(3)
    >>> found = check_consistency(pairs, choice, exact_transition(pairs, choice))
    >>> found.posterior[0], found.minimizer[0].round(3)
    (array([1., 1., 0.]), array([0.667, 0.667, 0.   ]))
    """
    check_option("loss", loss, _LOSSES)
    if distribution.weights.ndim != 1:
        raise InputError("consistency is checked for one distribution, without leading axes")
    if not np.isfinite(transition).all():
        raise TransitionError("the transition matrix has undefined rows: some label never applies")
    if np.linalg.svd(transition, compute_uv=False)[-1] < _RANK_TOLERANCE:
        raise TransitionError("the transition matrix cannot be inverted, as the theorem assumes")
    named = complementary_probabilities(distribution, choice)
    # If T^T f = p(ybar|x) has a solution in [0, 1]^K, it is the only minimum of every loss.
    f = np.linalg.solve(transition.T, named.T).T
    inside = np.asarray(((f >= -_REACHED) & (f <= 1 + _REACHED)).all(axis=1))
    f = np.clip(f, 0, 1)
    for x in np.flatnonzero(~inside):
        f[x] = _minimize(transition, named[x], loss)
    return Consistency(distribution.marginals, f, named, inside)


def _minimize(
    transition: NDArray[np.float64], named: NDArray[np.float64], loss: Loss
) -> NDArray[np.float64]:
    """Return the f in [0, 1]^K of smallest risk, for an x with no T^T f = p(ybar|x)."""
    if loss == "squared":  # bounded least squares has an exact solver
        return np.asarray(optimize.lsq_linear(transition.T, named, (0, 1), method="bvls").x)

    def risk(f: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        implied = f @ transition
        yes, no = _minus_log(implied), _minus_log(1 - implied)
        value = named @ yes[0] + (1 - named) @ no[0]
        slope = named * yes[1] - (1 - named) * no[1]
        if loss == "both":
            # E||ybar - fbar||^2 is ||named - fbar||^2 plus a constant.
            value += ((named - implied) ** 2).sum()
            slope = slope + 2 * (implied - named)
        return float(value), np.asarray(transition @ slope)

    solver: Any = optimize.minimize
    start = np.full(len(named), 1 / len(named))
    found = solver(
        risk,
        start,
        jac=True,
        bounds=[(0, 1)] * len(named),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000},
    )
    return np.asarray(found.x)


def _minus_log(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return -log and its derivative; below ``_SMALL`` the tangent replaces -log."""
    clipped = np.maximum(values, _SMALL)
    return -np.log(clipped) - np.minimum(values - _SMALL, 0) / _SMALL, -1 / clipped


def _reversed(scores: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of pairs with different truth that the scores rank in reverse order."""
    higher = truth[..., :, np.newaxis] - truth[..., np.newaxis, :] > _TIE  # (m, K, K)
    lead = scores[..., :, np.newaxis] - scores[..., np.newaxis, :]
    wrong = np.where(np.abs(lead) <= _TIE, 0.5, lead < 0) * higher
    return np.asarray(wrong.sum(axis=(-2, -1)) / np.maximum(higher.sum(axis=(-2, -1)), 1))
