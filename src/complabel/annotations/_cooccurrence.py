"""How often labels occur together."""

import numpy as np
from numpy.typing import NDArray

from complabel.annotations._indicator import IndicatorLike, check_indicator, name_some
from complabel.errors import AnnotationError


def cooccurrence(indicator: IndicatorLike) -> NDArray[np.float64]:
    """Return the rate at which a label is 1 where another one is.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_labels)
        Zeros and ones, such as relevant or candidate labels.

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
    return conditional_rates(checked)


def conditional_rates(indicator: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the rates of ``cooccurrence``, with a row of zeros for a label that never occurs."""
    occurs = indicator.astype(np.float64)  # (n, K); integer products would bypass BLAS
    together = occurs.T @ occurs  # (K, K), exact counts
    rates: NDArray[np.float64] = together / np.maximum(together.diagonal(), 1)[:, np.newaxis]
    return rates
