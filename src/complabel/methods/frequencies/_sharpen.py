"""Fewer questions by predictions: what a model says of all items makes few judgements count more.

Angelopoulos et al., Prediction-powered inference, Science 2023; with the regression of PPI++.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from complabel.methods._arrays import Array
    from complabel.methods.frequencies._counts import Audit

# Judgements that what all labels have in common counts as much as, for each label.
_SHARED = 10.0


def sharpened(audit: Audit, predictions: Array) -> tuple[Array, Array]:
    """Return effective numbers of "yes" and of judgements (K,), in the light of predictions.

    The frequency of label k is lambda * mean of p_k over all items + mean over its judgements of
    (answer - lambda * p_k), with lambda the regression of answers on predictions. Each judgement's
    lambda comes from the others, so that the variance is that of the terms; lambda and the ratio of
    variances are drawn to those of all labels together where there are few judgements.
    """
    yes, judged = audit.counts()
    pooled = audit.pooled
    label, weight = audit.label, audit.weight
    base = (yes + 2 * pooled) / (judged + 2)
    x = (predictions - predictions.mean(axis=0))[audit.item, label]
    y = audit.applies - base[label]
    variance = predictions.var(axis=0)
    xy, xx = weight * x * y, weight * x * x
    shared_slope = xy.sum() / (xx.sum() + variance.mean() * _SHARED + 1e-12)
    above = audit.sum(xy) + _SHARED * shared_slope * variance
    below = audit.sum(xx) + _SHARED * variance
    slope = np.clip((above[label] - xy) / np.maximum(below[label] - xx, 1e-12), 0, None)
    terms = audit.applies - slope * x
    count = np.maximum(judged, 1e-12)
    mean = audit.sum(weight * terms) / count
    plain = audit.sum(weight * y**2)
    left = audit.sum(weight * (y - slope * x) ** 2)
    of_all = min(1.0, left.sum() / max(plain.sum(), 1e-12))
    usual = base * (1 - base)
    ratio = (left + _SHARED * of_all * usual) / (plain + _SHARED * usual)
    better = (ratio < 1) & (judged > 0)
    effective = np.where(better, judged / np.maximum(ratio, 1e-3), judged)
    share = np.where(better, np.clip(mean, 0, 1), yes / count)
    return share * effective, effective
