"""The estimate of how often each label applies, from all answers that say something about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from complabel._parameters import check_array
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies._counts import Audit, Named
from complabel.frequencies._naming import NamingLikelihood
from complabel.frequencies._posterior import Counts, from_audit, from_audit_and_named
from complabel.frequencies._sharpen import plain, sharpened

# With a new cardinality, each logit moves by at least this share of the largest move. So all
# logits move in one direction, and any sum can be reached.
_LEAST_SHARE = 1e-3
# A known frequency is treated as the share of "yes" in this many judgements.
_AS_IF_KNOWN = 1e7
# The sigmoid of 40 is 1 in float64, up to rounding.
_MOST_LOGIT = 40.0


@dataclass(frozen=True, eq=False)
class LabelFrequencies:
    """Estimated frequencies of labels (class priors, prevalence), errors and propensities.

    Attributes
    ----------
    values : ndarray of shape (n_labels,), dtype float64
        Share of the items to which each label applies.
    covariance : ndarray of shape (n_labels, n_labels), dtype float64
        Covariance of the errors of ``values``.
    propensities : ndarray of shape (n_labels,), dtype float64, or None
        How readily each label comes to mind, with a geometric mean of 1; None if nothing was named.
    spread : float
        Standard deviation of log-propensities: the likeliest of a few values. At 0.03 all labels
        are nearly alike; 0 means that nothing was named.
    n_audit : int
        Number of random judgements of single labels among the answers.
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
        """The mean number of labels that apply to an item."""
        return float(self.values.sum())

    @property
    def cardinality_error(self) -> float:
        """Standard error of ``cardinality``."""
        return float(np.sqrt(self.covariance.sum()))

    def given_cardinality(self, cardinality: float) -> LabelFrequencies:
        """Adjust the frequencies and propensities to a cardinality that is known.

        Parameters
        ----------
        cardinality : float
            The mean number of labels per item, in (0, n_labels).

        Returns
        -------
        LabelFrequencies
            ``values`` add up to ``cardinality``. Logits of frequencies and log-propensities move in
            proportion to their covariance with it. The errors stay as they are.
        """
        variance = self.values * (1 - self.values)
        direction = self.covariance.sum(axis=1) / variance
        if not direction.any():  # all frequencies are known exactly
            direction = 1 / variance
        # All logits move in one direction, so exactly one step leads to each sum.
        direction = np.maximum(direction, _LEAST_SHARE * direction.max())
        logits = special.logit(self.values)

        def excess(step: float) -> float:
            return float(special.expit(logits + step * direction).sum() - cardinality)

        # At these ends all frequencies are 0 or 1 up to rounding, so the solution lies between.
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
    """Estimate how often each label applies: its class prior, or prevalence.

    It also says how readily each label comes to mind. These propensities are not those of extreme
    classification, which say how often a label that applies is observed.

    Random judgements of single labels tell how often each label applies, but they are few. Named
    labels are many, but need to be corrected by propensities. One model, in which labels apply
    independently, explains both by empirical Bayes: the result is an average over several spreads
    of frequencies and of propensities, with the weights that the answers give them. The errors
    come from Laplace's approximation.

    Parameters
    ----------
    answers : Answers
        Used are judgements of labels drawn at random (with a ``probability``, or a "ticked"
        question about all labels) and labels named of all, or of a menu with a ``probability``. If
        the probability differs between questions about equally many labels, its inverse is the
        weight, and the number of answers is Kish's effective number. Answers count as free of
        mistakes.
    predictions : array-like of shape (n_items, n_labels) or None, default=None
        Probabilities that labels apply, from a model that did not see the random judgements. The
        better they predict these, the more a judgement counts. Useless predictions do no harm.

    Returns
    -------
    LabelFrequencies

    Raises
    ------
    InputError
        If there are neither random judgements nor random menus that offer "all of these apply", or
        if ``predictions`` have another shape or values outside [0, 1].

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, "Prediction-powered inference", Science 2023:
    the use of ``predictions``.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
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
            f"{answers!r} hold no random judgement that says how often labels apply; ask yes/no"
            " questions about random labels, and give Answers the probability with which each"
            " label was drawn"
        )
    # Without judgements, a first estimate from named labels gives the mean frequency.
    nothing = np.zeros(answers.n_labels)
    first = _estimate(Counts(nothing, nothing, 0.5, 0.0), named, 0)
    mean = first.cardinality / answers.n_labels
    n = mean * (1 - mean) / (first.cardinality_error / answers.n_labels) ** 2
    return _estimate(Counts(nothing, nothing, mean, n), named, 0)


def frequencies_with_propensities(
    values: NDArray[np.float64], answers: Answers
) -> LabelFrequencies:
    """Estimate how readily each label is named, if the frequencies (K,) in (0, 1) are known."""
    # The result has these ``values`` and a covariance of 0.
    audit, named = Audit.of(answers), Named.of(answers)
    nothing = np.zeros((len(values), len(values)))
    if named is None:
        return LabelFrequencies(values, nothing, None, 0.0, len(audit.item))
    judged = np.full(len(values), _AS_IF_KNOWN)
    counts = Counts(judged * values, judged, float(values.mean()), judged.sum())
    found = _estimate(counts, named, len(audit.item))
    return replace(found, values=values, covariance=nothing, _of_log_w=np.zeros(len(values)))


def _estimate(counts: Counts, named: Named | None, n_audit: int) -> LabelFrequencies:
    found = from_audit_and_named(counts, NamingLikelihood(named)) if named else from_audit(counts)
    log_w = found.log_propensities
    propensities = np.exp(log_w) if len(log_w) else None
    return LabelFrequencies(
        found.values, found.covariance, propensities, found.spread, n_audit, found.with_cardinality
    )


def _checked(predictions: ArrayLike, answers: Answers) -> NDArray[np.float64]:
    p = check_array("predictions", predictions, "item", "label")
    if p.shape != answers.shape:
        raise InputError(
            f"predictions have shape {p.shape}, but the answers are about {answers.n_items} items"
            f" and {answers.n_labels} labels; give one row per item and one column per label"
        )
    if p.min() < 0 or p.max() > 1:
        raise InputError(
            f"predictions must be from 0 to 1, got values from {p.min():g} to {p.max():g}"
        )
    return p
