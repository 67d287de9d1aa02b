"""Goals of a sitting, such as "frequencies +-.03", and how far they are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
_TINY, _LONGEST = 1e-12, 5.0
# The interval that holds at all times is shortest, for its confidence, at about this number.
_USUAL = 200
_N_DRAWS = 400
_QUANTILES = (0.1, 0.5, 0.9)
_AT_GOAL = float(special.ndtri((1 + _CONFIDENCE) / 2))  # standard errors


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
        somebody stops, for any reason.
    n_judgements : int
        On how many judgements of single labels the figures rest.
    left : tuple of float
        How many more answers are needed: with chances of .1, .5 and .9 it is at most this number.
    """

    goal: Goal
    parts: Sequence[Part]
    n_judgements: int
    left: tuple[float, float, float]

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
    found = []
    for goal in read:
        if goal.figure == MODEL:
            raise InputError('the goal "model" is for complabel annotate with --features')
        if goal.figure == FREQUENCIES:
            predicted = None if p is None else p >= cuts
            found.append(_of_frequencies(goal, answers, names, predicted, *rates))
        elif p is None:
            raise InputError(f"{goal} needs predictions; also give {setting('probabilities')}")
        else:
            found.append(_of_figure(goal, answers, names, p, cuts, *rates))
    return found


def questions_left(
    standing: Standing, size: float, useful: float | None = None
) -> tuple[float, float, float]:
    """Return how many questions about ``size`` labels each are left, at chances of .1, .5, .9.

    If labels that are known well enough are preferred less, ``useful`` is the share of the
    questions that is about the others, from the first label that is known on. None: all labels are
    asked about equally often.
    """
    total, middles = np.array(standing.left) / size, [part.left[1] for part in standing.parts]
    if useful is not None and sum(middles) > 0:
        before, whole = len(middles) * min(middles), sum(middles)
        total *= (before + (whole - before) / useful) / whole
    elif useful is None and standing.goal.by_label:
        total = np.array(standing.farthest.left) * len(middles) / size
    low, middle, high = np.ceil(total).tolist()
    return low, middle, high


def _of_frequencies(
    goal: Goal,
    answers: Answers,
    names: Sequence[str],
    predicted: Bools | None,
    missed: Array,
    invented: Array,
) -> Standing:
    audit = Audit.of(answers, all_items=True).once()
    merged = audit.counts(missed, invented).merged()
    yes, judged = merged.yes[0], merged.judged[0]
    # People say yes of this share of what applies, beyond what they invent (Rogan and Gladen).
    told = 1 - merged.missed[0] - merged.invented[0]
    # Where people err, judged items are not known, either.
    n_items = np.full(len(yes), answers.n_items if (told == 1).all() else math.inf)
    within = goal.within * told
    how: Any = {"n_draws": _N_DRAWS, "rng": np.random.default_rng(0)}
    if predicted is None:
        left = answers_left(yes, judged, within, n_items, **how)
    else:
        yes, judged, n_items, left = beside_predictions(audit, predicted, within, n_items, **how)
    at_goal, whenever = (
        np.clip((ends - merged.invented[0][:, np.newaxis]) / told[:, np.newaxis], 0, 1)
        for ends in (interval_at_goal(yes, judged, within, n_items), interval_whenever(yes, judged))
    )
    reached = np.asarray(left.max(axis=0) <= 0)
    with np.errstate(invalid="ignore"):
        values = np.clip((yes / judged - merged.invented[0]) / told, 0, 1)
    ends = np.where(reached[:, np.newaxis], at_goal, whenever)
    quantiles = np.quantile(left, _QUANTILES, axis=0).T
    parts = [
        Part(name, float(value), float(low), float(high), bool(done), tuple(more))
        for name, value, (low, high), done, more in zip(
            names, values, ends, reached, quantiles.tolist(), strict=True
        )
    ]
    total = tuple(np.quantile(left.sum(axis=1), _QUANTILES).tolist())
    return Standing(goal, parts, len(audit.item), total)


