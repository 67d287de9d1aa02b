"""Writing predictions, in pieces, to a file that appears only when it is complete."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._parameters import check_array, check_integer, check_real
from complabel._writing import explained, replacing
from complabel.errors import InputError
from complabel.files._prediction_rows import RowMaker, is_top
from complabel.files._source import StrPath, as_path, ending_of, pyarrow

PREDICTION_ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl")
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
        ending = ending_of(self._path, PREDICTION_ENDINGS)
        if ending is None:
            raise InputError(
                f"{self._path}: predictions are written to files that end in "
                f"{', '.join(PREDICTION_ENDINGS)}"
            )
        self._ending = ending
        names = _checked_names(label_names)
        if top is not None and threshold is not None:
            raise InputError("top and threshold are both given; choose one of them")
        if top is not None:
            check_integer("top", top, at_least=1)
            if top > len(names):
                raise InputError(f"top is {top}, but there are {len(names)} labels; ask for fewer")
        self._rows = RowMaker(names, top, _checked_thresholds(threshold, len(names)))
        if ending != ".jsonl" and top is None:
            _refuse_columns(names)
        pyarrow()
        self._files: ExitStack | None = None
        self._sink: _Sink | None = None

    def __enter__(self) -> Self:
        self._files = ExitStack()
        with explained(self._path):
            self._partial = self._files.enter_context(replacing(self._path))
            self._partial.touch()  # finds a missing folder at once
        self._files.push(self._finish)
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
        if values.shape != (len(called), len(self._rows.label_names)):
            raise InputError(
                f"probabilities have shape {values.shape}; give a row for each of {len(called)} "
                f"items, and a column for each of {len(self._rows.label_names)} labels"
            )
        _refuse_others(values, called, self._rows.label_names)
        with explained(self._path):
            if self._sink is None:
                self._sink = _Sink(self._partial, self._ending, self._rows, values.dtype)
            self._sink.write(called, values)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._files is not None
        files, self._files = self._files, None
        if kind is None:
            with explained(self._path):
                files.close()
        else:
            files.__exit__(kind, error, trace)

    def _finish(self, kind: type[BaseException] | None, *_: object) -> None:
        """Complete the file, before it appears in its place or is removed."""
        if kind is None:
            if self._sink is None:  # a file without rows also needs a header
                self._sink = _Sink(self._partial, self._ending, self._rows, np.dtype(np.float64))
            self._sink.close()
        elif self._sink is not None:
            with contextlib.suppress(Exception):  # the error in the block is more important
                self._sink.close()


class _Sink:
    """An open file of predictions."""

    def __init__(
        self, path: Path, ending: str, rows: RowMaker, dtype: np.dtype[np.floating[Any]]
    ) -> None:
        self._rows = rows
        self._dtype = dtype
        self._table: Any = None
        self._file: Any = None
        with ExitStack() as files:  # closes all files if opening one fails
            self._open(path, ending, files)
            self._files = files.pop_all()

    def _open(self, path: Path, ending: str, files: ExitStack) -> None:
        """Open the file in the format of its ending."""
        if ending == ".parquet":
            from pyarrow import parquet  # type: ignore[import-untyped]

            self._table = files.enter_context(parquet.ParquetWriter(path, self._schema()))
            return
        self._file = files.enter_context(path.open("wb"))
        if ending == ".csv.gz":
            self._file = files.enter_context(
                gzip.GzipFile("", "wb", compresslevel=_PACKED, fileobj=self._file, mtime=0)
            )
        if ending != ".jsonl":
            from pyarrow import csv

            self._table = files.enter_context(csv.CSVWriter(self._file, self._schema()))

    def write(self, items: Sequence[str], probabilities: NDArray[Any]) -> None:
        """Add rows."""
        values = probabilities.astype(self._dtype, copy=False)
        if self._table is not None:
            self._table.write_table(self._rows.table(items, values))
            return
        for part in self._rows.json_lines(items, values):
            self._file.write(part)

    def close(self) -> None:
        """Write the rest and close the file."""
        self._files.close()

    def _schema(self) -> Any:
        """Return the types of the columns."""
        none = np.zeros((0, len(self._rows.label_names)), dtype=self._dtype)
        return self._rows.table([], none).schema


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
    if is_top(names):
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
