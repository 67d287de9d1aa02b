"""How often labels that do not apply are excluded, where it is known how often they apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from complabel.annotations import Answers
    from complabel.frequencies._counts import Array

# No sample can exclude rates beyond.
_RATES = (1e-3, 1 - 1e-3)


def rates_of_exclusion(answers: Answers, frequencies: Array) -> Array | None:
    """Return e_k (K,) for label frequencies pi (K,); None if no answer is an exclusion.

    The share of the items looked at for which a label is excluded is e_k (1 - pi_k).
    """
    rules = answers.question == "excluded"
    if not rules.any():
        return None
    listed = answers.offered[rules]
    everything = int((np.diff(listed.indptr) == 0).sum())
    looked_at = np.asarray(listed.sum(axis=0), dtype=np.float64) + everything
    excluded = np.asarray(answers.excluded[rules].sum(axis=0), dtype=np.float64)
    return np.asarray(np.clip(excluded / np.maximum(looked_at, 1) / (1 - frequencies), *_RATES))
