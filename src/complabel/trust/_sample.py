"""Judged pairs of an item and a label, as a random sample of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._parameters import check_array
from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.frequencies import inverse_probability, judged_at_random

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """J judgements, each of one label of one item, drawn with known chances; arrays are (J,).

    One over the chance of a judgement is its weight. So weighted sums over judgements are, but for
    one factor, unbiased estimates of sums over all n_items * n_labels pairs.
    """

    item: NDArray[np.intp]
    label: NDArray[np.intp]
    annotator: NDArray[np.intp]  # -1: unknown
    applies: NDArray[np.bool_]  # what the annotator said
    weight: Array  # their mean is 1
    n_items: int
    n_labels: int

    @classmethod
    def of(cls, answers: Answers) -> Self:
        """Collect the judgements of random questions.

        Weights are compared within one form of question (its kind and its number of labels), since
        each form is drawn in its own way. The forms count by their numbers of judgements.
        """
        random = judged_at_random(answers)
        said = answers.statements()
        said = said.only(random[said.answer])
        if not len(said):
            raise AnnotationError(
                "no answer is to a random question, so nothing tells which part of all pairs of an"
                " item and a label was judged; draw random questions with complabel ask, and keep"
                " their column probability"
            )
        inverse = inverse_probability(answers)[said.answer]
        form = 2 * answers.n_offered + (answers.question == "ticked")
        _, place = np.unique(form[said.answer], return_inverse=True)
        mean = np.bincount(place, weights=inverse) / np.bincount(place)
        return cls(
            item=said.item,
            label=said.label,
            annotator=answers.annotator[said.answer],
            applies=said.applies,
            weight=inverse / mean[place],
            n_items=answers.n_items,
            n_labels=answers.n_labels,
        )

    def __len__(self) -> int:
        return len(self.item)


def checked_probabilities(probabilities: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return probabilities of this shape (n_items, n_labels), or refuse them."""
    p = check_array("probabilities", probabilities, "item", "label")
    if p.shape != shape:
        raise InputError(
            f"probabilities have shape {p.shape}, and the answers or true labels {shape}; give one"
            " row per item and one column per label"
        )
    if p.min() < 0 or p.max() > 1:
        raise InputError(
            f"probabilities must be from 0 to 1, got values from {p.min():g} to {p.max():g}"
        )
    return p


def checked_thresholds(threshold: ArrayLike, n_labels: int) -> Array:
    """Return one threshold, or one for each label, or refuse them."""
    found = check_array("threshold", threshold, *["label"][: np.ndim(threshold)])
    if found.ndim and len(found) != n_labels:
        raise InputError(
            f"threshold has {len(found)} numbers; give one, or one for each of {n_labels} labels"
        )
    return found
