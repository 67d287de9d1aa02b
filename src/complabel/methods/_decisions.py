"""From scores to label sets: the one place that says what ``threshold`` and ``cut`` mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

THRESHOLDS = ("probability", "minmax")


def labels_above(log_odds: NDArray[np.float64], *, threshold: str, cut: float) -> NDArray[np.int64]:
    """Return the labels (n, K) whose f exceeds the cut, given log f / (1 - f).

    The threshold ``"probability"`` compares f itself; ``"minmax"`` compares f after each row is
    scaled to [0, 1] by its own least and greatest f. A row of equal f has no range and is compared
    as it is. Probabilities near 1 would have lost the digits that tell them apart.

    Examples
    --------
    >>> log_odds = np.array([[-3.0, -2.5, -1.0]])
    >>> labels_above(log_odds, threshold="probability", cut=0.5)
    array([[0, 0, 0]])
    >>> labels_above(log_odds, threshold="minmax", cut=0.5)
    array([[0, 0, 1]])
    """
    flat = float(special.logit(cut))
    if threshold == "probability":
        return (log_odds > flat).astype(np.int64)
    return (log_odds > _row_cuts(log_odds, cut, flat)).astype(np.int64)


def _row_cuts(log_odds: NDArray[np.float64], cut: float, flat: float) -> NDArray[np.float64]:
    """Return the log-odds (n, 1) of the point ``cut`` between a row's extreme f."""
    lowest = log_odds.min(axis=1, keepdims=True)
    highest = log_odds.max(axis=1, keepdims=True)
    low, high = np.log1p(-cut), np.log(cut)
    # Computed as log p and log(1 - p): a float64 score near 1 has no digits left. The smaller
    # term of a sum may underflow, which costs nothing.
    with np.errstate(under="ignore", invalid="ignore"):
        log_point, log_complement = (
            np.logaddexp(
                low + special.log_expit(sign * lowest), high + special.log_expit(sign * highest)
            )
            for sign in (1, -1)
        )
        return np.where(lowest == highest, flat, log_point - log_complement)


def log_odds_around_half(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds of the probabilities ``scores + 0.5``; a score above 0 stays so."""
    with np.errstate(divide="ignore"):
        return np.asarray(2 * np.arctanh(2 * scores))


def log_odds_of_regression(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds that stand for regression scores, which are 0 at the cut.

    The logistic curve has slope one at the cut, so that f is near ``scores + 0.5`` there. Unlike
    the score clipped to [0, 1], it keeps the order of labels beyond either end.
    """
    return 4 * scores
