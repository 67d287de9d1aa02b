"""Labels ranked by score, and the ranking criteria of each row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._parameters import check_array
from complabel.errors import InputError

_CELLS_PER_CHUNK = 2**18  # 2 MiB of float64, so that temporary arrays fit into a processor's cache


@dataclass(frozen=True)
class RankedRows:
    """Labels of rows from the highest score to the lowest; all arrays are (n_rows, n_labels)."""

    relevant: NDArray[np.bool_]
    """Whether the label at this position is relevant."""
    rank: NDArray[np.intp]
    """Number of labels that rank at or above this one; tied labels share the worst rank."""
    relevant_rank: NDArray[np.intp]
    """Number of relevant labels among these."""
    n_labels: NDArray[np.intp]
    """Number of labels of each row that are known, (n_rows,); the others come last."""

    @property
    def n_relevant(self) -> NDArray[np.intp]:
        return self.relevant_rank[:, -1]


RowCriterion: TypeAlias = Callable[[RankedRows], NDArray[np.float64]]


def ranking_loss_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the share of (relevant, irrelevant) pairs ranked wrongly; 0 without pairs."""
    irrelevant_above = ranked.rank - ranked.relevant_rank
    wrong = np.where(ranked.relevant, irrelevant_above, 0).sum(axis=1)
    n_pairs = ranked.n_relevant * (ranked.n_labels - ranked.n_relevant)
    return np.asarray(wrong / np.maximum(n_pairs, 1))


def one_error_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the share of the labels tied at the top that are not relevant."""
    return np.asarray(1 - ranked.relevant_rank[:, 0] / ranked.rank[:, 0])


def coverage_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return (rank of the last relevant label - 1) / number of labels."""
    depth = np.where(ranked.relevant, ranked.rank, 0).max(axis=1)
    return np.asarray((depth - 1) / ranked.n_labels)


def average_precision_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the mean precision at each relevant label; 1 if no label is relevant."""
    precision = np.where(ranked.relevant, ranked.relevant_rank / ranked.rank, 0.0).sum(axis=1)
    n_relevant = ranked.n_relevant
    return np.where(n_relevant == 0, 1.0, precision / np.maximum(n_relevant, 1))


def by_row(
    criteria: Sequence[RowCriterion],
    relevant: NDArray[np.uint8],
    scores: NDArray[np.float64],
    known: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return criteria of each row, (n_criteria, n_samples); every row is ranked only once.

    A label that is not ``known`` must not be relevant, and each row needs one that is known.
    """
    n_labels = np.full(len(scores), relevant.shape[1])
    if known is not None:
        scores = np.where(known, scores, -np.inf)  # so the others come last
        n_labels = np.count_nonzero(known, axis=1)
    n_rows = max(1, _CELLS_PER_CHUNK // relevant.shape[1])  # chunks limit the memory
    parts = [slice(start, start + n_rows) for start in range(0, len(scores), n_rows)]
    chunks = (_rank(relevant[rows], scores[rows], n_labels[rows]) for rows in parts)
    values = np.hstack([[criterion(ranked) for criterion in criteria] for ranked in chunks])
    return values.reshape(len(criteria), len(scores))


def _rank(
    relevant: NDArray[np.uint8], scores: NDArray[np.float64], n_labels: NDArray[np.intp]
) -> RankedRows:
    """Sort each row by descending score; tied labels share the last rank of their tie."""
    width = relevant.shape[1]
    order = np.argsort(-scores, axis=1, kind="stable")
    sorted_relevant = np.take_along_axis(relevant, order, axis=1).astype(bool)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    closes_tie = np.ones(scores.shape, dtype=bool)
    np.not_equal(sorted_scores[:, :-1], sorted_scores[:, 1:], out=closes_tie[:, :-1])
    rank = np.where(closes_tie, np.arange(1, width + 1), width)
    rank = np.minimum.accumulate(rank[:, ::-1], axis=1)[:, ::-1]
    relevant_rank = np.cumsum(sorted_relevant, axis=1, dtype=np.intp)
    relevant_rank = np.take_along_axis(relevant_rank, rank - 1, axis=1)
    return RankedRows(sorted_relevant, rank, relevant_rank, n_labels)


def check_scores(
    scores: ArrayLike, labels: NDArray[np.uint8], *, names: tuple[str, str]
) -> NDArray[np.float64]:
    """Return finite scores (n, K) with the shape of checked labels."""
    checked = check_array(names[1], scores, "row", "label")
    check_same_shape(labels, checked, names=names)
    return checked


def check_same_shape(
    labels: NDArray[np.uint8], other: NDArray[np.generic], *, names: tuple[str, str]
) -> None:
    if labels.shape != other.shape:
        raise InputError(
            f"{names[0]} has shape {labels.shape} but {names[1]} {other.shape}; both need one "
            "row per sample and one column per label"
        )