def _of_figure(
    goal: Goal,
    answers: Answers,
    names: Sequence[str],
    p: Array,
    cuts: Array,
    missed: Array,
    invented: Array,
) -> Standing:
    nothing = Part(None, math.nan, 0.0, 1.0, False, (math.nan,) * 3)
    try:
        judged = JudgedPairs.of(answers)
    except AnnotationError:  # no answer is to a random question
        parts = [replace(nothing, label=name) for name in names] if goal.by_label else [nothing]
        return Standing(goal, parts, 0, nothing.left)
    pairs = ScoredPairs.of(judged, p, cuts, missed, invented)
    parts = []
    for label, name in enumerate(names if goal.by_label else [None]):
        of = pairs if name is None else pairs.of_label(label, len(names))
        parts.append(replace(_part(of, goal), label=name))
    left = np.sum([part.left for part in parts], axis=0)
    return Standing(goal, parts, len(judged), tuple(left.tolist()))


def _part(pairs: ScoredPairs, goal: Goal) -> Part:
    """Return what is known of a figure, and how many more judgements it needs."""
    how: Any = {"new_items": True, "of_label": goal.by_label, "to_stop": True}
    known, n = known_of(pairs, goal.figure, **how), len(pairs.place)
    value, (low, high) = known.value, known.interval(_AT_GOAL)
    if math.isnan(value):
        return Part(None, value, low, high, False, (math.nan,) * 3)
    errors = _whenever(n)
    times, (least, most) = errors / _AT_GOAL, known.interval(errors)
    if known.sides is not None and (least, most) == (0.0, 1.0):
        # It is not known whether labels apply at all, nor when it will be.
        return Part(None, value, least, most, False, (math.nan,) * 3)
    # For large numbers of answers, an interval is as much longer as it has more standard errors.
    at_all_times = (
        max(0.0, min(least, value - times * (value - low))),
        min(1.0, max(most, value + times * (high - value))),
    )
    smaller = _smaller(known, _AT_GOAL, goal.within)
    if known.sides is not None:
        smaller = min(smaller, _smaller(known, errors, _LONGER_AT_ALL_TIMES * goal.within))
    n_yes, by_rank = float(pairs.said.sum()), goal.figure == "average_precision"
    # A model that predicts hardly anything has an F1 near 0, and nothing tells its error.
    n_predicted = n if by_rank else int(pairs.predicted[pairs.place].sum())
    enough = n >= _FEWEST and min(n_yes, n - n_yes, n_predicted) >= _FEWEST_OF_EACH
    if smaller >= 1 and low < high and enough:
        return Part(None, value, low, high, True, (0.0,) * 3)
    left = _left(known.more_questions, n, smaller, _spread_of_left(pairs, value, by_rank))
    return Part(None, value, *at_all_times, False, left)


def _smaller(known: Known, errors: float, within: float) -> float:
    """Return how many times as large errors must be for an interval short enough; 1: it is."""

    def excess(log_times: float) -> float:
        low, high = known.interval(errors, math.exp(log_times))
        return (high - low) / 2 - within

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


def _spread_of_left(pairs: ScoredPairs, value: float, by_rank: bool) -> float:
    """Return by how much the logarithm of a variance is wrong at most, in 8 of 10 cases.

    An error is known the better, the more judgements say yes, and worst near 0 and 1. Where
    mistakes scatter judgements more, the same number of them tells less. The factors were measured
    (scene, yeast, digits and corel5k in benchmarks/until.py).
    """
    chance, weight = pairs.chance[pairs.place], pairs.weight
    yes = float((weight * chance).sum()) ** 2 / max(float((weight**2 * chance).sum()), _TINY)
    noise = 1 + float(pairs.noise.sum()) / max(float((chance * (1 - chance)).sum()), _TINY)
    factor, high = (1.05, math.sqrt(value)) if by_rank else (0.55, value)
    return factor * math.sqrt(noise / max(yes * high * (1 - value), _TINY))


def _left(
    more_questions: int | None, n: int, smaller: float, spread: float
) -> tuple[float, float, float]:
    """Return how many judgements are left until errors are ``smaller`` times as large as now."""
    if more_questions is None:
        return (math.nan,) * 3
    # A part of the variance falls with answers, and the other one stays; it is known how many
    # answers bring a quarter of the variance.
    times = 1 + more_questions / n
    falls = 0.75 / (1 - 1 / times) if times > 1 else 1.0
    goal = smaller**2 - (1 - falls)
    if goal <= 0:
        return (math.inf,) * 3
    middle = max(n * (falls / goal - 1), _FEWEST - n, 1.0)
    # By how much the logarithm of this changes if that of the variance does.
    spread *= smaller**2 * falls / (goal * max(falls - goal, _TINY))
    factor = math.exp(min(spread, _LONGEST))
    return middle / factor, middle, middle * factor
