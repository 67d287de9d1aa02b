"""The five criteria by which multi-label classifiers are compared."""

import numpy as np
from numpy.typing import ArrayLike

from complabel.annotations import IndicatorLike, check_indicator
from complabel.errors import InputError
from complabel.metrics._inputs import check_same_shape, check_scores
from complabel.metrics._ranked import Convention, RowCriterion, mean_over_rows
from complabel.metrics._rows import (
    average_precision_of_rows,
    coverage_of_rows,
    one_error_of_rows,
    ranking_loss_of_rows,
)


def hamming_loss(Y: IndicatorLike, predictions: IndicatorLike) -> float:
    """Return the share of labels predicted wrongly; lower is better.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels, 0/1.
    predictions : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0/1.

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
    relevant = check_indicator(Y, name="Y")
    predicted = check_indicator(predictions, name="predictions")
    check_same_shape(relevant, predicted, names=("Y", "predictions"))
    if relevant.size == 0:
        raise InputError(f"Y has shape {relevant.shape}; give at least one row and one label")
    return float(np.mean(relevant != predicted))


def ranking_loss(
    Y: IndicatorLike, scores: ArrayLike, *, convention: Convention = "sklearn"
) -> float:
    """Return the share of (relevant, irrelevant) pairs ranked wrongly; lower is better.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels, 0/1.
    scores : array_like of shape (n_samples, n_labels)
        Finite scores, higher for labels more likely relevant.
    convention : {"sklearn", "paper"}, default "sklearn"
        "sklearn": a tied pair is wrong; a row without any pair counts as 0. "paper": of tied
        labels the first column ranks first; rows without relevant labels are skipped.

    Returns
    -------
    float
        Mean over rows, between 0 and 1; equals scikit-learn's ``label_ranking_loss``.

    Raises
    ------
    AnnotationError
        If `Y` is not 2-D or not 0/1.
    InputError
        If the shapes differ, a score is not finite, `convention` is unknown, or "paper" skips
        every row.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.7, 0.1]])
    0.5
    """
    return _mean_of(ranking_loss_of_rows, Y, scores, convention)


def one_error(Y: IndicatorLike, scores: ArrayLike, *, convention: Convention = "sklearn") -> float:
    """Return how often the top-ranked label is not relevant; lower is better.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels, 0/1.
    scores : array_like of shape (n_samples, n_labels)
        Finite scores, higher for labels more likely relevant.
    convention : {"sklearn", "paper"}, default "sklearn"
        "sklearn": of labels tied at the top one is taken at random, and the expected error
        counted; a row without relevant labels counts as 1. "paper": the first of them is
        taken; rows without relevant labels are skipped.

    Returns
    -------
    float
        Mean over rows, between 0 and 1; scikit-learn has no such criterion.

    Raises
    ------
    AnnotationError
        If `Y` is not 2-D or not 0/1.
    InputError
        If the shapes differ, a score is not finite, `convention` is unknown, or "paper" skips
        every row.

    Examples
    --------
    >>> one_error([[1, 0, 0]], [[0.7, 0.7, 0.1]])
    0.5
    >>> one_error([[1, 0, 0]], [[0.7, 0.7, 0.1]], convention="paper")
    0.0
    """
    return _mean_of(one_error_of_rows, Y, scores, convention)


def coverage(Y: IndicatorLike, scores: ArrayLike, *, convention: Convention = "sklearn") -> float:
    """Return how far down the ranking all relevant labels are found; lower is better.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels, 0/1.
    scores : array_like of shape (n_samples, n_labels)
        Finite scores, higher for labels more likely relevant.
    convention : {"sklearn", "paper"}, default "sklearn"
        "sklearn": tied labels all take the worst of their ranks; a row without relevant labels
        counts as -1 / n_labels. "paper": of tied labels the first column ranks first; rows
        without relevant labels are skipped.

    Returns
    -------
    float
        Mean over rows of (rank of the last relevant label - 1) / n_labels; equals
        ``(coverage_error - 1) / n_labels`` with scikit-learn's ``coverage_error``.

    Raises
    ------
    AnnotationError
        If `Y` is not 2-D or not 0/1.
    InputError
        If the shapes differ, a score is not finite, `convention` is unknown, or "paper" skips
        every row.

    Examples
    --------
    >>> coverage([[1, 0, 0, 1]], [[0.9, 0.7, 0.1, 0.5]])
    0.5
    """
    return _mean_of(coverage_of_rows, Y, scores, convention)


def average_precision(
    Y: IndicatorLike, scores: ArrayLike, *, convention: Convention = "sklearn"
) -> float:
    """Return the mean share of relevant labels at or above each relevant one; higher is better.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels, 0/1.
    scores : array_like of shape (n_samples, n_labels)
        Finite scores, higher for labels more likely relevant.
    convention : {"sklearn", "paper"}, default "sklearn"
        "sklearn": tied labels all take the worst of their ranks; a row without relevant labels
        counts as 1. "paper": of tied labels the first column ranks first; rows without relevant
        labels are skipped.

    Returns
    -------
    float
        Mean over rows, between 0 and 1; equals scikit-learn's
        ``label_ranking_average_precision_score``.

    Raises
    ------
    AnnotationError
        If `Y` is not 2-D or not 0/1.
    InputError
        If the shapes differ, a score is not finite, `convention` is unknown, or "paper" skips
        every row.

    Examples
    --------
    >>> average_precision([[1, 0, 0, 1]], [[0.9, 0.7, 0.1, 0.8]])
    1.0
    >>> average_precision([[1, 0, 0, 0]], [[0.5, 0.7, 0.1, 0.2]])
    0.5
    """
    return _mean_of(average_precision_of_rows, Y, scores, convention)


def _mean_of(
    criterion: RowCriterion, Y: IndicatorLike, scores: ArrayLike, convention: Convention
) -> float:
    """Check the input and average one criterion."""
    relevant = check_indicator(Y, name="Y")
    checked = check_scores(scores)
    check_same_shape(relevant, checked, names=("Y", "scores"))
    return mean_over_rows((criterion,), relevant, checked, convention=convention)[0]
