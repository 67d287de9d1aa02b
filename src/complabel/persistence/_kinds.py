"""What the parts of a model may be: how each is saved, and checked when it is loaded."""

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
    """What is known while a model is saved or loaded.

    ``known`` are the classes that may be saved, by name. ``sizes`` are what lengths of arrays must
    agree with: ``"K"``, ``"d"`` and others, which the first array that has them decides.
    """

    known: Mapping[str, type]
    sizes: dict[str, int] = field(default_factory=dict)

    def agrees(self, shape: tuple[int, ...], axes: tuple[str, ...]) -> bool:
        """Tell whether a shape agrees with names of its axes; new names are kept."""
        if len(shape) != len(axes):
            return False
        return all(self.sizes.setdefault(at, n) == n for at, n in zip(axes, shape, strict=True))

    def nested(self) -> Context:
        """Return what is known of a model inside this one: the labels and features."""
        return Context(self.known, {at: self.sizes[at] for at in ("K", "d") if at in self.sizes})


class Kind(ABC):
    """What a part may be.

    ``plain`` turns it into plain values and arrays; ``restored`` makes it of those, or raises
    RefusedError. In between, arrays are stored: their shapes are checked before they are read.
    """

    only_some = False  # whether some fits leave no such attribute

    def plain(self, value: Any, context: Context) -> Any:
        """Return plain values for a part: itself, if a kind says nothing else."""
        del context
        return value

    @abstractmethod
    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Return the part that plain values stand for."""


Kinds: TypeAlias = Mapping[str, Kind]
"""What each part of something may be, by its name."""


class Scalar(Kind):
    """A number, a text, True, False or None that keeps one of some constraints."""

    def __init__(self, *constraints: object) -> None:
        self._constraints = constraints

    def plain(self, value: Any, context: Context) -> Any:
        """Return it as Python has it."""
        del context
        return value.item() if isinstance(value, np.generic) else value

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check it."""
        del context
        if not meets(value, *self._constraints):
            raise RefusedError(f"{place} is {value!r:.80}, which it cannot be")
        return value


class Numbers(Kind):
    """A finite array whose axes have names; ``at_least`` and ``below`` bound what is in it.

    ``below`` may be the name of an axis.
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
        """Return it in its type."""
        del context
        return np.asarray(value, dtype=self._dtype)

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check its type and shape, read it, and check what is in it."""
        refuse_other_array(value, place, self._axes, context, (self._dtype,))
        array = np.asarray(read(value))
        below = context.sizes[self._below] if isinstance(self._below, str) else self._below
        with np.errstate(invalid="ignore"):
            within = (array >= self._at_least) & (array < below) & np.isfinite(array)
        if not within.all():
            raise RefusedError(f"{place} holds {array[~within].ravel()[0]}, which it cannot")
        return array


class Rows(Kind):
    """Rows of features, in float64 or float32; dense, or sparse if they may be."""

    def __init__(self, rows: str, *, may_be_sparse: bool = True) -> None:
        self._axes, self._may_be_sparse = (rows, "d"), may_be_sparse

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check type and shape, read them, and check that distances to them are finite."""
        refuse_other_array(value, place, self._axes, context, (np.float64, np.float32))
        rows = read(value)
        if sparse.issparse(rows) and not self._may_be_sparse:
            raise RefusedError(f"{place} is a sparse matrix")
        values: Any = rows.data if sparse.issparse(rows) else rows  # type: ignore[attr-defined]
        largest = np.abs(values).max(initial=0).astype(np.float64)
        if not largest <= (_LARGEST / max(1, values.size)) ** 0.5:
            raise RefusedError(
                f"{place} holds features that are not finite, or whose squares are not"
            )
        return rows


class Table(Kind):
    """Columns of equal length, by name; nothing is computed with them."""

    def restored(self, value: Any, place: str, context: Context) -> Any:
        """Check that it is one, and read it."""
        del context
        if not isinstance(value, dict):
            raise RefusedError(f"{place} is no table")
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
    """Refuse what is no array, or one of another shape or type; no types mean any."""
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise RefusedError(f"{place} is no array")
    if dtypes and not any(value.dtype == dtype for dtype in dtypes):
        raise RefusedError(f"{place} holds {value.dtype}, not {np.dtype(dtypes[0])}")
    if not context.agrees(value.shape, axes):
        sizes = ", ".join(f"{at} = {n}" for at, n in context.sizes.items() if at in axes)
        raise RefusedError(f"{place} has the shape {value.shape}, not ({', '.join(axes)}): {sizes}")


def refuse_other_names(value: Any, place: str, names: Any) -> None:
    """Refuse what is no mapping, or misses a name, or has another."""
    if not isinstance(value, dict):
        raise RefusedError(f"{place} is no record of {', '.join(names)}")
    odd = sorted(value.keys() ^ set(names))
    if odd:
        what = "missing from" if odd[0] in names else "not known in"
        raise RefusedError(f"{odd[0]!r:.80} is {what} {place}")
