"""Precision, recall, F1 and average precision with intervals, from answers to random questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from complabel._parameters import check_integer, check_real
from complabel.answers import Answers
from complabel.frequencies import checked_probabilities, rates_of_mistakes
from complabel.trust._pairs import (
    Array,
    JudgedPairs,
    ScoredPairs,
    Variance,
    checked_thresholds,
)

# Jeffreys' prior of a share.
_PRIOR = 0.5


@dataclass(frozen=True)
class Figure:
    """An estimated figure, between 0 and 1, and its interval.

    Attributes
    ----------
    value : float
        NaN if the answers tell nothing about it; then the interval is from 0 to 1.
    low, high : float
        The ends of the interval.
    n_judgements : int
        On how many judgements of single labels it rests.
    more_questions : int or None
        How many more random judgements of such pairs make the interval about half as long. None if
        there are too few other pairs, so that it needs more items.
    """

    value: float
    low: float
    high: float
    n_judgements: int
    more_questions: int | None


@dataclass(frozen=True)
class Figures:
    """Figures over some pairs of an item and a label.

    Attributes
    ----------
    precision : Figure
        Share of the predicted labels that apply.
    recall : Figure
        Share of the labels that apply that are predicted.
    f1 : Figure
        Harmonic mean of precision and recall.
    average_precision : Figure
        Mean precision at the labels that apply, with all pairs in one order: scikit-learn's
        ``average_precision_score(average="micro")``.
    share : Figure
        Share of the pairs whose label applies: cardinality over the number of labels.
    """

    precision: Figure
    recall: Figure
    f1: Figure
    average_precision: Figure
    share: Figure


@dataclass(frozen=True, eq=False)
class MetricEstimates(Figures):
    """What :func:`estimate_metrics` returns: :class:`Figures` over all pairs, and by label.

    Attributes
    ----------
    confidence : float
        How often intervals hold the truth.
    new_items : bool
        Whether intervals are about all items of this kind, or only about these ones.
    n_judgements : int
        Number of random judgements of single labels.
    n_items : int
        Number of items that these are about.
    """

    confidence: float
    new_items: bool
    n_judgements: int
    n_items: int
    _pairs: ScoredPairs = field(repr=False)
    _label_names: tuple[str, ...] = field(repr=False)

    @cached_property
    def labels(self) -> Mapping[str, Figures]:
        """The figures of each label, by its name, or its number if there are no names."""
        n_labels = len(self._label_names)
        found = {}
        for label, name in enumerate(self._label_names):
            pairs = self._pairs.of_label(label, n_labels)
            found[name] = Figures(**_figures(pairs, self.confidence, new_items=self.new_items))
        return found

    def curve(self, n_points: int = 50) -> dict[str, Array]:
        """Return precision and recall at many thresholds, with their intervals.

        Parameters
        ----------
        n_points : int, default=50
            How many thresholds, the same one for all labels. They are such that the numbers of
            predicted labels have equal ratios.

        Returns
        -------
        dict of str to ndarray of shape (n_points,), dtype float64
            ``threshold``, ascending, and for each one ``precision``, ``precision_low``,
            ``precision_high``, ``recall``, ``recall_low`` and ``recall_high``. Each interval holds
            its own truth as often as ``confidence`` says. There are fewer points if scores are
            equal.
        """
        check_integer("n_points", n_points, at_least=1)
        scores = self._pairs.score[self._pairs.ranking[0]]
        ranks = np.geomspace(1, len(scores), n_points + 1)[1:].astype(np.intp) - 1
        cuts = np.unique(scores[ranks])
        rows = []
        for cut in cuts:
            pairs = replace(self._pairs, predicted=self._pairs.score >= cut)
            at = _figures(pairs, self.confidence, new_items=self.new_items, names=_AT_THRESHOLD)
            rows.append([x for each in at.values() for x in (each.value, each.low, each.high)])
        columns = [f"{name}{end}" for name in _AT_THRESHOLD for end in ("", "_low", "_high")]
        return {"threshold": cuts, **dict(zip(columns, np.array(rows).T, strict=True))}


def estimate_metrics(
    answers: Answers,
    probabilities: ArrayLike,
    *,
    threshold: ArrayLike = 0.5,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
    confidence: float = 0.95,
    new_items: bool = True,
) -> MetricEstimates:
    """Estimate how good predictions are, from answers to random questions, with intervals.

    Parameters
    ----------
    answers : Answers
        Used are judgements of labels drawn at random: with a ``probability``, or a "ticked"
        question about all labels of an item that was drawn at random. If the probability differs
        between questions about equally many labels, its inverse is the weight.
    probabilities : array-like of shape (n_items, n_labels)
        Chances that labels apply, in [0, 1], also for items without an answer. They come from a
        model that did not learn from these judgements, for example from
        :func:`~complabel.methods.cross_fit_probabilities`.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted if its probability is at least this: one number, or one for each label.
    missed, invented : float or array-like of shape (R,) or (R, n_labels), default=0.0
        Known mistakes, as in :func:`~complabel.frequencies.estimate_label_frequencies`. The figures
        are about what is true, not about what people say.
    confidence : float, default=0.95
        How often the intervals shall hold the truth, in (0, 1).
    new_items : bool, default=True
        True: the figures are about all items of which these are a random sample. False: they are
        about these items alone, so that intervals have no length if all pairs are judged.

    Returns
    -------
    MetricEstimates

    Raises
    ------
    AnnotationError
        If no answer is to a random question.
    InputError
        If an argument has another shape, or values out of range.

    Notes
    -----
    Whether a label is predicted is known of all pairs, judged or not. So judgements tell the share
    that applies among predicted pairs, and among others. The probabilities, recalibrated by
    Platt's method, are a guess at all pairs, and judgements correct the sums of it (the difference
    estimator). The error is that of the linearised figure. The interval is that of a share in as
    many judgements as would have this error, with Jeffreys' prior (Korn and Graubard's effective
    sample size). Several judgements of one item count as a cluster.

    References
    ----------
    Sarndal, Swensson and Wretman, "Model assisted survey sampling", 1992: the estimator.

    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, "Prediction-powered inference", Science 2023:
    the same idea for the mean, with a model's predictions.

    Korn and Graubard, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", Survey Methodology 1998.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> chances = rng.random((2000, 3)) ** 2
    >>> Y = (rng.random(chances.shape) < chances).astype(np.uint8)
    >>> asked = draw_answers(Y, question="asked", items_share=0.5, random_state=0)
    >>> found = estimate_metrics(asked, chances)
    >>> round(found.precision.low, 2), round(found.precision.high, 2)
    (0.66, 0.76)
    """
    p = checked_probabilities("probabilities", probabilities, answers.shape)
    cuts = checked_thresholds(threshold, answers.n_labels)
    check_real("confidence", confidence, above=0, below=1)
    judged = JudgedPairs.of(answers)
    rates = rates_of_mistakes(missed, invented, answers)
    pairs = ScoredPairs.of(judged, p, cuts, *rates)
    names = answers.label_names or tuple(map(str, range(answers.n_labels)))
    return MetricEstimates(
        **_figures(pairs, confidence, new_items=new_items),
        confidence=confidence,
        new_items=new_items,
        n_judgements=len(judged),
        n_items=len(np.unique(judged.item)),
        _pairs=pairs,
        _label_names=tuple(names),
    )


# The value of a figure, and how it changes if a label applies (N,) or if a pair is there that does
# not apply (N,), from which labels apply (N,).
_Linear: TypeAlias = tuple[float, Array, Array]


def _precision(pairs: ScoredPairs, applies: Array) -> _Linear:
    share = pairs.predicted / max(1, pairs.n_predicted)
    value = float(share @ applies)
    return value, share, -value * share


def _recall(pairs: ScoredPairs, applies: Array) -> _Linear:
    total = applies.sum()
    value = float(pairs.predicted @ applies / total)
    return value, (pairs.predicted - value) / total, np.zeros(len(pairs))


def _f1(pairs: ScoredPairs, applies: Array) -> _Linear:
    total = applies.sum() + pairs.n_predicted
    value = float(2 * (pairs.predicted @ applies) / total)
    return value, (2 * pairs.predicted - value) / total, -value / total * pairs.predicted


def _share(pairs: ScoredPairs, applies: Array) -> _Linear:
    value, each = float(applies.mean()), np.full(len(pairs), 1 / len(pairs))
    return value, each, -value * each


def _average_precision(pairs: ScoredPairs, applies: Array) -> _Linear:
    order, above, rank = pairs.ranking
    y = applies[order]  # all arrays here are by descending score

    def running(values: Array) -> Array:
        return np.concatenate([[0.0], np.cumsum(values)])

    # The estimate for a pair is not multiplied by itself: that would add its variance.
    precision = (1 + running(y)[rank] - y) / rank
    total = y.sum()
    value = float(y @ precision / total)
    precision = np.clip(precision, 0, 1)
    each = y / rank
    below, lost = running(each), running(each * precision)
    slope, presence = np.empty_like(y), np.empty_like(y)
    slope[order] = (precision + below[-1] - below[above] - each - value) / total
    presence[order] = (lost[above] - lost[-1]) / total
    return value, slope, presence


_FIGURES: Mapping[str, Callable[[ScoredPairs, Array], _Linear]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "average_precision": _average_precision,
    "share": _share,
}
_AT_THRESHOLD = ("precision", "recall")
_OF_PREDICTED = (*_AT_THRESHOLD, "f1")


def _figures(
    pairs: ScoredPairs, confidence: float, *, new_items: bool, names: Any = tuple(_FIGURES)
) -> dict[str, Figure]:
    """Return figures by name."""
    of_predicted = int(pairs.n_said[pairs.predicted[pairs.place]].sum())
    nothing_applies = pairs.applies.sum() <= 0  # by the answers, after mistakes were taken out
    found = {}
    for name in names:
        n = of_predicted if name == "precision" else int(pairs.n_said.sum())
        unknown = name in _OF_PREDICTED and pairs.n_predicted and not of_predicted
        if not n or unknown or (nothing_applies and name != "share"):
            found[name] = Figure(math.nan, 0.0, 1.0, n, None)
            continue
        value = float(np.clip(_FIGURES[name](pairs, pairs.applies)[0], 0, 1))
        # Slopes and the effective number come from the chances alone, which no single answer
        # can make 0 or 1.
        typical, *slopes = _FIGURES[name](pairs, pairs.chance)
        variance = pairs.variance(*slopes, new_items=new_items)
        low, high = _interval(value, typical, variance.total, confidence)
        found[name] = Figure(value, low, high, n, _more_questions(pairs, variance))
    return found


def _more_questions(pairs: ScoredPairs, variance: Variance) -> int | None:
    """Return how many more judgements halve the standard error; None if too few pairs are left."""
    more = int(pairs.n_said.sum()) * (variance.times_to_halve() - 1)
    return math.ceil(more) if more <= len(pairs) - len(pairs.place) else None


def _interval(
    value: float, typical: float, variance: float, confidence: float
) -> tuple[float, float]:
    if not variance:
        return value, value
    n = typical * (1 - typical) / variance
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    ends = stats.beta.ppf(tails, n * value + _PRIOR, n * (1 - value) + _PRIOR)
    low, high = (float(end) for end in ends)
    return min(low, value), max(high, value)
