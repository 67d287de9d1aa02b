"""Draw complementary and relevant labels."""

from typing import Literal, TypeAlias, get_args

import numpy as np

from complabel._parameters import (
    Array,
    Bools,
    Indicator,
    check_choice,
    check_integer,
    check_random_state,
    check_real,
)
from complabel.answers import IndicatorLike, check_relevant

Scheme: TypeAlias = Literal["uniform", "biased"]
"""How a simulated annotator chooses the labels that do not apply."""

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
"""All schemes of ``draw_complementary``."""


def draw_complementary(
    Y: IndicatorLike,
    *,
    scheme: Scheme = "uniform",
    asked_for: int = 1,
    sharpness: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> Indicator:
    """Draw complementary labels from outside each row's relevant set.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Relevant labels; at least one, and not all, per row.
    scheme : {"uniform", "biased"}, default="uniform"
        "uniform": every irrelevant label is equally likely. "biased": label j is drawn with a
        probability proportional to ``(1 - r_j) ** sharpness``. r_j is the mean of P(label j |
        label k) over the row's relevant labels k, estimated from ``Y``. So labels that seldom
        occur together with the relevant ones are drawn more often.
    asked_for : int, default=1
        Number of labels drawn per row, without replacement. If a row has fewer irrelevant
        labels, all of them are drawn.
    sharpness : float, default=1.0
        For "biased", at least 0; 0 is uniform.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 where a label was drawn.

    Raises
    ------
    AnnotationError
        If ``Y`` is not 0/1, has fewer than three labels, or a row with no or only relevant labels.
    InputError
        If another parameter is out of its range.

    Notes
    -----
    Each label gets a random exponential time whose rate is the label's weight. The labels with
    the smallest times are a weighted draw without replacement.

    References
    ----------
    P. Efraimidis and P. Spirakis, "Weighted random sampling with a reservoir", Information
    Processing Letters 97(5), 2006.

    Examples
    --------
    >>> Y = [[1, 0, 1], [1, 1, 0]]
    >>> draw_complementary(Y, random_state=0)  # each row leaves one choice only
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    """
    relevant = check_relevant(Y)
    check_choice("scheme", scheme, SCHEMES)
    check_real("sharpness", sharpness, at_least=0)
    log_weights = sharpness * log_dissimilarity(relevant) if scheme == "biased" else 0.0
    return first_arrivals(relevant == 0, asked_for, random_state, log_weights)


def draw_relevant(
    Y: IndicatorLike, *, asked_for: int = 1, random_state: int | np.random.Generator | None = None
) -> Indicator:
    """Draw some relevant labels of each row; all are equally likely.

    Parameters
    ----------
    Y, asked_for, random_state
        See :func:`draw_complementary`, also for what is refused.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 where a label was drawn.

    Examples
    --------
    >>> draw_relevant([[0, 1, 0], [0, 0, 1]], random_state=0)
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    """
    return first_arrivals(check_relevant(Y) == 1, asked_for, random_state)


def _conditional_rates(indicator: Indicator) -> Array:
    """Return the share of rows with label j among those with label k, at [k, j], (K, K); or 0."""
    occurs = indicator.astype(np.float64)  # (n, K); products of integers do not use BLAS
    together = occurs.T @ occurs  # (K, K), exact counts
    return np.asarray(together / np.maximum(together.diagonal(), 1)[:, np.newaxis])


def log_dissimilarity(relevant: Indicator) -> Array:
    """Return log(1 - r_j), (n, K), for irrelevant j; relevant labels get an arbitrary 0."""
    n_relevant = relevant.sum(axis=1, dtype=np.float64, keepdims=True)
    rates: Array = (relevant @ _conditional_rates(relevant)) / n_relevant  # (n, K)
    # r_j < 1 for an irrelevant j: the row itself has label k, but not label j.
    rates[relevant == 1] = 0.0
    np.log1p(-rates, out=rates)
    return rates


def first_arrivals(
    eligible: Bools,
    asked_for: int,
    random_state: int | np.random.Generator | None,
    log_weights: Array | float = 0.0,
) -> Indicator:
    """Mark the ``asked_for`` eligible labels with the smallest exponential times (rate: weight)."""
    check_integer("asked_for", asked_for, at_least=1)
    rng = check_random_state(random_state)
    with np.errstate(divide="ignore"):  # a draw of exactly 0 gives log 0 = -inf: it arrives first
        arrivals = np.log(-np.log1p(-rng.random(eligible.shape)))
    # Logarithms of times, as a weight such as 0.01 ** 200 underflows to 0.
    arrivals = np.where(eligible, arrivals - log_weights, np.inf)
    n_drawn = min(asked_for, eligible.shape[1])
    first = np.argpartition(arrivals, n_drawn - 1, axis=1)[:, :n_drawn]
    drawn = np.zeros(eligible.shape, dtype=np.uint8)
    np.put_along_axis(drawn, first, 1, axis=1)
    drawn &= eligible
    return drawn
