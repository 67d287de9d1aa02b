"""How good a model is, by true labels, of which some may be unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import AnyArray
from complabel.methods import ComplementaryClassifier
from complabel.metrics import CRITERIA, evaluate, evaluate_labels

OfLabel = Mapping[str, "float | None"]
"""The figures of a label by their names; None if a figure is not defined."""


@dataclass(frozen=True, eq=False)
class OnTruth:
    """Figures of a model on n items and K labels."""

    n_items: int
    complete: bool  # whether all true labels are known
    n_known: int  # pairs
    n_ranked: int  # items with a label that applies beside one that does not
    criteria: Mapping[str, float]
    counted: Mapping[str, tuple[int, int]]  # on how many items and known pairs a criterion rests
    labels: Mapping[str, OfLabel]
    pooled: OfLabel  # of all known pairs, as of one label, so that common labels count for more
    # Mean probabilities: of the known pairs, and of all pairs with the same labels.
    mean_known: float
    mean_of_all: float

    @property
    def mean_of_labels(self) -> dict[str, float | None]:
        """The mean of each figure over the labels that have it."""
        labels, means = list(self.labels.values()), {}
        for name in labels[0]:
            values = [value for each in labels if (value := each[name]) is not None]
            means[name] = sum(values) / len(values) if values else None
        return means

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "n_items": self.n_items,
            "n_known": self.n_known,
            "n_ranked": self.n_ranked,
            "criteria": dict(self.criteria),
            "pooled": self.pooled,
            "mean_of_labels": self.mean_of_labels,
            "labels": dict(self.labels),
        }


def evaluate_on_truth(
    model: ComplementaryClassifier, X: ArrayLike, true_labels: AnyArray, known: AnyArray
) -> OnTruth:
    """Measure a model on true labels (n, K); those that are not ``known`` may be anything."""
    known = np.asarray(known, dtype=np.bool_)
    true_labels = np.where(known, np.asarray(true_labels), 0)
    predicted, probabilities = model.predict_with_proba(X)
    arrays = (true_labels, probabilities, predicted)
    mask = None if known.all() else known
    n_known = np.count_nonzero(known, axis=1)
    n_relevant = np.count_nonzero(true_labels, axis=1)
    ranked = (n_relevant > 0) & (n_relevant < n_known)
    counted = {
        each.name: (int(rows.sum()), int(n_known[rows].sum()))
        for each in CRITERIA
        for rows in [(n_known > 0) if each.of_rows is None else ranked]
    }
    criteria = [each for each in CRITERIA if mask is None or counted[each.name][0]]
    (pooled,) = evaluate_labels(*(part[known][:, np.newaxis] for part in arrays))
    n_of_label = np.count_nonzero(known, axis=0)
    return OnTruth(
        n_items=len(known),
        complete=mask is None,
        n_known=int(n_known.sum()),
        n_ranked=int(ranked.sum()),
        criteria=evaluate(*arrays, criteria=criteria, skip_trivial_rows=True, known=mask),
        counted=counted,
        labels=dict(
            zip(map(str, model.classes_), evaluate_labels(*arrays, known=mask), strict=True)
        ),
        pooled=pooled if mask is None else {"known": int(n_known.sum()), **pooled},
        mean_known=float(probabilities[known].mean()),
        mean_of_all=float(n_of_label @ probabilities.mean(axis=0) / n_of_label.sum()),
    )
