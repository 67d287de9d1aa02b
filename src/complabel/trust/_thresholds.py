"""Thresholds from answers to random questions: a named precision or recall, F1, or frequencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from complabel._parameters import Array, Bools, Ints, check_array, check_real
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import (
    checked_probabilities,
    drawn_at_random,
    estimate_label_frequencies,
    sums_by,
)
from complabel.trust._features import some
from complabel.trust._metrics import MetricEstimates, estimate_metrics
from complabel.trust._pairs import JudgedPairs, ScoredPairs


@dataclass(frozen=True, eq=False)
class ChosenThresholds:
    """Thresholds for each label, and what they promise.

    Attributes
    ----------
    values : ndarray of shape (n_labels,), dtype float64
        The thresholds, for ``classifier.set_thresholds``.
    aim : str
        What they were chosen for, such as "a precision of 0.9".
    promised : ndarray of shape (n_labels,), dtype bool
        Whether the label takes part in a promise: in its own one, or in one about several labels
        together. All False if nothing was to be promised.
    alone : ndarray of shape (n_labels,), dtype bool
        Whether the label's threshold rests on its own judgements.
    n_judgements : ndarray of shape (n_labels,), dtype int64
        Number of random judgements of each label.
    remarks : tuple of str
        Sentences about labels for which nothing can be promised, and about labels that share a
        promise.
    """

    values: Array
    aim: str
    promised: Bools
    alone: Bools
    n_judgements: NDArray[np.int64]
    remarks: tuple[str, ...]
    _estimate: Callable[..., MetricEstimates] = field(repr=False)

    @cached_property
    def estimates(self) -> MetricEstimates:
        """Precision, recall and F1 at these thresholds, with intervals."""
        return self._estimate(threshold=self.values)


def choose_thresholds(
    answers: Answers,
    probabilities: ArrayLike,
    *,
    precision: float | None = None,
    recall: float | None = None,
    match_frequencies: bool | ArrayLike = False,
    by_label: bool = False,
    confidence: float = 0.95,
) -> ChosenThresholds:
    """Choose from which probability on a label is predicted, from answers to random questions.

    Without an aim, F1 is maximised, since it needs the fewest answers.

    Parameters
    ----------
    answers : Answers
        Used are judgements of labels drawn at random, as in :func:`estimate_metrics`. What they say
        is taken as right.
    probabilities : array-like of shape (n_items, n_labels)
        Chances that labels apply, in [0, 1], from a model that did not learn from these judgements,
        for the same items, also for those without an answer.
    precision : float or None, default=None
        The share of predicted labels that shall apply, in (0, 1). It is promised with
        ``confidence``, and recall is as high as that allows.
    recall : float or None, default=None
        The share of labels that apply that shall be predicted, in (0, 1). It is promised with
        ``confidence``, and precision is as high as that allows.
    match_frequencies : bool or array-like of shape (n_labels,), default=False
        Predict each label as often as it applies. True: how often is estimated by
        :func:`~complabel.frequencies.estimate_label_frequencies`; else it is given.
    by_label : bool, default=False
        Whether each label with enough judgements has its own threshold, and its own promise. The
        other labels have one threshold together. If not, all labels have one threshold, and a
        promise is about all pairs of an item and a label together.
    confidence : float, default=0.95
        How often a promise shall be kept, in (0, 1), and intervals shall hold the truth. Each
        promise is kept so often by itself.

    Returns
    -------
    ChosenThresholds
        Where nothing can be promised, thresholds are so high that nothing is predicted (for a
        precision), or so low that everything is (for a recall).

    Raises
    ------
    AnnotationError
        If no answer is to a random question.
    InputError
        If an argument has another shape, or values out of range, or two aims are given.

    Notes
    -----
    For a precision or a recall, thresholds are tested one after the other, the safest ones first,
    and the last one before the first that fails is taken: learn, then test. The test is the exact
    binomial one if all judgements have one weight, and none are about the same item. Else it is the
    same with an effective number of judgements. Promises are about all items of which these are a
    random sample.

    For F1, probabilities are recalibrated by Platt's method. Then the F1 is computed that is to
    be expected for each threshold, over all pairs or for each label.

    References
    ----------
    Angelopoulos, Bates, Candes, Jordan and Lei, "Learn then test: calibrating predictive
    algorithms to achieve risk control", Annals of Applied Statistics 2025 (arXiv 2021).

    Lipton, Elkan and Naryanaswamy, "Optimal thresholding of classifiers to maximize F1 measure",
    ECML PKDD 2014.

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> rng = np.random.default_rng(0)
    >>> chances = rng.random((2000, 3)) ** 2
    >>> Y = (rng.random(chances.shape) < chances).astype(np.uint8)
    >>> asked = draw_answers(Y, question="asked", items_share=0.5, random_state=0)
    >>> found = choose_thresholds(asked, chances, recall=0.8)
    >>> found.values.round(2), found.promised
    (array([0.27, 0.27, 0.27]), array([ True,  True,  True]))
    >>> bool((Y * (chances >= found.values)).sum() > 0.8 * Y.sum())
    True
    """
    p = checked_probabilities("probabilities", probabilities, answers.shape)
    matched = match_frequencies is not False
    if (precision is not None) + (recall is not None) + matched > 1:
        raise InputError(
            "precision, recall and match_frequencies are different aims; give one of them, or none"
            " for the highest F1"
        )
    for name, least in (("precision", precision), ("recall", recall)):
        if least is not None:
            check_real(name, least, above=0, below=1)
    check_real("confidence", confidence, above=0, below=1)
    judged = JudgedPairs.of(answers)
    names = answers.label_names or tuple(map(str, range(answers.n_labels)))
    n_labels = len(names)
    promised, alone = np.zeros(n_labels, np.bool_), np.full(n_labels, by_label)
    remarks: tuple[str, ...] = ()
    least = recall if precision is None else precision
    if least is not None:
        promise = _Promise("recall" if precision is None else "precision", least, 1 - confidence)
        aim = f"a {promise.of} of {least:g}"
        # What is said of a pair again tells nothing more; what contradicts it is another judgement.
        judgements = (judged.item * n_labels + judged.label) * 2 + judged.applies
        judgements, place = np.unique(judgements, return_inverse=True)
        weight, (pair, applies) = sums_by(place, judged.weight), np.divmod(judgements, 2)
        item, label = np.divmod(pair, n_labels)

        def judged_of(labels: Bools) -> Judged:
            at = np.flatnonzero(labels[label])
            scores, yes = p[item[at], label[at]], applies[at].astype(np.float64)
            return Judged.sorted(scores, yes, weight[at], item[at])

        values, promised, alone, remarks = promise.keep(judged_of, names, by_label=by_label)
    elif matched:
        aim, alone[:] = "label frequencies", True
        values = _as_often(p, _frequencies(match_frequencies, answers, p))
    else:
        aim = "F1"
        no_mistakes = np.zeros((1, n_labels))
        scored = ScoredPairs.of(judged, p, np.array(0.5), no_mistakes, no_mistakes)
        # The highest F1 to be expected if labels have these chances.
        chances = scored.chance.reshape(p.shape)
        parts = zip(p.T, chances.T, strict=True) if by_label else [(p.ravel(), chances.ravel())]
        values = np.resize([_best_f1(*part) for part in parts], n_labels)
        always = ((p >= values).mean(axis=0) > _ALWAYS) & (chances.mean(axis=0) < 0.5)
        if always.any():
            remarks = (
                f"{_listed(names, always)}: predicted for nearly every item, though most of them"
                " lack it, because the probabilities hardly tell items apart; fit to more answers,"
                " or to other features",
            )
    return ChosenThresholds(
        values=values,
        aim=aim,
        promised=promised,
        alone=alone,
        n_judgements=np.bincount(judged.label, minlength=n_labels),
        remarks=remarks,
        _estimate=partial(estimate_metrics, answers, p, confidence=confidence),
    )


@dataclass(frozen=True)
class _Promise:
    """A share, precision or recall, that is at least ``least`` but with a chance of ``error``."""

    of: str
    least: float
    error: float

    def keep(
        self, judged_of: Callable[[Bools], Judged], names: Sequence[str], *, by_label: bool
    ) -> tuple[Array, Bools, Bools, tuple[str, ...]]:
        """Return thresholds (K,), whether they are promised, whether alone, and remarks."""
        each = np.eye(len(names), dtype=np.bool_)
        alone = np.zeros(len(names), dtype=np.bool_)
        if by_label:
            target = self.of, self.least, self.error
            alone[:] = [is_within_reach(judged_of(k), *target) for k in each]
        values = np.full(len(names), HIGHEST if self.of == "precision" else LOWEST)
        promised = np.zeros(len(names), dtype=np.bool_)
        remarks = []
        if by_label and not alone.all():
            remarks.append(
                f"{_listed(names, ~alone)}: too few judgements for a promise about each label; one"
                " threshold is for all of them, and a promise is about all of them together"
            )
        test = for_precision if self.of == "precision" else for_recall
        for labels in [*each[alone], ~alone][: None if not alone.all() else -1]:
            judged = judged_of(labels)
            threshold = test(judged, self.least, self.error)
            if threshold is None:
                remarks.append(self._excuse(judged, _listed(names, labels)))
            else:
                values[labels], promised[labels] = threshold, True
        return values, promised, alone, tuple(remarks)

    def _excuse(self, judged: Judged, who: str) -> str:
        number = smallest_number(self.least, self.error)
        yes = int(judged.applies.sum())
        if self.of == "precision":
            needed, done = "of the most probable pairs, all of which apply", "no label is predicted"
        else:
            needed, done = "of labels that apply", "all labels are predicted"
        counted = "1 judgement" if len(judged) == 1 else f"{len(judged):,} judgements"
        return (
            f"{who}: a {self.of} of {self.least:g} cannot be promised from {counted}, {yes:,} of"
            f" them yes, so {done}; it needs at least {number:,} judgements {needed}, and more with"
            f" mistakes. Ask more random questions, or name a lower {self.of}"
        )


def _listed(names: Sequence[str], labels: Bools) -> str:
    if labels.all():
        return "all labels together"
    return some([names[label] for label in np.flatnonzero(labels).tolist()])


def _frequencies(frequencies: bool | ArrayLike, answers: Answers, p: Array) -> Array:
    if frequencies is True:
        return estimate_label_frequencies(drawn_at_random(answers), predictions=p).values
    shares = check_array("match_frequencies", frequencies, "label")
    if len(shares) != p.shape[1] or shares.min() < 0 or shares.max() > 1:
        raise InputError(f"match_frequencies must be True, or {p.shape[1]} shares, one per label")
    return shares


def _as_often(p: Array, frequencies: Array) -> Array:
    """Return thresholds (K,) that predict each label for this share of the items, or nearly.

    Items with the same probability go together.
    """
    thresholds = []
    for scores, share in zip(-np.sort(-p, axis=0).T, frequencies, strict=True):
        numbers = np.append(0, ends_of(scores))
        nearest = np.abs(numbers - share * len(p)).round(9).argmin()
        thresholds.append(threshold_after(scores, int(numbers[nearest])))
    return np.array(thresholds)


def _best_f1(scores: Array, chances: Array) -> float:
    order = np.argsort(-scores, kind="stable")
    scores, right = scores[order], np.cumsum(chances[order])
    ends = ends_of(scores)
    f1 = 2 * right[ends - 1] / (ends + right[-1])
    return threshold_after(scores, int(ends[np.argmax(f1)]))


# A label that is predicted for a greater share of items than this is predicted always.
_ALWAYS = 0.95

# Each threshold that is tested predicts at least this many times as many pairs as the one before.
_STEP = 1.1
# A label is tested alone if this is the chance of a promise, should its probabilities be right.
_LIKELY = 0.5
# A threshold lies this far below the least score that it must hold, in case scores are rounded.
_BELOW = 1 - 1e-6
LOWEST, HIGHEST = np.nextafter(0, 1), np.nextafter(1, 0)
"""Thresholds at which all labels are predicted, and none (unless a probability is 0 or 1)."""


@dataclass(frozen=True)
class Judged:
    """J judgements of pairs with a score, from the highest score to the lowest; arrays are (J,)."""

    score: Array
    applies: Array  # 0 or 1
    weight: Array
    group: Ints  # judgements of one group may err together

    @classmethod
    def sorted(cls, score: Array, applies: Array, weight: Array, group: Ints) -> Judged:
        order = np.argsort(-score, kind="stable")
        return cls(score[order], applies[order], weight[order], group[order])

    def __len__(self) -> int:
        return len(self.score)

    def only(self, which: Bools) -> Judged:
        return Judged(self.score[which], self.applies[which], self.weight[which], self.group[which])


def ends_of(scores: Array) -> Ints:
    """Return after how many of scores (J,), which descend, a lower one comes, or none."""
    return np.flatnonzero(np.diff(scores, append=-1.0)) + 1


def threshold_after(scores: Array, number: int) -> float:
    """Return the threshold between the first ``number`` of scores and the next; they descend."""
    before = scores[number - 1] if number else 1.0
    after = scores[number] if number < len(scores) else 0.0
    return float(np.clip((before + after) / 2, LOWEST, HIGHEST))


def for_precision(judged: Judged, least: float, error: float) -> float | None:
    """Return the lowest threshold found whose precision is at least ``least``, or None.

    Thresholds are tested one after the other, from a high one down to the first one that fails, so
    each may have the full chance of an ``error`` (fixed-sequence testing). If the probabilities
    are right, the first one is the one that is most likely to pass. It is chosen by scores alone.
    """
    tested, power = _expected_power(judged, least, error)
    if not len(tested):
        return None
    weight, residual = judged.weight, judged.applies - least
    total = np.cumsum(weight)
    share = np.cumsum(weight * judged.applies) / total
    spread = np.cumsum(weight * residual**2)
    clustered = _squared_sums(weight * residual, judged.group)
    at_most = total / np.maximum.accumulate(weight)
    passed = _chances(share, np.minimum(spread * total / clustered, at_most), least) <= error
    last = _last_of_first(passed[tested - 1], start=int(np.argmax(power)))
    return None if last is None else threshold_after(judged.score, int(tested[last]))


def is_within_reach(judged: Judged, of: str, least: float, error: float) -> bool:
    """Tell whether so many judgements can be enough, without a look at whether a test passes."""
    if of == "recall":
        return bool(judged.applies.sum() >= smallest_number(least, error))
    return bool(_expected_power(judged, least, error)[1].max(initial=0) >= _LIKELY)


def _expected_power(judged: Judged, least: float, error: float) -> tuple[Ints, Array]:
    """Return numbers of judgements to test, and how likely they pass if scores are chances."""
    ends = ends_of(judged.score)
    tested = ends[list(_steps(ends, smallest_number(least, error)))]
    expected = (np.cumsum(judged.score) / np.arange(1, len(judged) + 1))[tested - 1]
    needed = stats.binom.isf(error, tested, least) + 1
    return tested, np.asarray(stats.binom.sf(needed - 1, tested, expected))


def for_recall(judged: Judged, least: float, error: float) -> float | None:
    """Return the highest threshold whose recall is at least ``least``, or None.

    Recall falls as the threshold rises. So thresholds are tested from the lowest one up to the
    first one that fails.
    """
    largest = judged.weight.max(initial=0)
    judged = judged.only(judged.applies > 0)
    if not len(judged):
        return None
    weight = judged.weight
    inside, total = np.cumsum(weight), weight.sum()
    _, place = np.unique(judged.group, return_inverse=True)
    of_group = np.bincount(place, weights=weight)[place]
    spread = (1 - least) ** 2 * inside + least**2 * (total - inside)
    # The sum over groups of squares, of their part above the threshold minus least times the whole.
    clustered = (
        _squared_sums(weight, judged.group)
        - 2 * least * np.cumsum(weight * of_group)
        + least**2 * (weight * of_group).sum()
    )
    number = np.minimum(spread * total / clustered, total / largest)
    passed = _chances(inside / total, number, least) <= error
    ends = ends_of(judged.score)[::-1]
    last = _last_of_first(passed[ends - 1], start=0)
    return None if last is None else max(LOWEST, float(judged.score[ends[last] - 1]) * _BELOW)


def smallest_number(least: float, error: float) -> int:
    """Return from how many judgements on a share of ``least`` can be shown, if all say yes."""
    return int(np.ceil(np.log(error) / np.log(least) - 1e-9))


def _steps(ends: Ints, smallest: int) -> Iterator[int]:
    next_number = float(smallest)
    for place, number in enumerate(ends):
        if number >= next_number:
            yield place
            next_number = number * _STEP


def _last_of_first(passed: Bools, *, start: int) -> int | None:
    """Return the last place from ``start`` on before the first that did not pass."""
    failed = np.flatnonzero(~passed[start:])
    length = failed[0] if len(failed) else len(passed) - start
    return start + int(length) - 1 if length else None


def _chances(share: Array, number: Array, least: float) -> Array:
    """Return the chance of such a share or a higher one, if the true one is at most ``least``.

    It is that of the binomial distribution, for numbers that need not be whole. With equal weights
    and one judgement in each group it is exact. Else the effective number of judgements is that
    with the same variance of the weighted share under the hypothesis (Korn and Graubard 1998). It
    is at most what is left if each judgement is kept with a chance in proportion to its weight,
    since a single judgement of large weight tells little.
    """
    yes = share * number
    with np.errstate(invalid="ignore"):
        chances = special.betainc(yes, np.maximum(number - yes, 0) + 1, least)
    return np.asarray(np.where(yes > 0, chances, 1.0))


def _squared_sums(values: Array, group: Ints) -> Array:
    """Return at each place (J,) the sum over groups of the squared sum of their values so far."""
    order = np.argsort(group, kind="stable")
    sums = np.cumsum(values[order])
    new = np.diff(group[order], prepend=-1) != 0
    before = np.where(new, sums - values[order], 0.0)
    first = np.maximum.accumulate(np.where(new, np.arange(len(sums)), 0))
    running = sums - before[first]
    gained = np.empty_like(values)
    gained[order] = running**2 - (running - values[order]) ** 2
    return np.cumsum(gained)
