"""All criteria at once."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from numpy.typing import ArrayLike

from complabel.annotations import IndicatorLike, check_indicator
from complabel.metrics._criteria import hamming_loss
from complabel.metrics._inputs import check_same_shape, check_scores
from complabel.metrics._ranked import mean_over_rows
from complabel.metrics._rows import (
    average_precision_of_rows,
    coverage_of_rows,
    one_error_of_rows,
    ranking_loss_of_rows,
)
from complabel.metrics._thresholds import threshold_minmax

_RANKING = {
    "ranking_loss": ranking_loss_of_rows,
    "one_error": one_error_of_rows,
    "coverage": coverage_of_rows,
    "average_precision": average_precision_of_rows,
}

METRIC_NAMES: Final = ("hamming_loss", "hamming_loss_minmax", *_RANKING)
"""The names of all criteria, in the order in which tables show them."""

METRIC_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "hamming_loss": "Hamming loss",
        "hamming_loss_minmax": "Hamming loss (min-max)",
        "ranking_loss": "Ranking loss",
        "one_error": "One-error",
        "coverage": "Coverage",
        "average_precision": "Average precision",
    }
)
"""What tables call each criterion, in the same order."""

HIGHER_IS_BETTER: Final = frozenset({"average_precision"})
"""The criteria of which more is better; of all others less is."""


def evaluate(Y: IndicatorLike, scores: ArrayLike, predictions: IndicatorLike) -> dict[str, float]:
    """Return all criteria by name, for a fraction of the time of one call each.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels, 0/1.
    scores : array_like of shape (n_samples, n_labels)
        Finite scores, higher for labels more likely relevant.
    predictions : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0/1.

    Returns
    -------
    dict of str to float
        One entry for each of `METRIC_NAMES`, in their order. "hamming_loss" is that of
        `predictions`, "hamming_loss_minmax" that of ``threshold_minmax(scores)``; the others
        follow scikit-learn's conventions.

    Raises
    ------
    AnnotationError
        If `Y` or `predictions` is not 2-D or not 0/1.
    InputError
        If the shapes differ or a score is not finite.

    Examples
    --------
    >>> criteria = evaluate([[1, 0, 0]], [[0.4, 0.3, 0.1]], [[0, 0, 0]])
    >>> criteria["hamming_loss_minmax"], criteria["average_precision"]
    (0.3333333333333333, 1.0)
    """
    relevant = check_indicator(Y, name="Y")
    checked = check_scores(scores)
    check_same_shape(relevant, checked, names=("Y", "scores"))
    rankings = mean_over_rows(tuple(_RANKING.values()), relevant, checked, convention="sklearn")
    values = (
        hamming_loss(relevant, predictions),
        hamming_loss(relevant, threshold_minmax(checked)),
        *rankings,
    )
    return dict(zip(METRIC_NAMES, values, strict=True))
