"""Criteria of multi-label learning, one by one and all together.

Labels are 0/1, and ``true_labels`` has those that apply. Scores are finite and higher for labels
that are more likely to apply. All functions raise an AnnotationError if labels are not 0/1, and
an InputError if shapes differ or a score is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from complabel._parameters import Array, Bools, Indicator, Ints, check_array
from complabel.answers import IndicatorLike, check_indicator
from complabel.errors import InputError

_CELLS_PER_CHUNK = 2**18  # 2 MiB of float64, so that temporary arrays fit into a processor's cache


@dataclass(frozen=True)
class RankedRows:
    """Labels of rows from the highest score to the lowest; all arrays are (n_rows, n_labels)."""

    relevant: Bools
    """Whether the label at this position is relevant."""
    rank: Ints
    """Number of labels that rank at or above this one; tied labels share the worst rank."""
    relevant_rank: Ints
    """Number of relevant labels among these."""
    n_labels: Ints
    """Number of labels of each row that are known, (n_rows,); the others come last."""

    @property
    def n_relevant(self) -> Ints:
        return self.relevant_rank[:, -1]


RowCriterion: TypeAlias = Callable[[RankedRows], Array]


def ranking_loss_of_rows(ranked: RankedRows) -> Array:
    """Return the share of (relevant, irrelevant) pairs ranked wrongly; 0 without pairs.

    The mean over rows is scikit-learn's ``label_ranking_loss``: a tied pair is wrong.
    """
    irrelevant_above = ranked.rank - ranked.relevant_rank
    wrong = np.where(ranked.relevant, irrelevant_above, 0).sum(axis=1)
    n_pairs = ranked.n_relevant * (ranked.n_labels - ranked.n_relevant)
    return np.asarray(wrong / np.maximum(n_pairs, 1))


def one_error_of_rows(ranked: RankedRows) -> Array:
    """Return the share of the labels tied at the top that are not relevant.

    It is the expected error if one of them is taken at random; scikit-learn has no such criterion.
    """
    return np.asarray(1 - ranked.relevant_rank[:, 0] / ranked.rank[:, 0])


def coverage_of_rows(ranked: RankedRows) -> Array:
    """Return (rank of the last relevant label - 1) / number of labels; -1 / K if none is relevant.

    The mean over rows is ``(coverage_error - 1) / K`` with scikit-learn's ``coverage_error``.
    """
    depth = np.where(ranked.relevant, ranked.rank, 0).max(axis=1)
    return np.asarray((depth - 1) / ranked.n_labels)


def average_precision_of_rows(ranked: RankedRows) -> Array:
    """Return the mean precision at each relevant label; 1 if no label is relevant."""
    precision = np.where(ranked.relevant, ranked.relevant_rank / ranked.rank, 0.0).sum(axis=1)
    n_relevant = ranked.n_relevant
    return np.where(n_relevant == 0, 1.0, precision / np.maximum(n_relevant, 1))


def by_row(
    criteria: Sequence[RowCriterion], relevant: Indicator, scores: Array, known: Bools | None = None
) -> Array:
    """Return criteria of each row, (n_criteria, n_samples); every row is ranked only once.

    A label that is not ``known`` must not be relevant, and each row needs one that is known.
    """
    n_labels = np.full(len(scores), relevant.shape[1])
    if known is not None:
        scores = np.where(known, scores, -np.inf)  # so the others come last
        n_labels = np.count_nonzero(known, axis=1)
    n_rows = max(1, _CELLS_PER_CHUNK // relevant.shape[1])  # chunks limit the memory
    parts = [slice(start, start + n_rows) for start in range(0, len(scores), n_rows)]
    chunks = (_rank(relevant[rows], scores[rows], n_labels[rows]) for rows in parts)
    values = np.hstack([[criterion(ranked) for criterion in criteria] for ranked in chunks])
    return values.reshape(len(criteria), len(scores))


def _rank(relevant: Indicator, scores: Array, n_labels: Ints) -> RankedRows:
    """Sort each row by descending score; tied labels share the last rank of their tie."""
    width = relevant.shape[1]
    order = np.argsort(-scores, axis=1, kind="stable")
    sorted_relevant = np.take_along_axis(relevant, order, axis=1).astype(bool)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    closes_tie = np.ones(scores.shape, dtype=bool)
    np.not_equal(sorted_scores[:, :-1], sorted_scores[:, 1:], out=closes_tie[:, :-1])
    rank = np.where(closes_tie, np.arange(1, width + 1), width)
    rank = np.minimum.accumulate(rank[:, ::-1], axis=1)[:, ::-1]
    relevant_rank = np.cumsum(sorted_relevant, axis=1, dtype=np.intp)
    relevant_rank = np.take_along_axis(relevant_rank, rank - 1, axis=1)
    return RankedRows(sorted_relevant, rank, relevant_rank, n_labels)


def check_scores(scores: ArrayLike, labels: Indicator, *, names: tuple[str, str]) -> Array:
    """Return finite scores (n, K) with the shape of checked labels."""
    checked = check_array(names[1], scores, "row", "label")
    check_same_shape(labels, checked, names=names)
    return checked


def check_same_shape(
    labels: Indicator, other: NDArray[np.generic], *, names: tuple[str, str]
) -> None:
    if labels.shape != other.shape:
        raise InputError(
            f"{names[0]} has shape {labels.shape} but {names[1]} {other.shape}; both need one "
            "row per sample and one column per label"
        )


Measure = Callable[..., float]
"""Computes a criterion from true labels, scores and predicted labels, each of shape (n, K).

