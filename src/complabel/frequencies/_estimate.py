"""The estimate of how often each label applies, from all answers that can tell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special

from complabel._parameters import check_array
from complabel.errors import InputError
from complabel.frequencies._counts import Audit, Named
from complabel.frequencies._naming import NamingLikelihood
from complabel.frequencies._posterior import (
    Counts,
    from_audit,
    from_audit_and_named,
)
from complabel.frequencies._sharpen import plain, sharpened

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.annotations import Answers


# Frequencies go along with their sum by at least this share of the one that goes furthest.
_LEAST_SHARE = 1e-3
# What is known is taken for the share of so many judgements.
_AS_IF_KNOWN = 1e7
# At a logit of so much a frequency is 1 to rounding.
_MOST_LOGIT = 40.0


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
    _of_log_w: NDArray[np.float64] | None = field(default=None, repr=False)

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

    def given_cardinality(self, cardinality: float) -> LabelFrequencies:
        """Return the frequencies and propensities that are likeliest if labels add up so.

        Parameters
        ----------
        cardinality : float
            In (0, n_labels).

        Returns
        -------
        LabelFrequencies
            Logits of frequencies, and logarithms of propensities, move as far as each goes along
            with the cardinality. Errors and what else is known stay.
        """
        variance = self.values * (1 - self.values)
        direction = self.covariance.sum(axis=1) / variance
        if not direction.any():  # nothing is uncertain: all logits alike
            direction = 1 / variance
        # All go one way, so that there is one step to each sum.
        direction = np.maximum(direction, _LEAST_SHARE * direction.max())
        logits = special.logit(self.values)

        def excess(step: float) -> float:
            return float(special.expit(logits + step * direction).sum() - cardinality)

        # Wide enough for any sum that rounding can tell from 0 or K.
        end = (np.abs(logits).max() + _MOST_LOGIT) / direction.min()
        step = float(optimize.brentq(excess, -end, end))
        propensities = self.propensities
        if propensities is not None and self._of_log_w is not None:
            moved = np.log(propensities) + step * self._of_log_w
            propensities = np.exp(moved - moved.mean())
        values = special.expit(logits + step * direction)
        return replace(self, values=values, propensities=propensities)


def estimate_label_frequencies(
    answers: Answers, *, predictions: ArrayLike | None = None
) -> LabelFrequencies:
    """Estimate how often each label applies, and how readily labels are named.

    Empirical Bayes on counts. Random judgements of single labels (yes/no questions, and "ticked")
    say how often each label applies, but there are few; many labels named say so only if it is
    known how readily each comes to mind. Both are explained by frequencies and propensities, as if
    labels applied independently. How far propensities are apart, and frequencies, is averaged over
    by what the answers make likely. The errors are those of Laplace's approximation.

    Parameters
    ----------
    answers : Answers
        Of those that judge labels, the random ones count: with a ``probability``, or ticked among
        all labels. They are weighted by its inverse, where it differs within questions about
        equally many labels; the number of answers is then Kish's effective one. Named labels count
        if all labels were on offer, or a menu with a ``probability``. Everything else is left out,
        and so are mistakes.
    predictions : array-like of shape (n_items, n_labels) or None, default=None
        Probabilities that labels apply, by a model that did not see the random judgements. What
        they explain of the judgements makes those count more; useless ones do no harm.

    Returns
    -------
    LabelFrequencies

    Raises
    ------
    InputError
        If nothing among the answers says how often labels apply: neither random judgements, nor
        random menus on which "all of these apply" can be said. If predictions have another shape.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-powered inference, Science 2023.

    Examples
    --------
    >>> from complabel.annotations import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((1000, 3)) < [0.1, 0.3, 0.6]).astype(np.uint8)
    >>> asked = draw_answers(Y, question="asked", random_state=0)
    >>> found = estimate_label_frequencies(asked)
    >>> found.values.round(2), found.standard_errors.round(2)
    (array([0.11, 0.31, 0.59]), array([0.02, 0.02, 0.03]))
    """
    audit, named = Audit.of(answers), Named.of(answers)
    if predictions is not None:
        predictions = _checked(predictions, answers)
    if len(audit.item):
        counts = plain(audit) if predictions is None else sharpened(audit, predictions)
        return _estimate(counts, named, len(audit.item))
    if named is None or not named.says_all_apply:
        raise InputError(
            f"{answers!r} hold nothing random that says how often labels apply; ask yes/no"
            " questions about random labels, and give Answers the probability with which each"
            " label was drawn"
        )
    # Without judgements the mean frequency is that of a first estimate.
    nothing = np.zeros(answers.n_labels)
    first = _estimate(Counts(nothing, nothing, 0.5, 0.0), named, 0)
    mean = first.cardinality / answers.n_labels
    n = mean * (1 - mean) / (first.cardinality_error / answers.n_labels) ** 2
    return _estimate(Counts(nothing, nothing, mean, n), named, 0)


def frequencies_with_propensities(
    values: NDArray[np.float64], answers: Answers
) -> LabelFrequencies:
    """Return frequencies (K,) in (0, 1) that are known, with how readily labels are named."""
    audit, named = Audit.of(answers), Named.of(answers)
    nothing = np.zeros((len(values), len(values)))
    if named is None:
        return LabelFrequencies(values, nothing, None, 0.0, len(audit.item))
    judged = np.full(len(values), _AS_IF_KNOWN)
    counts = Counts(judged * values, judged, float(values.mean()), judged.sum())
    found = _estimate(counts, named, len(audit.item))
    return LabelFrequencies(
        values, nothing, found.propensities, found.spread, found.n_audit, np.zeros(len(values))
    )


def _estimate(counts: Counts, named: Named | None, n_audit: int) -> LabelFrequencies:
    """Return what counts and namings say."""
    if named is None:
        found = from_audit(counts)
    else:
        found = from_audit_and_named(counts, NamingLikelihood(named))
    log_w = found.log_propensities
    propensities = np.exp(log_w) if len(log_w) else None
    return LabelFrequencies(
        found.values,
        found.covariance,
        propensities,
        found.spread,
        n_audit,
        found.with_cardinality,
    )


def _checked(predictions: ArrayLike, answers: Answers) -> NDArray[np.float64]:
    """Return predictions as an array (n, K) of numbers from 0 to 1."""
    p = check_array("predictions", predictions, "item", "label")
    if p.shape != answers.shape:
        raise InputError(
            f"predictions have shape {p.shape}, and answers are about {answers.n_items} items"
            f" and {answers.n_labels} labels; give a row for each item"
        )
    if p.min() < 0 or p.max() > 1:
        raise InputError(
            f"predictions must be from 0 to 1, got values from {p.min():g} to {p.max():g}"
        )
    return p
