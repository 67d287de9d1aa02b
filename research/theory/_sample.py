"""Items that are drawn from tables of probabilities."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Sample(NamedTuple):
    """Items that are drawn from a joint distribution."""

    points: NDArray[np.intp]
    """(n,), the index of the x of each item."""
    Y: NDArray[np.uint8]
    """(n, K), 1 where a label is relevant."""
    complementary: NDArray[np.uint8]
    """(n, K), 1 at the complementary label, one in each row."""


def draw(
    chances: NDArray[np.float64], rows: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw a column for each given row, with the probabilities in that row."""
    used, inverse = np.unique(rows, return_inverse=True)
    # All used rows form one increasing sequence, so one search finds the columns of all items.
    # Row i covers the interval from i to i + 1.
    line = chances[used].cumsum(axis=1)
    line /= line[:, -1:]
    line += np.arange(len(used))[:, np.newaxis]
    places = inverse + rng.random(len(rows))
    columns = np.searchsorted(line.ravel(), places, side="right") - inverse * chances.shape[1]
    # Rounding at the end of an interval must not give a column that is impossible.
    last = chances.shape[1] - 1 - np.argmax(chances[used, ::-1] > 0, axis=1)
    return np.asarray(np.clip(columns, 0, last[inverse]), dtype=np.intp)
