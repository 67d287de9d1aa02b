"""Writing predictions, in pieces, to a file that appears only when it is complete."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._opening import StrPath, as_path, ending_of
from complabel._parameters import check_array, check_integer, check_real
from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files._table import pyarrow

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl")
_PACKED = 1  # level of gzip: takes a fifth of the time of level 6; files of digits are 6 % larger


class PredictionWriter:
    """Writes the probabilities of labels for items, in pieces; used in a ``with`` block.

    The file appears when the block ends without an error. After an error, an older file is
    unchanged.

    Parameters
    ----------
    path : path
        The file, which ends in ``.csv``, ``.csv.gz``, ``.parquet`` or ``.jsonl``. Its folder must
        exist.
    label_names : sequence of str of length K
    top : int or None, default=None
        Write only this many labels of each item, the most probable ones.
    threshold : float, array-like of shape (K,), or None, default=None
        Instead of probabilities, write which labels have at least this probability: one threshold
        for all labels, or one for each.

    Raises
    ------
    InputError
        If an argument is wrong, or pyarrow is not installed. Also if a label is called "item",
        because a table would have two columns of this name; with ``top`` and in ``.jsonl``, this
        name is allowed.

    Notes
    -----
    A table has the column ``item``, and then

    - for each label, a column of its name with probabilities, or with ``threshold`` of 0 and 1;
    - with ``top``, the columns ``label_1``, ``probability_1``, ``label_2``, ``probability_2``, ...

    JSON lines are ``{"item": "a.jpg", "labels": {"sea": 0.9, "sky": 0.2}}``; with ``threshold``,
    ``{"item": "a.jpg", "labels": ["sea"]}``. Numbers have all digits, so that they are read back
    exactly; float32 needs fewer digits than float64.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "predictions.csv"
    >>> with PredictionWriter(path, ["city", "sea"]) as writer:
    ...     writer.write(["a.jpg", "b.jpg"], [[0.25, 0.5], [1, 0]])
    >>> print(path.read_text(), end="")
    "item","city","sea"
    "a.jpg",0.25,0.5
    "b.jpg",1,0
    """

    def __init__(
        self,
        path: StrPath,
        label_names: Sequence[str],
        *,
        top: int | None = None,
        threshold: ArrayLike | None = None,
    ) -> None:
        self._path = as_path("path", path)
        self._ending = ending_of(self._path, _ENDINGS)
        if not self._ending:
            raise InputError(
                f"{self._path}: predictions are written to files that end in {', '.join(_ENDINGS)}"
            )
        self._names = _checked_names(label_names)
        if top is not None and threshold is not None:
            raise InputError("top and threshold are both given; choose one of them")
        if top is not None:
            check_integer("top", top, at_least=1)
            if top > len(self._names):
                raise InputError(
                    f"top is {top}, but there are {len(self._names)} labels; ask for fewer"
                )
        self._top = top
        self._thresholds = _checked_thresholds(threshold, len(self._names))
        if self._ending != ".jsonl" and top is None:
            _refuse_columns(self._names)
        pyarrow()
        self._files: ExitStack | None = None
        self._dtype: np.dtype[Any] | None = None

    def __enter__(self) -> Self:
        self._files, self._dtype = ExitStack(), None
        with explained(self._path):
            self._partial = self._files.enter_context(replacing(self._path))
            self._partial.touch()  # finds a missing folder at once
        return self

    def write(self, items: Sequence[str] | NDArray[Any], probabilities: ArrayLike) -> None:
        """Add the predictions for some items.

        Parameters
        ----------
        items : sequence of length n
            Names of the items.
        probabilities : array-like of shape (n, K)
            Probabilities from 0 to 1, float32 or float64; the first piece determines the type.

        Raises
        ------
        InputError
            If the shapes do not fit, or a number is not a probability.
        OutputError
            If the file cannot be written.
        """
        if self._files is None:
            raise InputError("this PredictionWriter is not open; use it inside its with block")
        values = np.asarray(probabilities)
        values = values if values.dtype == np.float32 else values.astype(np.float64)
        called = [str(each) for each in items]
        if values.shape != (len(called), len(self._names)):
            raise InputError(
                f"probabilities have shape {values.shape}; give a row for each of {len(called)} "
                f"items, and a column for each of {len(self._names)} labels"
            )
        _refuse_others(values, called, self._names)
        with explained(self._path):
            self._put(called, values)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._files is not None
        try:
            if kind is not None:
                with contextlib.suppress(Exception):  # the error in the block is more important
                    self._files.__exit__(kind, error, trace)
                return
            with explained(self._path), self._files:
                if self._dtype is None:  # a file without rows also needs a header
                    self._put([], np.zeros((0, len(self._names))))
        finally:
            self._files = None

    def _put(self, items: Sequence[str], values: NDArray[Any]) -> None:
        """Add rows; the first ones open the file."""
        if self._dtype is None:
            self._dtype = values.dtype
            self._open(self._table([], values[:0]).schema)
        values = values.astype(self._dtype, copy=False)
        if self._ending == ".jsonl":
            self._file.write(self._lines(items, values).encode())
        else:
            self._file.write_table(self._table(items, values))

    def _open(self, schema: Any) -> None:
        """Open the file in the format of its ending."""
        assert self._files is not None
        file: Any
        if self._ending == ".parquet":
            from pyarrow import parquet  # type: ignore[import-untyped]

            file = self._files.enter_context(parquet.ParquetWriter(self._partial, schema))
        else:
            file = self._files.enter_context(self._partial.open("wb"))
        if self._ending == ".csv.gz":
            packed = gzip.GzipFile("", "wb", compresslevel=_PACKED, fileobj=file, mtime=0)
            file = self._files.enter_context(packed)
        if self._ending in (".csv", ".csv.gz"):
            from pyarrow import csv

            file = self._files.enter_context(csv.CSVWriter(file, schema))
        self._file = file

    def _table(self, items: Sequence[str], values: NDArray[Any]) -> Any:
        """Return rows as a pyarrow table."""
        pa = pyarrow()
        if self._top is not None:
            best, values = _most_probable(values, self._top)
            names = np.array(self._names, dtype=object)[best]
            columns = [part for pair in zip(names.T, values.T, strict=True) for part in pair]
            called: Sequence[str] = _top_columns(self._top)
        else:
            if self._thresholds is not None:
                values = (values >= self._thresholds).astype(np.uint8)
            columns, called = list(values.T), self._names
        arrays = [pa.array(each, pa.string() if each.dtype == object else None) for each in columns]
        return pa.table([pa.array(items, pa.string()), *arrays], names=["item", *called])

    def _lines(self, items: Sequence[str], values: NDArray[Any]) -> str:
        """Return rows as lines of JSON."""
        if self._thresholds is not None:
            chosen = (np.flatnonzero(row) for row in values >= self._thresholds)
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
    """Return the most probable labels of each row, (n, top), and their probabilities.

    Of equally probable labels, the first come first.
    """
    best = np.argsort(-values, axis=1, kind="stable")[:, :top]
    return best, np.take_along_axis(values, best, axis=1)


def _checked_names(label_names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of labels; refuse anything else."""
    names = () if isinstance(label_names, str) else tuple(label_names)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError("label_names must be a list of str, one name for each label")
    repeated = (
        [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
    )
    if repeated:
        raise InputError(f"two labels are called {repeated[0]!r}; give each its own name")
    return names


def _checked_thresholds(threshold: ArrayLike | None, n_labels: int) -> NDArray[np.float64] | None:
    """Return a threshold for each label, (K,), or None."""
    if threshold is None:
        return None
    if np.ndim(threshold) == 0:
        check_real("threshold", threshold, at_least=0, at_most=1)
        return np.full(n_labels, threshold, dtype=np.float64)
    thresholds = check_array("threshold", threshold, "labels")
    if thresholds.shape != (n_labels,):
        raise InputError(
            f"threshold has {len(thresholds)} entries for {n_labels} labels; give one for each, or "
            "one for all"
        )
    return thresholds


def _refuse_columns(names: Sequence[str]) -> None:
    """Refuse names of labels that make the columns of a table ambiguous."""
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
    """Refuse numbers that are not probabilities."""
    fine = (values >= 0) & (values <= 1)  # NaN is neither
    if not fine.all():
        row, label = map(int, np.unravel_index(int(np.argmin(fine)), fine.shape))
        raise InputError(
            f"item {items[row]!r} has {values[row, label]} for label {names[label]!r}; give "
            "probabilities from 0 to 1"
        )
