"""Label frequencies that a caller gives, and the rates of exclusion that follow from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import check_array
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies._counts import Array

# The sum of class frequencies may differ from 1 by this much: they are often given rounded.
_ROUNDING = 1e-6
# Rates are kept away from 0 and 1: no sample proves that a label is never or always excluded.
_RATES = (1e-3, 1 - 1e-3)


def check_auto_or_given(label_frequencies: Any) -> None:
    """Refuse a parameter ``label_frequencies`` that is a text other than ``"auto"``."""
    if isinstance(label_frequencies, str) and label_frequencies != "auto":
        raise InputError(
            f"label_frequencies must be 'auto' or an array of shape (K,), got {label_frequencies!r}"
        )


def given_frequencies(values: Any, classes: NDArray[Any], *, one_applies: bool) -> Array:
    """Return given label frequencies (K,) after a check; they add up to 1 if one class applies."""
    frequencies = check_array("label_frequencies", values, "label")
    if len(frequencies) != len(classes):
        raise InputError(
            f"label_frequencies has {len(frequencies)} entries, but there are {len(classes)}"
            " labels; give one entry per label"
        )
    beyond = np.flatnonzero((frequencies < 0) | (frequencies > 1))
    if beyond.size:
        at = int(beyond[0])
        raise InputError(
            f"label_frequencies must lie in [0, 1], got {frequencies[at]:g} for label"
            f" {classes[at]}; give the share of rows to which the label applies"
        )
    if one_applies and abs(frequencies.sum() - 1) > _ROUNDING:
        raise InputError(
            f"label_frequencies add up to {frequencies.sum():g}, but exactly one class applies to"
            " each row of y; give shares that add up to 1"
        )
    return frequencies


def rates_of_exclusion(answers: Answers, frequencies: Array) -> Array | None:
    """Return how often each label (K,) is excluded where it does not apply; None: no exclusions."""
    # Label k is excluded for the share e_k (1 - pi_k) of the items looked at; this is solved for e.
    rules = answers.question == "excluded"
    if not rules.any():
        return None
    listed = answers.offered[rules]
    everything = int((np.diff(listed.indptr) == 0).sum())
    looked_at = np.asarray(listed.sum(axis=0), dtype=np.float64) + everything
    excluded = np.asarray(answers.excluded[rules].sum(axis=0), dtype=np.float64)
    return np.asarray(np.clip(excluded / np.maximum(looked_at, 1) / (1 - frequencies), *_RATES))
