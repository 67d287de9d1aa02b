"""What features tell: how much better models with them order labels than one guess for all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.stats import rankdata

from complabel._parameters import Array, Bools, Ints
from complabel.answers import STATEMENT_KINDS, Answers
from complabel.errors import AnnotationError, InputError
from complabel.frequencies import checked_probabilities

_ERRORS = 1.96
# Models of folds learned from each other's answers. If features know nothing, each pair of items in
# different folds counts twice in the sum over folds, so its variance is twice that of one model.
_OF_FOLDS = 2.0
# A label is said to be told nothing of if the interval holds .5 and not this, and there are so many
# answers of both kinds (benchmarks/features_tell.py). Below _HARDLY, answers are not what lacks.
_WELL, _FEWEST, _HARDLY = 0.9, 3, 0.6
_SHOWN, _NAMED = 12, 5  # labels in lines, and in a sentence


class LabelOrder(NamedTuple):
    """In how many cases of 1 the right one of two items comes first, one with a label, one without.

    It is NaN if people say only one of both. ``low`` and ``high`` are an interval of 95 %.
    """

    value: float
    low: float
    high: float
    n_yes: int
    n_no: int

    @property
    def told(self) -> bool | None:
        """Whether features tell something of the label; None if the answers are too few."""
        if self.low > 0.5:
            return True
        return False if self.high < _WELL and min(self.n_yes, self.n_no) >= _FEWEST else None

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        value, low, high = (f"{100 * share:.0f}" for share in self[:3])
        return f"{value} ({low} to {high})"


@dataclass(frozen=True, eq=False)
class FeaturesTell:
    """What :func:`features_tell` returns.

    Attributes
    ----------
    score : float
        The share of cases in which a model puts the right one first: of two labels of any items,
        one that people say applies and one that they say does not. NaN if they say only one.
    guess : float
        The same without features: one guess for all items, by how often each label applies.
    gain_error : float
        Standard error of ``score - guess``.
    labels : dict of str to LabelOrder
        The same of two items and one label: ``value``, where a guess has .5, ``low`` and ``high``,
        the ends of an interval of 95 %, and how many people's answers it rests on, ``n_yes`` and
        ``n_no``. ``told`` is True if the interval lies above .5. It is False if features tell
        nothing or little: the interval holds .5 but not .9. Else None: the answers are too few.
        Empty if no answer judges labels.
    """

    score: float
    guess: float
    gain_error: float
    labels: Mapping[str, LabelOrder]

    def named(self, told: bool | None) -> list[str]:
        """Return the names of labels of which features tell something, nothing, or who knows."""
        return [name for name, each in self.labels.items() if each.told is told]

    @property
    def needs_features(self) -> bool:
        """Whether more answers would hardly help: of most labels, a gain would have been seen."""
        known = [each.high < _HARDLY for each in self.labels.values() if each.told is False]
        return 2 * sum(known) > len(self.labels)

    def sentence(self) -> str:
        """Say of which labels features tell nothing, and what that means; empty if of none."""
        nothing = self.named(False)
        if not nothing:
            return ""
        of = some(nothing) if len(nothing) < len(self.labels) or len(nothing) == 1 else "any label"
        finding = f"the features tell nothing of {of}"
        if self.needs_features:
            return f"{finding}, and there are enough answers to see it: give other features"
        return f"{finding}, as far as these answers show: other features, or more answers?"

    def lines(self) -> list[str]:
        """Return lines about all labels together and about each one, the least told first."""
        if math.isnan(self.score):
            return []
        lines = [
            "held-out answers, of 100 cases of two labels, one that applies and one that does not:",
            f"  this model puts the right one first in  {100 * self.score:.0f}",
            f"  label frequencies alone do so in        {100 * self.guess:.0f} (the features gain"
            f" {100 * (self.score - self.guess):.0f} ± {100 * self.gain_error:.0f})",
        ]
        if not self.labels:
            return [*lines, "  by label, nothing is known: no answer says yes or no of a label"]
        order = sorted(self.labels, key=lambda name: np.nan_to_num(self.labels[name].value, nan=-1))
        widest = max(map(len, order[:_SHOWN]))
        words = {True: "", False: "nothing so far", None: "too few answers to know"}
        lines += ["  of two items, one with the label and one without it (a guess has 50):"]
        for name in order[:_SHOWN]:
            each = self.labels[name]
            lines += [f"    {name:{widest}}  {each!s:14}  {words[each.told]}".rstrip()]
        more = len(order) - _SHOWN
        return [*lines, f"    and {more:,} more, which are told better"] if more > 0 else lines

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, with None for NaN."""
        content = asdict(self) | {"sentence": self.sentence()}
        content["labels"] = {
            name: {**each._asdict(), "told": each.told} for name, each in self.labels.items()
        }
        for figures in (content, *content["labels"].values()):
            figures |= {name: None for name, value in figures.items() if value != value}
        return content


