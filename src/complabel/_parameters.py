"""Checks of parameters: refused by name, with what is allowed and what was given."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from complabel.errors import InputError

__all__ = ["check_choice", "check_integer", "check_random_state", "check_real"]


def check_integer(name: str, value: object, *, at_least: int) -> None:
    """Refuse what is no integer, or too small a one.

    Parameters
    ----------
    name : str
        What the parameter is called.
    value : object
    at_least : int

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_integer("epochs", 0, at_least=1)
    Traceback (most recent call last):
    complabel.errors.InputError: epochs must be an integer of at least 1, got 0
    """
    valid = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not (valid and value >= at_least):  # type: ignore[operator]
        raise InputError(f"{name} must be an integer of at least {at_least}, got {value!r}")


def check_real(
    name: str,
    value: object,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> None:
    """Refuse what is no finite number, or one out of range.

    Parameters
    ----------
    name : str
        What the parameter is called.
    value : object
    at_least, above, at_most, below : float or None, default=None
        Bounds, closed or open.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_real("beta", -1, at_least=0)
    Traceback (most recent call last):
    complabel.errors.InputError: beta must be a finite number of at least 0, got -1
    """
    bounds = [
        ("of at least", at_least, operator.ge),
        ("above", above, operator.gt),
        ("of at most", at_most, operator.le),
        ("below", below, operator.lt),
    ]
    given = [(text, limit, holds) for text, limit, holds in bounds if limit is not None]
    if _is_finite(value) and all(holds(value, limit) for _, limit, holds in given):
        return
    allowed = " and ".join(f"{text} {limit:g}" for text, limit, _ in given)
    raise InputError(f"{name} must be a finite number {allowed}, got {value!r}")


def _is_finite(value: object) -> TypeGuard[float]:
    """Tell whether something is a finite real number; True and False are none."""
    valid: bool = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return valid and math.isfinite(value)  # type: ignore[arg-type]


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse what is not one of the choices.

    Parameters
    ----------
    name : str
        What the parameter is called.
    value : object
    choices : sequence

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_choice("solver", "magic", ("exact", "fast"))
    Traceback (most recent call last):
    complabel.errors.InputError: solver must be one of 'exact', 'fast', got 'magic'
    """
    # A matrix compares with every choice elementwise; only values of a choice's type can be one.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        allowed = ", ".join(map(repr, choices))
        raise InputError(f"{name} must be one of {allowed}, got {value!r}")


def check_random_state(value: int | np.random.Generator | None) -> np.random.Generator:
    """Turn a ``random_state`` into the one generator of a fit.

    Parameters
    ----------
    value : int, numpy.random.Generator or None
        A generator is used as it is and moves on; None draws differently every time.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    InputError
        If it is something else.
    """
    try:
        return np.random.default_rng(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            "random_state must be a non-negative integer, a numpy.random.Generator or None,"
            f" got {value!r}"
        ) from error
