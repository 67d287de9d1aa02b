"""Rules p(ybar|Y), which say how one of the labels outside Y is chosen to be named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from research.theory._families import normalized
from research.theory._label_sets import label_sets, n_labels_of

from complabel._parameters import check_random_state, check_real
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from research.theory._joint import JointDistribution


def uniform_choice(n_labels: int) -> NDArray[np.float64]:
    """Return the rule that names every label outside Y with the same probability.

    Parameters
    ----------
    n_labels : int
        K.

    Returns
    -------
    ndarray of shape (2**K - 2, K), float64
        p(ybar|Y): the full transition matrix of the paper (section 3.1). Rows are in the order
        of :func:`label_sets`.

    Raises
    ------
    InputError
        If ``n_labels`` is not from 2 to 16.

    Examples
    --------
    >>> uniform_choice(3)[:3]  # {0}, {1}, {0, 1}
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0. , 0. , 1. ]])
    """
    return normalized(1 - label_sets(n_labels))


def propensity_choice(propensities: ArrayLike) -> NDArray[np.float64]:
    """Return the rule that names a label outside Y in proportion to its propensity.

    Parameters
    ----------
    propensities : array-like of shape (..., K)
        Positive numbers. Only their ratios matter.

    Returns
    -------
    ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).

    Raises
    ------
    InputError
        If a propensity is not a positive number, or K is not from 2 to 16.
    """
    w = np.asarray(propensities, dtype=np.float64)
    if not (np.isfinite(w) & (w > 0)).all():
        raise InputError("propensities must be positive numbers")
    return normalized((1 - label_sets(w.shape[-1])) * w[..., np.newaxis, :])


def cooccurrence_choice(
    distribution: JointDistribution, *, sharpness: float = 1.0
) -> NDArray[np.float64]:
    """Return the biased rule, which prefers labels that seldom occur with those in Y.

    The probability of a label j outside Y is proportional to ``(1 - r_j) ** sharpness``, where
    r_j is the mean of P(y_j = 1 | y_k = 1) over the labels k of Y, as in
    :func:`complabel.answers.draw_complementary`. Here the rates are those of the
    distribution itself.

    Parameters
    ----------
    distribution : JointDistribution
    sharpness : float, default=1.0
        0 gives the uniform rule.

    Returns
    -------
    ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y). A row is uniform if all its weights are 0, which can only be the case for a
        set Y that never occurs.

    Raises
    ------
    InputError
        If ``sharpness`` is negative.
    """
    check_real("sharpness", sharpness, at_least=0)
    sets = label_sets(distribution.n_labels)
    together = (sets.T * distribution.sets[..., np.newaxis, :]) @ sets  # (..., K, K)
    frequency = np.diagonal(together, axis1=-2, axis2=-1)[..., np.newaxis]
    rates = np.divide(together, frequency, out=np.zeros_like(together), where=frequency > 0)
    mean_rates = sets @ rates / sets.sum(axis=1, keepdims=True)  # (..., sets, K)
    weights = (1 - sets) * np.clip(1 - mean_rates, 0, 1) ** sharpness
    never = weights.sum(axis=-1, keepdims=True) == 0
    return normalized(np.where(never, 1 - sets, weights))


def random_choice(
    n_labels: int,
    *,
    size: tuple[int, ...] = (),
    concentration: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> NDArray[np.float64]:
    """Draw random rules from a Dirichlet distribution over the labels outside each Y.

    Parameters
    ----------
    n_labels : int
        K.
    size : tuple of int, default=()
        Leading axes of the result, which say how many rules are drawn.
    concentration : float, default=1.0
        Parameter of the symmetric Dirichlet distribution.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    ndarray of shape (..., 2**K - 2, K), float64
        p(ybar|Y).

    Raises
    ------
    InputError
        If ``concentration`` is not positive, or K is not from 2 to 16.
    """
    check_real("concentration", concentration, above=0)
    rng = check_random_state(random_state)
    sets = label_sets(n_labels)
    return normalized((1 - sets) * rng.gamma(concentration, size=(*size, *sets.shape)))


def check_choice(choice: ArrayLike) -> NDArray[np.float64]:
    """Check that an array is a rule p(ybar|Y), and return a copy of it.

    Parameters
    ----------
    choice : array-like of shape (..., 2**K - 2, K)
        p(ybar|Y).

    Returns
    -------
    ndarray of shape (..., 2**K - 2, K), float64
        A copy.

    Raises
    ------
    InputError
        If the shape is another one, a value is negative or not finite, a label in Y has a
        positive probability, or a row does not sum to 1.
    """
    checked = np.array(choice, dtype=np.float64)
    if checked.ndim < 2 or n_labels_of(checked.shape[-2]) != checked.shape[-1]:
        raise InputError(f"choice has shape {checked.shape}; K labels need (2**K - 2, K)")
    sets = label_sets(checked.shape[-1])
    refused = (checked < 0) | ~np.isfinite(checked) | ((sets == 1) & (checked != 0))
    refused |= ~np.isclose(checked.sum(axis=-1, keepdims=True), 1, atol=1e-9)
    if refused.any():
        at = np.unravel_index(np.argmax(refused), refused.shape)[-2]
        labels = np.flatnonzero(sets[at]).tolist()
        raise InputError(
            f"the choice for the label set {labels} (row {at}) must be 0 at its own labels and "
            "probabilities that sum to 1 at the others"
        )
    return checked
