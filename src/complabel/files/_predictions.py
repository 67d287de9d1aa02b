"""Writing predictions, in pieces, to a file that appears only when it is complete."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._opening import StrPath
from complabel._parameters import check_integer, check_real
from complabel._writing import explained
from complabel.errors import InputError
from complabel.files._table import pyarrow
from complabel.files._write_answers import TableWriter

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl")


class PredictionWriter(TableWriter):
    """Writes the probabilities of labels for items, in pieces; used in a ``with`` block.

    With ``top``, only the most probable labels of each item are written, with ``threshold``, a
    number or an array (K,), only which labels have at least this probability. A table has the
    column ``item``, and then

    - for each label, a column of its name with probabilities, or with ``threshold`` of 0 and 1;
    - with ``top``, the columns ``label_1``, ``probability_1``, ``label_2``, ``probability_2``, ...

    JSON lines are ``{"item": "a.jpg", "labels": {"sea": 0.9, "sky": 0.2}}``; with ``threshold``,
    ``{"item": "a.jpg", "labels": ["sea"]}``. Numbers have all digits, so that they are read back
    exactly; float32 needs fewer digits than float64.
    """

    _packed = 1  # takes a fifth of the time of level 6; files of digits are 6 % larger

    def __init__(
        self,
        path: StrPath,
        label_names: Sequence[str],
        *,
        top: int | None = None,
        threshold: ArrayLike | None = None,
    ) -> None:
        super().__init__(path, _ENDINGS)
        self._names = tuple(label_names)
        if top is not None and threshold is not None:
            raise InputError("top and threshold are both given; choose one of them")
        if top is not None:
            check_integer("top", top, at_least=1)
            if top > len(self._names):
                raise InputError(
                    f"top is {top}, but there are {len(self._names)} labels; ask for fewer"
                )
        if threshold is not None:
            shape = np.shape(threshold)
            if shape not in ((), (len(self._names),)):
                raise InputError(
                    f"threshold has shape {shape}; give one number, or one for each of"
                    f" {len(self._names)} labels"
                )
            for each in np.ravel(threshold).tolist():
                check_real("threshold", each, at_least=0, at_most=1)
        self._top: int | None = top
        self._threshold: Any = threshold
        if self._ending != ".jsonl" and top is None:
            _refuse_columns(self._names)
        self._dtype: np.dtype[Any] | None = None

    def write(self, items: Sequence[str] | NDArray[Any], probabilities: ArrayLike) -> None:
        """Add the probabilities (n, K) of some items; the first ones determine the type."""
        self._check_open()
        values = np.asarray(probabilities)
        values = values if values.dtype == np.float32 else values.astype(np.float64)
        called = [str(each) for each in items]
        if values.shape != (len(called), len(self._names)):
            raise InputError(
                f"probabilities have shape {values.shape}; give a row for each of {len(called)} "
                f"items, and a column for each of {len(self._names)} labels"
            )
        _refuse_others(values, called, self._names)
        with explained(self.path):
            self._add(called, values)

    def _finish(self) -> None:
        if self._file is None:
            self._add([], np.zeros((0, len(self._names))))

    def _add(self, items: Sequence[str], values: NDArray[Any]) -> None:
        self._dtype = values.dtype if self._file is None else self._dtype
        values = values.astype(self._dtype, copy=False)
        if self._ending != ".jsonl":
            self._put(self._table(items, values))
            return
        if self._file is None:
            self._file = self._open_bytes()
        self._file.write(self._lines(items, values).encode())

    def _table(self, items: Sequence[str], values: NDArray[Any]) -> Any:
        pa = pyarrow()
        if self._top is not None:
            best, values = _most_probable(values, self._top)
            names = np.array(self._names, dtype=object)[best]
            columns = [part for pair in zip(names.T, values.T, strict=True) for part in pair]
            called: Sequence[str] = _top_columns(self._top)
        else:
            if self._threshold is not None:
                values = (values >= self._threshold).astype(np.uint8)
            columns, called = list(values.T), self._names
        arrays = [pa.array(each, pa.string() if each.dtype == object else None) for each in columns]
        return pa.table([pa.array(items, pa.string()), *arrays], names=["item", *called])

    def _lines(self, items: Sequence[str], values: NDArray[Any]) -> str:
        if self._threshold is not None:
            chosen = (np.flatnonzero(row) for row in values >= self._threshold)
            said: Any = ([self._names[at] for at in row] for row in chosen)
        else:
            pa = pyarrow()
            best = np.broadcast_to(np.arange(len(self._names)), values.shape)
            if self._top is not None:
                best, values = _most_probable(values, self._top)
            # By way of text, a number of float32 keeps its few digits.
            digits = pa.array(values.ravel()).cast(pa.string()).cast(pa.float64())
            numbers = digits.to_numpy().reshape(values.shape).tolist()
            said = (
                dict(zip([self._names[at] for at in row], found, strict=True))
                for row, found in zip(best.tolist(), numbers, strict=True)
            )
        rows = zip(items, said, strict=True)
        return "".join(
            f"{json.dumps({'item': item, 'labels': labels}, ensure_ascii=False)}\n"
            for item, labels in rows
        )


def _top_columns(top: int) -> list[str]:
    return [f"{what}_{at}" for at in range(1, top + 1) for what in ("label", "probability")]


def _most_probable(values: NDArray[Any], top: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return labels (n, top) and their probabilities; of equal ones, the first come first."""
    best = np.argsort(-values, axis=1, kind="stable")[:, :top]
    return best, np.take_along_axis(values, best, axis=1)


def _refuse_columns(names: Sequence[str]) -> None:
    if "item" in names:
        raise InputError(
            "a label is called 'item', but this is the name of the column of ids; rename the label,"
            " write .jsonl, or write the most probable labels with top"
        )
    if list(names) == _top_columns(len(names) // 2):
        raise InputError(
            "labels are called label_1, probability_1, ..., but these are the columns of a table of"
            " the most probable labels; rename the labels, or write .jsonl"
        )


def _refuse_others(values: NDArray[Any], items: Sequence[str], names: Sequence[str]) -> None:
    fine = (values >= 0) & (values <= 1)  # NaN is neither
    if not fine.all():
        row, label = map(int, np.unravel_index(int(np.argmin(fine)), fine.shape))
        raise InputError(
            f"item {items[row]!r} has {values[row, label]} for label {names[label]!r}; give "
            "probabilities from 0 to 1"
        )