If only some true labels are known, a mask of these, of the same shape, is a fourth argument.
"""


def _share_wrong(relevant: Indicator, labels: Indicator, known: Bools | None = None) -> float:
    wrong = relevant != labels
    return float(np.mean(wrong if known is None else wrong[known]))


def average_precision(true_labels: IndicatorLike, scores: ArrayLike) -> float:
    """Return the mean precision at the rank of each relevant label; higher is better.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
    scores : array-like of shape (n_samples, K)

    Returns
    -------
    float
        Mean over rows, between 0 and 1; equals scikit-learn's
        ``label_ranking_average_precision_score``. Tied labels all get the worst of their ranks;
        a row without relevant labels counts as 1.

    Raises
    ------
    AnnotationError, InputError
        If ``true_labels`` is not 0/1, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> average_precision([[1, 0, 0, 1]], [[0.9, 0.7, 0.1, 0.8]])
    1.0
    """
    relevant = check_indicator(true_labels, name="true_labels")
    checked = check_scores(scores, relevant, names=("true_labels", "scores"))
    return float(by_row((average_precision_of_rows,), relevant, checked).mean())


def threshold_minmax(scores: ArrayLike) -> Indicator:
    """Predict the labels above the middle of the range of each row's scores, (n, K); uint8.

    A row of equal scores has no range: its labels are predicted if the score is above 0.5.

    >>> threshold_minmax([[0.1, 0.15, 0.3], [0.6, 0.6, 0.6]])
    array([[0, 0, 1],
           [1, 1, 1]], dtype=uint8)
    """
    checked = check_array("scores", scores, "row", "label")
    lowest = checked.min(axis=1, keepdims=True)
    spread = checked.max(axis=1, keepdims=True) - lowest
    flat = spread == 0
    rescaled = (checked - np.where(flat, 0.0, lowest)) / np.where(flat, 1.0, spread)
    return (rescaled > 0.5).astype(np.uint8)


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A criterion with its key in results and its title in tables.

    Give either ``measure``, which takes true labels, scores and predicted labels of shape (n, K),
    with a mask of the known labels as a fourth argument if not all are, and returns a float; or
    ``of_rows``, which takes the ranked labels of rows and returns a value for each row. The latter
    share one sorting.
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
        measure=lambda true, _scores, predicted, *known: _share_wrong(true, predicted, *known),
    ),
    Criterion(
        name="hamming_loss_minmax",
        title="Hamming loss (min-max)",
        measure=lambda true, scores, _predicted, *known: _share_wrong(
            true, threshold_minmax(scores), *known
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

METRICS: Final[Mapping[str, Criterion]] = MappingProxyType({each.name: each for each in CRITERIA})
"""The same by name."""


def evaluate(
    true_labels: IndicatorLike,
    scores: ArrayLike,
    predicted: IndicatorLike,
    *,
    criteria: Sequence[Criterion] = CRITERIA,
    skip_trivial_rows: bool = False,
    known: IndicatorLike | None = None,
) -> dict[str, float]:
    """Return all criteria by name; each row is sorted only once.

    Parameters
    ----------
    true_labels, predicted : array-like or sparse matrix of shape (n_samples, K)
    scores : array-like of shape (n_samples, K)
    criteria : sequence of Criterion, default=CRITERIA
    skip_trivial_rows : bool, default=False
        Leave rows with none or all labels relevant out of the ranking criteria (those with
        ``of_rows``). By default they count by scikit-learn's conventions, which are the same for
        every method. All other criteria count all rows.
    known : array-like or sparse matrix of shape (n_samples, K), or None, default=None
        1 where the true label is known. Elsewhere ``true_labels`` may hold anything, also NaN. The
        criteria are then those of the known labels of each row: a row is ranked if one of them is
        relevant and one is not, whatever ``skip_trivial_rows`` says. By default all are known.

    Returns
    -------
    dict of str to float
        In the order of ``criteria``. ``"hamming_loss"`` is computed from ``predicted``, and
        ``"hamming_loss_minmax"`` from labels above the middle of the range of the row's scores.

    Raises
    ------
    AnnotationError, InputError
        Also if there is a ranking criterion and no row is left for it.

    Examples
    --------
    >>> values = evaluate([[1, 0, 0]], [[0.4, 0.3, 0.1]], [[0, 0, 0]])
    >>> values["hamming_loss_minmax"], values["average_precision"]
    (0.3333333333333333, 1.0)

    Nobody knows whether the second label applies:

    >>> scores, known = [[0.4, 0.9, 0.1]], [[1, 0, 1]]
    >>> evaluate([[1, float("nan"), 0]], scores, [[1, 1, 0]], known=known)["one_error"]
    0.0
    """
    relevant, labels, is_known = _checked_labels(true_labels, predicted, known)
    checked = check_scores(scores, relevant, names=("true_labels", "scores"))
    ranked = {item.name: item.of_rows for item in criteria if item.of_rows is not None}
    to_skip = bool(ranked) and (skip_trivial_rows or is_known is not None)
    rows = _rows_to_rank(relevant, is_known) if to_skip else slice(None)
    known_rows = None if is_known is None else is_known[rows]
    means = by_row(tuple(ranked.values()), relevant[rows], checked[rows], known_rows).mean(axis=1)
    values = dict(zip(ranked, means.tolist(), strict=True))
    mask = () if is_known is None else (is_known,)
    values |= {
        item.name: item.measure(relevant, checked, labels, *mask)
        for item in criteria
        if item.measure is not None
    }
    return {item.name: values[item.name] for item in criteria}


def _rows_to_rank(relevant: Indicator, known: Bools | None) -> Bools:
    """Mark the rows with some but not all labels relevant; refuse input without such rows."""
    n_relevant = relevant.sum(axis=1, dtype=np.intp)
    n_known = relevant.shape[1] if known is None else np.count_nonzero(known, axis=1)
    some: Bools = (n_relevant > 0) & (n_relevant < n_known)
    if not some.any():
        word = "" if known is None else "known "
        raise InputError(
            f"true_labels has no row with some but not all {word}labels relevant (of {len(some)}"
            " rows), so there is nothing to rank; evaluate more rows, or give only criteria without"
            " a ranking"
        )
    return some


def evaluate_labels(
    true_labels: IndicatorLike,
    scores: ArrayLike,
    predicted: IndicatorLike,
    *,
    known: IndicatorLike | None = None,
) -> list[dict[str, float | None]]:
    """Measure the predictions of each label, over all items, or those for which it is known.

    Parameters
    ----------
    true_labels, predicted : array-like or sparse matrix of shape (n_samples, K)
    scores : array-like of shape (n_samples, K)
    known : array-like or sparse matrix of shape (n_samples, K), or None, default=None
        1 where the true label is known. Elsewhere ``true_labels`` may hold anything, also NaN.
        By default all are known.

    Returns
    -------
    list of dict, of length K
        ``"applies"`` and ``"predicted"``: the shares of items to which the label applies, and for
        which it is predicted. ``"precision"``, ``"recall"`` and ``"f1"`` of the predictions.
        ``"average_precision"`` of the items ranked by score. None if a value is not defined,
        because the label is never predicted or never relevant. With ``known``, all are figures of
        the known items alone, and ``"known"``, the number of these, comes first: precision rests
        on ``known * predicted`` items, recall and average precision on ``known * applies``.

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

    relevant, labels, is_known = _checked_labels(true_labels, predicted, known)
    checked = check_scores(scores, relevant, names=("true_labels", "scores"))
    figures = []
    for label in range(relevant.shape[1]):
        rows = slice(None) if is_known is None else is_known[:, label]
        score = checked[rows, label]
        true, chosen = (each[rows, label].astype(np.bool_) for each in (relevant, labels))
        right = int(np.count_nonzero(true & chosen))
        n_true, n_chosen = int(np.count_nonzero(true)), int(np.count_nonzero(chosen))
        count: dict[str, float | None] = {} if is_known is None else {"known": len(true)}
        area = float(average_precision_score(true, score)) if n_true else None
        figures.append(
            {
                **count,
                "applies": n_true / len(true) if len(true) else None,
                "predicted": n_chosen / len(true) if len(true) else None,
                "precision": right / n_chosen if n_chosen else None,
                "recall": right / n_true if n_true else None,
                "f1": 2 * right / (n_true + n_chosen) if n_true + n_chosen else None,
                "average_precision": area,
            }
        )
    return figures


def _checked_labels(
    true_labels: IndicatorLike, predicted: IndicatorLike, known: IndicatorLike | None = None
) -> tuple[Indicator, Indicator, Bools | None]:
    """Return true labels, 0 where they are not known, predicted ones, and a mask of the known."""
    is_known = None
    if known is not None:
        is_known = check_indicator(known, name="known").astype(np.bool_)
        if not is_known.any():
            raise InputError("known marks no true label, so there is nothing to measure")
        truth: Any = true_labels
        is_sparse: bool = sparse.issparse(true_labels)
        truth = truth.toarray() if is_sparse else np.asarray(truth)
        check_same_shape(truth, is_known, names=("true_labels", "known"))
        true_labels = np.where(is_known, truth, 0)
    relevant = check_indicator(true_labels, name="true_labels")
    labels = check_indicator(predicted, name="predicted")
    check_same_shape(relevant, labels, names=("true_labels", "predicted"))
    return relevant, labels, is_known
