"""PML-lc: candidates ranked by confidences that agree between labels seen together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._linear import documented
from complabel.methods.candidates._pml import TEXTS, ConfidenceRanker, Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features


@documented(**TEXTS, name="PMLLCClassifier")
class PMLLCClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by label correlation (PML-lc).

    {model}
    The confidences are pulled together for labels that are candidates together:
    R(P) = C2 tr(P L P^T), where T is the matrix of candidates,
    ``S_jk = T_j . T_k / sqrt(|T_j| |T_k|)`` with zero diagonal and mean row sum 1, and
    L = diag(S 1) - S.

    Parameters
    ----------
    C1 : float, default=1.0
        Weight of the rank loss; the paper fixes it at 1.
    C2 : float, default=1e-3
        Weight of the correlation term, to be searched in 1e-3, 1e-2, 0.1, 1, 10.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    PMLFPClassifier : Refines the confidences by prototypes in the feature space.

    Notes
    -----
    The form of S is ours. With one complementary label per instance S is nearly constant, and
    the correlation term does little but even the confidences out.

    {notes}
    """

    def _structure(self, X: Features, candidates: NDArray[np.float64]) -> Structure:
        del X
        term = Quadratic(2 * self.C2 * correlation_laplacian(candidates))
        return lambda _: term


def correlation_laplacian(candidates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return L (K, K) of the cosines between the columns of candidates, at mean row sum 1."""
    together = candidates.T @ candidates  # (K, K)
    sizes = np.sqrt(np.maximum(together.diagonal(), 1.0))
    similarity = together / np.outer(sizes, sizes)
    np.fill_diagonal(similarity, 0.0)
    row_sums = similarity.sum(axis=1)
    # Two labels, one always excluded, are never candidates together: S stays 0.
    scale = row_sums.mean() or 1.0
    laplacian: NDArray[np.float64] = (np.diag(row_sums) - similarity) / scale
    return laplacian
