"""The label sets that an item may have, in the order that this package uses everywhere."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import check_integer
from complabel.errors import InputError

MAX_LABELS = 16
"""With more labels, p(Y|x) at several points x does not fit into memory."""


@cache
def label_sets(n_labels: int) -> NDArray[np.float64]:
    """Return all label sets but the empty and the full one.

    Row i holds the set whose labels are the bits of i + 1. Label 0 is the lowest bit.

    Parameters
    ----------
    n_labels : int
        K, from 2 to 16.

    Returns
    -------
    ndarray of shape (2**K - 2, K), float64
        1 where a label is in the set. The array is shared and cannot be written to.

    Raises
    ------
    InputError
        If the number of labels is out of its range.

    Examples
    --------
    >>> label_sets(2)
    array([[1., 0.],
           [0., 1.]])
    """
    check_integer("n_labels", n_labels, at_least=2)
    if n_labels > MAX_LABELS:
        raise InputError(
            f"n_labels is {n_labels}, which makes 2**{n_labels} label sets; "
            f"exact computations take at most {MAX_LABELS} labels"
        )
    masks = np.arange(1, 2**n_labels - 1)
    sets = (masks[:, np.newaxis] >> np.arange(n_labels) & 1).astype(np.float64)
    sets.setflags(write=False)
    return sets


def n_labels_of(n_sets: int) -> int:
    """Return K for 2**K - 2 label sets, and refuse a number that is not of this form."""
    n_labels = int(n_sets + 2).bit_length() - 1
    if n_sets < 2 or n_sets + 2 != 2**n_labels:
        raise InputError(
            f"p(Y|x) has {n_sets} columns; K labels have 2**K - 2 label sets: 2, 6, 14, 30, ..."
        )
    return n_labels
