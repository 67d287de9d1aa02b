"""Types of arrays, and checks of parameters; messages have the name, what is allowed, the value."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._settings import setting
from complabel.errors import InputError

Array: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]  # of any size
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
Indicator: TypeAlias = NDArray[np.uint8]  # 0 and 1
AnyArray: TypeAlias = NDArray[Any]
Features: TypeAlias = Any  # an array or CSR array (n, d), already checked

Constraints: TypeAlias = Mapping[str, Any]
"""The allowed values of each parameter: one constraint, or a tuple of alternatives.

A constraint is a :class:`Real`, an :class:`Integer`, a :class:`RandomState` or a type. Any other
object is itself the allowed value, such as ``"auto"`` or None.
"""


@dataclass(frozen=True, kw_only=True)
class Real:
    """A finite number within closed or open bounds; True and False do not count as numbers."""

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        number: Any = value
        return (
            math.isfinite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.at_most is None or number <= self.at_most)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        bounds = {
            "of at least": self.at_least,
            "above": self.above,
            "of at most": self.at_most,
            "below": self.below,
        }
        texts = [f"{text} {bound:g}" for text, bound in bounds.items() if bound is not None]
        return f"a finite number {' and '.join(texts)}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Integer:
    """An integer of at least ``at_least``; True and False do not count as integers."""

    at_least: int

    def __contains__(self, value: Any) -> bool:
        valid = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return valid and value >= self.at_least

    def __str__(self) -> str:
        return f"an integer of at least {self.at_least}"


class RandomState:
    """A seed, a generator, or None (different random numbers every time)."""

    def __contains__(self, value: Any) -> bool:
        try:
            np.random.default_rng(value)
        except (TypeError, ValueError):
            return False
        return True

    def __str__(self) -> str:
        return "a non-negative integer, a numpy.random.Generator or None"


_RANGES = (Real, Integer, RandomState)


def check_parameters(owner: object) -> None:
    """Refuse attributes that violate the ``_constraints`` of the owner's class and its bases.

    Examples
    --------
    >>> class Tree:
    ...     _constraints = {"depth": (None, Integer(at_least=1)), "rule": ("gini", "entropy")}
    ...     depth, rule = 0, "gini"
    >>> check_parameters(Tree())
    Traceback (most recent call last):
    complabel.errors.InputError: depth must be None or an integer of at least 1, got 0
    """
    for name, allowed in declared(type(owner), "_constraints").items():
        _check(name, getattr(owner, name), allowed)


def declared(owner: type, attribute: str) -> dict[str, Any]:
    """Return what a class and its bases declare in an attribute; a class overrides its bases."""
    found: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        found |= vars(base).get(attribute, {})
    return found


def check_integer(name: str, value: object, *, at_least: int) -> None:
    _check(name, value, Integer(at_least=at_least))


def check_real(name: str, value: object, **bounds: float) -> None:
    _check(name, value, Real(**bounds))


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    _check(name, value, tuple(choices))


def check_random_state(value: int | np.random.Generator | None) -> np.random.Generator:
    """Return the random generator of a fit; a given generator is used itself, not copied."""
    _check("random_state", value, RandomState())
    return np.random.default_rng(value)


def check_array(name: str, values: ArrayLike, *axes: str, gaps: bool = False) -> Array:
    """Return an array of finite numbers with these axes, or raise an error that names the place.

    With ``gaps``, entries may be NaN.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} must be a {len(axes)}-D array of numbers ({error})", parameter=name
        ) from error
    if array.ndim != len(axes):
        raise InputError(
            f"{name} must be a {len(axes)}-D array, got one of shape {array.shape}", parameter=name
        )
    if array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give a non-empty array", parameter=name)
    finite = np.isfinite(array) | (np.isnan(array) & gaps)
    if not finite.all():
        at = np.unravel_index(np.argmin(finite), array.shape)
        place = ", ".join(f"{axis} {index}" for axis, index in zip(axes, at, strict=True))
        where = f" at {place}" if axes else ""
        raise InputError(
            f"{name} must be finite, got {array[at]}{where}; correct it or leave it out",
            parameter=name,
        )
    return array


def _check(name: str, value: object, allowed: object) -> None:
    constraints = allowed if isinstance(allowed, tuple) else (allowed,)
    if not any(_holds(value, constraint) for constraint in constraints):
        raise InputError(
            f"{setting(name)} must be {_text(constraints)}, got {value!r:.200}", parameter=name
        )


def _holds(value: object, constraint: object) -> bool:
    if isinstance(constraint, _RANGES):
        return value in constraint
    if isinstance(constraint, type):
        return isinstance(value, constraint)
    # Compare only values of equal type: a matrix would compare with a number elementwise.
    return type(value) is type(constraint) and bool(value == constraint)


def _text(constraints: tuple[object, ...]) -> str:
    *texts, last = [
        str(each) if isinstance(each, _RANGES) else getattr(each, "__name__", repr(each))
        for each in constraints
    ]
    if any(isinstance(each, (*_RANGES, type)) for each in constraints):
        return f"{', '.join(texts)} or {last}" if texts else last
    return f"one of {', '.join([*texts, last])}"
