"""The five criteria by which multi-label classifiers are compared."""

import numpy as np
from numpy.typing import ArrayLike

from complabel.answers import IndicatorLike, check_indicator
from complabel.errors import InputError
from complabel.metrics._inputs import check_same_shape, check_scores
from complabel.metrics._ranked import (
    RowCriterion,
    average_precision_of_rows,
    by_row,
    coverage_of_rows,
    one_error_of_rows,
    ranking_loss_of_rows,
)


def hamming_loss(true_labels: IndicatorLike, predicted: IndicatorLike) -> float:
    """Return the share of labels predicted wrongly; lower is better.

    Parameters
    ----------
    true_labels, predicted : array-like or sparse matrix of shape (n_samples, K)
        Relevant and predicted labels, 0/1.

    Returns
    -------
    float
        Between 0 and 1; equals scikit-learn's ``hamming_loss``.

    Raises
    ------
    AnnotationError
        If a matrix is not 2-D or not 0/1.
    InputError
        If the shapes differ or there are no rows.

    Examples
    --------
    >>> hamming_loss([[1, 0, 0, 1]], [[1, 1, 0, 1]])
    0.25
    """
    relevant = check_indicator(true_labels, name="true_labels")
    labels = check_indicator(predicted, name="predicted")
    check_same_shape(relevant, labels, names=("true_labels", "predicted"))
    if relevant.size == 0:
        raise InputError(
            f"true_labels has shape {relevant.shape}; give at least one row and one label"
        )
    return float(np.mean(relevant != labels))


def ranking_loss(true_labels: IndicatorLike, scores: ArrayLike) -> float:
    """Return the share of (relevant, irrelevant) pairs ranked wrongly; lower is better.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
        Relevant labels, 0/1.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.

    Returns
    -------
    float
        Mean over rows, between 0 and 1; equals scikit-learn's ``label_ranking_loss``. A tied pair
        is wrong; a row without any pair counts as 0.

    Raises
    ------
    AnnotationError, InputError
        If ``true_labels`` is not 0/1, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.7, 0.1]])
    0.5
    """
    return _mean_of(ranking_loss_of_rows, true_labels, scores)


def one_error(true_labels: IndicatorLike, scores: ArrayLike) -> float:
    """Return how often the top-ranked label is not relevant; lower is better.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
        Relevant labels, 0/1.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.

    Returns
    -------
    float
        Mean over rows, between 0 and 1; scikit-learn has no such criterion. If labels tie at the
        top, one of them is taken at random and the expected error counts. A row without relevant
        labels counts as 1.

    Raises
    ------
    AnnotationError, InputError
        If ``true_labels`` is not 0/1, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> one_error([[1, 0, 0]], [[0.7, 0.7, 0.1]])
    0.5
    """
    return _mean_of(one_error_of_rows, true_labels, scores)


def coverage(true_labels: IndicatorLike, scores: ArrayLike) -> float:
    """Return how deep in the ranking the last relevant label is; lower is better.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
        Relevant labels, 0/1.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.

    Returns
    -------
    float
        Mean over rows of (rank of the last relevant label - 1) / K; equals
        ``(coverage_error - 1) / K`` with scikit-learn's ``coverage_error``. Tied labels all get
        the worst of their ranks; a row without relevant labels counts as -1 / K.

    Raises
    ------
    AnnotationError, InputError
        If ``true_labels`` is not 0/1, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> coverage([[1, 0, 0, 1]], [[0.9, 0.7, 0.1, 0.5]])
    0.5
    """
    return _mean_of(coverage_of_rows, true_labels, scores)


def average_precision(true_labels: IndicatorLike, scores: ArrayLike) -> float:
    """Return the mean precision at the rank of each relevant label; higher is better.

    Parameters
    ----------
    true_labels : array-like or sparse matrix of shape (n_samples, K)
        Relevant labels, 0/1.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.

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
    return _mean_of(average_precision_of_rows, true_labels, scores)


def _mean_of(criterion: RowCriterion, true_labels: IndicatorLike, scores: ArrayLike) -> float:
    """Check the input, and return the mean of one criterion over rows."""
    relevant = check_indicator(true_labels, name="true_labels")
    checked = check_scores(scores, relevant, names=("true_labels", "scores"))
    return float(by_row((criterion,), relevant, checked).mean())
