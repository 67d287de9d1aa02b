"""The estimate of how often each label applies, from all answers that say something about it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from complabel._parameters import AnyArray, Array, check_array
from complabel._questions import CHOOSING, LISTING
from complabel.answers import Answers, about_positives
from complabel.errors import InputError
from complabel.frequencies._counts import Audit, Counts, Named
from complabel.frequencies._machine_strata import Strata
from complabel.frequencies._naming import NamingLikelihood
from complabel.frequencies._posterior import Posterior, from_audit, from_audit_and_named, holding
from complabel.frequencies._strata import Asked

# With a new cardinality, each logit moves by at least this share of the largest move. So all
# logits move in one direction, and any sum can be reached.
_LEAST_SHARE = 1e-3
# A known frequency is treated as the share of "yes" in this many judgements.
_AS_IF_KNOWN = 1e7
# How many estimates are kept: methods that get the same answers, one after the other, need the
# same one, and with menus it takes longer than their fits.
_KEPT = 32
_kept: dict[str, LabelFrequencies] = {}
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
        Covariance of the errors of ``values``, on average over labels that differ as these do.
    intervals : ndarray of shape (n_labels, 2), dtype float64
        An interval of 95 % for each label. From random judgements alone, it is about all items of
        which these are a sample, and holds the truth of *each* label, rare or frequent, at least
        95 % of the time. Beside predictions it is about these items, and that of the posterior, and
        with named labels it is ``values`` plus or minus 1.96 standard errors: both are right for
        labels on average.
    propensities : ndarray of shape (n_labels,), dtype float64, or None
        How readily each label comes to mind, with a geometric mean of 1; None if nothing was named.
        That of labels that do not apply, or of those that do: of what was named. None if both
        were, whose propensities differ.
    spread : float
        Standard deviation of log-propensities: the likeliest of a few values. At 0.03 all labels
        are nearly alike; 0 means that nothing was named.
    n_audit : int
        Number of random judgements of single labels among the answers.
    """

    values: Array
    covariance: Array
    intervals: Array
    propensities: Array | None
    spread: float
    n_audit: int
    _of_log_w: Array | None = field(default=None, repr=False)
    _with_choices: LabelFrequencies | None = field(default=None, repr=False)
    _judged: LabelFrequencies | None = field(default=None, repr=False)

    @property
    def standard_errors(self) -> Array:
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

    @property
    def with_choices(self) -> LabelFrequencies:
        """The estimate that labels named because they apply improve; its errors may be too small.

        A fit takes it, since its features and answers correct what is wrong.
        """
        if self._with_choices is None:
            return self
        return replace(self._with_choices, _judged=replace(self, _with_choices=None))

    def judged(self, cardinality: float | None) -> LabelFrequencies:
        """Return what judgements alone say where choices improved it, for a cardinality."""
        estimate = self._judged or self
        return estimate if cardinality is None else estimate.given_cardinality(cardinality)

    def with_errors_of(self, other: LabelFrequencies) -> LabelFrequencies:
        """Return these values with the errors and intervals of another estimate."""
        ends = holding(self.values, *other.intervals.T)
        return replace(self, covariance=other.covariance, intervals=ends)

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
            proportion to their covariance with it, and intervals move along. The errors stay as
            they are.
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
        from scipy import optimize  # takes a third of a second

        step = float(optimize.brentq(excess, -end, end))
        propensities = self.propensities
        if propensities is not None and self._of_log_w is not None:
            log_w = np.log(propensities) + step * self._of_log_w
            propensities = np.exp(log_w - log_w.mean())
        values = special.expit(logits + step * direction)
        moved = special.logit(self.intervals) + step * direction[:, np.newaxis]
        intervals = special.expit(moved)
        return replace(self, values=values, intervals=intervals, propensities=propensities)


