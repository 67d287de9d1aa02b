"""All criteria together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from complabel.answers import check_indicator
from complabel.errors import InputError
from complabel.metrics._criteria import hamming_loss
from complabel.metrics._inputs import check_same_shape, check_scores
from complabel.metrics._ranked import (
    RowCriterion,
    average_precision_of_rows,
    by_row,
    coverage_of_rows,
    one_error_of_rows,
    ranking_loss_of_rows,
)
from complabel.metrics._thresholds import threshold_minmax

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.answers import IndicatorLike

Measure = Callable[["NDArray[np.uint8]", "NDArray[np.float64]", "NDArray[np.uint8]"], float]
"""Computes a criterion from true labels, scores and predicted labels, each of shape (n, K)."""


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A criterion with its name and its title; give either ``measure`` or ``of_rows``.

    Parameters
    ----------
    name, title : str
        Its key in results, and its title in tables.
    higher_is_better : bool, default=False
    measure : callable or None, default=None
        Takes true labels, scores and predicted labels, all of shape (n, K); returns a float.
    of_rows : callable or None, default=None
        Takes the ranked labels of rows; returns a value for each row. These criteria share one
        sorting.
    """

    name: str
    title: str
    higher_is_better: bool = False
    measure: Measure | None = None
    of_rows: RowCriterion | None = None


CRITERIA: Final = (
    Criterion(
        name="hamming_loss",
        title="Hamming loss",
        measure=lambda true_labels, _scores, predicted: hamming_loss(true_labels, predicted),
    ),
    Criterion(
        name="hamming_loss_minmax",
        title="Hamming loss (min-max)",
        measure=lambda true_labels, scores, _predicted: hamming_loss(
            true_labels, threshold_minmax(scores)
        ),
    ),
    Criterion(name="ranking_loss", title="Ranking loss", of_rows=ranking_loss_of_rows),
    Criterion(name="one_error", title="One-error", of_rows=one_error_of_rows),
    Criterion(name="coverage", title="Coverage", of_rows=coverage_of_rows),
    Criterion(
        name="average_precision",
        title="Average precision",
        higher_is_better=True,
        of_rows=average_precision_of_rows,
    ),
)
"""All criteria, in the order of tables."""

METRIC_NAMES: Final = tuple(criterion.name for criterion in CRITERIA)
"""The names of all criteria, in the same order."""

METRIC_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {criterion.name: criterion.title for criterion in CRITERIA}
)
"""The titles of all criteria in tables, in the same order."""

HIGHER_IS_BETTER: Final = frozenset(
    criterion.name for criterion in CRITERIA if criterion.higher_is_better
)
"""The names of the criteria for which higher is better; for all others, lower is better."""


def evaluate(
    true_labels: IndicatorLike,
    scores: ArrayLike,
    predicted: IndicatorLike,
    *,
    criteria: Sequence[Criterion] = CRITERIA,
    skip_trivial_rows: bool = False,
) -> dict[str, float]:
    """Return all criteria by name, faster than with a separate call of each.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
        Relevant labels, 0/1.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.
    predicted : array-like or sparse matrix of shape (n_samples, K)
        Predicted labels, 0/1.
    criteria : sequence of Criterion, default=CRITERIA
    skip_trivial_rows : bool, default=False
        Leave rows with none or all labels relevant out of the ranking criteria (those with
        ``of_rows``), because there is nothing to rank. By default they count by scikit-learn's
        conventions, which are the same for every method. All other criteria count all rows.

    Returns
    -------
    dict of str to float
        One entry for each criterion, in their order. ``"hamming_loss"`` is computed from
        ``predicted``, and ``"hamming_loss_minmax"`` from ``threshold_minmax(scores)``. The others
        follow scikit-learn's conventions.

    Raises
    ------
    AnnotationError, InputError
        If labels are not 0/1, the shapes differ, a score is not finite, or there is a ranking
        criterion and no row is left for it.

    Examples
    --------
    >>> values = evaluate([[1, 0, 0]], [[0.4, 0.3, 0.1]], [[0, 0, 0]])
    >>> values["hamming_loss_minmax"], values["average_precision"]
    (0.3333333333333333, 1.0)
    >>> labels, scores = [[1, 0, 0], [0, 0, 0]], [[0.4, 0.3, 0.1], [0.2, 0.1, 0.6]]
    >>> evaluate(labels, scores, labels)["one_error"]
    0.5
    >>> evaluate(labels, scores, labels, skip_trivial_rows=True)["one_error"]
    0.0
    """
    relevant = check_indicator(true_labels, name="true_labels")
    labels = check_indicator(predicted, name="predicted")
    checked = check_scores(scores, relevant, names=("true_labels", "scores"))
    check_same_shape(relevant, labels, names=("true_labels", "predicted"))
    ranked = {item.name: item.of_rows for item in criteria if item.of_rows is not None}
    rows = _rows_to_rank(relevant) if skip_trivial_rows and ranked else slice(None)
    means = by_row(tuple(ranked.values()), relevant[rows], checked[rows]).mean(axis=1)
    values = dict(zip(ranked, means.tolist(), strict=True))
    values |= {
        item.name: item.measure(relevant, checked, labels)
        for item in criteria
        if item.measure is not None
    }
    return {item.name: values[item.name] for item in criteria}


def _rows_to_rank(relevant: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Mark the rows with some but not all labels relevant; refuse input without such rows."""
    n_relevant = relevant.sum(axis=1, dtype=np.intp)
    some: NDArray[np.bool_] = (n_relevant > 0) & (n_relevant < relevant.shape[1])
    if not some.any():
        raise InputError(
            f"true_labels has no row with some but not all labels relevant (of {len(some)} rows),"
            " so there is nothing to rank; evaluate more rows, or give only criteria without a"
            " ranking"
        )
    return some
