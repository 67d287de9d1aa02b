"""Checks of propensities and of rates that a caller gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def check_propensities(propensities: ArrayLike, n_labels: int | None = None) -> NDArray[np.float64]:
    """Return propensities (K,) after a check that they are positive; ``n_labels`` is K if known."""
    weights = np.asarray(propensities, dtype=np.float64)
    if weights.ndim != 1 or (n_labels is not None and len(weights) != n_labels):
        expected = "" if n_labels is None else f" of {n_labels}"
        raise InputError(
            f"propensities have shape {weights.shape}; give a sequence{expected}, one per label"
        )
    fine = np.isfinite(weights) & (weights > 0)
    return _where("propensities", weights, fine, "finite numbers above 0")


def check_naming_rates(naming_rates: ArrayLike) -> NDArray[np.float64]:
    """Return how often each label is named if it does not apply, (K,), after a check."""
    rates = np.array(naming_rates, dtype=np.float64)
    if rates.ndim != 1:
        raise InputError(f"naming_rates have shape {rates.shape}; give a sequence, one per label")
    return _where("naming_rates", rates, (rates > 0) & (rates <= 1), "chances above 0, at most 1")


def check_rates(name: str, rates: ArrayLike, n: int, each: str) -> NDArray[np.float64]:
    """Return rates (n,) from one number or n of them, after a check that they are in [0, 1].

    ``name`` is the parameter, and ``each`` is what a rate belongs to: "annotator" or "label".
    """
    values = np.asarray(rates, dtype=np.float64)
    if values.ndim == 1 and n == 0:
        raise InputError(
            f"{name} has shape {values.shape}, but no {each} is named; give one number for all"
        )
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n):
        raise InputError(
            f"{name} has shape {values.shape}; give one number, or one for each {each}, {n} in all"
        )
    found = _where(name, values, (values >= 0) & (values <= 1), "rates between 0 and 1")
    return np.broadcast_to(found, (n,)).copy()


def _where(
    name: str, values: NDArray[np.float64], fine: NDArray[np.bool_], advice: str
) -> NDArray[np.float64]:
    """Return the values if all are fine; else refuse the first that is not."""
    if not fine.all():
        wrong = int(np.argmin(fine))
        place = f"[{wrong}]" if values.ndim else ""
        raise InputError(f"{name}{place} is {values.ravel()[wrong]:g}; give {advice}")
    return values
