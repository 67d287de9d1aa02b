"""Simulated annotators, and how often labels occur together, which biased ones go by."""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import check_choice, check_integer, check_random_state, check_real
from complabel.annotations._checks import check_relevant
from complabel.annotations._indicator import IndicatorLike, check_indicator, name_some
from complabel.errors import AnnotationError

Scheme: TypeAlias = Literal["uniform", "biased"]
"""How a simulated annotator chooses the labels that do not apply."""

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
"""All schemes of ``draw_complementary``."""


def draw_complementary(
    Y: IndicatorLike,
    *,
    scheme: Scheme = "uniform",
    n_per_row: int = 1,
    sharpness: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.uint8]:
    """Draw complementary labels from outside each row's relevant set.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Relevant labels; at least one, and not all, per row.
    scheme : {"uniform", "biased"}, default="uniform"
        "uniform": every irrelevant label is equally likely. "biased": label j is drawn with a
        probability proportional to ``(1 - r_j) ** sharpness``, where r_j is the mean over the
        row's relevant labels k of P(label j | label k) as estimated from ``Y``: a label seldom
        seen with the relevant ones is likelier to be named as not applying.
    n_per_row : int, default=1
        Labels drawn per row, one after the other without replacement; a row with fewer
        irrelevant labels gives all of them.
    sharpness : float, default=1.0
        How strongly "biased" prefers labels that seldom co-occur; 0 is uniform.
    random_state : int, numpy.random.Generator or None, default=None
        None draws differently every time.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels drawn.

    Raises
    ------
    AnnotationError
        If ``Y`` is not 2-D or not 0/1, or has a row with no or only relevant labels.
    InputError
        If another parameter is out of its range.

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
    check_choice("scheme", scheme, SCHEMES)
    check_real("sharpness", sharpness, at_least=0)
    log_weights = sharpness * _log_dissimilarity(relevant) if scheme == "biased" else 0.0
    return _first_arrivals(relevant == 0, n_per_row, random_state, log_weights)


def draw_relevant(
    Y: IndicatorLike,
    *,
    n_per_row: int = 1,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.uint8]:
    """Draw some of each row's relevant labels, all equally likely.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Relevant labels; at least one, and not all, per row.
    n_per_row, random_state
        See :func:`draw_complementary`.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype uint8
        1 at the labels drawn.

    Raises
    ------
    AnnotationError, InputError
        See :func:`draw_complementary`.

    Examples
    --------
    >>> draw_relevant([[0, 1, 0], [0, 0, 1]], random_state=0)
    array([[0, 1, 0],
           [0, 0, 1]], dtype=uint8)
    """
    return _first_arrivals(check_relevant(Y) == 1, n_per_row, random_state)


def cooccurrence(indicator: IndicatorLike) -> NDArray[np.float64]:
    """Return the rate at which a label is 1 where another one is.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)
        Relevant or candidate labels.

    Returns
    -------
    ndarray of shape (n_labels, n_labels), dtype float64
        At [k, j] the share of rows with label j among the rows with label k. Its diagonal is 1;
        it is not symmetric.

    Raises
    ------
    AnnotationError
        If the matrix is not 2-D or not 0/1, or a label is 1 in no row: the rates given that
        label are then undefined.

    Examples
    --------
    >>> cooccurrence([[1, 1], [1, 0]])
    array([[1. , 0.5],
           [1. , 1. ]])
    """
    checked = check_indicator(indicator)
    absent = np.flatnonzero(~checked.any(axis=0))
    if len(absent):
        raise AnnotationError(
            f"{name_some(absent, 'label')} is 1 in no row, so how often others occur with it is "
            "undefined; drop the label or add rows with it"
        )
    return _conditional_rates(checked)


def _conditional_rates(indicator: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the rates of ``cooccurrence``, with a row of zeros for a label that never occurs."""
    occurs = indicator.astype(np.float64)  # (n, K); integer products would bypass BLAS
    together = occurs.T @ occurs  # (K, K), exact counts
    return np.asarray(together / np.maximum(together.diagonal(), 1)[:, np.newaxis])


def _log_dissimilarity(relevant: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return log(1 - r_j), (n, K), for irrelevant j; relevant labels get an arbitrary 0."""
    n_relevant = relevant.sum(axis=1, dtype=np.float64, keepdims=True)
    rates: NDArray[np.float64] = (relevant @ _conditional_rates(relevant)) / n_relevant  # (n, K)
    # r_j < 1 for an irrelevant j: this very row is one with label k and without label j.
    rates[relevant == 1] = 0.0
    np.log1p(-rates, out=rates)
    return rates


def _first_arrivals(
    eligible: NDArray[np.bool_],
    n_per_row: int,
    random_state: int | np.random.Generator | None,
    log_weights: NDArray[np.float64] | float = 0.0,
) -> NDArray[np.uint8]:
    """Mark the first ``n_per_row`` eligible labels to arrive, each at the rate of its weight."""
    check_integer("n_per_row", n_per_row, at_least=1)
    rng = check_random_state(random_state)
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
