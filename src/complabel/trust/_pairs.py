"""Pairs of an item and a label: those judged at random, and all with their scores."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from complabel._parameters import Array, Bools, Ints, check_array
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import (
    forms_of,
    inverse_probability,
    judged_at_random,
    refuse_without_sample,
    stand_for,
    sums_by,
)


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """J judgements, each of one label of one item, drawn with known chances; arrays are (J,).

    A judgement's weight is in proportion to how many pairs it stands for. So weighted sums over
    judgements are, but for one factor, estimates of sums over all n_items * n_labels pairs.
    """

    item: Ints
    label: Ints
    annotator: Ints  # -1: unknown
    applies: Bools  # what the annotator said
    weight: Array  # their mean is 1
    n_items: int
    n_labels: int

    @classmethod
    def of(cls, answers: Answers) -> Self:
        """Collect the judgements of random questions.

        Weights are compared within one form of question (its kind, its number of labels, and the
        machine by which it was drawn), since each form is drawn in its own way. The forms count by
        their numbers of judgements. Each judged pair stands at least for itself.
        """
        random = judged_at_random(answers)
        statements = answers.statements()
        statements = statements.only(random[statements.answer])
        if not len(statements):
            raise refuse_without_sample(answers)
        inverse = inverse_probability(answers)[statements.answer]
        _, place = np.unique(forms_of(answers)[statements.answer], return_inverse=True)
        mean = np.bincount(place, weights=inverse) / np.bincount(place)
        weight = inverse / mean[place]
        _, at = np.unique(
            statements.item * answers.n_labels + statements.label, return_inverse=True
        )
        total = sums_by(at, weight)
        n_pairs = answers.n_items * answers.n_labels
        stands = stand_for(total, np.zeros_like(at[: len(total)]), np.array([n_pairs]))
        return cls(
            item=statements.item,
            label=statements.label,
            annotator=answers.annotator[statements.answer],
            applies=statements.applies,
            weight=weight * (stands / total)[at] * (len(at) / stands.sum()),
            n_items=answers.n_items,
            n_labels=answers.n_labels,
        )

    def __len__(self) -> int:
        return len(self.item)


def checked_thresholds(threshold: ArrayLike, n_labels: int) -> Array:
    cuts = check_array("threshold", threshold, *["label"][: np.ndim(threshold)])
    if cuts.ndim and len(cuts) != n_labels:
        raise InputError(
            f"threshold has {len(cuts)} numbers; give one, or one for each of {n_labels} labels"
        )
    return cuts


FEWEST_OF_GROUP = 3
"""Of a group of pairs of which fewer were judged, any share may apply."""

# Probabilities nearer to 0 or 1 are not told apart in the recalibration.
_LEAST_CHANCE = 1e-4
# The recalibration starts from the scores as they are: intercept 0, and slope 1 below and above
# a half. These are the precisions of a normal prior around that.
_START, _PRECISION = np.array([0.0, 1.0, 1.0]), np.array([0.25, 1.0, 4.0])
_CLOSE = 1e-8  # largest slope at the end of the recalibration


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """N pairs, of which M are judged; the pairs of an item are neighbours."""

    score: Array  # (N,)
    predicted: Bools  # (N,)
    item: Ints  # (N,), ascending
    chance: Array  # (N,): that the label applies, from the recalibrated score
    place: Ints  # (M,), ascending: which pairs are judged
    inverse: Array  # (M,): one over the chance of being judged, up to a factor
    judgement: Array  # (M,): without mistakes 0 or 1; with mistakes its mean is whether it applies
    noise: Array  # (M,): how much mistakes add to the variance of ``judgement``
    n_judgements: Ints  # (M,): how many judgements are about the pair

    @classmethod
    def of(
        cls, judged: JudgedPairs, scores: Array, thresholds: Array, missed: Array, invented: Array
    ) -> Self:
        """Collect all pairs of (n, K) scores; rates are (1, K) or (R + 1, K).

        With mistakes, a judgement becomes (applies - invented) / (1 - missed - invented). On
        average that is 1 if the label applies and 0 if not (Rogan and Gladen 1978).
        """
        score = scores.ravel()
        pair = judged.item * judged.n_labels + judged.label
        missed, invented = (
            rates[judged.annotator % len(rates), judged.label] for rates in (missed, invented)
        )
        youden = 1 - missed - invented
        value = (judged.applies - invented) / youden
        place, at, n_judgements = np.unique(pair, return_inverse=True, return_counts=True)
        total = sums_by(at, judged.weight)
        mean = sums_by(at, judged.weight * value) / total
        chance = _chances_of(score, place, mean, total)
        p = chance[pair]
        yes = invented + youden * p
        noise = yes * (1 - yes) / youden**2 - p * (1 - p)
        return cls(
            score=score,
            predicted=(scores >= thresholds).ravel(),
            item=np.repeat(np.arange(judged.n_items), judged.n_labels),
            chance=chance,
            place=place,
            inverse=total,
            judgement=mean,
            noise=sums_by(at, judged.weight**2 * noise) / total**2,
            n_judgements=n_judgements,
        )

    def __len__(self) -> int:
        return len(self.score)

    def in_parts(self, n_parts: int) -> list[Self]:
        """Return these pairs without what was said of each part of items; none for few items."""
        _, item = np.unique(self.item[self.place], return_inverse=True)
        part = np.random.default_rng(0).permutation(item.max() + 1)[item] % n_parts
        parts = []
        for each in range(n_parts if part.max() + 1 == n_parts else 0):
            names = ("place", "judgement", "inverse", "noise", "n_judgements")
            kept: dict[str, Any] = {name: getattr(self, name)[part != each] for name in names}
            chance = _chances_of(self.score, kept["place"], kept["judgement"], kept["inverse"])
            parts.append(replace(self, chance=chance, **kept))
            parts[-1].__dict__["ranking"] = self.ranking  # so that it is not sorted again
        return parts

    def of_label(self, label: int, n_labels: int) -> Self:
        judged = self.place % n_labels == label
        names = ("inverse", "judgement", "noise", "n_judgements")
        every = ("score", "predicted", "item", "chance")
        return replace(
            self,
            **{name: getattr(self, name)[label::n_labels] for name in every},
            **{name: getattr(self, name)[judged] for name in names},
            place=self.place[judged] // n_labels,
        )

    @cached_property
    def ranking(self) -> tuple[Ints, Ints, Ints]:
        """The pairs by descending score, and how many scores are higher, and at least as high."""
        order = np.argsort(-self.score, kind="stable")
        score = self.score[order]
        starts = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
        sizes = np.diff(starts, append=len(score))
        return order, np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)

    @property
    def n_yes(self) -> float:
        """Kish's effective number of judged pairs whose label applies."""
        weight = self.weight[self.judgement > 0.5]
        return float(weight.sum() ** 2 / max((weight**2).sum(), np.finfo(float).tiny))

    @cached_property
    def cell(self) -> Ints:
        """Cells (N,) whose number of pairs is known: predicted, and not predicted.

        There is one cell if no pair of one of these was judged.
        """
        judged = self.predicted[self.place]
        one = any((self.predicted == of).any() and not (judged == of).any() for of in (0, 1))
        return (self.predicted & (not one)).astype(np.intp)

    @cached_property
    def weight(self) -> Array:
        """How many pairs of its cell each judged one stands for, (M,)."""
        return stand_for(self.inverse, self.cell[self.place], np.bincount(self.cell, minlength=2))

    @cached_property
    def unknown(self) -> list[Bools]:
        """Masks (N,) of predicted pairs, and of the others, if hardly any of these was judged."""
        sides = (self.predicted, ~self.predicted)
        n_judged = (int(side[self.place].sum()) for side in sides)
        counted = zip(sides, n_judged, strict=True)
        return [side for side, n in counted if n < min(FEWEST_OF_GROUP, int(side.sum()))]

    @cached_property
    def extremes(self) -> list[Self]:
        """The same pairs, as if all or none of those that are ``unknown`` applied, each way."""
        if not self.unknown:
            return []
        every = np.any(self.unknown, axis=0)
        every[self.place] = True
        place, names = np.flatnonzero(every), ("inverse", "judgement", "noise", "n_judgements")
        extremes = []
        for applies in itertools.product((0.0, 1.0), repeat=len(self.unknown)):
            values = np.zeros((len(names), len(self)))
            values[0] = 1.0
            for side, each in zip(self.unknown, applies, strict=True):
                values[1, side] = each
            values[:, self.place] = [getattr(self, name) for name in names]
            of_side = np.any(self.unknown, axis=0)
            chance = np.where(of_side, np.clip(values[1], 0, 1), self.chance)
            arrays: dict[str, Any] = dict(zip(names, values[:, place], strict=True))
            extremes.append(replace(self, chance=chance, place=place, **arrays))
            extremes[-1].__dict__["ranking"] = self.ranking  # so that it is not sorted again
        return extremes

    @cached_property
    def error(self) -> Array:
        return np.asarray(self.judgement - self.chance[self.place])

    @cached_property
    def applies(self) -> Array:
        """Estimates (N,) of whether labels apply; weighted sums of them are right on average.

        The chances are a guess for all pairs. Judged ones correct it: the difference estimator of
        survey sampling, and of prediction-powered inference.
        """
        estimates = self.chance.copy()
        estimates[self.place] += self.weight * self.error
        return estimates

    def _if_the_heaviest_are_wrong(self) -> Array:
        """Return the factor of the spread, (M,), if wrong pairs weigh most for their scores."""
        of, chance = self.predicted[self.place] & (self.weight > 1 + 1e-9), self.chance[self.place]
        weight = np.log(self.weight / np.maximum(self.n_judgements, 1))
        design = np.vander(special.logit(np.clip(chance, _LEAST_CHANCE, 1 - _LEAST_CHANCE)), 3)
        lighter = design @ np.linalg.lstsq(design[of], weight[of])[0] - weight
        return np.exp(np.where(of, lighter - lighter[of].min(initial=np.inf), 0))

    def _by_cell(self, values: Array) -> Array:
        sums = np.bincount(self.cell[self.place], weights=values, minlength=2)
        return np.maximum(sums, np.finfo(float).tiny)

    def variance(
        self, slope: Array, presence: Array, *, new_items: bool, unevenly: bool = False
    ) -> tuple[float, float, Array]:
        """Return the variance of a figure, and how many times as many judgements quarter it.

        ``slope`` (N,) says how the figure changes if a label applies, ``presence`` (N,) how it
        changes if a pair is there that does not apply. ``unevenly``: these may be the heaviest.
        The number of times is inf if no judgements are enough. What each judged pair adds to the
        variance, (M,), falls with more judgements.
        """
        u = slope[self.place]
        spread = (self.chance * (1 - self.chance))[self.place]
        # From the draw of judgements, and mistakes, if there were endless pairs.
        times = self._if_the_heaviest_are_wrong() if unevenly else 1.0
        falling = self.weight**2 * u**2 * (times * spread + self.noise)
        judging = float(falling.sum())
        # With judged pairs drawn independently, a pair that is certain to be judged adds nothing.
        saved = float((np.minimum(self.weight, self.weight**2) * u**2 * spread).sum())
        excess = self._excess(u, judging)
        judging, saved, falling = excess * judging, excess * saved, excess * falling
        of_items = 0.0
        if new_items:
            by_item = np.bincount(self.item, weights=slope * self.chance + presence)
            saved, of_items = 0.0, float((by_item**2).sum())
        total = max(0.0, judging - saved) + of_items
        left = total / 4 + saved - of_items
        return total, judging / left if left > 0 else np.inf, falling

    def _excess(self, u: Array, variance: float) -> float:
        """How much larger the variance is than the chances say, at least 1.

        Errors show whether the chances are wrong. They also show how far several judgements of one
        item go together; that holds for chances that are right, too.
        """
        error = self.weight * self.error * u
        cell = self.cell[self.place]
        sums = np.bincount(cell, weights=error, minlength=2)  # of both signs
        error -= (sums / self._by_cell(self.weight))[cell] * self.weight
        alone = float((error**2).sum())
        if not alone:
            return 1.0
        together = float((np.bincount(self.item[self.place], weights=error) ** 2).sum())
        return max(1.0, together / alone, together / variance)


