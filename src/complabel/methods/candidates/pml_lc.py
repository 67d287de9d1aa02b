"""PML-lc: candidates ranked by confidences that agree between labels seen together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._pml import ConfidenceRanker, Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features


class PMLLCClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by label correlation (PML-lc).

    All labels not excluded are candidates. A linear ranker puts each candidate above each
    complementary label, as far as the candidate is believed; the confidences P are learned as
    well, and pulled together for labels that are candidates together:

    minimize over W, P:  ||W||^2 / 2
    + C1 sum_i 1/(#A_i #B_i) sum_{j in A_i, k in B_i} P_ij max(0, 1 - f_j(x_i) + f_k(x_i))^2
    + C2 tr(P L P^T)
    subject to  0 <= P_ij <= 1,  P_ij = 0 for j in B_i,  sum_j P_ij >= 1,

    where A_i and B_i are the candidates and the complementary labels of instance i, # their
    number, T is the matrix of candidates, ``S_jk = T_j . T_k / sqrt(|T_j| |T_k|)`` with zero
    diagonal and mean row sum 1, and L = diag(S 1) - S. Repeated until the objective settles: W
    by L-BFGS, then P by projected gradient, a quadratic program for each row.

    Parameters
    ----------
    C1 : float, default=1.0
        Weight of the rank loss; the paper fixes it at 1.
    C2 : float, default=1e-3
        Weight of the correlation term, to be searched in 1e-3, 1e-2, 0.1, 1, 10.
    fit_intercept : bool, default=True
        Add a constant feature, whose weights are penalized like all others.
    max_iter : int, default=20
        Most rounds of the alternation.
    tol : float, default=1e-4
        Stop when a round lowers the objective by less than this share of it.
    weight_iterations : int, default=50
        Most L-BFGS iterations per round.
    confidence_iterations : int, default=100
        Most projected gradient steps per round.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
        Of the linear scores f.
    confidences_ : ndarray of shape (n_samples, K)
        P of the training instances.
    objective_ : ndarray of shape (number of rounds,)
        The objective after each round; it never rises.
    n_iter_ : int
        Rounds run.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    Notes
    -----
    The paper's text fixes the model only in outline: the form of the hinge (squared, where the
    paper may have a plain one), of S, and the solver are ours, so that tables should call this a
    reimplementation.

    A label is predicted where its score exceeds the middle of the row's range; the paper defines
    no rule. ``decision_function`` is centred there, ``predict_proba`` is its sigmoid: a score
    for ranking, no probability. ``relevant`` labels given to ``fit`` are ignored.

    O(rounds iterations n (d K + K log K)) time with d the mean number of non-zeros per row;
    the loss over all pairs of labels comes from sorted rows, so that no pair is formed. Memory
    for one copy of the features, kept sparse, and a dozen (n, K) matrices; nothing is (n, n).
    With one complementary label per instance S is nearly constant and the correlation term does
    little but even the confidences out.

    References
    ----------
    M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat(np.eye(3), 2, axis=0)
    >>> complementary = np.eye(3, dtype=int)[[1, 2, 0, 2, 0, 1]]
    >>> classifier = PMLLCClassifier(C1=10.0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
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
    # Of two labels, one always excluded, none are ever candidates together: S stays 0.
    scale = row_sums.mean() or 1.0
    laplacian: NDArray[np.float64] = (np.diag(row_sums) - similarity) / scale
    return laplacian
