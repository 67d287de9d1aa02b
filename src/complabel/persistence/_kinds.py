"""Kinds of parts of a model: how each is saved, and how it is checked when loaded."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from complabel._parameters import meets
from complabel.persistence._refused import RefusedError
from complabel.persistence._stored import read

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Context:
    """Known facts while a model is saved or loaded.

    ``known`` maps names to the places of the classes that may be saved, ``"module:Class"``.
    ``sizes`` maps names of axes, such as ``"K"`` and ``"d"``, to lengths. The first array with an
    axis sets its length; all others must agree.
    """

    known: Mapping[str, str]
    sizes: dict[str, int] = field(default_factory=dict)

    def agrees(self, shape: tuple[int, ...], axes: tuple[str, ...]) -> bool:
        """Return whether a shape agrees with the sizes of its axes; sizes of new axes are kept."""
        if len(shape) != len(axes):
            return False
        return all(self.sizes.setdefault(at, n) == n for at, n in zip(axes, shape, strict=True))

    def nested(self) -> Context:
        """Return the context of a model inside this one, which has the same labels and features."""
        return Context(self.known, {at: self.sizes[at] for at in ("K", "d") if at in self.sizes})


class Kind(ABC):
    """A kind of part.

    ``plain`` turns a part into plain values and arrays. ``restored`` makes the part from these, or
    raises RefusedError. There, arrays are still stored, so that shapes are checked before reading.
    """

    only_some = False  # whether only some fits set this attribute

    def plain(self, value: Any, context: Context) -> Any:
        """Return plain values for a part; by default the part itself."""
        del context
        return value

    @abstractmethod
    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Return the part that plain values describe; raise RefusedError if they are wrong."""


Kinds: TypeAlias = Mapping[str, Kind]
"""The kind of each part, by its name."""


class Scalar(Kind):
    """A number, a text, True, False or None that meets one of several constraints."""

    def __init__(self, *constraints: object) -> None:
        self._constraints = constraints

    def plain(self, value: Any, context: Context) -> Any:
        """Return the value as a plain Python object."""
        del context
        return value.item() if isinstance(value, np.generic) else value

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check the value."""
        del context
        if not meets(value, *self._constraints):
            raise RefusedError(f"{place} has the wrong value {value!r:.80}")
        return value


class Numbers(Kind):
    """A finite array with named axes and values from ``at_least`` to ``below`` (excluded).

    ``below`` may also be the name of an axis; its length is then the bound.
    """

    def __init__(
        self,
        *axes: str,
        dtype: type[np.generic] = np.float64,
        at_least: float = -math.inf,
        below: float | str = math.inf,
    ) -> None:
        self._axes, self._dtype, self._at_least, self._below = axes, dtype, at_least, below

    def plain(self, value: Any, context: Context) -> Any:
        """Return the array in its type."""
        del context
        return np.asarray(value, dtype=self._dtype)

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check the type and the shape, read the array, and check its values."""
        refuse_other_array(value, place, self._axes, context, (self._dtype,))
        array = np.asarray(read(value))
        below = context.sizes[self._below] if isinstance(self._below, str) else self._below
        with np.errstate(invalid="ignore"):
            within = (array >= self._at_least) & (array < below) & np.isfinite(array)
        if not within.all():
            raise RefusedError(f"{place} holds the wrong value {array[~within].ravel()[0]}")
        return array


class Rows(Kind):
    """Rows of features, in float64 or float32; dense, or sparse if allowed."""

    def __init__(self, rows: str, *, may_be_sparse: bool = True) -> None:
        self._axes, self._may_be_sparse = (rows, "d"), may_be_sparse

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check the type and the shape, read the rows, and check that distances stay finite."""
        refuse_other_array(value, place, self._axes, context, (np.float64, np.float32))
        rows = read(value)
        if sparse.issparse(rows) and not self._may_be_sparse:
            raise RefusedError(f"{place} is a sparse matrix, but must be dense")
        values: Any = rows.data if sparse.issparse(rows) else rows  # type: ignore[attr-defined]
        largest = np.abs(values).max(initial=0).astype(np.float64)
        if not largest <= (_LARGEST / max(1, values.size)) ** 0.5:
            raise RefusedError(
                f"{place} holds features that are not finite, or too large for finite distances"
            )
        return rows


class Table(Kind):
    """Columns of equal length, by name; predictions do not use them."""

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check the columns and read them."""
        del context
        if not isinstance(value, dict):
            raise RefusedError(f"{place} is not a table")
        within = Context({})
        for name, column in value.items():
            refuse_other_array(column, f"{place}.{name}", ("rows",), within, ())
        return {name: read(column) for name, column in value.items()}


def refuse_other_array(
    value: Any,
    place: str,
    axes: tuple[str, ...],
    context: Context,
    dtypes: tuple[type[np.generic], ...],
) -> None:
    """Refuse anything but an array of these axes and types; without types, any type is allowed."""
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise RefusedError(f"{place} is not an array")
    if dtypes and not any(value.dtype == dtype for dtype in dtypes):
        raise RefusedError(f"{place} holds {value.dtype}, not {np.dtype(dtypes[0])}")
    if not context.agrees(value.shape, axes):
        sizes = ", ".join(f"{at} = {n}" for at, n in context.sizes.items() if at in axes)
        raise RefusedError(f"{place} has the shape {value.shape}, not ({', '.join(axes)}): {sizes}")


def refuse_other_names(value: Any, place: str, names: Any) -> None:
    """Refuse anything but a mapping with exactly these names."""
    if not isinstance(value, dict):
        raise RefusedError(f"{place} is not a record of {', '.join(names)}")
    odd = sorted(value.keys() ^ set(names))
    if odd:
        what = "missing from" if odd[0] in names else "unknown in"
        raise RefusedError(f"{odd[0]!r:.80} is {what} {place}")
