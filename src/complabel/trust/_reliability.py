"""Whether probabilities can be believed: how often labels apply that get about the same one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from complabel._parameters import Array, Ints, check_integer
from complabel.answers import Answers
from complabel.errors import AnnotationError
from complabel.frequencies import checked_probabilities, rates_of_mistakes, sums_by
from complabel.trust._pairs import FEWEST_OF_GROUP, JudgedPairs

# The mean probability of a bin counts as so many judgements more when the noise of its share is
# estimated. Else a bin in which no label applies would seem free of noise.
_PRIOR_JUDGEMENTS = 2.0
_QUANTILE = 1.959964  # of 95 %, of the normal distribution
_SIMULATED = 2000
_CLOSE = 2.0**-26  # how exact the search for the size of the gaps is


@dataclass(frozen=True, eq=False)
class Reliability:
    """What a diagram of reliability shows, for B bins of pairs of an item and a label.

    Parameters
    ----------
    mean_probability, share : ndarray of shape (B,)
        The mean of the probabilities in each bin, and the share of its pairs to which the label
        applies. They are equal, but for chance, if the probabilities can be believed.
    intervals : ndarray of shape (B, 2)
        Intervals of 95 % for ``share``, among all items of the kind; from 0 to 1 if fewer than
        three judgements are in the bin.
    weights : ndarray of shape (B,)
        The share of all pairs that lie in each bin, as estimated; they sum to 1.
    judgements : ndarray of int of shape (B,)
        Numbers of judgements.
    error : float
        Expected calibration error: the mean, over all pairs, of the gap between both. Chance alone
        makes gaps, and what it adds is taken off.
    interval : tuple of two floats
        Interval of 95 % for the error.
    """

    mean_probability: Array
    share: Array
    intervals: Array
    weights: Array
    judgements: Ints
    error: float
    interval: tuple[float, float]


def reliability(
    answers: Answers | ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
) -> Reliability:
    """Compare probabilities with answers to random questions, or with true labels.

    The model must not have learned from the answers about these items, or the probabilities look
    better than they are.

    Parameters
    ----------
    answers : Answers, or array-like of shape (n_items, n_labels)
        Answers to random questions, as :func:`complabel.asking.suggest_questions` draws them; other
        answers are left out. Or true labels: 1 where a label applies, 0 where it does not, NaN
        where this is not known. Pairs that are known by choice, not by chance, mislead.
    probabilities : array-like of shape (n_items, n_labels)
        What ``predict_proba`` returns for the items.
    n_bins : int, default=10
        Bins hold about equally many judgements. There are fewer if many probabilities are equal.
    missed, invented : float or array-like of shape (R,) or (R, n_labels), default=0.0
        Known mistakes of answers, as in
        :func:`~complabel.frequencies.estimate_label_frequencies`. Shares are then about what is
        true, not about what people say.

    Returns
    -------
    Reliability

    Raises
    ------
    AnnotationError
        If no answer is to a random question, or true labels are not 0, 1 or NaN, or all unknown.
    InputError
        If the shapes differ, or ``probabilities`` are not from 0 to 1.

    Notes
    -----
    The gap d of each bin has normal noise of a known size s. Errors are compared that would arise
    from gaps t sqrt(d^2 + s^2), for some t from 0 on. ``error`` is the one under which the error
    without correction would be as often larger as smaller; ``interval`` holds those under which it
    is among the middle 95 %. With 200 answers the error without correction is often three times
    the true one. For each item with several judgements in a bin, their dependence counts.

    References
    ----------
    Kumar, Liang and Ma, "Verified uncertainty calibration", NeurIPS 2019: the error without
    correction is too large, and bins with equal numbers are better than bins of equal width.

    Examples
    --------
    A model that says .5 where labels apply to three in ten is over-confident:

    >>> rng = np.random.default_rng(0)
    >>> true_labels = rng.random((400, 5)) < [0.1, 0.1, 0.1, 0.3, 0.3]
    >>> said = np.tile([0.1, 0.1, 0.1, 0.5, 0.5], (400, 1))
    >>> found = reliability(true_labels, said)
    >>> found.mean_probability, found.share.round(2)
    (array([0.1, 0.5]), array([0.11, 0.3 ]))
    >>> round(found.error, 2)
    0.09
    """
    check_integer("n_bins", n_bins, at_least=1)
    shape = answers.shape if isinstance(answers, Answers) else np.shape(answers)
    p = checked_probabilities("probabilities", probabilities, shape)
    if not isinstance(answers, Answers):
        pairs, nobody = _known_pairs(answers), np.zeros(1)
        return _compared(pairs, p[pairs.item, pairs.label], n_bins, nobody, nobody)
    pairs = JudgedPairs.of(answers)
    rates = (
        each[pairs.annotator % len(each), pairs.label]
        for each in rates_of_mistakes(missed, invented, answers)
    )
    return _compared(pairs, p[pairs.item, pairs.label], n_bins, *rates)


def _known_pairs(true_labels: ArrayLike) -> JudgedPairs:
    """Return the pairs whose true label is known, all with the same weight."""
    refusal = "true labels must be 0 or 1, or NaN where they are not known, and some must be known"
    try:
        values = np.asarray(true_labels, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AnnotationError(f"{refusal} ({error})") from error
    known = ~np.isnan(values)
    if not np.isin(values[known], (0, 1)).all() or not known.any():
        raise AnnotationError(refusal)
    item, label = np.nonzero(known)
    return JudgedPairs(
        item=item,
        label=label,
        annotator=np.full(len(item), -1),
        applies=values[known] == 1,
        weight=np.ones(len(item)),
        n_items=values.shape[0],
        n_labels=values.shape[1],
    )


def _compared(
    pairs: JudgedPairs, p: Array, n_bins: int, missed: Array, invented: Array
) -> Reliability:
    """Compare judgements (J,) with their probabilities, given the chances of mistakes."""
    pair = pairs.item * pairs.n_labels + pairs.label
    _, first, at = np.unique(pair, return_index=True, return_inverse=True)
    w, p = sums_by(at, pairs.weight), p[first]
    part, youden = pairs.weight / w[at], 1 - missed - invented
    # On average, whether the label applies; several judgements of one pair are one.
    applies = sums_by(at, part * (pairs.applies - invented) / youden)
    # Equal probabilities have the same mean rank, so they stay in one bin.
    before = (stats.rankdata(p) - 0.5) / len(p)
    place = np.unique((n_bins * before).astype(np.intp), return_inverse=True)[1]

    total, judgements = sums_by(place, w), np.bincount(place[at])
    mean = sums_by(place, w * p) / total
    share = np.clip(sums_by(place, w * applies) / total, 0, 1)
    gap, weights = share - mean, total / total.sum()
    effect = _design_effect(pairs.item[first], place, w * (applies - p - gap[place]))
    n = total**2 / sums_by(place, w**2) / effect
    likely = (n * share + _PRIOR_JUDGEMENTS * mean) / (n + _PRIOR_JUDGEMENTS)
    # Who says exactly 0 or 1, and is right of these, may be wrong of others (Jeffreys' prior).
    likely = np.where(likely * (1 - likely) > 0, likely, (n * share + 0.5) / (n + 1))
    alone = likely * (1 - likely)
    yes = invented + youden * likely[place][at]
    noise = sums_by(at, part**2 * (yes * (1 - yes) / youden**2 - alone[place][at]))
    variance = effect * sums_by(place, w**2 * (alone[place] + noise)) / total**2
    error, interval = _without_noise(gap, np.sqrt(variance), weights)
    # So many judgements without mistakes have this variance.
    n = np.divide(alone, variance, out=n, where=variance > 0)
    ends = _wilson(share, n)
    ends[judgements < FEWEST_OF_GROUP] = 0.0, 1.0
    return Reliability(mean, share, ends, weights, judgements, error, interval)


def _design_effect(item: Ints, place: Ints, deviation: Array) -> float:
    """Return by how much dependence within items raises the variance of gaps; at least 1.

    ``deviation`` are weighted deviations (M,) from the mean of their bin, and ``place`` their bins.
    """
    _, cluster = np.unique(place * (item.max() + 1) + item, return_inverse=True)
    together = np.bincount(cluster, weights=deviation)
    alone = float(deviation @ deviation)
    return max(1.0, float(together @ together) / alone) if alone else 1.0


def _wilson(share: Array, n: Array) -> Array:
    """Return intervals (B, 2) of 95 % for shares (B,) of n judgements each, by E. B. Wilson."""
    z = _QUANTILE**2 / n
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    return np.clip(np.stack([middle - half, middle + half], axis=1), 0, 1)


def _without_noise(gap: Array, noise: Array, weights: Array) -> tuple[float, tuple[float, float]]:
    """Return the mean absolute gap without what noise adds to it, and its interval of 95 %."""
    mean_gap = float(weights @ np.abs(gap))
    likely = np.sqrt(gap**2 + noise**2) * np.where(gap < 0, -1, 1)
    drawn = np.random.default_rng(0).standard_normal((_SIMULATED, len(gap))) * noise

    def size_with(chance: float, observed: float = mean_gap) -> float:
        """Return the error under which a larger one than observed has this chance."""

        def excess(times: float) -> float:
            return float((np.abs(times * likely + drawn) @ weights >= observed).mean() - chance)

        high = 1.0
        while excess(high) < 0:
            high *= 2
        times = optimize.bisect(excess, 0, high, xtol=_CLOSE * high) if excess(0) < 0 else 0.0
        return min(times * float(weights @ np.abs(likely)), 1.0)

    # Gaps that are smaller than chance usually makes them are no sign that there are none.
    usual = float(np.median(np.abs(drawn) @ weights))
    return size_with(0.5), (size_with(0.025), size_with(0.975, max(mean_gap, usual)))
