"""Labels in the order of their scores: what every ranking criterion counts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_CELLS_PER_CHUNK = 2**18  # keeps the handful of temporaries within a processor's cache


@dataclass(frozen=True)
class RankedRows:
    """Some rows' labels from the highest score to the lowest; all arrays are (n_rows, n_labels).

    Attributes
    ----------
    relevant : ndarray of bool
        Whether the label at this position is relevant.
    rank : ndarray of int
        How many labels rank at or above this one; tied labels share the worst rank.
    relevant_rank : ndarray of int
        How many of these are relevant.
    """

    relevant: NDArray[np.bool_]
    rank: NDArray[np.intp]
    relevant_rank: NDArray[np.intp]

    @property
    def n_relevant(self) -> NDArray[np.intp]:
        """Number of relevant labels of each row, (n_rows,)."""
        return self.relevant_rank[:, -1]

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.relevant.shape[1])


RowCriterion: TypeAlias = Callable[[RankedRows], NDArray[np.float64]]


def mean_over_rows(
    criteria: tuple[RowCriterion, ...], relevant: NDArray[np.uint8], scores: NDArray[np.float64]
) -> list[float]:
    """Return the mean of each per-row criterion, ranking every row only once."""
    totals = np.zeros(len(criteria))
    for ranked in _ranked_chunks(relevant, scores):
        totals += [criterion(ranked).sum() for criterion in criteria]
    return [float(total) for total in totals / len(relevant)]


def by_row(
    criterion: RowCriterion, relevant: NDArray[np.uint8], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a criterion of each row, shape (n_samples,)."""
    return np.concatenate([criterion(ranked) for ranked in _ranked_chunks(relevant, scores)])


def _ranked_chunks(
    relevant: NDArray[np.uint8], scores: NDArray[np.float64]
) -> Iterator[RankedRows]:
    """Rank some rows at a time, to bound the memory."""
    n_samples, n_labels = relevant.shape
    n_rows = max(1, _CELLS_PER_CHUNK // n_labels)
    for start in range(0, n_samples, n_rows):
        rows = slice(start, start + n_rows)
        yield _rank(relevant[rows], scores[rows])


def _rank(relevant: NDArray[np.uint8], scores: NDArray[np.float64]) -> RankedRows:
    """Sort each row by descending score; tied labels share the rank at which their tie closes."""
    n_labels = relevant.shape[1]
    order = np.argsort(-scores, axis=1, kind="stable")
    sorted_relevant = np.take_along_axis(relevant, order, axis=1).astype(bool)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    rank = np.where(_closes_tie(sorted_scores), np.arange(1, n_labels + 1), n_labels)
    rank = np.minimum.accumulate(rank[:, ::-1], axis=1)[:, ::-1]
    relevant_rank = np.cumsum(sorted_relevant, axis=1, dtype=np.intp)
    relevant_rank = np.take_along_axis(relevant_rank, rank - 1, axis=1)
    return RankedRows(relevant=sorted_relevant, rank=rank, relevant_rank=relevant_rank)


def _closes_tie(ordered: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the positions after which the score changes, and each row's last."""
    closes = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, :-1], ordered[:, 1:], out=closes[:, :-1])
    return closes
