"""The rate at which labels that do not apply are excluded, given how often labels apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.frequencies._counts import Array

# Rates are kept away from 0 and 1: no sample proves that a label is never or always excluded.
_RATES = (1e-3, 1 - 1e-3)


def rates_of_exclusion(answers: Answers, frequencies: Array) -> Array | None:
    """Estimate how often each label is excluded where it does not apply.

    Label k is excluded for the share e_k (1 - pi_k) of the items that were looked at. The function
    solves this for e_k.

    Parameters
    ----------
    answers : Answers
        Only exclusions are used.
    frequencies : ndarray of shape (K,), dtype float64
        pi, the share of items to which each label applies.

    Returns
    -------
    ndarray of shape (K,), dtype float64, or None
        The rates e, kept in [0.001, 0.999]; None if no answer is an exclusion.
    """
    rules = answers.question == "excluded"
    if not rules.any():
        return None
    listed = answers.offered[rules]
    everything = int((np.diff(listed.indptr) == 0).sum())
    looked_at = np.asarray(listed.sum(axis=0), dtype=np.float64) + everything
    excluded = np.asarray(answers.excluded[rules].sum(axis=0), dtype=np.float64)
    return np.asarray(np.clip(excluded / np.maximum(looked_at, 1) / (1 - frequencies), *_RATES))
