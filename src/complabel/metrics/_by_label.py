"""Criteria for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from complabel.answers import check_indicator
from complabel.metrics._inputs import check_same_shape, check_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.answers import IndicatorLike


def evaluate_labels(
    true_labels: IndicatorLike, scores: ArrayLike, predicted: IndicatorLike
) -> list[dict[str, float | None]]:
    """Measure the predictions of each label, over all items.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
        Relevant labels, 0/1.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.
    predicted : array-like or sparse matrix of shape (n_samples, K)
        Predicted labels, 0/1.

    Returns
    -------
    list of dict, of length K
        ``"applies"`` and ``"predicted"``: the shares of items to which the label applies, and for
        which it is predicted. ``"precision"``, ``"recall"`` and ``"f1"`` of the predictions.
        ``"average_precision"`` of the items ranked by score. None if a value is not defined,
        because the label is never predicted or never relevant.

    Raises
    ------
    AnnotationError, InputError
        If labels are not 0/1, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> true, scores = [[1, 0], [0, 0]], [[0.9, 0.2], [0.6, 0.1]]
    >>> first, second = evaluate_labels(true, scores, [[1, 0], [1, 0]])
    >>> first["precision"], first["recall"], first["average_precision"]
    (0.5, 1.0, 1.0)
    >>> print(second["precision"], second["recall"])
    None None
    """
    from sklearn.metrics import average_precision_score

    relevant = check_indicator(true_labels, name="true_labels")
    labels = check_indicator(predicted, name="predicted")
    checked = check_scores(scores, relevant, names=("true_labels", "scores"))
    check_same_shape(relevant, labels, names=("true_labels", "predicted"))
    found = []
    for true, score, chosen in zip(
        relevant.T.astype(np.bool_), checked.T, labels.T.astype(np.bool_), strict=True
    ):
        right = int(np.count_nonzero(true & chosen))
        precision, recall = _share(right, chosen), _share(right, true)
        both = int(np.count_nonzero(true)) + int(np.count_nonzero(chosen))
        found.append(
            {
                "applies": float(true.mean()),
                "predicted": float(chosen.mean()),
                "precision": precision,
                "recall": recall,
                "f1": 2 * right / both if both else None,
                "average_precision": float(average_precision_score(true, score))
                if true.any()
                else None,
            }
        )
    return found


def _share(count: int, of: NDArray[np.bool_]) -> float | None:
    """Return a count as a share of the marked items; None if none is marked."""
    total = int(np.count_nonzero(of))
    return count / total if total else None
