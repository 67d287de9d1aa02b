"""Label frequencies as a caller gives them, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel._parameters import check_array
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.frequencies._counts import Array


# How far the frequencies of classes may be from adding up to 1.
_ROUNDING = 1e-6


def given_frequencies(values: Any, classes: NDArray[Any], *, one_applies: bool) -> Array:
    """Return frequencies (K,) in [0, 1]; they add up to 1 where exactly one class applies."""
    frequencies = check_array("label_frequencies", values, "label")
    if len(frequencies) != len(classes):
        raise InputError(
            f"label_frequencies has {len(frequencies)} entries, but there are {len(classes)}"
            " labels; give one for each"
        )
    beyond = np.flatnonzero((frequencies < 0) | (frequencies > 1))
    if beyond.size:
        at = int(beyond[0])
        raise InputError(
            f"label_frequencies must lie in [0, 1], got {frequencies[at]:g} for label"
            f" {classes[at]}; give the share of rows to which it applies"
        )
    if one_applies and abs(frequencies.sum() - 1) > _ROUNDING:
        raise InputError(
            f"label_frequencies add up to {frequencies.sum():g}, but y says that exactly one class"
            " of a row applies; give shares that add up to 1"
        )
    return frequencies
