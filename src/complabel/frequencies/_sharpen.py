"""Prediction-powered counts: a model's predictions for all items make few judgements count more.

Angelopoulos et al., "Prediction-powered inference", Science 2023, with the regression of
Angelopoulos et al., "PPI++", 2023.
"""

from __future__ import annotations

import numpy as np

from complabel.frequencies._counts import Array, Audit, Counts

# For each label, the estimate over all labels together counts as much as 10 judgements.
_SHARED = 10.0
_TINY = 1e-12  # avoids a division by 0


def sharpened(audit: Audit, predictions: Array, counts: Counts) -> Counts:
    """Return the counts of the audit for one group, increased by what predictions (n, K) explain.

    The estimate of a frequency is the mean of lambda p over all items plus the mean of
    (answer - lambda p) over judgements, with the regression coefficient lambda of answers on
    predictions p. It divides the variance by some number: judgements count that many times. If
    people err, this is the frequency of "yes" instead; it is corrected later.
    """
    counts = counts.merged()
    yes, n_judged = counts.yes[0], counts.judged[0]
    base = (yes + 2 * audit.pooled) / (n_judged + 2)
    x = (predictions - predictions.mean(axis=0))[audit.item, audit.label]
    y = audit.applies - base[audit.label]
    slope = _slopes(audit, x, y, predictions.var(axis=0))
    judged = np.maximum(n_judged, _TINY)
    share = audit.sum(audit.weight * (audit.applies - slope * x)) / judged
    ratio = _ratio_of_variances(audit, y, slope * x, base * (1 - base))
    # The mean over all items is the mean of a sample, so it adds to the variance.
    used = audit.sum(audit.weight * slope) / judged
    of_means = used**2 * predictions.var(axis=0) / len(predictions)
    ratio = ratio + of_means * judged / (base * (1 - base))
    better = (ratio < 1) & (n_judged > 0)
    effective = np.where(better, n_judged / np.maximum(ratio, _TINY), n_judged)
    yes = np.where(better, np.clip(share, 0, 1) * effective, yes)
    return Counts.of_one_group(yes, effective, counts.missed[0], counts.invented[0])


def _slopes(audit: Audit, x: Array, y: Array, variance: Array) -> Array:
    """Return lambda (J,) computed without each judgement, so that the estimate is unbiased."""
    # With few judgements, the lambda of a label is shrunk towards that of all labels, and this one
    # towards 0.
    xy, xx = audit.weight * x * y, audit.weight * x * x
    common = xy.sum() / (xx.sum() + _SHARED * variance.mean() + _TINY)
    above = (audit.sum(xy) + _SHARED * variance * common)[audit.label] - xy
    below = (audit.sum(xx) + _SHARED * variance)[audit.label] - xx
    return np.asarray(np.maximum(above / np.maximum(below, _TINY), 0.0))


def _ratio_of_variances(audit: Audit, y: Array, predicted: Array, usual: Array) -> Array:
    """Return the share (K,) of the variance that predictions leave, shrunk towards the mean."""
    whole, left = audit.weight * y**2, audit.weight * (y - predicted) ** 2
    common = min(1.0, float((left.sum() + _SHARED * usual.mean()) / (whole.sum() + _TINY)))
    return np.asarray(
        (audit.sum(left) + _SHARED * common * usual) / (audit.sum(whole) + _SHARED * usual)
    )
