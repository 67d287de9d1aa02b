"""The estimate of how often each label applies, from all answers that can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from complabel._parameters import check_array
from complabel.errors import InputError
from complabel.methods.frequencies._counts import Audit, Named
from complabel.methods.frequencies._naming import NamingLikelihood
from complabel.methods.frequencies._posterior import Counts, average, of_audit, of_audit_and_named
from complabel.methods.frequencies._sharpen import sharpened

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.annotations import Answers


@dataclass(frozen=True, eq=False)
class LabelFrequencies:
    """How often each label applies, and how well that is known.

    Attributes
    ----------
    values : ndarray of shape (n_labels,), dtype float64
        Share of the items to which each label applies.
    covariance : ndarray of shape (n_labels, n_labels), dtype float64
        Of ``values`` as estimates.
    propensities : ndarray of shape (n_labels,), dtype float64, or None
        How readily each label comes to mind, with a geometric mean of 1; None if nothing was named.
    spread : float
        Standard deviation of the logarithms of propensities that the answers speak for, of a few
        tried; .03 says that all labels are nearly alike. 0 if nothing was named.
    n_audit : int
        How many random judgements of single labels stand behind the estimate.
    """

    values: NDArray[np.float64]
    covariance: NDArray[np.float64]
    propensities: NDArray[np.float64] | None
    spread: float
    n_audit: int

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors of ``values``, (n_labels,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def cardinality(self) -> float:
        """How many labels apply to an item, on average."""
        return float(self.values.sum())

    @property
    def cardinality_error(self) -> float:
        """Standard error of ``cardinality``."""
        return float(np.sqrt(self.covariance.sum()))


def estimate_label_frequencies(
    answers: Answers, *, predictions: ArrayLike | None = None
) -> LabelFrequencies:
    """Estimate how often each label applies, and how readily labels are named.

    Parameters
    ----------
    answers : Answers
    predictions : array-like of shape (n_items, n_labels) or None, default=None
        Probabilities that labels apply, by a model that was fitted without the audit.

    Returns
    -------
    LabelFrequencies

    Raises
    ------
    InputError
        If nothing among the answers says how often labels apply, or predictions have another shape.
    """
    audit = Audit.of(answers)
    named = Named.of(answers)
    if not len(audit.item):
        raise InputError(
            f"{answers!r} holds no random question about single labels, which would say how often"
            " labels apply; ask yes/no questions about random labels, and give Answers the"
            " probability with which each was drawn"
        )
    yes, judged = audit.counts()
    if predictions is not None:
        p = check_array("predictions", predictions, "item", "label")
        if p.shape != answers.shape:
            raise InputError(
                f"predictions have shape {p.shape}, and answers are about {answers.n_items} items"
                f" and {answers.n_labels} labels; give a row for each item"
            )
        yes, judged = sharpened(audit, p)
    counts = Counts(yes, judged, audit.pooled, audit.n_pooled)
    n_audit = len(audit.item)
    if named is None:
        alone = of_audit(counts)
        return LabelFrequencies(alone.values, alone.covariance, None, 0.0, n_audit)
    found, spread = average(of_audit_and_named(counts, NamingLikelihood(named)))
    assert found.log_propensities is not None
    return LabelFrequencies(
        found.values, found.covariance, np.exp(found.log_propensities), spread, n_audit
    )
