"""PML-fp: candidates ranked by confidences that rebuild the features from label prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.extmath import row_norms

from complabel.methods.candidates._confidences import Quadratic
from complabel.methods.candidates._linear import documented
from complabel.methods.candidates._pml import TEXTS, ConfidenceRanker, Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.methods._base import Features

# Weight of ||U||^2 in the reconstruction term: prototypes of labels nobody believes stay finite.
_PROTOTYPE_RIDGE = 1e-8


@documented(**TEXTS, name="PMLFPClassifier")
class PMLFPClassifier(ConfidenceRanker):
    r"""Partial multi-label learning with confidences refined by feature prototypes (PML-fp).

    {model}
    An instance is rebuilt from the prototypes of the labels it is believed to have:
    R(P) = min over U of C2/2 ||X - P U||^2, where row j of U (K, n_features) is the prototype of
    label j. After each step for P, U is found in closed form.

    Parameters
    ----------
    C1 : float, default=1.0
        Weight of the rank loss; the paper fixes it at 1.
    C2 : float, default=1e-3
        Weight of the reconstruction, to be searched in 1e-3, 1e-2, 0.1, 1, 10. It grows with
        the squared scale of the features; large values give up the ranking for it.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    PMLLCClassifier : Refines the confidences by correlations between labels.

    Notes
    -----
    The form of the reconstruction is ours; the constant feature is rebuilt as well. The other
    reading of the prototypes, sum_ij P_ij ||x_i - u_j||^2, is linear in P and drives it to one
    label per instance. The product P U is never formed.

    {notes}
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
