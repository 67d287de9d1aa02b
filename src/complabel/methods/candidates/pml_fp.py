"""PML-fp: candidates ranked by confidences that rebuild the features from label prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.extmath import row_norms

from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._pml import ConfidenceRanker, Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features

# Weight of ||U||^2 in the reconstruction term: prototypes of labels nobody believes stay finite.
_PROTOTYPE_RIDGE = 1e-8


class PMLFPClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by feature prototypes (PML-fp).

    All labels not excluded are candidates. A linear ranker puts each candidate above each
    complementary label, as far as the candidate is believed; the confidences P are learned as
    well, so that an instance is rebuilt from the prototypes of the labels it is believed to have:

    minimize over W, P, U:  ||W||^2 / 2
    + C1 sum_i 1/(#A_i #B_i) sum_{j in A_i, k in B_i} P_ij max(0, 1 - f_j(x_i) + f_k(x_i))^2
    + C2/2 ||X - P U||^2
    subject to  0 <= P_ij <= 1,  P_ij = 0 for j in B_i,  sum_j P_ij >= 1,

    where A_i and B_i are the candidates and the complementary labels of instance i, # their
    number, and row j of
    U (K, n_features) is the prototype of label j. Repeated until the objective settles: W by
    L-BFGS, then P by projected gradient, a quadratic program for each row, then U in closed form.

    Parameters
    ----------
    C1 : float, default=1.0
        Weight of the rank loss; the paper fixes it at 1.
    C2 : float, default=1e-3
        Weight of the reconstruction, to be searched in 1e-3, 1e-2, 0.1, 1, 10. It grows with
        the squared scale of the features; large values give up the ranking for it.
    fit_intercept : bool, default=True
        Add a constant feature, whose weights are penalized, and which is rebuilt, like all
        others.
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
    paper may have a plain one), of the reconstruction, and the solver are ours, so that tables
    should call this a reimplementation. The other reading of the prototypes,
    sum_ij P_ij ||x_i - u_j||^2, is linear in P and drives it to one label per instance.

    A label is predicted where its score exceeds the middle of the row's range; the paper defines
    no rule. ``decision_function`` is centred there, ``predict_proba`` is its sigmoid: a score
    for ranking, no probability. ``relevant`` labels given to ``fit`` are ignored.

    O(rounds iterations n (d K + K log K)) time with d the mean number of non-zeros per row;
    the loss over all pairs of labels comes from sorted rows, so that no pair is formed. Memory
    for one copy of the features, kept sparse, U, and a dozen (n, K) matrices; nothing is (n, n)
    and the reconstruction P U is never formed.

    References
    ----------
    M.-K. Xie and S.-J. Huang, "Partial Multi-Label Learning", AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat(np.eye(3), 2, axis=0)
    >>> complementary = np.eye(3, dtype=int)[[1, 2, 0, 2, 0, 1]]
    >>> classifier = PMLFPClassifier(C1=10.0).fit(X, complementary)
    >>> classifier.predict(np.eye(3))
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """

    def _structure(self, X: Features, candidates: NDArray[np.float64]) -> Structure:
        del candidates
        squared_norm = float(row_norms(X, squared=True).sum())

        def reconstruction(confidences: NDArray[np.float64]) -> Quadratic:
            prototypes = label_prototypes(X, confidences)  # U, (K, d)
            ridge = _PROTOTYPE_RIDGE * float(np.vdot(prototypes, prototypes))
            return Quadratic(
                self.C2 * (prototypes @ prototypes.T),
                -self.C2 * np.asarray(X @ prototypes.T),
                0.5 * self.C2 * (squared_norm + ridge),
            )

        return reconstruction


def label_prototypes(X: Features, confidences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the U (K, d) that best rebuilds X as P U."""
    gram = confidences.T @ confidences  # (K, K)
    gram[np.diag_indices_from(gram)] += _PROTOTYPE_RIDGE
    prototypes: NDArray[np.float64] = np.linalg.solve(gram, (X.T @ confidences).T)
    return prototypes
