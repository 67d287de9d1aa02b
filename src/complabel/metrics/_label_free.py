"""Criteria for choosing between models when no relevant label is known."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel.answers import (
    Answers,
    IndicatorLike,
    check_complementary,
    check_indicator,
    pair_rows,
)
from complabel.errors import AnnotationError, InputError
from complabel.metrics._criteria import by_row, check_scores, ranking_loss_of_rows

# Least probability of a label. With 0, a single mistake would outweigh all other rows.
_LEAST_PROBABILITY = 1e-12


def complementary_ranking_error(complementary: IndicatorLike | Answers, scores: ArrayLike) -> float:
    """Return how often a candidate ranks below a label known to be wrong; lower is better.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, K), or Answers
        1 if a label is known not to apply; at least one, and not all, per row. With Answers, these
        are the labels that some answer denies; items with none or all of them are left out.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant.

    Returns
    -------
    float
        Mean over rows of the mean of [s_k < s_j] + [s_k = s_j] / 2 over the row's candidates k
        and complementary labels j. A random order has 0.5. A constant order can have less, because
        some labels are chosen as complementary more often.

    Raises
    ------
    AnnotationError, InputError
        If a row marks none or all labels, the shapes differ, or a score is not finite.

    Examples
    --------
    >>> complementary_ranking_error([[1, 0, 0]], [[0.3, 0.1, 0.7]])
    0.5
    """
    if isinstance(complementary, Answers):
        complementary, scores = _ranked_items(complementary, scores)
    return float(complementary_ranking_error_of_rows(complementary, scores).mean())


def complementary_ranking_error_of_rows(
    complementary: IndicatorLike, scores: ArrayLike
) -> NDArray[np.float64]:
    """Return the values (n,) whose mean is the error, for paired comparisons of two scores."""
    wrong = check_complementary(complementary, min_labels=2)
    checked = check_scores(scores, wrong, names=("complementary", "scores"))
    # Let the two shares be those of pairs (k, j) with s_j <= s_k and with s_k <= s_j; both count
    # the ties. Then the mean of [s_k < s_j] + [s_k = s_j] / 2 is (1 - first + second) / 2.
    (not_above,) = by_row((ranking_loss_of_rows,), wrong, checked)
    (not_below,) = by_row((ranking_loss_of_rows,), wrong, -checked)
    return np.asarray((1 - not_above + not_below) / 2)


def least_cardinality(complementary: IndicatorLike, scores: ArrayLike) -> float:
    """Return a lower bound on the mean number of relevant labels, for marks chosen at random.

    It can detect true labels that were given as complementary labels by mistake. A value above
    half the number of labels says that most labels apply to most rows, or that the marks are not a
    random choice of labels that do not apply.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, K)
        1 if a label is known not to apply; at least one, and not all, per row.
    scores : array-like of shape (n_samples, K)
        Finite scores, higher for labels that are more likely relevant, of a method that was fitted
        on *other* rows; for fitted rows, the value means nothing.

    Returns
    -------
    float
        It exceeds the mean number of relevant labels only by chance, and comes close to it if the
        method ranks labels well. It can be negative.

    Raises
    ------
    AnnotationError, InputError
        If a row marks none or all labels, the shapes differ, or a score is not finite.

    Notes
    -----
    Of a row's K - s candidates, c are relevant and may all rank above the s complementary ones. The
    others do not differ from the latter, so half of them rank below. So the expected ranking error
    e is at least (K - s - c) / (2 (K - s)), which means c >= (K - s) (1 - 2 e). This also holds if
    every label that does not apply is marked.

    Examples
    --------
    >>> marks = [[1, 0, 0, 0], [0, 1, 0, 0]]
    >>> scores = [[0.1, 0.9, 0.8, 0.7], [0.9, 0.1, 0.8, 0.7]]
    >>> least_cardinality(marks, scores)  # each mark ranks last: perhaps 3 of 4 labels apply
    3.0
    """
    errors = complementary_ranking_error_of_rows(complementary, scores)
    marks = check_indicator(complementary, name="complementary")
    n_candidates = marks.shape[1] - marks.sum(axis=1, dtype=np.intp)
    return float(np.mean(n_candidates * (1 - 2 * errors)))


def complementary_log_likelihood(complementary: IndicatorLike, probabilities: ArrayLike) -> float:
    """Return the mean log-probability of the complementary labels; higher is better.

    Parameters
    ----------
    complementary : array-like or sparse matrix of shape (n_samples, K)
        1 if a label is known not to apply; at least one, and not all, per row.
    probabilities : array-like of shape (n_samples, K)
        Non-negative q_j, in proportion to the modelled probability that label j is chosen.

    Returns
    -------
    float
        Mean over rows of log q_j, in nats; for several complementary labels, of the mean of their
        log q_j. A complementary label with probability 0 counts as log 1e-12.

    Raises
    ------
    AnnotationError, InputError
        If a row marks none or all labels, the shapes differ, a probability is negative or not
        finite, or a row of probabilities is all 0.

    Examples
    --------
    >>> complementary_log_likelihood([[1, 0, 0]], [[1.0, 0.0, 0.0]])
    0.0
    """
    return float(complementary_log_likelihood_of_rows(complementary, probabilities).mean())


def complementary_log_likelihood_of_rows(
    complementary: IndicatorLike, probabilities: ArrayLike
) -> NDArray[np.float64]:
    """Return the values (n,) whose mean is the likelihood, for paired comparisons of two models."""
    chosen = check_complementary(complementary, min_labels=2)
    checked = check_scores(probabilities, chosen, names=("complementary", "probabilities"))
    if checked.min() < 0:
        row, label = np.argwhere(checked < 0)[0]
        raise InputError(
            f"probabilities holds {checked[row, label]} at row {row}, label {label}; "
            "probabilities cannot be negative"
        )
    sums = checked.sum(axis=1)
    if not sums.all():
        raise InputError(
            f"probabilities is all 0 in row {np.argmin(sums)}; give at least one label a positive"
            " value"
        )
    rows, labels = np.nonzero(chosen)
    log_q = np.log(np.maximum(checked[rows, labels] / sums[rows], _LEAST_PROBABILITY))
    return np.bincount(rows, weights=log_q) / np.bincount(rows)


def _ranked_items(
    answers: Answers, scores: ArrayLike
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return complementary labels and scores of the items with some but not all labels denied."""
    scores = pair_rows(answers, scores, names=("complementary", "scores"))
    wrong = answers.complementary
    checked = check_scores(scores, wrong, names=("complementary", "scores"))
    rows = wrong.any(axis=1) & ~wrong.all(axis=1)
    if not rows.any():
        raise AnnotationError(
            "the ranking error needs an item with a label that does not apply and with a candidate,"
            " but the answers have none; give more answers"
        )
    return wrong[rows], checked[rows]
