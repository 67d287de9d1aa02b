"""Precision, recall, F1 and average precision with intervals, and the questions that tell most."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from complabel._drawn import AIMED
from complabel._parameters import (
    Array,
    Bools,
    Ints,
    check_choice,
    check_integer,
    check_random_state,
    check_real,
)
from complabel._settings import setting
from complabel.answers import Answers
from complabel.asking import table_of_pairs
from complabel.errors import InputError
from complabel.frequencies import checked_probabilities, rates_of_mistakes
from complabel.trust._pairs import FEWEST_OF_GROUP, JudgedPairs, ScoredPairs, checked_thresholds

# Jeffreys' prior of a share.
_PRIOR = 0.5
_ROUNDING = 1e-24  # a smaller variance is none
_FARTHEST = 6.0  # standard errors; SciPy does not find beta's quantiles for some more


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
        figures = {}
        for label, name in enumerate(self._label_names):
            pairs = self._pairs.of_label(label, n_labels)
            options = {"new_items": self.new_items, "of_label": True}
            figures[name] = Figures(**figures_of(pairs, self.confidence, **options))
        return figures

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
            at = figures_of(pairs, self.confidence, new_items=self.new_items, names=_AT_THRESHOLD)
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
        Used are judgements of labels drawn at random: with a ``probability``, ``drawn`` by what a
        machine says, or a "ticked" question about all labels of an item that was drawn at random.
        If the chances differ between questions about equally many labels, weights allow for that.
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
    estimator). Each judged pair stands for itself at least, so that a census is the truth however
    it was drawn. Of predicted pairs, or of the others, any share may apply as long as fewer than
    three of them were judged.

    The error is that of the linearised figure. The interval is that of a share in as many
    judgements as would have this error, with Jeffreys' prior (Korn and Graubard's effective sample
    size). Precision may be wrong where judgements stand for most pairs. Judgements of one item are
    a cluster. For the average precision of a label with n "yes", the variance counts 1 + 1/n times.

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
        **figures_of(pairs, confidence, new_items=new_items),
        confidence=confidence,
        new_items=new_items,
        n_judgements=len(judged),
        n_items=len(np.unique(judged.item)),
        _pairs=pairs,
        _label_names=tuple(names),
    )


class _Ratio(NamedTuple):
    """A figure is ``above`` over ``below``, from which labels apply (N,).

    Both change if a label applies, by ``each_above`` and ``each_below`` (N,), and if a pair is
    there that does not apply, by ``pair_above`` and ``pair_below`` (N,).
    """

    above: float
    below: float
    each_above: Any
    each_below: Any
    pair_above: Any
    pair_below: Any


def _ratio(applies: Array, counted: Any, by_labels: int, by_pairs: Any) -> _Ratio:
    """Return a ratio of sums over pairs (N,).

    Above is how many labels apply, each ``counted`` so often; below is ``by_labels`` times their
    number, and the sum of ``by_pairs``.
    """
    below = by_labels * applies.sum() + np.broadcast_to(by_pairs, applies.shape).sum()
    return _Ratio(float((counted * applies).sum()), float(below), counted, by_labels, 0, by_pairs)


def _average_precision(pairs: ScoredPairs, applies: Array) -> _Ratio:
    order, above, rank = pairs.ranking
    y = applies[order]  # all arrays here are by descending score

    # The estimate for a pair is not multiplied by itself: that would add its variance.
    precision = (1 + np.cumsum(y)[rank - 1] - y) / rank
    total = float(y @ precision)
    precision = np.clip(precision, 0, 1)
    share = y / rank
    below, lost = (np.append(0.0, np.cumsum(of)) for of in (share, share * precision))
    each, pair = np.empty_like(y), np.empty_like(y)
    each[order] = precision + below[-1] - below[above] - share
    pair[order] = lost[above] - lost[-1]
    return _Ratio(total, float(y.sum()), each, 1, pair, 0)


_FIGURES: Mapping[str, Callable[[ScoredPairs, Array], _Ratio]] = {
    "precision": lambda pairs, y: _ratio(y, pairs.predicted, 0, pairs.predicted),
    "recall": lambda pairs, y: _ratio(y, pairs.predicted, 1, 0),
    "f1": lambda pairs, y: _ratio(y, 2 * pairs.predicted, 1, pairs.predicted),
    "average_precision": _average_precision,
    "share": lambda _, y: _ratio(y, 1, 0, 1),
}
_AT_THRESHOLD = ("precision", "recall")
_OF_PREDICTED = (*_AT_THRESHOLD, "f1")


@dataclass(frozen=True)
class Known:
    """What judgements tell of a figure; ``value`` is NaN if they tell nothing.

    ``typical`` is its value by the chances alone, and ``variance`` that of its error, of which each
    judged pair adds a share, ``falling`` (M,), that falls with more judgements. ``sides`` are
    the ratio that it is, and the variance of above - figure * below, a polynomial of the figure of
    degree 2. They are there if it may not be known well how large ``below`` is. ``ends`` is what
    would be known if all, or none, of a group of pairs applied of which hardly any was judged.
    """

    value: float
    n_judgements: int
    more_questions: int | None = None
    typical: float = 0.0
    variance: float = 0.0
    falling: Any = ()
    sides: tuple[_Ratio, Array] | None = None
    ends: Sequence[Known] = ()

    def interval(self, errors: float, smaller: float = 1.0) -> tuple[float, float]:
        """Return the ends if errors, so many to each side, were ``smaller`` times as large."""
        if math.isnan(self.value):
            return 0.0, 1.0
        every = [self.value]
        if self.variance >= _ROUNDING:
            n = self.typical * (1 - self.typical) / self.variance / smaller**2
            tails = special.ndtr([-min(errors, _FARTHEST), min(errors, _FARTHEST)])
            ends = stats.beta.ppf(tails, n * self.value + _PRIOR, n * (1 - self.value) + _PRIOR)
            every += ends.tolist()
        for each in self.ends:
            every += each.interval(errors, smaller)
        if self.sides is not None:
            every += _where_nothing_is_left(*self.sides, errors * smaller)
        return min(every), max(every)


def figures_of(
    pairs: ScoredPairs,
    confidence: float,
    *,
    new_items: bool,
    names: Any = tuple(_FIGURES),
    of_label: bool = False,
) -> dict[str, Figure]:
    figures, errors = {}, float(special.ndtri((1 + confidence) / 2))
    for name in names:
        known = known_of(pairs, name, new_items=new_items, of_label=of_label)
        ends = known.interval(errors)
        figures[name] = Figure(known.value, *ends, known.n_judgements, known.more_questions)
    return figures


def known_of(
    pairs: ScoredPairs, name: str, *, new_items: bool, of_label: bool, to_stop: bool = False
) -> Known:
    """Return what is known of a figure.

    With ``to_stop``, intervals are for somebody who stops once one is short: where people err, they
    are at least as long as Fieller's. Others are short where chance made labels look frequent.
    """
    of_predicted = int(pairs.n_judgements[pairs.predicted[pairs.place]].sum())
    n = of_predicted if name == "precision" else int(pairs.n_judgements.sum())
    nothing_applies = pairs.applies.sum() <= 0  # by the answers, after mistakes were taken out
    unknown = name in _OF_PREDICTED and pairs.predicted.any() and not of_predicted
    if not n or unknown or (nothing_applies and name != "share"):
        return Known(math.nan, n)
    estimate, typical = (_FIGURES[name](pairs, of) for of in (pairs.applies, pairs.chance))
    # A mean over few "yes" tells its own error badly: with one it is doubled, with none there
    # is no end to it. Without this, few labels as rare as .02 had the truth in their interval.
    few = of_label and name == "average_precision"
    unsure = 1 + 1 / max(pairs.n_yes, _ROUNDING) if few else 1.0
    value, middle = (each.above / (each.below or 1.0) for each in (estimate, typical))
    of_mistakes = to_stop and pairs.noise.any()
    variances = []
    # Changes and the effective number come from the chances alone, which no single answer
    # can make 0 or 1.
    for at in [middle, 0.0, 0.5, 1.0] if of_mistakes else [middle]:
        each = np.broadcast_to(typical.each_above - at * typical.each_below, len(pairs))
        pair = np.broadcast_to(typical.pair_above - at * typical.pair_below, len(pairs))
        of_precision = name == "precision"
        variances.append(pairs.variance(each, pair, new_items=new_items, unevenly=of_precision))
    (variance, times_to_halve, falling), *others = variances
    more = int(pairs.n_judgements.sum()) * (times_to_halve - 1)
    options = {"new_items": new_items, "of_label": of_label, "to_stop": to_stop}
    ends: list[Known] = []
    if any(name != "precision" or pairs.predicted[side].any() for side in pairs.unknown):
        smallest = min(int(side.sum()) for side in pairs.unknown)
        more = max(more, FEWEST_OF_GROUP * len(pairs) / smallest)
        ends = [known_of(each, name, **options) for each in pairs.extremes]
    are_left = more <= len(pairs) - len(pairs.place)
    sides = None
    if of_mistakes:
        sides = estimate, np.polyfit([0.0, 0.5, 1.0], [unsure * each for each, *_ in others], 2)
    falling = falling / (variance or 1.0)
    variance *= unsure / (typical.below**2 or 1.0)
    if new_items and variance < _ROUNDING:
        # All or none of these pairs are predicted. Others may not be: it is a share of those that
        # apply, of which so many were seen. F1 changes up to twice as fast as recall.
        middle, variance = 0.5, 0.25 * (1 + (name == "f1")) / max(pairs.n_yes, _ROUNDING)
        falling = pairs.weight / pairs.weight.sum()
    return Known(
        value=float(np.clip(value, 0, 1)),
        n_judgements=n,
        more_questions=math.ceil(more) if are_left else None,
        typical=middle,
        variance=variance,
        falling=falling,
        sides=sides,
        ends=ends,
    )


def _where_nothing_is_left(ratio: _Ratio, variance: Array, errors: float) -> tuple[float, float]:
    """Return between which figures above - figure * below is 0 but for its error (Fieller 1954).

    Where ``below`` may be 0, any figure may be true.
    """
    line = np.array([-ratio.below, ratio.above])
    bend, slope, start = np.polymul(line, line) - errors**2 * variance
    if ratio.below <= 0 or bend <= 0:
        return 0.0, 1.0
    root = math.sqrt(max(0.0, slope**2 - 4 * bend * start))
    low, high = np.clip((-slope + np.array([-root, root])) / (2 * bend), 0, 1).tolist()
    return low, high


# So much of the chances is equal for all pairs, and so much of the rest is equal for all pairs with
# the same decision. Else a pair of which the model is wrongly sure would have a huge weight. The
# variance is at most 1 / 0.2 = 5 times that of random questions, whatever the probabilities are
# worth. If they are right, it is at most 1 / 0.8^2 = 1.6 times the least.
_EQUAL_SHARE = 0.2
_THRESHOLD = 0.5


def suggest_evaluation_questions(
    answers: Answers,
    probabilities: ArrayLike,
    n: int = 200,
    *,
    figure: str = "f1",
    threshold: ArrayLike = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """Draw yes/no questions whose answers tell most about how good a model's predictions are.

    Some pairs of an item and a label matter more than others for, say, precision. They are drawn
    with larger chances, which stand in the table, so that :func:`estimate_metrics` is right on
    average whatever the probabilities are worth. No pair is drawn twice.

    Parameters
    ----------
    answers : Answers
        What the model learned from, about all items that may be asked about. Only items *without*
        any answer are drawn, since a model knows the others too well.
    probabilities : array-like of shape (n_items, n_labels)
        The chances that labels apply, in [0, 1], by the model.
    n : int, default=200
        How many questions to ask.
    figure : {"f1", "precision", "recall", "average_precision"}, default="f1"
        What the answers shall tell about, over all pairs.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted if its probability is at least this.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    pandas.DataFrame, or dict of str to ndarray if pandas is not installed
        A table for :meth:`Answers.from_table` like that of
        :func:`complabel.asking.suggest_questions`, with n rows in random order. ``probability`` is
        the chance with which the pair would be drawn if one question were asked for each item that
        has no answer. Over all their pairs it sums to the number of these items.

    Raises
    ------
    InputError
        Also if fewer than ``n`` pairs are left.

    Notes
    -----
    Let a figure change by d if the label of a pair applies, and let p be the probability that it
    does. Chances in proportion to d sqrt(p (1 - p)) then give the least error of the figure. Here
    d is computed from the probabilities. Since these may be wrong, a fifth of the chances is equal
    for all pairs, and a fifth of the rest for all pairs with the same decision. Pairs with the
    same decision and about the same score are a stratum, from which one pair is drawn.

    References
    ----------
    Sawade, Landwehr and Scheffer, "Active estimation of F-measures", NeurIPS 2010: chances for F1,
    precision and recall.

    Bennett and Carvalho, "Online stratified sampling: evaluating classifiers at web-scale", CIKM
    2010: strata of scores.

    Examples
    --------
    >>> answers = Answers.from_complementary([[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])
    >>> probabilities = [[0.9, 0.1, 0.1], [0.2, 0.8, 0.1], [0.1, 0.2, 0.6], [0.5, 0.1, 0.2]]
    >>> table = suggest_evaluation_questions(answers, probabilities, 2, random_state=0)
    >>> print(table.to_string(index=False, na_rep=""))
     item label answer question  probability drawn
        3     1   None    asked     0.199296 aimed
        2     2   None    asked     0.563096 aimed
    """
    p = checked_probabilities("probabilities", probabilities, answers.shape)
    predicted = p >= checked_thresholds(threshold, answers.n_labels)
    check_integer("n", n, at_least=1)
    check_choice("figure", figure, tuple(name for name in _FIGURES if name != "share"))
    rng = check_random_state(random_state)
    items = np.flatnonzero(~answers.answered)
    if n > len(items) * answers.n_labels:
        raise InputError(
            f"{setting('n', n)} questions are more than the {len(items) * answers.n_labels} pairs"
            f" of a label and one of the {len(items)} items without an answer; give a smaller"
            f" {setting('n')}, or items that the model did not learn from",
            parameter="n",
        )
    score, is_predicted = p[items].ravel(), predicted[items].ravel()
    chance = _chances(score, is_predicted, figure, max(n, len(items)))
    drawn = rng.permutation(_drawn(chance * (n / chance.sum()), score, is_predicted, n, rng))
    item, label = np.divmod(drawn, answers.n_labels)
    probability = chance[drawn] * (len(items) / chance.sum())
    return table_of_pairs(answers, items[item], label, np.full(n, None), probability, AIMED)


def order_of_evaluation(
    probabilities: Array, figure: str, most: int, rng: np.random.Generator
) -> tuple[Ints, Array]:
    """Return pairs in an order to ask about them, at most ``most``, and the chance of every pair.

    The chances are those of one question for each item. So many more, and they are those of
    ``chances_after`` (Ohlsson, "Sequential Poisson sampling", Journal of Official Statistics 1998).
    """
    p = probabilities.ravel()
    chance = _chances(p, p >= _THRESHOLD, figure, len(probabilities))
    key = rng.random(len(p)) / chance
    first = np.argpartition(key, most)[:most] if most < len(p) else np.arange(len(p))
    return first[np.argsort(key[first])], chance


def chances_after(n: int, n_items: int, every: Array, chance: Array) -> Array:
    """Return what ``chance`` of some pairs is after n questions, beside one for each item.

    Here it is as it was at the first question, and so is that of ``every`` pair. No pair is asked
    about twice: those that are certain to be asked about leave other questions to the others.
    """
    n = max(n, n_items)
    return np.asarray(np.minimum(chance * _factor(every, n), 1.0) * (n_items / n))


def _chances(p: Array, predicted: Bools, figure: str, total: int) -> Array:
    """Return chances of pairs (n_pairs,), at most 1, which sum to ``total``."""
    none: Any = np.zeros(0, dtype=np.intp)
    pairs = ScoredPairs(p, predicted, none, p, *[none] * 5)  # none is judged yet
    size = np.zeros(len(p))
    if p.any():
        ratio = _FIGURES[figure](pairs, p)
        below = ratio.below or 1.0
        slope = (ratio.each_above - ratio.above / below * ratio.each_below) / below
        size = np.abs(slope) * np.sqrt(p * (1 - p))
    size = size / size.sum() if size.any() else np.full(len(p), 1 / len(p))
    cell = predicted.astype(np.intp)
    alike = np.bincount(cell, weights=size) / np.maximum(np.bincount(cell), 1)
    for equal in (alike[cell], 1 / len(p)):
        size = (1 - _EQUAL_SHARE) * size + _EQUAL_SHARE * equal
    return np.asarray(np.minimum(size * _factor(size, total), 1.0))


def _factor(size: Array, total: int) -> float:
    """Return by what to multiply sizes so that they sum to ``total``, with those above 1 as 1."""
    # The largest become 1. The others share what is left of the total.
    ordered = np.sort(size)[::-1]
    scale = (total - np.arange(len(size))) / np.cumsum(ordered[::-1])[::-1]
    return float(scale[np.argmax(ordered * scale <= 1 + 1e-9)])


def _drawn(chance: Array, score: Array, predicted: Bools, n: int, rng: np.random.Generator) -> Ints:
    """Draw n pairs with chances (n_pairs,) that sum to n: one from each of n strata."""
    order = np.lexsort((score, predicted))
    stratum = np.floor(np.cumsum(chance[order]))
    # Systematic sampling of strata in random order. In the order of scores, the sample would hang
    # on one random number alone, and its error on how labels happen to alternate.
    order = order[np.lexsort((rng.random(len(order)), stratum))]
    at = np.searchsorted(np.cumsum(chance[order]), np.arange(n) + rng.random(), side="right")
    return order[np.minimum(at, len(order) - 1)]
