"""How often labels apply: told to a row that declares it, or what a row's scores are matched to."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from complabel.methods import get_method, make_classifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset
    from complabel.methods import ComplementaryClassifier, Method
    from complabel.studies._rows import ExpandedRow

# By name, as a class of somebody's: its code belongs to the results of those who use it alone.
_MATCHED = "complabel.methods:FrequencyMatchedClassifier"


@functools.cache
def matching() -> Method:
    """Return the classifier that matches another one's scores to label frequencies."""
    return get_method(_MATCHED)


def matched_to(
    classifier: ComplementaryClassifier, frequencies: NDArray[np.float64] | str = "auto"
) -> ComplementaryClassifier:
    """Match a classifier's scores to label frequencies (K,), or to those that answers tell of."""
    return make_classifier(_MATCHED, classifier=classifier, label_frequencies=frequencies)


def with_frequencies(
    classifier: ComplementaryClassifier,
    row: ExpandedRow,
    dataset: MultiLabelDataset,
    train: NDArray[np.intp],
) -> ComplementaryClassifier:
    """Tell a classifier how often labels apply, or match it to that, as its row declares.

    The truth reaches it as K shares of the training part, and only where the row says so.
    """
    if not (row.label_frequencies or row.match_frequencies):
        return classifier
    told = true_frequencies(dataset, train) if row.label_frequencies else "auto"
    if row.match_frequencies:
        return matched_to(classifier, told)
    classifier.set_params(label_frequencies=told)
    return classifier


def true_frequencies(dataset: MultiLabelDataset, train: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of a training part to which each label applies, (K,)."""
    return np.asarray(dataset.Y[train].mean(axis=0, dtype=np.float64))


def declared(row: ExpandedRow) -> dict[str, str]:
    """Return what a row says of frequencies, as parameters beside those of its classifier."""
    if row.match_frequencies:
        return {"match_frequencies": row.label_frequencies or "auto"}
    return {"label_frequencies": row.label_frequencies} if row.label_frequencies else {}
