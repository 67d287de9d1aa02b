"""The label frequencies that a fit uses, and the sums of frequencies that its search compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from complabel.answers import Answers
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

# The sums of frequencies that are compared lie at these distances from the estimate, in standard
# errors. The search then also tries means of neighbours.
_STEPS = (-1.5, 0.0, 1.5)
# Sums of frequencies keep this share of K away from 0 and from K.
_LEAST_SHARE = 0.01
# Frequencies are kept this far from 0 and 1, because no finite logit has a sigmoid of 0 or 1.
_RAREST = 1e-6


def given_to(classifier: Parameters, answers: Answers) -> LabelFrequencies | None:
    """Return the label frequencies that the caller gave; None if there are none."""
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
    """Return the sums of frequencies to choose from; only one if the frequencies are known."""
    c, error = frequencies.cardinality, frequencies.cardinality_error
    if not error:
        return [c]
    n_labels = len(frequencies.values)
    sums = np.clip(c + error * np.array(_STEPS), _LEAST_SHARE * n_labels, None)
    return [float(each) for each in np.minimum(sums, (1 - _LEAST_SHARE) * n_labels)]


def without_audit(choices: Choices) -> Choices:
    """Return choices without judgements of random labels, from which frequencies are estimated."""
    return replace(choices, answers=choices.answers.only(~judged_at_random(choices.answers)))


def sharpened(choices: Choices, logits: NDArray[np.float64]) -> Choices:
    """Return choices with frequencies estimated anew, with the help of predictions.

    ``logits`` (n, K) must come from a fit without the judgements of random labels.
    """
    found = estimate_label_frequencies(choices.answers, predictions=special.expit(logits))
    return replace(choices, frequencies=found)


def attributes_of(choices: Choices, cardinality: float | None) -> dict[str, Any]:
    """Return the classifier's attributes about frequencies, by name."""
    if choices.frequencies is None:
        return {}
    found = choices.frequencies_at(cardinality)
    shown = {"label_frequencies_": found.values}
    if found.cardinality_error > 0:
        shown["label_frequencies_errors_"] = found.standard_errors
        shown["label_frequencies_covariance_"] = found.covariance
    return shown