def estimate_label_frequencies(
    answers: Answers,
    *,
    predictions: ArrayLike | Sequence[ArrayLike] | None = None,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
) -> LabelFrequencies:
    """Estimate how often each label applies: its class prior, or prevalence.

    It also says how readily each label comes to mind. These propensities are not those of extreme
    classification, which say how often a label that applies is observed.

    Random judgements of single labels tell how often each label applies, but they are few. Named
    labels are many, but need to be corrected by propensities. One model, in which labels apply
    independently, explains both. Its result is an average over means and spreads of frequencies,
    and over spreads of propensities, with the weights that the answers give them. With named
    labels it is Laplace's approximation. Without any judgement, the errors allow for answers about
    menus that are given at random: these look like frequent labels.

    Parameters
    ----------
    answers : Answers
        Used are judgements of labels drawn at random (with a ``probability``, ``drawn`` by what a
        machine says, or a "ticked" question about all labels) and labels named of all, or of a menu
        with a ``probability``. Labels named because they apply only tell their propensities, if
        nobody named others. If the chances differ between questions about equally many labels,
        their inverse is the weight, and the number of answers is Kish's effective number.
    predictions : array-like of shape (n_items, n_labels), several of them, or None, default=None
        What a machine, or each of several, says that did not learn from the judgements: 1 where a
        label applies and 0 where it does not, or probabilities; NaN where it says nothing. The
        better it predicts the judgements, the less is left to be found. Useless predictions do
        little harm. The pairs of a label are divided by what the machine says. A judgement of which
        nothing says how it was ``drawn`` counts, too: it is taken to be about a pair that was drawn
        at random from its part, as ``complabel ask --against`` draws pairs.
    missed, invented : float or array-like of shape (R,) or (R, n_labels), default=0.0
        Known mistakes of random judgements: the chance, in [0, 1], that an annotator says that a
        label does not apply if it does (missed), and that it applies if it does not (invented).
        One number for all, one for each of ``answers.annotator_names``, or one for each of them
        and each label. Unknown annotators have the mean. Together they are below 1. Beside
        judgements, named labels count as free of mistakes.

    Returns
    -------
    LabelFrequencies

    Raises
    ------
    InputError
        If there are neither random judgements nor random menus that offer "all of these apply",
        or if ``predictions``, ``missed`` or ``invented`` have another shape or values outside
        [0, 1], or if an annotator's rates of mistakes add up to 1 or more.

    References
    ----------
    Rogan and Gladen, "Estimating prevalence from the results of a screening test", American Journal
    of Epidemiology 1978: the correction for mistakes.

    Yu and Hoff, "Adaptive multigroup confidence intervals with constant coverage", Biometrika 2018:
    the intervals.

    Cochran, "Sampling techniques", 1977, chapter 5A: stratification after selection, as by
    ``predictions``.

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
    named = Named.of(answers)
    rates = rates_of_mistakes(missed, invented, answers)
    counts: Counts | Asked
    if predictions is None:
        audit = Audit.of(answers)
        counts = audit.counts(*rates)
    else:
        machines = checked_machines("predictions", predictions, answers.shape)
        strata = Strata.of(machines, answers, fitted=True)
        audit = strata.audit(answers)
        counts = Asked.of(strata, audit, *rates)
    if len(audit.item):
        return _unless_both(_estimate(counts, named, len(audit.item)), answers)
    if named is None or not named.says_all_apply:
        raise InputError(
            f"{answers!r} hold no random judgement that says how often labels apply"
            f"{about_positives(answers)}; ask yes/no questions about random labels, and give"
            " Answers the probability with which each label was drawn"
        )
    return _unless_both(_estimate(counts, named, 0), answers)


def _unless_both(frequencies: LabelFrequencies, answers: Answers) -> LabelFrequencies:
    """Return what was found without propensities if labels were named that apply, and others."""
    both = all((answers.question == word).any() for word in CHOOSING)
    return replace(frequencies, propensities=None, _of_log_w=None) if both else frequencies


def frequencies_with_propensities(values: Array, answers: Answers) -> LabelFrequencies:
    """Estimate how readily each label is named, if the frequencies (K,) in (0, 1) are known."""
    # The result has these ``values`` and a covariance of 0.
    audit, named = Audit.of(answers), Named.of(answers)
    nothing = np.zeros((len(values), len(values)))
    points = np.stack([values, values], axis=1)
    if named is None:
        return LabelFrequencies(values, nothing, points, None, 0.0, len(audit.item))
    judged = np.full(len(values), _AS_IF_KNOWN)
    estimate = _estimate(Counts.of_one_group(judged * values, judged), named, len(audit.item))
    zeros = np.zeros(len(values))
    frequencies = replace(
        estimate.with_choices,
        _judged=None,
        values=values,
        covariance=nothing,
        intervals=points,
        _of_log_w=zeros,
    )
    return _unless_both(frequencies, answers)


def _estimate(counts: Counts | Asked, named: Named | None, n_audit: int) -> LabelFrequencies:
    """Return the estimate from these counts; the latest ones are kept, so that repeats are free."""
    import joblib

    key = str(joblib.hash((counts, named, n_audit)))
    estimate = _kept.pop(key, None) or _estimated(counts, named, n_audit)
    _kept[key] = estimate
    while len(_kept) > _KEPT:
        del _kept[next(iter(_kept))]
    return copy.deepcopy(estimate)  # the caller may change its arrays


def _estimated(counts: Counts | Asked, named: Named | None, n_audit: int) -> LabelFrequencies:
    by_machine: Posterior | None = None
    if isinstance(counts, Asked):
        of_strata = counts.frequencies()
        by_machine = of_strata.posterior()
        counts = of_strata.as_counts(by_machine)
    if named is None:
        posterior = by_machine or from_audit(counts)
    elif n_audit:
        posterior = from_audit_and_named(counts, NamingLikelihood(named))
    else:
        posterior = from_audit_and_named(counts, *NamingLikelihood.with_mistakes(named))
    frequencies = _of_posterior(posterior, n_audit)
    if named is None or not named.mirrored:
        return frequencies
    # Labels that apply are no random sample of these: they tell how readily each is named.
    alone = posterior.with_values_of(by_machine or from_audit(counts))
    return replace(_of_posterior(alone, n_audit), _with_choices=frequencies)


def _of_posterior(posterior: Posterior, n_audit: int) -> LabelFrequencies:
    log_w = posterior.log_propensities
    propensities = np.exp(log_w) if len(log_w) else None
    return LabelFrequencies(
        values=posterior.values,
        covariance=posterior.covariance,
        intervals=posterior.intervals,
        propensities=propensities,
        spread=posterior.spread,
        n_audit=n_audit,
        _of_log_w=posterior.with_cardinality,
    )


def rates_of_mistakes(
    missed: ArrayLike, invented: ArrayLike, answers: Answers
) -> tuple[Array, Array]:
    """Return both rates, each (1, K), or (R + 1, K) by annotator, with unknown ones last.

    So annotator -1, who is unknown, has the last row.
    """
    rates = _by_annotator("missed", missed, answers), _by_annotator("invented", invented, answers)
    highest = float((rates[0] + rates[1]).max())
    if highest >= 1:
        raise InputError(
            f"missed and invented add up to {highest:g}, so that a yes would speak against a label;"
            " give rates that add up to less than 1"
        )
    return rates


def _by_annotator(name: str, rates: ArrayLike, answers: Answers) -> Array:
    n_annotators, n_labels = len(answers.annotator_names), answers.n_labels
    dimensions = min(np.ndim(rates), 2)
    axes = ("annotator", "label")[:dimensions]
    values = check_array(name, rates, *axes)
    if values.shape != (n_annotators, n_labels)[:dimensions]:
        raise InputError(
            f"{name} has shape {values.shape}; give one number, one for each of {n_annotators}"
            f" annotators, or a table with a row for each and {n_labels} columns, one per label"
        )
    if values.min() < 0 or values.max() > 1:
        raise InputError(
            f"{name} must be from 0 to 1, got values from {values.min():g} to {values.max():g}"
        )
    if dimensions == 0:
        return np.full((1, n_labels), float(values))
    table = np.broadcast_to(values.reshape(n_annotators, -1), (n_annotators, n_labels))
    return np.vstack([table, table.mean(axis=0)])


def checked_machines(
    name: str, machines: ArrayLike | Sequence[ArrayLike], shape: tuple[int, ...]
) -> Array:
    """Return what one machine says, or each of several, (M, n_items, n_labels); gaps are NaN."""
    several = (
        np.ndim(machines) == 3
        if isinstance(machines, np.ndarray)
        else (isinstance(machines, Sequence) and len(machines) > 0 and np.ndim(machines[0]) == 2)
    )
    each_of: Any = machines if several else [machines]
    return np.stack([checked_probabilities(name, each, shape, gaps=True) for each in each_of])


def checked_probabilities(
    name: str, probabilities: ArrayLike, shape: tuple[int, ...], *, gaps: bool = False
) -> Array:
    """Return probabilities of this shape (n_items, n_labels), or refuse them; gaps are NaN."""
    p = check_array(name, probabilities, "item", "label", gaps=gaps)
    if p.shape != shape:
        raise InputError(
            f"{name} have shape {p.shape}, and the answers or true labels {shape}; give one row per"
            " item and one column per label"
        )
    present = p[~np.isnan(p)] if gaps else p
    if len(present) and (present.min() < 0 or present.max() > 1):
        least, most = present.min(), present.max()
        raise InputError(f"{name} must be from 0 to 1, got values from {least:g} to {most:g}")
    return p


# The sum of class frequencies may differ from 1 by this much: they are often given rounded.
_ROUNDING = 1e-6
# Rates are kept away from 0 and 1: no sample proves that a label is never or always excluded.
RATES = (1e-3, 1 - 1e-3)


def check_auto_or_given(label_frequencies: Any) -> None:
    """Refuse a parameter ``label_frequencies`` that is a text other than ``"auto"``."""
    if isinstance(label_frequencies, str) and label_frequencies != "auto":
        raise InputError(
            f"label_frequencies must be 'auto' or an array of shape (K,), got {label_frequencies!r}"
        )


def given_frequencies(values: Any, classes: AnyArray, *, one_applies: bool) -> Array:
    """Return given label frequencies (K,) after a check; they add up to 1 if one class applies."""
    frequencies = check_array("label_frequencies", values, "label")
    if len(frequencies) != len(classes):
        raise InputError(
            f"label_frequencies has {len(frequencies)} entries, but there are {len(classes)}"
            " labels; give one entry per label"
        )
    beyond = np.flatnonzero((frequencies < 0) | (frequencies > 1))
    if beyond.size:
        at = int(beyond[0])
        raise InputError(
            f"label_frequencies must lie in [0, 1], got {frequencies[at]:g} for label"
            f" {classes[at]}; give the share of rows to which the label applies"
        )
    if one_applies and abs(frequencies.sum() - 1) > _ROUNDING:
        raise InputError(
            f"label_frequencies add up to {frequencies.sum():g}, but exactly one class applies to"
            " each row of y; give shares that add up to 1"
        )
    return frequencies


def rates_of_lists(answers: Answers, frequencies: Array, word: str = "excluded") -> Array | None:
    """Return how often each label (K,) is listed where it may be; None: there are no such lists."""
    # Label k is excluded for the share e_k (1 - pi_k) of the items looked at; this is solved for e.
    # It is tagged for the share e_k pi_k.
    if not (answers.question == word).any():
        return None
    listed, looked_at = listed_counts(answers, word)
    of_these = frequencies if LISTING[word] == "yes" else 1 - frequencies
    return np.asarray(np.clip(listed / np.maximum(looked_at, 1) / of_these, *RATES))


def listed_counts(answers: Answers, word: str) -> tuple[Array, Array]:
    """Return how many lists have each label (K,), and how many are about it."""
    lists = answers.only(answers.question == word)
    everything = int((np.diff(lists.offered.indptr) == 0).sum())
    looked_at, listed = (
        np.asarray(mask.sum(axis=0), dtype=np.float64)
        for mask in (lists.offered, getattr(lists, word))
    )
    return listed, looked_at + everything