def features_tell(
    answers: Answers, probabilities: ArrayLike, *, folds: ArrayLike | None = None
) -> FeaturesTell:
    """Tell by label how much features gain over one guess for all items, on held-out answers.

    Parameters
    ----------
    answers : Answers
        Of people who contradict each other about a label of an item, the majority is believed.
    probabilities : array-like of shape (n_items, n_labels)
        Chances that labels apply, in [0, 1], by models that have not seen the answers about the
        item: those of :func:`~complabel.methods.held_out_score`, or of one model of other answers.
        Items with NaN do not count.
    folds : array-like of shape (n_items,) or None, default=None
        Which model said it of an item, from 0, if there are several that learned from other parts
        of these answers. None: one model, which learned from none of them.

    Returns
    -------
    FeaturesTell

    Raises
    ------
    InputError
        If an argument has another shape or values out of range.

    Notes
    -----
    The guess of a model is its mean probability of each label. By label, logits are compared less
    that of the guess, so that models of different folds can be compared. The interval is
    Newcombe's for the area under the ROC curve, with twice its variance if there are folds.

    References
    ----------
    Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic.
    Part 2", Statistics in Medicine 25, 2006: method 5.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chances = np.column_stack([rng.random(300), np.full(300, 0.3)])
    >>> Y = (rng.random(chances.shape) < chances).astype(int)
    >>> answers = Answers.from_arrays(relevant=Y, absent=1 - Y, label_names=["sea", "night"])
    >>> chances[:, 1] += rng.normal(0, 0.01, 300)  # features that know nothing of night
    >>> found = features_tell(answers, chances)
    >>> found.named(False), round(found.labels["sea"].low, 2)
    (['night'], 0.79)
    """
    p = checked_probabilities("probabilities", probabilities, answers.shape, gaps=True)
    fold = np.zeros(len(p), dtype=np.intp) if folds is None else np.asarray(folds, dtype=np.intp)
    if fold.shape != (len(p),) or (fold.size and fold.min() < 0):
        raise InputError(f"folds must be {len(p)} numbers from 0, one for each item")
    known = np.flatnonzero(~np.isnan(p).any(axis=1))
    answers, p, fold = answers[known], p[known], fold[known]
    n_models = max(int(fold.max(initial=0)) + 1, 1)
    guesses = np.zeros((n_models, p.shape[1]))
    np.add.at(guesses, fold, p)
    guess = (guesses / np.maximum(np.bincount(fold, minlength=n_models), 1)[:, np.newaxis])[fold]
    statements, variance = answers.statements(), 1.0 if folds is None else _OF_FOLDS
    score, of_guess, error = math.nan, math.nan, math.nan
    if statements.applies.any() and not statements.applies.all():
        (score, by_item), (of_guess, without) = (
            area(each[statements.item, statements.label], statements.applies, statements.item)
            for each in (p, guess)
        )
        error = math.sqrt(variance) * float(np.linalg.norm(by_item - without))
    beyond = _logit(p) - _logit(guess)
    item, label, applies = _judged(answers)
    labels = {
        name: _order(beyond[item[rows], k], applies[rows], variance)
        for k, name in enumerate(answers.label_names or map(str, range(answers.n_labels)))
        for rows in [label == k]
    }
    return FeaturesTell(score, of_guess, error, labels if len(item) else {})


def _logit(p: Array) -> Array:
    return np.asarray(special.logit(np.clip(p, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)))


def _judged(answers: Answers) -> tuple[Ints, Ints, Bools]:
    """Return items and labels of which most people say yes or no, and whether they say yes."""
    statements = answers.statements()
    kinds = [STATEMENT_KINDS.index(kind) for kind in ("absent", "relevant")]
    rows = np.isin(statements.kind, kinds)
    pairs, at = np.unique(statements.pair[rows], return_inverse=True)
    votes = np.bincount(at, np.where(statements.applies[rows], 1, -1), minlength=len(pairs))
    item, label = np.divmod(pairs[votes != 0], answers.n_labels)
    return item, label, votes[votes != 0] > 0


def _order(scores: Array, applies: Bools, variance: float) -> LabelOrder:
    n_yes, n_no = int(applies.sum()), int((~applies).sum())
    if not n_yes or not n_no:
        return LabelOrder(math.nan, 0.0, 1.0, n_yes, n_no)
    value, _ = area(scores, applies, np.arange(len(scores)))
    at = np.linspace(0, 1, 1001)
    pairs = (len(scores) / 2 - 1) * ((1 - at) / (2 - at) + at / (1 + at))
    errors = np.sqrt(variance * at * (1 - at) * (1 + pairs) / (n_yes * n_no))
    holds = at[np.abs(value - at) <= _ERRORS * errors + 0.0005]  # half a step
    return LabelOrder(value, float(holds[0]), float(holds[-1]), n_yes, n_no)


def area(scores: Array, applies: Bools, item: Ints) -> tuple[float, Array]:
    """Return the area under the ROC curve, and each item's influence on it, (n_items,).

    The root of the sum of their squares is the standard error. Source: DeLong, DeLong and
    Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
    characteristic curves", Biometrics 44, 1988; for clusters, Obuchowski, Biometrics 53, 1997.
    """
    n_yes, n_no = int(applies.sum()), int((~applies).sum())
    if not n_yes or not n_no:
        missing = "that a label applies" if n_no else "that a label does not apply"
        raise AnnotationError(f"nobody has said so far {missing}")
    others = rankdata(scores)
    others[applies] -= rankdata(scores[applies])
    others[~applies] -= rankdata(scores[~applies])
    value = others[applies].mean() / n_no
    right = np.where(applies, others / n_no, 1 - others / n_yes)
    influence = (right - value) / np.where(applies, n_yes, n_no)
    return float(value), np.bincount(item, weights=influence).astype(np.float64)


def some(names: Sequence[str]) -> str:
    """Return the first names and how many more there are."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
