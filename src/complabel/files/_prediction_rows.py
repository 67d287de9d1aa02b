"""Predictions as rows of a table or as JSON lines, made column by column with Arrow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.files._source import pyarrow

_CELLS = 1 << 20  # cells of JSON made at a time, about 20 bytes each


@dataclass(frozen=True)
class RowMaker:
    """Turns items and probabilities (n, K) into rows.

    Attributes
    ----------
    label_names : tuple of str
    top : int or None
        Number of labels in each row, the most probable first; None: all labels.
    thresholds : ndarray of shape (K,), or None
        Least probability at which each label is predicted. None: rows have probabilities.
    """

    label_names: tuple[str, ...]
    top: int | None
    thresholds: NDArray[np.float64] | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table."""
        return ("item", *(self.label_names if self.top is None else top_columns(self.top)))

    def table(self, items: Sequence[str], probabilities: NDArray[Any]) -> Any:
        """Return a pyarrow table."""
        pa = pyarrow()
        columns = [pa.array(items, pa.string())]
        if self.top is not None:
            names = pa.array(self.label_names, pa.string())
            best = most_probable(probabilities, self.top)
            values = np.take_along_axis(probabilities, best, axis=1)
            for at in range(self.top):
                columns += [names.take(pa.array(best[:, at])), _column(values, at)]
        else:
            if self.thresholds is not None:
                probabilities = (probabilities >= self.thresholds).astype(np.uint8)
            columns += [_column(probabilities, at) for at in range(len(self.label_names))]
        return pa.table(columns, names=list(self.columns))

    def json_lines(self, items: Sequence[str], probabilities: NDArray[Any]) -> list[Any]:
        """Return the bytes of JSON lines, as buffers."""
        step = max(1, _CELLS // len(self.label_names))
        return [
            self._json(items[start : start + step], probabilities[start : start + step])
            for start in range(0, len(items), step)
        ]

    def _json(self, items: Sequence[str], probabilities: NDArray[Any]) -> Any:
        """Return the bytes of a few JSON lines."""
        pa = pyarrow()
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        called = pa.array(list(map(encode_basestring, items)), pa.large_string())
        names = [json.dumps(name, ensure_ascii=False) for name in self.label_names]
        if self.thresholds is not None:
            parts = [_text('{"item": '), called, _text(', "labels": [')]
            parts += self._json_names(names, probabilities >= self.thresholds)
            parts.append(_text("]}\n"))
        else:
            parts = [_text('{"item": '), called, _text(', "labels": {')]
            parts += self._json_pairs(names, probabilities)
            parts.append(_text("}}\n"))
        lines = pc.binary_join_element_wise(*parts, _text(""))
        _, offsets, values = lines.buffers()
        ends = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
        return values[int(ends[0]) : int(ends[-1])]  # the lines are adjacent in memory

    def _json_names(self, names: Sequence[str], chosen: NDArray[np.bool_]) -> list[Any]:
        """Return the names of chosen labels, with commas between them.

        Arrow can also skip nulls when it joins, but that loses rows without any chosen label.
        """
        pa = pyarrow()
        import pyarrow.compute as pc

        before = np.cumsum(chosen, axis=1) > chosen  # an earlier label is chosen
        parts = []
        for name, here, comma in zip(names, chosen.T, before.T, strict=True):
            written = pc.if_else(pa.array(comma), _text(f", {name}"), _text(name))
            parts.append(pc.if_else(pa.array(here), written, _text("")))
        return parts

    def _json_pairs(self, names: Sequence[str], probabilities: NDArray[Any]) -> list[Any]:
        """Return names and numbers in turn, with colons and commas between them."""
        pa = pyarrow()
        import pyarrow.compute as pc

        keys: list[Any] = [_text(name) for name in names]
        if self.top is not None:
            best = most_probable(probabilities, self.top)
            probabilities = np.take_along_axis(probabilities, best, axis=1)
            known = pa.array(names, pa.large_string())
            keys = [known.take(pa.array(each)) for each in best.T]
        parts = []
        for at, key in enumerate(keys):
            number = pc.cast(_column(probabilities, at), pa.large_string())
            parts += [*([_text(", ")] if at else []), key, _text(": "), number]
        return parts


def top_columns(top: int) -> list[str]:
    """Return the column names of a table of the most probable labels."""
    return [f"{what}_{at}" for at in range(1, top + 1) for what in ("label", "probability")]


def is_top(columns: Sequence[str]) -> bool:
    """Return whether these are the columns of a table of the most probable labels."""
    top = len(columns) // 2
    return top > 0 and list(columns) == top_columns(top)


def most_probable(probabilities: NDArray[Any], top: int) -> NDArray[np.intp]:
    """Return the most probable labels of each row, (n, top); of equal ones, the first.

    Examples
    --------
    >>> most_probable(np.array([[0.1, 0.5, 0.9, 0.5]]), 2)
    array([[2, 1]])
    """
    n_rows, n_labels = probabilities.shape
    least = np.partition(probabilities, n_labels - top, axis=1)[:, [n_labels - top]]
    above, even = probabilities > least, probabilities == least
    room = top - np.count_nonzero(above, axis=1, keepdims=True)
    chosen = above | (even & (np.cumsum(even, axis=1) <= room))
    labels = np.nonzero(chosen)[1].reshape(n_rows, top)
    values = np.take_along_axis(probabilities, labels, axis=1)
    return np.take_along_axis(labels, np.argsort(-values, axis=1, kind="stable"), axis=1)


def _column(values: NDArray[Any], at: int) -> Any:
    """Return a column of a matrix as an Arrow array."""
    return pyarrow().array(np.ascontiguousarray(values[:, at]))


def _text(value: str | None) -> Any:
    """Return an Arrow text for all rows."""
    pa = pyarrow()
    return pa.scalar(value, pa.large_string())