def _chances_of(score: Array, place: Ints, values: Array, weight: Array) -> Array:
    """Return the chances of all pairs (N,), recalibrated by the values of some (J,).

    This is Platt's logistic regression with one slope for logits below 0 and one for those above,
    since models are often too sure at one end only. Values may lie outside [0, 1].
    """
    weight = weight * weight.sum() / (weight**2).sum()  # Kish's effective number
    logits = special.logit(np.clip(score, _LEAST_CHANCE, 1 - _LEAST_CHANCE))
    every: Array = np.stack([np.ones_like(logits), np.minimum(logits, 0), np.maximum(logits, 0)])
    design = every[:, place]

    def loss(at: Array) -> tuple[float, Array]:
        z, moved = at @ design, at - _START
        fit = weight @ (np.logaddexp(0, z) - values * z) + _PRECISION @ moved**2 / 2
        return float(fit), design @ (weight * (special.expit(z) - values)) + _PRECISION * moved

    def curvature(at: Array) -> Array:
        p = special.expit(at @ design)
        return (design * (weight * p * (1 - p))) @ design.T + np.diag(_PRECISION)

    solver: dict[str, Any] = {"jac": True, "hess": curvature, "method": "trust-exact"}
    optimum = optimize.minimize(loss, _START, options={"gtol": _CLOSE}, **solver)
    return np.asarray(special.expit(optimum.x @ every))
