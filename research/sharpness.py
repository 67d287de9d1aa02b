"""Estimate the sharpness of a biased draw from the complementary labels that it gave.

On released labels: docs/evidence/released.md.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtrc, log_softmax, ndtri

from complabel._parameters import check_real
from complabel.answers import (
    IndicatorLike,
    check_complementary,
    check_known,
    check_relevant,
    label_names_of,
    name_some,
)
from complabel.errors import AnnotationError
from complabel.simulate import log_dissimilarity

# Smaller differences are rounding errors, of logarithms of rates and of eigenvalues per row.
_EQUAL = 1e-9


@dataclass(frozen=True)
class SharpnessEstimate:
    """The estimated sharpness of a biased draw, and a test of the fit."""

    sharpness: float  # negative if the chosen labels often occur with the relevant ones
    standard_error: float  # from the Fisher information
    against: float  # the sharpness that is tested
    likelihood_ratio: float  # twice the difference of log-likelihoods at the estimate and against
    p_value: float  # of this ratio, by the chi-square distribution with one degree of freedom
    # The distance between the counts of the chosen labels and those that the formula expects, and
    # the probability of a distance at least as large if the formula is true.
    chi_square: float
    degrees_of_freedom: int
    fit_p_value: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return both ends of the confidence interval by the standard error, 0 < ``level`` < 1."""
        check_real("level", level, above=0, below=1)
        half = float(ndtri((1 + level) / 2)) * self.standard_error
        return self.sharpness - half, self.sharpness + half


def estimate_sharpness(
    Y: IndicatorLike, complementary: IndicatorLike, *, against: float = 0.0
) -> SharpnessEstimate:
    """Estimate how sharply complementary labels were chosen by co-occurrence.

    The model is that of ``draw_complementary(Y, scheme="biased")``: label j is chosen with a
    probability proportional to ``(1 - r_j) ** sharpness``. A sharpness of 0 is a uniform draw.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Relevant labels. Each row has at least one of them, and not all.
    complementary : array-like or sparse matrix of shape (n_samples, n_labels)
        1 at the label that was chosen, one in each row.
    against : float, default=0.0
        The sharpness to test.

    Returns
    -------
    SharpnessEstimate

    Raises
    ------
    AnnotationError
        Also if a complementary label is relevant, or no finite sharpness has the largest
        likelihood, for example if each row has the label that occurs least with its relevant ones.

    Notes
    -----
    The model is an exponential family, so the log-likelihood is concave in the sharpness. The
    test of fit compares the counts of the labels with their expectation. Because the sharpness is
    estimated, the covariance of the difference is V - b b' / I. Here V is the sum of the
    covariances of the rows' choices, b is the sum of their covariances with log(1 - r_j), and I
    is the Fisher information (Andrews, Chi-square diagnostic tests for econometric models, Journal
    of Econometrics 37, 1988). The rates r_j are computed from ``Y`` and taken as known.

    Examples
    --------
    >>> from complabel.simulate import draw_complementary
    >>> from complabel.datasets import make_synthetic
    >>> Y = make_synthetic(5000, n_labels=8, random_state=0).Y
    >>> drawn = draw_complementary(Y, scheme="biased", sharpness=2.0, random_state=0)
    >>> found = estimate_sharpness(Y, drawn)
    >>> abs(found.sharpness - 2) < 3 * found.standard_error
    True
    """
    relevant = check_relevant(Y)
    check_real("against", against)
    chosen = check_complementary(complementary) == 1
    check_known(relevant, chosen.astype(np.uint8), label_names_of(complementary))
    several = np.flatnonzero(chosen.sum(axis=1) > 1)
    if len(several):
        raise AnnotationError(
            f"complementary marks several labels in {name_some(several, 'row')}; the sharpness is"
            " estimated from one in each row, leave the others out"
        )
    rates = log_dissimilarity(relevant)  # (n, K), log(1 - r_j)
    eligible = relevant == 0
    at_chosen = rates[chosen]  # (n,)
    _refuse_infinite(at_chosen, rates, eligible)

    def score(sharpness: float) -> float:
        """Return the slope of the log-likelihood."""
        expected = (np.exp(_log_choice(sharpness, rates, eligible)) * rates).sum(axis=1)
        return float((at_chosen - expected).sum())

    low, high = -1.0, 1.0
    while score(low) < 0:
        low *= 2
    while score(high) > 0:
        high *= 2
    sharpness = float(brentq(score, low, high, xtol=1e-12))

    q = np.exp(_log_choice(sharpness, rates, eligible))  # (n, K)
    centred = np.where(eligible, rates - (q * rates).sum(axis=1, keepdims=True), 0.0)
    weighted = q * centred
    information = float((weighted * centred).sum())
    by_label = weighted.sum(axis=0)  # (K,), b of the notes
    covariance = np.diag(q.sum(axis=0)) - q.T @ q - np.outer(by_label, by_label) / information
    values, vectors = np.linalg.eigh(covariance)  # it is singular
    kept = values > _EQUAL * q.sum()
    along = vectors[:, kept].T @ (chosen.sum(axis=0) - q.sum(axis=0))
    chi_square, rank = float((along**2 / values[kept]).sum()), int(kept.sum())
    logs = (_log_choice(each, rates, eligible)[chosen].sum() for each in (sharpness, against))
    ratio = max(2 * float(next(logs) - next(logs)), 0.0)  # rounding can make it negative
    return SharpnessEstimate(
        sharpness=sharpness,
        standard_error=1 / math.sqrt(information),
        against=float(against),
        likelihood_ratio=ratio,
        p_value=float(chdtrc(1, ratio)),
        chi_square=chi_square,
        degrees_of_freedom=rank,
        fit_p_value=float(chdtrc(rank, chi_square)) if rank else 1.0,
    )


def _log_choice(
    sharpness: float, rates: NDArray[np.float64], eligible: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the log-probability of each label to be chosen, (n, K); -inf for relevant labels."""
    logs: NDArray[np.float64] = log_softmax(np.where(eligible, sharpness * rates, -np.inf), axis=1)
    return logs


def _refuse_infinite(
    at_chosen: NDArray[np.float64], rates: NDArray[np.float64], eligible: NDArray[np.bool_]
) -> None:
    """Refuse choices whose likelihood only grows, or only falls, with the sharpness."""
    most = np.where(eligible, rates, -np.inf).max(axis=1)
    least = np.where(eligible, rates, np.inf).min(axis=1)
    always_most, always_least = (np.abs(at_chosen - each).max() < _EQUAL for each in (most, least))
    if always_most or always_least:
        what = "least" if always_most else "most"
        what = "equally" if always_most and always_least else what
        raise AnnotationError(
            f"each row has a complementary label that occurs {what} with its relevant ones among"
            " those that do not apply, so no finite sharpness is the likeliest; give more rows"
        )
