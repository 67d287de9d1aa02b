"""The row min-max rule as a decision: positive where it predicts a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def centred_at_midrange(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract from each row (n, K) the middle of its range.

    What is positive afterwards exceeds one half once the row is scaled to [0, 1]; the order
    within a row stays. A row of equal scores has no range and is cut at one half as it is, as
    :func:`complabel.metrics.threshold_minmax` does.
    """
    lowest = scores.min(axis=1, keepdims=True)
    highest = scores.max(axis=1, keepdims=True)
    middle = np.where(lowest == highest, 0.5, lowest + 0.5 * (highest - lowest))
    return np.asarray(scores - middle)
