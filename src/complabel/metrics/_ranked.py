"""Labels in the order of their scores: what every ranking criterion counts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from complabel.errors import InputError

Convention: TypeAlias = Literal["sklearn", "paper"]
CONVENTIONS = ("sklearn", "paper")

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
    criteria: tuple[RowCriterion, ...],
    Y: NDArray[np.uint8],
    scores: NDArray[np.float64],
    *,
    convention: Convention,
) -> list[float]:
    """Return the mean of each per-row criterion, ranking every row only once."""
    if convention not in CONVENTIONS:
        raise InputError(
            f"convention is {convention!r}; use one of {', '.join(map(repr, CONVENTIONS))}"
        )
    if convention == "paper":
        kept = Y.any(axis=1)
        if not kept.any():
            raise InputError(
                'Y has no row with a relevant label, and convention="paper" skips such rows; '
                'use convention="sklearn" or give rows with relevant labels'
            )
        if not kept.all():
            Y, scores = Y[kept], scores[kept]
    totals = np.zeros(len(criteria))
    for ranked in _ranked_chunks(Y, scores, share_ties=convention == "sklearn"):
        totals += [criterion(ranked).sum() for criterion in criteria]
    return [float(total) for total in totals / len(Y)]


def by_row(
    criterion: RowCriterion, Y: NDArray[np.uint8], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a criterion of each row, shape (n_samples,); tied labels share the worst rank."""
    chunks = _ranked_chunks(Y, scores, share_ties=True)
    return np.concatenate([criterion(ranked) for ranked in chunks])


def _ranked_chunks(
    Y: NDArray[np.uint8], scores: NDArray[np.float64], *, share_ties: bool
) -> Iterator[RankedRows]:
    """Rank some rows at a time, to bound the memory."""
    n_samples, n_labels = Y.shape
    n_rows = max(1, _CELLS_PER_CHUNK // n_labels)
    for start in range(0, n_samples, n_rows):
        rows = slice(start, start + n_rows)
        yield _rank(Y[rows], scores[rows], share_ties=share_ties)


def _rank(Y: NDArray[np.uint8], scores: NDArray[np.float64], *, share_ties: bool) -> RankedRows:
    """Sort each row by descending score; of tied labels the first column comes first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    relevant = np.take_along_axis(Y, order, axis=1).astype(bool)
    n_labels = Y.shape[1]
    rank = np.broadcast_to(np.arange(1, n_labels + 1), Y.shape)
    relevant_rank = np.cumsum(relevant, axis=1, dtype=np.intp)
    if share_ties:
        ordered = np.take_along_axis(scores, order, axis=1)
        rank = np.where(_closes_tie(ordered), rank, n_labels)
        # Every tied label takes the rank at which its group of ties closes.
        rank = np.minimum.accumulate(rank[:, ::-1], axis=1)[:, ::-1]
        relevant_rank = np.take_along_axis(relevant_rank, rank - 1, axis=1)
    return RankedRows(relevant=relevant, rank=rank, relevant_rank=relevant_rank)


def _closes_tie(ordered: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the positions after which the score changes, and each row's last."""
    closes = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, :-1], ordered[:, 1:], out=closes[:, :-1])
    return closes
