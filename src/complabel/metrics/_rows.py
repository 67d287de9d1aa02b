"""The ranking criteria of single rows, from their ranked labels."""

import numpy as np
from numpy.typing import NDArray

from complabel.metrics._ranked import RankedRows


def ranking_loss_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the share of (relevant, irrelevant) pairs ranked wrongly; 0 where there is none."""
    irrelevant_above = ranked.rank - ranked.relevant_rank
    wrong = np.where(ranked.relevant, irrelevant_above, 0).sum(axis=1)
    n_pairs = ranked.n_relevant * (ranked.n_labels - ranked.n_relevant)
    return np.asarray(wrong / np.maximum(n_pairs, 1))


def one_error_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the share of the labels tied at the top that are not relevant."""
    return np.asarray(1 - ranked.relevant_rank[:, 0] / ranked.rank[:, 0])


def coverage_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the depth of the deepest relevant label, over the number of labels."""
    depth = np.where(ranked.relevant, ranked.rank, 0).max(axis=1)
    return np.asarray((depth - 1) / ranked.n_labels)


def average_precision_of_rows(ranked: RankedRows) -> NDArray[np.float64]:
    """Return the mean precision at each relevant label; 1 where no label is relevant."""
    precision = np.where(ranked.relevant, ranked.relevant_rank / ranked.rank, 0.0).sum(axis=1)
    n_relevant = ranked.n_relevant
    return np.where(n_relevant == 0, 1.0, precision / np.maximum(n_relevant, 1))
