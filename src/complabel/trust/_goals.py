"""Goals of a sitting, such as "frequencies +-.03", and how far they are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from complabel._parameters import Array, Bools
from complabel._questions import QuestionKind
from complabel._settings import setting
from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.frequencies import (
    Audit,
    answers_left,
    beside_predictions,
    checked_probabilities,
    interval_at_goal,
    interval_whenever,
    rates_of_mistakes,
)
from complabel.trust._features import some
from complabel.trust._metrics import Known, known_of
from complabel.trust._pairs import JudgedPairs, ScoredPairs, checked_thresholds

FREQUENCIES, MODEL = "frequencies", "model"
_TITLES = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "average_precision": "Average precision",
}
_GOAL = re.compile(
    r"(?P<figure>[a-z0-9_ -]*[a-z0-9])"
    r"(\s*(\+-|\+/-|±)\s*(?P<within>[0-9.]+))?(\s+(?P<by>by label))?"
)
_EXAMPLES = '"frequencies +-.03", "f1 +-.05", "precision +-.05 by label" or "model"'
# Who stops when an interval is short enough stops too often where chance made it short. With
# intervals that would hold this often at a fixed time, 95 of 100 hold (benchmarks/until.py).
_CONFIDENCE = 0.97
# Fewer judgements, or fewer that say yes or no, tell nothing of their own error.
_FEWEST, _FEWEST_OF_EACH = 50, 5
# The interval that holds at all times is about 1.5 times as long as the one at the goal. It is much
# longer where people err and it is hardly known whether labels apply; a short one is chance there.
_LONGER_AT_ALL_TIMES = 2
_TINY = 1e-12
_HALVINGS = 40
# How well the number of answers left is known is found without each of so many parts of items.
_PARTS = 10
# A sitting ends at a look. Looks are a twentieth apart, so it ends so much later on average.
_LATE = 1 + 0.05 / 2
# The interval that holds at all times is shortest, for its confidence, at about this number.
_USUAL = 200
_N_DRAWS = 400
_MANY = 1_000_000  # pairs
_QUANTILES = (0.1, 0.5, 0.9)
_AT_GOAL = float(special.ndtri((1 + _CONFIDENCE) / 2))  # standard errors
_OF_10 = float(special.stdtrit(_PARTS - 1, _QUANTILES[-1]))  # standard errors
_OF_HALF = "a label that applies to half of them"


@dataclass(frozen=True)
class Goal:
    """What is to be known, and how well.

    Attributes
    ----------
    figure : str
        "frequencies", "precision", "recall", "f1", "average_precision" or "model".
    within : float
        Half of the length that the interval of 95 % may have; NaN for "model".
    by_label : bool
        Whether the figure of each label is to be known so well, or the one over all labels.
    """

    figure: str
    within: float = math.nan
    by_label: bool = False

    @classmethod
    def parse(cls, text: str, parameter: str = "until") -> Goal:
        """Read a goal as it is typed; errors name the parameter that it was given as.

        Examples
        --------
        >>> Goal.parse("f1 +-.05 by label")
        Goal(figure='f1', within=0.05, by_label=True)
        """
        parts = _GOAL.fullmatch(text.strip().casefold())
        figure = "" if parts is None else re.sub("[ -]", "_", parts["figure"])
        if parts is None or figure not in (FREQUENCIES, MODEL, *_TITLES):
            raise InputError(f"{setting(parameter, text)} is no goal; give {_EXAMPLES}")
        if figure == MODEL:
            if parts["within"] or parts["by"]:
                raise InputError(f"{setting(parameter, text)}: the goal model has no number")
            return cls(MODEL)
        try:
            within = float(parts["within"] or "nan")
        except ValueError:
            within = math.nan
        if not 0 < within < 0.5:
            raise InputError(
                f"{setting(parameter, text)} must say how well the figure is to be known, by a"
                f' number between 0 and .5, such as "{parts["figure"]} +-.05"'
            )
        return cls(figure, within, figure == FREQUENCIES or parts["by"] is not None)

    def refuse_question(self, kind: QuestionKind) -> None:
        """Refuse a kind of question whose answers tell nothing of this goal."""
        if self.figure != MODEL and not kind.judges:
            raise InputError(
                f"{setting('until', self)} needs answers that say of labels whether they apply;"
                f" {setting('question', kind.word)} asks for labels that do not. Give asked, ticked"
                " or ticked-M"
            )

    def __str__(self) -> str:
        by = " by label" * (self.by_label and self.figure != FREQUENCIES)
        within = f"{self.within:g}".removeprefix("0")
        return self.figure if self.figure == MODEL else f"{self.figure} +-{within}{by}"


@dataclass(frozen=True)
class Part:
    """What is known of one figure, as :class:`Standing` says."""

    label: str | None
    value: float
    low: float
    high: float
    is_reached: bool
    left: tuple[float, float, float]
    best: tuple[float, float] = (math.nan, math.nan)


@dataclass(frozen=True)
class Standing:
    """How far a goal is.

    Attributes
    ----------
    goal : Goal
    parts : sequence
        One for each label, or one over all labels. Each has its ``label`` (None: all), ``value``
        (NaN if nothing is known), ``low``, ``high``, ``is_reached`` and ``left``. Once the goal is
        reached, the interval is the one to quote. Before, it is a longer one, which holds whenever
        somebody stops, for any reason. Where these items may be too few, ``best`` is half of the
        length of the interval when all their pairs are judged, and how many times as many items
        are enough.
    n_judgements : int
        On how many judgements of single labels the figures rest.
    left : tuple of float
        How many more answers are needed: with chances of .1, .5 and .9 it is at most this number.
        It is inf where these items are too few, and NaN where nobody knows.
    drawn_left : ndarray of shape (n_draws, n_labels) or None
        Of frequencies, how many more answers about each label are needed in simulated sittings.
    """

    goal: Goal
    parts: Sequence[Part]
    n_judgements: int
    left: tuple[float, float, float]
    drawn_left: Array | None = field(default=None, repr=False, compare=False)

    @property
    def is_reached(self) -> bool:
        """Whether each part is known as well as the goal says."""
        return all(part.is_reached for part in self.parts)

    @property
    def farthest(self) -> Part:
        """The part that needs most answers, or of which nobody knows how many."""
        return max(
            self.parts,
            key=lambda part: (not part.is_reached, math.isnan(part.left[1]), part.left[1]),
        )

    def next_look(self, n_answers: int) -> int:
        """Return at how many answers to look again; looks in between could only mislead."""
        half = self.left[0] / 2 if math.isfinite(self.left[0]) else 0
        return n_answers + max(n_answers // 20, 5, int(half))

    def obstacle(self) -> str | None:
        """Say what would reach the goal if these items probably cannot, or return None."""
        lacking = [part for part in self.parts if part.left[1] == math.inf]
        if not lacking:
            return None
        half, times = (max(each) for each in zip(*(part.best for part in lacking), strict=True))
        names = [part.label for part in lacking if part.label is not None]
        which = f" of {some(names)}" if names else ""
        text = f"{self.goal} cannot be reached with these items: when all their pairs are judged,"
        text += f" {self.goal.figure.replace('_', ' ')}{which}"
        text += ", as people err," if self.goal.figure == FREQUENCIES else " for items like these"
        if not math.isfinite(times):
            return f"{text} will rest on too few labels that are predicted"
        wider, needs = math.ceil(100 * half) / 100, f"{math.ceil(10 * times) / 10:g} times as many"
        if wider <= self.goal.within:
            return f"{text} will rest on too few judgements. It takes about {needs} items"
        text += f" will be known within ± {half:.3f} only. It takes about {needs} items"
        other = replace(self.goal, within=wider)
        return text if wider >= 0.5 else f"{text}, or the goal {other}"

    def sentence(self) -> str:
        """Return what may be quoted, if nobody is asked any more."""
        title, within = _TITLES.get(self.goal.figure, "How often labels apply"), self.goal.within
        by = f"by {self.n_judgements:,} judgements of single labels"
        if not self.goal.by_label:
            (part,) = self.parts
            if self.goal.figure == MODEL and math.isnan(part.value):
                return "It is not known yet what more answers bring."
            if self.goal.figure == MODEL:
                return (
                    "Ten more minutes of answers change the model's score by"
                    f" {part.low:+.3f} to {part.high:+.3f} (80 %)."
                )
            if math.isnan(part.value):
                return f"{title} over all labels is not known yet."
            return (
                f"{title} over all labels is {part.value:.3f}, between {part.low:.3f} and"
                f" {part.high:.3f} (95 %), {by}."
            )
        known = sum(part.is_reached for part in self.parts)
        which = f"all {known}" if self.is_reached else f"{known} of {len(self.parts)}"
        return (
            f"{title}: {which} labels are known within ± {within:g}, {by}. Of labels that are"
            " measured like this, at least 95 in 100 have the truth in their interval."
        )


def how_far(
    answers: Answers,
    goals: Sequence[Goal | str],
    *,
    probabilities: ArrayLike | None = None,
    threshold: ArrayLike = 0.5,
    missed: ArrayLike = 0.0,
    invented: ArrayLike = 0.0,
    n_items: int | None = None,
) -> list[Standing]:
    """Tell how far goals are, and what may be quoted, whenever one stops to ask.

    Call it after each round of answers, for frequencies after each answer, and stop when all goals
    are reached. The intervals allow for that. For other figures, let rounds add a twentieth each.

    Parameters
    ----------
    answers : Answers
        All answers so far. Used are judgements of labels drawn at random: with a ``probability``,
        or a "ticked" question about all labels. For frequencies, a pair of an item and a label
        counts once; if people contradict each other about it, it does not count. Items without
        an answer belong in, too: of few items that are all judged, everything is known.
    goals : sequence of Goal or str
        Such as ``"frequencies +-.03"`` (of each label), ``"f1 +-.05"`` (over all labels),
        ``"precision +-.1 by label"``, and the same for ``recall`` and ``average_precision``.
    probabilities : array-like of shape (n_items, n_labels) or None, default=None
        Chances in [0, 1] by a model that did not learn from these answers, or what a machine says,
        as for :func:`estimate_metrics`. Figures are about these predictions, and need them.
        Frequencies need fewer answers with them, the fewer the better the predictions are.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted if its probability is at least this.
    missed, invented : float or array-like, default=0.0
        Known mistakes, as in :func:`~complabel.frequencies.estimate_label_frequencies`.
    n_items : int or None, default=None
        How many items there are, if others than these come with further answers. None: no others.

    Returns
    -------
    list of Standing
        One for each goal.

    Raises
    ------
    InputError
        If a goal cannot be read, or needs ``probabilities``, or an argument has another shape or
        values out of range. The goal "model" needs a sitting: ``complabel annotate``.

    Notes
    -----
    An interval of 95 % for a fixed number of answers holds less often if it decides when to stop.
    For frequencies, which are about these items, the interval at the goal is one of Clopper and
    Pearson at 96.4 %, or at 97 % for goals beyond .06. Its chance of missing at that moment, at
    most 5 %, is a finite sum over all courses of answers. For the other figures it is the interval
    of :func:`estimate_metrics` at 97 %, which was measured. Where people err, it is at least as
    long as the interval of Fieller (1954), because it may not be known well how many labels apply.
    Before the goal, the interval is
    that of a confidence sequence (Robbins 1970): it holds at all times together, exactly for
    frequencies, and for large numbers of answers for the other figures.

    References
    ----------
    Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B
    1954: the interval of a ratio whose denominator is not known well.

    Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of
    Mathematical Statistics 1970.

    Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and
    asymptotic confidence sequences", Annals of Statistics 2024.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((3000, 3)) < [0.1, 0.3, 0.6]).astype(np.uint8)
    >>> asked = draw_answers(Y, question="asked", random_state=0)
    >>> (standing,) = how_far(asked, ["frequencies +-.04"])
    >>> [part.is_reached for part in standing.parts], standing.is_reached
    ([True, True, True], True)
    """
    read = [each if isinstance(each, Goal) else Goal.parse(each, "goals") for each in goals]
    rates = rates_of_mistakes(missed, invented, answers)
    names = answers.label_names or tuple(map(str, range(answers.n_labels)))
    p = None
    if probabilities is not None:
        p = checked_probabilities("probabilities", probabilities, answers.shape)
    cuts = checked_thresholds(threshold, answers.n_labels)
    more_items = (n_items or answers.n_items) / answers.n_items
    standings = []
    for goal in read:
        if goal.figure == MODEL:
            raise InputError('the goal "model" is for complabel annotate with --features')
        if goal.figure == FREQUENCIES:
            predicted = None if p is None else p >= cuts
            audit = Audit.of(answers, all_items=True).once()
            standings.append(
                _of_frequencies(goal, audit, answers.n_items, names, predicted, *rates)
            )
        elif p is None:
            raise InputError(f"{goal} needs predictions; also give {setting('probabilities')}")
        else:
            standings.append(_of_figure(goal, answers, names, p, cuts, *rates, more_items))
    return standings


def foreseen(
    goal: Goal,
    shape: tuple[int, int],
    names: Sequence[str],
    probabilities: Array | None,
    missed: float,
    invented: float,
) -> Standing | None:
    """Tell how far a goal is if all pairs are judged, and predictions are about right.

    ``shape`` (n, K) is that of the pairs. None if that is not known, or if it is certain that the
    goal will be reached.
    """
    if goal.figure == FREQUENCIES and not (missed or invented):
        return None  # a frequency is about these items
    if probabilities is not None and probabilities.size > _MANY:  # the sitting itself will tell
        return None
    (n_items, n_labels), p = shape, probabilities
    if p is None:
        if goal.figure != FREQUENCIES:
            return None
        names, n_labels, p = [_OF_HALF], 1, np.full((n_items, 1), 0.5)
    rates = np.full((1, n_labels), missed), np.full((1, n_labels), invented)
    item, label = np.divmod(np.arange(p.size), n_labels)
    says: Any = (invented + (1 - missed - invented) * p).ravel()
    every = item, label, np.full(p.size, -1), says, np.ones(p.size)
    if goal.figure != FREQUENCIES:
        judged = JudgedPairs(*every, n_items, n_labels)
        return _standing(goal, ScoredPairs.of(judged, p, np.asarray(0.5), *rates), names)
    predicted = None if probabilities is None else p >= 0.5
    return _of_frequencies(goal, Audit(*every, n_labels), n_items, names, predicted, *rates)


def questions_left(standing: Standing, size: float) -> tuple[float, float, float]:
    """Return how many questions about ``size`` labels each are left, at chances of .1, .5, .9.

    All labels are asked about equally often.
    """
    total, n_labels = np.array(standing.left), len(standing.parts)
    if standing.drawn_left is not None:
        total = quantiles_of(standing.drawn_left.max(axis=1)) * n_labels
    elif standing.goal.by_label:
        total = np.array(standing.farthest.left) * n_labels
    low, middle, high = np.ceil(total / size).tolist()
    return low, middle, high


def quantiles_of(drawn: Array) -> Array:
    """Return what numbers (D, ...) are at most with chances of .1, .5 and .9; some may be inf."""
    return np.asarray(np.quantile(drawn, _QUANTILES, axis=0, method="nearest"))


def _of_frequencies(
    goal: Goal,
    audit: Audit,
    n_items: int,
    names: Sequence[str],
    predicted: Bools | None,
    missed: Array,
    invented: Array,
) -> Standing:
    merged = audit.counts(missed, invented).merged()
    yes, judged = merged.yes[0], merged.judged[0]
    # People say yes of this share of what applies, beyond what they invent (Rogan and Gladen).
    youden = 1 - merged.missed[0] - merged.invented[0]
    # Where people err, judged items are not known, either.
    items = np.full(len(yes), n_items if (youden == 1).all() else math.inf)
    within = goal.within * youden
    n_draws = max(_N_DRAWS // max(len(yes) // 50, 1), 100)  # a sum of many labels needs fewer
    options: dict[str, Any] = {"n_draws": n_draws, "rng": np.random.default_rng(0)}
    if predicted is None:
        left = answers_left(yes, judged, within, items, **options)
    else:
        yes, judged, items, left = beside_predictions(audit, predicted, within, items, **options)
    is_over = np.isinf(items) & (merged.judged[0] + left > n_items)  # a pair is judged once
    left = np.where(is_over, math.inf, left)
    at_goal, whenever = (
        np.clip((ends - merged.invented[0][:, np.newaxis]) / youden[:, np.newaxis], 0, 1)
        for ends in (interval_at_goal(yes, judged, within, items), interval_whenever(yes, judged))
    )
    reached = np.asarray(left.max(axis=0) <= 0)
    with np.errstate(invalid="ignore"):
        values = np.clip((yes / judged - merged.invented[0]) / youden, 0, 1)
        times = n_items / np.maximum(merged.judged[0], 1)  # as many, when all pairs are judged
        ends = interval_at_goal(yes * times, judged * times, within, items)
    half = (ends[:, 1] - ends[:, 0]) / 2 / youden
    best = np.stack([half, (half / goal.within) ** 2], axis=1).tolist()
    ends = np.where(reached[:, np.newaxis], at_goal, whenever)
    parts = [
        Part(name, float(value), float(low), float(high), bool(done), tuple(more), (most, times))
        for name, value, (low, high), done, more, (most, times) in zip(
            names, values, ends, reached, quantiles_of(left).T.tolist(), best, strict=True
        )
    ]
    total = tuple(quantiles_of(left.sum(axis=1)).tolist())
    return Standing(goal, parts, len(audit.item), total, left)


def _of_figure(
    goal: Goal,
    answers: Answers,
    names: Sequence[str],
    p: Array,
    cuts: Array,
    missed: Array,
    invented: Array,
    more_items: float,
) -> Standing:
    nothing = Part(None, math.nan, 0.0, 1.0, False, (math.nan,) * 3)
    try:
        judged = JudgedPairs.of(answers)
    except AnnotationError:  # no answer is to a random question
        parts = [replace(nothing, label=name) for name in names] if goal.by_label else [nothing]
        return Standing(goal, parts, 0, nothing.left)
    pairs = ScoredPairs.of(judged, p, cuts, missed, invented)
    return replace(_standing(goal, pairs, names, more_items), n_judgements=len(judged))


def _standing(
    goal: Goal, pairs: ScoredPairs, names: Sequence[str], more_items: float = 1.0
) -> Standing:
    is_all = len(pairs.place) == len(pairs)  # then nothing is left
    every, parts = [pairs, *(() if is_all else pairs.in_parts(_PARTS))], []
    for label, name in enumerate(names if goal.by_label else [None]):
        of = every if name is None else [each.of_label(label, len(names)) for each in every]
        parts.append(replace(_part(of, goal, more_items), label=name))
    left = np.sum([part.left for part in parts], axis=0)
    return Standing(goal, parts, 0, tuple(left.tolist()))


def _part(every: Sequence[ScoredPairs], goal: Goal, more_items: float = 1.0) -> Part:
    """Return what is known of a figure, and how many more judgements it needs.

    The pairs come with all judgements, and then each time without a part of them.
    """
    pairs, *fewer = every
    options: dict[str, Any] = {"new_items": True, "of_label": goal.by_label, "to_stop": True}
    known, n = known_of(pairs, goal.figure, **options), len(pairs.place)
    value, (low, high) = known.value, known.interval(_AT_GOAL)
    if math.isnan(value):
        return Part(None, value, low, high, False, (math.nan,) * 3)
    errors = _whenever(n)
    times, (least, most) = errors / _AT_GOAL, known.interval(errors)
    if known.sides is not None and (least, most) == (0.0, 1.0) and n < len(pairs):
        # It is not known whether labels apply at all, nor when it will be.
        return Part(None, value, least, most, False, (math.nan,) * 3)
    # For large numbers of answers, an interval is as much longer as it has more standard errors.
    at_all_times = (
        max(0.0, min(least, value - times * (value - low))),
        min(1.0, max(most, value + times * (high - value))),
    )
    smaller = _smaller(known, errors, goal.within)
    n_yes, by_rank = float(pairs.judgement.sum()), goal.figure == "average_precision"
    # A model that predicts hardly anything has an F1 near 0, and nothing tells its error.
    n_predicted = n if by_rank else int(pairs.predicted[pairs.place].sum())
    of_each = min(n_yes, n - n_yes, n_predicted)
    if smaller >= 1 and low < high and n >= _FEWEST and of_each >= _FEWEST_OF_EACH:
        return Part(None, value, low, high, True, (0.0,) * 3)
    if known.ends or not (fewer or n == len(pairs)):  # hardly any pairs of some kind were judged
        return Part(None, value, *at_all_times, False, (math.nan,) * 3)
    lengths = [
        _length(known_of(each, goal.figure, **options), errors, goal.within, smaller)
        for each in fewer
    ]
    # The jackknife (Efron, "The jackknife, the bootstrap and other resampling plans", 1982).
    spread = 2 * float(np.std(np.log(np.maximum(lengths or [1.0], _TINY)))) * math.sqrt(_PARTS - 1)
    ends, least = _judged_at_end(pairs, known.falling, smaller, spread, more_items)
    # All pairs may be fewer than a figure needs.
    most, yes = len(pairs) * more_items, float(pairs.chance.sum())
    of_all = min(yes, len(pairs) - yes, len(pairs) if by_rank else float(pairs.predicted.sum()))
    lacks = max(_FEWEST / len(pairs), _FEWEST_OF_EACH / of_all if of_all else math.inf)
    fewest = max(_FEWEST, n + 1, n * _FEWEST_OF_EACH / max(of_each, _TINY))
    ends = np.where(ends <= most, np.clip(ends * _LATE, min(fewest, most), most), math.inf)
    if lacks > more_items:
        ends[:] = math.inf
    left = (ends - n) * (float(pairs.n_judgements.sum()) / n)
    half = goal.within * _length(known, errors, goal.within, math.sqrt(least))
    best = half, max(least / smaller**2, lacks / more_items)
    return Part(None, value, *at_all_times, False, tuple(left.tolist()), best)


def _length(known: Known, errors: float, within: float, times: float) -> float:
    """Return how long intervals are, as a share of what is allowed, with errors times as large."""
    low, high = known.interval(_AT_GOAL, times)
    length = (high - low) / 2 / within
    if known.sides is not None:
        low, high = known.interval(errors, times)
        length = max(length, (high - low) / 2 / within / _LONGER_AT_ALL_TIMES)
    return length


def _smaller(known: Known, errors: float, within: float) -> float:
    """Return how many times as large errors must be for intervals short enough; 1: they are."""

    def excess(log_times: float) -> float:
        return _length(known, errors, within, math.exp(log_times)) - 1

    least = math.log(within) - 1
    if excess(0.0) <= 0:
        return 1.0
    if excess(least) > 0:  # it is not known at all whether labels apply
        return math.exp(least)
    return math.exp(float(optimize.brentq(excess, least, 0.0, rtol=1e-3)))


def _whenever(n: int) -> float:
    """Return how many standard errors of n answers hold at all times, in 95 of 100 sittings."""
    level = -2 * math.log(1 - 0.95)
    rho = (level + math.log(level + 1)) / _USUAL
    return math.sqrt((1 + 1 / (n * rho)) * (math.log(n * rho + 1) + level))


def _judged_at_end(
    pairs: ScoredPairs, falling: Array, smaller: float, spread: float, more_items: float
) -> tuple[Array, float]:
    """Return how many pairs are judged when errors are ``smaller`` times as large, and the least.

    Numbers of pairs are those with chances of .1, .5 and .9; inf: never. The least is the square of
    how many times as large errors are when all is judged. ``falling`` (M,) are the shares of the
    variance that fall with judgements, ``spread`` is the error of the logarithm of the variance,
    and there are ``more_items`` times as many items, which come with the judgements.
    """
    weight, stays = pairs.weight, 1 - float(falling.sum())
    least = (stays + float((falling / weight).sum())) / more_items

    def judged_at(times: float) -> float:
        if times < least:
            return math.inf
        grown = min(more_items, 1 / times)
        needed = times * grown - stays
        # A pair that stands for w others is judged with chance 1 / w, later with min(1, f / w).
        low, high = 1.0, float(weight.max())
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            is_more = float((falling * np.maximum(1 / middle, 1 / weight)).sum()) > needed
            low, high = (middle, high) if is_more else (low, middle)
        return float(np.minimum(weight, high).sum()) * grown

    n, most = len(weight), len(pairs) * more_items
    # What is judged now stays: the later the end, the more is new.
    spread *= math.sqrt(1 - n / min(judged_at(smaller**2), most)) if n < most else 0.0
    ends = [judged_at(smaller**2 * math.exp(z * spread)) for z in (_OF_10, 0.0, -_OF_10)]
    return np.array(ends), least
