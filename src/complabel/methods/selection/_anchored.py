"""What a fit knows of how often labels apply, and what sums of frequencies it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from complabel.annotations import Answers
from complabel.errors import InputError
from complabel.frequencies import (
    estimate_label_frequencies,
    frequencies_with_propensities,
    given_frequencies,
    judged_at_random,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.frequencies import LabelFrequencies
    from complabel.methods.selection._choices import Choices
    from complabel.methods.selection._setting import Parameters

# Sums of frequencies that are compared, in standard errors; near the best, means refine them.
_STEPS = (-1.5, 0.0, 1.5)
# No sum of frequencies is nearer to 0 or to all labels than this share of them.
_LEAST_SHARE = 0.01
# Frequencies of 0 and 1, which no finite logit has, are taken for these.
_RAREST = 1e-6


def given_to(classifier: Parameters, answers: Answers) -> LabelFrequencies | None:
    """Return label frequencies that a caller gave; None if there are none."""
    given = classifier.label_frequencies
    if given is None or (isinstance(given, str) and given == "auto"):
        return None
    if isinstance(given, str):
        raise InputError(
            f"label_frequencies is {given!r}; give None, 'auto' or one number per label"
        )
    values = given_frequencies(given, classifier.classes_, one_applies=classifier._single)
    values = np.clip(values, _RAREST, 1 - _RAREST)
    return frequencies_with_propensities(values, answers)


def cardinalities_of(frequencies: LabelFrequencies) -> Sequence[float]:
    """Return the sums of frequencies to choose from: one, if they are known."""
    c, error = frequencies.cardinality, frequencies.cardinality_error
    if not error:
        return [c]
    n_labels = len(frequencies.values)
    sums = np.clip(c + error * np.array(_STEPS), _LEAST_SHARE * n_labels, None)
    return [float(each) for each in np.minimum(sums, (1 - _LEAST_SHARE) * n_labels)]


def without_audit(choices: Choices) -> Choices:
    """Return choices without the judgements of random labels that frequencies are estimated by."""
    return replace(choices, answers=choices.answers.only(~judged_at_random(choices.answers)))


def sharpened(choices: Choices, logits: NDArray[np.float64]) -> Choices:
    """Return choices with frequencies in the light of predictions (n, K) made without the audit."""
    found = estimate_label_frequencies(choices.answers, predictions=special.expit(logits))
    return replace(choices, frequencies=found)


def attributes_of(choices: Choices, cardinality: float | None) -> dict[str, Any]:
    """Return what the classifier's attributes show of frequencies, by name."""
    if choices.frequencies is None:
        return {}
    found = choices.frequencies_at(cardinality)
    shown = {"label_frequencies_": found.values}
    if found.cardinality_error > 0:
        shown["label_frequencies_errors_"] = found.standard_errors
        shown["label_frequencies_covariance_"] = found.covariance
    return shown
