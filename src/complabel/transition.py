"""Transition matrices: how likely each label is chosen as complementary, given a relevant one.

The estimating functions expect indicators that :func:`complabel.answers.check_complementary`
returned, uint8 of shape (n_samples, K), and do not check them again. A TransitionError names labels
for which a matrix is undefined. The equation numbers are those of Gao, Xu and Zhang, "Complementary
to Multiple Labels: A Correlation-Aware Correction Approach".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import Array, Floats, Indicator, check_array
from complabel.errors import InputError, TransitionError


def uniform_transition(n_labels: int) -> Array:
    """Return (1 - I) / (K - 1), (K, K), the matrix of an annotator who chooses uniformly.

    It is exact if every instance has exactly one relevant label.

    >>> uniform_transition(2)
    array([[0., 1.],
           [1., 0.]])
    """
    if n_labels < 2:
        raise TransitionError(f"a transition matrix needs at least 2 labels, got {n_labels}")
    return (1.0 - np.eye(n_labels)) / (n_labels - 1)


def initial_transition(probabilities: Floats, complementary: Indicator) -> Array:
    """Estimate S (K, K), the transition matrix before correction by correlations (eq. 5 and 6).

    Row k is the mean of the predicted distributions (n_samples, K) of the complementary label, over
    the instances for which label k is still a candidate. The diagonal is set to 0, because the
    definition leaves it out, so rows do not sum to 1.
    """
    candidates = _candidates(complementary)
    sums: Array = candidates.T @ probabilities  # (K, K)
    matrix: Array = sums / candidates.sum(axis=0)[:, None]
    np.fill_diagonal(matrix, 0.0)
    return matrix


def label_correlation(complementary: Indicator) -> Array:
    """Compute C, the co-occurrence rates of candidate labels, (K, K) (section 4.2).

    ``C[k, j]`` is the share of the instances with candidate k that also have candidate j.
    """
    candidates = _candidates(complementary)
    together = candidates.T @ candidates  # (K, K), exact counts
    return np.asarray(together / together.diagonal()[:, None])


def phi_correlation(complementary: Indicator) -> Array:
    """Compute the correlation (K, K) that the paper's released code uses in place of C.

    These are the phi coefficients (Pearson correlations) of the complementary columns. The
    diagonal is set to 0, and each row is divided by its sum. With one complementary label per
    instance all coefficients are negative, and the division makes them positive.
    """
    chosen = complementary.mean(axis=0)
    _refuse_labels(
        (chosen == 0) | (chosen == 1),
        "has a constant complementary column, whose phi coefficient is undefined;"
        " use correlation='cooccurrence'",
    )
    phi = np.asarray(np.corrcoef(complementary, rowvar=False), dtype=np.float64)
    np.fill_diagonal(phi, 0.0)
    totals = phi.sum(axis=1)
    _refuse_labels(
        totals == 0, "has phi coefficients that sum to 0; use correlation='cooccurrence'"
    )
    return np.asarray(phi / totals[:, None])


def corrected_transition(initial: Array, correlation: Array | None = None) -> Array:
    """Correct S by label correlations: T = S C^T, diagonal 0, rows normalized (section 4.2).

    A ``correlation`` of None only normalizes S; the paper calls this ablation "without C".
    """
    transition = initial.copy() if correlation is None else np.asarray(initial @ correlation.T)
    np.fill_diagonal(transition, 0.0)
    _refuse_labels(
        (transition < 0).any(axis=1), "has negative entries in its row of the transition matrix"
    )
    totals = transition.sum(axis=1)
    _refuse_labels(~(totals > 0), "has an all-zero row in the transition matrix; drop the label")
    return np.asarray(transition / totals[:, None])


def check_transition(matrix: ArrayLike, *, n_labels: int) -> Array:
    """Return a copy of a transition matrix that the caller gives, after a check.

    ``matrix[k, j]`` is p(label j is complementary | label k is relevant).
    """
    try:
        checked = check_array("the transition matrix", matrix, "row", "column").copy()
    except InputError as error:
        raise TransitionError(str(error)) from error
    if checked.shape != (n_labels, n_labels):
        raise TransitionError(
            f"the transition matrix has shape {checked.shape}, but there are {n_labels} labels:"
            f" expected {(n_labels, n_labels)}"
        )
    _refuse_labels((checked < 0).any(axis=1), "has negative entries in its row")
    _refuse_labels(
        np.diagonal(checked) != 0,
        "has a non-zero diagonal entry: a relevant label is never complementary",
    )
    _refuse_labels(
        ~np.isclose(checked.sum(axis=1), 1.0, atol=1e-6), "has a row that does not sum to 1"
    )
    return checked


def _candidates(complementary: Indicator) -> Array:
    candidates = 1 - complementary.astype(np.float64)
    _refuse_labels(
        ~candidates.any(axis=0),
        "is complementary for every instance, so it is never a candidate; drop the label",
    )
    return candidates


def _refuse_labels(refused: ArrayLike, complaint: str) -> None:
    labels = np.flatnonzero(refused)
    if labels.size:
        named = ", ".join(str(label) for label in labels[:5])
        raise TransitionError(f"label {named} {complaint}")
