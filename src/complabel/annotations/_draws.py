"""Simulated annotators: draw complementary or relevant labels from known label sets."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from complabel.annotations._checks import check_relevant
from complabel.annotations._cooccurrence import conditional_rates
from complabel.annotations._indicator import IndicatorLike
from complabel.errors import InputError

SCHEMES = ("uniform", "biased")


def draw_complementary(
    Y: IndicatorLike,
    *,
    scheme: Literal["uniform", "biased"] = "uniform",
    n_per_row: int = 1,
    sharpness: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.uint8]:
    """Draw complementary labels from outside each row's relevant set.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels; at least one, and not all, per row.
    scheme : {"uniform", "biased"}, default "uniform"
        "uniform": every irrelevant label is equally likely. "biased": label j is drawn with a
        probability proportional to ``(1 - r_j) ** sharpness``, where r_j is the mean over the
        row's relevant labels k of P(label j | label k) as estimated from `Y`: a label seldom
        seen with the relevant ones is likelier to be named as not applying.
    n_per_row : int, default 1
        Labels drawn per row, one after the other without replacement; a row with fewer
        irrelevant labels gives all of them.
    sharpness : float, default 1.0
        How strongly "biased" prefers labels that seldom co-occur; 0 is uniform.
    random_state : int, numpy.random.Generator or None, default None
        Seed or source of the draws; None draws differently every time.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels drawn.

    Raises
    ------
    AnnotationError
        If `Y` is not 2-D or not 0/1, or has a row with no or only relevant labels.
    InputError
        If `scheme` is unknown, `n_per_row` is below 1 or `sharpness` is negative or not finite.

    Notes
    -----
    Weighted draws without replacement are the first arrivals in a race of exponential clocks
    (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006).

    Examples
    --------
    >>> Y = [[1, 0, 1], [1, 1, 0]]
    >>> draw_complementary(Y, random_state=0)  # each row leaves one choice only
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    """
    relevant = check_relevant(Y)
    if scheme not in SCHEMES:
        raise InputError(f"scheme is {scheme!r}; use one of {', '.join(map(repr, SCHEMES))}")
    if not (np.isfinite(sharpness) and sharpness >= 0):
        raise InputError(f"sharpness is {sharpness}; give a finite number of at least 0")
    irrelevant = relevant == 0
    rng = np.random.default_rng(random_state)
    if scheme == "uniform":
        return _first_arrivals(irrelevant, n_per_row=n_per_row, rng=rng)
    log_weights = sharpness * _log_dissimilarity(relevant)
    return _first_arrivals(irrelevant, n_per_row=n_per_row, rng=rng, log_weights=log_weights)


def draw_relevant(
    Y: IndicatorLike,
    *,
    n_per_row: int = 1,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.uint8]:
    """Draw some of each row's relevant labels, all equally likely.

    Parameters
    ----------
    Y : array_like or scipy sparse matrix of shape (n_samples, n_labels)
        Relevant labels; at least one, and not all, per row.
    n_per_row : int, default 1
        Labels drawn per row without replacement; a row with fewer relevant labels gives all.
    random_state : int, numpy.random.Generator or None, default None
        Seed or source of the draws; None draws differently every time.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels drawn.

    Raises
    ------
    AnnotationError
        If `Y` is not 2-D or not 0/1, or has a row with no or only relevant labels.
    InputError
        If `n_per_row` is below 1.

    Examples
    --------
    >>> draw_relevant([[0, 1, 0], [0, 0, 1]], random_state=0)
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    """
    eligible = check_relevant(Y) == 1
    rng = np.random.default_rng(random_state)
    return _first_arrivals(eligible, n_per_row=n_per_row, rng=rng)


def _log_dissimilarity(relevant: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return log(1 - r_j), (n, K), for irrelevant j; relevant labels get an arbitrary 0."""
    n_relevant = relevant.sum(axis=1, dtype=np.float64, keepdims=True)
    rates: NDArray[np.float64] = (relevant @ conditional_rates(relevant)) / n_relevant  # (n, K)
    # r_j < 1 for an irrelevant j: this very row is one with label k and without label j.
    rates[relevant == 1] = 0.0
    np.log1p(-rates, out=rates)
    return rates


def _first_arrivals(
    eligible: NDArray[np.bool_],
    *,
    n_per_row: int,
    rng: np.random.Generator,
    log_weights: NDArray[np.float64] | float = 0.0,
) -> NDArray[np.uint8]:
    """Mark the first `n_per_row` eligible labels to arrive, each at the rate of its weight."""
    if n_per_row < 1:
        raise InputError(f"n_per_row is {n_per_row}; draw at least 1 label per row")
    with np.errstate(divide="ignore"):  # a uniform draw of exactly 0 arrives first, at log 0
        arrivals = np.log(-np.log1p(-rng.random(eligible.shape)))
    # Logarithms of times: a weight such as 0.01 ** 200 must not underflow to a draw that is void.
    arrivals = np.where(eligible, arrivals - log_weights, np.inf)
    n_drawn = min(n_per_row, eligible.shape[1])
    first = np.argpartition(arrivals, n_drawn - 1, axis=1)[:, :n_drawn]
    drawn = np.zeros(eligible.shape, dtype=np.uint8)
    np.put_along_axis(drawn, first, 1, axis=1)
    drawn &= eligible
    return drawn
